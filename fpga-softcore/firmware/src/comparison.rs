//! Comparison: each batch on the model and on the prototype, and the first thing in which they
//! differ.

use core::fmt::Write as _;

use strata_core::digest::Digest;
use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::counters::COUNTERS;
use strata_core::prototype::regmap::{OpCode, field};
use strata_core::prototype::sequencer;
use strata_core::prototype::settings::Settings;
use strata_core::units::{LaneMask, RegisterId};
use strata_link::message::{
    BATCH, Broken, Column, Counters, Data, Difference, Diverged, LANES, Parameters, Refusal, Text,
};

use crate::prototype::Prototype;
use crate::shadow::{ALL, Shadow, Step};

/// Warps of the model.
pub(crate) const WARPS: usize = 8;
/// Entries that the model's caches have room for.
pub(crate) const CACHE_ENTRIES: usize = 13;
/// Entries that the model's write pool has room for.
pub(crate) const POOL_ENTRIES: usize = 60;

/// The model.
pub(crate) type Model = sequencer::Prototype<WARPS, CACHE_ENTRIES, POOL_ENTRIES>;

const _: () = assert!(COUNTERS <= strata_link::message::MOST_COUNTERS);

/// A value that no word has in its low bits.
const NO_OPERAND: u32 = u32::MAX;
/// The bits of a word that mark an operand and name its warp.
const OPERAND: u32 = field::COMMAND_OPERATION.mask() | field::COMMAND_WARP.mask();

/// The fill of an unused element of a batch.
pub(crate) const NO_COMMAND: Command = Command {
    warp: 0,
    operation: Operation::Demote,
    register: RegisterId(0),
    lanes: LaneMask::EMPTY,
};

/// Whether a packed command is a read.
#[inline]
pub(crate) const fn is_read(word: u32) -> bool {
    operation(word) == OpCode::Read.code()
}

/// A packed command's operation, as a number.
#[inline]
const fn operation(word: u32) -> u32 {
    field::COMMAND_OPERATION.get(word)
}

/// Why a batch did not run, or ran with a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The batch was not run.
    Refused(Refusal),
    /// The batch ran, and the two sides differed.
    Diverged(Diverged),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// A batch as it is run.
#[derive(Debug)]
pub(crate) struct Batch {
    /// Its commands, packed.
    pub(crate) words: [u32; BATCH],
    /// The model's outcomes, packed.
    pub(crate) outcomes: [u32; BATCH],
    /// The values that its reads should find, and the lanes.
    expected: [Data; BATCH],
    known: [u8; BATCH],
}

/// The model, and the expected state of the prototype.
#[derive(Debug)]
pub(crate) struct Comparison {
    pub(crate) model: Option<Model>,
    shadow: Shadow,
    pub(crate) batch: Batch,
    most: u16,
    /// The number of the next command.
    next: u64,
    /// Operation and warp of the next operand of an instruction, in the low bits of its word;
    /// [`NO_OPERAND`] if none is due.
    due: u32,
    /// Digests of the model's outcomes, and of the prototype's.
    digests: [Digest; 2],
    has_diverged: bool,
}

impl Comparison {
    /// A comparison that is not configured.
    pub(crate) const fn new() -> Self {
        Self {
            model: None,
            shadow: Shadow::new(),
            batch: Batch {
                words: [0; BATCH],
                outcomes: [0; BATCH],
                expected: [[0; LANES]; BATCH],
                known: [0; BATCH],
            },
            most: 0,
            next: 0,
            due: NO_OPERAND,
            digests: [Digest::EMPTY; 2],
            has_diverged: false,
        }
    }

    /// Is not configured any more.
    pub(crate) fn clear(&mut self) {
        self.model = None;
    }

    /// Starts over with packed settings, if both sides can have them.
    #[inline(never)]
    pub(crate) fn configure(
        &mut self,
        prototype: &mut impl Prototype,
        word: u32,
        most: u16,
    ) -> Result<(), Refusal> {
        let parameters = prototype.parameters().map_err(Refusal::Broken)?;
        let room = parameters.batch.min(BATCH as u16);
        if most == 0 || most > room {
            return Err(Refusal::Batch { most: room });
        }
        let settings = check(word, &parameters)?;
        // Before anything is changed.
        build(settings, None)?;
        self.model = None;
        prototype.configure(settings).map_err(Refusal::Broken)?;
        let has_liveness = settings.cache.is_some_and(|cache| cache.liveness);
        self.shadow.clear(settings.registers_per_warp, has_liveness);
        build(settings, Some(&mut self.model))?;
        self.most = most;
        self.next = 0;
        self.due = NO_OPERAND;
        self.digests = [Digest::EMPTY; 2];
        self.has_diverged = false;
        Ok(())
    }

