//! Prototypes that do something wrong, once: it is found where it is.

use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::counters::Counter;
use strata_core::prototype::settings::Settings;
use strata_firmware::{ApplicationMemory, Prototype, SoftwarePrototype};
use strata_link::message::{
    BATCH, Broken, Column, Data, Difference, Diverged, Feed, Parameters, Refusal, Reply, Request,
};

use crate::rig::Rig;
use crate::{CACHED, commands, configure};

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrong {
    Outcome,
    Data,
    Clocks,
    Counter,
    Stuck,
    NoOutcome,
    NotQueued,
    Absent,
    Fewer,
}

/// A prototype in which something goes wrong at one command.
struct Faulty {
    inner: SoftwarePrototype,
    wrong: Wrong,
    at: u64,
    queued: u64,
    taken: u64,
}

impl Faulty {
    fn new(wrong: Wrong, at: u64) -> Self {
        Self { inner: SoftwarePrototype::new(), wrong, at, queued: 0, taken: 0 }
    }
}

impl Prototype for Faulty {
    fn parameters(&mut self) -> Result<Parameters, Broken> {
        let parameters = self.inner.parameters()?;
        match self.wrong {
            Wrong::Absent => Err(Broken::Absent { id: 0xffff_ffff }),
            Wrong::Fewer => Ok(Parameters { warps: 4, ..parameters }),
            _ => Ok(parameters),
        }
    }

    fn configure(&mut self, settings: Settings) -> Result<(), Broken> {
        (self.queued, self.taken) = (0, 0);
        self.inner.configure(settings)
    }

    fn queue(&mut self, command: u32, value: Option<&Data>) -> Result<(), Broken> {
        self.queued += 1;
        if (self.wrong, self.queued) == (Wrong::NotQueued, self.at + 1) {
            return Err(Broken::Queue { status: 1 });
        }
        self.inner.queue(command, value)
    }

    fn run(&mut self) -> Result<u32, Broken> {
        let is_now = self.taken <= self.at && self.at < self.queued;
        match self.wrong {
            Wrong::Stuck if is_now => Err(Broken::Stuck { status: 2 }),
            Wrong::Clocks if is_now => Ok(self.inner.run()? + 1),
            _ => self.inner.run(),
        }
    }

    fn outcome(&mut self, read: Option<&mut Data>) -> Result<u32, Broken> {
        let is_now = self.taken == self.at;
        self.taken += 1;
        let mut value = Data::default();
        let outcome = match &read {
            Some(_) => self.inner.outcome(Some(&mut value))?,
            None => self.inner.outcome(None)?,
        };
        if let Some(read) = read {
            if is_now && self.wrong == Wrong::Data {
                value[3] ^= 1 << 31;
            }
            *read = value;
        }
        match self.wrong {
            Wrong::Outcome if is_now => Ok(outcome ^ 1 << 20),
            Wrong::NoOutcome if is_now => Err(Broken::Queue { status: 3 }),
            _ => Ok(outcome),
        }
    }

    fn counter(&mut self, place: usize) -> u64 {
        let is_off = self.wrong == Wrong::Counter && self.taken > self.at && place == 1;
        self.inner.counter(place) + u64::from(is_off)
    }
}

/// Feeds a stream; returns what stopped it, and what comes after.
fn stopped(wrong: Wrong, at: u64, words: &[u32]) -> Diverged {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(Faulty::new(wrong, at), &mut memory);
    assert_eq!(rig.ask(&configure(CACHED)), Reply::Configured);
    let Reply::Diverged(diverged) = *rig.feed(words, BATCH).expect_err("it goes wrong") else {
        panic!("{wrong:?} at {at} was not found");
    };
    // Feeds that were on their way, and any other.
    let mut room = [0; 4 * BATCH];
    let feed = Feed::new(0, &words[..1], &mut room).expect("it fits");
    rig.send(&Request::Feed(feed)).expect("the link holds");
    rig.send(&Request::Info).expect("the link holds");
    loop {
        match rig.reply().expect("the link holds") {
            Reply::Refused(Refusal::HasDiverged) => {}
            Reply::Info(_) => break,
            other => panic!("{other:?}"),
        }
    }
    // The counters are still to be had.
    assert!(rig.counters(Column::Model).values[0] > 0 || wrong == Wrong::NotQueued);
    diverged
}

