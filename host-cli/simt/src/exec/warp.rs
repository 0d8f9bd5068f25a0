//! Warp: 32 lanes, the divergence stack, and the loop that issues instructions.
//!
//! Models: a stack of splits, each with its own program counter, lanes and reconvergence point. A
//! divergent branch leaves a placeholder at its immediate post-dominator and puts both sides above
//! it; a side that reaches its reconvergence point is removed. Normally the topmost split runs. A
//! split that waits (at a CTA barrier, or for lanes of a member mask) lets the splits below it run
//! whose lanes are not those of a split above, so that sides of a branch can wait for each other as
//! they can on hardware since Volta.
//!
//! The stack stays small: a side is only put on top of a placeholder with another reconvergence
//! point, and reconvergence points on the stack are a chain in the post-dominator tree.

use strata_ptx::module::SpecialRegister;

use crate::access::{BadAccess, LocalFrame, Memory};
use crate::accesses::AddressLog;
use crate::decode::{Executable, ExtraRow};
use crate::device::Device;
use crate::exec::{Geometry, Progress, Recording};
use crate::levels::WarpLevels;
use crate::micro::{Action, Args, Clock, MicroOp, NO_RECONVERGENCE, Run, axis};
use crate::moved::{AccessShape, AccessSpace, Addresses, moved_bytes};
use crate::paths::PathRecorder;
use crate::row::{Lanes, Row, lanes};

/// Instructions after which another split or warp gets its turn, so that threads that wait for each
/// other in a loop make progress. Unit: warp instructions.
pub(crate) const SLICE: u64 = 1 << 16;

/// Exchanges between lanes, which name no addresses.
const EXCHANGE: AccessShape = AccessShape { space: AccessSpace::Shared, bytes: 4 };

/// Most splits of a warp.
pub(crate) const MAX_SPLITS: usize = 1024;

/// What a split waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Nothing.
    Ready,
    /// A CTA barrier: its number, the barrier instruction, the lanes that arrived.
    Barrier { id: u32, index: u32, arrived: u32 },
    /// Lanes of a member mask: the mask, the lanes that arrived.
    Members { members: u32, arrived: u32 },
}

/// Lanes with a common program counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub(crate) pc: u32,
    pub(crate) reconvergence: u32,
    pub(crate) mask: u32,
    pub(crate) wait: Wait,
}

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
    Trap { lane: usize },
    Budget,
    TooDeep,
    Assertion { lane: usize, call: u32 },
}

/// What of a warp's accesses is recorded.
#[derive(Debug)]
pub(crate) enum Accesses {
    Nothing,
    /// What each moved. Unit: bytes.
    Bytes(Vec<u32>),
    /// Where each was.
    Addresses(AddressLog),
}

impl Accesses {
    /// Makes it ready for a new CTA.
    fn start(&mut self, record: Recording) {
        match (record, &mut *self) {
            (Recording::PathsAndBytes, Self::Bytes(moved)) => moved.clear(),
            (Recording::PathsAndAddresses, Self::Addresses(log)) => log.clear(),
            (Recording::PathsAndBytes, _) => *self = Self::Bytes(Vec::new()),
            (Recording::PathsAndAddresses, _) => *self = Self::Addresses(AddressLog::default()),
            (Recording::Nothing | Recording::Paths, _) => *self = Self::Nothing,
        }
    }

    /// Bytes that its addresses take.
    pub(crate) fn address_bytes(&self) -> u64 {
        if let Self::Addresses(log) = self { log.len() as u64 } else { 0 }
    }
}

/// One warp.
#[derive(Debug)]
pub(crate) struct Warp {
    pub(crate) lanes: Lanes,
    pub(crate) local: LocalFrame,
    // Invariants: masks are not empty; a split's mask lies inside of the placeholder below it that
    // it will reconverge with; splits that are not related have no lane in common.
    pub(crate) splits: Vec<Split>,
    /// Lanes that have not exited.
    pub(crate) alive: u32,
    pub(crate) recorder: PathRecorder,
    /// What of its accesses is recorded.
    pub(crate) accesses: Accesses,
    /// Where its values live, if not simply in its registers.
    pub(crate) levels: Option<Box<WarpLevels>>,
    /// The split that ran last.
    last: usize,
    /// The next turn goes to another split than `last`.
    rotate: bool,
}

/// What a warp sees of its surroundings while it runs.
pub(crate) struct Surroundings<'a, 'm> {
    pub(crate) executable: &'a Executable,
    pub(crate) memory: &'a mut Memory<'m>,
    pub(crate) progress: &'a mut Progress,
}

