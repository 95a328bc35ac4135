//! A thread's work for connections that its lanes share.
//!
//! Once per turn of the loop it opens and closes connections, gives free places to the lanes that have waited
//! longest, and writes the requests of the lanes since the previous turn: one write per connection.
//!
//! The carrier of a shared connection has a number in the slab of lanes, but is no user. The time in which it
//! opens the connection is recorded like a lane's time and added to the lanes' time. The other time of the
//! carrier is not recorded.

use mio::event::Event;

use super::{STARTS_AT_ONCE, Worker};
use crate::drive::context::Turn;
use crate::drive::lane::{FULL_READS, Fate, Lane};
use crate::drive::pool::{Pool, Recipient};
use crate::protocol::Protocol;
use crate::record::clock::now_ns;
use crate::record::failure::Failure;
use crate::record::recorder::{End, Sample};

impl<P: Protocol> Worker<P> {
    /// Lanes that are users, each with the index of its program.
    pub(super) fn users(&self) -> impl Iterator<Item = &(usize, Lane<P>)> {
        self.lanes.iter().flatten().filter(|(program, _)| self.programs[*program].serves.is_none())
    }

    /// Calls `act` on all lanes that are users.
    pub(super) fn on_users(&mut self, act: impl Fn(&mut Lane<P>, &mut Turn<'_, P>) -> Fate) {
        for id in 0..self.lanes.len() {
            let is_user = |(program, _): &(usize, Lane<P>)| self.programs[*program].serves.is_none();
            if self.lanes[id].as_ref().is_some_and(is_user) {
                self.on_lane(id, &act);
            }
        }
    }

    /// Whether this number belongs to the carrier of an open connection.
    pub(super) fn serves(&self, id: usize) -> bool {
        matches!(self.lanes.get(id), Some(Some((_, lane))) if lane.is_serving())
    }

    /// Does the due work on shared connections before the thread waits.
    pub(super) fn serve_pools(&mut self) {
        self.open_and_close();
        loop {
            let mut done = true;
            for pool in 0..self.context.pools.len() {
                done &= !self.admit_waiting(pool);
                while let Some((connection, carrier, out, fresh)) = self.context.pools[pool].next_write() {
                    done = false;
                    self.send(pool, (connection, carrier as usize), out, fresh);
                }
                while let Some((connection, carrier, leaves)) = self.context.pools[pool].next_dead() {
                    done = false;
                    if leaves {
                        self.close(pool, connection, carrier as usize);
                    } else {
                        // All requests on the connection were given up, and either no bytes are received or
                        // no place is left.
                        self.connection_lost(carrier as usize, Failure::Timeout);
                    }
                }
            }
            if done {
                return;
            }
        }
    }

    fn open_and_close(&mut self) {
        let mut left = STARTS_AT_ONCE;
        for pool in 0..self.context.pools.len() {
            while left > 0 && self.context.pools[pool].needs_more() {
                left -= 1;
                let now_ns = now_ns();
                let program = self.context.pools[pool].program;
                let id = self.place_lane(program, now_ns);
                let connection = self.context.pools[pool].add(id as u32, now_ns);
                self.on_lane(id, |lane, turn| {
                    lane.attach(connection);
                    lane.resume(turn, now_ns)
                });
            }
            self.context.pools[pool].shrink();
        }
    }

    /// Resumes lanes that have waited. Returns whether the queues had any lanes.
    fn admit_waiting(&mut self, pool: usize) -> bool {
        let mut any = false;
        // Users begin once all connections are open or have failed. Otherwise the first users would queue for
        // the first connection.
        let Pool { waiting, .. } = &self.context.pools[pool];
        if !waiting.is_empty() && self.context.pools[pool].is_up() && !self.is_opening(pool) {
            for (lane, serial) in std::mem::take(&mut self.context.pools[pool].waiting) {
                any = true;
                let now_ns = now_ns();
                self.wake(lane, serial, now_ns, now_ns);
            }
        }
        while let Some(((lane, serial), ticket)) = self.context.pools[pool].dequeue() {
            any = true;
            match self.lanes.get_mut(lane as usize) {
                Some(Some((program, waiting))) if waiting.is_queued(serial) => {
                    let mut turn = Turn { program: &self.programs[*program], context: &mut self.context };
                    let fate = waiting.acquired(ticket, &mut turn, now_ns());
                    self.remove_if_ended(lane as usize, fate);
                }
                // The lane does not wait any longer.
                _ => self.context.pools[pool].release(ticket),
            }
        }
        any
    }

    /// Whether connections of a pool are being opened. Connections that wait to be retried do not count.
    fn is_opening(&self, pool: usize) -> bool {
        let pool = &self.context.pools[pool];
        let opens =
            |id: u32| matches!(self.lanes.get(id as usize), Some(Some((_, lane))) if lane.is_connecting());
        pool.needs_more() || pool.carriers().any(opens)
    }

    /// Writes the lanes' requests to a connection.
    fn send(&mut self, pool: usize, (connection, id): (u32, usize), out: Vec<u8>, fresh: Vec<u32>) {
        let now_ns = now_ns();
        for &lane in &fresh {
            self.on_lane(lane as usize, |lane, turn| {
                lane.on_sent(turn.context, now_ns);
                Fate::Runs
            });
        }
        let Some(Some((_, carrier))) = self.lanes.get_mut(id) else { return };
        let sent = carrier.write(&out, &mut self.context);
        match sent {
            Ok(sent) => self.context.pools[pool].keep_unsent(connection, out, sent, fresh),
            Err(failure) => self.connection_lost(id, failure),
        }
    }

    /// Handles an event of a shared connection.
    #[inline(never)]
    pub(super) fn on_shared_event(&mut self, id: usize, event: &Event) {
        if event.is_writable()
            && let Some((pool, connection)) = self.pool_of(id)
        {
            self.context.pools[pool].unblock(connection);
        }
        let closed = event.is_read_closed() || event.is_error();
        if event.is_readable() || closed {
            self.read_shared(id, closed);
        }
    }

    /// The pool and the connection of a carrier.
    fn pool_of(&self, id: usize) -> Option<(usize, u32)> {
        let (program, carrier) = self.lanes.get(id)?.as_ref()?;
        Some((self.programs[*program].serves?, carrier.attached()))
    }

    /// Reads from a shared connection, at most [`FULL_READS`] times in one turn.
    pub(super) fn read_shared(&mut self, id: usize, to_the_end: bool) {
        for _ in 0..FULL_READS {
            let Some((pool, connection)) = self.pool_of(id) else { return };
            let Some(Some((_, carrier))) = self.lanes.get_mut(id) else { return };
            if !carrier.is_serving() {
                return;
            }
            let (all, emptied) = match carrier.receive(&mut self.context) {
                Ok(Some(gathered)) => gathered,
                Ok(None) => return,
                Err(failure) => return self.connection_lost(id, failure),
            };
            // The buffer is taken out of the context while lanes use the buffer.
            let buffer = std::mem::take(&mut self.context.buffer);
            match self.dispatch(pool, connection, &buffer[..all]) {
                Ok(used) => {
                    if let Some(Some((_, carrier))) = self.lanes.get_mut(id) {
                        carrier.keep_rest(buffer, used..all, &mut self.context);
                    }
                }
                Err(failure) => {
                    self.context.buffer = buffer;
                    return self.connection_lost(id, failure);
                }
            }
            if emptied && !to_the_end {
                return;
            }
        }
        self.context.half_read.push((id, to_the_end));
    }

    /// Passes each message to the lane whose request it answers. Returns the number of consumed bytes. An
    /// error ends the connection.
    fn dispatch(&mut self, pool: usize, connection: u32, bytes: &[u8]) -> Result<usize, Failure> {
        let read_ns = now_ns();
        self.context.pools[pool].received(connection, read_ns);
        let mut at = 0;
        while let Some(message) = self.context.protocol.next_message(&bytes[at..])? {
            let content = &bytes[at..at + message.length];
            at += message.length;
            match self.context.pools[pool].recipient(connection, message.number, message.last) {
                Recipient::Lane(id) => {
                    let id = id as usize;
                    if let Some(Some((program, lane))) = self.lanes.get_mut(id) {
                        let mut turn = Turn { program: &self.programs[*program], context: &mut self.context };
                        let fate = lane.on_message(content, read_ns, &mut turn)?;
                        self.remove_if_ended(id, fate);
                    }
                }
                Recipient::Late => {}
                Recipient::Unknown if message.goodbye => return Err(Failure::Closed),
                Recipient::Unknown => {
                    let slot = self.context.pools[pool].unsolicited;
                    let bytes_in = message.length as u64;
                    let unsolicited = Sample::unsent(read_ns, Failure::Unasked, read_ns);
                    let sample = Sample { bytes_in, end: End::Wrong(Failure::Unasked), ..unsolicited };
                    self.context.recorders.record(slot, &sample);
                }
            }
        }
        Ok(at)
    }

    /// Handles the loss of a shared connection, and of the requests in flight on it.
    fn connection_lost(&mut self, id: usize, failure: Failure) {
        let Some((pool, connection)) = self.pool_of(id) else { return };
        let lanes = self.context.pools[pool].lost(connection);
        let now_ns = now_ns();
        self.account(id, now_ns);
        self.on_lane(id, |carrier, turn| carrier.carrier_lost(failure, turn, now_ns));
        for lane in lanes {
            self.on_lane(lane as usize, |lane, turn| lane.pool_connection_lost(failure, turn, now_ns));
        }
    }

    /// Closes a shared connection for good.
    fn close(&mut self, pool: usize, connection: u32, id: usize) {
        self.account(id, now_ns());
        if let Some(Some((_, mut carrier))) = self.lanes.get_mut(id).map(Option::take) {
            carrier.shut_down(&mut self.context);
            self.free.push(id as u32);
        }
        self.context.pools[pool].remove(connection);
    }

    pub(super) fn close_pools(&mut self) {
        for id in 0..self.lanes.len() {
            if let Some((pool, connection)) = self.pool_of(id) {
                self.close(pool, connection, id);
            }
        }
    }

    /// Adds the time for opening a connection to the lanes' time. The next count begins at `from_ns`.
    fn account(&mut self, id: usize, from_ns: u64) {
        self.lane_ns += self.opening_ns(id, Some(from_ns));
    }

    /// The recorded time for opening shared connections.
    pub(super) fn count_opening(&mut self) -> u64 {
        (0..self.lanes.len()).map(|id| self.opening_ns(id, None)).sum()
    }

    /// The time in which a carrier opened its connection since the last count; 0 for a user. The next count begins
    /// at `from_ns`, or at the end of the recorded time.
    fn opening_ns(&mut self, id: usize, from_ns: Option<u64>) -> u64 {
        let Some((pool, connection)) = self.pool_of(id) else { return 0 };
        let since_ns = self.lanes[id].as_ref().map_or(0, |(_, carrier)| carrier.since_ns);
        self.context.pools[pool].count_opening(connection, since_ns, from_ns.unwrap_or(since_ns))
    }
}
