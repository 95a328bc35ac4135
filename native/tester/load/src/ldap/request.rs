//! LDAP requests: compiled from their description, encoded when a lane comes to them.

use std::sync::Arc;

use people::Population;
use wire::ber::{Reader, tag};
use wire::ldap::request::{self as write, SearchOptions};
use wire::ldap::{Attributes, ResultCode, Scope, filter, filter_text, oid, op};

use super::frame::Frame;
use super::names::{Names, Person};
use super::scripted::Ask;
use super::step::{Change, PersonSelector, Step};
use super::verify::ExpectedAttributes;
use crate::scripted::Preparation;

/// The step that removes a person before it is added again, when the ring of adds has gone round.
pub(super) const REMOVE: &str = "remove";

/// Where ILS clients search: no entry of the tree, but a class (MS-TAIL).
pub(super) const ILS_BASE: &[u8] = b"objectClass=rtPerson";

/// A compiled request.
#[derive(Debug)]
pub enum Request {
    /// See [`Step::Bind`].
    Bind { dn: Vec<u8>, frame: Frame },
    /// See [`Step::Lookup`].
    Lookup {
        person: PersonSelector,
        /// What the attributes asked for mean for the answer.
        wanted: ExpectedAttributes,
        /// With the value for a person who was there before, and for one that the run has added.
        frames: [Frame; 2],
    },
    /// Removes the person to add if they were added before; they are the next one if it `takes` them.
    Remove { frame: Frame, takes: bool },
    /// See [`Step::Add`].
    Add { person: PersonSelector },
    /// See [`Step::Delete`], [`Step::Modify`] and [`Step::Refresh`].
    Change { verb: &'static str, response: u8, person: PersonSelector, frame: Frame },
    /// See [`Step::Compare`].
    Compare { person: PersonSelector, attribute: Vec<u8>, frame: Frame },
    /// See [`Step::Retrieve`].
    Retrieve {
        frame: Frame,
        /// What the attributes asked for mean for the answer.
        wanted: ExpectedAttributes,
        size_limit: u32,
    },
    /// See [`Step::Search`].
    Search {
        base: Vec<u8>,
        frame: Frame,
        /// How many entries there must be.
        expect_entries: Option<u64>,
    },
    /// See [`Step::Ask`].
    Ask(Arc<Ask>),
    /// See [`Step::Prepare`]; nothing is sent.
    Prepare(Arc<Preparation>),
}

impl Request {
    /// The tag of the answer that ends it.
    pub(super) fn response(&self) -> u8 {
        match self {
            Self::Bind { .. } => op::BIND_RESPONSE,
            Self::Lookup { .. } | Self::Retrieve { .. } | Self::Search { .. } => op::SEARCH_DONE,
            Self::Remove { .. } => op::DELETE_RESPONSE,
            Self::Add { .. } => op::ADD_RESPONSE,
            Self::Change { response, .. } => *response,
            Self::Compare { .. } => op::COMPARE_RESPONSE,
            Self::Ask(ask) => ask.response(),
            Self::Prepare(_) => 0,
        }
    }

    /// Whether its answer is read in pages.
    pub(crate) fn has_pages(&self) -> bool {
        matches!(self, Self::Ask(ask) if ask.has_pages())
    }

    /// Whether nothing that follows makes sense where it fails.
    pub(super) fn is_fatal(&self) -> bool {
        match self {
            Self::Bind { .. } => true,
            Self::Ask(ask) => ask.is_fatal(),
            _ => false,
        }
    }

