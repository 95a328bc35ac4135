//! Connections that the lanes of a thread share.
//!
//! A lane takes a ticket for one of the connections, or waits in the queue. The message id of its request is unique on
//! the connection, and maps the answer to the lane. Requests of one turn of the thread are appended to one buffer per
//! connection, which is sent with one write at the end of the turn.
//!
//! ```text
//!   lane -- ticket --> in flight --- last message ---> free
//!                          |  timeout
//!                          v
//!                      abandoned --- last message ---> free
//! ```
//!
//! The id of an abandoned request is not reused before the answer arrives: a late answer would be taken for the answer
//! to the next request. The abandoned request keeps its place, as the target may still be processing it.

use std::collections::VecDeque;

use crate::program::PoolPlan;
use crate::record::recorder::Slot;

/// Ids are used in turn, up to the largest id that is one byte in BER. There are about twice as many ids as
/// places, so a freed id is not reused immediately.
const LAST_ID: usize = 127;

/// An id that belongs to no request.
const FREE: u32 = u32::MAX;

/// An id of an abandoned request.
const ABANDONED: u32 = u32::MAX - 1;

/// A lane's right to one request in flight on a shared connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) connection: u32,
    /// The message id of its request.
    pub(crate) id: u8,
}

/// A waiting lane, and the serial number of its wait.
pub(crate) type Waiting = (u32, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipient {
    Lane(u32),
    /// The lane of this id has abandoned the request.
    Late,
    /// No request has this id.
    Unknown,
}

#[derive(Debug)]
struct Shared {
    /// The number of the lane that holds the connection.
    carrier: u32,
    is_up: bool,
    /// Whether the connection takes no more requests, and closes when no request is in flight.
    is_closing: bool,
    /// Whether nothing was received for a whole timeout. A silent connection takes no requests until bytes
    /// are received.
    is_silent: bool,
    received_ns: u64,
    /// Whether the connection is in the pool's `available`, which has each connection at most once.
    is_available: bool,
    /// The id of the newest request; the search for the next free id begins after it.
    last: usize,
    in_flight: u8,
    abandoned: u8,
    /// The lane of each request in flight, by id; [`FREE`] or [`ABANDONED`].
    lanes: [u32; LAST_ID + 1],
    out: Vec<u8>,
    /// Whether the socket has not taken all of `out`.
    is_blocked: bool,
    unsent_lanes: Vec<u32>,
    /// A bit for the id of each request in `out`.
    unsent_ids: u128,
    /// The time up to which opening the connection is counted.
    counted_ns: u64,
}

impl Shared {
    /// Gives a lane the next free id. A free id always exists: there are more ids than places.
    const fn next_id(&mut self, lane: u32) -> u8 {
        let mut id = self.last % LAST_ID + 1;
        while self.lanes[id] != FREE {
            id = id % LAST_ID + 1;
        }
        self.last = id;
        self.lanes[id] = lane;
        id as u8
    }
}

/// One thread's pool of shared connections.
#[derive(Debug)]
pub(crate) struct Pool {
    /// The program of the carriers, the lanes that hold the connections.
    pub(crate) program: usize,
    pub(crate) unsolicited: Slot,
    places: u8,
    /// The number of connections; `None` for as many connections as the lanes need.
    size: Option<u32>,
    lanes: u64,
    connections: Vec<Option<Box<Shared>>>,
    /// The number of connections that are not closing.
    staying: u64,
    up: u64,
    /// Connections with a free place, used in turn (round robin).
    available: VecDeque<u32>,
    /// Lanes that wait for a ticket, the longest waiting first.
    pub(crate) queue: VecDeque<Waiting>,
    /// Lanes that wait until a connection is open.
    pub(crate) waiting: Vec<Waiting>,
    pending_writes: Vec<u32>,
    /// Connections to close, or to reopen.
    dead: Vec<u32>,
}

impl Pool {
    /// The part of a pool that belongs to thread `thread` of `threads`.
    pub(crate) fn new(plan: &PoolPlan, thread: usize, threads: usize) -> Self {
        let (thread, threads) = (thread as u32, threads as u32);
        let part = |all: u32| all / threads + u32::from(thread < all % threads);
        Self {
            program: plan.program,
            unsolicited: plan.unsolicited,
            places: plan.places,
            size: plan.connections.map(part),
            lanes: 0,
            connections: Vec::new(),
            staying: 0,
            up: 0,
            available: VecDeque::new(),
            queue: VecDeque::new(),
            waiting: Vec::new(),
            pending_writes: Vec::new(),
            dead: Vec::new(),
        }
    }

    /// Counts a lane that begins to use the pool (`more`), or ends.
    pub(crate) const fn count_lane(&mut self, more: bool) {
        self.lanes = if more { self.lanes + 1 } else { self.lanes.saturating_sub(1) };
    }

    const fn wanted(&self) -> u64 {
        match self.size {
            // Connections stay open after the last lane has ended.
            Some(size) if self.lanes > 0 || self.staying > 0 => size as u64,
            Some(_) => 0,
            None => self.lanes.div_ceil(self.places as u64),
        }
    }

    /// Whether there should be more connections.
    pub(crate) const fn needs_more(&self) -> bool {
        self.staying < self.wanted()
    }

    /// Adds a connection that is being opened; returns its number.
    pub(crate) fn add(&mut self, carrier: u32, now_ns: u64) -> u32 {
        let shared = Shared {
            carrier,
            is_up: false,
            is_closing: false,
            is_silent: false,
            received_ns: 0,
            is_available: false,
            last: 0,
            in_flight: 0,
            abandoned: 0,
            lanes: [FREE; LAST_ID + 1],
            out: Vec::new(),
            is_blocked: false,
            unsent_lanes: Vec::new(),
            unsent_ids: 0,
            counted_ns: now_ns,
        };
        self.staying += 1;
        let free = self.connections.iter().position(Option::is_none);
        let number = free.unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        self.connections[number] = Some(Box::new(shared));
        number as u32
    }

    fn shared(&mut self, connection: u32) -> Option<&mut Shared> {
        self.connections.get_mut(connection as usize)?.as_deref_mut()
    }

    /// Closes surplus connections.
    pub(crate) fn shrink(&mut self) {
        while self.staying > self.wanted() {
            let mut all = self.connections.iter_mut().enumerate().rev();
            let Some((number, shared)) = all.find_map(|(number, shared)| {
                shared.as_deref_mut().filter(|shared| !shared.is_closing).map(|shared| (number, shared))
            }) else {
                return;
            };
            shared.is_closing = true;
            if shared.in_flight == shared.abandoned {
                self.dead.push(number as u32);
            }
            self.staying -= 1;
        }
    }

    /// Marks a connection as open.
    pub(crate) fn opened(&mut self, connection: u32) {
        let Some(shared) = self.shared(connection).filter(|shared| !shared.is_up) else { return };
        shared.is_up = true;
        let is_closing = shared.is_closing;
        self.up += 1;
        if is_closing {
            self.dead.push(connection);
        }
        self.make_available(connection);
    }

    /// Whether any connection is open.
    pub(crate) const fn is_up(&self) -> bool {
        self.up > 0
    }

    /// Handles the loss of a connection. Returns the lanes whose requests were in flight on it, in the order
    /// of their ids.
    pub(crate) fn lost(&mut self, connection: u32) -> Vec<u32> {
        let Some(shared) = self.shared(connection) else { return Vec::new() };
        let was_up = std::mem::take(&mut shared.is_up);
        let lanes = std::mem::replace(&mut shared.lanes, [FREE; LAST_ID + 1]);
        (shared.in_flight, shared.abandoned, shared.last) = (0, 0, 0);
        shared.is_silent = false;
        (shared.out, shared.is_blocked) = (Vec::new(), false);
        shared.unsent_lanes.clear();
        shared.unsent_ids = 0;
        let is_closing = shared.is_closing;
        self.up -= u64::from(was_up);
        if is_closing {
            self.dead.push(connection);
        }
        lanes.into_iter().filter(|lane| !matches!(*lane, FREE | ABANDONED)).collect()
    }

    pub(crate) fn remove(&mut self, connection: u32) {
        if let Some(shared) = self.connections.get_mut(connection as usize).and_then(Option::take) {
            self.up -= u64::from(shared.is_up);
            self.staying -= u64::from(!shared.is_closing);
        }
    }

    /// Makes a connection available, if it has a free place.
    fn make_available(&mut self, connection: u32) {
        let places = self.places;
        let Some(shared) = self.shared(connection) else { return };
        let takes = shared.is_up && !shared.is_closing && !shared.is_silent;
        let has_room = takes && shared.in_flight < places;
        if has_room && !shared.is_available {
            shared.is_available = true;
            self.available.push_back(connection);
        }
    }

    /// A ticket for a lane that has not waited. `None` if no place is free or other lanes wait.
    pub(crate) fn take(&mut self, lane: u32) -> Option<Ticket> {
        if self.queue.is_empty() { self.take_place(lane) } else { None }
    }

    fn take_place(&mut self, lane: u32) -> Option<Ticket> {
        while let Some(connection) = self.available.pop_front() {
            let Some(shared) = self.shared(connection) else { continue };
            shared.is_available = false;
            if !shared.is_up || shared.is_closing || shared.is_silent {
                continue;
            }
            let id = shared.next_id(lane);
            shared.in_flight += 1;
            self.make_available(connection);
            return Some(Ticket { connection, id });
        }
        None
    }

    /// Gives the request's place another id, for the next page of the answer.
    pub(crate) fn renew(&mut self, ticket: Ticket) -> Ticket {
        let Some(shared) = self.shared(ticket.connection) else { return ticket };
        let lane = std::mem::replace(&mut shared.lanes[usize::from(ticket.id)], FREE);
        Ticket { id: shared.next_id(lane), ..ticket }
    }

    /// Removes and returns the lane that has waited longest, with its ticket.
    pub(crate) fn dequeue(&mut self) -> Option<(Waiting, Ticket)> {
        let waiting @ (lane, _) = *self.queue.front()?;
        let ticket = self.take_place(lane)?;
        self.queue.pop_front();
        Some((waiting, ticket))
    }

    /// The lanes that hold the pool's connections.
    pub(crate) fn carriers(&self) -> impl Iterator<Item = u32> {
        self.connections.iter().flatten().map(|shared| shared.carrier)
    }

    /// The buffer to which a lane appends its request.
    pub(crate) fn out(&mut self, ticket: Ticket) -> Option<&mut Vec<u8>> {
        Some(&mut self.shared(ticket.connection)?.out)
    }

    /// Schedules the write of a request that a lane has appended.
    pub(crate) fn stage(&mut self, ticket: Ticket, lane: u32) {
        let Some(shared) = self.shared(ticket.connection) else { return };
        let is_first = shared.unsent_lanes.is_empty();
        shared.unsent_lanes.push(lane);
        shared.unsent_ids |= 1 << ticket.id;
        if is_first {
            self.pending_writes.push(ticket.connection);
        }
    }

    /// A connection to write to: its number, its carrier, the bytes, and the lanes whose requests the bytes
    /// are.
    pub(crate) fn next_write(&mut self) -> Option<(u32, u32, Vec<u8>, Vec<u32>)> {
        while let Some(connection) = self.pending_writes.pop() {
            let has_more = |shared: &&mut Shared| !shared.unsent_lanes.is_empty() || shared.is_blocked;
            if let Some(shared) = self.shared(connection).filter(has_more) {
                let out = std::mem::take(&mut shared.out);
                shared.unsent_ids = 0;
                return Some((connection, shared.carrier, out, std::mem::take(&mut shared.unsent_lanes)));
            }
        }
        None
    }

    /// Schedules the write of the unsent bytes: the socket has room again.
    pub(crate) fn unblock(&mut self, connection: u32) {
        if self.shared(connection).is_some_and(|shared| shared.is_blocked) {
            self.pending_writes.push(connection);
        }
    }

    /// Keeps the bytes that the socket did not take, and reuses the memory of both vectors.
    pub(crate) fn keep_unsent(
        &mut self,
        connection: u32,
        mut out: Vec<u8>,
        sent: usize,
        unsent_lanes: Vec<u32>,
    ) {
        let Some(shared) = self.shared(connection) else { return };
        out.drain(..sent);
        shared.is_blocked = !out.is_empty();
        // No lane appends a request during a write.
        shared.out = out;
        if shared.unsent_lanes.capacity() < unsent_lanes.capacity() {
            shared.unsent_lanes = unsent_lanes;
            shared.unsent_lanes.clear();
        }
    }

    /// Called when bytes were received on a connection.
    #[inline]
    pub(crate) fn received(&mut self, connection: u32, now_ns: u64) {
        let Some(shared) = self.shared(connection) else { return };
        shared.received_ns = now_ns;
        if std::mem::take(&mut shared.is_silent) {
            self.make_available(connection);
        }
    }

    /// The lane that a message is for.
    #[inline]
    pub(crate) fn recipient(&mut self, connection: u32, id: i32, last: bool) -> Recipient {
        let Some(shared) = self.shared(connection) else { return Recipient::Unknown };
        let Some(place @ 1..) = usize::try_from(id).ok().filter(|place| *place <= LAST_ID) else {
            return Recipient::Unknown;
        };
        match shared.lanes[place] {
            FREE => Recipient::Unknown,
            // The request is not sent yet, so the message answers an earlier request with the same id.
            _ if shared.unsent_ids >> place & 1 == 1 => Recipient::Unknown,
            ABANDONED => {
                if last {
                    shared.abandoned -= 1;
                    self.release(Ticket { connection, id: place as u8 });
                }
                Recipient::Late
            }
            lane => Recipient::Lane(lane),
        }
    }

    /// Frees the place of a request that was answered.
    pub(crate) fn release(&mut self, ticket: Ticket) {
        let Some(shared) = self.shared(ticket.connection) else { return };
        if std::mem::replace(&mut shared.lanes[usize::from(ticket.id)], FREE) == FREE {
            return;
        }
        shared.in_flight -= 1;
        if shared.is_closing && shared.in_flight == shared.abandoned {
            self.dead.push(ticket.connection);
        }
        self.make_available(ticket.connection);
    }

    /// Abandons a request that has waited since `since_ns`. Its place is freed when the answer arrives.
    pub(crate) fn abandon(&mut self, ticket: Ticket, since_ns: u64) {
        let places = self.places;
        let Some(shared) = self.shared(ticket.connection) else { return };
        let lane = &mut shared.lanes[usize::from(ticket.id)];
        if matches!(*lane, FREE | ABANDONED) {
            return;
        }
        *lane = ABANDONED;
        shared.abandoned += 1;
        shared.is_silent |= shared.received_ns <= since_ns;
        let ends = shared.is_closing || shared.is_silent;
        if shared.abandoned == places || (ends && shared.abandoned == shared.in_flight) {
            self.dead.push(ticket.connection);
        }
    }

    /// A connection to close, or to reopen because nothing is answered: its number, its carrier, and whether
    /// the connection is closing.
    pub(crate) fn next_dead(&mut self) -> Option<(u32, u32, bool)> {
        let places = self.places;
        while let Some(connection) = self.dead.pop() {
            if let Some(shared) = self.shared(connection)
                && shared.in_flight == shared.abandoned
                && (shared.is_closing || shared.is_silent || shared.abandoned == places)
            {
                return Some((connection, shared.carrier, shared.is_closing));
            }
        }
        None
    }

    /// The time spent on opening a connection since the previous count. The next count begins at `from_ns`.
    pub(crate) fn count_opening(&mut self, connection: u32, since_ns: u64, from_ns: u64) -> u64 {
        let Some(shared) = self.shared(connection) else { return 0 };
        let counted_ns = std::mem::replace(&mut shared.counted_ns, from_ns);
        since_ns.saturating_sub(counted_ns)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pool(connections: Option<u32>, places: u8) -> Pool {
        Pool::new(&PoolPlan { program: 0, connections, places, unsolicited: Slot(0) }, 0, 1)
    }

    fn up(pool: &mut Pool, carrier: u32) -> u32 {
        let connection = pool.add(carrier, 0);
        pool.opened(connection);
        pool.received(connection, 1);
        connection
    }

    #[test]
    fn the_connections_of_a_pool_are_divided_among_the_threads() {
        let plan = PoolPlan { program: 0, connections: Some(11), places: 1, unsolicited: Slot(0) };
        let parts: Vec<_> = (0..4).map(|thread| Pool::new(&plan, thread, 4).size.unwrap()).collect();
        assert_eq!(parts, [3, 3, 3, 2]);
    }

    #[test]
    fn a_pool_opens_the_fewest_connections_that_give_each_lane_a_place() {
        let mut pool = pool(None, 16);
        for (lanes, wanted) in [(1, 1), (16, 1), (17, 2), (64, 4)] {
            while pool.lanes < lanes {
                pool.count_lane(true);
            }
            assert_eq!(pool.wanted(), wanted);
        }
        for carrier in 0..4 {
            up(&mut pool, carrier);
        }
        (0..40).for_each(|_| pool.count_lane(false));
        let busy = pool.take(7).unwrap();
        pool.shrink();
        let mut gone = Vec::new();
        while let Some((connection, ..)) = pool.next_dead() {
            pool.remove(connection);
            gone.push(connection);
        }
        assert_eq!(gone, [2, 3]);
        assert_eq!((pool.up, busy.connection), (2, 0));
    }

    #[test]
    fn connections_take_requests_in_turn_up_to_their_limit() {
        let mut pool = pool(Some(3), 2);
        for carrier in 0..3 {
            up(&mut pool, carrier);
        }
        let tickets: Vec<_> = (0..6).filter_map(|lane| pool.take(lane)).collect();
        assert_eq!(tickets.iter().map(|ticket| ticket.connection).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        assert_eq!(pool.take(6), None);
        pool.release(tickets[4]);
        assert_eq!(pool.take(6), Some(Ticket { connection: 1, id: 3 }));
    }

    #[test]
    fn each_request_in_a_place_has_a_new_message_id() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 0);
        let (one, other) = (pool.take(5).unwrap(), pool.take(6).unwrap());
        let next = pool.renew(one);
        assert_eq!((one.id, other.id, next.id), (1, 2, 3));
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Unknown);
        assert_eq!(pool.recipient(connection, 3, true), Recipient::Lane(5));
        assert_eq!(pool.take(7), None);
        pool.release(next);
        assert_eq!(pool.take(7).unwrap().id, 4);
    }

    #[test]
    fn the_lane_that_has_waited_longest_gets_the_next_place() {
        let mut pool = pool(Some(1), 1);
        up(&mut pool, 0);
        let ticket = pool.take(1).unwrap();
        pool.queue.push_back((2, 5));
        pool.queue.push_back((3, 6));
        pool.release(ticket);
        assert_eq!(pool.take(1), None);
        let (waiting, ticket) = pool.dequeue().unwrap();
        assert_eq!((waiting, pool.dequeue()), ((2, 5), None));
        pool.release(ticket);
        assert_eq!(pool.dequeue().unwrap().0, (3, 6));
    }

    #[test]
    fn an_abandoned_message_id_is_not_reused_before_its_answer() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 0);
        let (one, other) = (pool.take(1).unwrap(), pool.take(2).unwrap());
        pool.abandon(one, 0);
        assert_eq!(pool.take(3), None);
        pool.release(other);
        for _ in 0..300 {
            let ticket = pool.take(3).unwrap();
            assert_ne!(ticket.id, one.id);
            assert_eq!(pool.take(4), None);
            pool.release(ticket);
        }
        assert_eq!(pool.recipient(connection, 1, false), Recipient::Late);
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Late);
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Unknown);
        let ticket = pool.take(3).unwrap();
        assert!(pool.take(4).is_some());
        pool.abandon(ticket, 0);
        assert_eq!(pool.next_dead(), None);
    }

    #[test]
    fn a_connection_without_answers_is_given_up() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 9);
        let tickets = [pool.take(1).unwrap(), pool.take(2).unwrap()];
        tickets.iter().for_each(|ticket| pool.abandon(*ticket, 0));
        assert_eq!(pool.next_dead(), Some((connection, 9, false)));
        assert_eq!(pool.lost(connection), [0; 0]);
        pool.opened(connection);
        assert!(pool.take(1).is_some());
    }

    #[test]
    fn a_retiring_connection_that_is_lost_is_given_up() {
        let mut pool = pool(None, 1);
        let connection = up(&mut pool, 9);
        pool.count_lane(true);
        pool.take(1).unwrap();
        pool.count_lane(false);
        pool.shrink();
        assert_eq!(pool.next_dead(), None);
        assert_eq!(pool.lost(connection), [1]);
        assert_eq!(pool.next_dead(), Some((connection, 9, true)));
    }

    #[test]
    fn a_silent_connection_takes_no_requests_until_it_receives_an_answer() {
        let mut pool = pool(Some(1), 8);
        let connection = up(&mut pool, 9);
        let tickets = [pool.take(1).unwrap(), pool.take(2).unwrap()];
        pool.abandon(tickets[0], 1);
        assert_eq!((pool.take(3), pool.next_dead()), (None, None));
        pool.received(connection, 5);
        let third = pool.take(3).unwrap();
        pool.abandon(tickets[1], 4);
        pool.abandon(third, 5);
        assert_eq!(pool.next_dead(), Some((connection, 9, false)));
    }

    #[test]
    fn unknown_message_ids_belong_to_no_lane() {
        let mut pool = pool(Some(1), 64);
        let connection = up(&mut pool, 0);
        let lanes: Vec<_> = (0..64).map(|lane| pool.take(lane).unwrap().id).collect();
        assert_eq!(lanes, (1..=64).collect::<Vec<u8>>());
        for id in [0, -1, 65, 127, 128, i32::MIN, i32::MAX, 256 + 5] {
            assert_eq!(pool.recipient(connection, id, true), Recipient::Unknown, "{id}");
        }
        assert_eq!(pool.recipient(connection, 64, true), Recipient::Lane(63));
        assert_eq!(pool.lost(connection), (0..64).collect::<Vec<u32>>());
    }

    #[test]
    fn a_request_that_is_not_sent_yet_cannot_be_answered() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 0);
        let ticket = pool.take(5).unwrap();
        pool.stage(ticket, 5);
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Unknown);
        assert!(pool.next_write().is_some());
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Lane(5));
    }

    #[derive(Debug, Clone)]
    enum Act {
        Take,
        Answer(usize),
        GiveUp(usize),
        LateAnswer(usize),
        Lose(u32),
        Open(u32),
    }

    proptest! {
        #[test]
        fn message_ids_in_flight_are_unique_and_limited_to_the_places(
            (connections, places) in (1..4u32, 1..5u8),
            acts in prop::collection::vec(prop_oneof![
                4 => Just(Act::Take), 3 => (0..9usize).prop_map(Act::Answer), 1 => (0..9usize).prop_map(Act::GiveUp),
                1 => (0..9usize).prop_map(Act::LateAnswer), 1 => (0..4u32).prop_map(Act::Lose),
                2 => (0..4u32).prop_map(Act::Open)], 0..200)
        ) {
            let mut pool = pool(Some(connections), places);
            for carrier in 0..connections {
            up(&mut pool, carrier);
        }
            let mut standing: Vec<_> = (0..connections).collect();
            let (mut asked, mut late): (Vec<(u32, Ticket)>, Vec<Ticket>) = Default::default();
            let mut lane = 0;
            for act in acts {
                match act {
                    Act::Take => {
                        lane += 1;
                        let room = standing.iter().any(|each| {
                            let on = |ticket: &&Ticket| ticket.connection == *each;
                            let all = asked.iter().map(|(_, ticket)| ticket).filter(on).count();
                            all + late.iter().filter(on).count() < usize::from(places)
                        });
                        let ticket = pool.take(lane);
                        prop_assert_eq!(ticket.is_some(), room);
                        if let Some(ticket) = ticket {
                            let known = asked.iter().map(|(_, ticket)| ticket).chain(&late).any(|other| *other == ticket);
                            prop_assert!(!known && standing.contains(&ticket.connection));
                            asked.push((lane, ticket));
                        }
                    }
                    Act::Answer(which) if which < asked.len() => {
                        let (lane, ticket) = asked.swap_remove(which);
                        let to = pool.recipient(ticket.connection, ticket.id.into(), true);
                        prop_assert_eq!(to, Recipient::Lane(lane));
                        pool.release(ticket);
                    }
                    Act::GiveUp(which) if which < asked.len() => {
                        let (_, ticket) = asked.swap_remove(which);
                        pool.abandon(ticket, 0);
                        late.push(ticket);
                    }
                    Act::LateAnswer(which) if which < late.len() => {
                        let ticket = late.swap_remove(which);
                        let to = pool.recipient(ticket.connection, ticket.id.into(), true);
                        prop_assert_eq!(to, Recipient::Late);
                    }
                    Act::Lose(which) if standing.contains(&which) => {
                        let mut lost = pool.lost(which);
                        let mut expected: Vec<_> = asked.extract_if(.., |(_, ticket)| ticket.connection == which)
                            .map(|(lane, _)| lane).collect();
                        late.retain(|ticket| ticket.connection != which);
                        standing.retain(|each| *each != which);
                        lost.sort_unstable();
                        expected.sort_unstable();
                        prop_assert_eq!(lost, expected);
                    }
                    Act::Open(which) if which < connections && !standing.contains(&which) => {
                        pool.opened(which);
                        standing.push(which);
                    }
                    _ => {}
                }
            }
        }
    }
}
