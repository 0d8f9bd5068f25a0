"""Runs the kernels of a folder on a GPU and keeps what they stored.

    STRATA_HARDWARE_CASES=cases cargo test -p strata-simt --test hardware
    python3 host-cli/simt/tests/hardware/capture.py cases results

Needs an NVIDIA GPU with its driver, and `ptxas`. No package. `results` gets a file `OPCODE.gpu` for
each module, with the results of its kernels one after another, `kernels.tsv` with the opcode, kernel
and state of each, and `device.txt`. A kernel that `ptxas` refuses, or that fails, has zeros.
"""

import concurrent.futures
import ctypes
import os
import re
import subprocess
import sys

THREADS, BLOCK = 512, 256

FORMATS = {
    "u8": (1, 1), "u16": (2, 2), "u32": (3, 4), "s8": (8, 1), "s16": (9, 2), "s32": (10, 4),
    "unorm8": (1, 1), "unorm16": (2, 2), "snorm8": (8, 1), "snorm16": (9, 2),
    "f16": (0x10, 2), "f32": (0x20, 4),
}
MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}


class ArrayDescriptor(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("width", "height", "depth")] + [
        ("format", ctypes.c_int), ("channels", ctypes.c_uint), ("flags", ctypes.c_uint)]


class Copy(ctypes.Structure):
    _fields_ = [(f"source_{name}", ctypes.c_size_t) for name in ("x", "y", "z", "lod")] + [
        ("source_type", ctypes.c_int), ("source_host", ctypes.c_void_p),
        ("source_device", ctypes.c_uint64), ("source_array", ctypes.c_void_p),
        ("reserved0", ctypes.c_void_p), ("source_pitch", ctypes.c_size_t),
        ("source_height", ctypes.c_size_t),
    ] + [(f"target_{name}", ctypes.c_size_t) for name in ("x", "y", "z", "lod")] + [
        ("target_type", ctypes.c_int), ("target_host", ctypes.c_void_p),
        ("target_device", ctypes.c_uint64), ("target_array", ctypes.c_void_p),
        ("reserved1", ctypes.c_void_p), ("target_pitch", ctypes.c_size_t),
        ("target_height", ctypes.c_size_t),
    ] + [(name, ctypes.c_size_t) for name in ("width", "height", "depth")]


class Resource(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("pad", ctypes.c_int), ("array", ctypes.c_void_p),
                ("rest", ctypes.c_byte * 120), ("flags", ctypes.c_uint)]


class TextureDescriptor(ctypes.Structure):
    _fields_ = [("modes", ctypes.c_int * 3), ("filter", ctypes.c_int), ("flags", ctypes.c_uint),
                ("anisotropy", ctypes.c_uint), ("mipmap_filter", ctypes.c_int),
                ("mipmap", ctypes.c_float * 3), ("border", ctypes.c_float * 4),
                ("reserved", ctypes.c_int * 12)]


