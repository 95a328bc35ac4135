//! From a step to the bytes that are sent.

use super::escape::push_number;
use super::file::FileRequest;
use super::people_view::Person;
use super::request::Described;
use super::spec::{Effect, PersonSelector};
use super::{Http, LaneState, Stage};

impl Http {
    #[inline]
    pub(super) fn encode_request(&mut self, request: &Described, lane: &mut LaneState, out: &mut Vec<u8>) {
        lane.stage = Stage::Head;
        if std::mem::take(&mut lane.updating) {
            // It was never answered and may yet take place: that person stays taken.
            (lane.held, lane.pending) = (None, None);
        }
        if let Some(file) = &request.file {
            return self.encode_file(file, lane, out);
        }
        if let Some(selector) = request.person {
            lane.asked = self.pick(request, selector, lane);
        }
        if request.effect == Effect::Update {
            if !is_mine(lane.asked, lane) {
                self.owned_keys.mark_contested(lane.asked.number);
            }
            lane.draw = self.rng.u64(..);
            (lane.updating, lane.pending) = (true, None);
        }
        let values = self.people_view.values(request.asks, lane.asked, lane.draw, &lane.captured);
        request.line.head.write(&values, out);
        if let Some(body) = &request.line.body {
            self.scratch.clear();
            body.write(&values, &mut self.scratch);
            push_number(out, self.scratch.len() as u64);
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(&self.scratch);
        }
    }

    #[inline]
    fn encode_file(&mut self, request: &FileRequest, lane: &mut LaneState, out: &mut Vec<u8>) {
        let number = self.rng.u64(request.files.clone());
        // Compiling has seen to it that there is a set, and that it has this file.
        let Some(file) = self.files.as_deref().and_then(|set| set.file(number)) else { return };
        out.extend_from_slice(&request.before_path);
        file.write_path(out);
        out.extend_from_slice(&request.after_path);
        (lane.file, lane.file_number) = (Some(file.checker()), number);
    }

    #[inline]
    fn pick(&mut self, request: &Described, selector: PersonSelector, lane: &mut LaneState) -> Person {
        if request.effect == Effect::Create {
            return self.newcomer(lane);
        }
        let proves = request.effect == Effect::Read && !request.fresh.is_empty();
        let person = match (lane.pending, selector) {
            // The page that proves the update comes first, whatever the step says.
            (Some(person), _) if proves => person,
            (_, PersonSelector::Own) => self.own(lane),
            (_, PersonSelector::Current) if request.effect == Effect::Update => match lane.current {
                Some(person) if is_mine(person, lane) => person,
                _ => self.own(lane),
            },
            (_, PersonSelector::Random) => self.random(),
            (_, PersonSelector::Current) => lane.current.unwrap_or_else(|| self.random()),
            (_, PersonSelector::New) => lane.new.unwrap_or_else(|| self.random()),
        };
        lane.current = Some(person);
        person
    }

    fn random(&mut self) -> Person {
        Person::known(self.keys.draw(&mut self.rng))
    }

    /// A person whom no other lane updates. Where all are taken it is one of those, and the update is
    /// not verified.
    fn own(&mut self, lane: &mut LaneState) -> Person {
        if let Some(before) = lane.held.take() {
            self.owned_keys.give_back(before);
        }
        let preferred = self.keys.draw(&mut self.rng);
        lane.held = self.owned_keys.take(preferred);
        Person::known(lane.held.unwrap_or_else(|| self.owned_keys.one(preferred)))
    }

    /// The next of the run's own people.
    fn newcomer(&mut self, lane: &LaneState) -> Person {
        // The configuration sees to it that programs that create have a ring.
        let number = self.ring.as_mut().map(|ring| ring.take().person);
        number.map_or(lane.asked, Person::known)
    }
}

/// Whether no other lane updates this person.
pub(super) fn is_mine(person: Person, lane: &LaneState) -> bool {
    lane.held == Some(person.number) || lane.new == Some(person)
}
