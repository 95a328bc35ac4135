//! Connections that the lanes of a thread share.
//!
//! A lane asks for a place on one of them, or waits in line for it. What it asks has a message id that no
//! other request on that connection has; by that the answer finds its lane again. Lanes of one turn of the
//! thread put their requests one after the other, and what has gathered is sent at once when the turn ends.
//!
//! ```text
//!   lane --- place ---> in flight --- last message ---> free
//!                          |  timeout
//!                          v
//!                        given up --- last message ---> free
//! ```
//!
//! An id whose request was given up is not used again before its answer has come: a late answer would be taken
//! for that to the next request. It keeps its place, as the target may still be at work on it.

use std::collections::VecDeque;

use crate::program::PoolPlan;
use crate::record::recorder::Slot;

/// Ids go round in what one byte holds. There are twice as many as places at most, so that one that is free again
/// is not used at once.
const LAST_ID: usize = 127;

/// The id belongs to no request.
const FREE: u32 = u32::MAX;

/// The id belongs to a request that was given up.
const GIVEN_UP: u32 = u32::MAX - 1;

/// A lane's place on a shared connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Which of the pool's connections.
    pub(crate) connection: u32,
    /// The message id of its request.
    pub(crate) id: u8,
}

/// A lane that waits, and the number of this wait.
pub(crate) type Waiting = (u32, u32);

/// To whom a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipient {
    Lane(u32),
    /// Its lane has given the request up.
    Late,
    /// Nothing was asked under this id.
    Unknown,
}

/// One of the connections.
#[derive(Debug)]
struct Shared {
    /// The slab's number of what holds it.
    carrier: u32,
    /// Whether it stands.
    is_up: bool,
    /// Whether it takes no more requests, and is closed when nothing is in flight on it.
    is_leaving: bool,
    /// Whether nothing has come on it for a whole timeout. Until something does, it takes no more requests.
    is_silent: bool,
    /// When something has come on it last.
    heard_ns: u64,
    /// Whether it is in line to be given out.
    is_offered: bool,
    /// The id given out last.
    last: usize,
    in_flight: u8,
    given_up: u8,
    /// Who has asked, by id.
    lanes: [u32; LAST_ID + 1],
    /// Requests that are to be sent.
    out: Vec<u8>,
    /// Whether the socket has not taken all that was to be sent.
    is_blocked: bool,
    /// Lanes whose requests have not been sent.
    fresh: Vec<u32>,
    /// Their ids, a bit for each.
    unsent: u128,
    /// Up to when its time of opening is counted.
    counted_ns: u64,
}

impl Shared {
    /// Gives a lane the next id that is free: as many as places are taken at most, and there are more.
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

/// The shared connections of one thread that are alike.
#[derive(Debug)]
pub(crate) struct Pool {
    /// What opens and holds one.
    pub(crate) program: usize,
    pub(crate) unasked: Slot,
    places: u8,
    /// How many there are; else as many as give each lane a place.
    size: Option<u32>,
    /// Lanes that use it.
    lanes: u64,
    connections: Vec<Option<Box<Shared>>>,
    /// How many there are, without those that leave.
    staying: u64,
    up: u64,
    /// Connections with a free place, the next first: in turn, so that all have as much to do.
    offered: VecDeque<u32>,
    /// Lanes that wait for a place, the longest waiting first.
    line: VecDeque<Waiting>,
    /// Lanes that wait for a connection to stand before they begin.
    waiting: Vec<Waiting>,
    /// Connections with something to send.
    dirty: Vec<u32>,
    /// Connections that are of no more use.
    spent: Vec<u32>,
}

impl Pool {
    /// What thread `thread` of `threads` has of it.
    pub(crate) fn new(plan: &PoolPlan, thread: usize, threads: usize) -> Self {
        let (thread, threads) = (thread as u32, threads as u32);
        let part = |all: u32| all / threads + u32::from(thread < all % threads);
        Self {
            program: plan.program,
            unasked: plan.unasked,
            places: plan.places,
            size: plan.connections.map(part),
            lanes: 0,
            connections: Vec::new(),
            staying: 0,
            up: 0,
            offered: VecDeque::new(),
            line: VecDeque::new(),
            waiting: Vec::new(),
            dirty: Vec::new(),
            spent: Vec::new(),
        }
    }

