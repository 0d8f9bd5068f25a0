//! CTA: its warps, shared memory and barriers, run to the end.

use strata_core::sm::BarrierCall;
use strata_ptx::opcode::BarrierOp;

use super::barrier::{
    ALL_BARRIERS, BARRIERS, BarrierState, IN_PLACE_OF_CLUSTER, OF_CLUSTER, Reduction, result,
};
use super::circles::Circles;
use super::digest::Digest;
use super::geometry::Geometry;
use super::print;
use super::progress::{Progress, SLICE};
use super::recording::{Accesses, Recording};
use super::splits::{MAX_SPLITS, Split, Wait};
use super::warp::{Stop, Surroundings, Trouble, Warp};
use crate::access::{BadAccess, Memory};
use crate::accesses::{AccessDictionary, AddressSink};
use crate::barriers::BarrierDictionary;
use crate::device::{Device, Neighbour, Watch};
use crate::executable::Executable;
use crate::fault::{AccessFault, Fault, NeverEnds, Place};
use crate::micro::Space;
use crate::paths::PathInterner;
use crate::row::lanes;

/// Of threads' frames, so many bytes are looked at for each instruction that was executed since the
/// last look, at most.
const BYTES_FOR_AN_INSTRUCTION: u64 = 64;

/// Why a CTA gives up its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All its warps ended.
    Ended,
    /// It goes in circles, and will until another CTA changes something.
    Stuck,
    /// It seems to wait for another CTA.
    Polled,
}

/// How long a CTA has waited in this turn, by the launch's instructions that are left.
struct Waiting {
    landmarks: (usize, u64),
    /// The turn began.
    began: u64,
    /// The last landmark, change or look at which a warp had not polled.
    since: u64,
    /// Changes that others see, until then.
    changes: u64,
    /// The last look at the state.
    looked_at: u64,
}

impl Waiting {
    fn new(landmarks: (usize, u64), watch: &Watch, progress: &Progress) -> Self {
        let left = progress.left;
        Self { landmarks, began: left, since: left, changes: watch.changes(), looked_at: left }
    }
}

/// One CTA; reused for the next one.
pub(crate) struct Cta<'e> {
    executable: &'e Executable,
    geometry: Geometry,
    warps: Vec<Warp>,
    done: Vec<bool>,
    /// Warps of which every lane waited when they last ran.
    blocked: Vec<bool>,
    /// Barriers completed so far.
    completed: u64,
    circles: Circles,
    shared: Vec<u8>,
    barriers: Vec<BarrierState>,
    /// Where each warp's barrier instructions arrived.
    calls: Vec<Vec<BarrierCall>>,
    /// Most that is kept of what the warps execute. Unit: bytes.
    max_kept_bytes: u64,
    /// Where it was more: nothing is kept from there on, and an endless kernel meets its budget.
    outgrown: Option<Place>,
}

impl<'e> Cta<'e> {
    /// Makes room for a CTA of this launch.
    pub(crate) fn new(
        executable: &'e Executable,
        device: &Device,
        geometry: Geometry,
        max_kept_bytes: u64,
    ) -> Self {
        let warp = |number| Warp::new(executable, &geometry, number, device);
        Self {
            executable,
            geometry,
            warps: (0..geometry.warps).map(warp).collect(),
            done: vec![false; geometry.warps as usize],
            blocked: vec![false; geometry.warps as usize],
            completed: 0,
            circles: Circles::default(),
            shared: vec![0; geometry.shared as usize],
            barriers: vec![BarrierState::default(); ALL_BARRIERS],
            calls: vec![Vec::new(); geometry.warps as usize],
            max_kept_bytes,
            outgrown: None,
        }
    }

    /// Begins a CTA.
    pub(crate) fn start(&mut self, ctaid: [u32; 3], record: Recording) {
        self.geometry.ctaid = ctaid;
        self.shared.fill(0);
        self.done.fill(false);
        self.blocked.fill(false);
        self.completed = 0;
        self.circles.reset();
        self.calls.iter_mut().for_each(Vec::clear);
        self.outgrown = None;
        for barrier in &mut self.barriers {
            barrier.reset(self.warps.len());
        }
        for (number, warp) in self.warps.iter_mut().enumerate() {
            warp.start(self.executable, &self.geometry, number as u32, record);
        }
    }

