//! Values beside an SM whose registers expand into scratchpad memory: a machine that has values and
//! no time follows what the SM tells, and each operand that it reads from the operand cache must be
//! what the program last wrote.

use std::collections::{BTreeMap, VecDeque};

use strata_core::image::Flags;
use strata_core::sm::expansion::bundles::{Bundles, HomeLine};
use strata_core::sm::expansion::homes::{Home, Homes};
use strata_core::sm::expansion::operand_cache::Move;
use strata_core::sm::{ExpansionObservation as Event, Issue, Observation};
use strata_core::units::{LaneMask, RegisterId};

use crate::machine::Kernel;

/// A value of each lane. What was never written is 0.
type Lanes = [u32; 32];
/// A register of the warp at a place.
type Key = (u8, RegisterId);

/// What no program wrote.
const GARBAGE: Lanes = [u32::MAX; 32];

/// The registers that lie in scratchpad memory, their lines, and what is right.
pub(crate) struct Values<'k> {
    kernel: &'k Kernel,
    bundles: Bundles<'k>,
    homes: Homes,
    /// By address.
    scratchpad: BTreeMap<u32, Lanes>,
    lines: [Option<(Key, Lanes)>; 16],
    right: BTreeMap<Key, Lanes>,
    /// Operands that have been asked for, with what is right.
    asked: BTreeMap<Key, VecDeque<Lanes>>,
    /// Results on their way.
    on_the_way: BTreeMap<Key, (LaneMask, u32)>,
    /// Registers of a bundle that get a line and are not fetched.
    allocated: BTreeMap<u8, Vec<RegisterId>>,
    written: u32,
    pub(crate) reads: u64,
    pub(crate) arrivals: u64,
    pub(crate) told: BTreeMap<&'static str, u64>,
}

impl<'k> Values<'k> {
    pub(crate) fn new(kernel: &'k Kernel, bundles: Bundles<'k>, homes: Homes) -> Self {
        Self {
            kernel,
            bundles,
            homes,
            scratchpad: BTreeMap::new(),
            lines: [None; 16],
            right: BTreeMap::new(),
            asked: BTreeMap::new(),
            on_the_way: BTreeMap::new(),
            allocated: BTreeMap::new(),
            written: 0,
            reads: 0,
            arrivals: 0,
            told: BTreeMap::new(),
        }
    }

    /// Where a register lies in scratchpad memory, if it does.
    fn address(&self, (warp, register): Key) -> Option<u32> {
        match self.homes.home(warp.into(), register.0) {
            Some(Home::Scratchpad { address }) => Some(address),
            _ => None,
        }
    }

    fn line(&mut self, key: Key) -> &mut Option<(Key, Lanes)> {
        &mut self.lines[usize::from(HomeLine::of(key.1).number())]
    }

    pub(crate) fn add(&mut self, observation: &Observation) {
        match *observation {
            Observation::CtaLaunch { warps, .. } => {
                let new = |place: u8| warps >> place & 1 != 0;
                self.right.retain(|&(place, _), _| !new(place));
                let mixed = (0..64).filter(|&place| new(place));
                for place in mixed {
                    for register in (0..self.kernel.registers).map(RegisterId) {
                        if let Some(address) = self.address((place, register)) {
                            self.scratchpad.insert(address, [0; 32]);
                        }
                    }
                }
            }
            Observation::Issue(issue) => self.issue(&issue),
            Observation::Expansion { event, .. } => self.expansion(event),
            _ => {}
        }
    }

    fn issue(&mut self, issue: &Issue) {
        if issue.mask.is_empty() {
            return;
        }
        let instruction = &self.kernel.instructions[issue.pc as usize];
        let first = instruction.first_slot as usize;
        let middle = first + usize::from(instruction.sources);
        let end = middle + usize::from(instruction.destinations);
        let registers = |slots: std::ops::Range<usize>| self.kernel.slots[slots].to_vec();
        let (sources, results) = (registers(first..middle), registers(middle..end));
        for register in sources {
            let key = (issue.place, register);
            if self.address(key).is_some() {
                let right = self.right.get(&key).copied().unwrap_or([0; 32]);
                self.asked.entry(key).or_default().push_back(right);
            }
        }
        for register in results {
            let key = (issue.place, register);
            if self.address(key).is_none() {
                continue;
            }
            self.written += 1;
            let before = self.on_the_way.insert(key, (issue.mask, self.written));
            assert_eq!(before, None, "{key:?} is written while a result is on its way");
            merge(self.right.entry(key).or_insert([0; 32]), issue.mask, self.written);
        }
    }

