"""Kernels in Triton, compiled without a GPU: python3 triton_kernels.py CAPABILITY FOLDER."""

import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def saxpy(n, a, x, y, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    tl.store(y + i, a * tl.load(x + i, inside) + tl.load(y + i, inside), inside)


@triton.jit
def reduce(n, x, sums, block: tl.constexpr):
    """The sum of each block's elements: shuffles, then shared memory."""
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(sums + tl.program_id(0), tl.sum(tl.load(x + i, i < n, 0.0), 0))


@triton.jit
def histogram(n, values, bins, block: tl.constexpr):
    """How many values there are of each remainder by 16."""
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    tl.atomic_add(bins + tl.load(values + i, inside, 0) % 16, 1, inside)


@triton.jit
def matmul(side, a, b, c, block: tl.constexpr):
    """c = a * b by tensor cores, square, side a multiple of the block."""
    row = tl.program_id(1) * block + tl.arange(0, block)
    column = tl.program_id(0) * block + tl.arange(0, block)
    result = tl.zeros((block, block), tl.float32)
    for k in range(0, side, block):
        inner = k + tl.arange(0, block)
        left = tl.load(a + row[:, None] * side + inner[None, :])
        right = tl.load(b + inner[:, None] * side + column[None, :])
        result += tl.dot(left, right)
    tl.store(c + row[:, None] * side + column[None, :], result)


def kernels(capability):
    # Tensor cores of whole warp groups take 64 rows at least; on older machines 64 need more than
    # the 255 registers of a thread.
    side = 64 if capability >= 90 else 32
    return [
        (saxpy, {"n": "i32", "a": "fp32", "x": "*fp32", "y": "*fp32"}, 128),
        (reduce, {"n": "i32", "x": "*fp32", "sums": "*fp32"}, 128),
        (histogram, {"n": "i32", "values": "*u32", "bins": "*u32"}, 128),
        (matmul, {"side": "i32", "a": "*fp16", "b": "*fp16", "c": "*fp32"}, side),
    ]


def main():
    capability, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    for kernel, signature, block in kernels(capability):
        source = ASTSource(kernel, signature | {"block": "constexpr"}, {"block": block})
        compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32))
        (folder / f"{kernel.__name__}.ptx").write_text(compiled.asm["ptx"])


main()
