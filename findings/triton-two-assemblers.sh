#!/usr/bin/env bash
# Triton 3.9.0 brings two assemblers, `ptxas` of CUDA 12.9 and `ptxas-blackwell` of CUDA 13.4, and names
# the PTX version by the one that it will call: 8.8 for sm_80, 9.4 for sm_90 (Hopper, not Blackwell).
# The `ptxas` in the same wheel refuses the PTX for sm_90 by its version; the kernel has nothing newer
# than PTX 8. Who reassembles Triton's PTX for an H100 needs the one that is named after Blackwell.
# Seen on Linux x86-64, Python 3.11, without a GPU.
source "$(dirname "$0")/common.sh"

install triton==3.9.0
cat > kernel.py <<'END'
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def twice(x, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(x + i, 2.0 * tl.load(x + i))


for capability in [80, 90]:
    source = ASTSource(twice, {"x": "*fp32", "block": "constexpr"}, {"block": 128})
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32))
    open(f"sm_{capability}.ptx", "w").write(made.asm["ptx"])
END
HOME=$folder python/bin/python3 kernel.py 2> log
programs=$(echo python/lib/python3*/site-packages/triton/backends/nvidia/bin)

expect "PTX for sm_80" "$(grep -E '^\.(version|target)' sm_80.ptx)" ".version 8.8"
expect "PTX for sm_90" "$(grep -E '^\.(version|target)' sm_90.ptx)" ".version 9.4"
expect "ptxas of the wheel, sm_90" "$("$programs/ptxas" -arch=sm_90a sm_90.ptx -o a 2>&1 || true)" \
    "Unsupported .version 9.4; current version is '8.8'"
"$programs/ptxas-blackwell" -arch=sm_90a sm_90.ptx -o b
expect "ptxas-blackwell of the wheel, sm_90" "$(ls b)" "b"
