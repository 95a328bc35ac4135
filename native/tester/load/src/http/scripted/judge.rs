//! Filling requests in, and judging what is answered.

use memchr::memmem;

use super::super::describe::{masked, status_line};
use super::super::escape::{Escape, push, push_number};
use super::super::look::between;
use super::super::{Http, LaneState, Stage, head};
use super::ask::{Ask, Captured, From, Needle, Owner, Status, Statuses};
use super::fill::Filler;
use super::jar::{Jar, Place};
use crate::protocol::Encoded;
use crate::record::failure::Failure;
use crate::scripted::{Memory, Preparation};
use crate::values::Draw;

/// What a lane remembers of a user's visit.
#[derive(Debug, Default)]
pub struct Visit {
    memory: Memory,
    /// The person taken to add.
    pub(in super::super) taken: Option<u64>,
    jar: Jar,
    /// The path that was asked for, for cookies.
    path: Vec<u8>,
    /// A change is asked for and not answered.
    changing: bool,
    /// The operation at hand has changed something.
    changed: bool,
    /// Whether the answer's header lines are not as they must be.
    wrong_headers: bool,
}

impl Visit {
    /// What was asked for and never answered may yet take place.
    fn give_up(&mut self) {
        if std::mem::take(&mut self.changing) {
            self.memory.kept.lose_held();
        }
    }
}

impl Ask {
    fn place<'a>(&'a self, path: &'a [u8]) -> Place<'a> {
        let host = &self.host;
        Place { host: host.number, name: &host.name, path, encrypted: host.encrypted }
    }
}

impl Http {
    /// Chooses what the steps that follow are about.
    #[inline]
    pub(in super::super) fn prepare(&mut self, preparation: &Preparation, lane: &mut LaneState) -> Encoded {
        let visit = lane.memory.get_or_insert_default();
        visit.give_up();
        if preparation.draws.first() == Some(&Draw::Iteration) {
            visit.jar.begin();
            visit.changed = false;
        }
        self.scripts[preparation.script].prepare(preparation, &mut visit.memory, visit.taken, &mut self.rng);
        Encoded::Skip
    }

    /// Appends a request, filled in.
    #[inline]
    pub(in super::super) fn ask(&mut self, ask: &Ask, lane: &mut LaneState, out: &mut Vec<u8>) -> Encoded {
        lane.stage = Stage::Head;
        let visit = lane.memory.get_or_insert_default();
        visit.give_up();
        visit.wrong_headers = false;
        let memory = &mut visit.memory;
        if !ask.needs.iter().all(|place| memory.kept.knows(*place)) {
            return Encoded::Missing;
        }
        memory.found = 0;
        let script = &mut self.scripts[ask.script];
        let start = out.len();
        let mut filler = Filler {
            plan: &script.plan,
            kept: &memory.kept,
            rng: &mut self.rng,
            people: &mut self.people_view,
            raw: &mut self.raw,
        };
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
        out.extend_from_slice(&ask.tail);
        if let Some(body) = &ask.body {
            self.scratch.clear();
            filler.write(body, &mut self.scratch);
            push_number(out, self.scratch.len() as u64);
            out.extend_from_slice(b"\r\n\r\n");
            out.extend_from_slice(&self.scratch);
        }
        if ask.writes() {
            visit.changing = true;
            for source in &ask.owned {
                script.drawers.changes(&memory.kept, *source);
            }
        }
        Encoded::Send
    }

