//! What tracers since Accel-Sim 2.0 write on an instruction's line beside what older ones do, in
//! versions 5 and 6: uniform registers, a flag of matrix instructions of warp groups, transfers of
//! the tensor memory accelerator, a second immediate, and values of registers.
//!
//! All of it is checked. None of it is used: the model has no uniform registers and no values, and
//! such a transfer has no addresses of lanes (DEV-166).

use super::cursor::Cursor;
use super::error::{Problem, expected};

/// The line that a tracer writes around the one turn of a spin loop that it keeps (DEV-167). It is
/// written so in all versions, with `enable lineinfo` too.
const MARKER: &[u8] = b"0000 ffffffff 0 REPLAY_";
/// Stems of the tensor memory accelerator's instructions, as Accel-Sim looks for them.
const BULK: [&str; 7] = ["UTMALDG", "UTMASTG", "UTMAPF", "UTMAREDG", "UBLKCP", "UBLKPF", "UBLKRED"];
/// Longest transfer of the tensor memory accelerator, generously. Unit: bytes.
const MAX_TRANSFER: u64 = 1 << 40;

/// The version of a tracer, which says what its lines hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Version(pub(crate) u32);

impl Version {
    /// Lines have one immediate, or two. From that version on, they may name uniform registers.
    pub(crate) fn has_immediate(self) -> bool {
        self.0 >= 5
    }

    /// Lines say whether values of registers follow.
    pub(crate) fn has_values(self) -> bool {
        self.0 >= 6
    }
}

/// An operand that a line names, and that is no general register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unused {
    /// Its place among results and operands.
    pub(crate) place: u8,
    /// `UR`, `UP` or `P`.
    pub(crate) file: &'static str,
    /// Its number.
    pub(crate) number: u8,
}

/// How the rest of an instruction's lines is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// A width, perhaps addresses of lanes, immediates, perhaps values.
    Lanes,
    /// A width, perhaps addresses of lanes, immediates, perhaps values, all behind a flag: whether
    /// a matrix instruction of a warp group ends its group.
    Matrix {
        /// The flag.
        commits: bool,
    },
    /// A transfer of the tensor memory accelerator.
    Bulk,
}

/// The beginning or the end of the turn of a spin loop that a tracer keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Start,
    End,
}

impl Marker {
    /// Reads a line as a marker; `None` for instructions.
    #[inline]
    pub(crate) fn of_line(line: &[u8]) -> Option<Self> {
        let rest = line.strip_prefix(MARKER)?.trim_ascii_end();
        match rest {
            b"START 0 0 0 0" => Some(Self::Start),
            b"END 0 0 0 0" => Some(Self::End),
            _ => None,
        }
    }

    /// Whether the cursor stands before the marker `self`, and not its opposite.
    pub(crate) fn check(self, inside: bool) -> Result<bool, Problem> {
        match (self, inside) {
            (Self::Start, false) => Ok(true),
            (Self::End, true) => Ok(false),
            (Self::Start, true) => Err(expected("`REPLAY_END` first", b"REPLAY_START")),
            (Self::End, false) => Err(expected("`REPLAY_START` first", b"REPLAY_END")),
        }
    }
}

/// An operand that is no general register: its file and number.
pub(crate) fn unused(token: &[u8]) -> Option<(&'static str, u8)> {
    let (file, last) = match token {
        [b'U', b'R', ..] => ("UR", 255),
        [b'U', b'P', ..] => ("UP", 7),
        [b'P', ..] => ("P", 7),
        _ => return None,
    };
    let number = super::header::decimal(&token[file.len()..])?;
    (number <= last).then_some((file, number as u8))
}

/// What follows the immediates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    None,
    Some,
}

