//! One instruction line: the part that is the same in every execution, and the part that is not.
//!
//! `[line] PC mask ndst [Rd...] OPCODE nsrc [Rs...] width [mode addresses...] [immediate]`, and
//! what newer tracers add to it (`newer`).

use strata_simt::moved::Addresses;

use super::cursor::Cursor;
use super::error::{Problem, expected};
use super::newer::{Layout, Unused, Version, unused};
use super::plain::is_mnemonic;

/// Registers that one line may name as results, or as operands.
pub(crate) const MAX_NAMED: u64 = 8;
/// The register that is always zero, and no register.
pub(crate) const ZERO: u8 = 255;

/// The part of a line that is the same in every execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Registers named as results; [`ZERO`] included.
    pub(crate) destinations: Vec<u8>,
    /// Mnemonic with its modifiers.
    pub(crate) mnemonic: String,
    /// Registers named as operands; [`ZERO`] included.
    pub(crate) sources: Vec<u8>,
    /// Bytes that each lane moves, as the tracer says; 0 when it is no memory instruction.
    pub(crate) width: u8,
    /// Results and operands that are no general registers.
    pub(crate) unused: Vec<Unused>,
    /// How the rest of the line is laid out.
    pub(crate) layout: Layout,
}

impl Named {
    /// Results and operands that the line names, of all kinds.
    pub(crate) fn operands(&self) -> usize {
        self.destinations.len() + self.sources.len() + self.unused.len()
    }
}

