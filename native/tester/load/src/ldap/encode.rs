//! From a step to the bytes that are sent.

use memchr::memchr;
use people::Spec;

use super::names::Person;
use super::{LaneState, Ldap};

/// Message ids go round in what one byte holds.
const LAST_ID: u8 = 127;

impl LaneState {
    pub(super) fn next_id(&mut self) -> i32 {
        self.id = self.id % LAST_ID + 1;
        i32::from(self.id)
    }
}

impl Ldap {
    /// Takes the next person to add.
    pub(super) fn take_key(&mut self, lane: &mut LaneState) {
        // The configuration sees to it that programs that add have a ring.
        let Some(ring) = &mut self.ring else { return };
        let key = ring.take();
        lane.taken = Some(key.person);
        lane.comes_again = key.used_before;
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
fn plain_name<'d>(dn: &'d [u8], naming: &str, base: &[u8]) -> Option<&'d [u8]> {
    let name = dn.get(naming.len() + 1..)?.strip_suffix(base)?.strip_suffix(b",")?;
    memchr(b'\\', name).is_none().then_some(name)
}
