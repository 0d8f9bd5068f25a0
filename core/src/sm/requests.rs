//! Requests: what an instruction or a flush asks the arbiter of operand collectors for, as its
//! warp's levels tell of it.
//!
//! Accesses of the main register file are counted when the arbiter lets them happen, because a
//! write pool may serve them; all others here.

use super::collectors::{Delivery, ResultOnItsWay};
use super::facts::{ReadyAt, Wait};
use super::observe::WriteCause;
use crate::access::{Access, AccessSink};
use crate::event::{Datapath, Event};
use crate::tally::{Tally, event};
use crate::units::{LaneMask, RegisterId};

/// Asks the arbiter for what an instruction or a flush needs of the main register file.
pub(super) struct Requests<'s, 'm> {
    pub(super) tally: Tally<'s, false>,
    pub(super) delivery: &'s mut Delivery<'m>,
    /// When each register of the warp is there.
    pub(super) ready: &'s mut [ReadyAt],
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
        delivery: &'s mut Delivery<'m>,
        ready: &'s mut [ReadyAt],
        warp: usize,
        now: u64,
    ) -> Self {
        let (warp, datapath) = (warp as u8, Datapath::Private);
        Self { tally, delivery, ready, warp, now, unit: 0, datapath, reads: 0 }
    }

    #[inline]
    fn read(&mut self, register: RegisterId, lanes: LaneMask) {
        let Delivery { collectors, queues, .. } = &mut *self.delivery;
        let element = self.unit * collectors.reads_per_unit + usize::from(self.reads);
        self.reads += 1;
        let consumer = (self.unit as u8, self.datapath);
        let operand = (self.warp, register, lanes);
        collectors.arbiter.ask_read(queues, element, consumer, operand);
    }

    /// An upper level gives a register up to the main register file.
    fn write_back(&mut self, register: RegisterId, lanes: LaneMask, event: Event) {
        let Delivery { collectors, queues, results } = &mut *self.delivery;
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
        let under_way = &mut collectors.under_way[usize::from(self.warp)];
        under_way.all += 1;
        under_way.flushes += u32::from(flushed);
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