    /// The number of the next command.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Counters and digest of one side.
    #[inline(never)]
    pub(crate) fn counters(
        &self,
        prototype: &mut impl Prototype,
        column: Column,
    ) -> Result<Counters, Refusal> {
        let model = self.model.as_ref().ok_or(Refusal::NotConfigured)?;
        let values = match column {
            Column::Model => model.counters().0,
            Column::Prototype => core::array::from_fn(|place| prototype.counter(place)),
        };
        Ok(Counters {
            column,
            values: values.into_iter().collect(),
            digest: self.digests[column as usize].value(),
        })
    }

    /// Runs a batch of packed commands on both sides. Returns its clocks.
    pub(crate) fn run(
        &mut self,
        prototype: &mut impl Prototype,
        first: u64,
        words: impl Iterator<Item = u32>,
        mut around: impl FnMut(bool),
    ) -> Result<u32, Stop> {
        let length = self.take(first, words)?;
        around(true);
        let clocks = self.run_both(prototype, length);
        around(false);
        let judged = clocks
            .map_err(|(place, broken)| self.blame(place, Difference::Broken(broken)))
            .and_then(|clocks| self.judge(prototype, length, clocks));
        match judged {
            Ok(clocks) => {
                self.next += length as u64;
                Ok(clocks)
            }
            Err(diverged) => {
                self.has_diverged = true;
                Err(Stop::Diverged(diverged))
            }
        }
    }

    /// Checks a batch before any command of it runs. Returns its length.
    pub(crate) fn take(
        &mut self,
        first: u64,
        words: impl Iterator<Item = u32>,
    ) -> Result<usize, Refusal> {
        let Some(model) = &self.model else { return Err(Refusal::NotConfigured) };
        if self.has_diverged {
            return Err(Refusal::HasDiverged);
        }
        if first != self.next {
            return Err(Refusal::Order { next: self.next });
        }
        let registers = u32::from(model.settings().registers_per_warp);
        let refused = Refusal::Batch { most: self.most };
        let mut due = self.due;
        let mut length = 0;
        let places = &mut self.batch.words[..usize::from(self.most).min(BATCH)];
        for word in words {
            let Some(place) = places.get_mut(length) else { return Err(refused) };
            *place = word;
            // Operations from FLUSH on have no register and lanes.
            let is_access = operation(word) < OpCode::Flush.code();
            let register = field::COMMAND_REGISTER_NUMBER.get(word);
            let lanes = field::COMMAND_LANES.get(word);
            let is_outside = register >= registers || lanes == 0 || lanes >= 1 << LANES;
            let is_strange = due != NO_OPERAND && word & OPERAND != due;
            if is_access && is_outside || is_strange {
                let index = first + length as u64;
                return Err(Refusal::Command { index, command: word });
            }
            let has_more = is_read(word) && field::COMMAND_MORE.is_set(word);
            due = if has_more { word & OPERAND } else { NO_OPERAND };
            length += 1;
        }
        if length == 0 {
            return Err(refused);
        }
        self.due = due;
        Ok(length)
    }

    /// Runs the batch. Returns the clocks of both sides.
    fn run_both(
        &mut self,
        prototype: &mut impl Prototype,
        length: usize,
    ) -> Result<[u64; 2], (usize, Broken)> {
        let Self { model, shadow, batch, .. } = self;
        let Batch { words, outcomes, expected, known } = batch;
        let all = words.iter().zip(expected).zip(known).take(length);
        for (place, ((&word, expected), known)) in all.enumerate() {
            let queued = match shadow.step(word) {
                Step::Nothing => prototype.queue(word, None),
                Step::Bring(value) => prototype.queue(word, Some(&value)),
                Step::Expect(value, lanes) => {
                    (*expected, *known) = (*value, lanes);
                    prototype.queue(word, None)
                }
            };
            queued.map_err(|broken| (place, broken))?;
        }
        let in_prototype = prototype.run().map_err(|broken| (0, broken))?;
        let in_model = model
            .as_mut()
            .map_or(0, |model| model.run_packed(&words[..length], &mut outcomes[..length]));
        Ok([in_model, u64::from(in_prototype)])
    }

