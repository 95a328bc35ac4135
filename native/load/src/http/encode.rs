//! From a step to the bytes that are sent.

use super::cast::Person;
use super::escape::push_number;
use super::request::Request;
use super::spec::{Does, Who};
use super::{Http, LaneState, Stage};

impl Http {
    #[inline]
    pub(super) fn encode_request(&mut self, request: &Request, lane: &mut LaneState, out: &mut Vec<u8>) {
        lane.stage = Stage::Head;
        if std::mem::take(&mut lane.updating) {
            // It was never answered and may yet take place: that person stays taken.
            (lane.held, lane.pending) = (None, None);
        }
        if let Some(who) = request.who {
            lane.asked = self.pick(request, who, lane);
        }
        if request.does == Does::Update {
            if !is_mine(lane.asked, lane) {
                self.ours.spoil(lane.asked.number);
            }
            lane.draw = self.rng.u64(..);
            (lane.updating, lane.pending) = (true, None);
        }
        let facts = self.cast.facts(request.asks, lane.asked, lane.draw, &lane.captured);
        request.line.head.write(&facts, out);
        if let Some(body) = &request.line.body {
            self.scratch.clear();
            body.write(&facts, &mut self.scratch);
            push_number(out, self.scratch.len() as u64);
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(&self.scratch);
        }
    }

    #[inline]
    fn pick(&mut self, request: &Request, who: Who, lane: &mut LaneState) -> Person {
        if request.does == Does::Create {
            return self.newcomer(lane);
        }
        let proves = request.does == Does::Read && !request.fresh.is_empty();
        let person = match (lane.pending, who) {
            // Whatever the step says: first the page that proves the update.
            (Some(person), _) if proves => person,
            (_, Who::Own) => self.own(lane),
            (_, Who::Current) if request.does == Does::Update => match lane.current {
                Some(person) if is_mine(person, lane) => person,
                _ => self.own(lane),
            },
            (_, Who::Random) => self.random(),
            (_, Who::Current) => lane.current.unwrap_or_else(|| self.random()),
            (_, Who::New) => lane.new.unwrap_or_else(|| self.random()),
        };
        lane.current = Some(person);
        person
    }

    fn random(&mut self) -> Person {
        Person::known(self.keys.draw(&mut self.rng))
    }

    /// Somebody whom no other lane updates. Where everybody is taken it is one of them, and what they
    /// are updated to is not proved any more.
    fn own(&mut self, lane: &mut LaneState) -> Person {
        if let Some(before) = lane.held.take() {
            self.ours.give_back(before);
        }
        let wish = self.keys.draw(&mut self.rng);
        lane.held = self.ours.take(wish);
        Person::known(lane.held.unwrap_or_else(|| self.ours.one(wish)))
    }

    /// The next of the run's own people.
    fn newcomer(&mut self, lane: &LaneState) -> Person {
        // The configuration sees to it that programs that create have a ring.
        let number = self.hand.as_mut().map(|hand| hand.take().person);
        number.map_or(lane.asked, Person::known)
    }
}

/// Whether no other lane updates this person.
pub(super) fn is_mine(person: Person, lane: &LaneState) -> bool {
    lane.held == Some(person.number) || lane.new == Some(person)
}
