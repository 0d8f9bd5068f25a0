//! Runs the model and the hardware over the same stream and compares every clock.

use std::fmt::Write as _;

use strata_core::prototype::cache_block::{
    CacheBlock, CacheOutcome, CacheSettings, Response, Tick, Victim,
};
use strata_core::prototype::command::{Command, Operation};
use strata_core::register_file_cache::{Entry, Replacement};
use strata_core::units::{LaneMask, RegisterId};
use strata_lockstep::register_file_cache::{Elaboration, Inputs, MAX_WAYS, Outputs, Rtl, Settings};

use super::stream::{Expected, Stream, Traffic, Values};

/// Clocks that the hardware runs at a time.
const BATCH: usize = 1_024;

/// The ways of one warp.
type State = [Option<Entry>; MAX_WAYS];

/// The model's results for one clock.
struct Said {
    request: Option<Command>,
    tick: Tick,
    /// Data of the response that stood.
    data: Expected,
    /// State of `Inputs::debug_warp` afterwards.
    state: State,
}

/// The model and the hardware.
pub(crate) struct Bench<const WARPS: usize, const CAPACITY: usize> {
    elaboration: Elaboration,
    config: CacheSettings,
    model: CacheBlock<WARPS, CAPACITY>,
    rtl: Rtl,
}

impl<const WARPS: usize, const CAPACITY: usize> Bench<WARPS, CAPACITY> {
    pub(crate) fn new(elaboration: Elaboration, config: CacheSettings) -> Self {
        assert_eq!((elaboration.warps, elaboration.entries), (WARPS, CAPACITY));
        let rtl = Rtl::new(elaboration, port_settings(config));
        let model = CacheBlock::new(config).unwrap();
        Self { elaboration, config, model, rtl }
    }

    pub(crate) fn reset(&mut self) {
        self.model = CacheBlock::new(self.config).unwrap();
        self.rtl.reset(port_settings(self.config));
    }

    /// Runs a stream and compares.
    ///
    /// # Panics
    ///
    /// At the first difference, with the clock, the request and both states.
    pub(crate) fn run(&mut self, seed: u64, traffic: Traffic, clocks: usize) {
        let lanes = self.elaboration.lanes;
        let mut stream = Stream::new(seed, traffic, self.config.entries, lanes);
        let mut values = Values::new(WARPS, self.config.liveness);
        let mut standing: Option<(Command, [u32; 32])> = None;
        let mut data = [None; 32];
        let mut first = 0;
        while first < clocks {
            let length = BATCH.min(clocks - first);
            let mut inputs = Vec::with_capacity(length);
            let mut words = Vec::with_capacity(length * lanes);
            let mut said = Vec::with_capacity(length);
            for _ in 0..length {
                if standing.is_none() {
                    standing = stream.request().map(|request| {
                        let mut words = core::array::from_fn(|_| stream.random.next());
                        values.data(&request, self.held(&request), &mut words);
                        (request, words)
                    });
                }
                let (mut port, port_words) = port(standing.as_ref());
                port.ready = stream.ready();
                port.debug_warp = standing.map_or_else(
                    || stream.random.below(WARPS as u32) as u8,
                    |(request, _)| request.warp,
                );
                words.extend_from_slice(&port_words[..lanes]);
                inputs.push(port);
                said.push(self.tick(&mut standing, port, &mut values, &mut data));
            }
            self.compare(&format!("seed {seed}"), first, &inputs, &words, &said);
            first += length;
        }
    }

    fn held(&self, request: &Command) -> LaneMask {
        self.model.cache(request.warp).unwrap().lanes_of(request.register)
    }

    fn tick(
        &mut self,
        standing: &mut Option<(Command, [u32; 32])>,
        port: Inputs,
        values: &mut Values,
        data: &mut Expected,
    ) -> Said {
        let request = standing.map(|(request, _)| request);
        let stood = *data;
        let steps = self.model.answer().is_none() || port.ready;
        let tick = self.model.tick(request.as_ref(), port.ready);
        if steps && let (Some((request, words)), Some(answer)) = (*standing, self.model.answer()) {
            *data = values.step(&request, answer, &words);
        }
        if tick.accepted {
            *standing = None;
        }
        let cache = self.model.cache(port.debug_warp).unwrap();
        let mut state = [None; MAX_WAYS];
        cache.ways().for_each(|(way, entry)| state[way] = Some(entry));
        Said { request, tick, data: stood, state }
    }