    /// Runs the CTA until it ends or gives up its turn.
    pub(crate) fn run(
        &mut self,
        device: &mut Device,
        parameters: &[u8],
        progress: &mut Progress,
    ) -> Result<Turn, Fault> {
        let mut looked_at = progress.left;
        let mut waiting = Waiting::new(self.landmarks(), &device.watch, progress);
        loop {
            let mut progressed = false;
            let changes = device.watch.changes();
            if progress.at_once {
                device.watch.arm();
            }
            for number in 0..self.warps.len() {
                if !self.done[number] {
                    progressed |= self.run_warp(number, device, parameters, progress)?;
                    if looked_at - progress.left >= SLICE {
                        looked_at = progress.left;
                        self.bound_kept(number);
                    }
                }
            }
            if self.done.iter().all(|&done| done) {
                return match self.outgrown.take() {
                    None => Ok(Turn::Ended),
                    Some(place) => {
                        let limit = self.max_kept_bytes;
                        Err(Fault::TooMuchToKeep { place, limit, of_launch: false })
                    }
                };
            }
            if !progressed {
                return Err(self.stuck());
            }
            let unchanged = changes == device.watch.changes();
            if let Some(turn) = self.gives_up(&mut waiting, unchanged, &mut device.watch, progress)
            {
                return Ok(turn);
            }
        }
    }

    /// What only progress moves: warps that ended, and barriers that completed.
    fn landmarks(&self) -> (usize, u64) {
        (self.done.iter().filter(|&&done| done).count(), self.completed)
    }

    /// Whether the turn is over after a round of all warps; `unchanged` if other CTAs see nothing
    /// new of the round.
    fn gives_up(
        &mut self,
        waiting: &mut Waiting,
        unchanged: bool,
        watch: &mut Watch,
        progress: &Progress,
    ) -> Option<Turn> {
        let landmarks = self.landmarks();
        if landmarks != waiting.landmarks {
            *waiting = Waiting { began: waiting.began, ..Waiting::new(landmarks, watch, progress) };
            self.circles.reset();
            self.warps.iter_mut().for_each(|warp| warp.polled = false);
        } else if waiting.looked_at - progress.left >= self.between_looks(progress) {
            waiting.looked_at = progress.left;
            let changed = waiting.changes != watch.changes();
            let mut circles = self.circles;
            let closed = circles.closed(watch, progress.slice, || self.digest());
            self.circles = circles;
            if closed {
                return Some(Turn::Stuck);
            }
            if changed || !self.have_polled() {
                (waiting.since, waiting.changes) = (progress.left, watch.changes());
            } else if waiting.since - progress.left >= progress.patience {
                return Some(Turn::Polled);
            }
        }
        let over = unchanged || waiting.began - progress.left >= SLICE;
        (progress.at_once && over).then_some(Turn::Polled)
    }

    /// Whether every warp that could run has polled since this was last asked.
    fn have_polled(&mut self) -> bool {
        let others = self.done.iter().zip(&self.blocked).map(|(&done, &blocked)| done || blocked);
        let warps = self.warps.iter_mut().zip(others);
        // All of them: each is to begin again.
        warps.fold(true, |all, (warp, other)| all & (std::mem::take(&mut warp.polled) | other))
    }

    /// How long a CTA runs between two looks at its state. Unit: warp instructions.
    fn between_looks(&self, progress: &Progress) -> u64 {
        let frames = self.warps.iter().map(|warp| warp.local.held());
        (frames.sum::<u64>() / BYTES_FOR_AN_INSTRUCTION).max(progress.slice)
    }

    /// All that its future depends on, but for what other CTAs see too.
    fn digest(&self) -> Digest {
        let mut digest = Digest::new();
        self.warps.iter().for_each(|warp| warp.digest(&mut digest));
        self.barriers.iter().for_each(|barrier| barrier.digest(&mut digest));
        digest.bytes(&self.shared);
        self.done.iter().for_each(|&done| digest.word(done.into()));
        digest
    }