    fn expansion(&mut self, event: Event) {
        let name = match event {
            Event::Prefetch { .. } => "prefetch",
            Event::Begins { place, pc } => self.begins(place, pc),
            Event::Moves(Move::Fetched { warp, register }) => {
                let key = (warp, register);
                let address = self.address(key).expect("it lies in scratchpad memory");
                *self.line(key) = Some((key, self.scratchpad[&address]));
                "fetch"
            }
            Event::Moves(Move::WrittenBack { warp, register }) => {
                let key = (warp, register);
                let (held, value) = self.line(key).expect("the line has a register");
                assert_eq!(held, key, "another register is written back");
                let address = self.address(key).expect("it lies in scratchpad memory");
                self.scratchpad.insert(address, value);
                "write back"
            }
            Event::Bypass { .. } => "bypass",
            Event::Schedulable { place } => self.schedulable(place),
            Event::Read { place, register } => {
                let key = (place, register);
                let right = self.asked.get_mut(&key).and_then(VecDeque::pop_front);
                let right = right.expect("an operand is read that no instruction asked for");
                let (held, value) = self.line(key).expect("the line has a register");
                assert_eq!((held, value), (key, right), "an operand is not what was written");
                self.reads += 1;
                "read"
            }
            Event::Write { place, register } => {
                let key = (place, register);
                let (mask, value) = self.on_the_way.remove(&key).expect("a result is on its way");
                let (held, lanes) = self.line(key).as_mut().expect("the line has a register");
                assert_eq!(*held, key, "a result overwrites another register");
                merge(lanes, mask, value);
                "write"
            }
            Event::Arrives { place, register } => {
                let key = (place, register);
                let (mask, value) = self.on_the_way.remove(&key).expect("a result is on its way");
                let address = self.address(key).expect("it lies in scratchpad memory");
                merge(self.scratchpad.get_mut(&address).expect("launched"), mask, value);
                self.arrivals += 1;
                "arrival"
            }
            Event::Completes { .. } => "completion",
        };
        *self.told.entry(name).or_default() += 1;
    }

    /// A bundle gets its lines: those that are not fetched hold anything from then on, unless they
    /// hold the register already.
    fn begins(&mut self, place: u8, pc: u32) -> &'static str {
        let prefetch = self.bundles.before(pc).expect("a bundle begins there");
        let outside = |&register: &RegisterId| self.address((place, register)).is_some();
        let allocated = prefetch.allocated.iter().filter(outside).collect();
        self.allocated.insert(place, allocated);
        "bundle"
    }

    fn schedulable(&mut self, place: u8) -> &'static str {
        for register in self.allocated.remove(&place).expect("its bundle has begun") {
            let key = (place, register);
            let line = self.line(key);
            if line.is_none_or(|(held, _)| held != key) {
                *line = Some((key, GARBAGE));
            }
        }
        "schedulable"
    }

    /// What must hold when nothing is under way any longer.
    pub(crate) fn finish(&self) {
        assert!(self.asked.values().all(VecDeque::is_empty), "operands never came");
        assert!(self.on_the_way.is_empty(), "results never came: {:?}", self.on_the_way);
    }
}

fn merge(lanes: &mut Lanes, mask: LaneMask, value: u32) {
    for (lane, held) in lanes.iter_mut().enumerate() {
        if mask.0 >> lane & 1 != 0 {
            *held = value;
        }
    }
}

/// Whether an instruction's results go to scratchpad memory when they arrive.
pub(crate) fn is_long(kernel: &Kernel, pc: usize) -> bool {
    kernel.instructions[pc].flags.contains(Flags::LONG_LATENCY)
}