    fn compare(
        &mut self,
        stream: &str,
        first: usize,
        inputs: &[Inputs],
        words: &[u32],
        said: &[Said],
    ) {
        let lanes = self.elaboration.lanes;
        let mut outputs = vec![Outputs::default(); inputs.len()];
        let mut data = vec![0; words.len()];
        self.rtl.run(inputs, words, &mut outputs, &mut data);
        for (index, (said, outputs)) in said.iter().zip(&outputs).enumerate() {
            let data = &data[index * lanes..][..lanes];
            let fits = |(value, word): (&Option<u32>, &u32)| value.is_none_or(|it| it == *word);
            let same_data = !outputs.valid || said.data.iter().zip(data).all(fits);
            let (tick, state) = (ticked(outputs), state_of(outputs));
            if tick == said.tick && state == said.state && same_data {
                continue;
            }
            panic!(
                "{stream}, {:?}: clock {} with {:?}\nmodel: {:?}\n  data {:x?}\n{}RTL: {tick:?}\n  \
                 data {data:x?}\n{}",
                self.config,
                first + index,
                said.request,
                said.tick,
                &said.data[..lanes],
                listed(&said.state),
                listed(&state),
            );
        }
    }
}

/// Settings as the hardware has them.
fn port_settings(CacheSettings { entries, replacement, liveness }: CacheSettings) -> Settings {
    Settings { entries, lru: replacement == Replacement::Lru, liveness }
}

/// A request as the hardware codes it.
fn port(standing: Option<&(Command, [u32; 32])>) -> (Inputs, [u32; 32]) {
    let Some((request, words)) = standing else { return (Inputs::default(), [0; 32]) };
    let (last_use, more) = match request.operation {
        Operation::Read { last_use, more } => (last_use, more),
        _ => (false, false),
    };
    let inputs = Inputs {
        valid: true,
        op: request.operation.code() as u8,
        warp: request.warp,
        last_use,
        more,
        register: u32::from(request.register.0),
        lanes: request.lanes.0,
        ..Inputs::default()
    };
    (inputs, *words)
}

/// The hardware's clock in the model's terms.
fn ticked(outputs: &Outputs) -> Tick {
    let outcome = CacheOutcome::of(outputs.outcome.into());
    let victim = Victim {
        register: RegisterId(outputs.victim_register as u16),
        lanes: LaneMask(outputs.victim_lanes),
        writeback: outputs.writeback,
    };
    let response = Response {
        outcome: outcome.expect("a code of three bits"),
        last: outputs.last,
        way: outputs.way,
        served: LaneMask(outputs.served),
        missing: LaneMask(outputs.missing),
        dropped: outputs.dropped as u16,
        victim: outputs.victim.then_some(victim),
    };
    Tick { accepted: outputs.accepted, response: outputs.valid.then_some(response) }
}

fn state_of(outputs: &Outputs) -> State {
    core::array::from_fn(|way| {
        (outputs.occupied >> way & 1 != 0).then(|| Entry {
            register: RegisterId(outputs.registers[way]),
            lanes: LaneMask(outputs.lane_masks[way]),
            dirty: outputs.dirty >> way & 1 != 0,
            age: outputs.ages[way],
        })
    })
}

fn listed(state: &State) -> String {
    let mut text = String::new();
    for (way, entry) in state.iter().enumerate() {
        if let Some(Entry { register, lanes, dirty, age }) = entry {
            let dirty = if *dirty { "dirty" } else { "clean" };
            let _ = writeln!(
                text,
                "  way {way}: r{}, lanes {:x}, {dirty}, age {age}",
                register.0, lanes.0
            );
        }
    }
    text
}
