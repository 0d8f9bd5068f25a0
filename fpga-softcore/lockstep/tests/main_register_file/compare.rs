//! Runs the model and the hardware over the same stream and compares every clock.

use std::fmt::Write as _;

use strata_core::prototype::main_register_file::{
    MainAccess, MainRegisterFile, MainRequest, MainResponse,
};
use strata_core::prototype::outcome::MainOutcome;
use strata_core::prototype::settings::Settings;
use strata_core::units::RegisterId;
use strata_core::write_pool::{PoolEntry, WritePool};
use strata_lockstep::main_register_file::{
    BANKS, Elaboration, Inputs, Outputs, PoolSlot, Rtl, Settings as Configuration, State,
};

use super::stream::{Stream, Traffic, Values};

/// Clocks from issue to the response.
const AFTER_ISSUE: usize = 2;

/// A request on its way through the pipeline.
#[derive(Clone, Copy, Debug)]
struct Item<const LANES: usize> {
    request: MainRequest,
    tag: u8,
    words: [u32; LANES],
}

/// The expectation of a clock: the ports, and the words of some lanes.
#[derive(Clone, Copy, Debug)]
struct Answer<const LANES: usize> {
    outputs: Outputs,
    known: u32,
    words: [u32; LANES],
}

/// How often each tested situation occurred.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coverage {
    /// By access and outcome.
    pub(crate) outcomes: [[u64; 7]; 5],
    /// Reads and writes that waited.
    pub(crate) waited: [u64; 2],
    /// Reads beside a write.
    pub(crate) beside_write: u64,
    /// Reads and writes of the register that the decision just before wrote, in its lookup.
    pub(crate) overtaken: [u64; 2],
    /// Of the register whose entry the decision just before took away.
    pub(crate) replaced_before: u64,
    /// Of a register whose warp was given up just before.
    pub(crate) dropped_before: u64,
    /// Requests that were not taken at once.
    pub(crate) held_up: u64,
    /// Requests that were answered.
    pub(crate) answered: u64,
}

/// The decision of the clock before.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    request: Option<MainRequest>,
    response: MainResponse,
}

/// The model and the hardware.
pub(crate) struct Bench<const POOL: usize, const LANES: usize> {
    configuration: Configuration,
    model: MainRegisterFile<POOL>,
    /// The model's pool after what was decided, which is not yet issued.
    ahead: Option<WritePool<POOL>>,
    rtl: Rtl,
    values: Values<LANES>,
    now: u64,
    /// The request at the input.
    standing: Option<Item<LANES>>,
    head: Option<Item<LANES>>,
    deciding: Option<Item<LANES>>,
    issuing: Option<(Item<LANES>, u8)>,
    behind: Option<Item<LANES>>,
    answers: [Option<Answer<LANES>>; AFTER_ISSUE],
    before: Before,
    pub(crate) coverage: Coverage,
}

fn model_of<const POOL: usize>(configuration: Configuration) -> MainRegisterFile<POOL> {
    let Configuration { pool_entries, split, write_cycles, registers } = configuration;
    let settings = Settings {
        cache: None,
        write_pool_entries: pool_entries,
        split_bank_write: split,
        write_cycles,
        registers_per_warp: registers,
    };
    MainRegisterFile::new(&settings).unwrap()
}

impl<const POOL: usize, const LANES: usize> Bench<POOL, LANES> {
    pub(crate) fn new(elaboration: Elaboration, configuration: Configuration) -> Self {
        assert_eq!((elaboration.entries, elaboration.lanes), (POOL, LANES));
        Self {
            configuration,
            model: model_of(configuration),
            ahead: model_of(configuration).pool().cloned(),
            rtl: Rtl::new(elaboration, configuration),
            values: Values::new(configuration.registers),
            now: 0,
            standing: None,
            head: None,
            deciding: None,
            issuing: None,
            behind: None,
            answers: [None; AFTER_ISSUE],
            before: Before::default(),
            coverage: Coverage::default(),
        }
    }

    /// Clears both, or resets them, with a configuration. What the banks hold stays.
    pub(crate) fn restart(&mut self, configuration: Configuration, reset: bool) {
        self.configuration = configuration;
        if reset {
            self.rtl.reset(configuration);
        } else {
            self.rtl.clear(configuration);
        }
        self.model = model_of(configuration);
        self.ahead = self.model.pool().cloned();
        self.values = Values::new(configuration.registers);
    }

    /// Runs a stream and compares each clock, and the whole state every `batch` clocks; then runs
    /// until nothing is under way.
    ///
    /// # Panics
    ///
    /// At the first difference, with the clock, the request and both states.
    pub(crate) fn run(&mut self, seed: u64, traffic: Traffic, clocks: usize, batch: usize) {
        let mut stream = Stream::new(seed, traffic, self.configuration.registers, LANES);
        let name = format!("seed {seed}, {traffic:?}, {:?}", self.configuration);
        for first in (0..clocks).step_by(batch) {
            let length = batch.min(clocks - first);
            self.batch(&name, length, &mut |tag| {
                let request = stream.request()?;
                let words = core::array::from_fn(|_| stream.random.next());
                Some(Item { request, tag, words })
            });
        }
        self.batch(&name, 80, &mut |_| None);
        assert!(self.standing.is_none());
        assert!(self.head.is_none() && self.issuing.is_none() && self.answers[0].is_none());
    }

