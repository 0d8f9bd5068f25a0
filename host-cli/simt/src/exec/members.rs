//! Members: operations of a warp that execute once the lanes of a member mask are there.
//!
//! Models: who waits for whom, and that lanes of one mask execute together.
//! Does not model: which split runs meanwhile (`super::splits`).

use super::splits::{TooManySplits, Wait};
use super::warp::{Next, Surroundings, Trouble, Warp};
use crate::executable::Executable;
use crate::micro::{Action, Args, Extra, MicroOp};
use crate::ops::matrix::Matrix;
use crate::ops::matrix::product::Room;
use crate::ops::matrix::transfer::{BadTransfer, transpose};
use crate::ops::warp::shuffle_source;
use crate::row::{lanes, test1};

impl Warp {
    /// Arrives at an operation that waits for its member mask.
    pub(super) fn converge(
        &mut self,
        (current, pc): (usize, u32),
        effective: u32,
        operation: &MicroOp,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<Next, Trouble> {
        self.splits.wait(current, pc, Wait::Members { arrived: effective });
        self.converge_at(pc, operation, around)?;
        Ok(if self.splits.get(current).wait == Wait::Ready {
            Next::At(pc + 1)
        } else {
            Next::Choose
        })
    }

    /// Executes the operation at `pc` for the lanes that wait there, those of each member mask
    /// together, if no member is missing that has not exited. True when there are such.
    fn converge_at(
        &mut self,
        pc: u32,
        operation: &MicroOp,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<bool, Trouble> {
        let Some(members) = operation.action.members() else { return Ok(false) };
        let mut left = self.splits.arrived(pc);
        let mut any = false;
        while left != 0 {
            let mask = self.lanes.get32(members, left.trailing_zeros() as usize);
            let group = left & test1(&self.lanes, members, |other: u32| other == mask);
            left &= !group;
            if group & !mask != 0 {
                let lane = (group & !mask).trailing_zeros() as usize;
                return Err(Trouble::NotAMember { lane, members: mask });
            }
            if mask & self.splits.alive() & !group != 0 {
                continue;
            }
            match operation.action {
                Action::Matrix { index, .. } => self.matrix(index, group, around)?,
                Action::Converge { run, .. } => {
                    self.check_shuffle(&operation.args, group)?;
                    run(&mut self.lanes, &operation.args, group);
                }
                _ => {}
            }
            self.executed(pc, group);
            self.splits.release_members(pc, group);
            any = true;
        }
        Ok(any)
    }

    /// Executes a matrix instruction.
    fn matrix(
        &mut self,
        index: u32,
        group: u32,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<(), Trouble> {
        if group != u32::MAX {
            return Err(Trouble::NotAWholeWarp { present: group });
        }
        match &around.executable.matrices[index as usize] {
            Matrix::Product(product) => {
                let room = self.room.get_or_insert_with(|| Box::new(Room::NEW));
                product.run(&mut self.lanes, room);
                Ok(())
            }
            &Matrix::Transpose { d, a } => {
                transpose(&mut self.lanes, d, a);
                Ok(())
            }
            Matrix::Transfer(transfer) => {
                let threads = (&mut self.lanes, &mut self.local);
                let moved = transfer.run(threads, &mut self.staging, around.memory);
                moved.map_err(|bad| match bad {
                    BadTransfer::Access(bad) => Trouble::Access(bad),
                    other => Trouble::Transfer(other),
                })
            }
        }
    }

    /// Refuses a shuffle that reads a lane that has exited.
    fn check_shuffle(&self, args: &Args, group: u32) -> Result<(), Trouble> {
        let Extra::Shuffle(mode) = args.extra else { return Ok(()) };
        let exited = self.began & !self.splits.alive();
        for lane in lanes(if exited == 0 { 0 } else { group }) {
            let from = shuffle_source(&self.lanes, args, mode, lane);
            if let Some(from) = from.filter(|&from| exited >> from & 1 == 1) {
                return Err(Trouble::ReadsExited { lane, exited: from });
            }
        }
        Ok(())
    }

    /// Looks for splits whose missing members have exited since they arrived.
    pub(super) fn resume_members(
        &mut self,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<bool, (u32, Trouble)> {
        for pc in self.splits.waiting_for_members() {
            let operation = &around.executable.operations[pc as usize];
            if self.converge_at(pc, operation, around).map_err(|trouble| (pc, trouble))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Has missing members go on that wait at a reconvergence point before the end: they will exit.
    pub(super) fn leave(&mut self, executable: &Executable) -> Result<bool, (u32, Trouble)> {
        let waiting = self.splits.waiting_for_members();
        let Some(&pc) = waiting.first() else { return Ok(false) };
        let missing = waiting.iter().fold(0, |all, &pc| all | self.missing(pc, executable).1);
        let may_leave = |pc: u32| executable.order.is_before_end(pc as usize);
        self.splits.leave(missing, may_leave).map_err(|TooManySplits| (pc, Trouble::TooDeep))
    }

    /// Of the lanes that wait for members at `pc`: the first member mask that is not complete, and
    /// the lanes missing from all of them.
    pub(crate) fn missing(&self, pc: u32, executable: &Executable) -> (u32, u32) {
        let Some(members) = executable.operations[pc as usize].action.members() else {
            return (0, 0);
        };
        let arrived = self.splits.arrived(pc);
        let (mut first, mut missing) = (0, 0);
        for lane in lanes(arrived) {
            let mask = self.lanes.get32(members, lane);
            let group = arrived & test1(&self.lanes, members, |other: u32| other == mask);
            let here = mask & self.splits.alive() & !group;
            if missing == 0 {
                first = mask;
            }
            missing |= here;
        }
        (first, missing)
    }
}
