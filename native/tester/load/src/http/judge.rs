//! Fills requests in, and verifies answers.

use std::borrow::Cow;

use memchr::{memchr, memmem};
use wire::http::unescape;

use super::ask::{Ask, From, Needle, Owner, Status, Statuses};
use super::fill::Filler;
use super::jar::{Jar, Place};
use super::redirects::Redirects;
use super::search::{Missing, between};
use super::{Http, LaneState, Stage, head};
use crate::fill::write_number;
use crate::protocol::Encoded;
use crate::record::failure::Failure;
use crate::scripted::Memory;

/// A lane's state of a user's visit.
#[derive(Debug, Default)]
pub(super) struct Visit {
    pub(super) memory: Memory,
    /// The person taken to add.
    pub(super) taken: Option<u64>,
    pub(super) jar: Jar,
    /// The path of the request, for cookies.
    pub(super) path: Vec<u8>,
    /// Whether the current operation has changed the site.
    pub(super) changed: bool,
    /// Whether a change of the current operation was refused. Then no page can show all changes.
    pub(super) refused: bool,
    /// The missing part of the current answer.
    pub(super) missing: Option<Missing>,
    pub(super) length: u64,
    pub(super) redirects: Redirects,
}

impl Ask {
    pub(super) fn place<'a>(&'a self, path: &'a [u8]) -> Place<'a> {
        let host = &self.host;
        Place { host: host.number, name: &host.name, path, encrypted: host.encrypted }
    }

    /// Appends the rest of a request after its cookies.
    #[inline]
    pub(super) fn write_rest(&self, filler: &mut Filler<'_>, scratch: &mut Vec<u8>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.tail);
        if let Some(body) = &self.body {
            scratch.clear();
            filler.write(body, scratch);
            write_number(scratch.len() as u64, out);
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(scratch);
        }
    }
}

impl Http {
    /// Appends a request with its fields filled in.
    #[inline]
    pub(super) fn ask(&mut self, ask: &Ask, lane: &mut LaneState, out: &mut Vec<u8>) -> Encoded {
        lane.stage = Stage::Head;
        let visit = &mut lane.visit;
        visit.missing = None;
        visit.redirects.hops = 0;
        let memory = &mut visit.memory;
        memory.give_up(&mut self.scripts[ask.script].dealers);
        if !ask.needs.iter().all(|place| memory.data.has_value(*place)) {
            return Encoded::Missing;
        }
        memory.begin_captures(ask.captures.len());
        let start = out.len();
        let (mut filler, scratch) = self.filler(ask, &memory.data);
        if !filler.write(&ask.head, out) {
            out.truncate(start);
            return Encoded::Missing;
        }
        if ask.keeps_cookies {
            visit.path.clear();
            visit.path.extend_from_slice(path_of(&out[start..]));
        }
        if ask.sends_cookies {
            visit.jar.write(ask.place(&visit.path), out);
        }
        ask.write_rest(&mut filler, scratch, out);
        if ask.writes() {
            memory.changing = true;
            for source in &ask.owned {
                self.scripts[ask.script].dealers.changes(&memory.data, *source);
            }
        }
        Encoded::Send
    }

    #[inline]
    pub(super) fn judge_head(&mut self, ask: &Ask, lane: &mut LaneState, bytes: &[u8]) {
        let Visit { memory, missing, .. } = &mut lane.visit;
        for (number, capture) in ask.captures.iter().enumerate() {
            match &capture.from {
                From::Cookie(name) => {
                    let values = head::cookies(bytes, name).map(as_scripts_read);
                    let values = values.filter(|value| !value.is_empty());
                    memory.capture(number, capture, values, &mut self.rng);
                }
                From::Header(name) => {
                    let values = head::lines(bytes, name).filter(|value| !value.is_empty());
                    memory.capture(number, capture, values, &mut self.rng);
                }
                _ => {}
            }
        }
        if !self.shared.verify {
            return;
        }
        let (mut filler, scratch) = self.filler(ask, &memory.data);
        let part = ask.headers.iter().position(|(name, value)| {
            scratch.clear();
            filler.write(value, scratch);
            !head::lines(bytes, name.as_bytes()).any(|line| line == scratch)
        });
        *missing = part.map(Missing::Header);
    }

    /// The failure of an answer; the worst failure if there are several.
    #[inline]
    pub(super) fn judge(&mut self, ask: &Ask, lane: &mut LaneState, body: Option<&[u8]>) -> Option<Failure> {
        let (verify, body) = (self.shared.verify, body.unwrap_or_default());
        let visit = &mut lane.visit;
        let dealers = &self.scripts[ask.script].dealers;
        let must_be_fresh = verify
            && visit.changed
            && !visit.refused
            && ask.owned.iter().all(|source| dealers.is_ours(&visit.memory.data, *source));
        let (filler, text) = self.filler(ask, &visit.memory.data);
        let mut search = BodySearch { body, filler, text };
        let owner = ask.identity.as_ref().filter(|_| verify).map(|check| search.page_owner(check));
        let (failure, missing) = if owner == Some(Person::Other) {
            (Failure::Leak, Missing::Owner)
        } else if !search.accepts(&ask.statuses, lane.status) {
            return Some(Failure::Status(lane.status));
        } else if ask.length.is_some_and(|wanted| wanted != visit.length) {
            (Failure::WrongLength, Missing::Length)
        } else if let Some(header) = visit.missing {
            (Failure::WrongAnswer, header)
        } else if owner == Some(Person::None) {
            (Failure::WrongAnswer, Missing::Owner)
        } else if verify && let Some(number) = search.first_missing(&ask.contains) {
            (Failure::WrongAnswer, Missing::Text(number))
        } else if must_be_fresh && let Some(number) = search.first_missing(&ask.fresh) {
            (Failure::Stale, Missing::Fresh(number))
        } else {
            return self.capture_for(ask, visit, body);
        };
        visit.missing = Some(missing);
        Some(failure)
    }

