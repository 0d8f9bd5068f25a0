//! Runs the model and the hardware over the same batches and compares them.

use std::fmt::Write as _;

use strata_core::prototype::command::Command;
use strata_core::prototype::counters::{COUNTER_NAMES, COUNTERS};
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::sequencer::Prototype;
use strata_core::prototype::settings::Settings;
use strata_core::register_file_cache::RegisterFileCache;
use strata_core::units::LaneMask;
use strata_core::write_pool::WritePool;
use strata_lockstep::access_sequencer::{
    Elaboration, MAX_SLOTS, MAX_WARPS, PoolSlot, PortCache, PortCommand, PortOutcome, PortSettings,
    Rtl, State,
};

use super::shadow::Shadow;

/// The model and the hardware.
pub(crate) struct Bench<const WARPS: usize, const CAPACITY: usize, const POOL: usize> {
    model: Prototype<WARPS, CAPACITY, POOL>,
    rtl: Rtl,
    shadow: Shadow,
    /// All batches so far, to repeat them at a difference.
    history: Vec<Vec<Command>>,
    buffers: Buffers,
}

/// Buffers of a batch, kept from batch to batch.
/// Settings as the hardware has them.
pub(crate) fn port_settings(settings: Settings) -> PortSettings {
    PortSettings::new(settings).expect("settings that the bus can carry")
}

#[derive(Default)]
struct Buffers {
    commands: Vec<PortCommand>,
    data_in: Vec<u32>,
    data_out: Vec<u32>,
    expected: Vec<u32>,
    defined: Vec<LaneMask>,
    said: Vec<(Outcome, u64)>,
    outcomes: Vec<PortOutcome>,
}

impl<const WARPS: usize, const CAPACITY: usize, const POOL: usize> Bench<WARPS, CAPACITY, POOL> {
    pub(crate) fn new(elaboration: Elaboration, settings: Settings) -> Self {
        Self::over(Rtl::new(elaboration, port_settings(settings)), settings)
    }

    /// Uses existing hardware, which is reset.
    pub(crate) fn over(mut rtl: Rtl, settings: Settings) -> Self {
        let Elaboration { warps, cache, pool, lanes, .. } = rtl.elaboration();
        assert_eq!((warps, cache, pool), (WARPS, CAPACITY, POOL));
        rtl.reset(port_settings(settings));
        Self {
            model: Prototype::new(settings).unwrap(),
            rtl,
            shadow: Shadow::new(settings, warps, lanes),
            history: Vec::new(),
            buffers: Buffers::default(),
        }
    }

    /// The model.
    pub(crate) fn model(&self) -> &Prototype<WARPS, CAPACITY, POOL> {
        &self.model
    }

    /// The hardware.
    pub(crate) fn into_rtl(self) -> Rtl {
        self.rtl
    }

    /// Runs a batch and compares outcomes, their clocks, what was read, and the state afterwards;
    /// or says what differs.
    pub(crate) fn run(&mut self, commands: &[Command]) -> Result<(), String> {
        self.history.push(commands.to_vec());
        let lanes = self.rtl.elaboration().lanes;
        let count = commands.len();
        let buffers = &mut self.buffers;
        buffers.commands.clear();
        buffers.commands.extend(commands.iter().map(|&it| PortCommand::new(it).unwrap()));
        buffers.data_in.resize(count * lanes, 0);
        buffers.data_out.resize(count * lanes, 0);
        buffers.expected.resize(count * lanes, 0);
        buffers.said.resize(count, (Outcome::default(), 0));
        buffers.outcomes.resize(count, PortOutcome::default());
        buffers.defined.clear();
        let data_in = buffers.data_in.chunks_exact_mut(lanes);
        let expected = buffers.expected.chunks_exact_mut(lanes);
        for (command, (words, expected)) in commands.iter().zip(data_in.zip(expected)) {
            buffers.defined.push(self.shadow.feed(command, words, expected));
        }
        self.model.run_timed(commands, &mut buffers.said);
        let got = self.rtl.run(
            &buffers.commands,
            &buffers.data_in,
            &mut buffers.outcomes,
            &mut buffers.data_out,
        );
        if let Some(index) = self.first_difference(got) {
            return Err(self.describe(index, got));
        }
        let State { caches, slots } = self.rtl.state();
        if self.same_caches(&caches) && self.same_pool(&slots) {
            return Ok(());
        }
        Err(format!("after {} batches the states differ\n{}", self.history.len(), self.states()))
    }

    fn first_difference(&self, got: usize) -> Option<usize> {
        let Buffers { said, outcomes, defined, expected, data_out, .. } = &self.buffers;
        let lanes = self.rtl.elaboration().lanes;
        let same = |index: usize| {
            let (outcome, clock) = said[index];
            let at = index * lanes..(index + 1) * lanes;
            let (expected, read) = (&expected[at.clone()], &data_out[at]);
            let mut words = expected.iter().zip(read).enumerate();
            let mask = defined[index].0;
            outcome.pack() == outcomes[index].word
                && clock == u64::from(outcomes[index].clock)
                && (mask == 0
                    || words.all(|(lane, (said, read))| mask >> lane & 1 == 0 || said == read))
        };
        (0..said.len()).find(|&index| index >= got || !same(index))
    }