/// What to do after an instruction.
enum Next {
    /// Go on in this split at this instruction.
    At(u32),
    /// The stack changed: choose a split.
    Choose,
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
            splits: Vec::new(),
            alive: 0,
            recorder: PathRecorder::default(),
            accesses: Accesses::Nothing,
            levels: executable.levels.as_ref().map(|levels| Box::new(WarpLevels::new(levels))),
            last: 0,
            rotate: false,
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
            if let ExtraRow::Special(SpecialRegister::Ctaid(of), upper) = *extra {
                row.0 = [if upper { 0 } else { axis(geometry.ctaid, of) }; 32];
            }
        }
        self.lanes.predicates.fill(0);
        if let Some(always) = self.lanes.predicates.last_mut() {
            *always = u32::MAX;
        }
        self.lanes.carry = 0;
        if let Some(levels) = &mut self.levels {
            levels.start(&mut self.lanes);
        }
        self.local.reset(executable.local_bytes, executable.spill_bytes);
        let threads = (geometry.threads - number * 32).min(32);
        self.alive = u32::MAX >> (32 - threads);
        self.splits.clear();
        self.splits.push(Split {
            pc: 0,
            reconvergence: NO_RECONVERGENCE,
            mask: self.alive,
            wait: Wait::Ready,
        });
        self.recorder.start(record != Recording::Nothing);
        self.accesses.start(record);
        (self.last, self.rotate) = (0, false);
    }

    /// The split to run: the topmost that waits for nothing and whose lanes no split above has, or
    /// after a slice the next such one below the last.
    fn choose(&mut self) -> Option<usize> {
        let mut above = 0;
        let mut topmost = None;
        for (index, split) in self.splits.iter().enumerate().rev() {
            if split.wait == Wait::Ready && split.mask & above == 0 {
                if !self.rotate || index < self.last {
                    self.rotate = false;
                    return Some(index);
                }
                topmost = topmost.or(Some(index));
            }
            above |= split.mask;
        }
        self.rotate = false;
        topmost
    }

    /// Runs until something outside of the warp has to happen.
    pub(crate) fn run(
        &mut self,
        around: &mut Surroundings<'_, '_>,
    ) -> Result<Stop, (u32, Trouble)> {
        let mut slice = SLICE;
        loop {
            let Some(current) = self.choose() else {
                if self.alive == 0 {
                    return Ok(Stop::Done);
                }
                if self.resume_members(around.executable) {
                    continue;
                }
                return Ok(Stop::Blocked);
            };
            self.last = current;
            if let Some(stop) = self.run_split(current, around, &mut slice)? {
                return Ok(stop);
            }
            if slice == 0 {
                self.rotate = true;
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
        let Split { mut pc, reconvergence, mask, .. } = self.splits[current];
        let operations: &[MicroOp] = &around.executable.operations;
        let budget = (*slice).min(around.progress.left);
        let mut left = budget;
        let mut threads = 0;
        let watched = self.levels.is_some() || !matches!(self.accesses, Accesses::Nothing);
        let next = loop {
            if pc == reconvergence {
                self.splits.remove(current);
                break Ok(None);
            }
            if left == 0 {
                self.splits[current].pc = pc;
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
                Ok(Next::Leave(stop)) => break Ok(Some(stop)),
                Err(trouble) => break Err((pc, trouble)),
            }
        };
        around.progress.left -= budget - left;
        *slice -= budget - left;
        around.progress.thread_instructions += threads;
        if around.progress.left == 0 && matches!(next, Ok(None)) && self.alive != 0 {
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
            self.note_access(pc, operation, effective, around);
        }
    }

    /// An instruction that waited has executed.
    pub(crate) fn executed(&mut self, pc: u32, mask: u32) {
        if let Some(levels) = &mut self.levels {
            levels.executed(&mut self.lanes, pc, mask);
        }
    }

    /// Notes what an instruction is about to access.
    fn note_access(
        &mut self,
        pc: u32,
        operation: &MicroOp,
        effective: u32,
        around: &Surroundings<'_, '_>,
    ) {
        let memory = &around.memory;
        let mut room = [0; 32];
        let (shape, addresses) = match operation.action {
            Action::Memory(_, index) => {
                let access = &around.executable.accesses[index as usize];
                let addresses = memory.touched(&self.lanes, access, effective, &mut room);
                (access.shape(), addresses)
            }
            _ => (EXCHANGE, Addresses::None),
        };
        match &mut self.accesses {
            Accesses::Bytes(moved) => {
                let windows = memory.device.map.windows();
                moved.push(moved_bytes(&windows, shape, effective, addresses));
            }
            Accesses::Addresses(log) if addresses != Addresses::None => {
                log.push(pc, effective, addresses);
            }
            Accesses::Addresses(_) | Accesses::Nothing => {}
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
                _ if effective == mask => Ok(Next::At(target)),
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
            Action::Memory(direction, index) => {
                let access = &executable.accesses[index as usize];
                let threads = (&mut self.lanes, &mut self.local);
                let done = around.memory.access(threads, access, effective, direction);
                done.map_err(Trouble::Access)?;
            }
            Action::Converge { run, members } => {
                return Ok(self.converge((current, pc), effective, members, Some(run), operation));
            }
            Action::ConvergeOnly { members } => {
                return Ok(self.converge((current, pc), effective, members, None, operation));
            }
            Action::Exit => return Ok(self.exit(current, pc, mask, effective)),
            Action::Barrier(index) => {
                self.splits[current].pc = pc;
                return Ok(Next::Leave(Stop::Barrier {
                    split: current,
                    index,
                    arrived: effective,
                }));
            }
            Action::BranchTable { table, index, reconvergence } => {
                let targets = &executable.branch_tables[table as usize];
                return self.branch_by_table(
                    (current, pc, mask),
                    effective,
                    (index, reconvergence),
                    targets,
                );
            }
            Action::Clock(which) => self.read_clock(which, &operation.args, effective, clock),
            Action::Print(call) => self.print(effective, call, around),
            Action::Assert(call) => {
                let lane = effective.trailing_zeros() as usize;
                return Err(Trouble::Assertion { lane, call });
            }
            Action::Trap => {
                return Err(Trouble::Trap { lane: effective.trailing_zeros() as usize });
            }
            // Computations and branches never come here.
            Action::Nothing | Action::Compute(_) | Action::Branch { .. } => {}
        }
        next
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

    /// Splits a split. `sides`: where lanes go; the last one runs first.
    fn diverge(
        &mut self,
        current: usize,
        reconvergence: u32,
        sides: &[(u32, u32)],
    ) -> Result<Next, Trouble> {
        if self.splits.len() + sides.len() > MAX_SPLITS {
            return Err(Trouble::TooDeep);
        }
        let outer = self.splits[current].reconvergence;
        let position = if outer == reconvergence {
            // Lanes that are done wait in the placeholder that this split itself reconverges with.
            self.splits.remove(current);
            current
        } else {
            self.splits[current].pc = reconvergence;
            current + 1
        };
        let there = |&&(pc, mask): &&(u32, u32)| pc != reconvergence && mask != 0;
        for &(pc, mask) in sides.iter().filter(there).rev() {
            self.splits.insert(position, Split { pc, reconvergence, mask, wait: Wait::Ready });
        }
        Ok(Next::Choose)
    }

    fn branch_by_table(
        &mut self,
        (current, pc, mask): (usize, u32, u32),
        effective: u32,
        (index, reconvergence): (u32, u32),
        targets: &[u32],
    ) -> Result<Next, Trouble> {
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
            return Ok(Next::At(target));
        }
        sides.sort_unstable_by_key(|side| std::cmp::Reverse(side.0));
        self.diverge(current, reconvergence, &sides)
    }

    fn exit(&mut self, current: usize, pc: u32, mask: u32, effective: u32) -> Next {
        self.alive &= !effective;
        self.splits[current].pc = pc + 1;
        for split in &mut self.splits {
            split.mask &= !effective;
            // Whoever left can no longer be waited for, nor be given a result.
            match &mut split.wait {
                Wait::Ready => {}
                Wait::Barrier { arrived, .. } | Wait::Members { arrived, .. } => {
                    *arrived &= !effective;
                }
            }
        }
        self.splits.retain(|split| split.mask != 0);
        debug_assert!(mask & effective == effective);
        Next::Choose
    }

    /// Arrives at an operation that waits for its member mask.
    fn converge(
        &mut self,
        (current, pc): (usize, u32),
        effective: u32,
        members: u32,
        run: Option<Run>,
        operation: &MicroOp,
    ) -> Next {
        let first = effective.trailing_zeros() as usize;
        let members = self.lanes.get32(members, first);
        if members & self.alive & !effective == 0 {
            if let Some(run) = run {
                run(&mut self.lanes, &operation.args, effective);
            }
            self.executed(pc, effective);
            return Next::At(pc + 1);
        }
        self.splits[current].pc = pc;
        self.splits[current].wait = Wait::Members { members, arrived: effective };
        self.resume_at(pc, run, operation);
        Next::Choose
    }

    /// Executes the operation at `pc` for the splits that wait there, if no member is missing.
    fn resume_at(&mut self, pc: u32, run: Option<Run>, operation: &MicroOp) -> bool {
        let mut all_arrived = 0;
        let mut all_members = 0;
        for split in &self.splits {
            if let Wait::Members { members, arrived } = split.wait
                && split.pc == pc
            {
                all_arrived |= arrived;
                all_members |= members;
            }
        }
        if all_arrived == 0 || all_members & self.alive & !all_arrived != 0 {
            return false;
        }
        if let Some(run) = run {
            run(&mut self.lanes, &operation.args, all_arrived);
        }
        self.executed(pc, all_arrived);
        for split in &mut self.splits {
            if matches!(split.wait, Wait::Members { .. }) && split.pc == pc {
                split.wait = Wait::Ready;
                split.pc += 1;
            }
        }
        true
    }

    /// Looks for splits whose missing members have exited since they arrived.
    fn resume_members(&mut self, executable: &Executable) -> bool {
        let waits = |split: &&Split| matches!(split.wait, Wait::Members { .. });
        let pcs: Vec<u32> = self.splits.iter().filter(waits).map(|split| split.pc).collect();
        pcs.into_iter().any(|pc| {
            let operation = &executable.operations[pc as usize];
            let run = match operation.action {
                Action::Converge { run, .. } => Some(run),
                _ => None,
            };
            self.resume_at(pc, run, operation)
        })
    }
}
