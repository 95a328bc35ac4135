//! From a step to the bytes that are sent.

use wire::ldap::{filter, oid, request as write};

use super::frame::{options, write_person_filter};
use super::names::Person;
use super::request::{Request, value_of};
use super::step::PersonSelector;
use super::{LaneState, Ldap};
use crate::protocol::Encoded;

/// Message ids go round in what one byte holds.
const LAST_ID: u8 = 127;

impl LaneState {
    pub(super) fn next_id(&mut self) -> i32 {
        self.id = self.id % LAST_ID + 1;
        i32::from(self.id)
    }

    pub(super) fn id(&self) -> i32 {
        i32::from(self.id)
    }
}

impl Ldap {
    #[inline]
    pub(super) fn encode_request(
        &mut self,
        request: &Request,
        lane: &mut LaneState,
        out: &mut Vec<u8>,
    ) -> Encoded {
        if matches!(request, Request::Remove) && !self.take_key(lane) {
            return Encoded::Skip;
        }
        let id = lane.next_id();
        lane.entries = 0;
        lane.wrong = false;
        match request {
            Request::Lookup { person, .. } => {
                let person = self.pick(*person, lane);
                self.encode_lookup(id, person, request, lane, out);
            }
            Request::Bind { message, .. }
            | Request::Retrieve { message, .. }
            | Request::Search { message, .. } => message.write(out, lane.id),
            Request::Remove => self.encode_named(id, request, PersonSelector::Current, lane, out),
            Request::Add { person }
            | Request::Delete { person }
            | Request::Modify { person, .. }
            | Request::Refresh { person, .. }
            | Request::Compare { person, .. } => self.encode_named(id, request, *person, lane, out),
        }
        Encoded::Send
    }

    /// Takes the next person to add; returns whether they have to be removed first.
    fn take_key(&mut self, lane: &mut LaneState) -> bool {
        // The configuration sees to it that programs that add have a ring.
        let Some(ring) = &mut self.ring else { return false };
        let key = ring.take();
        let person = Person { number: key.person, added: true };
        lane.current = Some(person);
        lane.new = Some(person);
        key.used_before
    }

    #[inline]
    fn pick(&mut self, person: PersonSelector, lane: &mut LaneState) -> Person {
        let known = match person {
            PersonSelector::Random => None,
            PersonSelector::Current => lane.current,
            PersonSelector::New => lane.new,
        };
        let person = known.unwrap_or_else(|| Person { number: self.keys.draw(&mut self.rng), added: false });
        lane.current = Some(person);
        person
    }

    #[inline]
    fn encode_lookup(
        &mut self,
        id: i32,
        person: Person,
        request: &Request,
        lane: &mut LaneState,
        out: &mut Vec<u8>,
    ) {
        let Request::Lookup { attributes, sttl, frame, .. } = request else { return };
        let names = &self.shared.names;
        lane.dn.clear();
        let value = match names.known(person) {
            Some(people) => {
                people.write_dn(person.number, &mut lane.dn);
                // The name stands in the DN as it is, unless something in it is special in DNs.
                match plain_name(&lane.dn, people.spec().base.as_bytes()) {
                    Some(name) if frame.as_ref().is_some_and(|frame| frame.write(out, lane.id, name)) => {
                        return;
                    }
                    Some(name) => name,
                    None => spelled(&mut self.name, |out| people.write_name(person.number, out)),
                }
            }
            None => spelled(&mut self.name, |out| names.write_value(person, out)),
        };
        let known = !lane.dn.is_empty();
        let attribute = names.attribute(person);
        let equality = |out: &mut Vec<u8>| filter::write_equality(out, attribute, value);
        let filter = |out: &mut Vec<u8>| match (known, sttl) {
            (false, _) => equality(out),
            (true, None) => write_person_filter(out, equality),
            (true, Some(minutes)) => write_person_filter(out, |out| {
                equality(out);
                filter::write_equality(out, b"sttl", minutes);
            }),
        };
        let attributes = attributes.iter().map(Vec::as_slice);
        write::write_search(out, id, &self.shared.base, &options(names.scope(), 0), filter, attributes);
    }

    /// A request about one entry by its DN.
    fn encode_named(
        &mut self,
        id: i32,
        request: &Request,
        person: PersonSelector,
        lane: &mut LaneState,
        out: &mut Vec<u8>,
    ) {
        let person = self.pick(person, lane);
        let names = &self.shared.names;
        self.name.clear();
        names.write_dn(person, &mut self.name);
        let dn = &self.name;
        match request {
            Request::Add { .. } => write::write_add(out, id, dn, |out| {
                if let Some(people) = &names.people {
                    people.write_attributes(person.number, out);
                }
            }),
            Request::Modify { changes, .. } => {
                write::write_modify(out, id, dn, |out| out.extend_from_slice(changes));
            }
            Request::Refresh { ttl_s, .. } => {
                self.scratch.clear();
                write::write_refresh_value(&mut self.scratch, dn, *ttl_s);
                write::write_extended(out, id, oid::REFRESH, Some(&self.scratch));
            }
            Request::Compare { attribute, .. } => {
                let known = names.known(person);
                let value =
                    known.and_then(|people| value_of(people, person.number, attribute, &mut self.scratch));
                write::write_compare(out, id, dn, attribute, value.unwrap_or_default());
            }
            _ => write::write_delete(out, id, dn),
        }
    }
}

/// The name in `cn=<name>,<base>`, if it stands there unescaped.
#[inline]
fn plain_name<'d>(dn: &'d [u8], base: &[u8]) -> Option<&'d [u8]> {
    let name = dn.strip_prefix(b"cn=")?.strip_suffix(base)?.strip_suffix(b",")?;
    (!name.contains(&b'\\')).then_some(name)
}

fn spelled(out: &mut Vec<u8>, spell: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
    out.clear();
    spell(out);
    out
}
