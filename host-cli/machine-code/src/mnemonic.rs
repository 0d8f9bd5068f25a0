//! The parts of an opcode's spelling, such as `IMAD.WIDE.U32`.

/// An opcode with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mnemonic<'a>(pub &'a str);

impl<'a> Mnemonic<'a> {
    /// What stands before the first dot.
    pub fn stem(self) -> &'a str {
        self.0.split('.').next().unwrap_or(self.0)
    }

    /// What stands behind it, part by part.
    pub fn modifiers(self) -> impl Iterator<Item = &'a str> {
        self.0.split('.').skip(1)
    }

    /// Whether a modifier is there.
    pub fn has(self, modifier: &str) -> bool {
        self.modifiers().any(|other| other == modifier)
    }

    /// Whether one of some modifiers is there.
    pub fn has_any(self, modifiers: &[&str]) -> bool {
        self.modifiers().any(|other| modifiers.contains(&other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mnemonic_comes_apart_at_its_dots() {
        let wide = Mnemonic("IMAD.WIDE.U32");
        assert_eq!(wide.stem(), "IMAD");
        assert_eq!(wide.modifiers().collect::<Vec<_>>(), ["WIDE", "U32"]);
        assert!(wide.has("U32") && !wide.has("U3") && !wide.has("IMAD"));
        assert!(wide.has_any(&["HI", "WIDE"]) && !Mnemonic("EXIT").has_any(&["EXIT"]));
    }
}
