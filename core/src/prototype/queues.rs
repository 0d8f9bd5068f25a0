//! Queues: which commands a batch takes, which are lost because they arrive at the wrong time, and
//! the status word on the bus.
//!
//! Source: `docs/hw/prototype.md`.

use super::regmap::field;

/// The status of the queues on the bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Status {
    /// A batch is about to run, or runs.
    pub running: bool,
    /// A command since the last reset found the queue full or a batch running, and was lost.
    pub lost: bool,
    /// Commands queued. Range: `0..=128`.
    pub commands: u8,
    /// Outcomes waiting. Range: `0..=128`.
    pub outcomes: u8,
}

impl Status {
    /// The word on the bus.
    pub const fn pack(self) -> u32 {
        let Self { running, lost, commands, outcomes } = self;
        field::STATUS_RUNNING.put(running as u32)
            | field::STATUS_LOST.put(lost as u32)
            | field::STATUS_COMMANDS.put(commands as u32)
            | field::STATUS_OUTCOMES.put(outcomes as u32)
    }

    /// The status that a word carries; `None` if the word has another bit set.
    pub const fn unpack(word: u32) -> Option<Self> {
        let status = Self {
            running: field::STATUS_RUNNING.is_set(word),
            lost: field::STATUS_LOST.is_set(word),
            commands: field::STATUS_COMMANDS.get(word) as u8,
            outcomes: field::STATUS_OUTCOMES.get(word) as u8,
        };
        if status.pack() == word { Some(status) } else { None }
    }
}

/// The queues of commands and outcomes. A batch runs as a whole: between [`run`](Self::run) and
/// [`end`](Self::end) only `running` and `lost` of the [`status`](Self::status) are the hardware's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Queues {
    most: u8,
    status: Status,
}

impl Queues {
    /// Empty queues for this many commands, as after a reset. Range: `1..=128`.
    pub const fn new(most: u8) -> Self {
        let status = Status { running: false, lost: false, commands: 0, outcomes: 0 };
        Self { most, status }
    }

    /// The status on the bus.
    pub const fn status(&self) -> Status {
        self.status
    }

    /// A command is written. Returns whether it is queued; it is lost otherwise.
    pub const fn push(&mut self) -> bool {
        let is_queued = !self.status.running && self.status.commands < self.most;
        if is_queued {
            self.status.commands += 1;
        } else {
            self.status.lost = true;
        }
        is_queued
    }

    /// RUN is written, which does nothing while outcomes wait.
    pub const fn run(&mut self) {
        self.status.running |= self.status.outcomes == 0;
    }

    /// The batch has ended, if one ran: each of its commands has an outcome.
    pub const fn end(&mut self) {
        if self.status.running {
            self.status.running = false;
            self.status.outcomes = self.status.commands;
            self.status.commands = 0;
        }
    }

    /// The oldest outcome is read. Returns whether there was one.
    pub const fn take(&mut self) -> bool {
        let is_there = self.status.outcomes > 0;
        if is_there {
            self.status.outcomes -= 1;
        }
        is_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_carries_every_field_and_nothing_else() {
        let status = Status { running: true, lost: false, commands: 128, outcomes: 3 };
        assert_eq!(status.pack(), 0x0003_8001);
        assert_eq!(Status { lost: true, ..status }.pack(), 0x0003_8003);
        for word in [0, 1, 2, 3, 0x0003_8003, 0x00ff_ff03] {
            assert_eq!(Status::unpack(word).map(Status::pack), Some(word));
        }
        for bit in (2..8).chain(24..32) {
            assert_eq!(Status::unpack(1 << bit), None, "bit {bit}");
        }
    }

    #[test]
    fn what_finds_no_room_or_a_batch_is_lost_and_remembered() {
        let mut queues = Queues::new(2);
        assert!(queues.push() && queues.push());
        assert!(!queues.status().lost);
        assert!(!queues.push());
        let full = Status { running: false, lost: true, commands: 2, outcomes: 0 };
        assert_eq!(queues.status(), full);
        queues.run();
        queues.end();
        assert_eq!(queues.status(), Status { commands: 0, outcomes: 2, ..full });
        // Outcomes wait.
        queues.run();
        assert!(!queues.status().running && queues.take() && queues.take() && !queues.take());
        let mut queues = Queues::new(2);
        queues.run();
        assert!(!queues.push() && queues.status().lost);
        queues.end();
        assert_eq!(queues.status(), Status { lost: true, ..Status::default() });
    }
}