impl<'a> Cursor<'a> {
    /// The words that are left before values or the end of the line.
    fn words(self) -> impl Iterator<Item = &'a [u8]> {
        let words = self.rest().split(|byte| matches!(byte, b' ' | b'\t'));
        words.filter(|word| !word.is_empty()).take_while(|word| !matches!(*word, b"Val" | b"NoVal"))
    }

    /// Where the words are the first that is written as hexadecimal, if it is among the first five.
    fn first_address(self) -> Option<usize> {
        self.words().take(5).position(|word| word.starts_with(b"0x"))
    }

    /// The layout of the rest of a line that names `mnemonic`. Takes the flag of
    /// [`Layout::Matrix`].
    pub(crate) fn layout(
        &mut self,
        mnemonic: &str,
        immediates: Option<usize>,
    ) -> Result<Layout, Problem> {
        if mnemonic.contains("GMMA") && self.has_flag(immediates) {
            let commits = self.flag("0 or 1 behind the operands of a matrix instruction")?;
            return Ok(Layout::Matrix { commits });
        }
        let bulk = BULK.iter().any(|stem| mnemonic.contains(stem)) && self.is_transfer();
        Ok(if bulk { Layout::Bulk } else { Layout::Lanes })
    }

    /// Whether a matrix instruction's line has the flag of Accel-Sim 2.0. Older tracers wrote none.
    fn has_flag(self, immediates: Option<usize>) -> bool {
        match (self.first_address(), self.words().count()) {
            // Width, mode, address; a flag makes them four words.
            (Some(2), _) => false,
            // Width, immediates; a flag before them.
            (Some(3), _) | (_, 4) => true,
            (_, 3) => immediates != Some(2),
            _ => false,
        }
    }

    fn flag(&mut self, what: &'static str) -> Result<bool, Problem> {
        let whole = *self;
        match self.unsigned(what) {
            Ok(flag @ 0..=1) => Ok(flag == 1),
            _ => Err(whole.refuse(what)),
        }
    }

    /// Whether a line of the tensor memory accelerator describes its transfer: as Accel-Sim 2.0
    /// does, `width 0xBARRIER ...`, or the first tracers of version 6, `width 3 n` or `width 4 0x`.
    fn is_transfer(self) -> bool {
        let mut words = self.words();
        let (width, second, third) = (words.next(), words.next(), words.next());
        let rest = words.count();
        let moves = width != Some(b"0");
        match (second, third) {
            (Some([b'0', b'x', ..]), Some(_)) => rest >= 5,
            (Some(b"3"), Some(_)) | (Some(b"4"), Some([b'0', b'x', ..])) => moves,
            _ => false,
        }
    }

    /// A transfer of the tensor memory accelerator: the size of its pieces, perhaps barrier,
    /// multicast and bytes, and an address for each piece that lies in the tensor. A warp without
    /// lanes transfers nothing, whatever stands there.
    pub(crate) fn transfer(&mut self) -> Result<(), Problem> {
        const MODE: &str = "an address mode of a transfer: 3 (list) or 4 (deltas)";
        self.bytes("a size of pieces in bytes")?;
        self.skip_blanks();
        let newer = self.rest().starts_with(b"0x");
        if newer {
            self.hex("a hexadecimal address of a barrier", 8)?;
            if self.flag("0 or 1: whether the transfer is a multicast")? {
                self.hex("a hexadecimal mask of thread blocks", 4)?;
            }
            self.bytes("a number of bytes")?;
            self.bytes("a number of bytes outside the tensor")?;
        }
        self.skip_blanks();
        let whole = *self;
        let deltas = match self.unsigned(MODE)? {
            3 => false,
            4 => true,
            _ => return Err(whole.refuse(MODE)),
        };
        if deltas {
            self.hex("a hexadecimal base address", 16)?;
        }
        let count = self.bytes("a number of pieces")?;
        let most = if deltas { count.saturating_sub(1) } else { count };
        // Pieces outside the tensor are counted and have no address.
        let immediates = if newer { 2 } else { 1 };
        let found = self.words().count().saturating_sub(immediates);
        if found as u64 > most {
            return Err(expected("at most one address for each piece", self.rest()));
        }
        for _ in 0..found {
            if deltas {
                self.signed("one delta for each piece but the first")?;
            } else {
                self.hex("one hexadecimal address for each piece", 16)?;
            }
        }
        Ok(())
    }

    fn bytes(&mut self, what: &'static str) -> Result<u64, Problem> {
        self.skip_blanks();
        let whole = *self;
        match self.unsigned(what) {
            Ok(bytes @ 0..=MAX_TRANSFER) => Ok(bytes),
            _ => Err(whole.refuse(what)),
        }
    }

    /// One or two immediates, as many on each line of a file as `known`, and the values of the
    /// `named` registers in version 6.
    #[inline]
    pub(crate) fn tail(
        &mut self,
        version: Version,
        known: &mut Option<usize>,
        named: usize,
    ) -> Result<Values, Problem> {
        if !version.has_immediate() {
            return Ok(Values::None);
        }
        self.immediate()?;
        self.skip_blanks();
        let second = matches!(self.rest().first(), Some(b'-' | b'0'..=b'9'));
        match known {
            Some(1) => {}
            Some(_) => self.immediate()?,
            None if second => {
                self.immediate()?;
                *known = Some(2);
            }
            None => *known = Some(1),
        }
        if version.has_values() { self.values(named) } else { Ok(Values::None) }
    }

    /// `NoVal`, or `Val` and one value, or 32, of each register: results first.
    fn values(&mut self, named: usize) -> Result<Values, Problem> {
        const COUNT: &str = "1 or 32 values of a register";
        match self.token() {
            b"NoVal" => return Ok(Values::None),
            b"Val" => {}
            other => return Err(expected("`NoVal`, or `Val` and the values of registers", other)),
        }
        for _ in 0..named {
            self.skip_blanks();
            let whole = *self;
            let Ok(count @ (1 | 32)) = self.unsigned(COUNT) else {
                return Err(whole.refuse(COUNT));
            };
            for _ in 0..count {
                self.hex("a hexadecimal value of a register", 16)?;
            }
        }
        Ok(Values::Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V5: Version = Version(5);
    const V6: Version = Version(6);

    /// Reads an instruction's line behind the mask; says its layout and whether it has values.
    fn read(version: Version, mask: u32, text: &str) -> Result<(Layout, Values), Problem> {
        let mut cursor = Cursor::new(text.as_bytes());
        let named = cursor.named(version, None)?;
        match named.layout {
            Layout::Bulk => cursor.transfer()?,
            _ if named.width != 0 => drop(cursor.addresses(mask, &mut [0; 32])?),
            _ => {}
        }
        let values = cursor.tail(version, &mut None, named.operands())?;
        cursor.finish()?;
        Ok((named.layout, values))
    }

    #[test]
    fn what_each_tracer_writes_is_read() {
        let (lanes, none) = (Layout::Lanes, Values::None);
        let all = "0000000f ".repeat(32);
        let wide = "00000001000000f0 ".repeat(32);
        for (version, text, layout, values) in [
            (V5, "1 R1 MOV 0 0 -4", lanes, none),
            (V5, "1 R1 MOV 1 UR4 0 0 0 ", lanes, none),
            (V6, "1 UR4 ULDC 0 0 0 0 NoVal ", lanes, none),
            (V6, "1 R4 LDG.E 2 R2 UR4 4 1 0x1000 4 0 0 NoVal ", lanes, none),
            (V6, "1 R4 LDG.E 1 R2 4 0 0x10 0x20 0 NoVal", lanes, none),
            (V6, "0 BAR.SYNC 2 R0 UR63 0 7 0 Val 1 00000001 1 00000000 ", lanes, Values::Some),
            (V6, "0 MEMBAR.SC.GPU 0 0 0 0 Val ", lanes, Values::Some),
            (V6, &format!("0 BAR.ARV 1 R4 0 0 0 Val 32 {all}"), lanes, Values::Some),
            (
                V6,
                &format!("0 SYNCS.EXCH.64 2 UR4 R2 8 2 0x400 0 0 0 Val 1 00000400 32 {wide}"),
                lanes,
                Values::Some,
            ),
            (V5, "1 R24 HGMMA.64x128x16.F32 1 R24 0 0", lanes, none),
            (V5, "1 R24 HGMMA.64x8x16.F32 1 R24 1 0 0 0", Layout::Matrix { commits: true }, none),
            (
                V6,
                "1 R24 HGMMA.64x8x16.F32 1 R24 0 0 0 0 Val 1 0 1 0",
                Layout::Matrix { commits: false },
                Values::Some,
            ),
            (V5, "0 UTMALDG.2D 0 0 0", lanes, none),
            (V5, "0 UTMALDG.2D 0 0 4 7", lanes, none),
            (V6, "0 UTMALDG.2D 0 0 0x0 0 0 0 4 0x0 0 -17 99 NoVal ", Layout::Bulk, none),
            (
                V6,
                "0 UTMALDG.2D.MULTICAST 0 32 0x00000400 1 0x0003 96 32 4 0x7f0 3 32 0 0 NoVal ",
                Layout::Bulk,
                none,
            ),
            (V5, "0 UBLKCP 0 16 0x00000000 0 32 0 3 2 0x10 0x20 5 6 ", Layout::Bulk, none),
            (V6, "0 UTMASTG.3D 0 32 4 0x7f0 3 32 -64 0 NoVal", Layout::Bulk, none),
            (V6, "0 UTMASTG.3D 0 32 3 1 0x7f0 0 NoVal", Layout::Bulk, none),
        ] {
            assert_eq!(read(version, 3, text), Ok((layout, values)), "{text}");
        }
    }

    #[test]
    fn every_word_is_accounted_for() {
        for text in [
            "1 R1 MOV 0 0 0 0",
            "1 R1 MOV 0 0 NoVal",
            "1 R1 MOV 0 0 0 0 0 NoVal",
            "1 R1 MOV 0 0 0 0 NoVal 0",
            "1 R1 MOV 0 0 0 0 noval",
            "1 R1 MOV 0 0 0 0 Val",
            "1 R1 MOV 0 0 0 0 Val 1 0 1 0",
            "1 R1 MOV 0 0 0 0 Val 2 0 0",
            "1 R1 MOV 0 0 0 0 Val 1 g",
            "1 R1 MOV 0 0 0 0 Val 1 00000000000000000",
            "1 R1 MOV 0 0 0 0 Val 32 0",
            "1 UR256 ULDC 0 0 0 0 NoVal",
            "1 UR MOV 0 0 0 0 NoVal",
            "1 UP8 UISETP 0 0 0 0 NoVal",
            "1 P8 ISETP 0 0 0 0 NoVal",
            "1 SR4 S2R 0 0 0 0 NoVal",
            "1 R24 HGMMA.64x8x16.F32 1 R24 2 0 0 0 NoVal",
            "0 UTMALDG.2D 0 0 0x0 2 0 0 4 0x0 0 0 0 NoVal",
            "0 UTMALDG.2D 0 0 0x0 0 0 0 1 0x0 0 0 0 NoVal",
            "0 UTMALDG.2D 0 0 0x0 0 0 0 4 0x0 1 8 0 0 NoVal",
            "0 UTMALDG.2D 0 0 0x0 0 0 0 4 0x0 3 8 8 8 0 0 NoVal",
            "0 UTMALDG.2D 0 0 0x0 0 0 0 4 0x0 3 8 0x8 0 0 NoVal",
            "0 UTMALDG.2D 0 -1 0x0 0 0 0 4 0x0 0 0 0 NoVal",
            "0 UTMALDG.2D 0 16 0x000000000 0 0 0 4 0x0 0 0 0 NoVal",
            "0 REPLAY_START 0 0 0 0",
            "0 REPLAY_END 0 0 0 0 NoVal",
        ] {
            assert!(read(V6, 3, text).is_err(), "{text:?} was accepted");
        }
        assert!(read(V5, 3, "1 R1 MOV 0 0 0 NoVal").is_err());
        assert!(read(Version(4), 3, "1 UR4 ULDC 0 0").is_err());
    }

    #[test]
    fn a_file_has_as_many_immediates_on_each_line() {
        for (first, second, both) in [("0", "0", 1), ("0 0", "0 0", 2)] {
            let mut known = None;
            for text in [first, second] {
                let mut cursor = Cursor::new(text.as_bytes());
                cursor.tail(V5, &mut known, 0).and_then(|_| cursor.finish()).unwrap();
                assert_eq!(known, Some(both));
            }
        }
        for (known, text) in [(1, "0 0"), (2, "0")] {
            let mut cursor = Cursor::new(text.as_bytes());
            let read = cursor.tail(V5, &mut Some(known), 0).and_then(|_| cursor.finish());
            assert!(read.is_err(), "{text}");
        }
    }

    #[test]
    fn markers_are_exact_and_take_turns() {
        let marker = |text: &str| Marker::of_line(text.as_bytes());
        assert_eq!(marker("0000 ffffffff 0 REPLAY_START 0 0 0 0"), Some(Marker::Start));
        assert_eq!(marker("0000 ffffffff 0 REPLAY_END 0 0 0 0 "), Some(Marker::End));
        assert_eq!(marker("0000 ffffffff 0 REPLAY_END 0 0 0 1"), None);
        assert_eq!(marker("0000 ffffffff 0 EXIT 0 0 0 0"), None);
        assert_eq!((Marker::Start.check(false), Marker::End.check(true)), (Ok(true), Ok(false)));
        assert!(Marker::Start.check(true).is_err() && Marker::End.check(false).is_err());
    }
}
