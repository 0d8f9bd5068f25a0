"""Kernels in NVIDIA Warp, compiled without a GPU: python3 warp_kernels.py CAPABILITY FOLDER."""

import pathlib
import shutil
import sys

import warp as wp


@wp.kernel(enable_backward=False)
def saxpy(n: int, a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    if i < n:
        y[i] = a * x[i] + y[i]


@wp.kernel(enable_backward=False)
def reduce(x: wp.array(dtype=float), sums: wp.array(dtype=float)):
    """The sum of each block's elements, in shared memory."""
    block = wp.tid()
    part = wp.tile_load(x, shape=128, offset=block * 128)
    wp.tile_store(sums, wp.tile_sum(part), offset=block)


@wp.kernel(enable_backward=False)
def histogram(values: wp.array(dtype=wp.uint32), bins: wp.array(dtype=wp.uint32)):
    """How many values there are of each remainder by 16."""
    i = wp.tid()
    wp.atomic_add(bins, int(values[i] % wp.uint32(16)), wp.uint32(1))


@wp.kernel(enable_backward=False)
def matmul(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), c: wp.array2d(dtype=float)):
    """c = a * b, a thread an element."""
    row, column = wp.tid()
    total = float(0.0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, column]
    c[row, column] = total


def main():
    capability, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    module = sys.modules["__main__"]
    made = wp.compile_aot_module(
        module, arch=capability, module_dir=folder / "made", use_ptx=True, strip_hash=True
    )
    made[0].rename(folder / "kernels.ptx")
    # The source in CUDA, and what it was made of.
    shutil.rmtree(folder / "made")


wp.config.quiet = True
main()
