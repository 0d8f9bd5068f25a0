//! Warp: 32 lanes, and the loop that issues instructions.
//!
//! Models: the values of the lanes, the splits that they are in, and what is recorded of them; one
//! split runs until it ends, diverges, waits or has had its turn.
//! Does not model: which split runs (`super::splits`); what a computation does (`crate::ops`).

use strata_ptx::module::SpecialRegister;

use super::digest::Digest;
use super::geometry::Geometry;
use super::progress::Progress;
use super::recording::{Accesses, Recording};
use super::splits::{Split, Splits, TooManySplits};
use crate::access::{BadAccess, BadMbarrier, LocalFrame, Memory};
use crate::device::Device;
use crate::executable::{Executable, ExtraRow};
use crate::levels::WarpLevels;
use crate::micro::{Action, Args, Clock, Direction, MicroOp, axis};
use crate::ops::convert::move_vector;
use crate::ops::matrix::product::Room;
use crate::ops::matrix::transfer::{BadTransfer, staging};
use crate::paths::PathRecorder;
use crate::row::{Lanes, Row, lanes};
use crate::texture::TextureProblem;

/// Why a warp stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// All lanes exited.
    Done,
    /// Every split waits.
    Blocked,
    /// A split arrived at a barrier: the split and the barrier instruction.
    Barrier { split: usize, index: u32, arrived: u32 },
    /// The slice is used up.
    Yield,
}

/// Why a warp cannot go on.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    Access(BadAccess),
    /// A texture or surface instruction that cannot be carried out.
    Texture {
        lane: usize,
        problem: Box<TextureProblem>,
    },
    Trap {
        lane: usize,
    },
    Budget,
    TooDeep,
    Assertion {
        lane: usize,
        call: u32,
    },
    /// `free` of what `malloc` did not give.
    FreesForeign {
        lane: usize,
        address: u64,
    },
    /// A call through a register met no function.
    CallNowhere {
        lane: usize,
        address: u64,
    },
    /// A lane executes an operation whose member mask does not name it.
    NotAMember {
        lane: usize,
        members: u32,
    },
    /// A matrix instruction without all lanes of a warp.
    NotAWholeWarp {
        present: u32,
    },
    /// An operation on an mbarrier object that PTX gives no meaning.
    Mbarrier {
        lane: usize,
        address: u64,
        problem: &'static str,
    },
    /// A matrix cannot be moved.
    Transfer(BadTransfer),
    /// A shuffle reads a lane that has exited.
    ReadsExited {
        lane: usize,
        exited: usize,
    },
}

/// One warp.
#[derive(Debug)]
pub(crate) struct Warp {
    pub(crate) lanes: Lanes,
    pub(crate) local: LocalFrame,
    pub(crate) splits: Splits,
    /// The lanes that it began with.
    pub(super) began: u32,
    /// A slice ended in a loop that may wait for what others store, since this was last cleared.
    pub(super) polled: bool,
    /// The last access to memory that was noted: where, and the lowest lane's address.
    pub(super) last_read: Option<(u32, u64)>,
    pub(crate) recorder: PathRecorder,
    /// Parts of its accesses that are recorded.
    pub(crate) accesses: Accesses,
    /// Where its values live, if not simply in its registers.
    pub(crate) levels: Option<Box<WarpLevels>>,
    /// Rows through which matrices pass on their way to and from memory.
    pub(super) staging: Lanes,
    /// Where matrices are multiplied, once there is one.
    pub(super) room: Option<Box<Room>>,
}

/// What a warp sees of its surroundings while it runs.
pub(crate) struct Surroundings<'a, 'm> {
    pub(crate) executable: &'a Executable,
    pub(crate) memory: &'a mut Memory<'m>,
    pub(crate) progress: &'a mut Progress,
}

/// What to do after an instruction.
pub(super) enum Next {
    /// Go on in this split at this instruction.
    At(u32),
    /// The stack changed: choose a split.
    Choose,
    /// Go on in this split at this instruction, once other warps have had their turn.
    Later(u32),
    /// Leave the warp.
    Leave(Stop),
}