    fn describe(&mut self, index: usize, got: usize) -> String {
        let lanes = self.rtl.elaboration().lanes;
        let Buffers { said, outcomes, defined, expected, data_out, .. } = &self.buffers;
        let commands = self.history.last().unwrap();
        let at = index * lanes..(index + 1) * lanes;
        let mut text = format!(
            "batch {}, command {index} of {}, clock {}: {:?}\nmodel: {:?}\n  data {:x?}, defined \
             {:x}\n",
            self.history.len(),
            said.len(),
            said[index].1,
            commands[index],
            said[index].0,
            &expected[at.clone()],
            defined[index].0,
        );
        if index < got {
            let PortOutcome { word, clock } = outcomes[index];
            let outcome = Outcome::unpack(word);
            let _ = writeln!(text, "RTL: clock {clock}, {outcome:?}\n  data {:x?}", &data_out[at]);
        } else {
            text += "RTL: no outcome\n";
        }
        text + "before it:\n" + &self.replayed(index)
    }

    /// Both states before command `index` of the last batch.
    fn replayed(&mut self, index: usize) -> String {
        let settings = *self.model.settings();
        let Elaboration { warps, lanes, .. } = self.rtl.elaboration();
        let mut history = std::mem::take(&mut self.history);
        history.last_mut().unwrap().truncate(index);
        self.model = Prototype::new(settings).unwrap();
        self.rtl.reset(port_settings(settings));
        self.shadow = Shadow::new(settings, warps, lanes);
        for batch in &history {
            let ports: Vec<_> = batch.iter().map(|&it| PortCommand::new(it).unwrap()).collect();
            let count = batch.len();
            let mut outcomes = vec![PortOutcome::default(); count];
            let mut said = vec![Outcome::default(); count];
            let data = vec![0; count * lanes];
            self.rtl.run(&ports, &data, &mut outcomes, &mut data.clone());
            self.model.run(batch, &mut said);
        }
        self.states()
    }

    /// Compares all counters.
    pub(crate) fn compare_counters(&mut self) -> Result<(), String> {
        let (model, rtl) = (*self.model.counters(), self.rtl.counters::<COUNTERS>());
        for ((name, model), rtl) in COUNTER_NAMES.iter().zip(model.0).zip(rtl) {
            if model != rtl {
                let batches = self.history.len();
                return Err(format!("{name} after {batches} batches: model {model}, RTL {rtl}"));
            }
        }
        Ok(())
    }

    fn same_caches(&self, caches: &[PortCache; MAX_WARPS]) -> bool {
        let Some(block) = self.model.cache() else {
            return caches.iter().all(|cache| cache.occupied == 0);
        };
        caches.iter().enumerate().take(WARPS).all(|(warp, port)| {
            let cache = block.cache(warp as u8).unwrap();
            let mut ways = cache.ways();
            cache.occupied() == port.occupied
                && ways.all(|(way, entry)| {
                    entry.register.0 == port.registers[way]
                        && entry.lanes.0 == port.lanes[way]
                        && entry.dirty == (port.dirty >> way & 1 != 0)
                        && entry.age == port.ages[way]
                })
        })
    }

    fn same_pool(&self, slots: &[PoolSlot; MAX_SLOTS]) -> bool {
        let registers = u16::from(self.model.settings().registers_per_warp);
        let model = self.model.main_register_file().pool();
        let model = model.into_iter().flat_map(WritePool::entries).map(|entry| {
            let number = u16::from(entry.warp) * registers + entry.register.0;
            (entry.warp, number, entry.lanes.0)
        });
        PoolSlot::in_order(slots).eq(model)
    }

    /// Both states as they are now.
    fn states(&mut self) -> String {
        let State { caches, slots } = self.rtl.state();
        let mut text = String::new();
        for (warp, port) in caches.iter().enumerate().take(WARPS) {
            let cache = self.model.cache().and_then(|block| block.cache(warp as u8));
            for (way, entry) in cache.into_iter().flat_map(RegisterFileCache::ways) {
                let _ = writeln!(text, "  model: warp {warp}, way {way}: {entry:?}");
            }
            for way in (0..CAPACITY).filter(|way| port.occupied >> way & 1 != 0) {
                let _ = writeln!(
                    text,
                    "  RTL:   warp {warp}, way {way}: r{}, lanes {:x}, dirty {}, age {}",
                    port.registers[way],
                    port.lanes[way],
                    port.dirty >> way & 1,
                    port.ages[way],
                );
            }
        }
        let pool = self.model.main_register_file().pool();
        let entries: Vec<_> = pool.into_iter().flat_map(WritePool::entries).collect();
        let _ = writeln!(text, "  model: pool {entries:?}");
        let _ =
            writeln!(text, "  RTL:   pool {:?}", PoolSlot::in_order(&slots).collect::<Vec<_>>());
        text
    }
}
