//! Runs the model and the hardware over the same stream and compares every decision.

use strata_core::prototype::main_register_file::MainAccess;
use strata_core::prototype::outcome::MainOutcome;
use strata_core::units::{LaneMask, RegisterId};
use strata_core::write_pool::{PoolRead, PoolWrite, WritePool};
use strata_lockstep::random::Random;
use strata_lockstep::write_pool::{Elaboration, Inputs, Outputs, PoolSlot, Rtl, Settings};

const READ: u8 = MainAccess::Read as u8;
const WRITE: u8 = MainAccess::Write as u8;
const DEMOTE: u8 = MainAccess::Demote as u8;
const DROP: u8 = MainAccess::Drop as u8;
const NOTHING: u8 = MainAccess::Nothing as u8;

/// Registers of each warp.
const REGISTERS: u16 = 128;

/// The shape of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traffic {
    /// Warps with requests.
    pub(crate) warps: u32,
    /// Registers of each that are requested.
    pub(crate) numbers: u32,
    /// Clocks without a request, and clocks in which a decision is not carried out, in 100.
    pub(crate) stalls: u32,
    /// Demotions and drops, in 1,000.
    pub(crate) moves: u32,
}

/// How often each tested situation occurred.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    /// By operation and outcome.
    pub(crate) outcomes: [[u64; 7]; 5],
    /// Decisions that stood for more than one clock.
    pub(crate) held: u64,
    /// Requests that were looked up while their register was written, taken away or dropped.
    pub(crate) overtaken: [u64; 3],
}

/// A decision, and what stands a clock after it was carried out.
#[derive(Clone, Copy, Debug)]
struct Decision<const LANES: usize> {
    outputs: Outputs,
    /// Words that are known, by lane.
    known: u32,
    words: [u32; LANES],
}

/// The expectation of a clock.
#[derive(Clone, Copy, Debug)]
struct Expected<const LANES: usize> {
    accepted: bool,
    decision: Option<Decision<LANES>>,
    /// The decision is carried out: count, lanes and data follow.
    goes: bool,
}

/// The model and the hardware.
pub(crate) struct Bench<const POOL: usize, const LANES: usize> {
    elaboration: Elaboration,
    entries: u8,
    model: Option<WritePool<POOL>>,
    rtl: Rtl,
    /// What the pool's entries hold, of all registers.
    values: Vec<[u32; LANES]>,
    pub(crate) coverage: Coverage,
}

fn warp_of(number: u16) -> (u8, RegisterId) {
    ((number / REGISTERS) as u8, RegisterId(number % REGISTERS))
}

fn number_of(warp: u8, register: RegisterId) -> u16 {
    u16::from(warp) * REGISTERS + register.0
}

fn model_of<const POOL: usize>(entries: u8) -> Option<WritePool<POOL>> {
    (entries > 0).then(|| WritePool::new(entries).unwrap())
}

impl<const POOL: usize, const LANES: usize> Bench<POOL, LANES> {
    pub(crate) fn new(elaboration: Elaboration, entries: u8) -> Self {
        assert_eq!((elaboration.entries, elaboration.lanes), (POOL, LANES));
        Self {
            elaboration,
            entries,
            model: model_of(entries),
            rtl: Rtl::new(elaboration, Settings { entries }),
            values: vec![[0; LANES]; 1_024],
            coverage: Coverage::default(),
        }
    }

    /// Resets both, or clears them, with a number of entries.
    pub(crate) fn restart(&mut self, entries: u8, reset: bool) {
        if reset {
            self.rtl.reset(Settings { entries });
        } else {
            self.rtl.clear(Settings { entries });
        }
        self.entries = entries;
        self.model = model_of(entries);
    }