    /// Why a CTA that is stuck keeps the launch from ending; `waiting` are all that are stuck, and
    /// `unstarted` those for which there is no room.
    pub(crate) fn never_ends(&self, device: &Device, (waiting, unstarted): (u64, u64)) -> Fault {
        let runs = |number: &usize| !self.done[*number] && !self.blocked[*number];
        let number = (0..self.warps.len()).find(runs).unwrap_or(0);
        let warp = &self.warps[number];
        let split = warp.splits.last();
        let pc = warp.last_read.map_or(split.pc, |(pc, _)| pc);
        let lane = split.mask.trailing_zeros() & 31;
        let place = self.executable.place(pc, self.geometry.thread(number as u32, lane));
        let reads = warp.last_read.map(|(pc, address)| {
            let space = self.executable.space_of(pc);
            let inside = |near: &Neighbour| near.distance().is_none();
            let buffer = device.nearest(address).filter(inside);
            match buffer.filter(|_| matches!(space, Space::Global | Space::Generic)) {
                Some(near) => format!("byte {} of `{}`", address - near.start, near.name),
                None => format!("{} address {address:#x}", space.name()),
            }
        });
        let beside = warp.splits.alive() & !split.mask;
        Fault::NeverEnds(Box::new(NeverEnds { place, reads, beside, waiting, unstarted }))
    }

