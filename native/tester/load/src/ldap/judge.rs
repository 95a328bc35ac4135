//! Fills requests in, and verifies answers.

use memchr::memchr;
use people::Spec;
use scenario::{AUTHORIZATION, Count, GENERATED, Take};
use wire::ber::{Reader, tag};
use wire::ldap::control::PagedResults;
use wire::ldap::request::write_add;
use wire::ldap::{Attributes, Controls, Outcome, ResultCode, oid, op};

use super::ask::{Ask, Enters, Expected, ExpectedPerson, Expects, Wanted, becomes, is_code};
use super::names::{Person, is_same_name, same_text, values_of};
use super::verify::NOT_WHOLE;
use super::writing::{Becomes, Field};
use super::{LaneState, Ldap};
use crate::fill::Text;
use crate::protocol::Encoded;
use crate::record::failure::Failure;
use crate::scripted::{Capture, Differs, Memory, Pages, hide};

/// The most pages of a search, and the most empty pages in a row: a server could return a cookie forever.
const MOST_PAGES: u64 = 1_000_000;
const MOST_EMPTY: u64 = 100;

/// Requests with fewer fields are filled in without an allocation.
const FEW: usize = 16;

/// The name in `<naming>=<name>,<base>`, if the name has no escapes.
fn plain_name<'d>(dn: &'d [u8], naming: &str, base: &[u8]) -> Option<&'d [u8]> {
    let name = dn.get(naming.len() + 1..)?.strip_suffix(base)?.strip_suffix(b",")?;
    memchr(b'\\', name).is_none().then_some(name)
}

impl Ldap {
    /// The value that a person is looked up by. `dn` becomes the DN of the right answer, if that is known.
    #[inline]
    fn lookup_value<'v>(&'v mut self, person: Person, dn: &'v mut Vec<u8>) -> &'v [u8] {
        let names = &self.shared.names;
        dn.clear();
        if let Some(people) = names.known(person) {
            people.write_dn(person.number, dn);
            // The DN contains the name unchanged, unless the name has special characters.
            let Spec { profile, base, .. } = people.spec();
            if let Some(name) = plain_name(dn, profile.naming(), base.as_bytes()) {
                return name;
            }
        }
        self.name.clear();
        names.write_value(person, &mut self.name);
        &self.name
    }

    /// Whether all captures that the request uses have a value.
    #[inline]
    pub(super) fn can_fill(ask: &Ask, lane: &LaneState) -> bool {
        ask.needs.iter().all(|place| lane.memory.data.has_value(*place))
    }

    /// Appends a request with its fields filled in.
    #[inline]
    pub(super) fn ask(&mut self, ask: &Ask, lane: &mut LaneState, out: &mut Vec<u8>) -> Encoded {
        let id = lane.id;
        if !Self::can_fill(ask, lane) {
            return Encoded::Missing;
        }
        let memory = &mut lane.memory;
        memory.give_up(&mut self.scripts[ask.script].dealers);
        memory.changing = ask.changes;
        memory.differs = None;
        memory.begin_captures(ask.captures.len());
        if let Some(place) = ask.owns {
            // The mark of an added entry may remain from the previous round.
            memory.data.forget(place);
        }
        lane.dn.clear();
        if let ([Field { becomes: Becomes::Name { source, added }, .. }], None) =
            (&ask.fields[..], ask.page_size)
        {
            // A lookup needs no other field.
            let person = Person { number: memory.data.row(*source), added: *added };
            let name = self.lookup_value(person, &mut lane.dn);
            ask.frame.write(out, id, &[name]);
            return Encoded::Send;
        }
        if let (Some(Enters { source, added }), Some(people)) = (ask.enters, &self.shared.names.people) {
            // An entry has some kilobytes, so it is written directly into the request.
            let person = Person { number: memory.data.row(source), added };
            self.name.clear();
            self.shared.names.write_dn(person, &mut self.name);
            write_add(out, i32::from(id), &self.name, |out| people.write_attributes(person.number, out));
            return Encoded::Send;
        }
        let plan = &self.scripts[ask.script].plan;
        self.scratch.clear();
        // The cookie for the first page is empty.
        let count = ask.fields.len() + usize::from(ask.page_size.is_some());
        let mut ends = [0; FEW + 1];
        let mut more = Vec::new();
        if count > FEW {
            more.resize(count + 1, 0);
        }
        let ends = if more.is_empty() { &mut ends[..=count] } else { &mut more[..] };
        for (number, Field { text, becomes: what }) in ask.fields.iter().enumerate() {
            if matches!(what, Becomes::Itself | Becomes::Name { .. }) {
                plan.write(text, &memory.data, &mut self.rng, &mut self.scratch);
            } else {
                self.name.clear();
                plan.write(text, &memory.data, &mut self.rng, &mut self.name);
                becomes(*what, &self.name, &mut self.scratch);
            }
            ends[number + 1] = self.scratch.len();
        }
        if ask.page_size.is_some() {
            ends[count] = self.scratch.len();
            let Pages { mut filled, ends: mut data, mut cookie, .. } = std::mem::take(&mut memory.pages);
            filled.clear();
            data.clear();
            cookie.clear();
            filled.extend_from_slice(&self.scratch);
            data.extend_from_slice(&ends[1..=ask.fields.len()]);
            memory.pages = Pages { filled, ends: data, cookie, ..Pages::default() };
        }
        let field = |number: usize| &self.scratch[ends[number]..ends[number + 1]];
        let mut few: [&[u8]; FEW] = [&[]; FEW];
        if count <= FEW {
            let fields = &mut few[..count];
            fields.iter_mut().enumerate().for_each(|(number, place)| *place = field(number));
            ask.frame.write(out, id, fields);
        } else {
            let fields: Vec<_> = (0..count).map(field).collect();
            ask.frame.write(out, id, &fields);
        }
        Encoded::Send
    }