    /// A lane more, or one less, uses it.
    pub(crate) const fn count_lane(&mut self, more: bool) {
        self.lanes = if more { self.lanes + 1 } else { self.lanes.saturating_sub(1) };
    }

    const fn wanted(&self) -> u64 {
        match self.size {
            // They outlive the lanes.
            Some(size) if self.lanes > 0 || self.staying > 0 => size as u64,
            Some(_) => 0,
            None => self.lanes.div_ceil(self.places as u64),
        }
    }

    /// Whether there should be more connections.
    pub(crate) const fn lacks(&self) -> bool {
        self.staying < self.wanted()
    }

    /// Takes a new connection, which is being opened; returns its number.
    pub(crate) fn begin(&mut self, carrier: u32, now_ns: u64) -> u32 {
        let shared = Shared {
            carrier,
            is_up: false,
            is_leaving: false,
            is_silent: false,
            heard_ns: 0,
            is_offered: false,
            last: 0,
            in_flight: 0,
            given_up: 0,
            lanes: [FREE; LAST_ID + 1],
            out: Vec::new(),
            is_blocked: false,
            fresh: Vec::new(),
            unsent: 0,
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

    /// Has one leave that is too many.
    pub(crate) fn dismiss(&mut self) {
        while self.staying > self.wanted() {
            let mut all = self.connections.iter_mut().enumerate().rev();
            let Some((number, shared)) = all.find_map(|(number, shared)| {
                shared.as_deref_mut().filter(|shared| !shared.is_leaving).map(|shared| (number, shared))
            }) else {
                return;
            };
            shared.is_leaving = true;
            if shared.in_flight == shared.given_up {
                self.spent.push(number as u32);
            }
            self.staying -= 1;
        }
    }

    /// A connection stands.
    pub(crate) fn rise(&mut self, connection: u32) {
        let Some(shared) = self.shared(connection).filter(|shared| !shared.is_up) else { return };
        shared.is_up = true;
        let leaves = shared.is_leaving;
        self.up += 1;
        if leaves {
            self.spent.push(connection);
        }
        self.offer(connection);
    }

    /// Whether any of them stands.
    pub(crate) const fn is_up(&self) -> bool {
        self.up > 0
    }

    /// A connection is lost: returns the lanes whose requests were in flight on it, in the order of their ids.
    pub(crate) fn fall(&mut self, connection: u32) -> Vec<u32> {
        let Some(shared) = self.shared(connection) else { return Vec::new() };
        let was_up = std::mem::take(&mut shared.is_up);
        let lanes = std::mem::replace(&mut shared.lanes, [FREE; LAST_ID + 1]);
        (shared.in_flight, shared.given_up, shared.last) = (0, 0, 0);
        shared.is_silent = false;
        (shared.out, shared.is_blocked) = (Vec::new(), false);
        shared.fresh.clear();
        shared.unsent = 0;
        let leaves = shared.is_leaving;
        self.up -= u64::from(was_up);
        if leaves {
            self.spent.push(connection);
        }
        lanes.into_iter().filter(|lane| !matches!(*lane, FREE | GIVEN_UP)).collect()
    }

    /// Forgets a connection; returns whether it was there.
    pub(crate) fn end(&mut self, connection: u32) {
        if let Some(shared) = self.connections.get_mut(connection as usize).and_then(Option::take) {
            self.up -= u64::from(shared.is_up);
            self.staying -= u64::from(!shared.is_leaving);
        }
    }

    /// Puts a connection in line to be given out, if it has a free place.
    fn offer(&mut self, connection: u32) {
        let places = self.places;
        let Some(shared) = self.shared(connection) else { return };
        let takes = shared.is_up && !shared.is_leaving && !shared.is_silent;
        let has_room = takes && shared.in_flight < places;
        if has_room && !shared.is_offered {
            shared.is_offered = true;
            self.offered.push_back(connection);
        }
    }

    /// A free place for a lane that has not waited.
    #[inline]
    pub(crate) fn take(&mut self, lane: u32) -> Option<Seat> {
        if self.line.is_empty() { self.take_place(lane) } else { None }
    }

    fn take_place(&mut self, lane: u32) -> Option<Seat> {
        while let Some(connection) = self.offered.pop_front() {
            let Some(shared) = self.shared(connection) else { continue };
            shared.is_offered = false;
            if !shared.is_up || shared.is_leaving || shared.is_silent {
                continue;
            }
            let id = shared.next_id(lane);
            shared.in_flight += 1;
            self.offer(connection);
            return Some(Seat { connection, id });
        }
        None
    }

    /// The same place with another id, for the next part of what its lane asks.
    pub(crate) fn renew(&mut self, seat: Seat) -> Seat {
        let Some(shared) = self.shared(seat.connection) else { return seat };
        let lane = std::mem::replace(&mut shared.lanes[usize::from(seat.id)], FREE);
        Seat { id: shared.next_id(lane), ..seat }
    }

    /// A lane waits for a place.
    pub(crate) fn line_up(&mut self, lane: u32, serial: u32) {
        self.line.push_back((lane, serial));
    }

    /// The lane that has waited longest, with the place that is free for it.
    pub(crate) fn next_in_line(&mut self) -> Option<(Waiting, Seat)> {
        let waiting @ (lane, _) = *self.line.front()?;
        let seat = self.take_place(lane)?;
        self.line.pop_front();
        Some((waiting, seat))
    }

    /// A lane waits for a connection to stand.
    pub(crate) fn wait(&mut self, lane: u32, serial: u32) {
        self.waiting.push((lane, serial));
    }

    /// Whether lanes wait for a connection to stand, and one does.
    pub(crate) const fn may_begin(&self) -> bool {
        self.is_up() && !self.waiting.is_empty()
    }

    /// What holds its connections.
    pub(crate) fn carriers(&self) -> impl Iterator<Item = u32> {
        self.connections.iter().flatten().map(|shared| shared.carrier)
    }

    /// Those that have waited for a connection to stand.
    pub(crate) fn take_waiting(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.waiting)
    }

    /// Where a lane appends its request.
    #[inline]
    pub(crate) fn out(&mut self, seat: Seat) -> Option<&mut Vec<u8>> {
        Some(&mut self.shared(seat.connection)?.out)
    }

    /// What a lane has appended is to be sent; of its first part the time is taken then.
    pub(crate) fn stage(&mut self, seat: Seat, lane: u32) {
        let Some(shared) = self.shared(seat.connection) else { return };
        let is_first = shared.fresh.is_empty();
        shared.fresh.push(lane);
        shared.unsent |= 1 << seat.id;
        if is_first {
            self.dirty.push(seat.connection);
        }
    }

    /// A connection with something to send: what holds it, the bytes, and whose they are.
    pub(crate) fn next_dirty(&mut self) -> Option<(u32, u32, Vec<u8>, Vec<u32>)> {
        while let Some(connection) = self.dirty.pop() {
            let has_more = |shared: &&mut Shared| !shared.fresh.is_empty() || shared.is_blocked;
            if let Some(shared) = self.shared(connection).filter(has_more) {
                let out = std::mem::take(&mut shared.out);
                shared.unsent = 0;
                return Some((connection, shared.carrier, out, std::mem::take(&mut shared.fresh)));
            }
        }
        None
    }

    /// The socket has room: what it did not take is to be sent, with what has been asked since.
    pub(crate) fn unblock(&mut self, connection: u32) {
        if self.shared(connection).is_some_and(|shared| shared.is_blocked) {
            self.dirty.push(connection);
        }
    }

    /// Keeps what the socket did not take, and the room of both.
    pub(crate) fn keep_unsent(&mut self, connection: u32, mut out: Vec<u8>, sent: usize, fresh: Vec<u32>) {
        let Some(shared) = self.shared(connection) else { return };
        out.drain(..sent);
        shared.is_blocked = !out.is_empty();
        // Nothing is asked while something is sent.
        shared.out = out;
        if shared.fresh.capacity() < fresh.capacity() {
            shared.fresh = fresh;
            shared.fresh.clear();
        }
    }

    /// Something has come on a connection.
    #[inline]
    pub(crate) fn hears(&mut self, connection: u32, now_ns: u64) {
        let Some(shared) = self.shared(connection) else { return };
        shared.heard_ns = now_ns;
        if std::mem::take(&mut shared.is_silent) {
            self.offer(connection);
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
            // What comes under its id is another answer to who had it before.
            _ if shared.unsent >> place & 1 == 1 => Recipient::Unknown,
            GIVEN_UP => {
                if last {
                    shared.given_up -= 1;
                    self.give_back(Seat { connection, id: place as u8 });
                }
                Recipient::Late
            }
            lane => Recipient::Lane(lane),
        }
    }

    /// The place is free again.
    pub(crate) fn give_back(&mut self, seat: Seat) {
        let Some(shared) = self.shared(seat.connection) else { return };
        if std::mem::replace(&mut shared.lanes[usize::from(seat.id)], FREE) == FREE {
            return;
        }
        shared.in_flight -= 1;
        if shared.is_leaving && shared.in_flight == shared.given_up {
            self.spent.push(seat.connection);
        }
        self.offer(seat.connection);
    }

    /// The lane waits no more for the answer, as it has since `since_ns`; the place is not free before it has come.
    pub(crate) fn give_up(&mut self, seat: Seat, since_ns: u64) {
        let places = self.places;
        let Some(shared) = self.shared(seat.connection) else { return };
        let asked = &mut shared.lanes[usize::from(seat.id)];
        if matches!(*asked, FREE | GIVEN_UP) {
            return;
        }
        *asked = GIVEN_UP;
        shared.given_up += 1;
        shared.is_silent |= shared.heard_ns <= since_ns;
        let ends = shared.is_leaving || shared.is_silent;
        if shared.given_up == places || (ends && shared.given_up == shared.in_flight) {
            self.spent.push(seat.connection);
        }
    }

    /// A connection that is of no more use, as it leaves or as nothing is answered on it; what holds it, and
    /// whether it leaves.
    pub(crate) fn next_spent(&mut self) -> Option<(u32, u32, bool)> {
        let places = self.places;
        while let Some(connection) = self.spent.pop() {
            if let Some(shared) = self.shared(connection)
                && shared.in_flight == shared.given_up
                && (shared.is_leaving || shared.is_silent || shared.given_up == places)
            {
                return Some((connection, shared.carrier, shared.is_leaving));
            }
        }
        None
    }

    /// The time that went into opening a connection since it was last counted; its account goes on at `from_ns`.
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
        Pool::new(&PoolPlan { program: 0, connections, places, unasked: Slot(0) }, 0, 1)
    }