#[test]
fn each_kind_of_divergence_is_found_where_it_is() {
    let words = commands(5, 1_000, 24);
    let first_of = |at: u64| at / BATCH as u64 * BATCH as u64;
    for at in [130, 128, 255, 511, 640] {
        let command = words[at as usize];
        let Diverged { index, command: blamed, what } = stopped(Wrong::Outcome, at, &words);
        assert_eq!((index, blamed), (at, command));
        let Difference::Outcome { model, prototype } = what else { panic!("{what:?}") };
        assert_eq!(model ^ prototype, 1 << 20);
        let broken = |status| Difference::Broken(Broken::Queue { status });
        let diverged = Diverged { index: at, command, what: broken(3) };
        assert_eq!(stopped(Wrong::NoOutcome, at, &words), diverged);
        let diverged = Diverged { what: broken(1), ..diverged };
        assert_eq!(stopped(Wrong::NotQueued, at, &words), diverged);
        // Of the whole batch.
        let index = first_of(at);
        let command = words[index as usize];
        let what = Difference::Broken(Broken::Stuck { status: 2 });
        assert_eq!(stopped(Wrong::Stuck, at, &words), Diverged { index, command, what });
        let diverged = stopped(Wrong::Clocks, at, &words);
        assert_eq!((diverged.index, diverged.command), (index, command));
        let Difference::Clocks { model, prototype } = diverged.what else { panic!("{diverged}") };
        assert_eq!(prototype, model + 1);
        let diverged = stopped(Wrong::Counter, at, &words);
        assert_eq!((diverged.index, diverged.command), (index, command));
        let Difference::Counter { counter, model, prototype } = diverged.what else {
            panic!("{diverged}");
        };
        assert_eq!((counter, prototype), (Counter::Clocks as u8, model + 1));
    }
}

#[test]
fn a_wrong_value_is_found_where_it_is_read() {
    let write = |register: u32| 0xf_0001 | register << 6;
    let read = |register: u32| 0xf_0000 | register << 6;
    let mut words: Vec<u32> = (0..24).map(write).collect();
    words.extend((0..24).map(read));
    words.extend((0..200).map(|place| read(place % 24)));
    for at in [24, 30, 200] {
        let Diverged { index, command, what } = stopped(Wrong::Data, at, &words);
        assert_eq!((index, command), (at, words[at as usize]));
        let Difference::Data { written, read } = what else { panic!("{what:?}") };
        assert_eq!((written[..3].to_vec(), written[3]), (read[..3].to_vec(), read[3] ^ 1 << 31));
    }
}

#[test]
fn the_self_test_names_what_it_found_and_under_which_settings() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(Faulty::new(Wrong::Data, 2_500), &mut memory);
    let Reply::SelfTest { failed: Some((settings, diverged)), batches, .. } =
        rig.ask(&Request::SelfTest)
    else {
        panic!("nothing was found");
    };
    assert_eq!((diverged.index, batches), (2_500, 2_500 / 128));
    assert!(matches!(diverged.what, Difference::Data { .. }), "{diverged}");
    assert_eq!(Settings::unpack(settings).cache, None, "in the first round");
    let Operation::Read { .. } = Command::unpack(diverged.command).operation else {
        panic!("{diverged}");
    };
}

#[test]
fn a_prototype_that_is_not_there_or_another_one_is_refused() {
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(Faulty::new(Wrong::Absent, 0), &mut memory);
    let absent = Reply::Refused(Refusal::Broken(Broken::Absent { id: 0xffff_ffff }));
    for request in [Request::Info, configure(CACHED), Request::SelfTest] {
        assert_eq!(rig.ask(&request), absent);
    }
    let mut memory = ApplicationMemory::new();
    let mut rig = Rig::new(Faulty::new(Wrong::Fewer, 0), &mut memory);
    let Reply::Refused(refusal) = rig.ask(&configure(CACHED)) else { panic!("it was taken") };
    assert!(refusal.to_string().contains("4 warps of 4 lanes"), "{refusal}");
}
