//! Mutants of traces, text or container (`.tracez`).

use strata_ptx::fuzzing::Random;

use super::mutate_text::mutate_text;
use super::mutate_tracez::{is_container, mutate_container, pack};

/// Changes a trace, text or container (`.tracez`), in one to three places. Now and then, text
/// becomes a container.
pub fn mutate_trace(trace: &[u8], random: &mut Random) -> Vec<u8> {
    if is_container(trace) {
        return mutate_container(trace, random);
    }
    let text = mutate_text(trace, random);
    if random.below(8) == 0 { pack(&text, random) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_at_the_end_of_its_range_is_changed_too() {
        let text = format!("warp = 0\ninsts = {}\n{}", usize::MAX, "0030 ffffffff 0 EXIT 0 0 0\n");
        let mutants: std::collections::BTreeSet<Vec<u8>> =
            (0..500).map(|seed| mutate_trace(text.as_bytes(), &mut Random(seed))).collect();
        assert!(mutants.len() > 300, "{}", mutants.len());
    }
}
