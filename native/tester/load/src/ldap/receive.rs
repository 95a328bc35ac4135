//! Decodes and verifies answers.

use wire::ber::{Reader, tag};
use wire::dn::Dn;
use wire::ldap::frame::message_length;
use wire::ldap::request as write;
use wire::ldap::{Attributes, Reply, Response, ResultCode, oid, op};

use super::names::Person;
use super::verify::ExpectedAttributes;
use super::{LaneState, Ldap, Request};
use crate::fill::Preparation;
use crate::protocol::{Encoded, Message, Protocol, Received};
use crate::record::failure::Failure;
use crate::record::report::Report;

/// Larger messages are refused: a person's entry is far smaller.
pub(super) const MESSAGE_BYTES: usize = 16 << 20;

impl Protocol for Ldap {
    type Request = Request;
    type Lane = LaneState;

    fn connected(&mut self, lane: &mut LaneState) {
        lane.id = 0;
        lane.memory.give_up(&mut self.scripts[lane.memory.script].dealers);
    }

    fn unsent(&mut self, lane: &mut LaneState) {
        lane.memory.changing = false;
    }

    #[inline]
    fn prepare(&mut self, preparation: &Preparation, lane: &mut LaneState) -> Encoded {
        // A lane that waits for a row has taken a person already.
        if preparation.takes
            && !lane.memory.data.waits()
            && let Some(ring) = &mut self.ring
        {
            let key = ring.take();
            (lane.taken, lane.comes_again) = (Some(key.person), key.used_before);
        }
        let script = &mut self.scripts[preparation.script];
        script.prepare(preparation, &mut lane.memory, lane.taken, &mut self.rng)
    }

    #[inline]
    fn encode(&mut self, ask: &Request, lane: &mut LaneState, out: &mut Vec<u8>) -> Encoded {
        if let Some(first) = &ask.first {
            let chosen = self.prepare(first, lane);
            if chosen != Encoded::Skip {
                return chosen;
            }
        }
        if ask.removes_taken && !lane.comes_again {
            return Encoded::Skip;
        }
        lane.next_id();
        lane.entries = 0;
        lane.wrong = false;
        self.ask(ask, lane, out)
    }

    #[inline]
    fn receive(&mut self, ask: &Request, lane: &mut LaneState, bytes: &[u8]) -> Received {
        let mut at = 0;
        loop {
            let rest = &bytes[at..];
            let length = match message_length(rest, MESSAGE_BYTES) {
                Ok(Some(length)) => length,
                Ok(None) => return Received::Partial { consumed: at },
                Err(_) => return Received::Broken(Failure::Malformed),
            };
            let Ok(response) = Response::decode(&rest[..length]) else {
                return Received::Broken(Failure::Malformed);
            };
            at += length;
            if response.id != i32::from(lane.id) {
                // Message id 0 announces that the server is about to close (RFC 4511 section 4.4.1).
                let goodbye = response.id == 0;
                return Received::Broken(if goodbye { Failure::Closed } else { Failure::Malformed });
            }
            match response.reply {
                Reply::Entry { dn, attributes } => {
                    lane.entries += 1;
                    lane.wrong |= !self.check_entry(ask, lane, dn, attributes);
                }
                Reply::Reference | Reply::Intermediate => {}
                Reply::Done { tag, outcome } if tag == ask.response => {
                    if self.has_next_page(ask, lane, outcome, response.controls) {
                        return Received::More { consumed: at };
                    }
                    lane.wrong |= ask.expects.missing_control(response.controls).is_some();
                    let failure = self.judge_ask(ask, lane, outcome);
                    let fatal = failure.is_some() && ask.fatal;
                    return Received::Done { consumed: at, failure, fatal };
                }
                Reply::Done { .. } => return Received::Broken(Failure::Malformed),
            }
        }
    }

    fn can_ask(&self, ask: &Request, lane: &LaneState) -> bool {
        Self::can_fill(ask, lane)
    }

    fn number(&mut self, lane: &mut LaneState, number: u8) {
        lane.id = number - 1;
    }

    fn next_message(&self, bytes: &[u8]) -> Result<Option<Message>, Failure> {
        let message = match message_length(bytes, MESSAGE_BYTES) {
            Ok(Some(length)) => &bytes[..length],
            Ok(None) => return Ok(None),
            Err(_) => return Err(Failure::Malformed),
        };
        Message::of(message).map(Some).ok_or(Failure::Malformed)
    }