class Gpu:
    """The first GPU, with the inputs in its memory."""

    def __init__(self, inputs):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.call("cuCtxSetCurrent", self.context)
        self.device = device
        self.inputs = inputs
        self.input = self.allocate(len(inputs))
        self.call("cuMemcpyHtoD_v2", self.input, inputs, ctypes.c_size_t(len(inputs)))
        self.output = self.allocate(1 << 20)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name}: error {status}")

    def allocate(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def name(self):
        text = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", text, 100, self.device)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        return f"{text.value.decode()}, CUDA driver {version.value}"

    def load(self, image):
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def run(self, module, kernel, size, handle):
        """What a kernel stores. Size: bytes."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, kernel.encode())
        self.call("cuMemsetD8_v2", self.output, ctypes.c_ubyte(0), ctypes.c_size_t(size))
        values = [self.output, self.input, ctypes.c_uint64(handle)]
        pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(value) for value in values))
        self.call("cuLaunchKernel", function, THREADS // BLOCK, 1, 1, BLOCK, 1, 1, 0, None,
                  pointers, None)
        self.call("cuCtxSynchronize")
        data = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", data, self.output, ctypes.c_size_t(size))
        return data.raw

    def texture(self, words):
        """The handle of a texture that a line of the list describes."""
        geometry, form = words[0], words[1]
        width, height, depth, place = map(int, words[2:6])
        channel, _, channels = form.partition("x")
        channels = int(channels or 1)
        code, element = FORMATS[channel]
        size = channels * element
        layers = geometry.startswith("a")
        tall = geometry in ("2d", "3d", "a2d")
        deep = geometry == "3d" or layers
        descriptor = ArrayDescriptor(width, height if tall else 0, depth if deep else 0, code,
                                     channels, 1 if layers else 0)
        array = ctypes.c_void_p()
        self.call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(descriptor))
        data = self.inputs[place:place + width * height * depth * size]
        host = ctypes.create_string_buffer(data, len(data))
        copy = Copy()
        copy.source_type, copy.source_host = 1, ctypes.addressof(host)
        copy.source_pitch, copy.source_height = width * size, height
        copy.target_type, copy.target_array = 3, array
        copy.width, copy.height, copy.depth = width * size, height, depth
        self.call("cuMemcpy3D_v2", ctypes.byref(copy))
        resource = Resource(kind=0, array=array)
        description = TextureDescriptor()
        for axis, mode in enumerate(words[6:9]):
            description.modes[axis] = MODES[mode]
        description.filter = 1 if words[9] == "linear" else 0
        whole = channel in ("u8", "u16", "u32", "s8", "s16", "s32")
        description.flags = (1 if whole else 0) | (2 if words[10] == "normalized" else 0)
        handle = ctypes.c_uint64()
        self.call("cuTexObjectCreate", ctypes.byref(handle), ctypes.byref(resource),
                  ctypes.byref(description), None)
        return handle.value


def read_cases(folder):
    groups = {}
    with open(os.path.join(folder, "cases.tsv"), encoding="utf-8") as file:
        for line in file:
            opcode, kernel, outputs, _, texture = line.rstrip("\n").split("\t")
            groups.setdefault(opcode, []).append((kernel, int(outputs), texture.split()))
    return groups


def assemble(folder, results, opcode):
    """Machine code of a module without the kernels that `ptxas` refuses."""
    with open(os.path.join(folder, f"{opcode}.ptx"), encoding="utf-8") as file:
        text = file.read()
    head, *entries = re.split(r"^(?=\.visible \.entry )", text, flags=re.M)
    target = os.path.join(results, f"{opcode}.cubin")
    source = os.path.join(results, f"{opcode}.ptx")
    while entries:
        with open(source, "w", encoding="utf-8") as file:
            file.write(head + "".join(entries))
        arch = os.environ.get("STRATA_GPU_ARCH", "sm_90")
        done = subprocess.run(["ptxas", f"-arch={arch}", "-O1", source, "-o", target],
                              capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        wrong = {int(line) for line in re.findall(r"line (\d+); error", done.stderr)}
        if not wrong:
            raise RuntimeError(done.stderr)
        kept, line = [], head.count("\n")
        for entry in entries:
            lines = range(line + 1, line + entry.count("\n") + 1)
            line += entry.count("\n")
            if not wrong.intersection(lines):
                kept.append(entry)
        if len(kept) == len(entries):
            raise RuntimeError(done.stderr)
        entries = kept


def run_group(folder, results, opcode, first):
    """Runs the kernels of a module from a number on; a failed one ends the process."""
    with open(os.path.join(folder, "inputs.bin"), "rb") as file:
        gpu = Gpu(file.read())
    with open(os.path.join(results, f"{opcode}.cubin"), "rb") as file:
        module = gpu.load(file.read())
    with open(os.path.join(results, f"{opcode}.ptx"), encoding="utf-8") as file:
        present = set(re.findall(r"^\.visible \.entry (\w+)", file.read(), flags=re.M))
    cases = read_cases(folder)[opcode]
    with open(os.path.join(results, f"{opcode}.gpu"), "ab") as data, \
            open(os.path.join(results, f"{opcode}.tsv"), "a", encoding="utf-8") as states:
        for kernel, outputs, texture in cases[first:]:
            size = 8 * THREADS * outputs
            state, result, failed = "refused", bytes(size), False
            if kernel in present:
                try:
                    handle = gpu.texture(texture) if texture else 0
                    state, result = "ran", gpu.run(module, kernel, size, handle)
                except RuntimeError as error:
                    state, failed = str(error), True
            data.write(result)
            states.write(f"{opcode}\t{kernel}\t{state}\n")
            if failed:
                data.flush()
                states.flush()
                os._exit(3)


def capture(folder, results, opcode):
    assemble(folder, results, opcode)
    count = len(read_cases(folder)[opcode])
    states = os.path.join(results, f"{opcode}.tsv")
    done = 0
    while done < count:
        subprocess.run([sys.executable, __file__, folder, results, opcode, str(done)],
                       check=False, timeout=200)
        with open(states, encoding="utf-8") as file:
            now = sum(1 for _ in file)
        if now == done:
            raise RuntimeError(f"{opcode}: nothing ran")
        done = now


def main():
    folder, results = sys.argv[1:3]
    if len(sys.argv) == 5:
        run_group(folder, results, sys.argv[3], int(sys.argv[4]))
        return
    os.makedirs(results, exist_ok=True)
    with open(os.path.join(folder, "inputs.bin"), "rb") as file, \
            open(os.path.join(results, "device.txt"), "w", encoding="utf-8") as device:
        device.write(Gpu(file.read()).name() + "\n")
    groups = read_cases(folder)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        futures = {pool.submit(capture, folder, results, opcode): opcode for opcode in groups}
        for future in concurrent.futures.as_completed(futures):
            if future.exception():
                print(futures[future], future.exception(), file=sys.stderr)
    with open(os.path.join(results, "kernels.tsv"), "w", encoding="utf-8") as out:
        for opcode in groups:
            path = os.path.join(results, f"{opcode}.tsv")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    out.write(file.read())


main()
