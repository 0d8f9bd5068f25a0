//! The hardware prototype's register file cache, clock by clock: the same [`RegisterFileCache`],
//! asked one access at a time through a handshake.
//!
//! Models: for each clock, which request is taken and which response stands, under any
//! back-pressure; for each response the outcome, the way, the lanes and the victim.
//! Does not model: values, which the hardware moves.
//! Source: the contract in `docs/hw/register_file_cache.md`; `docs/MODEL.md`, rules 7 to 14.

use super::command::{Command, Operation};
pub use super::regmap::CacheOutcome;
use crate::access::Access;
use crate::register_file_cache::{
    Allocation, ConfigError, InFront, Lookup, Operands, RegisterFileCache, RegisterFileCacheConfig,
    Replacement,
};
use crate::units::{LaneMask, RegisterId};

/// What can be set of the caches while the hardware runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheSettings {
    /// Entries of one warp. Range: 1 to the capacity.
    pub entries: u8,
    /// Replacement policy.
    pub replacement: Replacement,
    /// Last reads free their entry, and the end of a warp drops what it has.
    pub liveness: bool,
}

/// An entry that makes room or is flushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Victim {
    /// The register.
    pub register: RegisterId,
    /// Its valid lanes.
    pub lanes: LaneMask,
    /// It is dirty, and has to be written back.
    pub writeback: bool,
}

/// The answer to a request, or to one entry's part of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Response {
    /// What became of it.
    pub outcome: CacheOutcome,
    /// The request is done.
    pub last: bool,
    /// The way concerned; 0 when none is.
    pub way: u8,
    /// Lanes that an entry gave, took or gave up.
    pub served: LaneMask,
    /// Lanes of an operand that the main register file has to give.
    pub missing: LaneMask,
    /// Ways given up without a write-back: bit `w` is way `w`.
    pub dropped: u16,
    /// The entry whose place was needed, or that was flushed.
    pub victim: Option<Victim>,
}

/// One clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tick {
    /// The request was taken.
    pub accepted: bool,
    /// The response that stood in this clock.
    pub response: Option<Response>,
}

/// What the cache reported during one step.
#[derive(Default)]
struct Seen {
    served: LaneMask,
    missing: LaneMask,
    victim: Option<Victim>,
}

impl Seen {
    fn note(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
        let victim = |writeback| Some(Victim { register, lanes, writeback });
        match access {
            Access::RfcRead => self.served = lanes,
            Access::MrfRead => self.missing = lanes,
            Access::RfcWritebackEviction | Access::RfcWritebackFlush => self.victim = victim(true),
            Access::RfcDrop => self.victim = victim(false),
            _ => {}
        }
    }
}

/// The caches of `WARPS` warps behind one port.
#[derive(Clone, Debug)]
pub struct CacheBlock<const WARPS: usize, const CAPACITY: usize> {
    caches: [RegisterFileCache<CAPACITY>; WARPS],
    liveness: bool,
    is_lru: bool,
    /// Ways whose values were read for the last time by the reads of this instruction so far.
    dead: u16,
    answer: Option<Response>,
}

impl<const WARPS: usize, const CAPACITY: usize> CacheBlock<WARPS, CAPACITY> {
    /// Builds it empty, as after a reset, or says why it cannot be.
    pub fn new(config: CacheSettings) -> Result<Self, ConfigError> {
        let cache = RegisterFileCache::new(RegisterFileCacheConfig {
            entries: config.entries,
            replacement: config.replacement,
            // A fill after a miss is a request of its own.
            allocation: Allocation::Writes,
            liveness: config.liveness,
            liveness_aware_bypass: false,
            liveness_aware_eviction: false,
        })?;
        Ok(Self {
            caches: core::array::from_fn(|_| cache.clone()),
            liveness: config.liveness,
            is_lru: config.replacement == Replacement::Lru,
            dead: 0,
            answer: None,
        })
    }

    /// The cache of a warp; `None` from `WARPS` on.
    pub fn cache(&self, warp: u8) -> Option<&RegisterFileCache<CAPACITY>> {
        self.caches.get(usize::from(warp))
    }

    /// The response that stands at the beginning of the next clock.
    pub const fn answer(&self) -> Option<&Response> {
        self.answer.as_ref()
    }