    /// Runs a stream and compares, the whole state every `batch` clocks.
    ///
    /// # Panics
    ///
    /// At the first difference, with the clock, the request and both states.
    pub(crate) fn run(&mut self, seed: u64, traffic: Traffic, clocks: usize, batch: usize) {
        let mut random = Random(seed);
        let name = format!("seed {seed}, {traffic:?}, {} entries", self.entries);
        for first in (0..clocks).step_by(batch) {
            let mut inputs = Vec::with_capacity(batch);
            let mut words = Vec::with_capacity(batch * LANES);
            let mut expected = Vec::with_capacity(batch);
            let mut standing = None;
            let mut data = [0; LANES];
            let mut deciding: Option<(Inputs, Decision<LANES>)> = None;
            let mut last = Inputs::default();
            for left in (0..batch).rev() {
                // Batches end with nothing under way.
                if standing.is_none() {
                    data = core::array::from_fn(|_| random.next());
                    if left > 1 {
                        standing = request::<LANES>(&mut random, traffic, &mut last);
                    }
                }
                let port = standing.unwrap_or_default();
                let go = left < 2 || traffic.stalls == 0 || !random.chance(traffic.stalls);
                let goes = go && deciding.is_some();
                let accepted = standing.is_some() && (go || deciding.is_none());
                expected.push(Expected {
                    accepted,
                    decision: deciding.map(|(_, decision)| decision),
                    goes,
                });
                inputs.push(Inputs { go, ..port });
                words.extend_from_slice(&data);
                self.coverage.held += u64::from(deciding.is_some() && !go);
                if let Some((decided, decision)) = deciding
                    && accepted
                {
                    self.cover(&decided, &decision.outputs, &port);
                }
                if go {
                    deciding = None;
                }
                if accepted {
                    deciding = Some((port, self.decide(&port, &data)));
                    standing = None;
                }
            }
            assert!(deciding.is_none());
            self.compare(&name, first, &inputs, &words, &expected);
        }
    }

    /// The decision on a request, which is carried out before any other is decided.
    fn decide(&mut self, request: &Inputs, data: &[u32; LANES]) -> Decision<LANES> {
        let mut outputs = Outputs {
            valid: true,
            op: request.op,
            read_number: request.number,
            ..Outputs::default()
        };
        let (warp, register) = warp_of(request.number);
        let lanes = LaneMask(request.lanes);
        let mut words = self.values[usize::from(request.number)];
        let held = self.held(request.number);
        let warp = if matches!(request.op, READ | WRITE) { warp } else { request.warp };
        match (request.op, &mut self.model) {
            (READ, model) => {
                let read = |pool: &mut WritePool<POOL>| pool.read(warp, register, lanes);
                let found = model.as_mut().map_or(PoolRead::Miss, read);
                outputs.outcome = match found {
                    PoolRead::Miss => MainOutcome::Bank,
                    PoolRead::Hit => MainOutcome::PoolHit,
                    PoolRead::PartialHit => MainOutcome::PoolPartialHit,
                } as u8;
                outputs.read_bank = found != PoolRead::Hit;
                outputs.lanes = held & request.lanes;
            }
            (WRITE, None) => {
                outputs.outcome = MainOutcome::Bank as u8;
                (outputs.write_bank, outputs.write_number) = (true, request.number);
                (outputs.lanes, words) = (request.lanes, *data);
            }
            (WRITE, Some(pool)) => {
                outputs.outcome = match pool.write(warp, register, lanes, |_| true) {
                    PoolWrite::Hit => MainOutcome::PoolHit,
                    PoolWrite::Allocated => MainOutcome::PoolAllocation,
                    PoolWrite::Replaced(victim) => {
                        outputs.write_bank = true;
                        outputs.write_number = number_of(victim.warp, victim.register);
                        outputs.lanes = victim.lanes.0;
                        words = self.values[usize::from(outputs.write_number)];
                        MainOutcome::PoolReplacement
                    }
                    PoolWrite::Blocked(_) => unreachable!("every write-back is allowed"),
                } as u8;
                let value = &mut self.values[usize::from(request.number)];
                for (lane, word) in value.iter_mut().enumerate() {
                    if lanes.0 >> lane & 1 != 0 {
                        *word = data[lane];
                    }
                }
            }
            (DEMOTE | DROP, Some(pool)) => {
                outputs.count = pool.entries_of(warp) as u8;
                outputs.outcome = if outputs.count > 0 { MainOutcome::PoolMoved as u8 } else { 0 };
                if request.op == DROP {
                    pool.drop_warp(warp);
                } else {
                    pool.demote(warp);
                }
            }
            _ => {}
        }
        self.coverage.outcomes[usize::from(request.op)][usize::from(outputs.outcome)] += 1;
        Decision { outputs, known: outputs.lanes, words }
    }

    /// Lanes that the pool holds of a register.
    fn held(&self, number: u16) -> u32 {
        let (warp, register) = warp_of(number);
        let Some(pool) = &self.model else { return 0 };
        let has = |lane: &u32| pool.look_up(warp, register, LaneMask(1 << lane)) == PoolRead::Hit;
        (0..LANES as u32).filter(has).fold(0, |held, lane| held | 1 << lane)
    }