    /// Looks at the head of an answer.
    #[inline]
    pub(in super::super) fn take_head_of(
        &mut self,
        ask: &Ask,
        lane: &mut LaneState,
        bytes: &[u8],
        sets_cookies: bool,
    ) {
        let Some(visit) = lane.memory.as_deref_mut() else { return };
        let Visit { memory, jar, path, wrong_headers, .. } = visit;
        if sets_cookies && ask.keeps_cookies {
            for line in head::lines(bytes, b"set-cookie") {
                jar.set(line, ask.place(path));
            }
        }
        for (number, capture) in ask.captures.iter().enumerate() {
            let found = match &capture.from {
                From::Cookie(name) => {
                    let lines = head::lines(bytes, b"set-cookie");
                    let values = lines.filter_map(|line| {
                        let pair = line.split(|&byte| byte == b';').next()?.trim_ascii();
                        pair.strip_prefix(&name[..])?.trim_ascii_start().strip_prefix(b"=")
                    });
                    capture.pick(values, &mut self.rng)
                }
                From::Header(name) => capture.pick(head::lines(bytes, name), &mut self.rng),
                _ => None,
            };
            if let Some(value) = found {
                memory.kept.keep(capture.place, value);
                memory.found |= 1 << number;
            }
        }
        if !self.verify {
            return;
        }
        let mut filler = Filler {
            plan: &self.scripts[ask.script].plan,
            kept: &memory.kept,
            rng: &mut self.rng,
            people: &mut self.people_view,
            raw: &mut self.raw,
        };
        for (name, value) in &ask.headers {
            self.scratch.clear();
            filler.write(value, &mut self.scratch);
            *wrong_headers |= !head::lines(bytes, name.as_bytes()).any(|line| line == self.scratch);
        }
    }

    /// The failure of an answer, the worst kind first.
    #[inline]
    pub(in super::super) fn judge_ask(
        &mut self,
        ask: &Ask,
        lane: &mut LaneState,
        body: Option<&[u8]>,
        length: u64,
    ) -> Option<Failure> {
        let (verify, body) = (self.verify, body.unwrap_or_default());
        let visit = lane.memory.as_deref_mut()?;
        let script = &self.scripts[ask.script];
        let filler = Filler {
            plan: &script.plan,
            kept: &visit.memory.kept,
            rng: &mut self.rng,
            people: &mut self.people_view,
            raw: &mut self.raw,
        };
        let mut look = Look { body, filler, text: &mut self.scratch };
        let owner = ask.identity.as_ref().filter(|_| verify).map(|check| look.whose(check));
        if owner == Some(Whose::Anothers) {
            return Some(Failure::Leak);
        }
        if !look.accepts(&ask.statuses, lane.status) {
            return Some(Failure::Status(lane.status));
        }
        if ask.length.is_some_and(|wanted| wanted != length) {
            return Some(Failure::WrongLength);
        }
        if visit.wrong_headers || owner == Some(Whose::Nobodys) {
            return Some(Failure::WrongAnswer);
        }
        if verify && !ask.contains.iter().all(|needle| look.has(needle)) {
            return Some(Failure::WrongAnswer);
        }
        let must_be_fresh = verify
            && visit.changed
            && ask.owned.iter().all(|source| script.drawers.is_ours(&visit.memory.kept, *source));
        if must_be_fresh && !ask.fresh.iter().all(|needle| look.has(needle)) {
            return Some(Failure::Stale);
        }
        self.capture_for(ask, visit, body)
    }

    fn capture_for(&mut self, ask: &Ask, visit: &mut Visit, body: &[u8]) -> Option<Failure> {
        let memory = &mut visit.memory;
        let mut json = None;
        for (number, capture) in ask.captures.iter().enumerate() {
            let held;
            let found = match &capture.from {
                From::Between { before, until } => {
                    let mut rest = body;
                    let all = std::iter::from_fn(|| {
                        let found = between(rest, before, until)?;
                        let end = found.as_ptr() as usize - rest.as_ptr() as usize + found.len();
                        rest = &rest[end + until.needle().len()..];
                        Some(found)
                    });
                    capture.pick(all, &mut self.rng)
                }
                From::Json(pointer) => {
                    let parsed =
                        json.get_or_insert_with(|| serde_json::from_slice::<serde_json::Value>(body).ok());
                    held = parsed.as_ref().and_then(|value| value.pointer(pointer)).and_then(text_of);
                    held.as_deref().map(str::as_bytes).filter(|value| !value.is_empty())
                }
                _ => None,
            };
            if let Some(value) = found {
                memory.kept.keep(capture.place, value);
                memory.found |= 1 << number;
            }
            if memory.found & 1 << number == 0 {
                match &capture.default {
                    Some(text) => memory.kept.keep(capture.place, text),
                    None => return Some(Failure::NothingCaptured),
                }
            }
        }
        None
    }

