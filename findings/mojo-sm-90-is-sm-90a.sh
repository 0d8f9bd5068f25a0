#!/usr/bin/env bash
# Mojo 1.2.0, asked for "sm_90", writes PTX for `sm_90a`, whatever the kernel does: the one below only
# doubles a number. ptxas 13.5.37 refuses it for sm_90 and for every later machine, where PTX for sm_90
# would do. PTX for "sm_80" is that of sm_80 and can be assembled for later machines.
# Seen on Linux x86-64, Python 3.11, without a GPU.
source "$(dirname "$0")/common.sh"

install mojo-compiler==1.2.0 mojo-compiler-mojo-libs==1.2.0 max-core==26.7.0 max-mojo-libs==26.7.0 \
    max-shmem-libs==26.7.0 nvidia-cuda-nvcc==13.5.37
cat > kernel.mojo <<'END'
from max.gpu import global_idx
from max.gpu.host.compile import get_gpu_target
from std.compile import compile_info
from std.sys import argv


def twice(x: UnsafePointer[Float32, MutAnyOrigin]):
    x[Int(global_idx.x)] = 2.0 * x[Int(global_idx.x)]


def main() raises:
    if argv()[1] == "80":
        print(compile_info[twice, target=get_gpu_target["sm_80"]()]().asm)
    else:
        print(compile_info[twice, target=get_gpu_target["sm_90"]()]().asm)
END
HOME=$folder python/bin/mojo build --disable-warnings -o kernel kernel.mojo 2> log
./kernel 80 > sm_80.ptx
./kernel 90 > sm_90.ptx
ptxas=$(echo python/lib/python3*/site-packages/nvidia/cu13/bin/ptxas)

expect "machine of the PTX for sm_90" "$(grep '^\.target' sm_90.ptx)" ".target sm_90a"
expect "ptxas for sm_90" "$("$ptxas" -arch=sm_90 sm_90.ptx -o a 2>&1 || true)" \
    "PTX with .target 'sm_90a' cannot be compiled for architecture 'sm_90'"
expect "ptxas for sm_100" "$("$ptxas" -arch=sm_100 sm_90.ptx -o b 2>&1 || true)" \
    "Program with .target 'sm_90a' cannot be compiled to future architecture"
"$ptxas" -arch=sm_100 sm_80.ptx -o c
expect "ptxas for sm_100, of the PTX for sm_80" "$(ls c)" "c"
