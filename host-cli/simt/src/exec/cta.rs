//! CTA: its warps, shared memory and barriers, run to the end.

use strata_core::sm::BarrierCall;
use strata_ptx::opcode::BarrierOp;

use super::barrier::{
    ALL_BARRIERS, BARRIERS, BarrierState, IN_PLACE_OF_CLUSTER, OF_CLUSTER, Reduction, result,
};
use super::recording::{Accesses, Recording};
use super::splits::{MAX_SPLITS, Split, Wait};
use super::warp::{SLICE, Stop, Surroundings, Trouble, Warp};
use super::{Geometry, Progress, print};
use crate::access::{BadAccess, Memory};
use crate::accesses::{AccessDictionary, AddressSink};
use crate::barriers::BarrierDictionary;
use crate::decode::Executable;
use crate::device::{Device, Neighbour};
use crate::fault::{AccessFault, Fault, Place};
use crate::micro::Space;
use crate::paths::PathInterner;
use crate::row::lanes;

/// One CTA; reused for the next one.
pub(crate) struct Cta<'e> {
    executable: &'e Executable,
    geometry: Geometry,
    warps: Vec<Warp>,
    done: Vec<bool>,
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
            shared: vec![0; geometry.total_shared as usize],
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
        self.calls.iter_mut().for_each(Vec::clear);
        self.outgrown = None;
        for barrier in &mut self.barriers {
            barrier.reset(self.warps.len());
        }
        for (number, warp) in self.warps.iter_mut().enumerate() {
            warp.start(self.executable, &self.geometry, number as u32, record);
        }
    }

    /// Runs the CTA to its end.
    pub(crate) fn run(
        &mut self,
        device: &mut Device,
        parameters: &[u8],
        progress: &mut Progress,
    ) -> Result<(), Fault> {
        let mut looked_at = progress.left;
        loop {
            let mut progressed = false;
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
                    None => Ok(()),
                    Some(place) => {
                        let limit = self.max_kept_bytes;
                        Err(Fault::TooMuchToKeep { place, limit, of_launch: false })
                    }
                };
            }
            if !progressed {
                return Err(self.stuck());
            }
        }
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
        let of_warp = |warp: &Warp| warp.recorder.bytes() + warp.accesses.bytes();
        let calls = self.calls.iter().map(|calls| size_of_val(calls.as_slice()) as u64);
        let kept = self.warps.iter().map(of_warp).chain(calls).sum::<u64>();
        if kept <= self.max_kept_bytes {
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
