//! The request about one person.

use people::{Population, Profile};
use wire::ber::{self, Reader, tag};
use wire::ldap::request::{write_add, write_attribute, write_delete, write_search};
use wire::ldap::{ResultCode, filter, op};

use super::session::ENTRY_ITSELF;

/// The requests for people.
pub(super) struct Work<'p> {
    people: &'p Population,
    kind: Kind,
    /// Scratch space for names and attributes.
    dn: Vec<u8>,
    attributes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Add,
    Delete,
    Find,
}

/// The result of an answer for its person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The person was changed by this request; in a search, the person exists.
    Changed,
    /// The person was changed before; in a search, the person is missing.
    Unchanged,
    /// The server refused the request.
    Refused,
}

impl<'p> Work<'p> {
    pub(super) const fn add(people: &'p Population) -> Self {
        Self::new(people, Kind::Add)
    }

    pub(super) const fn delete(people: &'p Population) -> Self {
        Self::new(people, Kind::Delete)
    }

    pub(super) const fn find(people: &'p Population) -> Self {
        Self::new(people, Kind::Find)
    }

    const fn new(people: &'p Population, kind: Kind) -> Self {
        Self { people, kind, dn: Vec::new(), attributes: Vec::new() }
    }

    /// The verb in messages.
    pub(super) const fn verb(&self) -> &'static str {
        match self.kind {
            Kind::Add => "add",
            Kind::Delete => "delete",
            Kind::Find => "look for",
        }
    }

    /// The tag of the answers.
    pub(super) const fn response(&self) -> u8 {
        match self.kind {
            Kind::Add => op::ADD_RESPONSE,
            Kind::Delete => op::DELETE_RESPONSE,
            Kind::Find => op::SEARCH_DONE,
        }
    }

    pub(super) const fn meaning(&self, code: ResultCode) -> Meaning {
        match (self.kind, code) {
            (_, ResultCode::SUCCESS) => Meaning::Changed,
            (Kind::Add, ResultCode::ENTRY_ALREADY_EXISTS) => Meaning::Unchanged,
            (Kind::Delete | Kind::Find, ResultCode::NO_SUCH_OBJECT) => Meaning::Unchanged,
            _ => Meaning::Refused,
        }
    }

    pub(super) fn dn(&self, i: u64) -> String {
        let mut dn = Vec::new();
        self.people.write_dn(i, &mut dn);
        String::from_utf8_lossy(&dn).into_owned()
    }

    /// Appends the request for person `i`.
    pub(super) fn write(&mut self, i: u64, id: i32, out: &mut Vec<u8>) {
        self.dn.clear();
        self.people.write_dn(i, &mut self.dn);
        match self.kind {
            Kind::Delete => write_delete(out, id, &self.dn),
            Kind::Find => {
                let any = |out: &mut Vec<u8>| filter::write_present(out, b"objectClass");
                write_search(out, id, &self.dn, &ENTRY_ITSELF, any, [&b"1.1"[..]]);
            }
            Kind::Add => {
                self.attributes.clear();
                write_attributes(self.people, i, &mut self.attributes);
                write_add(out, id, &self.dn, |out| out.extend_from_slice(&self.attributes));
            }
        }
    }
}

/// Appends the AttributeList of person `i`.
///
/// ILS clients give the class of an entry in its DN only. Other directories need the attribute objectClass.
fn write_attributes(people: &Population, i: u64, out: &mut Vec<u8>) {
    if people.spec().profile != Profile::Ils {
        return people.write_attributes(i, out);
    }
    let mut list = Vec::new();
    people.write_attributes(i, &mut list);
    // `list` is one element, as the population has written it.
    let content = Reader::new(&list).expect(tag::SEQUENCE).unwrap_or_default();
    ber::write_nested(out, tag::SEQUENCE, |out| {
        write_attribute(out, b"objectClass", [&b"top"[..], people::OBJECT_CLASS.as_bytes()]);
        out.extend_from_slice(content);
    });
}
