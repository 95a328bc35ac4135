//! People of a directory as rows of a scenario's data.

use wire::ber::{Reader, tag};
use wire::ldap::Attributes;

use super::names::{Names, Person, values_of};
use crate::fill::People;

/// The number of people whose attributes are collected. No other person has an attribute that all these
/// people lack.
const SAMPLE: u64 = 100;

/// The column of the DN.
const DN: usize = 0;
/// The column with a person's password in clear text; `userPassword` is the value in the directory.
const PASSWORD: &str = "password";

pub(super) struct PeopleRows {
    names: Names,
    count: u64,
    /// The columns of seeded people.
    seeded: Vec<String>,
    /// The columns of people that the run adds.
    added: Vec<String>,
}

impl PeopleRows {
    pub(super) fn new(names: &Names, count: u64) -> Self {
        let mut added = vec!["dn".to_owned()];
        for number in 0..SAMPLE {
            let Some(people) = names.people.as_deref().filter(|people| number < people.spec().size) else {
                break;
            };
            for (name, _) in people.attributes(number) {
                if !added.contains(&name) {
                    added.push(name);
                }
            }
        }
        if names.people.as_deref().is_some_and(|people| people.spec().profile.has_passwords()) {
            added.push(PASSWORD.to_owned());
        }
        let seeded = match names.template_attribute() {
            Some(attribute) => vec!["dn".to_owned(), String::from_utf8_lossy(attribute).into_owned()],
            None => added.clone(),
        };
        Self { names: names.clone(), count, seeded, added }
    }
}

impl std::fmt::Debug for PeopleRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} people", self.count)
    }
}

impl People for PeopleRows {
    fn columns(&self, added: bool) -> &[String] {
        if added { &self.added } else { &self.seeded }
    }

    fn count(&self) -> u64 {
        self.count
    }

    fn is_name(&self, added: bool, column: usize) -> bool {
        let name = self.columns(added).get(column).map(String::as_bytes);
        name.is_some_and(|name| name.eq_ignore_ascii_case(self.names.attribute(Person { number: 0, added })))
    }

    fn have_entries(&self) -> bool {
        self.names.people.is_some()
    }

    fn write_entry(&self, number: u64, out: &mut Vec<u8>) {
        if let Some(people) = &self.names.people {
            people.write_attributes(number, out);
        }
    }

    fn write(&self, number: u64, added: bool, column: usize, out: &mut Vec<u8>) {
        let person = Person { number, added };
        let name = &self.columns(added)[column];
        if column == DN {
            self.names.write_dn(person, out);
        } else if name.as_bytes().eq_ignore_ascii_case(self.names.attribute(person)) {
            self.names.write_value(person, out);
        } else if let Some(people) = &self.names.people {
            if name == PASSWORD {
                return people.write_password(number, out);
            }
            let start = out.len();
            people.write_attributes(number, out);
            let range = value(&out[start..], name.as_bytes());
            let length = range.len();
            out.copy_within(start + range.start..start + range.end, start);
            out.truncate(start + length);
        }
    }
}

/// The position of an attribute's first value in encoded attributes.
fn value(encoded: &[u8], name: &[u8]) -> std::ops::Range<usize> {
    let find = || {
        let list = Attributes(Reader::new(encoded).expect(tag::SEQUENCE).ok()?);
        let value = values_of(list, name).next()?;
        let start = value.as_ptr() as usize - encoded.as_ptr() as usize;
        Some(start..start + value.len())
    };
    find().unwrap_or(0..0)
}
