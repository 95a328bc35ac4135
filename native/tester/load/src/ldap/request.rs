//! LDAP requests: compiled from their description, encoded when a lane comes to them.

use people::Population;
use wire::ber::{Reader, tag};
use wire::ldap::{Attributes, ResultCode, filter, filter_text, op, request as write};

use super::frame::{CLASS_FILTER, Fixed, Frame, options, write_person_filter};
use super::names::Names;
use super::step::{Change, PersonSelector, Step};
use super::verify::ExpectedAttributes;

/// The step that removes a person before it is added again, when the ring of adds has gone round.
pub(super) const REMOVE: &str = "remove";

/// Where ILS clients search: no entry of the tree, but a class (MS-TAIL).
pub(super) const ILS_BASE: &[u8] = b"objectClass=rtPerson";

/// A compiled request.
#[derive(Debug)]
pub enum Request {
    /// See [`Step::Bind`].
    Bind { dn: Vec<u8>, message: Fixed },
    /// See [`Step::Lookup`].
    Lookup {
        person: PersonSelector,
        /// The attributes asked for.
        attributes: Vec<Vec<u8>>,
        /// What that means for the answer.
        wanted: ExpectedAttributes,
        /// The value of sttl, if the lookup prolongs.
        sttl: Option<Vec<u8>>,
        /// What makes the usual lookup quick to write; boxed to keep requests small.
        frame: Option<Box<Frame>>,
    },
    /// Takes the next person to add; removes them first if they were added before.
    Remove,
    /// See [`Step::Add`].
    Add { person: PersonSelector },
    /// See [`Step::Delete`].
    Delete { person: PersonSelector },
    /// See [`Step::Modify`].
    Modify { person: PersonSelector, changes: Vec<u8> },
    /// See [`Step::Refresh`].
    Refresh { person: PersonSelector, ttl_s: u32 },
    /// See [`Step::Compare`].
    Compare { person: PersonSelector, attribute: Vec<u8> },
    /// See [`Step::Retrieve`].
    Retrieve {
        message: Fixed,
        /// What the attributes asked for mean for the answer.
        wanted: ExpectedAttributes,
        size_limit: u32,
    },
    /// See [`Step::Search`].
    Search {
        base: Vec<u8>,
        message: Fixed,
        /// How many entries there must be.
        expect_entries: Option<u64>,
    },
}

impl Request {
    /// The tag of the answer that ends it.
    pub(super) const fn response(&self) -> u8 {
        match self {
            Self::Bind { .. } => op::BIND_RESPONSE,
            Self::Lookup { .. } | Self::Retrieve { .. } | Self::Search { .. } => op::SEARCH_DONE,
            Self::Remove | Self::Delete { .. } => op::DELETE_RESPONSE,
            Self::Add { .. } => op::ADD_RESPONSE,
            Self::Modify { .. } => op::MODIFY_RESPONSE,
            Self::Refresh { .. } => op::EXTENDED_RESPONSE,
            Self::Compare { .. } => op::COMPARE_RESPONSE,
        }
    }