    /// Runs one clock: `request` is the input, `ready` says that the response is read in this
    /// clock. A request for a warp that does not exist is taken and has no effect.
    pub fn tick(&mut self, request: Option<&Command>, ready: bool) -> Tick {
        let response = self.answer;
        if response.is_some() && !ready {
            return Tick { accepted: false, response };
        }
        self.answer = request.map(|request| self.step(request));
        Tick { accepted: self.answer.is_some_and(|answer| answer.last), response }
    }

    /// One clock's work of a request, without the handshake; a flush takes several.
    #[inline]
    pub(super) fn step(&mut self, request: &Command) -> Response {
        match request.operation {
            Operation::Read { last_use, more } => {
                let response = self.read(request, last_use, more);
                let hit = (!response.served.is_empty()).then_some(response.way);
                self.end_read(request.warp, hit, response.dropped);
                response
            }
            Operation::Write => match self.rewrite(request) {
                Some(response) => {
                    self.touch(request.warp, response.way);
                    response
                }
                None => self.write_anew(request),
            },
            _ => self.step_rare(request),
        }
    }

    /// One clock's work of a request other than a read or a write, without the handshake; a flush
    /// takes several.
    #[inline]
    pub(super) fn step_rare(&mut self, request: &Command) -> Response {
        let nothing = Response::NOTHING;
        let Some(cache) = self.caches.get_mut(usize::from(request.warp)) else { return nothing };
        match request.operation {
            Operation::Fill => fill(cache, request),
            Operation::Bypass => invalidate(cache, request),
            Operation::Exit if self.liveness => {
                let dropped = cache.occupied();
                cache.exit(&mut |_, _, _| {});
                let outcome =
                    if dropped == 0 { CacheOutcome::Nothing } else { CacheOutcome::Emptied };
                Response { outcome, dropped, ..nothing }
            }
            Operation::Flush | Operation::Exit => flush_oldest(cache),
            Operation::Read { .. } | Operation::Write | Operation::Demote | Operation::Drop => {
                nothing
            }
        }
    }

    /// A read: its one clock's work, without [`Self::end_read`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "hot, and left alone its answer goes through memory")]
    pub(super) fn read(&mut self, request: &Command, last_use: bool, more: bool) -> Response {
        let Some(cache) = self.caches.get_mut(usize::from(request.warp)) else {
            return Response::NOTHING;
        };
        let register = [request.register];
        let operands = operands(request, last_use, &register);
        let mut seen = Seen::default();
        let mut observer = |access, register, lanes| seen.note(access, register, lanes);
        let mut found = Lookup { dead: self.dead, missed: 0 };
        let Command { register, lanes, .. } = *request;
        let way = cache.look(register, 0, lanes, &operands, &mut found, &mut observer);
        let mut dropped = 0;
        if found.dead != 0 {
            self.dead = if more { found.dead } else { 0 };
            if !more {
                dropped = found.dead;
            }
        }
        let outcome = match (seen.served.is_empty(), seen.missing.is_empty()) {
            (true, _) => CacheOutcome::Miss,
            (false, true) => CacheOutcome::Hit,
            (false, false) => CacheOutcome::PartialHit,
        };
        let Seen { served, missing, .. } = seen;
        let way = way.unwrap_or(0) as u8;
        Response { outcome, last: true, way, served, missing, dropped, victim: None }
    }

    /// Whether reads and writes in place change the order of ways.
    #[inline]
    pub(super) const fn is_lru(&self) -> bool {
        self.is_lru
    }

    /// The end of a read: marks the way that it hit as used, and gives up dead ways.
    // Here and below: out of line where a caller's registers are few.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(super) fn end_read(&mut self, warp: u8, hit: Option<u8>, ways: u16) {
        if let Some(way) = hit {
            self.touch(warp, way);
        }
        let Some(cache) = self.caches.get_mut(usize::from(warp)) else { return };
        if ways != 0 {
            let operands = operands(&Command::unpack(0), false, &[]);
            let found = Lookup { dead: ways, missed: 0 };
            cache.end_reads(&found, InFront::NOTHING, &operands, &mut |_, _, _| {});
        }
    }

    /// Marks a way as used: under LRU it becomes the youngest.
    #[cfg_attr(target_pointer_width = "32", inline(never))]
    pub(super) fn touch(&mut self, warp: u8, way: u8) {
        if let (true, Some(cache)) = (self.is_lru, self.caches.get_mut(usize::from(warp))) {
            cache.touch(usize::from(way));
        }
    }

    /// A write: its one clock's work without [`Self::touch`], if the register has an entry; else
    /// see [`Self::write_anew`].
    #[inline]
    pub(super) fn rewrite(&mut self, request: &Command) -> Option<Response> {
        let Some(cache) = self.caches.get_mut(usize::from(request.warp)) else {
            return Some(Response::NOTHING);
        };
        let way = cache.find(request.register)?;
        cache.place_again(way, request.lanes, false);
        cache.make_dirty(way);
        let (outcome, served) = (CacheOutcome::InPlace, request.lanes);
        Some(Response { outcome, way: way as u8, served, ..Response::NOTHING })
    }

    /// A write of a register that has no entry: its one clock's work.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "hot, and left alone its answer goes through memory")]
    pub(super) fn write_anew(&mut self, request: &Command) -> Response {
        let Some(cache) = self.caches.get_mut(usize::from(request.warp)) else {
            return Response::NOTHING;
        };
        let response = place_anew(cache, request, request.lanes);
        cache.make_dirty(usize::from(response.way));
        response
    }
}

