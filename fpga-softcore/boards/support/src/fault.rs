//! The record of faults, in memory that the start-up code does not clear.

use strata_firmware::FaultRecord;

/// The record that the program before this one left.
#[expect(unsafe_code, reason = "memory that the start-up code leaves as it is")]
#[unsafe(link_section = ".uninit.fault")]
static mut RECORD: FaultRecord = FaultRecord::EMPTY;

/// Lends the record out: at the start of the program, and at its end.
#[expect(unsafe_code, reason = "one processor without interrupts")]
pub fn with_record<T>(use_it: impl FnOnce(&mut FaultRecord) -> T) -> T {
    let record = &raw mut RECORD;
    // SAFETY: any contents of this memory are a record; there is one processor without interrupts,
    // and a fault ends the borrower.
    use_it(unsafe { &mut *record })
}