    /// Whether the target did what was asked, as far as its result code says.
    pub(super) fn accepts(&self, code: ResultCode) -> bool {
        match self {
            // The lane that had this key before may have removed the entry already.
            Self::Remove { .. } => matches!(code, ResultCode::SUCCESS | ResultCode::NO_SUCH_OBJECT),
            Self::Compare { .. } => code == ResultCode::COMPARE_TRUE,
            // A server may have a limit of its own; how much came is counted in any case.
            Self::Retrieve { .. } => {
                matches!(code, ResultCode::SUCCESS | ResultCode::SIZE_LIMIT_EXCEEDED)
            }
            _ => code == ResultCode::SUCCESS,
        }
    }
}

/// Turns a step into what is sent for it.
pub(super) fn lower(
    name: &str,
    step: &Step,
    names: &Names,
    base: &[u8],
    count: u64,
) -> Result<Vec<(String, Request)>, String> {
    check_person(step, names, count)?;
    let request = match step {
        Step::Bind { version, .. } if !(2..=3).contains(version) => {
            return Err(format!("\"version\" is {version}: LDAP has versions 2 and 3"));
        }
        Step::Bind { version, sasl: Some(_), .. } if *version != 3 => {
            return Err(format!("\"sasl\" needs \"version\" 3, not {version}"));
        }
        Step::Bind { dn, password, version, sasl } => {
            let (name, password) = (dn.as_bytes(), password.as_bytes());
            let frame = frame(0, |out, id, _| match sasl {
                Some(mechanism) => mechanism.write_bind(out, id, name, password),
                None => write::write_bind(out, id, *version, name, password),
            })?;
            Request::Bind { dn: name.to_vec(), frame }
        }
        Step::Lookup { person, attributes, refresh_minutes } => {
            lower_lookup(*person, attributes, *refresh_minutes, names, base)?
        }
        Step::Add { person: PersonSelector::New } => {
            let add = Request::Add { person: PersonSelector::Current };
            return Ok(vec![(REMOVE.to_owned(), remove(true)?), (name.to_owned(), add)]);
        }
        Step::AddTaken(ask) => {
            let add = Request::Ask(ask.clone());
            return Ok(vec![(REMOVE.to_owned(), remove(false)?), (name.to_owned(), add)]);
        }
        Step::Add { person } => Request::Add { person: *person },
        Step::Delete { person } => {
            let (response, frame) = (op::DELETE_RESPONSE, frame(1, write_delete)?);
            Request::Change { verb: "delete", response, person: *person, frame }
        }
        Step::Modify { changes, .. } if changes.is_empty() => {
            return Err("\"changes\" is empty: say what to change".to_owned());
        }
        Step::Modify { person, changes } => {
            let frame = frame(1, |out, id, fields| {
                write::write_modify(out, id, fields[0], |out| {
                    for Change { op, attribute, values } in changes {
                        let values = values.iter().map(String::as_bytes);
                        write::write_change(out, *op as u8, attribute.as_bytes(), values);
                    }
                });
            })?;
            Request::Change { verb: "modify", response: op::MODIFY_RESPONSE, person: *person, frame }
        }
        Step::Refresh { person, ttl_s } => {
            let frame = frame(1, |out, id, fields| {
                let mut value = Vec::new();
                write::write_refresh_value(&mut value, fields[0], *ttl_s);
                write::write_extended(out, id, oid::REFRESH, Some(&value));
            })?;
            Request::Change { verb: "refresh", response: op::EXTENDED_RESPONSE, person: *person, frame }
        }
        Step::Compare { person, attribute } => {
            check_compare(names, attribute)?;
            let attribute = attribute.as_bytes();
            let write = |out: &mut Vec<u8>, id, fields: &[&[u8]]| {
                write::write_compare(out, id, fields[0], attribute, fields[1]);
            };
            let frame = frame(2, write)?;
            Request::Compare { person: *person, attribute: attribute.to_vec(), frame }
        }
        Step::Retrieve { attributes, size_limit } => {
            // In ILS by its wildcard, else by class, or by the attribute of the template.
            let filter = |out: &mut Vec<u8>| match names.template_attribute() {
                Some(attribute) => filter::write_present(out, attribute),
                None if names.ils() => {
                    write_person_filter(out, names, |out| filter::write_equality(out, b"cn", b"%"));
                }
                None => write_class_filter(out, names),
            };
            let search = (base, names.scope(), attributes.as_slice());
            Request::Retrieve {
                frame: frame(0, |out, id, _| write_search(out, id, search, *size_limit, filter))?,
                wanted: ExpectedAttributes::new(attributes),
                size_limit: *size_limit,
            }
        }
        Step::Search { base, scope, filter, attributes, expect_entries } => {
            let filter = encode_filter(filter)?;
            let filter = |out: &mut Vec<u8>| out.extend_from_slice(&filter);
            let search = (base.as_bytes(), (*scope).into(), attributes.as_slice());
            let frame = frame(0, |out, id, _| write_search(out, id, search, 0, filter))?;
            Request::Search { base: base.as_bytes().to_vec(), frame, expect_entries: *expect_entries }
        }
        Step::Ask(ask) => Request::Ask(ask.clone()),
        Step::Prepare(preparation) => Request::Prepare(preparation.clone()),
    };
    Ok(vec![(name.to_owned(), request)])
}

/// The key of an add is taken by a removal, which is skipped as long as the ring has not gone round.
fn remove(takes: bool) -> Result<Request, String> {
    Ok(Request::Remove { frame: frame(1, write_delete)?, takes })
}

fn frame(fields: usize, write: impl Fn(&mut Vec<u8>, i32, &[&[u8]])) -> Result<Frame, String> {
    Frame::new(fields, write).ok_or_else(|| "the request has 16 MiB or more".to_owned())
}

fn lower_lookup(
    person: PersonSelector,
    attributes: &[String],
    refresh_minutes: Option<u32>,
    names: &Names,
    base: &[u8],
) -> Result<Request, String> {
    if refresh_minutes.is_some() && !names.ils() {
        let remedy = "use the step \"refresh\", or the target profile \"ils\"";
        return Err(format!("\"refresh_minutes\" prolongs by searching, which only ILS does: {remedy}"));
    }
    let sttl = refresh_minutes.map(|minutes| minutes.to_string());
    let lookup = |added| {
        let person = Person { number: 0, added };
        let (attribute, known) = (names.attribute(person), names.known(person).is_some());
        let filter = |out: &mut Vec<u8>, value: &[u8]| {
            let equality = |out: &mut Vec<u8>| filter::write_equality(out, attribute, value);
            if !known {
                return equality(out);
            }
            write_person_filter(out, names, |out| {
                equality(out);
                if let Some(sttl) = &sttl {
                    filter::write_equality(out, b"sttl", sttl.as_bytes());
                }
            });
        };
        let search = (base, names.scope(), attributes);
        frame(1, |out, id, fields| write_search(out, id, search, 0, |out| filter(out, fields[0])))
    };
    let frames = [lookup(false)?, lookup(true)?];
    Ok(Request::Lookup { person, wanted: ExpectedAttributes::new(attributes), frames })
}

/// A search with nothing special but where, how far below it, and for which attributes.
fn write_search(
    out: &mut Vec<u8>,
    id: i32,
    (base, scope, attributes): (&[u8], Scope, &[String]),
    size_limit: u32,
    filter: impl FnOnce(&mut Vec<u8>),
) {
    let options = SearchOptions { scope, size_limit, time_limit_s: 0, types_only: false, dereference: 0 };
    write::write_search(out, id, base, &options, filter, attributes.iter().map(String::as_bytes));
}

fn write_delete(out: &mut Vec<u8>, id: i32, fields: &[&[u8]]) {
    write::write_delete(out, id, fields[0]);
}

fn write_class_filter(out: &mut Vec<u8>, names: &Names) {
    filter::write_equality(out, b"objectClass", names.profile.object_class().as_bytes());
}

/// How people are searched for.
fn write_person_filter(out: &mut Vec<u8>, names: &Names, more: impl FnOnce(&mut Vec<u8>)) {
    filter::write_and(out, |out| {
        write_class_filter(out, names);
        more(out);
    });
}

fn encode_filter(text: &str) -> Result<Vec<u8>, String> {
    let mut encoded = Vec::new();
    filter_text::parse(text, &mut encoded).map_err(|error| format!("filter {text:?}: {error}"))?;
    Ok(encoded)
}

fn check_person(step: &Step, names: &Names, count: u64) -> Result<(), String> {
    let Some(person) = step.person() else { return Ok(()) };
    if matches!(step, Step::Add { .. }) && names.people.is_none() {
        return Err("adding people needs a population: start the engine with one".to_owned());
    }
    if person != PersonSelector::New && count == 0 {
        let remedy = "give the engine a population, or \"target\" \"names\" with a template and a count";
        return Err(format!("there are no people to pick from: {remedy}"));
    }
    if matches!(step, Step::Add { .. }) && person != PersonSelector::New && names.template.is_some() {
        return Err("only \"person\": \"new\" can be added to a directory with a name template".to_owned());
    }
    Ok(())
}

fn check_compare(names: &Names, attribute: &str) -> Result<(), String> {
    let Some(people) = names.people.as_deref().filter(|_| names.template.is_none()) else {
        return Err("comparing needs to know what is right: start the engine with a population".to_owned());
    };
    if value_of(people, 0, attribute.as_bytes(), &mut Vec::new()).is_none() {
        return Err(format!("people of the profile {:?} have no attribute {attribute:?}", profile(people)));
    }
    Ok(())
}

fn profile(people: &Population) -> &'static str {
    people.spec().profile.as_str()
}

/// A person's first value of an attribute, out of what `scratch` is filled with.
pub(super) fn value_of<'s>(
    people: &Population,
    number: u64,
    attribute: &[u8],
    scratch: &'s mut Vec<u8>,
) -> Option<&'s [u8]> {
    scratch.clear();
    people.write_shown(number, scratch);
    let list = Attributes(Reader::new(scratch).expect(tag::SEQUENCE).ok()?);
    let mut known = list.iter().filter_map(Result::ok);
    known.find(|known| known.name.eq_ignore_ascii_case(attribute))?.values.iter().next()?.ok()
}