    /// Whether the target did what was asked, as far as its result code says.
    pub(super) fn accepts(&self, code: ResultCode) -> bool {
        match self {
            // The lane that had this key before may have removed the entry already.
            Self::Remove => matches!(code, ResultCode::SUCCESS | ResultCode::NO_SUCH_OBJECT),
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
            let (dn, password) = (bytes(dn), bytes(password));
            let message = Fixed::new(|out, id| match sasl {
                Some(mechanism) => mechanism.write_bind(out, id, &dn, &password),
                None => write::write_bind(out, id, *version, &dn, &password),
            });
            Request::Bind { dn, message }
        }
        Step::Lookup { person, attributes, refresh_minutes } => {
            lower_lookup(*person, attributes, *refresh_minutes, names, base)?
        }
        Step::Add { person: PersonSelector::New } => {
            // The key is taken by the removal, which is skipped as long as the ring has not gone round.
            let add = Request::Add { person: PersonSelector::Current };
            return Ok(vec![(REMOVE.to_owned(), Request::Remove), (name.to_owned(), add)]);
        }
        Step::Add { person } => Request::Add { person: *person },
        Step::Delete { person } => Request::Delete { person: *person },
        Step::Modify { person, changes } => {
            Request::Modify { person: *person, changes: encode_changes(changes)? }
        }
        Step::Refresh { person, ttl_s } => Request::Refresh { person: *person, ttl_s: *ttl_s },
        Step::Compare { person, attribute } => {
            Request::Compare { person: *person, attribute: check_compare(names, attribute)? }
        }
        Step::Retrieve { attributes, size_limit } => Request::Retrieve {
            message: write_retrieve(attributes, *size_limit, names, base),
            wanted: ExpectedAttributes::new(attributes),
            size_limit: *size_limit,
        },
        Step::Search { base, scope, filter, attributes, expect_entries } => {
            let filter = encode_filter(filter)?;
            let message = Fixed::new(|out, id| {
                let attributes = attributes.iter().map(String::as_bytes);
                let filter = |out: &mut Vec<u8>| out.extend_from_slice(&filter);
                let options = options((*scope).into(), 0);
                write::write_search(out, id, base.as_bytes(), &options, filter, attributes);
            });
            Request::Search { base: bytes(base), message, expect_entries: *expect_entries }
        }
    };
    Ok(vec![(name.to_owned(), request)])
}

fn lower_lookup(
    person: PersonSelector,
    attributes: &[String],
    refresh_minutes: Option<u32>,
    names: &Names,
    base: &[u8],
) -> Result<Request, String> {
    if refresh_minutes.is_some() && !names.ils {
        let remedy = "use the step \"refresh\", or the target profile \"ils\"";
        return Err(format!("\"refresh_minutes\" prolongs by searching, which only ILS does: {remedy}"));
    }
    let wanted = ExpectedAttributes::new(attributes);
    let attributes = list(attributes);
    let sttl = refresh_minutes.map(|minutes| minutes.to_string().into_bytes());
    let frame = match sttl {
        None => Frame::new(base, &options(names.scope(), 0), &attributes).map(Box::new),
        Some(_) => None,
    };
    Ok(Request::Lookup { person, attributes, wanted, sttl, frame })
}

/// A search for all people: in ILS by its wildcard, else by class, or by the attribute of the template.
fn write_retrieve(attributes: &[String], size_limit: u32, names: &Names, base: &[u8]) -> Fixed {
    let filter = |out: &mut Vec<u8>| match names.template_attribute() {
        Some(attribute) => filter::write_present(out, attribute),
        None if names.ils => write_person_filter(out, |out| filter::write_equality(out, b"cn", b"%")),
        None => out.extend_from_slice(CLASS_FILTER),
    };
    Fixed::new(|out, id| {
        let attributes = attributes.iter().map(String::as_bytes);
        write::write_search(out, id, base, &options(names.scope(), size_limit), filter, attributes);
    })
}

fn bytes(text: &String) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn list(texts: &[String]) -> Vec<Vec<u8>> {
    texts.iter().map(bytes).collect()
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

fn check_compare(names: &Names, attribute: &str) -> Result<Vec<u8>, String> {
    let Some(people) = names.people.as_deref().filter(|_| names.template.is_none()) else {
        return Err("comparing needs to know what is right: start the engine with a population".to_owned());
    };
    if value_of(people, 0, attribute.as_bytes(), &mut Vec::new()).is_none() {
        return Err(format!("people of the profile {:?} have no attribute {attribute:?}", profile(people)));
    }
    Ok(attribute.as_bytes().to_vec())
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
    people.write_attributes(number, scratch);
    let list = Attributes(Reader::new(scratch).expect(tag::SEQUENCE).ok()?);
    let mut known = list.iter().filter_map(Result::ok);
    known.find(|known| known.name.eq_ignore_ascii_case(attribute))?.values.iter().next()?.ok()
}

fn encode_changes(changes: &[Change]) -> Result<Vec<u8>, String> {
    if changes.is_empty() {
        return Err("\"changes\" is empty: say what to change".to_owned());
    }
    let mut out = Vec::new();
    for change in changes {
        let values = change.values.iter().map(String::as_bytes);
        write::write_change(&mut out, change.op as u8, change.attribute.as_bytes(), values);
    }
    Ok(out)
}