    /// What is kept of what it executes. Unit: bytes.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let of_warp = |warp: &Warp| warp.recorder.bytes() + warp.accesses.bytes();
        let calls = self.calls.iter().map(|calls| size_of_val(calls.as_slice()) as u64);
        self.warps.iter().map(of_warp).chain(calls).sum()
    }

    /// Gives up all values: it has ended, and only what it recorded is wanted.
    pub(crate) fn forget_values(&mut self) {
        self.warps.iter_mut().for_each(Warp::forget_values);
        self.shared = Vec::new();
    }

    /// Runs one warp until it has to wait or has ended. True when it executed anything, or released
    /// another warp.
    fn run_warp(
        &mut self,
        number: usize,
        device: &mut Device,
        parameters: &[u8],
        progress: &mut Progress,
    ) -> Result<bool, Fault> {
        let before = progress.left;
        self.blocked[number] = false;
        loop {
            let mut memory = Memory {
                device,
                shared: &mut self.shared,
                parameters,
                module: self.executable.module,
            };
            let mut around =
                Surroundings { executable: self.executable, memory: &mut memory, progress };
            let warp = &mut self.warps[number];
            let stop = match warp.run(&mut around) {
                Ok(stop) => stop,
                Err((pc, Trouble::Assertion { lane, call })) => {
                    let thread = self.geometry.thread(number as u32, lane as u32);
                    let place = self.executable.place(pc, thread);
                    return Err(print::assertion(warp, lane, call, &mut around, place));
                }
                Err((pc, trouble)) => {
                    return Err(self.fault(number, pc, &trouble, device, progress));
                }
            };
            match stop {
                Stop::Barrier { split, index, arrived } => {
                    // Once it completes, all its warps go on in their order.
                    if self.arrive(number, split, index, arrived)? {
                        return Ok(true);
                    }
                }
                Stop::Yield => return Ok(true),
                Stop::Blocked | Stop::Done => {
                    self.done[number] = stop == Stop::Done;
                    self.blocked[number] = stop == Stop::Blocked;
                    // Exits may have completed a barrier.
                    let all = 0..ALL_BARRIERS;
                    let released = all.fold(false, |any, id| self.release(id) | any);
                    return Ok(released || progress.left != before);
                }
            }
        }
    }

    /// Keeps nothing more, and gives up what is kept, if that is too much. `number` is the warp
    /// that ran last.
    fn bound_kept(&mut self, number: usize) {
        if self.kept_bytes() <= self.max_kept_bytes {
            return;
        }
        let split = self.warps[number].splits.iter().last();
        let (pc, mask) = split.map_or((0, 1), |split| (split.pc, split.mask));
        let thread = self.geometry.thread(number as u32, mask.trailing_zeros() & 31);
        self.outgrown = Some(self.executable.place(pc, thread));
        for warp in &mut self.warps {
            warp.recorder.stop();
            warp.accesses.start(Recording::Nothing);
        }
        self.calls.fill(Vec::new());
    }

    /// A split of a warp arrives at a barrier. True when that completes it.
    fn arrive(
        &mut self,
        number: usize,
        split: usize,
        index: u32,
        arrived: u32,
    ) -> Result<bool, Fault> {
        let barrier = &self.executable.barriers[index as usize];
        let warp = &mut self.warps[number];
        let first = arrived.trailing_zeros() as usize;
        let named = warp.lanes.get32(barrier.id, first);
        let id = if barrier.of_cluster { OF_CLUSTER } else { named };
        let count = barrier.count.map(|row| warp.lanes.get32(row, first));
        let truth = warp.lanes.predicates[barrier.predicate as usize] ^ barrier.invert;
        let exists = barrier.of_cluster || (id as usize) < BARRIERS;
        let problem = match self.barriers.get_mut(id as usize).filter(|_| exists) {
            Some(state) => state.arrive(number, arrived, count, truth).err(),
            None => Some("there are barriers 0 to 15"),
        };
        let pc = warp.splits.get(split).pc;
        if let Some(problem) = problem {
            let thread = self.geometry.thread(number as u32, first as u32);
            let place = self.executable.place(pc, thread);
            return Err(Fault::BarrierMisuse { place, barrier: id, problem });
        }
        // A number of threads that no call can name is more than a CTA has.
        if self.outgrown.is_none() {
            let id = if barrier.of_cluster { IN_PLACE_OF_CLUSTER } else { id };
            self.calls[number].push(BarrierCall::new(id, count).unwrap_or_default());
        }
        if barrier.operation == BarrierOp::Arrive {
            warp.splits.resume_at(split, pc + 1);
        } else {
            warp.splits.wait(split, pc, Wait::Barrier { id, index, arrived });
        }
        Ok(self.release(id as usize))
    }

    /// Releases all lanes that wait at a barrier, if it is complete.
    fn release(&mut self, id: usize) -> bool {
        let alive = self.warps.iter().map(|warp| warp.splits.alive());
        let Some(reduction) = self.barriers[id].complete(alive) else { return false };
        self.barriers[id].reset(self.warps.len());
        self.completed += 1;
        for warp in &mut self.warps {
            for split in 0..warp.splits.len() {
                let Split { pc, wait, .. } = warp.splits.get(split);
                if let Wait::Barrier { id: at, index, arrived } = wait
                    && at as usize == id
                {
                    warp.splits.release(split);
                    self.executable.finish_barrier(warp, index, arrived, reduction);
                    warp.executed(pc, arrived);
                }
            }
        }
        true
    }

    /// No warp can go on: says which waits for what.
    fn stuck(&self) -> Fault {
        let mut barrier_fault = None;
        for (number, warp) in self.warps.iter().enumerate() {
            for split in warp.splits.iter() {
                let place = |arrived: u32| {
                    let lane = arrived.trailing_zeros() & 31;
                    let thread = self.geometry.thread(number as u32, lane);
                    self.executable.place(split.pc, thread)
                };
                match split.wait {
                    Wait::Ready => {}
                    Wait::Members { arrived } => {
                        let (members, missing) = warp.missing(split.pc, self.executable);
                        let place = place(arrived);
                        return Fault::WarpNeverConverges { place, members, missing };
                    }
                    Wait::Barrier { id, arrived: here, .. } => {
                        let alive = self.warps.iter().map(|warp| warp.splits.alive());
                        let (arrived, expected) = self.barriers[id as usize].progress(alive);
                        barrier_fault.get_or_insert_with(|| Fault::BarrierNeverCompletes {
                            place: place(here),
                            barrier: id,
                            arrived,
                            expected,
                        });
                    }
                }
            }
        }
        // A CTA that cannot go on has a waiting split: a split that is ready can always run.
        barrier_fault.unwrap_or(Fault::BarrierNeverCompletes {
            place: self.executable.place(0, self.geometry.thread(0, 0)),
            barrier: 0,
            arrived: 0,
            expected: self.geometry.threads,
        })
    }

    fn fault(
        &self,
        number: usize,
        pc: u32,
        trouble: &Trouble,
        device: &Device,
        progress: &Progress,
    ) -> Fault {
        let place = |lane: usize| {
            self.executable.place(pc, self.geometry.thread(number as u32, lane as u32))
        };
        let first = self.warps[number].splits.alive().trailing_zeros() as usize & 31;
        match *trouble {
            Trouble::Access(ref bad) => {
                Fault::Access(Box::new(access_fault(bad, place(bad.lane), device)))
            }
            Trouble::Texture { lane, ref problem } => Fault::Texture(place(lane), problem.clone()),
            // The caller has told of assertions already, with their texts.
            Trouble::Trap { lane }
                if self.geometry.workspace == 0 && self.executable.asks_for_workspace() =>
            {
                Fault::NotCooperative { place: place(lane) }
            }
            Trouble::Trap { lane } | Trouble::Assertion { lane, .. } => Fault::Trap(place(lane)),
            Trouble::FreesForeign { lane, address } => {
                Fault::FreesForeign { place: place(lane), address }
            }
            Trouble::CallNowhere { lane, address } => {
                Fault::CallNowhere { place: place(lane), address }
            }
            Trouble::Budget => {
                Fault::BudgetExceeded { place: place(first), budget: progress.budget }
            }
            Trouble::NotAMember { lane, members } => {
                Fault::NotAMember { place: place(lane), lane, members }
            }
            Trouble::NotAWholeWarp { present } => {
                let lane = present.trailing_zeros() as usize & 31;
                Fault::NotAWholeWarp { place: place(lane), present }
            }
            Trouble::Mbarrier { lane, address, problem } => {
                Fault::MbarrierMisuse { place: place(lane), address, problem }
            }
            Trouble::Transfer(ref bad) => {
                let (lane, problem) = bad.said();
                Fault::MatrixOperand { place: place(lane), problem }
            }
            Trouble::ReadsExited { lane, exited } => {
                Fault::ReadsExited { place: place(lane), lane, exited }
            }
            Trouble::TooDeep => Fault::DivergenceTooDeep { place: place(first), limit: MAX_SPLITS },
        }
    }

    /// Hands over the warps' paths.
    pub(crate) fn intern(&mut self, cta: u64, interner: &mut PathInterner) {
        for (number, warp) in self.warps.iter_mut().enumerate() {
            interner.intern(cta, number as u32, &mut warp.recorder);
        }
    }

    /// Hands over what the warps moved, if that was recorded, and where they arrived.
    pub(crate) fn keep(&self, accesses: &mut AccessDictionary, barriers: &mut BarrierDictionary) {
        for (warp, calls) in self.warps.iter().zip(&self.calls) {
            if let Accesses::Bytes(moved) = &warp.accesses {
                accesses.push_warp(moved);
            }
            barriers.push_warp(calls);
        }
    }

    /// Hands over the warps' addresses.
    pub(crate) fn hand_over(&mut self, cta: u64, sink: &mut dyn AddressSink) {
        for (number, warp) in self.warps.iter_mut().enumerate() {
            if let Accesses::Addresses(log) = &mut warp.accesses {
                sink.begin(cta, number as u32);
                log.drain(sink);
            }
        }
    }
}

