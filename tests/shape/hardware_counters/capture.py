"""Runs the launches of a folder on a GPU under Nsight Compute, and keeps what its counters say.

    STRATA_HARDWARE_LAUNCHES=launches cargo test --workspace --test shape -- hardware_counters
    python3 tests/shape/hardware_counters/capture.py launches results

Needs an NVIDIA GPU with its driver, `ptxas` and `ncu`, and permission to read counters. No package.
`STRATA_GPU_ARCH` names the GPU's architecture if it is not `sm_90`.
`results/gpu.tsv` gets a line for each kernel of each workload: the sums over its launches. Clocks
are left as they are.
"""

import csv
import ctypes
import os
import re
import subprocess
import sys
import zlib

# Name in the file, and the metric of `ncu`.
COUNTERS = {
    "instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "warps": "smsp__warps_launched.sum",
}
for space in ("global", "local"):
    for op in ("ld", "st", "red", "atom") if space == "global" else ("ld", "st"):
        for unit in ("requests", "sectors"):
            metric = f"l1tex__t_{unit}_pipe_lsu_mem_{space}_op_{op}.sum"
            COUNTERS[f"{space}_{op}_{unit}"] = metric
for op in ("ld", "st", "atom"):
    COUNTERS[f"shared_{op}_instructions"] = f"smsp__inst_executed_op_shared_{op}.sum"
    COUNTERS[f"shared_{op}_wavefronts"] = f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"

# Of `ptxas`: one that merges less, and its default.
LEVELS = ("1", "3")
ARCH = os.environ.get("STRATA_GPU_ARCH", "sm_90")


class Gpu:
    """The first GPU."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: error {status}")

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", text, 100, self.device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return f"{text.value.decode()}, CUDA driver {version.value}"

    def variable(self, module, name):
        pointer, size = ctypes.c_uint64(), ctypes.c_size_t()
        self.call("cuModuleGetGlobal_v2", ctypes.byref(pointer), ctypes.byref(size), module,
                  name.encode())
        return pointer

    def launch(self, function, sides, shared, parameters):
        held = ctypes.create_string_buffer(parameters, max(len(parameters), 1))
        size = ctypes.c_size_t(len(parameters))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(held), 2, ctypes.addressof(size), 0)
        self.call("cuLaunchKernel", function, *sides, shared, None, None, extra)
        self.call("cuCtxSynchronize")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def write(self, pointer, data):
        self.call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(len(data)))

    def read(self, pointer, size):
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, pointer, ctypes.c_size_t(size))
        return data.raw


def content(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


def plan(folder):
    lines = content(folder, "plan.tsv").decode().split("\n")
    return [line.split("\t") for line in lines if line]


def replay(gpu, folder, image):
    """Launches the kernels of a workload. Says so, and what the buffers hold then."""
    module, buffers, functions = ctypes.c_void_p(), [], {}
    gpu.call("cuModuleLoadData", ctypes.byref(module), content(image))
    for kind, *words in plan(folder):
        if kind == "buffer":
            name, size, variable = words
            pointer = gpu.variable(module, variable) if variable else gpu.allocate(int(size))
            gpu.write(pointer, content(folder, f"before{len(buffers)}.bin"))
            buffers.append((name, pointer, int(size)))
        elif kind == "write":
            gpu.write(buffers[int(words[0])][1], content(folder, words[1]))
        else:
            kernel, grid, block, shared, parameters, pointers = words
            if kernel not in functions:
                functions[kernel] = ctypes.c_void_p()
                gpu.call("cuModuleGetFunction", ctypes.byref(functions[kernel]), module,
                         kernel.encode())
            data = bytearray.fromhex(parameters)
            for each in filter(None, pointers.split(",")):
                at, buffer, offset = map(int, each.split(":"))
                address = buffers[buffer][1].value + offset
                data[at:at + 8] = address.to_bytes(8, "little")
            sides = [int(side) for side in f"{grid},{block}".split(",")]
            gpu.launch(functions[kernel], sides, int(shared), bytes(data))
            print("launch", os.path.basename(folder), kernel, sep="\t", flush=True)
    for name, pointer, size in buffers:
        digest = zlib.crc32(gpu.read(pointer, size))
        print("buffer", os.path.basename(folder), name, f"{digest:08x}", sep="\t", flush=True)


def assemble(source, target, level):
    # The GPU's `ptxas` may be older than the compiler; the kernels need nothing that new.
    text = re.sub(r"(?m)^\.version .*", ".version 8.0", content(source, "kernels.ptx").decode())
    with open(target + ".ptx", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["ptxas", f"-arch={ARCH}", f"-O{level}", "--fmad", "false", target + ".ptx", "-o",
                    target], check=True)


def measure(folder, results, level):
    """Runs the workloads of a folder under `ncu`. Returns what was launched and stored, and the
    counters of each launch."""
    images = os.path.join(results, f"{os.path.basename(folder)}.O{level}")
    os.makedirs(images)
    for workload in os.listdir(folder):
        assemble(os.path.join(folder, workload), os.path.join(images, workload), level)
    table, said = images + ".csv", images + ".log"
    with open(said, "w", encoding="utf-8") as log:
        subprocess.run(["ncu", "--csv", "--page", "raw", "--print-units", "base", "--clock-control",
                        "none", "--log-file", table, "--metrics", ",".join(COUNTERS.values()),
                        sys.executable, __file__, folder, images, "replay"], check=True, stdout=log)
    with open(table, encoding="utf-8", newline="") as file:
        # Below the names stand units.
        rows = list(csv.DictReader(line for line in file if not line.startswith("==")))[1:]
    lines = [line.split("\t") for line in content(said).decode().splitlines()]
    launches = [words[1:] for words in lines if words[0] == "launch"]
    if [kernel for _, kernel in launches] != [row["Kernel Name"].split("(")[0] for row in rows]:
        raise RuntimeError(f"{table}: other launches than those of {said}")
    return lines, list(zip(launches, rows))


def main():
    folder, results = sys.argv[1:3]
    if sys.argv[3:] == ["replay"]:
        gpu = Gpu()
        for workload in sorted(os.listdir(folder)):
            replay(gpu, os.path.join(folder, workload), os.path.join(results, workload))
        return
    os.makedirs(results)
    with open(os.path.join(results, "gpu.tsv"), "w", encoding="utf-8") as out:
        out.write(f"# {Gpu().name()}, {ARCH}\n")
        out.write("\t".join(["toolchain", "level", "workload", "kernel", "launches", *COUNTERS]) + "\n")
        for toolchain in sorted(os.listdir(folder)):
            for level in LEVELS:
                lines, launches = measure(os.path.join(folder, toolchain), results, level)
                kernels = {}
                for launch, row in launches:
                    sums = kernels.setdefault(tuple(launch), [0] * (1 + len(COUNTERS)))
                    sums[0] += 1
                    for index, metric in enumerate(COUNTERS.values()):
                        sums[1 + index] += int(row[metric].replace(",", ""))
                for names, sums in kernels.items():
                    out.write("\t".join([toolchain, f"O{level}", *names, *map(str, sums)]) + "\n")
                for kind, *words in lines:
                    if kind == "buffer":
                        out.write("\t".join(["buffer", toolchain, f"O{level}", *words]) + "\n")
                out.flush()


if __name__ == "__main__":
    main()
