//! Stream: the register accesses of launches as commands of the prototype, in the order of count
//! mode.
//!
//! Eight warps of a launch are in the prototype at a time, each in a place of its own, and execute
//! an instruction each in turn; a warp that ends makes room for the next one, in the order of CTAs
//! and warps. A launch begins when the one before has ended. Of every mask only the lanes of one
//! cluster are kept, as if the warps had been launched with these alone: an instruction in which
//! none of them takes part is left out, and takes no turn.
//!
//! Source: `docs/MODEL.md`, rules 7 to 18.

use strata_core::access::Access;
use strata_core::image::StaticInstruction;
use strata_core::prototype::command::{Command, Operation};
use strata_core::register_file_cache::{MAX_ENTRIES, Operands, RegisterFileCache};
use strata_core::rules::{PendingResults, RegisterSketch};
use strata_core::units::{LaneMask, RegisterId};

use super::material::{Launch, Material};
use super::plan::{CLUSTER, Plan, WARPS};

/// What a stream is made of so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Commands.
    pub commands: u64,
    /// Reads of operands and writes of results.
    pub accesses: u64,
    /// Warp instructions in which the lanes take part.
    pub instructions: u64,
    /// Those in which none does.
    pub left_out: u64,
    /// Warps that began.
    pub warps: u64,
    /// Times that a warp left the active set.
    pub deschedules: u64,
    /// Launches that began.
    pub launches: u64,
}

/// The commands, one after another.
#[derive(Debug)]
pub struct Stream<'m> {
    material: &'m Material,
    plan: &'m Plan,
    /// Stops with the instruction that reaches this many accesses; without, after one round.
    limit: Option<u64>,
    /// The launch under way.
    launch: usize,
    /// Its next warp.
    next_warp: usize,
    places: [Option<Warp>; WARPS],
    turn: usize,
    /// What the instruction whose turn it was does.
    queue: Vec<Command>,
    sent: usize,
    made: Made,
}

/// A warp in its place.
#[derive(Debug)]
struct Warp {
    path: u32,
    step: usize,
    offset: u32,
    /// Lanes of the pending results, by register.
    pending: Vec<LaneMask>,
    sketch: RegisterSketch,
    /// What the cache holds, where that decides which commands there are.
    mirror: Option<RegisterFileCache<{ MAX_ENTRIES as usize }>>,
}

impl<'m> Stream<'m> {
    /// Once through the material.
    pub fn once(material: &'m Material, plan: &'m Plan) -> Self {
        Self {
            material,
            plan,
            limit: None,
            launch: 0,
            next_warp: 0,
            places: Default::default(),
            turn: 0,
            queue: Vec::new(),
            sent: 0,
            made: Made { launches: 1, ..Made::default() },
        }
    }

    /// At least this many accesses: through the material as often as that takes.
    pub fn of_accesses(material: &'m Material, plan: &'m Plan, accesses: u64) -> Self {
        Self { limit: Some(accesses), ..Self::once(material, plan) }
    }

    /// What it is made of so far.
    pub fn made(&self) -> Made {
        self.made
    }

    fn current(&self) -> &'m Launch {
        &self.material.launches[self.launch]
    }

    /// Fills the queue with what the next instruction does. False at the end.
    fn advance(&mut self) -> bool {
        self.queue.clear();
        self.sent = 0;
        if self.limit.is_some_and(|limit| self.made.accesses >= limit) {
            return false;
        }
        if self.places.iter().all(Option::is_none) && !self.admit_any() {
            return false;
        }
        let place = self.turn;
        self.turn = (place + 1) % WARPS;
        self.admit(place);
        let Some(mut warp) = self.places[place].take() else { return true };
        let launch = self.current();
        match warp.next(launch, &mut self.made) {
            Some((instruction, mask)) => {
                let mut to = Sink { warp: place as u8, queue: &mut self.queue };
                warp.execute(launch, self.plan, instruction, mask, &mut to, &mut self.made);
                self.places[place] = Some(warp);
            }
            None => Sink { warp: place as u8, queue: &mut self.queue }.end(self.plan),
        }
        true
    }

    /// Puts the launch's next warp into a place that is free.
    fn admit(&mut self, place: usize) {
        if self.places[place].is_some() {
            return;
        }
        let launch = self.current();
        if let Some(warp) = launch.paths.warps().get(self.next_warp) {
            self.next_warp += 1;
            self.made.warps += 1;
            self.places[place] = Some(Warp::new(warp.path, launch, self.plan));
        }
    }

    /// Goes on to the next launch if this one has no warps left. False if there is none.
    fn admit_any(&mut self) -> bool {
        if self.next_warp < self.current().paths.warps().len() {
            return true;
        }
        let next = self.launch + 1;
        if next == self.material.launches.len() && self.limit.is_none() {
            return false;
        }
        self.launch = next % self.material.launches.len();
        self.next_warp = 0;
        self.turn = 0;
        self.made.launches += 1;
        // A launch without warps has no turn; others have warps, or there would be no material.
        true
    }
}

