//! Window: messages on their way, in order, numbered modulo 256.

use heapless::{Deque, Vec};

/// Messages that wait to be acknowledged, oldest first.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing<const FRAME: usize, const WINDOW: usize> {
    // Invariants: next <= messages.len(); sent <= messages.len(); next <= sent.
    messages: Deque<Vec<u8, FRAME>, WINDOW>,
    /// The number of the oldest.
    first: u8,
    /// The place of the message to send next: those before it have been sent in this round.
    next: usize,
    /// Messages that were sent at least once.
    sent: usize,
    /// Messages from the oldest on for which the peer has room.
    room: usize,
}

impl<const FRAME: usize, const WINDOW: usize> Outgoing<FRAME, WINDOW> {
    pub(crate) const fn new() -> Self {
        Self { messages: Deque::new(), first: 0, next: 0, sent: 0, room: 0 }
    }

    /// Resets to the state after `new`, in the same memory.
    pub(crate) fn clear(&mut self) {
        self.messages.clear();
        (self.first, self.next, self.sent, self.room) = (0, 0, 0, 0);
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.messages.is_full()
    }

    /// A new, empty message behind the others; `None` if the window is full.
    pub(crate) fn add(&mut self) -> Option<&mut Vec<u8, FRAME>> {
        self.messages.push_back(Vec::new()).ok()?;
        self.messages.back_mut()
    }

    /// Takes the new message back.
    pub(crate) fn take_back(&mut self) {
        debug_assert!(self.sent < self.messages.len(), "it was not sent");
        self.messages.pop_back();
    }

    /// The next message that the peer takes, with its number, and whether it was sent before.
    pub(crate) fn advance(&mut self) -> Option<(u8, &[u8], bool)> {
        if self.next >= self.room {
            return None;
        }
        let message = self.messages.get(self.next)?;
        // The window is at most 64.
        let number = self.first.wrapping_add(self.next as u8);
        let again = self.next < self.sent;
        self.next += 1;
        self.sent = self.sent.max(self.next);
        Some((number, message, again))
    }

    /// Starts over with the oldest.
    pub(crate) fn rewind(&mut self) {
        self.next = 0;
    }

    /// Whether the peer has room for one that was not sent in this round.
    pub(crate) fn has_next(&self) -> bool {
        self.next < self.room.min(self.messages.len())
    }

    /// Takes an acknowledgement. Returns how many messages it ends, or `None` if it is of a number
    /// that was never sent.
    pub(crate) fn acknowledge(&mut self, next: u8, room: u8) -> Option<usize> {
        let ended = usize::from(next.wrapping_sub(self.first));
        if ended > self.sent {
            return None;
        }
        for _ in 0..ended {
            self.messages.pop_front();
        }
        self.first = next;
        self.next = self.next.saturating_sub(ended);
        self.sent -= ended;
        self.room = usize::from(room);
        Some(ended)
    }
}

/// What became of a message that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It is kept, and delivered in its turn.
    Kept,
    /// It had arrived before.
    Duplicate,
    /// It is further ahead than there is room.
    NoRoom,
}

/// Messages that came and were not taken yet. One that arrived before its turn waits in its place.
#[derive(Clone, Debug)]
pub(crate) struct Incoming<const FRAME: usize, const WINDOW: usize> {
    // Invariants: the message of number n is in places[n % WINDOW]; numbers are
    // first..first + WINDOW; those of first..next are all there, that of next is not.
    places: [Option<Vec<u8, FRAME>>; WINDOW],
    /// The number of the message to take next.
    first: u8,
    /// The first number that has not arrived.
    next: u8,
    /// The number behind the last for which room was announced.
    announced: u8,
}

impl<const FRAME: usize, const WINDOW: usize> Incoming<FRAME, WINDOW> {
    pub(crate) const fn new() -> Self {
        Self { places: [const { None }; WINDOW], first: 0, next: 0, announced: 0 }
    }

    /// Resets to the state after `new`, in the same memory.
    pub(crate) fn clear(&mut self) {
        self.places.iter_mut().for_each(|place| *place = None);
        (self.first, self.next, self.announced) = (0, 0, 0);
    }

    /// Takes a message of a number.
    pub(crate) fn put(&mut self, number: u8, message: &[u8]) -> Arrival {
        let ahead = usize::from(number.wrapping_sub(self.first));
        if ahead >= WINDOW {
            // A number that was taken lies at most a window, which is 64, behind.
            return if number.wrapping_sub(self.first) >= 128 {
                Arrival::Duplicate
            } else {
                Arrival::NoRoom
            };
        }
        let place = &mut self.places[usize::from(number) % WINDOW];
        if place.is_some() {
            return Arrival::Duplicate;
        }
        // In its place, not by way of the stack. Nothing longer than a frame comes out of one.
        if place.insert(Vec::new()).extend_from_slice(message).is_err() {
            *place = None;
            return Arrival::NoRoom;
        }
        while usize::from(self.next.wrapping_sub(self.first)) < WINDOW
            && self.places[usize::from(self.next) % WINDOW].is_some()
        {
            self.next = self.next.wrapping_add(1);
        }
        Arrival::Kept
    }

    /// The next message in order.
    pub(crate) fn take(&mut self) -> Option<Vec<u8, FRAME>> {
        if self.first == self.next {
            return None;
        }
        let message = self.places[usize::from(self.first) % WINDOW].take()?;
        self.first = self.first.wrapping_add(1);
        Some(message)
    }

    /// The next message in order, which stays.
    pub(crate) fn first(&self) -> Option<&[u8]> {
        // It is empty between taking a message and the coming of the next.
        self.places[usize::from(self.first) % WINDOW].as_deref()
    }

    /// Leaves the next message in order behind. Returns whether there was one.
    pub(crate) fn skip(&mut self) -> bool {
        let place = &mut self.places[usize::from(self.first) % WINDOW];
        let was_there = place.is_some();
        if was_there {
            *place = None;
            self.first = self.first.wrapping_add(1);
        }
        was_there
    }

    /// The first number that has not come, and for how many from there on there is room: what is
    /// announced with this.
    pub(crate) fn announce(&mut self) -> (u8, u8) {
        let end = self.end();
        self.announced = end;
        (self.next, end.wrapping_sub(self.next))
    }

    /// Whether at least half a window more has room than was announced.
    pub(crate) fn has_news(&self) -> bool {
        usize::from(self.end().wrapping_sub(self.announced)) >= WINDOW.div_ceil(2)
    }

    /// The number behind the last for which there is room.
    fn end(&self) -> u8 {
        // The window is at most 64.
        self.first.wrapping_add(WINDOW as u8)
    }
}
