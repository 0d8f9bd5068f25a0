//! Sizes of a device's program, from the section headers of its 32-bit little-endian ELF file.

/// Memory that a program needs. Unit: bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Code, constants, and the first values of variables.
    pub(crate) flash: u64,
    /// Variables; neither stack nor heap.
    pub(crate) ram: u64,
}

/// A section that has bytes in the file.
const PROGRAM_BITS: u32 = 1;
/// A section of variables that start as zero.
const NO_BITS: u32 = 8;
/// A section that can be written.
const WRITE: u32 = 1;
/// A section that occupies memory.
const ALLOCATED: u32 = 2;

/// Sums the sections up; none if the file is not such a program.
pub(crate) fn sizes(file: &[u8]) -> Option<Sizes> {
    // Class 1 is 32 bits, encoding 1 little-endian.
    if file.get(..6)? != b"\x7fELF\x01\x01" {
        return None;
    }
    let half = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
    let (table, entry, count) = (word(32)? as usize, usize::from(half(46)?), half(48)?);
    let header = |index: u16| table.checked_add(usize::from(index).checked_mul(entry)?);
    let names = word(header(half(50)?)? + 16)? as usize;
    let mut sizes = Sizes::default();
    for index in 0..count {
        let at = header(index)?;
        let (name, kind, flags, size) = (word(at)?, word(at + 4)?, word(at + 8)?, word(at + 20)?);
        let name = file.get(names.checked_add(name as usize)?..)?;
        // The linker script of `riscv-rt` gives the rest of the memory to these.
        let reserved = name.starts_with(b".stack\0") || name.starts_with(b".heap\0");
        if flags & ALLOCATED == 0 || reserved {
            continue;
        }
        if kind != NO_BITS {
            sizes.flash += u64::from(size);
        }
        if flags & WRITE != 0 && (kind == NO_BITS || kind == PROGRAM_BITS) {
            sizes.ram += u64::from(size);
        }
    }
    Some(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of nothing but sections: name, kind, flags, size.
    fn file(sections: &[(&str, u32, u32, u32)]) -> Vec<u8> {
        let mut names = vec![0];
        let mut headers = Vec::new();
        let all = sections.iter().copied().chain([(".shstrtab", 3, 0, 0)]);
        for (name, kind, flags, size) in all {
            let words = [names.len() as u32, kind, flags, 0, 52, size, 0, 0, 0, 0];
            headers.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            names.extend_from_slice(name.as_bytes());
            names.push(0);
        }
        let mut file = b"\x7fELF\x01\x01".to_vec();
        file.resize(52, 0);
        let table = 52 + names.len() as u32;
        file[32..36].copy_from_slice(&table.to_le_bytes());
        file[46..48].copy_from_slice(&40_u16.to_le_bytes());
        file[48..50].copy_from_slice(&(sections.len() as u16 + 1).to_le_bytes());
        file[50..52].copy_from_slice(&(sections.len() as u16).to_le_bytes());
        file.extend(names);
        file.extend(headers);
        file
    }

    #[test]
    fn variables_with_values_need_both_memories() {
        let file = file(&[
            (".text", PROGRAM_BITS, ALLOCATED | 4, 1000),
            (".rodata", PROGRAM_BITS, ALLOCATED, 100),
            (".data", PROGRAM_BITS, ALLOCATED | WRITE, 10),
            (".bss", NO_BITS, ALLOCATED | WRITE, 1),
            (".stack", NO_BITS, ALLOCATED | WRITE, 9999),
            (".comment", PROGRAM_BITS, 0, 9999),
        ]);
        assert_eq!(sizes(&file), Some(Sizes { flash: 1110, ram: 11 }));
    }

    #[test]
    fn what_is_no_such_program_has_no_sizes() {
        let good = file(&[(".text", PROGRAM_BITS, ALLOCATED, 1000)]);
        assert!(sizes(&good).is_some());
        assert_eq!(sizes(b"text"), None);
        for length in [0, 5, 51, good.len() - 20] {
            assert_eq!(sizes(&good[..length]), None, "{length} bytes");
        }
        let mut wide = good;
        wide[4] = 2;
        assert_eq!(sizes(&wide), None);
    }
}