impl Cursor<'_> {
    /// The general registers among `count` operands; the others are appended to `others`, with
    /// their places from `first` on.
    fn registers(
        &mut self,
        version: Version,
        count: u64,
        first: u8,
        others: &mut Vec<Unused>,
    ) -> Result<Vec<u8>, Problem> {
        let mut registers = Vec::new();
        for place in first..first + count as u8 {
            let token = self.token();
            let number = token.strip_prefix(b"R").and_then(super::header::decimal);
            match number.and_then(|number| u8::try_from(number).ok()) {
                Some(number) => registers.push(number),
                None if version.has_immediate() => {
                    const WHAT: &str =
                        "a register R0 to R255, UR0 to UR255, P0 to P7 or UP0 to UP7";
                    let (file, number) = unused(token).ok_or_else(|| expected(WHAT, token))?;
                    others.push(Unused { place, file, number });
                }
                None => return Err(expected("a register R0 to R255", token)),
            }
        }
        Ok(registers)
    }

    fn count(&mut self, what: &'static str) -> Result<u64, Problem> {
        self.skip_blanks();
        let whole = *self;
        let count = self.unsigned(what)?;
        if count > MAX_NAMED { Err(whole.refuse(what)) } else { Ok(count) }
    }

    /// The part that is the same in every execution. `immediates` is how many the file's lines
    /// have, if it is known.
    pub(crate) fn named(
        &mut self,
        version: Version,
        immediates: Option<usize>,
    ) -> Result<Named, Problem> {
        const MARKER: &str =
            "`0000 ffffffff 0 REPLAY_START 0 0 0 0`, or _END, for a mark of a loop";
        let mut unused = Vec::new();
        let results = self.count("a number of results from 0 to 8")?;
        let destinations = self.registers(version, results, 0, &mut unused)?;
        let mnemonic = self.token();
        if !is_mnemonic(mnemonic) {
            return Err(expected("an opcode such as IMAD.MOV.U32", mnemonic));
        }
        if mnemonic.starts_with(b"REPLAY_") {
            return Err(expected(MARKER, mnemonic));
        }
        let mnemonic = String::from_utf8_lossy(mnemonic).into_owned();
        let count = self.count("a number of operands from 0 to 8")?;
        let sources = self.registers(version, count, results as u8, &mut unused)?;
        let newer = version.has_immediate();
        let layout = if newer { self.layout(&mnemonic, immediates)? } else { Layout::Lanes };
        // The width of a transfer is 0 where the warp has no lanes.
        let width = if layout == Layout::Bulk { 0 } else { self.width()? };
        Ok(Named { destinations, mnemonic, sources, width, unused, layout })
    }

    fn width(&mut self) -> Result<u8, Problem> {
        self.skip_blanks();
        let whole = *self;
        let what = "a width from 0 to 128 bytes";
        let width = self.unsigned(what)?;
        if width > 128 { Err(whole.refuse(what)) } else { Ok(width as u8) }
    }

    /// Address mode and addresses of the lanes in `mask`.
    #[inline]
    pub(crate) fn addresses<'b>(
        &mut self,
        mask: u32,
        lanes: &'b mut [u64; 32],
    ) -> Result<Addresses<'b>, Problem> {
        const MODE: &str = "an address mode: 0 (list), 1 (stride) or 2 (deltas)";
        let active = mask.count_ones();
        self.skip_blanks();
        let whole = *self;
        match self.unsigned(MODE)? {
            0 => {
                let used = &mut lanes[..active as usize];
                for lane in &mut *used {
                    *lane = self.hex("one hexadecimal address for each active lane", 16)?;
                }
                Ok(if used.is_empty() { Addresses::None } else { Addresses::Each(used) })
            }
            1 => {
                let base = self.hex("a hexadecimal base address", 16)?;
                let stride = self.signed("a stride in bytes")?;
                if active == 0 {
                    return Ok(Addresses::None);
                }
                if !(u64::from(mask >> mask.trailing_zeros()) + 1).is_power_of_two() {
                    return Err(Problem::Stride(mask));
                }
                Ok(Addresses::Stride { base, stride, lanes: active })
            }
            2 => {
                let mut address = self.hex("a hexadecimal base address", 16)?;
                let used = &mut lanes[..active as usize];
                let Some((first, others)) = used.split_first_mut() else {
                    return Ok(Addresses::None);
                };
                *first = address;
                for lane in others {
                    let delta = self.signed("one delta for each active lane but the first")?;
                    address = address.wrapping_add_signed(delta);
                    *lane = address;
                }
                Ok(Addresses::Each(used))
            }
            _ => Err(whole.refuse(MODE)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str, mask: u32) -> Result<Vec<u64>, Problem> {
        let mut lanes = [0; 32];
        let mut cursor = Cursor::new(text.as_bytes());
        let found: Vec<u64> = cursor.addresses(mask, &mut lanes)?.iter().collect();
        cursor.finish()?;
        Ok(found)
    }

    #[test]
    fn the_three_address_modes() {
        assert_eq!(addresses("0 0x10 0x20 ", 0b101).unwrap(), [0x10, 0x20]);
        assert_eq!(addresses("1 0x10 -4", 0b1110).unwrap(), [0x10, 0xc, 0x8]);
        assert_eq!(addresses("2 0x10 8 -4", 0b1101).unwrap(), [0x10, 0x18, 0x14]);
    }

    #[test]
    fn no_lane_and_one_lane() {
        assert_eq!(addresses("1 0x0 0", 0).unwrap(), Vec::<u64>::new());
        assert_eq!(addresses("1 0x7f00 77", 0).unwrap(), Vec::<u64>::new());
        assert_eq!(addresses("0", 0).unwrap(), Vec::<u64>::new());
        assert_eq!(addresses("2 0x0", 0).unwrap(), Vec::<u64>::new());
        assert_eq!(addresses("2 0x7f00", 1 << 9).unwrap(), [0x7f00]);
        assert_eq!(addresses("1 0x7f00 4", 1 << 31).unwrap(), [0x7f00]);
    }

    #[test]
    fn addresses_that_do_not_fit_the_mask_are_refused() {
        assert!(addresses("0 0x10", 3).is_err());
        assert!(addresses("0 0x10 0x20 0x30", 3).is_err());
        assert!(addresses("2 0x10", 3).is_err());
        assert_eq!(addresses("1 0x10 4", 0b101), Err(Problem::Stride(0b101)));
        assert!(addresses("3 0x10 4", 1).is_err());
        assert!(addresses("1 0x11112222333344445 4", 1).is_err());
        assert!(addresses("1 0x10 9223372036854775808", 1).is_err());
        assert!(addresses("2 0x10 -9223372036854775808", 3).is_ok());
    }

    #[test]
    fn addresses_wrap_as_the_machines_do() {
        assert_eq!(addresses("1 0xfffffffffffffffe 4", 3).unwrap(), [u64::MAX - 1, 2]);
    }

    #[test]
    fn operands_are_read_and_wrong_ones_refused() {
        let named = |text: &str| Cursor::new(text.as_bytes()).named(Version(4), None);
        let load = named("1 R4 LDG.E.128 1 R255 16").unwrap();
        assert_eq!((load.destinations, load.sources, load.width), (vec![4], vec![255], 16));
        for text in [
            "",
            "x",
            "9 R1",
            "1 R256 MOV 0 0",
            "1 UR4 MOV 0 0",
            "1 R+4 MOV 0 0",
            "0 mov 0 0",
            "0 MOV-X 0 0",
            "0 MOV 1 0",
            "0 MOV 0 129",
            "0 MOV 0",
            "0 MOV 0 0x4",
        ] {
            assert!(named(text).is_err(), "{text:?} was accepted");
        }
    }
}