    /// Whether another page is to be requested (RFC 2696 section 3). A page that violates the request makes
    /// the answer wrong and ends the search.
    pub(super) fn has_next_page(
        &mut self,
        ask: &Ask,
        lane: &mut LaneState,
        outcome: Outcome<'_>,
        controls: Controls<'_>,
    ) -> bool {
        let Some(size) = ask.page_size else { return false };
        let pages = &mut lane.memory.pages;
        if outcome.code != ResultCode::SUCCESS {
            return false;
        }
        let entries = lane.entries - pages.before;
        let control = controls.iter().find(|control| control.oid == oid::PAGED_RESULTS);
        let page = control.map(|control| PagedResults::decode(control.value.unwrap_or_default()));
        pages.empty = if entries == 0 { pages.empty + 1 } else { 0 };
        (pages.before, pages.count) = (lane.entries, pages.count + 1);
        let cookie = match page {
            _ if entries > u64::from(size) => None,
            Some(Ok(PagedResults { cookie, .. })) => Some(cookie),
            // A server that omits the control has no further page.
            None => Some(&b""[..]),
            Some(Err(_)) => None,
        };
        match cookie {
            Some(b"") => false,
            Some(cookie) if pages.count < MOST_PAGES && pages.empty < MOST_EMPTY => {
                pages.cookie.clear();
                pages.cookie.extend_from_slice(cookie);
                true
            }
            _ => {
                lane.wrong = true;
                false
            }
        }
    }

    /// Verifies an entry and captures its values. Returns whether the entry is right.
    pub(super) fn check_entry(
        &mut self,
        ask: &Ask,
        lane: &mut LaneState,
        dn: &[u8],
        attributes: Attributes<'_>,
    ) -> bool {
        if !self.shared.verify && ask.captures.is_empty() {
            return true;
        }
        // The verifier of a person checks the encoding itself if the bytes differ from the expected bytes.
        let is_walked = ask.expects.person.is_some() && ask.captures.is_empty();
        if !is_walked && attributes.check().is_err() {
            return false;
        }
        let memory = &mut lane.memory;
        for (number, capture) in ask.captures.iter().enumerate() {
            match &*capture.from {
                _ if capture.take == Take::First && lane.entries > 1 => {}
                "dn" => memory.capture(number, capture, std::iter::once(dn), &mut self.rng),
                name => {
                    memory.capture(number, capture, values_of(attributes, name.as_bytes()), &mut self.rng);
                }
            }
        }
        if !self.shared.verify {
            return true;
        }
        let expects = &ask.expects;
        if let Some((person, wanted)) = &expects.person {
            let right = match *person {
                ExpectedPerson::Row { source, added } => {
                    let person = Person { number: memory.data.row(source), added };
                    self.is_right(person, wanted, (dn, attributes), &lane.dn)
                }
                ExpectedPerson::Anyone => self.is_any_person(wanted, dn, attributes),
            };
            if !right {
                memory.differs = Some(Differs::Person);
                return false;
            }
        }
        let plan = &self.scripts[ask.script].plan;
        let mut filled = |text: &Text, memory: &Memory| plan.written(text, &memory.data, &mut self.rng);
        for (number, Wanted { attribute, value, exact }) in expects.values.iter().enumerate() {
            let mut wanted = Vec::new();
            becomes(value.becomes, &filled(&value.text, memory), &mut wanted);
            if !holds(attributes, attribute, &wanted, *exact) {
                memory.differs = Some(Differs::Value(number));
                return false;
            }
        }
        let changed = &self.shared.changed;
        for (number, (name, value)) in expects.row.iter().enumerate() {
            if changed.iter().any(|attribute| attribute.eq_ignore_ascii_case(name)) {
                continue;
            }
            let mut names = attributes.iter().flatten().map(|attribute| attribute.name);
            let is_returned = names.any(|other| other.eq_ignore_ascii_case(name.as_bytes()));
            if is_returned && !holds(attributes, name, &filled(value, memory), false) {
                memory.differs = Some(Differs::Column(number));
                return false;
            }
        }
        let Some(parts) = &expects.dn else { return true };
        let mut expected = Vec::new();
        for Field { text, becomes: what } in parts {
            becomes(*what, &filled(text, memory), &mut expected);
        }
        let same = is_same_name(&expected, dn, &mut self.scratch);
        if !same {
            memory.differs = Some(Differs::Name);
        }
        same
    }