    fn count(&mut self, list: usize, lane: &mut LaneState) -> u64 {
        lane.memory.data.begin(list)
    }

    fn encode_more(&mut self, ask: &Request, lane: &mut LaneState, out: &mut Vec<u8>) {
        lane.next_id();
        let pages = &lane.memory.pages;
        let starts = std::iter::once(&0).chain(&pages.ends);
        let fields = starts.zip(&pages.ends).map(|(start, end)| &pages.filled[*start..*end]);
        let fields: Vec<_> = fields.chain([&pages.cookie[..]]).collect();
        ask.frame.write(out, lane.id, &fields);
    }

    fn describe(&mut self, ask: &Request, lane: &LaneState, answer: Option<&[u8]>) -> Report {
        self.describe_request(ask, lane, answer)
    }

    fn lost_rows(&self) -> u64 {
        self.scripts.iter().map(|script| script.dealers.lost()).sum()
    }

    fn take_returned_rows(&mut self) -> u64 {
        self.scripts.iter_mut().map(|script| script.dealers.take_returned()).sum()
    }

    fn leave(&mut self, lane: &mut LaneState) {
        lane.memory.leave(&mut self.scripts);
    }

    fn farewell(&mut self, lane: &mut LaneState, out: &mut Vec<u8>) {
        write::write_unbind(out, lane.next_id());
    }
}

impl Message {
    /// The header of a message, without its contents.
    fn of(message: &[u8]) -> Option<Self> {
        let mut fields = Reader::new(message).sequence().ok()?;
        let number = i32::try_from(fields.integer(tag::INTEGER).ok()?).ok()?;
        let answer = fields.element().ok()?.tag;
        let last = !matches!(answer, op::SEARCH_ENTRY | op::SEARCH_REFERENCE | op::INTERMEDIATE_RESPONSE);
        // A notice of disconnection (RFC 4511 section 4.4.1).
        let goodbye = number == 0
            && match Response::decode(message).ok()?.reply {
                Reply::Done { outcome, .. } => outcome.name == Some(oid::NOTICE_OF_DISCONNECTION),
                _ => false,
            };
        Some(Self { length: message.len(), number, last, goodbye })
    }
}

impl Ldap {
    #[inline]
    pub(super) fn is_right(
        &mut self,
        person: Person,
        wanted: &ExpectedAttributes,
        entry: (&[u8], Attributes<'_>),
        expected_dn: &[u8],
    ) -> bool {
        match self.shared.names.known(person) {
            Some(people) => self.verifier.is_person(people, person, wanted, entry, expected_dn),
            None => {
                // The encoding is checked first: `is_named` stops at a malformed value without an error.
                entry.1.check().is_ok() && self.shared.names.is_named(person, entry, &mut self.scratch)
            }
        }
    }

    /// Whether `entries` is the number of all people, or the number that the size limit allows.
    pub(super) fn are_all_people(&self, entries: u64, size_limit: u32, code: ResultCode) -> bool {
        let limit = u64::from(size_limit);
        if code == ResultCode::SUCCESS {
            // People may have been added since the start.
            return entries >= self.shared.count && (limit == 0 || entries <= limit);
        }
        limit == 0 || entries == limit
    }

    /// Whether the entry is a person of the population; the entry's own name says which.
    pub(super) fn is_any_person(
        &mut self,
        wanted: &ExpectedAttributes,
        dn: &[u8],
        attributes: Attributes<'_>,
    ) -> bool {
        let names = &self.shared.names;
        let Some(people) = names.people.as_deref().filter(|_| names.template.is_none()) else {
            return attributes.check().is_ok();
        };
        let Ok(parsed) = Dn::parse(dn) else { return false };
        // In a DN of ILS another RDN precedes the name.
        let mut pairs = parsed.rdns().flat_map(|rdn| rdn.pairs());
        let naming = names.profile.naming().as_bytes();
        let Some(name) = pairs.find(|pair| pair.is(naming)) else { return false };
        let Some(number) = people.index_of(name.value.decode(&mut self.scratch)) else { return false };
        let person = Person { number, added: false };
        self.verifier.is_person(people, person, wanted, (dn, attributes), b"")
    }
}
