//! Verifying answers, and what follows for the lane (method rule 3).

use memchr::memmem;

use super::encode::is_mine;
use super::field::FieldValues;
use super::look::between;
use super::people_view::Person;
use super::request::{CompiledCapture, Described, Needle, OwnerCheck};
use super::spec::Effect;
use super::template::Template;
use super::{Http, LaneState};
use crate::record::failure::Failure;

impl Http {
    /// The failure of an answer, the worst kind first.
    #[inline]
    pub(super) fn judge(
        &mut self,
        request: &Described,
        lane: &mut LaneState,
        body: Option<&[u8]>,
        length: u64,
    ) -> Option<Failure> {
        if request.file.is_some() {
            return self.judge_file(request, lane, length);
        }
        let (verify, body) = (self.verify, body.unwrap_or_default());
        let values = self.people_view.values(request.looks, lane.asked, lane.draw, &lane.captured);
        let mut look = BodyCheck { body, values, text: &mut self.scratch };
        let owner = request.identity.as_ref().filter(|_| verify).map(|check| look.owner(check));
        if owner == Some(Owner::Another) {
            return Some(Failure::Leak);
        }
        if !request.accepts(lane.status) {
            return Some(Failure::Status(lane.status));
        }
        if request.length.is_some_and(|wanted| wanted != length) {
            return Some(Failure::WrongLength);
        }
        if owner == Some(Owner::Missing) {
            return Some(Failure::WrongAnswer);
        }
        if verify && !request.contains.iter().all(|needle| look.has(needle)) {
            return Some(Failure::WrongAnswer);
        }
        let must_be_fresh = verify
            && request.effect == Effect::Read
            && lane.pending == Some(lane.asked)
            && !self.owned_keys.is_contested(lane.asked.number);
        if must_be_fresh && !request.fresh.iter().all(|needle| look.has(needle)) {
            return Some(Failure::Stale);
        }
        self.capture(request, lane, body)
    }

    /// The failure of an answer to a request for a file, whose bytes were compared as they came.
    #[inline]
    fn judge_file(&self, request: &Described, lane: &LaneState, length: u64) -> Option<Failure> {
        if !request.accepts(lane.status) {
            return Some(Failure::Status(lane.status));
        }
        let checker = lane.file.as_ref()?;
        if length != checker.size() {
            return Some(Failure::WrongLength);
        }
        (self.verify && checker.finish().is_some()).then_some(Failure::WrongAnswer)
    }

    fn capture(&self, request: &Described, lane: &mut LaneState, body: &[u8]) -> Option<Failure> {
        if let Some(CompiledCapture::Text { before, until }) = &request.capture {
            lane.captured.clear();
            lane.captured.extend_from_slice(between(body, before, until).unwrap_or_default());
        }
        (request.capture.is_some() && lane.captured.is_empty()).then_some(Failure::WrongAnswer)
    }

    /// Updates what the lane knows.
    #[inline]
    pub(super) fn conclude(&mut self, request: &Described, lane: &mut LaneState, failure: Option<Failure>) {
        match request.effect {
            Effect::Read => {
                let proved = matches!(failure, None | Some(Failure::Stale));
                if proved && !request.fresh.is_empty() && lane.pending == Some(lane.asked) {
                    lane.pending = None;
                    if let Some(number) = lane.held.take() {
                        self.owned_keys.give_back(number);
                    }
                }
            }
            Effect::Update => {
                lane.updating = false;
                if failure.is_none() {
                    lane.pending = is_mine(lane.asked, lane).then_some(lane.asked);
                } else {
                    // It was refused or failed: it will not take place any more.
                    if let Some(number) = lane.held.take() {
                        self.owned_keys.give_back(number);
                    }
                }
            }
            Effect::Create if failure.is_none() => {
                let number = lane.asked.number;
                let id = match &request.capture {
                    Some(_) => std::str::from_utf8(&lane.captured).ok().and_then(|text| text.parse().ok()),
                    None => None,
                };
                let person = Person { id: id.unwrap_or(lane.asked.id), number };
                (lane.new, lane.current) = (Some(person), Some(person));
            }
            Effect::Create => {}
        }
    }
}

/// The person an answer names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Asked,
    Another,
    Missing,
}

/// A body being looked into.
struct BodyCheck<'a> {
    body: &'a [u8],
    values: FieldValues<'a>,
    text: &'a mut Vec<u8>,
}

impl BodyCheck<'_> {
    #[inline]
    fn owner(&mut self, check: &OwnerCheck) -> Owner {
        let Some(found) = between(self.body, &check.before, &check.until) else { return Owner::Missing };
        let mut is = |template: &Template| {
            self.text.clear();
            template.write(&self.values, self.text);
            self.text == found
        };
        if is(&check.value) || check.other.as_ref().is_some_and(is) { Owner::Asked } else { Owner::Another }
    }

    #[inline]
    fn has(&mut self, needle: &Needle) -> bool {
        let mut finds = |template: &Template| {
            self.text.clear();
            template.write(&self.values, self.text);
            memmem::find(self.body, self.text).is_some()
        };
        match needle {
            Needle::Fixed(finder) => finder.find(self.body).is_some(),
            Needle::Written(template, other) => finds(template) || other.as_ref().is_some_and(finds),
        }
    }
}