    fn cover(&mut self, decided: &Inputs, outputs: &Outputs, next: &Inputs) {
        if next.op > WRITE {
            return;
        }
        let overtaken = &mut self.coverage.overtaken;
        let same = decided.number == next.number;
        overtaken[0] += u64::from(decided.op == WRITE && same);
        let replaced = outputs.outcome == MainOutcome::PoolReplacement as u8;
        overtaken[1] += u64::from(replaced && outputs.write_number == next.number);
        let dropped = decided.op == DROP && outputs.count > 0 && decided.warp == next.warp;
        overtaken[2] += u64::from(dropped);
    }

    fn compare(
        &mut self,
        name: &str,
        first: usize,
        inputs: &[Inputs],
        words: &[u32],
        expected: &[Expected<LANES>],
    ) {
        let mut outputs = vec![Outputs::default(); inputs.len()];
        let mut data = vec![0; words.len()];
        self.rtl.run(inputs, words, &mut outputs, &mut data);
        for (index, (outputs, expected)) in outputs.iter().zip(expected).enumerate() {
            let data = &data[index * LANES..][..LANES];
            let same = fits(outputs, data, expected);
            assert!(
                same,
                "{name}: clock {}, {:?}\nmodel: {expected:x?}\nRTL: {outputs:x?}, data {data:x?}",
                first + index,
                inputs[index],
            );
        }
        let slots = self.rtl.state();
        let entries = self.model.iter().flat_map(WritePool::entries);
        let model: Vec<_> =
            entries.map(|it| (it.warp, number_of(it.warp, it.register), it.lanes.0)).collect();
        let seen: Vec<_> = PoolSlot::in_order(&slots).collect();
        assert_eq!(seen, model, "{name}: state before clock {}", first + inputs.len());
        let used = slots.iter().rposition(|slot| slot.occupied).map_or(0, |last| last + 1);
        assert!(used <= usize::from(self.entries).min(self.elaboration.entries), "{name}");
    }
}

/// The next request at the input, if any.
fn request<const LANES: usize>(
    random: &mut Random,
    traffic: Traffic,
    last: &mut Inputs,
) -> Option<Inputs> {
    if traffic.stalls > 0 && random.chance(traffic.stalls) {
        return None;
    }
    let moves = traffic.moves;
    let op = match random.below(1_000) {
        at if at < moves => DEMOTE,
        at if at < moves + moves / 2 => DROP,
        at if at < 520 => READ,
        at if at < 980 => WRITE,
        _ => NOTHING,
    };
    // Sometimes the same register again.
    if !random.chance(20) {
        last.warp = random.below(traffic.warps) as u8;
        let register = random.below(traffic.numbers) as u16;
        // The highest number, so that all bits matter.
        let register = if register == 1 { REGISTERS - 1 } else { register % REGISTERS };
        last.number = number_of(last.warp, RegisterId(register));
    }
    let full = u32::MAX >> (32 - LANES);
    let lanes = match random.below(4) {
        0 => 1 << random.below(LANES as u32),
        1 => random.next() & full,
        _ => full,
    };
    Some(Inputs { valid: true, op, lanes: lanes.max(1), ..*last })
}

/// Whether the hardware's ports have the expected values.
fn fits<const LANES: usize>(outputs: &Outputs, data: &[u32], expected: &Expected<LANES>) -> bool {
    if (outputs.accepted, outputs.valid) != (expected.accepted, expected.decision.is_some()) {
        return false;
    }
    let Some(Decision { outputs: decision, known, words }) = &expected.decision else {
        return true;
    };
    let is_write = decision.write_bank;
    let decided = (outputs.op, outputs.outcome, outputs.read_bank, outputs.write_bank)
        == (decision.op, decision.outcome, decision.read_bank, decision.write_bank)
        && outputs.read_number == decision.read_number
        && (!is_write || outputs.write_number == decision.write_number);
    if !expected.goes {
        return decided;
    }
    // Lanes are those of a read, or of the entry that a bank takes.
    let gives = decision.op == READ || is_write;
    let same_lanes = !gives || outputs.lanes == decision.lanes;
    let wrong = (0..LANES).any(|lane| known >> lane & 1 != 0 && data[lane] != words[lane]);
    decided && same_lanes && outputs.count == decision.count && !wrong
}