    fn up(pool: &mut Pool, carrier: u32) -> u32 {
        let connection = pool.begin(carrier, 0);
        pool.rise(connection);
        pool.hears(connection, 1);
        connection
    }

    #[test]
    fn threads_divide_the_connections_among_them() {
        let plan = PoolPlan { program: 0, connections: Some(11), places: 1, unasked: Slot(0) };
        let parts: Vec<_> = (0..4).map(|thread| Pool::new(&plan, thread, 4).size.unwrap()).collect();
        assert_eq!(parts, [3, 3, 3, 2]);
    }

    #[test]
    fn there_are_as_many_as_give_each_lane_a_place() {
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
        pool.dismiss();
        let mut gone = Vec::new();
        while let Some((connection, ..)) = pool.next_spent() {
            pool.end(connection);
            gone.push(connection);
        }
        assert_eq!(gone, [2, 3]);
        assert_eq!((pool.up, busy.connection), (2, 0));
    }

    #[test]
    fn connections_have_requests_in_turn_and_no_more_than_they_may() {
        let mut pool = pool(Some(3), 2);
        for carrier in 0..3 {
            up(&mut pool, carrier);
        }
        let seats: Vec<_> = (0..6).filter_map(|lane| pool.take(lane)).collect();
        assert_eq!(seats.iter().map(|seat| seat.connection).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        assert_eq!(pool.take(6), None);
        pool.give_back(seats[4]);
        assert_eq!(pool.take(6), Some(Seat { connection: 1, id: 3 }));
    }

    #[test]
    fn a_place_has_another_id_for_each_part() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 0);
        let (one, other) = (pool.take(5).unwrap(), pool.take(6).unwrap());
        let next = pool.renew(one);
        assert_eq!((one.id, other.id, next.id), (1, 2, 3));
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Unknown);
        assert_eq!(pool.recipient(connection, 3, true), Recipient::Lane(5));
        assert_eq!(pool.take(7), None);
        pool.give_back(next);
        assert_eq!(pool.take(7).unwrap().id, 4);
    }

    #[test]
    fn who_has_waited_longest_is_next_and_no_one_overtakes() {
        let mut pool = pool(Some(1), 1);
        up(&mut pool, 0);
        let seat = pool.take(1).unwrap();
        pool.line_up(2, 5);
        pool.line_up(3, 6);
        pool.give_back(seat);
        assert_eq!(pool.take(1), None);
        let (waiting, seat) = pool.next_in_line().unwrap();
        assert_eq!((waiting, pool.next_in_line()), ((2, 5), None));
        pool.give_back(seat);
        assert_eq!(pool.next_in_line().unwrap().0, (3, 6));
    }

    #[test]
    fn an_id_that_was_given_up_is_not_used_before_its_answer_has_come() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 0);
        let (one, other) = (pool.take(1).unwrap(), pool.take(2).unwrap());
        pool.give_up(one, 0);
        assert_eq!(pool.take(3), None);
        pool.give_back(other);
        for _ in 0..300 {
            let seat = pool.take(3).unwrap();
            assert_ne!(seat.id, one.id);
            assert_eq!(pool.take(4), None);
            pool.give_back(seat);
        }
        assert_eq!(pool.recipient(connection, 1, false), Recipient::Late);
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Late);
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Unknown);
        let seat = pool.take(3).unwrap();
        assert!(pool.take(4).is_some());
        pool.give_up(seat, 0);
        assert_eq!(pool.next_spent(), None);
    }

    #[test]
    fn a_connection_on_which_nothing_is_answered_is_of_no_more_use() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 9);
        let seats = [pool.take(1).unwrap(), pool.take(2).unwrap()];
        seats.iter().for_each(|seat| pool.give_up(*seat, 0));
        assert_eq!(pool.next_spent(), Some((connection, 9, false)));
        assert_eq!(pool.fall(connection), [0; 0]);
        pool.rise(connection);
        assert!(pool.take(1).is_some());
    }

    #[test]
    fn one_that_leaves_and_is_lost_is_of_no_more_use() {
        let mut pool = pool(None, 1);
        let connection = up(&mut pool, 9);
        pool.count_lane(true);
        pool.take(1).unwrap();
        pool.count_lane(false);
        pool.dismiss();
        assert_eq!(pool.next_spent(), None);
        assert_eq!(pool.fall(connection), [1]);
        assert_eq!(pool.next_spent(), Some((connection, 9, true)));
    }

    #[test]
    fn one_that_is_silent_takes_no_requests_until_something_comes() {
        let mut pool = pool(Some(1), 8);
        let connection = up(&mut pool, 9);
        let seats = [pool.take(1).unwrap(), pool.take(2).unwrap()];
        pool.give_up(seats[0], 1);
        assert_eq!((pool.take(3), pool.next_spent()), (None, None));
        pool.hears(connection, 5);
        let third = pool.take(3).unwrap();
        pool.give_up(seats[1], 4);
        pool.give_up(third, 5);
        assert_eq!(pool.next_spent(), Some((connection, 9, false)));
    }

    #[test]
    fn ids_that_are_none_of_ours_belong_to_no_lane() {
        let mut pool = pool(Some(1), 64);
        let connection = up(&mut pool, 0);
        let lanes: Vec<_> = (0..64).map(|lane| pool.take(lane).unwrap().id).collect();
        assert_eq!(lanes, (1..=64).collect::<Vec<u8>>());
        for id in [0, -1, 65, 127, 128, i32::MIN, i32::MAX, 256 + 5] {
            assert_eq!(pool.recipient(connection, id, true), Recipient::Unknown, "{id}");
        }
        assert_eq!(pool.recipient(connection, 64, true), Recipient::Lane(63));
        assert_eq!(pool.fall(connection), (0..64).collect::<Vec<u32>>());
    }

    #[test]
    fn what_is_not_sent_yet_has_no_answer() {
        let mut pool = pool(Some(1), 2);
        let connection = up(&mut pool, 0);
        let seat = pool.take(5).unwrap();
        pool.stage(seat, 5);
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Unknown);
        assert!(pool.next_dirty().is_some());
        assert_eq!(pool.recipient(connection, 1, true), Recipient::Lane(5));
    }

    #[derive(Debug, Clone)]
    enum Act {
        Take,
        Answer(usize),
        GiveUp(usize),
        LateAnswer(usize),
        Fall(u32),
        Rise(u32),
    }

    proptest! {
        /// Whatever happens, no two requests in flight on a connection have one id, and no more are in flight than
        /// may be.
        #[test]
        fn ids_are_unique_and_places_are_kept_to(
            (connections, places) in (1..4u32, 1..5u8),
            acts in prop::collection::vec(prop_oneof![
                4 => Just(Act::Take), 3 => (0..9usize).prop_map(Act::Answer), 1 => (0..9usize).prop_map(Act::GiveUp),
                1 => (0..9usize).prop_map(Act::LateAnswer), 1 => (0..4u32).prop_map(Act::Fall),
                2 => (0..4u32).prop_map(Act::Rise)], 0..200)
        ) {
            let mut pool = pool(Some(connections), places);
            for carrier in 0..connections {
            up(&mut pool, carrier);
        }
            let mut standing: Vec<_> = (0..connections).collect();
            let (mut asked, mut late): (Vec<(u32, Seat)>, Vec<Seat>) = Default::default();
            let mut lane = 0;
            for act in acts {
                match act {
                    Act::Take => {
                        lane += 1;
                        let room = standing.iter().any(|each| {
                            let on = |seat: &&Seat| seat.connection == *each;
                            let all = asked.iter().map(|(_, seat)| seat).filter(on).count();
                            all + late.iter().filter(on).count() < usize::from(places)
                        });
                        let seat = pool.take(lane);
                        prop_assert_eq!(seat.is_some(), room);
                        if let Some(seat) = seat {
                            let known = asked.iter().map(|(_, seat)| seat).chain(&late).any(|other| *other == seat);
                            prop_assert!(!known && standing.contains(&seat.connection));
                            asked.push((lane, seat));
                        }
                    }
                    Act::Answer(which) if which < asked.len() => {
                        let (lane, seat) = asked.swap_remove(which);
                        let to = pool.recipient(seat.connection, seat.id.into(), true);
                        prop_assert_eq!(to, Recipient::Lane(lane));
                        pool.give_back(seat);
                    }
                    Act::GiveUp(which) if which < asked.len() => {
                        let (_, seat) = asked.swap_remove(which);
                        pool.give_up(seat, 0);
                        late.push(seat);
                    }
                    Act::LateAnswer(which) if which < late.len() => {
                        let seat = late.swap_remove(which);
                        let to = pool.recipient(seat.connection, seat.id.into(), true);
                        prop_assert_eq!(to, Recipient::Late);
                    }
                    Act::Fall(which) if standing.contains(&which) => {
                        let mut lost = pool.fall(which);
                        let mut expected: Vec<_> = asked.extract_if(.., |(_, seat)| seat.connection == which)
                            .map(|(lane, _)| lane).collect();
                        late.retain(|seat| seat.connection != which);
                        standing.retain(|each| *each != which);
                        lost.sort_unstable();
                        expected.sort_unstable();
                        prop_assert_eq!(lost, expected);
                    }
                    Act::Rise(which) if which < connections && !standing.contains(&which) => {
                        pool.rise(which);
                        standing.push(which);
                    }
                    _ => {}
                }
            }
        }
    }
}
