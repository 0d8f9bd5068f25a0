//! The orders that a kernel's instructions can have.

use strata_core::named;

named! {
    /// Order of a kernel's instructions.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Order {
        /// That of the PTX file.
        #[default]
        Ptx = "ptx",
        /// Each block ordered by latencies, with the registers as they are allocated in PTX order.
        Scheduled = "scheduled",
        /// Each block ordered by latencies as if every value had a register of its own; registers
        /// are allocated afterwards, as many as that needs.
        ScheduledRenamed = "scheduled-renamed",
        /// Consumers close to their producers ([DISS] 6.6.3), unless that needs more registers or
        /// spills more.
        Close = "close",
    }
}
