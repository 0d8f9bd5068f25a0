//! Made-up kernels, as the text of an Accel-Sim trace: a loop of multiply-adds over shared memory,
//! and one that streams through global memory.
//!
//! At [`CTAS`] CTAs and [`Kernel::iterations`] they are the traces that Accel-Sim's speed was
//! measured on, byte for byte; less of either makes the same kind of trace, only shorter.

use std::fmt::Write as _;

/// CTAs of the traces that Accel-Sim ran.
pub const CTAS: u64 = 48;
/// Warps of a CTA.
pub const WARPS: u64 = 8;
/// Bytes that a warp's load or store of one word a lane covers.
const ROW: u64 = 128;
const SHARED: u64 = 0x7f00_0000_0000;
const INPUT: u64 = 0x7f10_0000_0000;
const OUTPUT: u64 = 0x7f20_0000_0000;

/// A kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Of 19 instructions of the loop, 13 are floating-point and 3 load, mostly from shared memory.
    MultiplyAdds,
    /// Of 12 instructions of the loop, 4 load and 1 stores, in global memory.
    Stream,
}

impl Kernel {
    /// Times that every warp goes round the loop in the traces that Accel-Sim ran.
    pub const fn iterations(self) -> u64 {
        match self {
            Self::MultiplyAdds => 400,
            Self::Stream => 160,
        }
    }

    /// Warp instructions of a trace of `ctas` CTAs.
    pub const fn warp_instructions(self, ctas: u64, iterations: u64) -> u64 {
        ctas * WARPS * self.length(iterations)
    }

    const fn length(self, iterations: u64) -> u64 {
        match self {
            Self::MultiplyAdds => 23 + 19 * iterations + 3,
            Self::Stream => 3 + 12 * iterations + 1,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::MultiplyAdds => "synth_fma",
            Self::Stream => "synth_stream",
        }
    }

    /// The text of a trace, tracer version 5.
    pub fn text(self, ctas: u64, iterations: u64) -> String {
        let shared = if self == Self::MultiplyAdds { 4096 } else { 0 };
        let mut text = format!(
            "-kernel name = {}\n-kernel id = 1\n-grid dim = ({ctas},1,1)\n-block dim = ({},1,1)\n\
             -shmem = {shared}\n-nregs = 32\n-binary version = 70\n-cuda stream id = 0\n\
             -shmem base_addr = 0x{SHARED:016x}\n-local mem base_addr = 0x00007f0100000000\n\
             -nvbit version = 1.5.5\n-accelsim tracer version = 5\n-enable lineinfo = 0\n\n\
             #traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] \
             mem_width [adrrescompress?] [mem_addresses] immediate\n",
            self.name(),
            WARPS * 32,
        );
        for cta in 0..ctas {
            let _ = write!(text, "\n#BEGIN_TB\n\nthread block = {cta},0,0\n");
            for warp in 0..WARPS {
                let _ = write!(text, "\nwarp = {warp}\ninsts = {}\n", self.length(iterations));
                let mut lines = Lines { text: &mut text, pc: 0 };
                let place = Place { warp, global: cta * WARPS + warp, of: ctas * WARPS };
                match self {
                    Self::MultiplyAdds => multiply_adds(&mut lines, place, iterations),
                    Self::Stream => stream(&mut lines, place, iterations),
                }
            }
            text.push_str("\n#END_TB\n");
        }
        text
    }
}

/// A warp within the launch.
#[derive(Clone, Copy)]
struct Place {
    /// Within its CTA.
    warp: u64,
    /// Within the launch.
    global: u64,
    /// Warps of the launch.
    of: u64,
}

/// Lines of a warp.
struct Lines<'t> {
    text: &'t mut String,
    pc: u32,
}

impl Lines<'_> {
    /// An instruction that accesses no memory: what stands between mask and width.
    fn plain(&mut self, words: &str) {
        let _ = writeln!(self.text, "{:04x} ffffffff {words} 0 0 ", self.pc);
        self.pc += 16;
    }

    /// One that moves a word for each lane, at consecutive addresses.
    fn memory(&mut self, words: &str, address: u64) {
        let _ = writeln!(self.text, "{:04x} ffffffff {words} 4 1 0x{address:x} 4 0 ", self.pc);
        self.pc += 16;
    }
}

