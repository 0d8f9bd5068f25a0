//! mbarrier objects: phases that end when enough threads have arrived and enough bytes have moved.
//!
//! Models: the object as PTX describes it, in 64 bits of shared memory whose layout is ours
//! (DEV-142):
//!
//! ```text
//! 63      parity of the phase: 0 for the first one
//! 62      1: an object is here
//! 60..40  pending transactions, in two's complement
//! 39..20  arrivals that each phase expects
//! 19..0   arrivals that the phase still waits for
//! ```
//!
//! Does not model: where the object is (`crate::access`), and who waits (`crate::exec`).
//! Source: PTX ISA 8.5, "Parallel Synchronization and Communication Instructions: mbarrier".

/// Most arrivals, and most transactions that are pending in either direction.
pub(crate) const MAX_COUNT: u32 = (1 << 20) - 1;

/// What an instruction does to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `init`: the count is that of each phase's arrivals.
    Initialise,
    /// `inval`.
    Invalidate,
    /// `expect_tx`: the count is added to the pending transactions.
    Expect,
    /// `complete_tx`: the count is taken from them.
    Complete,
    /// `arrive` and `arrive_drop`.
    Arrive(Arrival),
    /// `arrive.expect_tx`: the count is one of transactions, and one thread arrives.
    ExpectAndArrive {
        /// `arrive_drop`.
        drops: bool,
    },
    /// `cp.async.mbarrier.arrive`; `counted`: `.noinc`, the phase waits for this arrival too.
    AfterCopies {
        /// It is one of the arrivals that the phase expects.
        counted: bool,
    },
    /// `test_wait` and `try_wait`, which change nothing.
    Test {
        /// The phase is named by its parity, and not by a state.
        parity: bool,
    },
}

/// How threads arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    /// `arrive_drop`: phases after this one expect as many fewer.
    pub(crate) drops: bool,
    /// `.noComplete`: the phase must not end.
    pub(crate) keeps_phase: bool,
}

/// Why an operation has no meaning.
pub(crate) type Problem = &'static str;

/// The contents of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    odd: bool,
    expected: u32,
    pending: u32,
    transactions: i32,
}

impl Object {
    fn read(bits: u64) -> Result<Self, Problem> {
        if bits >> 62 & 1 == 0 {
            return Err("no mbarrier object is here: `mbarrier.init` makes one");
        }
        let field = |shift: u32| (bits >> shift) as u32 & MAX_COUNT;
        // The sign of the 21 bits becomes that of 32.
        let transactions = ((bits >> 40) as u32) << 11;
        Ok(Self {
            odd: bits >> 63 == 1,
            expected: field(20),
            pending: field(0),
            transactions: transactions as i32 >> 11,
        })
    }

    fn bits(self) -> u64 {
        let transactions = u64::from(self.transactions as u32 & ((1 << 21) - 1));
        u64::from(self.odd) << 63
            | 1 << 62
            | transactions << 40
            | u64::from(self.expected) << 20
            | u64::from(self.pending)
    }

    /// Adds to the pending transactions; a negative number takes away from them.
    fn add_transactions(&mut self, count: i64) -> Result<(), Problem> {
        let sum = i64::from(self.transactions) + count;
        if sum.unsigned_abs() > u64::from(MAX_COUNT) {
            return Err("more than 1048575 transactions are pending");
        }
        self.transactions = sum as i32;
        Ok(())
    }

    fn drop_expected(&mut self, count: u32) -> Result<(), Problem> {
        let left = self.expected.checked_sub(count);
        self.expected = left.ok_or("more threads leave than phases expect")?;
        Ok(())
    }

    fn arrive(&mut self, count: u32) -> Result<(), Problem> {
        if count == 0 {
            return Err("an arrival counts from 1 to 1048575");
        }
        let left = self.pending.checked_sub(count);
        self.pending = left.ok_or("more arrivals than the phase waits for")?;
        Ok(())
    }

    /// Ends the phase, if nothing is pending. True when it did.
    fn end_phase(&mut self) -> bool {
        let ends = self.pending == 0 && self.transactions == 0;
        if ends {
            self.odd = !self.odd;
            self.pending = self.expected;
        }
        ends
    }
}

