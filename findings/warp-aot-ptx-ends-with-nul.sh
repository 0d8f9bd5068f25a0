#!/usr/bin/env bash
# NVIDIA Warp 1.19.0: the PTX file that `compile_aot_module(use_ptx=True)` writes ends with a NUL byte,
# the end of a string of C. ptxas 13.5.37 refuses the file ("Unexpected EOF encountered") and takes it
# without that byte. The driver reads such a string, so that Warp itself never notices.
# Seen on Linux x86-64, Python 3.11, without a GPU.
source "$(dirname "$0")/common.sh"

install warp-lang==1.19.0 numpy==2.4.6 nvidia-cuda-nvcc==13.5.37
cat > kernel.py <<'END'
import sys
import warp as wp


@wp.kernel(enable_backward=False)
def twice(x: wp.array(dtype=float)):
    x[wp.tid()] = 2.0 * x[wp.tid()]


made = wp.compile_aot_module(sys.modules["__main__"], arch=80, module_dir="made", use_ptx=True)
made[0].rename("kernel.ptx")
END
HOME=$folder python/bin/python3 kernel.py > log
ptxas=$(echo python/lib/python3*/site-packages/nvidia/cu13/bin/ptxas)

expect "the last byte of the file" "$(tail -c 1 kernel.ptx | od -An -tx1)" "00"
expect "ptxas of the file" "$("$ptxas" -arch=sm_80 kernel.ptx -o kernel.cubin 2>&1 || true)" \
    "Unexpected EOF encountered"
head -c -1 kernel.ptx > shorter.ptx
"$ptxas" -arch=sm_80 shorter.ptx -o shorter.cubin
expect "ptxas of the file without that byte" "$(ls shorter.cubin)" "shorter.cubin"