    fn batch(
        &mut self,
        name: &str,
        length: usize,
        stream: &mut dyn FnMut(u8) -> Option<Item<LANES>>,
    ) {
        let first = self.now;
        let mut inputs = Vec::with_capacity(length);
        let mut words = Vec::with_capacity(length * LANES);
        let mut expected = Vec::with_capacity(length);
        // A request that was not taken stands on.
        let mut standing = self.standing.take();
        for _ in 0..length {
            if standing.is_none() {
                standing = stream((self.now % 251) as u8);
            }
            let (port, data) = port(standing.as_ref());
            inputs.push(port);
            words.extend_from_slice(&data);
            expected.push(self.clock(&mut standing));
        }
        self.standing = standing;
        self.compare(name, first, &inputs, &words, &expected);
        self.compare_state(name);
    }

    /// One clock of the hardware's pipeline, as `docs/hw/main_register_file.md` describes it.
    fn clock(&mut self, standing: &mut Option<Item<LANES>>) -> Answer<LANES> {
        let [due, ..] = self.answers;
        let mut answer =
            due.unwrap_or(Answer { outputs: Outputs::default(), known: 0, words: [0; LANES] });
        self.answers.rotate_left(1);
        self.answers[AFTER_ISSUE - 1] = None;
        let free = !self.issue();
        let decides = self.behind.is_none();
        let takes = decides || self.deciding.is_none() || self.head.is_none();
        let accepted = standing.is_some() && takes;
        let decided = if decides { self.deciding.take() } else { None };
        if let Some(item) = &decided {
            self.decide(item.request);
        }
        if free {
            self.issuing = self.behind.take().or(decided).map(|item| (item, 0));
        } else if decides {
            self.behind = decided;
        }
        self.coverage.held_up += u64::from(standing.is_some() && !accepted);
        answer.outputs.accepted = accepted;
        if self.deciding.is_none() {
            self.deciding = self.head.take();
        }
        if accepted {
            self.head = standing.take();
        }
        self.now += 1;
        answer
    }

    /// Follows the pool, which does not wait for a bank.
    fn decide(&mut self, request: MainRequest) {
        let MainRequest { access, warp, register, lanes } = request;
        let Some(pool) = &mut self.ahead else { return };
        match access {
            MainAccess::Read => _ = pool.read(warp, register, lanes),
            MainAccess::Write => _ = pool.write(warp, register, lanes, |_| true),
            MainAccess::Demote => pool.demote(warp),
            MainAccess::Drop => _ = pool.drop_warp(warp),
            MainAccess::Nothing => {}
        }
    }

    /// Whether the request that is to be issued has to wait.
    fn issue(&mut self) -> bool {
        let Some((item, waited)) = self.issuing else {
            self.before.request = None;
            return false;
        };
        let request = item.request;
        if request.access == MainAccess::Drop
            && let Some(pool) = self.model.pool()
        {
            let own = pool.entries().filter(|entry| entry.warp == request.warp);
            own.for_each(|entry| self.values.give_up(entry));
        }
        // The model gives the clock in which it can start, with its result, which is kept until
        // that clock.
        let mut then = self.model.clone();
        let (clock, response) = then.serve(request, self.now);
        if clock > self.now {
            self.issuing = Some((item, waited + 1));
            self.before.request = None;
            return true;
        }
        self.model = then;
        let mut known = 0;
        let mut words = [0; LANES];
        match request.access {
            MainAccess::Read => (known, words) = self.values.read(request),
            MainAccess::Write => {
                if let Some(entry) = response.replaced {
                    self.values.write_back(entry);
                }
                self.values.write(request, &item.words);
                if response.outcome == MainOutcome::Bank {
                    let MainRequest { warp, register, lanes, .. } = request;
                    self.values.write_back(PoolEntry { warp, register, lanes });
                }
            }
            MainAccess::Demote | MainAccess::Drop | MainAccess::Nothing => {}
        }
        self.cover(request, &response, waited);
        let outputs = Outputs {
            accepted: false,
            valid: true,
            op: request.access.code() as u8,
            outcome: response.outcome as u8,
            count: response.count,
            beside_write: response.beside_write,
            waited,
            tag: item.tag,
        };
        self.answers[AFTER_ISSUE - 1] = Some(Answer { outputs, known, words });
        false
    }