impl Iterator for Stream<'_> {
    type Item = Command;

    fn next(&mut self) -> Option<Command> {
        while self.sent == self.queue.len() {
            if !self.advance() {
                return None;
            }
        }
        let command = self.queue[self.sent];
        self.sent += 1;
        self.made.commands += 1;
        Some(command)
    }
}

impl Warp {
    fn new(path: u32, launch: &Launch, plan: &Plan) -> Self {
        let mirror = plan.cache.filter(|_| plan.allocates_reads());
        Self {
            path,
            step: 0,
            offset: 0,
            pending: vec![LaneMask::EMPTY; usize::from(launch.image.registers)],
            sketch: RegisterSketch::EMPTY,
            mirror: mirror.and_then(|config| RegisterFileCache::new(config).ok()),
        }
    }

    /// The next instruction in which the lanes take part; `None` at the warp's end.
    fn next<'m>(
        &mut self,
        launch: &'m Launch,
        made: &mut Made,
    ) -> Option<(&'m StaticInstruction, LaneMask)> {
        let path = launch.paths.path(self.path);
        loop {
            let step = path.get(self.step)?;
            let mask = LaneMask(step.mask.0 & CLUSTER);
            if mask.is_empty() || self.offset == step.length {
                made.left_out += u64::from(step.length - self.offset);
                self.step += 1;
                self.offset = 0;
                continue;
            }
            let pc = step.pc + self.offset;
            self.offset += 1;
            made.instructions += 1;
            return Some((&launch.image.instructions[pc as usize], mask));
        }
    }

    fn execute(
        &mut self,
        launch: &Launch,
        plan: &Plan,
        instruction: &StaticInstruction,
        mask: LaneMask,
        to: &mut Sink<'_>,
        made: &mut Made,
    ) {
        let image = launch.image.borrow();
        let (sources, destinations) = (image.sources(instruction), image.destinations(instruction));
        if self.pending().first_read(sources, mask).is_some() {
            self.deschedule(plan, to, made);
        }
        let long_latency = plan.rules.makes_pending(instruction.flags);
        let operands = Operands {
            sources,
            last_use: instruction.last_use,
            last_use_before_deschedule: instruction.last_use_before_deschedule,
            destinations,
            not_read_before_deschedule: instruction.not_read_before_deschedule,
            bypass: long_latency,
            mask,
        };
        let aware = plan.cache.is_some_and(|cache| cache.liveness_aware_bypass);
        to.read(&operands);
        if let Some(mirror) = &mut self.mirror {
            mirror.step(&operands, &mut |access, register, _| {
                if access == Access::RfcFill {
                    to.push(Operation::Fill, register, mask);
                }
            });
        }
        for (index, &register) in destinations.iter().enumerate() {
            let unneeded = operands.not_read_before_deschedule >> index & 1 != 0;
            let bypass = long_latency || aware && unneeded;
            let operation = if bypass { Operation::Bypass } else { Operation::Write };
            to.push(operation, register, mask);
        }
        made.accesses += (sources.len() + destinations.len()) as u64;
        self.pending().issue(destinations, mask, long_latency);
        let after = plan.rules.after(instruction.flags);
        if after.deschedule {
            self.deschedule(plan, to, made);
        }
        if after.flush {
            self.flush(plan, to);
        }
    }

    fn pending(&mut self) -> PendingResults<'_> {
        PendingResults::new(&mut self.pending, &mut self.sketch)
    }

    fn deschedule(&mut self, plan: &Plan, to: &mut Sink<'_>, made: &mut Made) {
        made.deschedules += 1;
        self.flush(plan, to);
        if plan.pool {
            to.whole(Operation::Demote);
        }
        self.pending().deschedule();
    }

    fn flush(&mut self, plan: &Plan, to: &mut Sink<'_>) {
        if let Some(mirror) = &mut self.mirror {
            mirror.flush(&mut |_, _, _| {});
        }
        if plan.cache.is_some() {
            to.whole(Operation::Flush);
        }
    }
}

/// Where the commands of one place go.
struct Sink<'q> {
    warp: u8,
    queue: &'q mut Vec<Command>,
}

impl Sink<'_> {
    fn push(&mut self, operation: Operation, register: RegisterId, lanes: LaneMask) {
        self.queue.push(Command { warp: self.warp, operation, register, lanes });
    }

    /// An operation on all that a warp has.
    fn whole(&mut self, operation: Operation) {
        self.push(operation, RegisterId(0), LaneMask(CLUSTER));
    }

    fn read(&mut self, operands: &Operands<'_>) {
        for (index, &register) in operands.sources.iter().enumerate() {
            let last_use = operands.last_use >> index & 1 != 0;
            let more = index + 1 < operands.sources.len();
            self.push(Operation::Read { last_use, more }, register, operands.mask);
        }
    }

    fn end(&mut self, plan: &Plan) {
        if plan.cache.is_some() {
            self.whole(Operation::Exit);
        }
        if plan.pool {
            self.whole(Operation::Drop);
        }
    }
}

#[cfg(test)]
mod tests;
