//! Compare: one design on a board, batch by batch, beside the model on this machine.

use std::collections::VecDeque;
use std::time::Instant;

use strata_core::digest::Digest;
use strata_core::prototype::command::{Command, Operation};
use strata_core::prototype::counters::PrototypeCounters;
use strata_core::prototype::outcome::Outcome;
use strata_core::prototype::sequencer::Prototype;
use strata_core::prototype::settings::Settings;
use strata_link::message::{
    BATCH, Column, Counters, Diverged, Feed, Info, Refusal, Reply, Request,
};

use super::error::FpgaError;
use super::material::Material;
use super::plan::{LANES, POOL_ENTRIES, Plan, WARPS};
use super::session::Session;
use super::stream::{Made, Stream};
use strata_core::register_file_cache::MAX_ENTRIES;
use strata_files::failure::Failure;

/// The model of the prototype on this machine.
type Twin = Prototype<WARPS, { MAX_ENTRIES as usize }, { POOL_ENTRIES as usize }>;

/// What one design did.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The design's name.
    pub design: String,
    /// Parts of the design that the prototype has in another form.
    pub instead: Vec<String>,
    /// What the prototype was set to.
    pub settings: Settings,
    /// What was streamed.
    pub made: Made,
    /// The model on this machine.
    pub host: PrototypeCounters,
    /// Digest of its outcomes.
    pub host_digest: u64,
    /// The model on the device.
    pub device: Counters,
    /// The prototype.
    pub prototype: Counters,
    /// Where the device found the prototype to differ from its model.
    pub diverged: Option<Diverged>,
    /// The first batch whose clocks the device's model counts otherwise: number of its first
    /// command, clocks here and there.
    pub clocks_differ: Option<(u64, u64, u32)>,
    /// Commands in a second.
    pub speed: u64,
}

impl Compared {
    /// Whether all three columns are equal.
    pub fn is_equal(&self) -> bool {
        let same = |column: &Counters| {
            column.values[..] == self.host.0[..] && column.digest == self.host_digest
        };
        self.diverged.is_none()
            && self.clocks_differ.is_none()
            && same(&self.device)
            && same(&self.prototype)
    }
}

/// Refuses a board that is smaller than what a design needs.
///
/// # Errors
///
/// It lacks something.
pub fn fits(info: &Info, plan: &Plan) -> Result<(), Failure> {
    let there = &info.prototype;
    let entries = plan.cache.map_or(0, |cache| cache.entries);
    let pool = plan.settings(1).write_pool_entries;
    for (what, needed, given) in [
        ("warps", WARPS as u32, u32::from(there.warps)),
        ("lanes", LANES, u32::from(there.lanes)),
        ("entries of a warp's cache", entries.into(), there.cache_entries.into()),
        ("entries of the write pool", pool.into(), there.pool_entries.into()),
    ] {
        if given < needed {
            return Err(Failure::input(format!(
                "the prototype of board `{}` has {given} {what}; `{}` needs {needed}",
                info.board, plan.design
            ))
            .hint("choose another design, or a board with a larger prototype"));
        }
    }
    Ok(())
}

