//! From a step to the bytes that are sent.

use memchr::memchr;
use people::Spec;
use wire::ldap::request::write_add;

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
        match request {
            Request::Prepare(preparation) => return self.prepare(preparation, lane),
            Request::Ask(ask) => {
                if let Some(first) = &ask.first {
                    let chosen = self.prepare(first, lane);
                    if chosen != Encoded::Skip {
                        return chosen;
                    }
                }
            }
            Request::Remove { takes, .. } => {
                if *takes {
                    self.take_key(lane);
                }
                if !lane.comes_again {
                    return Encoded::Skip;
                }
                lane.current = lane.new;
            }
            _ => {}
        }
        let id = lane.next_id();
        lane.entries = 0;
        lane.wrong = false;
        match request {
            Request::Ask(ask) => return self.ask(ask, lane, out),
            Request::Prepare(_) => return Encoded::Skip,
            Request::Bind { frame, .. } | Request::Retrieve { frame, .. } | Request::Search { frame, .. } => {
                frame.write(out, lane.id, &[]);
            }
            Request::Lookup { person, frames, .. } => {
                let person = self.pick(*person, lane);
                let value = self.spell_value(person, &mut lane.dn);
                frames[usize::from(person.added)].write(out, lane.id, &[value]);
            }
            Request::Add { person } => {
                let person = self.pick_dn(*person, lane);
                write_add(out, id, &self.name, |out| {
                    if let Some(people) = &self.shared.names.people {
                        people.write_attributes(person.number, out);
                    }
                });
            }
            Request::Remove { frame, .. } => {
                self.pick_dn(PersonSelector::Current, lane);
                frame.write(out, lane.id, &[&self.name]);
            }
            Request::Change { person, frame, .. } => {
                self.pick_dn(*person, lane);
                frame.write(out, lane.id, &[&self.name]);
            }
            Request::Compare { person, attribute, frame } => {
                let person = self.pick_dn(*person, lane);
                let known = self.shared.names.known(person);
                let value =
                    known.and_then(|people| value_of(people, person.number, attribute, &mut self.scratch));
                frame.write(out, lane.id, &[&self.name, value.unwrap_or_default()]);
            }
        }
        Encoded::Send
    }

    /// Takes the next person to add.
    pub(super) fn take_key(&mut self, lane: &mut LaneState) {
        // The configuration sees to it that programs that add have a ring.
        let Some(ring) = &mut self.ring else { return };
        let key = ring.take();
        let person = Person { number: key.person, added: true };
        lane.current = Some(person);
        lane.new = Some(person);
        lane.comes_again = key.used_before;
    }

    #[inline]
    fn pick(&mut self, person: PersonSelector, lane: &mut LaneState) -> Person {
        let known = match person {
            PersonSelector::Random => None,
            PersonSelector::Current => lane.current,
            PersonSelector::New => lane.new,
            PersonSelector::Own => lane.own,
        };
        let chosen = known.unwrap_or_else(|| Person { number: self.keys.draw(&mut self.rng), added: false });
        lane.current = Some(chosen);
        if person == PersonSelector::Own {
            lane.own = Some(chosen);
        }
        chosen
    }

    /// Picks a person and spells their DN into `name`.
    fn pick_dn(&mut self, person: PersonSelector, lane: &mut LaneState) -> Person {
        let person = self.pick(person, lane);
        self.name.clear();
        self.shared.names.write_dn(person, &mut self.name);
        person
    }

    /// The value that a person is looked up by; `dn` becomes the DN of the right answer, if it is known.
    #[inline]
    pub(super) fn spell_value<'v>(&'v mut self, person: Person, dn: &'v mut Vec<u8>) -> &'v [u8] {
        let names = &self.shared.names;
        dn.clear();
        if let Some(people) = names.known(person) {
            people.write_dn(person.number, dn);
            // The name stands in the DN as it is, unless something in it is special in DNs.
            let Spec { profile, base, .. } = people.spec();
            if let Some(name) = plain_name(dn, profile.naming(), base.as_bytes()) {
                return name;
            }
        }
        self.name.clear();
        names.write_value(person, &mut self.name);
        &self.name
    }
}

/// The name in `<naming>=<name>,<base>`, if it stands there unescaped.
#[inline]
fn plain_name<'d>(dn: &'d [u8], naming: &str, base: &[u8]) -> Option<&'d [u8]> {
    let name = dn.get(naming.len() + 1..)?.strip_suffix(base)?.strip_suffix(b",")?;
    memchr(b'\\', name).is_none().then_some(name)
}
