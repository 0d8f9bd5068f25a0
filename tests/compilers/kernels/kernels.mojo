"""Compiled by Mojo: the program prints the PTX of the kernel and the machine that it is told."""

from max.gpu import block_dim, block_idx, global_idx, thread_idx
from max.gpu.host.compile import get_gpu_target
from max.gpu.memory import AddressSpace
from max.gpu.sync import barrier
from std.atomic import Atomic
from std.compile import compile_info
from std.memory import stack_allocation
from std.sys import argv

comptime Floats = UnsafePointer[Float32, MutAnyOrigin]
comptime Words = UnsafePointer[UInt32, MutAnyOrigin]


def saxpy(n: Int32, a: Float32, x: Floats, y: Floats):
    var i = Int(global_idx.x)
    if i < Int(n):
        y[i] = a * x[i] + y[i]


def reduce(n: Int32, x: Floats, sums: Floats):
    """The sum of each block's 128 elements."""
    var part = stack_allocation[128, Float32, address_space=AddressSpace.SHARED]()
    var thread = Int(thread_idx.x)
    var i = Int(global_idx.x)
    part[thread] = x[i] if i < Int(n) else Float32(0)
    barrier()
    var half = 64
    while half > 0:
        if thread < half:
            part[thread] += part[thread + half]
        barrier()
        half //= 2
    if thread == 0:
        sums[Int(block_idx.x)] = part[0]


def histogram(n: Int32, values: Words, bins: Words):
    """How many values there are of each remainder by 16."""
    var i = Int(global_idx.x)
    if i < Int(n):
        _ = Atomic.fetch_add(bins + Int(values[i] % 16), 1)


def matmul(side: Int32, a: Floats, b: Floats, c: Floats):
    """The product of two square matrices, a thread an element."""
    var n = Int(side)
    var i = Int(global_idx.x)
    if i < n * n:
        var sum = Float32(0)
        for k in range(n):
            sum += a[i // n * n + k] * b[k * n + i % n]
        c[i] = sum


def show[machine: StaticString](kernel: String) raises:
    comptime target = get_gpu_target[machine]()
    if kernel == "saxpy":
        print(compile_info[saxpy, target=target]().asm)
    elif kernel == "reduce":
        print(compile_info[reduce, target=target]().asm)
    elif kernel == "histogram":
        print(compile_info[histogram, target=target]().asm)
    elif kernel == "matmul":
        print(compile_info[matmul, target=target]().asm)


def main() raises:
    if argv()[2] == "80":
        show["sm_80"](argv()[1])
    elif argv()[2] == "90":
        show["sm_90"](argv()[1])
    elif argv()[2] == "100":
        show["sm_100"](argv()[1])
