//! The look-up of a register among a cache's tags.

/// The way whose tag is `register`, of those that are occupied: bit `w` is way `w`, and below
/// `entries`.
#[inline]
pub(super) fn find(tags: &[u16], entries: u8, occupied: u16, register: u16) -> Option<usize> {
    // A processor of 64 bits compares all tags at once; a small one is faster one by one.
    if usize::BITS < 64 {
        find_in_turn(tags.get(..usize::from(entries)).unwrap_or(tags), occupied, register)
    } else {
        find_at_once(tags, occupied, register)
    }
}

#[inline]
fn find_at_once(tags: &[u16], occupied: u16, register: u16) -> Option<usize> {
    let mut matches = 0_u16;
    for (way, &tag) in tags.iter().enumerate() {
        matches |= u16::from(tag == register) << way;
    }
    matches &= occupied;
    (matches != 0).then(|| matches.trailing_zeros() as usize)
}

#[inline]
fn find_in_turn(tags: &[u16], occupied: u16, register: u16) -> Option<usize> {
    let mut rest = tags.iter();
    while let Some(&tag) = rest.next() {
        // The occupied bit is tested where the tag matches: stale tags rarely do.
        if tag == register {
            let way = tags.len() - rest.len() - 1;
            if occupied >> way & 1 != 0 {
                return Some(way);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_look_find_the_same() {
        let tags = [3, 0, 5, 3, 65_535];
        for occupied in 0..32 {
            for register in [0, 1, 3, 5, 65_535] {
                let found = (0..5).find(|&way| occupied >> way & 1 != 0 && tags[way] == register);
                assert_eq!(find_at_once(&tags, occupied, register), found);
                assert_eq!(find_in_turn(&tags, occupied, register), found);
            }
        }
    }
}
