//! Registers a user: an add that may lack the class and the time to live.

use wire::ldap::attributes::Attribute;
use wire::ldap::request::write_attribute;
use wire::ldap::{AddRequest, Attributes};

use super::{ENTRY_TTL, STTL, seconds};
use crate::ils_names::Names;
use crate::store::Refusal;
use crate::turn::Turn;

/// The classes of a user that registers without classes: a person who is online, and a dynamic entry (RFC
/// 2589 section 3.1).
const CLASSES: [&[u8]; 3] = [b"top", b"rtPerson", b"dynamicObject"];

/// Adds an entry in the ILS profile.
pub(crate) fn register(names: &Names, add: &AddRequest<'_>, turn: &mut Turn<'_>) -> Result<(), Refusal> {
    let now = turn.seconds();
    let dn = turn.settings.stored_name(add.dn, &mut turn.scratch.name);
    let given = RegistrationAttributes::of(add.attributes);
    if given.is_complete() {
        return turn.access.write().add(dn, add.attributes, now).map(drop);
    }
    let attributes = &mut turn.scratch.request;
    attributes.clear();
    complete(add.attributes, &given, names.ttl_s, attributes);
    turn.access.write().add(dn, Attributes(attributes), now).map(drop)
}

/// The class and the time to live among the attributes of an add.
#[derive(Debug, Default)]
struct RegistrationAttributes {
    class: bool,
    dynamic: bool,
    entry_ttl: bool,
    /// Whether a value is empty: clients of 1997 send empty values for unknown properties.
    empty: bool,
    /// The time to live in seconds; the add has it in minutes.
    sttl_s: Option<u32>,
}

impl RegistrationAttributes {
    fn of(attributes: Attributes<'_>) -> Self {
        let mut found = Self::default();
        for attribute in attributes.iter().flatten() {
            found.empty |= attribute.values.iter().flatten().any(<[u8]>::is_empty);
            if is_empty(&attribute) {
                continue;
            }
            if is(&attribute, b"objectClass") {
                found.class = true;
                found.dynamic |= attribute
                    .values
                    .iter()
                    .flatten()
                    .any(|class| class.eq_ignore_ascii_case(b"dynamicObject"));
            } else if is(&attribute, STTL) {
                found.sttl_s = attribute.values.iter().flatten().next().and_then(seconds);
            } else if is(&attribute, ENTRY_TTL) {
                found.entry_ttl = true;
            }
        }
        found
    }

    /// Whether nothing is missing: the entry has a class and, if it is dynamic, a time to live in seconds.
    const fn is_complete(&self) -> bool {
        self.class && !self.empty && self.sttl_s.is_none() && (self.entry_ttl || !self.dynamic)
    }
}

/// Whether the attribute has values, all of them empty.
fn is_empty(attribute: &Attribute<'_>) -> bool {
    let mut values = attribute.values.iter().flatten().peekable();
    values.peek().is_some() && values.all(<[u8]>::is_empty)
}

fn is(attribute: &Attribute<'_>, name: &[u8]) -> bool {
    attribute.name.eq_ignore_ascii_case(name)
}

/// Appends the attributes: empty attributes are omitted, and missing attributes are added.
fn complete(attributes: Attributes<'_>, given: &RegistrationAttributes, ttl_s: u32, out: &mut Vec<u8>) {
    if !given.class {
        write_attribute(out, b"objectClass", CLASSES);
    }
    for attribute in attributes.iter().flatten() {
        if !is(&attribute, STTL) && !is_empty(&attribute) {
            let values = attribute.values.iter().flatten();
            write_attribute(out, attribute.name, values.filter(|value| !value.is_empty()));
        }
    }
    if !given.entry_ttl && (given.dynamic || !given.class || given.sttl_s.is_some()) {
        let ttl_s = given.sttl_s.unwrap_or(ttl_s).to_string();
        write_attribute(out, ENTRY_TTL, [ttl_s.as_bytes()]);
    }
}