    /// The request in flight as its method and path, and what was answered, without secrets.
    pub(in super::super) fn describe_ask(
        &mut self,
        ask: &Ask,
        lane: &LaneState,
        answer: Option<&[u8]>,
    ) -> String {
        let Some(visit) = lane.memory.as_deref() else { return ask.method.to_owned() };
        let (plan, kept) = (&self.scripts[ask.script].plan, &visit.memory.kept);
        let mut asked = Vec::new();
        plan.write(&ask.shown, kept, &mut self.rng, &mut asked);
        let mut told = masked(&String::from_utf8_lossy(&asked));
        if let Some(answer) = answer {
            let said = status_line(answer, lane.status);
            told = format!("{told}: {said}");
            if let Some(expected) = self.expected(ask, lane) {
                told = format!("{told}, expected {expected}");
            }
        }
        let plan = &self.scripts[ask.script].plan;
        for (name, text) in &ask.secrets {
            let mut secret = Vec::new();
            plan.write(text, kept, &mut self.rng, &mut secret);
            for how in [Escape::Plain, Escape::Percent, Escape::Html, Escape::HtmlNumeric, Escape::Json] {
                let mut form = Vec::new();
                push(&mut form, &secret, how);
                let form = String::from_utf8_lossy(&form);
                if !form.is_empty() {
                    told = told.replace(&*form, name);
                }
            }
        }
        told
    }

    /// What the status should have been, where it is another.
    fn expected(&mut self, ask: &Ask, lane: &LaneState) -> Option<String> {
        let visit = lane.memory.as_deref()?;
        let Statuses::Any(statuses) = &ask.statuses else {
            return (!(200..300).contains(&lane.status)).then(|| "2xx".to_owned());
        };
        let plan = &self.scripts[ask.script].plan;
        let mut texts = Vec::new();
        for status in statuses {
            texts.push(match status {
                Status::Code(code) => code.to_string(),
                Status::Named(text) => {
                    let mut out = Vec::new();
                    plan.write(text, &visit.memory.kept, &mut self.rng, &mut out);
                    String::from_utf8_lossy(&out).into_owned()
                }
            });
        }
        (!texts.contains(&lane.status.to_string())).then(|| texts.join(" or "))
    }
}

/// Notes what follows from an answer; returns whether all that follows depended on it.
pub(in super::super) fn conclude_ask(ask: &Ask, lane: &mut LaneState, failure: Option<Failure>) -> bool {
    if let Some(visit) = lane.memory.as_deref_mut().filter(|_| ask.writes()) {
        // Where it was refused, it will not take place any more.
        visit.changing = false;
        visit.changed |= failure.is_none();
    }
    ask.fatal
}

impl Captured {
    /// The one of several that is taken; an empty one is none.
    fn pick<'v>(&self, values: impl Iterator<Item = &'v [u8]>, rng: &mut fastrand::Rng) -> Option<&'v [u8]> {
        let mut values = values.filter(|value| !value.is_empty());
        let mut taken = values.next()?;
        if self.random {
            for (number, value) in (2..).zip(values) {
                if rng.usize(..number) == 0 {
                    taken = value;
                }
            }
        }
        Some(taken)
    }
}

/// A value of JSON as a text.
fn text_of(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        serde_json::Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The path of a request, without its query.
fn path_of(request: &[u8]) -> &[u8] {
    let target = request.split(|&byte| byte == b' ').nth(1).unwrap_or_default();
    target.split(|&byte| byte == b'?').next().unwrap_or_default()
}

/// Whose page an answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Asked,
    Anothers,
    Nobodys,
}

/// An answer being looked into.
struct Look<'a> {
    body: &'a [u8],
    filler: Filler<'a>,
    text: &'a mut Vec<u8>,
}

impl Look<'_> {
    #[inline]
    fn whose(&mut self, owner: &Owner) -> Whose {
        let Some(found) = between(self.body, &owner.before, &owner.until) else { return Whose::Nobodys };
        let mut is = |fill| {
            self.text.clear();
            self.filler.write(fill, self.text);
            self.text == found
        };
        if is(&owner.value) || owner.other.as_ref().is_some_and(is) { Whose::Asked } else { Whose::Anothers }
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
                    self.filler.plan.write(text, self.filler.kept, self.filler.rng, self.text);
                    std::str::from_utf8(self.text).is_ok_and(|text| text.parse() == Ok(status))
                }
            }),
        }
    }
}
