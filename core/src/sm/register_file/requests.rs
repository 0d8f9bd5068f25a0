//! Requests: what an instruction or a flush asks the arbiter of operand collectors for, as its
//! warp's levels tell of it.
//!
//! Accesses of the main register file are counted when the arbiter lets them happen, because a
//! write pool may serve them; all others here.

use super::collectors::{Collection, ResultOnItsWay};
use crate::access::{Access, AccessSink};
use crate::datapath::Datapath;
use crate::event::Event;
use crate::sm::observe::WriteCause;
use crate::sm::scoreboard::UnderWay;
use crate::sm::wait::{ReadyAt, Wait};
use crate::tally::{Tally, event};
use crate::units::{LaneMask, RegisterId};

/// Asks the arbiter for what an instruction or a flush needs of the main register file.
pub(super) struct Requests<'s, 'm> {
    pub(super) tally: Tally<'s, false>,
    pub(super) collection: &'s mut Collection<'m>,
    /// When each register of the warp is there.
    pub(super) ready: &'s mut [ReadyAt],
    pub(super) under_way: &'s mut UnderWay,
    pub(super) warp: u8,
    pub(super) now: u64,
    /// The unit that operands are for.
    pub(super) unit: usize,
    pub(super) datapath: Datapath,
    pub(super) reads: u8,
}

impl<'s, 'm> Requests<'s, 'm> {
    /// Of what is no instruction and reads nothing.
    pub(super) fn new(
        tally: Tally<'s, false>,
        collection: &'s mut Collection<'m>,
        (ready, under_way): (&'s mut [ReadyAt], &'s mut UnderWay),
        warp: usize,
        now: u64,
    ) -> Self {
        let (warp, datapath) = (warp as u8, Datapath::Private);
        Self { tally, collection, ready, under_way, warp, now, unit: 0, datapath, reads: 0 }
    }

    #[inline]
    fn read(&mut self, register: RegisterId, lanes: LaneMask) {
        let Collection { collectors, queues, .. } = &mut *self.collection;
        let element = self.unit * collectors.reads_per_unit + usize::from(self.reads);
        self.reads += 1;
        let consumer = (self.unit as u8, self.datapath);
        let operand = (self.warp, register, lanes);
        collectors.arbiter.ask_read(queues, element, consumer, operand);
    }

    /// An upper level gives a register up to the main register file.
    fn write_back(&mut self, register: RegisterId, lanes: LaneMask, event: Event) {
        let Collection { collectors, queues, results, .. } = &mut *self.collection;
        let index = collectors.arbiter.index(self.warp, register);
        let ready = &mut self.ready[usize::from(register.0)];
        if ready.is_pending() {
            // It is not there yet, and goes on to the main register file when it comes.
            results[index].goes_to_main(lanes, event);
            return;
        }
        let flushed = cause(event) == WriteCause::Flush;
        let mut result = ResultOnItsWay::new(lanes, event, Wait::Arithmetic);
        (result.to_main, result.flushed) = (true, flushed);
        results[index] = result;
        *ready = ReadyAt::pending(Wait::Arithmetic);
        self.under_way.announce(false);
        if flushed {
            self.under_way.begin_flush();
        }
        collectors.arbiter.ask_write(queues, (self.warp, register, lanes), self.now);
    }
}

impl AccessSink for Requests<'_, '_> {
    #[inline]
    fn access(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
        match access {
            Access::MrfRead => {
                self.tally.main_operands(1);
                self.read(register, lanes);
            }
            // Its write is asked for when it is there.
            Access::MrfWrite => {}
            Access::RfcWritebackEviction
            | Access::RfcWritebackFlush
            | Access::LrfWritebackEviction
            | Access::LrfWritebackFlush => {
                self.write_back(register, lanes, event(access, self.datapath));
            }
            _ => self.tally.access(access, register, lanes),
        }
    }
}

/// Why the main register file is written, from what the write was counted as.
pub(super) const fn cause(event: Event) -> WriteCause {
    match event {
        Event::RfcWritebackEviction | Event::LrfWritebackEviction => WriteCause::Eviction,
        Event::RfcWritebackFlush | Event::LrfWritebackFlush => WriteCause::Flush,
        _ => WriteCause::Result,
    }
}
