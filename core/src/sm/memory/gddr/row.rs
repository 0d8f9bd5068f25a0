//! Row: how a line finds the row of its bank.
//!
//! Source: `docs/MODEL.md`, rule 39.

use crate::named;

named! {
    /// How a request found its bank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum Row {
        /// The row was open, or another request had it opened.
        Hit = "row hit",
        /// No row was open.
        Miss = "row miss",
        /// Another row was open.
        Conflict = "row conflict",
    }
}
