"""Kernels in Numba, compiled without a GPU: python3 numba_kernels.py CAPABILITY FOLDER."""

import pathlib
import sys

from numba import cuda, float32, int32, types, uint32


def saxpy(n, a, x, y):
    i = cuda.grid(1)
    if i < n:
        y[i] = a * x[i] + y[i]


def reduce(n, x, sums):
    """The sum of each block's 128 elements."""
    part = cuda.shared.array(128, float32)
    thread, i = cuda.threadIdx.x, cuda.grid(1)
    part[thread] = x[i] if i < n else float32(0)
    cuda.syncthreads()
    half = 64
    while half > 0:
        if thread < half:
            part[thread] += part[thread + half]
        cuda.syncthreads()
        half //= 2
    if thread == 0:
        sums[cuda.blockIdx.x] = part[0]


def histogram(n, values, bins):
    """How many values there are of each remainder by 16."""
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.add(bins, values[i] % uint32(16), uint32(1))


def matmul(side, a, b, c):
    """c = a * b, square, side a multiple of 16."""
    left, right = cuda.shared.array((16, 16), float32), cuda.shared.array((16, 16), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, side, 16):
        left[y, x] = a[row * side + k + x]
        right[y, x] = b[(k + y) * side + column]
        cuda.syncthreads()
        for j in range(16):
            total += left[y, j] * right[j, x]
        cuda.syncthreads()
    c[row * side + column] = total


floats, words = float32[::1], uint32[::1]
# By pointers, and as Numba passes an array by itself: seven parameters each.
KERNELS = [
    ("saxpy", saxpy, (int32, float32, types.CPointer(float32), types.CPointer(float32))),
    ("saxpy_arrays", saxpy, (int32, float32, floats, floats)),
    ("reduce", reduce, (int32, types.CPointer(float32), types.CPointer(float32))),
    ("reduce_arrays", reduce, (int32, floats, floats)),
    ("histogram_arrays", histogram, (int32, words, words)),
    ("matmul", matmul, (int32, *[types.CPointer(float32)] * 3)),
    ("matmul_arrays", matmul, (int32, floats, floats, floats)),
]


def main():
    capability, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    for name, kernel, signature in KERNELS:
        ptx, _ = cuda.compile(
            kernel, signature, device=False, abi="numba", cc=divmod(capability, 10)
        )
        (folder / f"{name}.ptx").write_text(ptx)


main()