/// An object after an operation. `bits`: what was there; `count`: the operand, where there is one.
pub(crate) fn apply(operation: Operation, bits: u64, count: u32) -> Result<u64, Problem> {
    if operation == Operation::Initialise {
        if count == 0 || count > MAX_COUNT {
            return Err("an mbarrier object expects from 1 to 1048575 arrivals");
        }
        let object = Object { odd: false, expected: count, pending: count, transactions: 0 };
        return Ok(object.bits());
    }
    let mut object = Object::read(bits)?;
    match operation {
        Operation::Invalidate => return Ok(0),
        Operation::Expect => object.add_transactions(i64::from(count))?,
        Operation::Complete => {
            object.add_transactions(-i64::from(count))?;
            object.end_phase();
        }
        Operation::Arrive(Arrival { drops, keeps_phase }) => {
            object.drop_expected(if drops { count } else { 0 })?;
            object.arrive(count)?;
            if object.end_phase() && keeps_phase {
                return Err("this arrival ends the phase, in spite of `.noComplete`");
            }
        }
        Operation::ExpectAndArrive { drops } => {
            object.add_transactions(i64::from(count))?;
            object.drop_expected(u32::from(drops))?;
            object.arrive(1)?;
            object.end_phase();
        }
        // The copies have been made: where the arrival is not counted, one more is pending until it
        // arrives at once.
        Operation::AfterCopies { counted: false } if object.pending == MAX_COUNT => {
            return Err("more than 1048575 arrivals are pending");
        }
        Operation::AfterCopies { counted: true } => {
            object.arrive(1)?;
            object.end_phase();
        }
        Operation::AfterCopies { counted: false }
        | Operation::Initialise
        | Operation::Test { .. } => {}
    }
    Ok(object.bits())
}

/// Whether the phase has ended that `state` was taken in.
pub(crate) fn ended(bits: u64, state: u64) -> Result<bool, Problem> {
    let named = Object::read(state).map_err(|_| "this is no state of an mbarrier object")?;
    Ok(Object::read(bits)?.odd != named.odd)
}

/// Whether the phase with this parity has ended: the object is in the other one.
pub(crate) fn ended_parity(bits: u64, parity: u32) -> Result<bool, Problem> {
    let object = Object::read(bits)?;
    match parity {
        0 | 1 => Ok(object.odd != (parity == 1)),
        _ => Err("the parity of a phase is 0 or 1"),
    }
}

/// Arrivals that the phase waited for when a state was taken; 0 of what is no state.
pub(crate) fn pending_count(state: u64) -> u32 {
    Object::read(state).map_or(0, |object| object.pending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_survive_their_bits() {
        for transactions in [0, 1, -1, 1_048_575, -1_048_575] {
            for (odd, expected, pending) in [(false, 1, 1), (true, MAX_COUNT, 0), (true, 5, 3)] {
                let object = Object { odd, expected, pending, transactions };
                assert_eq!(Object::read(object.bits()), Ok(object));
            }
        }
        assert_eq!(apply(Operation::Initialise, 0, 3), Ok(1 << 62 | 3 << 20 | 3));
    }

    #[test]
    fn counts_stay_in_their_ranges() {
        let init = |count| apply(Operation::Initialise, 0, count);
        assert!(init(0).is_err() && init(MAX_COUNT).is_ok() && init(MAX_COUNT + 1).is_err());
        let one = init(1).unwrap();
        assert!(apply(Operation::Expect, one, MAX_COUNT).is_ok());
        assert!(apply(Operation::Expect, one, MAX_COUNT + 1).is_err());
        assert!(apply(Operation::Complete, one, MAX_COUNT).is_ok());
        assert!(apply(Operation::Complete, one, u32::MAX).is_err());
        let arrive = Operation::Arrive(Arrival::default());
        assert!(apply(arrive, one, 0).is_err() && apply(arrive, one, 2).is_err());
        assert!(apply(arrive, 0, 1).is_err(), "there is no object");
        let full = init(MAX_COUNT).unwrap();
        assert!(apply(Operation::AfterCopies { counted: false }, full, 0).is_err());
        assert_eq!(apply(Operation::AfterCopies { counted: false }, one, 0), Ok(one));
        assert!(ended_parity(one, 2).is_err());
    }
}