impl Warp {
    /// A warp with its constants and special registers.
    pub(crate) fn new(
        executable: &Executable,
        geometry: &Geometry,
        number: u32,
        device: &Device,
    ) -> Self {
        let mut rows = vec![Row::ZERO; executable.register_rows as usize];
        rows.extend(executable.extra.iter().map(|&extra| match extra {
            ExtraRow::Special(_, true) => Row::ZERO,
            ExtraRow::Special(register, false) => {
                Row(std::array::from_fn(|lane| geometry.special(register, number, lane as u32)))
            }
            ExtraRow::Constant(value) => Row::splat(value),
            ExtraRow::Address(variable, offset, upper) => {
                Row::splat(executable.address(variable, offset, upper, device))
            }
        }));
        let predicates = executable.predicates;
        let lanes = Lanes { rows, predicates: vec![0; predicates as usize], carry: 0 };
        Self {
            lanes,
            local: LocalFrame::default(),
            splits: Splits::default(),
            began: 0,
            polled: false,
            last_read: None,
            recorder: PathRecorder::default(),
            accesses: Accesses::Nothing,
            levels: executable.levels.as_ref().map(|levels| Box::new(WarpLevels::new(levels))),
            staging: staging(),
            room: None,
        }
    }

    /// Makes the warp ready for a new CTA.
    pub(crate) fn start(
        &mut self,
        executable: &Executable,
        geometry: &Geometry,
        number: u32,
        record: Recording,
    ) {
        let registers = executable.register_rows as usize;
        self.lanes.rows[..registers].fill(Row::ZERO);
        for (row, extra) in self.lanes.rows[registers..].iter_mut().zip(&executable.extra) {
            // The other special registers are the same for this warp of every CTA.
            if let ExtraRow::Special(
                SpecialRegister::Ctaid(of) | SpecialRegister::Clusterid(of),
                upper,
            ) = *extra
            {
                row.0 = [if upper { 0 } else { axis(geometry.ctaid, of) }; 32];
            }
        }
        self.lanes.predicates.fill(0);
        if let Some(always) = self.lanes.predicates.last_mut() {
            *always = u32::MAX;
        }
        self.lanes.carry = 0;
        (self.polled, self.last_read) = (false, None);
        if let Some(levels) = &mut self.levels {
            levels.start(&mut self.lanes);
        }
        self.local.reset(executable.local_bytes, executable.spill_bytes);
        let threads = (geometry.threads - number * 32).min(32);
        self.began = u32::MAX >> (32 - threads);
        self.splits.start(self.began);
        self.recorder.start(record != Recording::Nothing);
        self.accesses.start(record);
    }

    /// All that its future depends on.
    pub(super) fn digest(&self, digest: &mut Digest) {
        digest.rows(&self.lanes.rows);
        digest.words(&self.lanes.predicates);
        digest.word(self.lanes.carry.into());
        self.local.digest(digest);
        self.splits.digest(digest);
        if let Some(levels) = &self.levels {
            levels.digest(digest);
        }
    }

    /// Gives up the values of its threads: it runs no more.
    pub(super) fn forget_values(&mut self) {
        self.lanes.rows = Vec::new();
        self.local = LocalFrame::default();
        (self.levels, self.room) = (None, None);
    }

