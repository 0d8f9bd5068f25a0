//! Banks: open rows, and from which tick on a channel allows which command.
//!
//! Models: activations, precharges, reads and writes, each not before all earlier commands allow
//! it, and one in a tick.
//! Does not model: refresh; power states.
//! Source: `[EXPARS]` Table 2; `docs/MODEL.md`, rule 39.

use super::settings::{GddrSettings, MAX_BANK_GROUPS, MAX_BANKS};

/// A command of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Opens a row of a bank.
    Activate,
    /// Closes the open row of a bank.
    Precharge,
    /// Reads 64 bytes of the open row.
    Read,
    /// Writes as many.
    Write,
}

#[derive(Clone, Copy, Debug)]
struct Bank {
    open: Option<u64>,
    /// First ticks in which it allows a read or write, a precharge, an activation.
    column: u64,
    precharge: u64,
    activate: u64,
}

/// The banks of a channel.
#[derive(Clone, Debug)]
pub(super) struct Banks {
    each: [Bank; MAX_BANKS as usize],
    /// First tick in which a group of banks allows a read or write.
    groups: [u64; MAX_BANK_GROUPS as usize],
    /// First ticks in which all of them allow a command, an activation, a read, a write.
    any: u64,
    activate: u64,
    read: u64,
    write: u64,
}

impl Banks {
    /// All rows closed.
    pub(super) const fn new() -> Self {
        let bank = Bank { open: None, column: 0, precharge: 0, activate: 0 };
        Self {
            each: [bank; MAX_BANKS as usize],
            groups: [0; MAX_BANK_GROUPS as usize],
            any: 0,
            activate: 0,
            read: 0,
            write: 0,
        }
    }

    /// The open row of a bank.
    pub(super) const fn open(&self, bank: u8) -> Option<u64> {
        self.each[bank as usize].open
    }

    /// The first tick in which a command is allowed, which suits the bank's state.
    pub(super) fn allows(&self, command: Command, bank: u8, settings: &GddrSettings) -> u64 {
        let state = &self.each[usize::from(bank)];
        let group = self.groups[usize::from(bank % settings.bank_groups)];
        let own = match command {
            Command::Activate => state.activate.max(self.activate),
            Command::Precharge => state.precharge,
            Command::Read => state.column.max(group).max(self.read),
            Command::Write => state.column.max(group).max(self.write),
        };
        own.max(self.any)
    }

    /// A command in a tick that allows it. Returns the tick after its last data.
    pub(super) fn issue(
        &mut self,
        command: Command,
        (bank, row): (u8, u64),
        tick: u64,
        settings: &GddrSettings,
    ) -> u64 {
        let timing = &settings.timing;
        let state = &mut self.each[usize::from(bank)];
        let after = |ticks: u8| tick + u64::from(ticks);
        self.any = tick + 1;
        match command {
            Command::Activate => {
                state.open = Some(row);
                state.column = after(timing.rcd);
                state.precharge = after(timing.rc - timing.rp);
                state.activate = after(timing.rc);
                self.activate = after(timing.rrd);
                return tick;
            }
            Command::Precharge => {
                state.open = None;
                state.activate = state.activate.max(after(timing.rp));
                return tick;
            }
            Command::Read | Command::Write => {}
        }
        let own_group = bank % settings.bank_groups;
        for (group, allowed) in (0..settings.bank_groups).zip(&mut self.groups) {
            let apart = if group == own_group { timing.ccdl } else { timing.ccd };
            *allowed = (*allowed).max(after(apart.max(settings.data_ticks)));
        }
        let data = u64::from(settings.data_ticks);
        if command == Command::Read {
            let end = after(timing.cl) + data;
            state.precharge = state.precharge.max(after(timing.rtpl));
            let write = (end + u64::from(timing.turn)).saturating_sub(timing.wl.into());
            self.write = self.write.max(write);
            return end;
        }
        let end = after(timing.wl) + data;
        state.precharge = state.precharge.max(end + u64::from(timing.wr));
        self.read = self.read.max(end + u64::from(timing.cdlr));
        end
    }
}
