//! Levels of the register hierarchy whose accesses cost energy: one row each.
//!
//! Source: `[RFC2011]` 3.1, `[DISS]` 5 and 6, `[WARRF]` 4.2.

use crate::datapath::Datapath::{self, Private, Shared};
use crate::named;

macro_rules! levels {
    ($(
        $(#[doc = $doc:literal])+
        $level:ident = $name:literal, $label:literal, $one:literal, [$($datapath:ident),*];
    )+) => {
        named! {
            /// A level, by the name that counters, keys of design files and reports begin with; in
            /// the order of reports.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum Level {
                $($(#[doc = $doc])+ $level = $name,)+
            }
        }

        impl Level {
            /// How many levels there are.
            pub const COUNT: usize = Self::ALL.len();

            /// What tables call it.
            pub const fn label(self) -> &'static str {
                match self { $(Self::$level => $label,)+ }
            }

            /// What sentences call it, with its article.
            pub const fn one(self) -> &'static str {
                match self { $(Self::$level => $one,)+ }
            }

            /// The datapaths to which it has a distance of its own: the shared one does not reach
            /// the last result file, and the write pool stands beside the main register file.
            pub const fn distances(self) -> &'static [Datapath] {
                match self { $(Self::$level => &[$($datapath),*],)+ }
            }
        }
    };
}

// Variant = name, what tables call it, what sentences call it, its distances.
levels! {
    /// Main register file.
    Mrf = "mrf", "MRF", "a main register file", [Private, Shared];
    /// Register file cache.
    Rfc = "rfc", "RFC", "a register file cache", [Private, Shared];
    /// Last result file.
    Lrf = "lrf", "LRF", "a last result file", [Private];
    /// Operand register file.
    Orf = "orf", "ORF", "an operand register file", [Private, Shared];
    /// Write pool.
    WritePool = "write_pool", "write pool", "a write pool", [];
}
