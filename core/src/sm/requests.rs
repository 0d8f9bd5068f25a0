//! Requests: what an instruction or a flush asks the arbiter of operand collectors for, as its
//! warp's levels tell of it.

use super::collectors::{Delivery, ResultOnItsWay};
use super::facts::{ReadyAt, Wait};
use super::observe::WriteCause;
use crate::event::{Datapath, Event};
use crate::hierarchy::Listener;
use crate::last_result_file;
use crate::placement::Placement;
use crate::register_file_cache::{Access, Observer};
use crate::tally::Tally;
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
    /// Results heard of so far.
    pub(super) results: u32,
    /// Bit `i`: result `i` goes to the main register file.
    pub(super) to_main: u32,
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
        Self {
            tally,
            delivery,
            ready,
            warp,
            now,
            unit: 0,
            datapath,
            reads: 0,
            results: 0,
            to_main: 0,
        }
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

impl Observer for Requests<'_, '_> {
    #[inline]
    fn observe(&mut self, access: Access, register: RegisterId, lanes: LaneMask) {
        match access {
            Access::MainRead => self.read(register, lanes),
            Access::Write => self.results += 1,
            Access::MainWrite => {
                self.to_main |= 1 << self.results;
                self.results += 1;
            }
            Access::WritebackEviction => {
                self.write_back(register, lanes, Event::RfcWritebackEviction);
            }
            Access::WritebackFlush => self.write_back(register, lanes, Event::RfcWritebackFlush),
            _ => {}
        }
        self.tally.observe(access, register, lanes);
    }
}

impl last_result_file::Observer for Requests<'_, '_> {
    fn observe_last(
        &mut self,
        access: last_result_file::Access,
        register: RegisterId,
        lanes: LaneMask,
    ) {
        use last_result_file::Access;
        match access {
            Access::Write => self.results += 1,
            Access::WritebackEviction => {
                self.write_back(register, lanes, Event::LrfWritebackEviction);
            }
            Access::WritebackFlush => self.write_back(register, lanes, Event::LrfWritebackFlush),
            _ => {}
        }
        self.tally.observe_last(access, register, lanes);
    }
}

impl Listener for Requests<'_, '_> {
    #[inline]
    fn flat(&mut self, sources: &[RegisterId], destinations: &[RegisterId], mask: LaneMask) {
        for &source in sources {
            self.read(source, mask);
        }
        self.to_main = u32::MAX;
        self.tally.flat(sources, destinations, mask);
    }

    fn source(&mut self, register: RegisterId, placement: Placement, mask: LaneMask) {
        if placement.main {
            self.read(register, mask);
        }
        self.tally.source(register, placement, mask);
    }

    fn result(&mut self, register: RegisterId, placement: Placement, mask: LaneMask) {
        self.to_main |= u32::from(placement.main) << self.results;
        self.results += 1;
        self.tally.result(register, placement, mask);
    }

    #[inline]
    fn operands_read(&mut self) {
        self.tally.operands_read();
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