    fn cover(&mut self, request: MainRequest, response: &MainResponse, waited: u8) {
        let coverage = &mut self.coverage;
        let access = request.access as usize;
        coverage.outcomes[access][response.outcome as usize] += 1;
        coverage.beside_write += u64::from(response.beside_write);
        coverage.answered += 1;
        if let Some(waits) = coverage.waited.get_mut(access) {
            *waits += u64::from(waited > 0);
        }
        let is_of = |warp, register| (request.warp, request.register) == (warp, register);
        if access < 2
            && let Some(before) = &self.before.request
        {
            let same = is_of(before.warp, before.register);
            coverage.overtaken[access] += u64::from(same && before.access == MainAccess::Write);
            let replaced = self.before.response.replaced;
            coverage.replaced_before +=
                u64::from(replaced.is_some_and(|entry| is_of(entry.warp, entry.register)));
            coverage.dropped_before += u64::from(
                before.access == MainAccess::Drop
                    && before.warp == request.warp
                    && self.before.response.count > 0,
            );
        }
        self.before = Before { request: Some(request), response: *response };
    }

    fn compare(
        &mut self,
        name: &str,
        first: u64,
        inputs: &[Inputs],
        words: &[u32],
        expected: &[Answer<LANES>],
    ) {
        let mut outputs = vec![Outputs::default(); inputs.len()];
        let mut data = vec![0; words.len()];
        self.rtl.run(inputs, words, &mut outputs, &mut data);
        for (index, (outputs, expected)) in outputs.iter().zip(expected).enumerate() {
            let data = &data[index * LANES..][..LANES];
            let differs = data.iter().zip(&expected.words).enumerate();
            let wrong = differs
                .fold(0, |wrong, (lane, (it, word))| wrong | u32::from(it != word) << lane)
                & expected.known;
            // Only demotions and drops have a count.
            let access = MainAccess::of(outputs.op.into());
            let counts = matches!(access, Some(MainAccess::Demote | MainAccess::Drop));
            let count = if counts { outputs.count } else { expected.outputs.count };
            let same = if expected.outputs.valid {
                Outputs { count, ..*outputs } == expected.outputs
            } else {
                (outputs.accepted, outputs.valid) == (expected.outputs.accepted, false)
            };
            assert!(
                same && wrong == 0,
                "{name}: clock {}, lanes {wrong:x} are wrong\nmodel: {expected:x?}\nRTL: \
                 {outputs:x?}, data {data:x?}\nrequest now: {:?}\nafter the batch:\n{}",
                first + index as u64,
                inputs[index],
                self.states(),
            );
        }
    }

    fn compare_state(&mut self, name: &str) {
        let State { slots, banks } = self.rtl.state();
        let registers = u16::from(self.configuration.registers);
        let number =
            |warp, RegisterId(register): RegisterId| u16::from(warp) * registers + register;
        let entries = self.ahead.iter().flat_map(WritePool::entries);
        let model = entries.map(|it| (it.warp, number(it.warp, it.register), it.lanes.0));
        let same_pool = model.eq(PoolSlot::in_order(&slots));
        let same_banks = (0..BANKS).all(|bank| {
            let busy = self.model.banks().write_busy(bank, self.now);
            let written = self.model.banks().written_subarray(bank);
            u64::from(banks[bank].write_busy) == busy
                && (busy == 0 || banks[bank].written == written)
        });
        if !(same_pool && same_banks) {
            let states = self.states();
            panic!("{name}: state before clock {}\n{states}", self.now);
        }
    }

    /// Both states, as text.
    fn states(&mut self) -> String {
        let State { slots, banks } = self.rtl.state();
        let mut text = String::from("model:");
        for entry in self.ahead.iter().flat_map(WritePool::entries) {
            let PoolEntry { warp, register, lanes } = entry;
            let _ = write!(text, " w{warp} r{} {:x}", register.0, lanes.0);
        }
        text.push_str("\nRTL:  ");
        for (warp, number, lanes) in PoolSlot::in_order(&slots) {
            let register =
                i32::from(number) - i32::from(warp) * i32::from(self.configuration.registers);
            let _ = write!(text, " w{warp} r{register} {lanes:x}");
        }
        text.push_str("\nbanks, cycles and subarray in model and RTL:");
        for (bank, shown) in banks.iter().enumerate() {
            let model = self.model.banks();
            let (busy, written) = (model.write_busy(bank, self.now), model.written_subarray(bank));
            let _ = write!(text, " {busy}.{written}/{}.{}", shown.write_busy, shown.written);
        }
        text
    }
}

/// A request as the hardware codes it.
fn port<const LANES: usize>(standing: Option<&Item<LANES>>) -> (Inputs, [u32; LANES]) {
    let Some(Item { request, tag, words }) = standing else {
        return (Inputs::default(), [0; LANES]);
    };
    let inputs = Inputs {
        valid: true,
        op: request.access.code() as u8,
        warp: request.warp,
        tag: *tag,
        register: u32::from(request.register.0),
        lanes: request.lanes.0,
    };
    (inputs, *words)
}