    /// Runs until something outside of the warp has to happen.
    pub(crate) fn run(
        &mut self,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<Stop, (u32, Trouble)> {
        let mut slice = around.progress.slice;
        loop {
            let Some(current) = self.splits.choose() else {
                if self.splits.alive() == 0 {
                    return Ok(Stop::Done);
                }
                if self.resume_members(around)? || self.leave(around.executable)? {
                    continue;
                }
                return Ok(Stop::Blocked);
            };
            if let Some(stop) = self.run_split(current, around, &mut slice)? {
                return Ok(stop);
            }
            if slice == 0 {
                return Ok(Stop::Yield);
            }
        }
    }

    /// Runs one split until it ends, diverges, waits or uses up the slice.
    fn run_split(
        &mut self,
        current: usize,
        around: &mut Surroundings<'_, '_>,
        slice: &mut u64,
    ) -> Result<Option<Stop>, (u32, Trouble)> {
        let Split { mut pc, reconvergence, mask, .. } = self.splits.get(current);
        let operations: &[MicroOp] = &around.executable.operations;
        let budget = (*slice).min(around.progress.left);
        let mut left = budget;
        let mut threads = 0;
        let watched = self.levels.is_some() || !matches!(self.accesses, Accesses::Nothing);
        let next = loop {
            if pc == reconvergence {
                self.splits.reconverge(current);
                break Ok(None);
            }
            if left == 0 {
                self.splits.pause(current, pc);
                break Ok(None);
            }
            left -= 1;
            let operation = &operations[pc as usize];
            let guard = self.lanes.predicates[operation.guard as usize] ^ operation.guard_flip;
            let effective = mask & guard;
            self.recorder.note(pc, effective);
            if effective != 0 && watched {
                self.watch(pc, operation, effective, around);
            }
            threads += u64::from(effective.count_ones());
            if let Action::Compute(run) = operation.action {
                if effective != 0 {
                    run(&mut self.lanes, &operation.args, effective);
                }
                pc += 1;
                continue;
            }
            let clock = around.progress.issued() + (budget - left);
            match self.step(operation, (current, pc, mask), effective, clock, around) {
                Ok(Next::At(next)) => pc = next,
                Ok(Next::Choose) => break Ok(None),
                Ok(Next::Later(next)) => {
                    self.splits.pause(current, next);
                    break Ok(Some(Stop::Yield));
                }
                Ok(Next::Leave(stop)) => break Ok(Some(stop)),
                Err(trouble) => break Err((pc, trouble)),
            }
        };
        around.progress.left -= budget - left;
        *slice -= budget - left;
        around.progress.thread_instructions += threads;
        if around.progress.left == 0 && matches!(next, Ok(None)) && self.splits.alive() != 0 {
            return Err((pc, Trouble::Budget));
        }
        next
    }

    /// What an instruction needs beyond its execution.
    fn watch(
        &mut self,
        pc: u32,
        operation: &MicroOp,
        effective: u32,
        around: &Surroundings<'_, '_>,
    ) {
        if let Some(levels) = &mut self.levels {
            levels.load(&mut self.lanes, pc, effective);
            // Others execute when lanes elsewhere have arrived too.
            if !operation.action.waits() {
                levels.executed(&mut self.lanes, pc, effective);
            }
        }
        if around.executable.moves[pc as usize] {
            let (executable, memory) = (around.executable, &*around.memory);
            self.accesses.note((pc, operation.action), effective, &self.lanes, executable, memory);
        }
    }

    /// An instruction that waited has executed.
    pub(crate) fn executed(&mut self, pc: u32, mask: u32) {
        if let Some(levels) = &mut self.levels {
            levels.executed(&mut self.lanes, pc, mask);
        }
    }

    /// Executes an instruction that is more than a computation.
    fn step(
        &mut self,
        operation: &MicroOp,
        (current, pc, mask): (usize, u32, u32),
        effective: u32,
        clock: u64,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<Next, Trouble> {
        let next = Ok(Next::At(pc + 1));
        if let Action::Branch { target, reconvergence } = operation.action {
            return match effective {
                0 => next,
                _ if effective == mask => Ok(self.jump((current, pc), target, around.executable)),
                _ => {
                    let sides = [(target, effective), (pc + 1, mask & !effective)];
                    self.diverge(current, reconvergence, &sides)
                }
            };
        }
        if effective == 0 {
            return next;
        }
        let executable = around.executable;
        match operation.action {
            Action::Memory(..) | Action::MoveVector(_) | Action::Copy(_) | Action::Texture(_) => {
                self.access((pc, operation.action), effective, around)?;
            }
            Action::Mbarrier(index) => return self.mbarrier(pc, index, effective, around),
            Action::Converge { .. } | Action::Matrix { .. } => {
                return self.converge((current, pc), effective, operation, around);
            }
            Action::Exit => {
                self.splits.exit(current, pc, effective);
                return Ok(Next::Choose);
            }
            Action::Barrier(index) => {
                self.splits.resume_at(current, pc);
                let stop = Stop::Barrier { split: current, index, arrived: effective };
                return Ok(Next::Leave(stop));
            }
            Action::BranchTable { table, index, reconvergence } => {
                return self.branch_by_table(
                    (current, pc, mask),
                    effective,
                    (index, reconvergence, table),
                    executable,
                );
            }
            Action::Clock(which) => {
                around.memory.device.watch.change();
                self.read_clock(which, &operation.args, effective, clock);
            }
            Action::Print(call) => self.print(effective, call, around),
            Action::Allocate(call) => self.allocate(effective, call, around),
            Action::Free(call) => self.free(effective, call, around)?,
            Action::Assert(_) | Action::CallNowhere { .. } | Action::Trap => {
                return Err(self.stop(operation.action, effective));
            }
            // Computations and branches never come here.
            Action::Nothing | Action::Compute(_) | Action::Branch { .. } => {}
        }
        next
    }

    /// Carries out what moves data and does nothing else.
    fn access(
        &mut self,
        (pc, action): (u32, Action),
        effective: u32,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<(), Trouble> {
        let executable = around.executable;
        match action {
            Action::Memory(direction, index) => {
                let access = &executable.accesses[index as usize];
                if around.memory.device.watch.is_armed() && direction != Direction::Store {
                    let lane = effective.trailing_zeros() as usize & 31;
                    let address = around.memory.resolve(&self.lanes, access.address)[lane];
                    self.last_read = Some((pc, address));
                }
                let threads = (&mut self.lanes, &mut self.local);
                let done = around.memory.access(threads, access, effective, direction);
                done.map_err(Trouble::Access)?;
            }
            Action::MoveVector(index) => {
                move_vector(&mut self.lanes, &executable.vectors[index as usize], effective);
            }
            Action::Copy(index) => {
                let copy = &executable.copies[index as usize];
                let done = around.memory.copy(&self.lanes, copy, effective);
                done.map_err(Trouble::Access)?;
            }
            Action::Texture(index) => {
                let access = &executable.textures[index as usize];
                let done = around.memory.texture(&mut self.lanes, access, effective);
                done.map_err(|(lane, problem)| {
                    let problem = Box::new(problem);
                    Trouble::Texture { lane, problem }
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Carries out an operation on an mbarrier object. Where the end of a phase is tested for and
    /// not found, other warps have their turn before the test can come again.
    fn mbarrier(
        &mut self,
        pc: u32,
        index: u32,
        effective: u32,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<Next, Trouble> {
        let mbarrier = &around.executable.mbarriers[index as usize];
        match around.memory.mbarrier(&mut self.lanes, mbarrier, effective) {
            Ok(true) => Ok(Next::At(pc + 1)),
            Ok(false) => Ok(Next::Later(pc + 1)),
            Err(BadMbarrier::Access(bad)) => Err(Trouble::Access(bad)),
            Err(BadMbarrier::Misuse { lane, address, problem }) => {
                Err(Trouble::Mbarrier { lane, address, problem })
            }
        }
    }

    /// Why an instruction that always stops the launch does.
    fn stop(&self, action: Action, effective: u32) -> Trouble {
        let lane = effective.trailing_zeros() as usize & 31;
        match action {
            Action::Assert(call) => Trouble::Assertion { lane, call },
            Action::CallNowhere { address, wide } => {
                let low = u64::from(self.lanes.get32(address, lane));
                let address = if wide { self.lanes.get64(address, lane) } else { low };
                Trouble::CallNowhere { lane, address }
            }
            _ => Trouble::Trap { lane },
        }
    }

    fn read_clock(&mut self, which: Clock, args: &Args, mask: u32, clock: u64) {
        for lane in lanes(mask) {
            match which {
                Clock::Low => self.lanes.put32(args.d, lane, clock as u32),
                Clock::High => self.lanes.put32(args.d, lane, (clock >> 32) as u32),
                Clock::Wide => self.lanes.put64(args.d, lane, clock),
            }
        }
    }

    /// Goes to a branch's target, but others first where a loop may wait for what they store.
    fn jump(&mut self, (current, pc): (usize, u32), target: u32, executable: &Executable) -> Next {
        if self.splits.is_tired() && executable.order.may_turn(pc as usize, target as usize) {
            self.polled = true;
            self.splits.let_others_go_on(current, target);
            return Next::Choose;
        }
        Next::At(target)
    }

    /// Splits the running split.
    fn diverge(
        &mut self,
        current: usize,
        reconvergence: u32,
        sides: &[(u32, u32)],
    ) -> Result<Next, Trouble> {
        match self.splits.diverge(current, reconvergence, sides) {
            Ok(()) => Ok(Next::Choose),
            Err(TooManySplits) => Err(Trouble::TooDeep),
        }
    }

    fn branch_by_table(
        &mut self,
        (current, pc, mask): (usize, u32, u32),
        effective: u32,
        (index, reconvergence, table): (u32, u32, u32),
        executable: &Executable,
    ) -> Result<Next, Trouble> {
        let targets = &executable.branch_tables[table as usize];
        let mut sides: Vec<(u32, u32)> = Vec::new();
        for lane in lanes(effective) {
            // An index beyond the table is undefined in PTX; the last target is taken.
            let index = (self.lanes.get32(index, lane) as usize).min(targets.len().max(1) - 1);
            let target = targets.get(index).copied().unwrap_or(pc + 1);
            match sides.iter_mut().find(|side| side.0 == target) {
                Some(side) => side.1 |= 1 << lane,
                None => sides.push((target, 1 << lane)),
            }
        }
        if mask != effective {
            match sides.iter_mut().find(|side| side.0 == pc + 1) {
                Some(side) => side.1 |= mask & !effective,
                None => sides.push((pc + 1, mask & !effective)),
            }
        }
        if let [(target, _)] = sides[..] {
            return Ok(self.jump((current, pc), target, executable));
        }
        sides.sort_unstable_by_key(|side| std::cmp::Reverse(side.0));
        self.diverge(current, reconvergence, &sides)
    }
}