impl Response {
    /// The answer to a request without effect.
    const NOTHING: Self = Self {
        outcome: CacheOutcome::Nothing,
        last: true,
        way: 0,
        served: LaneMask::EMPTY,
        missing: LaneMask::EMPTY,
        dropped: 0,
        victim: None,
    };
}

fn operands<'a>(request: &Command, last_use: bool, registers: &'a [RegisterId]) -> Operands<'a> {
    Operands {
        sources: registers,
        last_use: u32::from(last_use),
        last_use_before_deschedule: 0,
        destinations: registers,
        not_read_before_deschedule: 0,
        bypass: request.operation == Operation::Bypass,
        mask: request.lanes,
    }
}

fn fill<const CAPACITY: usize>(
    cache: &mut RegisterFileCache<CAPACITY>,
    request: &Command,
) -> Response {
    let found = cache.find(request.register);
    let missing = request.lanes.without(cache.lanes_of(request.register));
    if missing.is_empty() {
        return Response { way: found.unwrap_or(0) as u8, ..Response::NOTHING };
    }
    if let Some(way) = found {
        cache.place_again(way, request.lanes, false);
        cache.make_used(way);
        let (outcome, served) = (CacheOutcome::InPlace, missing);
        return Response { outcome, way: way as u8, served, ..Response::NOTHING };
    }
    place_anew(cache, request, missing)
}

/// Puts the lanes of a request into a new entry, of which those are new that it has `served`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "hot, and left alone its answer goes through memory")]
fn place_anew<const CAPACITY: usize>(
    cache: &mut RegisterFileCache<CAPACITY>,
    request: &Command,
    served: LaneMask,
) -> Response {
    let mut seen = Seen::default();
    let mut observer = |access, register, lanes| seen.note(access, register, lanes);
    let way = cache.place_anew(request.register, request.lanes, false, &mut observer);
    let given_up = seen.victim.is_some_and(|victim| !victim.writeback);
    Response {
        outcome: CacheOutcome::Allocation,
        way: way as u8,
        served,
        dropped: u16::from(given_up) << way,
        victim: seen.victim,
        ..Response::NOTHING
    }
}

fn invalidate<const CAPACITY: usize>(
    cache: &mut RegisterFileCache<CAPACITY>,
    request: &Command,
) -> Response {
    let register = [request.register];
    let Some(way) = cache.find(request.register) else { return Response::NOTHING };
    let held = cache.lanes_of(request.register);
    let before = cache.occupied();
    cache.write(request.register, 0, &operands(request, false, &register), &mut |_, _, _| {});
    let served = held.and(request.lanes);
    let outcome = if served.is_empty() { CacheOutcome::Nothing } else { CacheOutcome::Invalidated };
    let dropped = before & !cache.occupied();
    Response { outcome, way: way as u8, served, dropped, ..Response::NOTHING }
}

fn flush_oldest<const CAPACITY: usize>(cache: &mut RegisterFileCache<CAPACITY>) -> Response {
    let mut seen = Seen::default();
    let mut observer = |access, register, lanes| seen.note(access, register, lanes);
    let Some(way) = cache.flush_oldest(&mut observer) else { return Response::NOTHING };
    let given_up = seen.victim.is_some_and(|victim| !victim.writeback);
    Response {
        outcome: CacheOutcome::Emptied,
        last: cache.resident() == 0,
        way: way as u8,
        dropped: u16::from(given_up) << way,
        victim: seen.victim,
        ..Response::NOTHING
    }
}