fn access_fault(bad: &BadAccess, place: Place, device: &Device) -> AccessFault {
    let nearest = match bad.space {
        Space::Global | Space::Generic => device.nearest(bad.address),
        space => {
            let start = if space == Space::Parameter { device.map.parameters } else { 0 };
            let (end, address) = (start + bad.extent, bad.address);
            Some(Neighbour { name: format!("{} memory", space.name()), start, end, address })
        }
    };
    AccessFault {
        place,
        kind: bad.kind,
        problem: bad.problem,
        space: bad.space.name(),
        address: bad.address,
        size: bad.size,
        nearest,
    }
}

impl Executable {
    /// Writes a barrier's result into the lanes that waited.
    fn finish_barrier(&self, warp: &mut Warp, index: u32, arrived: u32, reduction: Reduction) {
        let barrier = &self.barriers[index as usize];
        let value = result(barrier.operation, reduction);
        match barrier.operation {
            BarrierOp::RedPopc => {
                for lane in lanes(arrived) {
                    warp.lanes.put32(barrier.result, lane, value);
                }
            }
            BarrierOp::RedAnd | BarrierOp::RedOr => {
                warp.lanes.set_predicate(barrier.result, value, arrived);
            }
            BarrierOp::Sync | BarrierOp::Arrive => {}
        }
    }
}