/// Streams a design's accesses, and tells `made` how many there have been.
///
/// # Errors
///
/// The board is gone, or does not take what it is sent.
pub fn compare(
    session: &mut Session,
    info: &Info,
    plan: &Plan,
    material: &Material,
    accesses: u64,
    made: &dyn Fn(u64),
) -> Result<Compared, FpgaError> {
    let settings = plan.settings(material.registers);
    let refused =
        |refusal| FpgaError::Refused { board: info.board.to_string(), refusal: Box::new(refusal) };
    let unfit = |why: String| {
        refused(Refusal::Settings(
            strata_link::message::Text::try_from(&why[..]).unwrap_or_default(),
        ))
    };
    let twin = Twin::new(settings).map_err(|error| unfit(error.to_string()))?;
    let word = settings.pack().ok_or_else(|| unfit("a value is too large".to_owned()))?;
    let batch = usize::from(info.prototype.batch).clamp(1, BATCH);
    let reply = session.ask(&Request::Configure { settings: word, batch: batch as u16 })?;
    if reply != Reply::Configured {
        return Err(session.strange());
    }
    let mut feeder = Feeder {
        stream: Stream::of_accesses(material, plan, accesses),
        twin,
        digest: Digest::EMPTY,
        sent: 0,
        waiting: VecDeque::new(),
        diverged: None,
        clocks_differ: None,
        batch,
    };
    let start = Instant::now();
    feeder.run(session, made)?;
    let seconds = start.elapsed().as_secs_f64().max(1e-9);
    let Feeder { stream, twin, digest, sent, diverged, clocks_differ, .. } = feeder;
    Ok(Compared {
        design: plan.design.clone(),
        instead: plan.instead.clone(),
        settings,
        made: stream.made(),
        host: *twin.counters(),
        host_digest: digest.value(),
        device: session.counters(Column::Model)?,
        prototype: session.counters(Column::Prototype)?,
        diverged,
        clocks_differ,
        speed: (sent as f64 / seconds) as u64,
    })
}

/// A batch that is on its way.
struct Waiting {
    /// Number of its first command.
    first: u64,
    /// Number of the command after it.
    next: u64,
    /// Clocks that it takes.
    clocks: u64,
}

/// What feeds a board.
struct Feeder<'m> {
    stream: Stream<'m>,
    twin: Twin,
    digest: Digest,
    sent: u64,
    waiting: VecDeque<Waiting>,
    diverged: Option<Diverged>,
    clocks_differ: Option<(u64, u64, u32)>,
    batch: usize,
}

impl Feeder<'_> {
    fn run(&mut self, session: &mut Session, made: &dyn Fn(u64)) -> Result<(), FpgaError> {
        let mut commands = Vec::with_capacity(self.batch);
        let mut words = Vec::with_capacity(self.batch);
        let mut outcomes = vec![Outcome::default(); self.batch];
        let mut bytes = [0; 4 * BATCH];
        while self.diverged.is_none() {
            commands.clear();
            commands.extend(self.stream.by_ref().take(self.batch));
            if commands.is_empty() {
                break;
            }
            words.clear();
            words.extend(commands.iter().map(packed));
            let first = self.sent;
            let feed = Feed::new(first, &words, &mut bytes).map_err(|_| session.strange())?;
            while self.diverged.is_none() && !session.feed(feed)? {
                self.answer(session)?;
            }
            if self.diverged.is_some() {
                break;
            }
            let clocks = self.twin.run(&commands, &mut outcomes);
            for outcome in &outcomes[..commands.len()] {
                self.digest = self.digest.with_word(outcome.pack());
            }
            self.sent += commands.len() as u64;
            self.waiting.push_back(Waiting { first, next: self.sent, clocks });
            made(self.stream.made().accesses);
        }
        while !self.waiting.is_empty() {
            self.answer(session)?;
        }
        Ok(())
    }

    /// Takes the answer to the oldest batch on its way.
    fn answer(&mut self, session: &mut Session) -> Result<(), FpgaError> {
        let reply = match session.receive() {
            Ok(reply) => reply,
            // What was on its way when the prototype diverged.
            Err(FpgaError::Refused { refusal, .. })
                if *refusal == Refusal::HasDiverged && self.diverged.is_some() =>
            {
                self.waiting.pop_front();
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let batch = self.waiting.pop_front().ok_or_else(|| session.strange())?;
        match reply {
            Reply::Fed { next, clocks } if next == batch.next => {
                if u64::from(clocks) != batch.clocks && self.clocks_differ.is_none() {
                    self.clocks_differ = Some((batch.first, batch.clocks, clocks));
                }
                Ok(())
            }
            Reply::Diverged(diverged) => {
                self.diverged = Some(diverged);
                Ok(())
            }
            _ => Err(session.strange()),
        }
    }
}

/// The word of a command; every command of a stream has one.
fn packed(command: &Command) -> u32 {
    debug_assert!(command.pack().is_some());
    command.pack().unwrap_or_else(|| Operation::Drop.code().code())
}
