//! The state that the lanes of one thread share.

use std::collections::VecDeque;

use mio::Registry;

use crate::choose::schedule::Arrivals;
use crate::connection::endpoint::Endpoint;
use crate::drive::batch::Staged;
use crate::drive::pool::Pool;
use crate::drive::timers::Timers;
use crate::program::{Deck, Program};
use crate::protocol::Protocol;
use crate::record::examples::Examples;
use crate::record::log::Log;
use crate::record::recorder::Split;

/// The size of one read. Answers are about a kilobyte; large answers are read in pieces of this size.
pub(crate) const BUFFER_BYTES: usize = 64 << 10;

/// The minimum room for a read; a buffer with less room grows.
const LEAST_ROOM: usize = 16 << 10;

/// The state that the lanes of one thread share, and no other thread uses.
pub(crate) struct Context<P: Protocol> {
    pub(crate) registry: Registry,
    /// The endpoints of the target's addresses.
    pub(crate) addresses: Box<[Box<[Endpoint]>]>,
    pub(crate) protocol: P,
    pub(crate) recorders: Split,
    pub(crate) examples: Examples,
    pub(crate) log: Log,
    pub(crate) timers: Timers,
    pub(crate) decks: Vec<Deck>,
    /// The serial number of the last sleep.
    pub(crate) serial: u32,
    pub(crate) arrivals: Arrivals,
    /// Lanes that wait for an arrival, the longest waiting first.
    pub(crate) idle: VecDeque<u32>,
    /// Lanes that wait for an exclusive row, the longest waiting first, each with the serial number of its wait.
    pub(crate) row_waiters: VecDeque<(u32, u32)>,
    /// The place in `row_waiters` of the lane that retries its draw.
    pub(crate) row_turn: Option<usize>,
    pub(crate) pools: Vec<Pool>,
    /// The time at which each lane's operation in flight times out. Kept apart from the lanes, so that the
    /// search for overdue operations touches little memory.
    pub(crate) deadlines: Vec<u64>,
    /// Requests of each lane that succeeded since the last drain; empty unless phases are recorded.
    pub(crate) lane_counts: Vec<u64>,
    /// Users that have ended since the start because the data had no row left for them.
    pub(crate) without_row: u64,
    /// Time that users waited, since the last drain, for exclusive rows of data that other users
    /// held.
    pub(crate) row_wait_ns: u64,
    /// Requests being written. One buffer for all lanes stays in the cache.
    pub(crate) out: Vec<u8>,
    /// Whether requests stay in `out` until the requests of the whole batch are ready.
    pub(crate) staging: bool,
    pub(crate) staged: Vec<Staged>,
    /// Tokens of sockets that were not read until empty, with whether the peer's close was seen. No further
    /// event reports these sockets.
    pub(crate) half_read: Vec<(usize, bool)>,
    /// Bytes just read. One buffer for all lanes stays in the cache.
    pub(crate) buffer: Vec<u8>,
    /// The earliest time at which an answer that is read now may have arrived.
    pub(crate) quiet_ns: u64,
    /// The sum of the lanes' waits that have ended.
    pub(crate) waiting_ns: u64,
    pub(crate) timeout_ns: u64,
    pub(crate) connect_timeout_ns: u64,
    pub(crate) rng: fastrand::Rng,
}

pub(crate) struct Turn<'a, P: Protocol> {
    pub(crate) program: &'a Program<P::Request>,
    pub(crate) context: &'a mut Context<P>,
}

impl<P: Protocol> Context<P> {
    /// Copies the unconsumed rest of a lane's last read to the front of the buffer, and makes room behind the
    /// copy.
    #[inline]
    pub(crate) fn load(&mut self, unconsumed: &[u8]) {
        if self.buffer.len() < unconsumed.len() + LEAST_ROOM {
            self.buffer.resize((unconsumed.len() * 2).next_power_of_two().max(BUFFER_BYTES), 0);
        }
        self.buffer[..unconsumed.len()].copy_from_slice(unconsumed);
    }

    /// Frees the memory that a large answer needed.
    pub(crate) fn shrink(&mut self) {
        self.buffer.truncate(BUFFER_BYTES);
        self.buffer.shrink_to_fit();
    }

    /// Lets a lane sleep until `due_ns`. Returns the serial number of the sleep.
    pub(crate) fn sleep(&mut self, lane: u32, due_ns: u64) -> u32 {
        let serial = self.next_serial();
        self.timers.add(due_ns, lane, serial);
        serial
    }

    /// Adds a lane to the queue for rows: at the end, or at its former place.
    #[cold]
    pub(crate) fn wait_for_row(&mut self, lane: u32, serial: u32) {
        if self.row_waiters.is_empty() {
            // Rows given back before this wait are not for this lane.
            let _ = self.protocol.take_returned_rows();
        }
        let place = self.row_turn.take().unwrap_or(self.row_waiters.len());
        self.row_waiters.insert(place, (lane, serial));
    }

    pub(crate) const fn next_serial(&mut self) -> u32 {
        self.serial = self.serial.wrapping_add(1);
        self.serial
    }
}