    /// Names the wrong part of an entry, without its value, which may be secret.
    pub(super) fn describe_difference(&self, ask: &Ask, lane: &LaneState) -> String {
        let name = match lane.memory.differs.filter(|_| lane.wrong) {
            Some(Differs::Person) => return NOT_WHOLE.to_owned(),
            Some(Differs::Value(number)) => ask.expects.values.get(number).map(|wanted| &*wanted.attribute),
            Some(Differs::Column(number)) => ask.expects.row.get(number).map(|column| &*column.0),
            Some(Differs::Name) => Some("the DN"),
            None => None,
        };
        name.map_or_else(String::new, |name| format!(", but {name} is not as expected"))
    }

    /// The failure of an answer that has ended.
    pub(super) fn judge_ask(
        &mut self,
        ask: &Ask,
        lane: &mut LaneState,
        outcome: Outcome<'_>,
    ) -> Option<Failure> {
        let memory = &mut lane.memory;
        memory.changing = false;
        let plan = &self.scripts[ask.script].plan;
        // If another result was accepted, the operation has not added the entry.
        if let (Some(place), ResultCode::SUCCESS) = (ask.owns, outcome.code) {
            memory.data.keep(place, b"");
        }
        let accepted = match &ask.expects.codes[..] {
            [Expected::Code(code)] => *code == outcome.code,
            codes => codes.iter().any(|code| match code {
                Expected::Code(code) => *code == outcome.code,
                Expected::Named(text) => {
                    self.scratch.clear();
                    plan.write(text, &memory.data, &mut self.rng, &mut self.scratch);
                    is_code(&self.scratch, outcome.code)
                }
            }),
        };
        let wrong = self.shared.verify
            && (lane.wrong || !self.is_expected_count(&ask.expects, lane.entries, outcome.code));
        if wrong || !accepted {
            // No further step may use values of a wrong entry.
            ask.captures.iter().for_each(|capture| memory.data.forget(capture.place));
        }
        if !accepted {
            // An unexpected success or compare result is a wrong answer, not a refusal by the target.
            let is_answer = matches!(
                outcome.code,
                ResultCode::SUCCESS | ResultCode::COMPARE_FALSE | ResultCode::COMPARE_TRUE
            );
            if !is_answer && ask.response == op::BIND_RESPONSE {
                // Another bind with this row could lock the account of the row.
                self.scripts[ask.script].dealers.lose(&mut memory.data);
            }
            return Some(if is_answer { Failure::WrongAnswer } else { Failure::Result(outcome.code.name()) });
        }
        if wrong {
            return Some(Failure::WrongAnswer);
        }
        for (number, capture) in ask.captures.iter().enumerate() {
            memory.capture(number, capture, extended_value(capture, outcome).into_iter(), &mut self.rng);
            if !memory.has_captured(number, capture) {
                return Some(Failure::NothingCaptured);
            }
        }
        memory.too_many.then_some(Failure::TooMuchCaptured)
    }

    /// A server's message without the secrets of the request.
    pub(super) fn without_secrets(&mut self, ask: &Ask, lane: &LaneState, answer: String) -> String {
        let plan = &self.scripts[ask.script].plan;
        let mut secrets: Vec<(Vec<u8>, &str)> = Vec::new();
        for (name, Field { text, becomes: what }) in &ask.secrets {
            let mut secret = Vec::new();
            becomes(*what, &plan.written(text, &lane.memory.data, &mut self.rng), &mut secret);
            secrets.push((secret, name));
        }
        hide(&answer, &secrets)
    }
}

/// The captured value of an extended response: a password that the server generated (RFC 3062 section 2), or
/// the authorization identity.
fn extended_value<'o>(capture: &Capture<String>, outcome: Outcome<'o>) -> Option<&'o [u8]> {
    let value = outcome.value?;
    match &*capture.from {
        GENERATED => Reader::new(value).sequence().ok()?.optional(tag::context(0)).ok()?,
        AUTHORIZATION => Some(value),
        _ => None,
    }
}

impl Ldap {
    fn is_expected_count(&self, expects: &Expects, entries: u64, code: ResultCode) -> bool {
        let Expects { values, row, dn, person, .. } = expects;
        let is_row = matches!(person, Some((ExpectedPerson::Row { .. }, _)));
        let one = is_row || !values.is_empty() || !row.is_empty() || dn.is_some();
        (!one || entries == 1)
            && match expects.entries {
                None => true,
                Some(Count::All) => self.are_all_people(entries, expects.size_limit, code),
                Some(Count::Exactly(count)) => entries == count,
                Some(Count::AtLeast(count)) => entries >= count,
                Some(Count::AtMost(count)) => entries <= count,
            }
    }
}

/// Whether an attribute has a value. Unless `exact`, letters may differ in case.
fn holds(attributes: Attributes<'_>, name: &str, value: &[u8], exact: bool) -> bool {
    values_of(attributes, name.as_bytes())
        .any(|other| if exact { other == value } else { same_text(other, value) })
}
