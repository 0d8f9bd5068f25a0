"""Kernels in the CUTLASS DSL, compiled without a GPU: python3 cutlass_kernels.py CAPABILITY FOLDER."""

import os
import pathlib
import sys

CAPABILITY, FOLDER = int(sys.argv[1]), pathlib.Path(sys.argv[2])
os.environ["CUTE_DSL_ARCH"] = f"sm_{CAPABILITY}" + ("a" if CAPABILITY >= 90 else "")
os.environ["CUTE_DSL_KEEP"] = "ptx"
os.environ["CUTE_DSL_DUMP_DIR"] = str(FOLDER)

import cutlass  # noqa: E402
from cutlass import cute  # noqa: E402
from cutlass.cute.runtime import make_fake_compact_tensor  # noqa: E402


@cute.kernel
def saxpy(n: cutlass.Int32, a: cutlass.Float32, x: cute.Tensor, y: cute.Tensor):
    i = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    if i < n:
        y[i] = a * x[i] + y[i]


@cute.jit
def launch_saxpy(n: cutlass.Int32, a: cutlass.Float32, x: cute.Tensor, y: cute.Tensor):
    saxpy(n, a, x, y).launch(grid=[8, 1, 1], block=[128, 1, 1])


@cute.kernel
def reduce(n: cutlass.Int32, x: cute.Tensor, sums: cute.Tensor):
    """The sum of each block's 128 elements."""
    part = cute.make_tensor(
        cute.arch.alloc_smem(cutlass.Float32, 128), cute.make_layout(128)
    )
    thread, block = cute.arch.thread_idx()[0], cute.arch.block_idx()[0]
    i = block * 128 + thread
    part[thread] = cutlass.Float32(0)
    if i < n:
        part[thread] = x[i]
    cute.arch.sync_threads()
    for step in cutlass.range_constexpr(7):
        half = 64 >> step
        if thread < half:
            part[thread] = part[thread] + part[thread + half]
        cute.arch.sync_threads()
    if thread == 0:
        sums[block] = part[0]


@cute.jit
def launch_reduce(n: cutlass.Int32, x: cute.Tensor, sums: cute.Tensor):
    reduce(n, x, sums).launch(grid=[8, 1, 1], block=[128, 1, 1])


@cute.kernel
def histogram(n: cutlass.Int32, values: cute.Tensor, bins: cute.Tensor):
    """How many values there are of each remainder by 16."""
    i = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    if i < n:
        cute.arch.atomic_add(bins.iterator + values[i] % 16, cutlass.Int32(1))


@cute.jit
def launch_histogram(n: cutlass.Int32, values: cute.Tensor, bins: cute.Tensor):
    histogram(n, values, bins).launch(grid=[8, 1, 1], block=[128, 1, 1])


def main():
    floats = make_fake_compact_tensor(cutlass.Float32, (1000,))
    words = make_fake_compact_tensor(cutlass.Int32, (1000,))
    n, a = cutlass.Int32(1000), cutlass.Float32(2)
    for name, launch, arguments in [
        ("saxpy", launch_saxpy, (n, a, floats, floats)),
        ("reduce", launch_reduce, (n, floats, floats)),
        ("histogram", launch_histogram, (n, words, words)),
    ]:
        cute.compile(launch, *arguments)
        made = list(FOLDER.glob(f"cutlass_launch_{name}*.ptx"))
        assert len(made) == 1, made
        made[0].rename(FOLDER / f"{name}.ptx")


main()