    /// Compares the results of a batch.
    fn judge(
        &mut self,
        prototype: &mut impl Prototype,
        length: usize,
        clocks: [u64; 2],
    ) -> Result<u32, Diverged> {
        // As long as all outcomes are the same, so are the digests.
        let [mut digest, _] = self.digests;
        let Batch { words, outcomes, expected, known } = &self.batch;
        let of_model = words.iter().zip(outcomes);
        let of_reads = expected.iter().zip(known);
        for (place, ((&word, &model), (written, &lanes))) in
            of_model.zip(of_reads).take(length).enumerate()
        {
            let mut read = [0; LANES];
            let is_read = is_read(word);
            let outcome = prototype.outcome(is_read.then_some(&mut read));
            let outcome =
                outcome.map_err(|broken| self.blame(place, Difference::Broken(broken)))?;
            let before = digest;
            digest = digest.with_word(model);
            if outcome != model {
                self.digests = [digest, before.with_word(outcome)];
                return Err(self.blame(place, Difference::Outcome { model, prototype: outcome }));
            }
            if is_read && differ(written, &read, lanes) {
                let what = Difference::Data { written: *written, read };
                self.digests = [digest; 2];
                return Err(self.blame(place, what));
            }
        }
        self.digests = [digest; 2];
        let [model, in_prototype] = clocks;
        if model != in_prototype {
            let what = Difference::Clocks { model, prototype: in_prototype };
            return Err(self.blame(0, what));
        }
        let Some(counted) = &self.model else { return Ok(0) };
        for (counter, &model) in counted.counters().0.iter().enumerate() {
            let prototype = prototype.counter(counter);
            if prototype != model {
                let counter = counter as u8;
                return Err(self.blame(0, Difference::Counter { counter, model, prototype }));
            }
        }
        Ok(model as u32)
    }

    /// A divergence of a command of the batch.
    fn blame(&self, place: usize, what: Difference) -> Diverged {
        let command = self.batch.words.get(place).copied().unwrap_or(0);
        Diverged { index: self.next + place as u64, command, what }
    }
}

/// Whether two values differ in some lanes.
#[inline]
fn differ(written: &Data, read: &Data, lanes: u8) -> bool {
    let pairs = written.iter().zip(read);
    if lanes == ALL {
        // By words: a comparison of memory would go byte by byte.
        return pairs.fold(0, |differ, (written, read)| differ | (written ^ read)) != 0;
    }
    pairs.enumerate().fold(false, |differ, (lane, (written, read))| {
        differ || written != read && lanes >> lane & 1 != 0
    })
}

/// The settings of a word, if a prototype has room for them.
fn check(word: u32, parameters: &Parameters) -> Result<Settings, Refusal> {
    let settings = Settings::unpack(word);
    if settings.pack() != Some(word) {
        return Err(refused(format_args!("{word:#010x} are no settings")));
    }
    let Parameters { warps, cache_entries, pool_entries, lanes, .. } = *parameters;
    if (usize::from(warps), usize::from(lanes)) != (WARPS, LANES) {
        return Err(refused(format_args!(
            "the prototype has {warps} warps of {lanes} lanes, the firmware {WARPS} of {LANES}"
        )));
    }
    let entries = settings.cache.map_or(0, |cache| cache.entries);
    if entries > cache_entries {
        return Err(refused(format_args!(
            "{entries} entries of a cache are more than the prototype's {cache_entries}"
        )));
    }
    if settings.write_pool_entries > pool_entries {
        return Err(refused(format_args!(
            "{} entries of a write pool are more than the prototype's {pool_entries}",
            settings.write_pool_entries
        )));
    }
    Ok(settings)
}

/// Builds the model, if the settings allow one.
#[inline(never)]
fn build(settings: Settings, to: Option<&mut Option<Model>>) -> Result<(), Refusal> {
    let model = Model::new(settings).map_err(|error| refused(format_args!("{error}")))?;
    if let Some(to) = to {
        *to = Some(model);
    }
    Ok(())
}

fn refused(why: core::fmt::Arguments<'_>) -> Refusal {
    Refusal::Settings(text(why))
}

/// As much of a text as fits one line.
pub(crate) fn text(what: core::fmt::Arguments<'_>) -> Text {
    struct Cut(Text);
    impl core::fmt::Write for Cut {
        fn write_str(&mut self, piece: &str) -> core::fmt::Result {
            for letter in piece.chars() {
                self.0.push(letter).map_err(|_| core::fmt::Error)?;
            }
            Ok(())
        }
    }
    let mut cut = Cut(Text::new());
    // The rest of a text that is too long is left out.
    let _ = cut.write_fmt(what);
    cut.0
}
