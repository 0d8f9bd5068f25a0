"""Kernels in LLVM's own language, compiled by llvmlite: python3 llvmlite_kernels.py CAPABILITY FOLDER."""

import pathlib
import sys

import llvmlite.binding as llvm

SOURCE = """
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @llvm.nvvm.barrier0()

define ptx_kernel void @saxpy(i32 %n, float %a, ptr addrspace(1) %x, ptr addrspace(1) %y) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = shl i32 %block, 7
  %i = or i32 %first, %thread
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %done
work:
  %left = getelementptr float, ptr addrspace(1) %x, i32 %i
  %right = getelementptr float, ptr addrspace(1) %y, i32 %i
  %old = load float, ptr addrspace(1) %left
  %other = load float, ptr addrspace(1) %right
  %product = fmul contract float %a, %old
  %sum = fadd contract float %product, %other
  store float %sum, ptr addrspace(1) %right
  br label %done
done:
  ret void
}

@part = internal addrspace(3) global [128 x float] undef, align 4

; The sum of each block's 128 elements.
define ptx_kernel void @reduce(i32 %n, ptr addrspace(1) %x, ptr addrspace(1) %sums) {
entry:
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = shl i32 %block, 7
  %i = or i32 %first, %thread
  %own = getelementptr [128 x float], ptr addrspace(3) @part, i32 0, i32 %thread
  store float 0.0, ptr addrspace(3) %own
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %load, label %begin
load:
  %from = getelementptr float, ptr addrspace(1) %x, i32 %i
  %value = load float, ptr addrspace(1) %from
  store float %value, ptr addrspace(3) %own
  br label %begin
begin:
  call void @llvm.nvvm.barrier0()
  br label %loop
loop:
  %half = phi i32 [64, %begin], [%next, %again]
  %adds = icmp slt i32 %thread, %half
  br i1 %adds, label %add, label %again
add:
  %at = add i32 %thread, %half
  %there = getelementptr [128 x float], ptr addrspace(3) @part, i32 0, i32 %at
  %mine = load float, ptr addrspace(3) %own
  %theirs = load float, ptr addrspace(3) %there
  %both = fadd float %mine, %theirs
  store float %both, ptr addrspace(3) %own
  br label %again
again:
  call void @llvm.nvvm.barrier0()
  %next = lshr i32 %half, 1
  %more = icmp ne i32 %next, 0
  br i1 %more, label %loop, label %end
end:
  %zero = icmp eq i32 %thread, 0
  br i1 %zero, label %write, label %done
write:
  %total = load float, ptr addrspace(3) %own
  %to = getelementptr float, ptr addrspace(1) %sums, i32 %block
  store float %total, ptr addrspace(1) %to
  br label %done
done:
  ret void
}

; How many values there are of each remainder by 16.
define ptx_kernel void @histogram(i32 %n, ptr addrspace(1) %values, ptr addrspace(1) %bins) {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %first = shl i32 %block, 7
  %i = or i32 %first, %thread
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %done
work:
  %from = getelementptr i32, ptr addrspace(1) %values, i32 %i
  %value = load i32, ptr addrspace(1) %from
  %bin = and i32 %value, 15
  %to = getelementptr i32, ptr addrspace(1) %bins, i32 %bin
  %old = atomicrmw add ptr addrspace(1) %to, i32 1 monotonic
  br label %done
done:
  ret void
}
"""


def main():
    capability, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple("nvptx64-nvidia-cuda")
    machine = target.create_target_machine(cpu=f"sm_{capability}", opt=3)
    module = llvm.parse_assembly(SOURCE)
    module.verify()
    (folder / "kernels.ptx").write_text(machine.emit_assembly(module))


main()
