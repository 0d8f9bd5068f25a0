//! Fault record: the reason that a panicked or trapped program leaves for the next start.

use core::fmt::Write as _;

use strata_link::message::Text;

/// The mark of a record that this program wrote; memory after power-on does not have it.
const WRITTEN: u32 = 0x5354_5246;
/// Bytes of a text.
const MOST: usize = 104;

/// Memory that survives a restart: any contents make a record. It belongs where the start-up code
/// does not clear memory.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct FaultRecord {
    written: u32,
    starts: u32,
    length: u32,
    bytes: [u8; MOST],
}

impl FaultRecord {
    /// An empty record.
    pub const EMPTY: Self = Self { written: 0, starts: 0, length: 0, bytes: [0; MOST] };

    /// Counts a start. Returns the starts since power-on, and removes and returns the last fault.
    pub fn start(&mut self) -> (u32, Option<Text>) {
        if self.written != WRITTEN {
            *self = Self { written: WRITTEN, ..Self::EMPTY };
        }
        self.starts = self.starts.wrapping_add(1);
        let length = core::mem::take(&mut self.length) as usize;
        let bytes = self.bytes.get(..length).filter(|bytes| !bytes.is_empty());
        let fault = bytes.map(|bytes| {
            let mut text = Text::new();
            // The text was cut where the room ended, maybe within a letter.
            let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
            // The text is no longer than its room.
            let _ = text.push_str(valid);
            text
        });
        (self.starts, fault)
    }

    /// Keeps a fault for the next start, as much of it as there is room for. The first one since
    /// the start stays.
    pub fn put(&mut self, fault: impl core::fmt::Display) {
        if self.length == 0 {
            // A text that is too long is cut.
            let _ = write!(self, "{fault}");
        }
    }
}

impl core::fmt::Write for FaultRecord {
    fn write_str(&mut self, piece: &str) -> core::fmt::Result {
        let rest = self.bytes.get_mut(self.length as usize..).ok_or(core::fmt::Error)?;
        let taken = piece.len().min(rest.len());
        rest[..taken].copy_from_slice(&piece.as_bytes()[..taken]);
        self.length += taken as u32;
        if taken == piece.len() { Ok(()) } else { Err(core::fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_told_once_at_the_next_start() {
        // Memory after power-on.
        let mut record = FaultRecord { written: 7, starts: 8, length: 9, bytes: [0xff; MOST] };
        assert_eq!(record.start(), (1, None));
        record.put(format_args!("panicked at {}", 5));
        record.put("another one on the way down");
        let text = Text::try_from("panicked at 5").expect("it is short");
        assert_eq!(record.start(), (2, Some(text)));
        assert_eq!(record.start(), (3, None));
    }

    #[test]
    fn a_long_fault_is_cut_between_letters() {
        let mut record = FaultRecord::EMPTY;
        let _ = record.start();
        record.put(format_args!("x{:é<200}", ""));
        let (_, Some(text)) = record.start() else { panic!("there was a fault") };
        assert_eq!((text.len(), text.chars().count()), (103, 52));
    }
}
