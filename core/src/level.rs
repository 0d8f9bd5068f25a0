//! Levels of the register hierarchy whose accesses cost energy: one row each.
//!
//! Source: `[RFC2011]` 3.1, `[DISS]` 5 and 6, `[WARRF]` 4.2.

use crate::named;

named! {
    /// A level, by the name that counters, keys of design files and reports begin with; in the
    /// order of reports.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Level {
        /// Main register file.
        Mrf = "mrf",
        /// Register file cache.
        Rfc = "rfc",
        /// Last result file.
        Lrf = "lrf",
        /// Operand register file.
        Orf = "orf",
        /// Write pool.
        WritePool = "write_pool",
    }
}

impl Level {
    /// How many levels there are.
    pub const COUNT: usize = Self::ALL.len();

    /// What tables call it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Mrf => "MRF",
            Self::Rfc => "RFC",
            Self::Lrf => "LRF",
            Self::Orf => "ORF",
            Self::WritePool => "write pool",
        }
    }

    /// What sentences call it, with its article.
    pub const fn one(self) -> &'static str {
        match self {
            Self::Mrf => "a main register file",
            Self::Rfc => "a register file cache",
            Self::Lrf => "a last result file",
            Self::Orf => "an operand register file",
            Self::WritePool => "a write pool",
        }
    }
}