    fn capture_for(&mut self, ask: &Ask, visit: &mut Visit, body: &[u8]) -> Option<Failure> {
        let memory = &mut visit.memory;
        let mut json = None;
        for (number, capture) in ask.captures.iter().enumerate() {
            match &capture.from {
                From::Between { before, until } => {
                    let mut rest = body;
                    let all = std::iter::from_fn(|| {
                        let captured = between(rest, before, until)?;
                        let end = captured.as_ptr() as usize - rest.as_ptr() as usize + captured.len();
                        rest = &rest[end + until.needle().len()..];
                        Some(captured)
                    });
                    let values = all.filter(|value| !value.is_empty());
                    memory.capture(number, capture, values, &mut self.rng);
                }
                From::Json(pointer) => {
                    let parsed =
                        json.get_or_insert_with(|| serde_json::from_slice::<serde_json::Value>(body).ok());
                    let captured = parsed.as_ref().and_then(|value| value.pointer(pointer));
                    let texts = captured.map(texts_of).unwrap_or_default();
                    let values = texts.iter().filter(|value| !value.is_empty());
                    memory.capture(number, capture, values, &mut self.rng);
                }
                _ => {}
            }
            if !memory.has_captured(number, capture) {
                visit.missing = Some(Missing::Capture(number));
                return Some(Failure::NothingCaptured);
            }
        }
        memory.too_many.then_some(Failure::TooMuchCaptured)
    }
}

/// Updates the lane's state after an answer. Returns whether all further steps depend on the answer.
pub(super) fn conclude(ask: &Ask, lane: &mut LaneState, failure: Option<Failure>) -> bool {
    if ask.writes() {
        // A refused change does not take place later.
        lane.visit.memory.changing = false;
        lane.visit.changed = true;
        lane.visit.refused |= failure.is_some();
    }
    ask.fatal
}

/// A cookie's value as scripts read it, percent-decoded: sites expect this form in a header or a form.
fn as_scripts_read(value: &[u8]) -> Cow<'_, [u8]> {
    let decoded = memchr(b'%', value).and_then(|_| unescape(value.iter().copied()));
    decoded.map_or(Cow::Borrowed(value), Cow::Owned)
}

/// A JSON value as a text; for a list, the texts of its values.
fn texts_of(value: &serde_json::Value) -> Vec<String> {
    match value {
        serde_json::Value::String(text) => vec![text.clone()],
        serde_json::Value::Number(number) => vec![number.to_string()],
        serde_json::Value::Bool(flag) => vec![flag.to_string()],
        serde_json::Value::Array(values) => {
            values.iter().filter(|item| !item.is_array()).flat_map(texts_of).collect()
        }
        _ => Vec::new(),
    }
}

/// The path of a request, without its query.
pub(super) fn path_of(request: &[u8]) -> &[u8] {
    let target = request.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
    target.split(|&byte| byte == b'?').next().unwrap_or_default()
}

/// The person of a page: the requested person, another person, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Person {
    Right,
    Other,
    None,
}

/// An answer's body while it is searched.
struct BodySearch<'a> {
    body: &'a [u8],
    filler: Filler<'a>,
    text: &'a mut Vec<u8>,
}

impl BodySearch<'_> {
    #[inline]
    fn page_owner(&mut self, owner: &Owner) -> Person {
        let Some(value) = between(self.body, &owner.before, &owner.until) else { return Person::None };
        let mut is = |fill| {
            self.text.clear();
            self.filler.write(fill, self.text);
            self.text == value
        };
        if is(&owner.value) || owner.other.as_ref().is_some_and(is) { Person::Right } else { Person::Other }
    }

    /// The index of the first text that the body lacks.
    #[inline]
    fn first_missing(&mut self, needles: &[Needle]) -> Option<usize> {
        needles.iter().position(|needle| !self.has(needle))
    }

    #[inline]
    fn has(&mut self, needle: &Needle) -> bool {
        let mut finds = |fill| {
            self.text.clear();
            self.filler.write(fill, self.text);
            memmem::find(self.body, self.text).is_some()
        };
        match needle {
            Needle::Fixed(finder) => finder.find(self.body).is_some(),
            Needle::Written(fill, other) => finds(fill) || other.as_ref().is_some_and(finds),
        }
    }

    fn accepts(&mut self, statuses: &Statuses, status: u16) -> bool {
        match statuses {
            Statuses::Success => (200..300).contains(&status),
            Statuses::Any(statuses) => statuses.iter().any(|expected| match expected {
                Status::Code(code) => *code == status,
                Status::Named(text) => {
                    self.text.clear();
                    self.filler.plan.write(text, self.filler.data, self.filler.rng, self.text);
                    std::str::from_utf8(self.text).is_ok_and(|text| text.parse() == Ok(status))
                }
            }),
        }
    }
}
