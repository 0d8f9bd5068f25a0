"""Runs one warp on a GPU with each of many patterns of addresses in shared memory, under Nsight
Compute, and keeps how many wavefronts a load and a store of each took.

    python3 tests/shape/hardware_counters/capture_banks.py results

Needs what `capture.py` needs. `results/banks.tsv` has a line for each pattern: bytes of a lane,
wavefronts of the load and of the store, the address of each lane, `-` where it is off.
"""

import csv
import ctypes
import os
import random
import subprocess
import sys

from capture import ARCH, Gpu, content

METRICS = [f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")]
TYPES = {4: ".u32", 8: ".v2.u32", 16: ".v4.u32"}
LANES = range(32)


def patterns(size):
    """Addresses of 32 lanes that access so many bytes each: by hand, and drawn."""
    draw = random.Random(size)
    yield [0] * 32
    for step in (1, 2, 4, 8, 16):
        yield [lane * step * size for lane in LANES]
    yield [lane * 128 for lane in LANES]
    yield [lane * (128 + size) for lane in LANES]
    yield [(31 - lane) * size for lane in LANES]
    for part in (2, 4, 8, 16):
        yield [lane // part * size for lane in LANES]
        yield [lane % part * size for lane in LANES]
        yield [lane * size if lane % part == 0 else None for lane in LANES]
    for first in (1, 2, 4, 8, 12, 16, 20, 24, 28):
        yield [lane * size if lane < first else None for lane in LANES]
        yield [0 if lane < first else None for lane in LANES]
    for _ in range(8):
        order = list(LANES)
        draw.shuffle(order)
        yield [place * size for place in order]
        yield [draw.randrange(64) * 128 + lane % 8 * size for lane in LANES]
        yield [draw.randrange(64) * size if draw.random() < 0.5 else None for lane in LANES]
    for span in (4, 8, 16, 32, 64, 128, 256):
        for _ in range(5):
            yield [draw.randrange(span) * size for _ in LANES]
        # Pairs of lanes, neighbours or not, with one address; some of them broken or off.
        for apart in (1, 2):
            for broken in (0, 0, 1):
                each = [draw.randrange(span) * size for _ in LANES]
                each = [each[lane & ~apart] for lane in LANES]
                for _ in range(broken):
                    each[draw.randrange(32)] = draw.randrange(span) * size
                yield each
                yield [address if draw.random() < 0.7 else None for address in each]


def kernels():
    text = ".version 8.0\n.target sm_75\n.address_size 64\n"
    for size, kind in TYPES.items():
        values = ", ".join(f"%r{index}" for index in range(4, 4 + size // 4))
        values = values if size == 4 else f"{{{values}}}"
        for op, access in (("ld", f"{values}, [%r3]"), ("st", f"[%r3], {values}")):
            text += f"""
.visible .entry {op}{size}(.param .u64 places, .param .u64 out)
{{
    .reg .pred %on;
    .reg .b32 %r<10>;
    .reg .b64 %d<6>;
    .shared .align 16 .b8 memory[40960];
    ld.param.u64 %d1, [places];
    ld.param.u64 %d2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d3, %r1, 4;
    add.s64 %d4, %d1, %d3;
    ld.global.u32 %r2, [%d4];
    setp.ge.s32 %on, %r2, 0;
    mov.u32 %r3, memory;
    add.u32 %r3, %r3, %r2;
    mov.u32 %r4, %r1;
    mov.u32 %r5, %r1;
    mov.u32 %r6, %r1;
    mov.u32 %r7, %r1;
    @%on {op}.shared{kind} {access};
    add.u32 %r8, %r4, %r5;
    add.u32 %r9, %r6, %r7;
    add.u32 %r8, %r8, %r9;
    add.s64 %d5, %d2, %d3;
    st.global.u32 [%d5], %r8;
    ret;
}}
"""
    return text


def replay(image):
    gpu, module = Gpu(), ctypes.c_void_p()
    gpu.call("cuModuleLoadData", ctypes.byref(module), content(image))
    places, out = gpu.allocate(128), gpu.allocate(128)
    parameters = places.value.to_bytes(8, "little") + out.value.to_bytes(8, "little")
    for size in TYPES:
        for each in patterns(size):
            off = [-1 if address is None else address for address in each]
            gpu.write(places, b"".join(address.to_bytes(4, "little", signed=True) for address in off))
            for op in ("ld", "st"):
                function = ctypes.c_void_p()
                gpu.call("cuModuleGetFunction", ctypes.byref(function), module,
                         f"{op}{size}".encode())
                gpu.launch(function, [1, 1, 1, 32, 1, 1], 0, parameters)


def main():
    results = sys.argv[1]
    image, table = (os.path.join(results, f"banks.{end}") for end in ("cubin", "csv"))
    if sys.argv[2:] == ["replay"]:
        replay(image)
        return
    os.makedirs(results)
    with open(image + ".ptx", "w", encoding="utf-8") as file:
        file.write(kernels())
    subprocess.run(["ptxas", f"-arch={ARCH}", image + ".ptx", "-o", image], check=True)
    subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control",
                    "none", "--log-file", table, "--metrics", ",".join(METRICS), sys.executable,
                    __file__, results, "replay"], check=True)
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("==")))[1:]
    with open(os.path.join(results, "banks.tsv"), "w", encoding="utf-8") as out:
        out.write(f"# {Gpu().name()}, {ARCH}\n")
        for size in TYPES:
            for each in patterns(size):
                load, store = rows.pop(0), rows.pop(0)
                names = [row["Kernel Name"].split("(")[0] for row in (load, store)]
                if names != [f"ld{size}", f"st{size}"]:
                    raise RuntimeError(f"{table}: {names}")
                counts = [load[METRICS[0]], store[METRICS[1]]]
                places = ["-" if address is None else str(address) for address in each]
                out.write("\t".join([str(size), *counts, ",".join(places)]) + "\n")


if __name__ == "__main__":
    main()