fn multiply_adds(lines: &mut Lines<'_>, place: Place, iterations: u64) {
    let Place { warp, global, .. } = place;
    for words in [
        "1 R1 IMAD.MOV.U32 2 R255 R255",
        "1 R0 S2R 0",
        "1 R3 S2R 0",
        "1 R2 IMAD 3 R3 R255 R0",
        "1 R4 SHF.R.U32.HI 2 R255 R2",
    ] {
        lines.plain(words);
    }
    for register in 16..32 {
        lines.plain(&format!("1 R{register} MOV 1 R255"));
    }
    lines.memory("0 STS 2 R4 R16", SHARED + warp * ROW);
    lines.plain("0 BAR.SYNC 0");
    let body = lines.pc;
    for i in 0..iterations {
        lines.pc = body;
        lines.memory("1 R8 LDG.E.SYS 1 R6", INPUT + global % 16 * 8 * ROW + i % 8 * ROW);
        lines.memory("1 R9 LDS.U 1 R4", SHARED + (warp + i) % 8 * ROW);
        lines.memory("1 R10 LDS.U 1 R5", SHARED + (3 * warp + i) % 8 * ROW);
        for n in 0..12 {
            let (sum, factor) = (16 + n, 20 + 5 * n % 12);
            lines.plain(&format!("1 R{sum} FFMA 3 R{} R{factor} R{sum}", 9 + n % 2));
        }
        lines.plain("1 R28 FADD 2 R8 R28");
        lines.plain("1 R6 IADD3 3 R6 R255 R255");
        lines.plain("0 ISETP.GE.AND 2 R2 R255");
        lines.plain("0 BRA 0");
    }
    lines.plain("0 BAR.SYNC 0");
    lines.memory("0 STG.E.SYS 2 R12 R16", OUTPUT + global * ROW);
    lines.plain("0 EXIT 0");
}

fn stream(lines: &mut Lines<'_>, place: Place, iterations: u64) {
    let Place { global, of, .. } = place;
    lines.plain("1 R1 IMAD.MOV.U32 2 R255 R255");
    lines.plain("1 R0 S2R 0");
    lines.plain("1 R2 IMAD 3 R0 R255 R255");
    let body = lines.pc;
    for i in 0..iterations {
        lines.pc = body;
        for n in 0..4 {
            let row = (4 * i + n) * of + global;
            lines.memory(&format!("1 R{} LDG.E.SYS 1 R4", 8 + n), INPUT + row * ROW);
        }
        for n in 0..4 {
            lines.plain(&format!("1 R12 FADD 2 R12 R{}", 8 + n));
        }
        lines.memory("0 STG.E.SYS 2 R6 R12", OUTPUT + (i * of + global) * ROW);
        lines.plain("1 R4 IADD3 3 R4 R255 R255");
        lines.plain("0 ISETP.GE.AND 2 R4 R255");
        lines.plain("0 BRA 0");
    }
    lines.plain("0 EXIT 0");
}

#[cfg(test)]
mod tests {
    use super::*;
    use strata_trace::{Keep, TracedLaunch};

    #[test]
    fn the_traces_are_as_long_as_they_say_and_nothing_in_them_is_guessed() {
        for kernel in [Kernel::MultiplyAdds, Kernel::Stream] {
            let text = kernel.text(2, 9).into_bytes();
            let launch = TracedLaunch::parse(text, "made-up", &Keep::default()).unwrap();
            assert_eq!(launch.instructions, kernel.warp_instructions(2, 9), "{kernel:?}");
            assert_eq!(launch.paths.len(), 1, "{kernel:?}: all warps take one path");
            assert!(launch.code.assumptions.is_empty(), "{:?}", launch.code.assumptions);
        }
    }

    /// Length and checksum of the files that it ran.
    #[test]
    fn full_traces_are_those_that_accel_sim_ran() {
        for (kernel, instructions, expected) in [
            (Kernel::MultiplyAdds, 2_928_384, (130_025_664, 229_192_320)),
            (Kernel::Stream, 738_816, (34_905_792, 1_555_960_051)),
        ] {
            let iterations = kernel.iterations();
            assert_eq!(kernel.warp_instructions(CTAS, iterations), instructions);
            let text = kernel.text(CTAS, iterations);
            assert_eq!((text.len(), crc32fast::hash(text.as_bytes())), expected, "{kernel:?}");
        }
    }
}
