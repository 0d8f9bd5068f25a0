//! A device's program in its 32-bit little-endian ELF file: sizes from the section headers, the
//! memory image from the program headers.

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

/// What a loader puts into memory: words from `origin` on, up to the last that the file fills.
///
/// Fails with a sentence if the file is no such program, or if it does not fit into `length` bytes.
pub(crate) fn image(file: &[u8], origin: u32, length: u32) -> Result<Vec<u32>, String> {
    segments(file, origin, length).ok_or("it is no 32-bit program")?
}

/// Type of a segment that is loaded.
const LOADED: u32 = 1;

fn segments(file: &[u8], origin: u32, length: u32) -> Option<Result<Vec<u32>, String>> {
    if file.get(..6)? != b"\x7fELF\x01\x01" {
        return None;
    }
    let half = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
    let (table, entry, count) = (word(28)? as usize, usize::from(half(42)?), half(44)?);
    let mut bytes = Vec::new();
    for index in 0..count {
        let at = table.checked_add(usize::from(index).checked_mul(entry)?)?;
        let (kind, offset, address, size) =
            (word(at)?, word(at + 4)? as usize, word(at + 12)?, word(at + 16)?);
        if kind != LOADED || size == 0 {
            continue;
        }
        let end = address.checked_sub(origin).and_then(|start| start.checked_add(size));
        let Some(end) = end.filter(|&end| end <= length) else {
            return Some(Err(format!(
                "{size} bytes at {address:#x} are outside the {length} bytes from {origin:#x} on"
            )));
        };
        let (start, end) = ((end - size) as usize, end as usize);
        bytes.resize(bytes.len().max(end.next_multiple_of(4)), 0);
        let content = file.get(offset..offset.checked_add(size as usize)?)?;
        bytes[start..end].copy_from_slice(content);
    }
    let words = bytes.chunks_exact(4);
    Some(Ok(words.map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()))
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

    /// A file of nothing but segments: address and content.
    fn loaded(segments: &[(u32, &[u8])]) -> Vec<u8> {
        let mut file = b"\x7fELF\x01\x01".to_vec();
        file.resize(52, 0);
        file[28..32].copy_from_slice(&52_u32.to_le_bytes());
        file[42..44].copy_from_slice(&32_u16.to_le_bytes());
        file[44..46].copy_from_slice(&(segments.len() as u16).to_le_bytes());
        let mut offset = 52 + 32 * segments.len() as u32;
        for (address, content) in segments {
            let size = content.len() as u32;
            let words = [LOADED, offset, !0, *address, size, size, 5, 4];
            file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            offset += size;
        }
        file.extend(segments.iter().flat_map(|(_, content)| content.iter().copied()));
        file
    }

    #[test]
    fn an_image_is_what_the_segments_load() {
        let file = loaded(&[(0x1008, &[9]), (0x1000, &[1, 2, 3, 4, 5])]);
        assert_eq!(image(&file, 0x1000, 12), Ok(vec![0x0403_0201, 5, 9]));
        assert_eq!(image(&loaded(&[]), 0x1000, 12), Ok(vec![]));
    }

    #[test]
    fn an_image_has_to_fit() {
        let file = loaded(&[(0x1008, &[9])]);
        assert!(image(&file, 0x1000, 9).is_ok());
        for (origin, length) in [(0x1000, 8), (0x1009, 100), (0x2000, 100)] {
            let why = image(&file, origin, length).expect_err("it does not fit");
            assert!(why.starts_with("1 bytes at 0x1008 are outside"), "{why}");
        }
        for cut in [5, 40, 60, file.len() - 1] {
            assert!(image(&file[..cut], 0x1000, 9).is_err(), "{cut} bytes");
        }
    }
}
