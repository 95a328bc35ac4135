//! The two entries outside of the store: the root DSE (RFC 4512 section 5.1) and the subschema subentry (RFC
//! 4512 section 4.2).

use wire::ber::{self, tag};
use wire::ldap::answer::{Verdict, write_entry, write_result};
use wire::ldap::filter::{Filter, Filters, Kind};
use wire::ldap::request::write_attribute;
use wire::ldap::{ResultCode, Scope, SearchRequest, oid, op};

use crate::controls;
use crate::domain;
use crate::matching::write_timestamp;
use crate::schema::Schema;
use crate::session::Session;
use crate::settings::normal;
use crate::store::{Refusal, SUBSCHEMA_DN};
use crate::turn::Turn;

/// Extended operations that are always supported (RFC 4512 section 5.1.4); StartTLS depends on the configuration.
const EXTENSIONS: [&[u8]; 3] = [oid::WHO_AM_I, oid::REFRESH, oid::PASSWORD_MODIFY];

/// Supported features (RFC 4512 section 5.1.5).
const FEATURES: [&[u8]; 3] = [oid::ALL_OPERATIONAL, oid::TRUE_FALSE_FILTERS, oid::MODIFY_INCREMENT];

/// An entry that is generated on request.
#[derive(Debug)]
pub(crate) struct Special {
    dn: &'static str,
    attributes: Vec<Attribute>,
}

#[derive(Debug)]
struct Attribute {
    name: &'static str,
    operational: bool,
    values: Vec<Vec<u8>>,
}

/// The special entry that a search reads, if any.
#[inline]
pub(crate) fn searched(
    session: &Session,
    search: &SearchRequest<'_>,
    turn: &mut Turn<'_>,
) -> Option<Special> {
    match search.base {
        [] if search.scope == Scope::Base => Some(root_dse(session, turn)),
        [] => None,
        dn if is_subschema(dn) => Some(subschema(turn)),
        _ => None,
    }
}

/// The special entry of this name, if any.
pub(crate) fn named(session: &Session, dn: &[u8], turn: &mut Turn<'_>) -> Option<Special> {
    match dn {
        [] => Some(root_dse(session, turn)),
        dn if is_subschema(dn) => Some(subschema(turn)),
        _ => None,
    }
}

/// Whether this is the name of the subschema subentry, in any spelling. Names that begin with another
/// attribute, like those of most searches, are not parsed.
#[inline]
fn is_subschema(dn: &[u8]) -> bool {
    let attribute = dn.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    [&b"cn"[..], b"2.5.4.3", b"oid.2.5.4.3"].iter().any(|name| attribute.eq_ignore_ascii_case(name))
        && normal(dn).is_some_and(|dn| dn == b"cn=subschema" || dn == b"2.5.4.3=subschema")
}

fn root_dse(session: &Session, turn: &mut Turn<'_>) -> Special {
    let (mut extensions, mechanisms) = (EXTENSIONS.to_vec(), session.mechanisms());
    if let Some(tls) = &turn.settings.tls {
        extensions.extend(tls.start.then_some(oid::START_TLS));
    }
    let store = turn.access.read();
    let owned = |values: &[&[u8]]| values.iter().map(|value| value.to_vec()).collect::<Vec<_>>();
    let naming_contexts = store.suffixes().map(<[u8]>::to_vec).collect();
    let mut root = Special {
        dn: "",
        attributes: vec![
            user("objectClass", owned(&[b"top"])),
            operational("namingContexts", naming_contexts),
            operational("subschemaSubentry", owned(&[SUBSCHEMA_DN.as_bytes()])),
            operational("supportedLDAPVersion", owned(&[b"2", b"3"])),
            operational("supportedControl", owned(&controls::SUPPORTED)),
            operational("supportedExtension", owned(&extensions)),
            operational("supportedFeatures", owned(&FEATURES)),
            operational("dynamicSubtrees", store.suffixes().map(<[u8]>::to_vec).collect()),
            operational("vendorName", owned(&[b"sitebench"])),
            operational("vendorVersion", owned(&[env!("CARGO_PKG_VERSION").as_bytes()])),
        ],
    };
    if let Some(here) = &store.domain {
        root.attributes.push(operational("defaultNamingContext", owned(&[here.suffix().as_bytes()])));
        root.attributes.push(operational("supportedCapabilities", owned(&domain::CAPABILITIES)));
    }
    if !mechanisms.is_empty() {
        // An attribute has at least one value.
        root.attributes.push(operational("supportedSASLMechanisms", owned(mechanisms)));
    }
    root
}

fn subschema(turn: &mut Turn<'_>) -> Special {
    let created = turn.settings.started;
    let store = turn.access.read();
    let (schema, modified) = (store.schema(), store.schema_modified().unwrap_or(created));
    let mut attributes = vec![
        user("objectClass", vec![b"top".to_vec(), b"subentry".to_vec(), b"subschema".to_vec()]),
        user("cn", vec![b"Subschema".to_vec()]),
    ];
    // The schema applies to all entries (RFC 3672 section 2.1).
    attributes.push(operational("subtreeSpecification", vec![b"{}".to_vec()]));
    // Clients cache the schema until its modifyTimestamp changes (RFC 4512 section 4.4).
    for (name, time) in [("createTimestamp", created), ("modifyTimestamp", modified)] {
        let mut value = Vec::new();
        write_timestamp(time.0.into(), &mut value);
        attributes.push(operational(name, vec![value]));
    }
    for (name, values) in schema.subschema() {
        attributes.push(operational(name, values.into_iter().map(String::into_bytes).collect()));
    }
    Special { dn: SUBSCHEMA_DN, attributes }
}

const fn user(name: &'static str, values: Vec<Vec<u8>>) -> Attribute {
    Attribute { name, operational: false, values }
}

const fn operational(name: &'static str, values: Vec<Vec<u8>>) -> Attribute {
    Attribute { name, operational: true, values }
}

impl Special {
    /// Answers a search with this entry as the base.
    pub(crate) fn answer(&self, id: i32, search: &SearchRequest<'_>, turn: &mut Turn<'_>) {
        // Special entries have no subordinates.
        let includes = matches!(search.scope, Scope::Base | Scope::Subtree);
        if includes && self.matches(turn.access.read().schema(), search.filter) {
            let mut body = Vec::new();
            self.write(search, &mut body);
            write_entry(&mut turn.out, id, &body);
            turn.counters.entries_sent += 1;
        }
        write_result(&mut turn.out, id, op::SEARCH_DONE, &Verdict::SUCCESS);
    }

    /// Compares (RFC 4511 section 4.10).
    pub(crate) fn compare(&self, attribute: &[u8], value: &[u8]) -> Result<bool, Refusal> {
        match self.find(attribute) {
            Some(attribute) => Ok(attribute.holds(value)),
            None => Err(Refusal::new(ResultCode::NO_SUCH_ATTRIBUTE, "the entry has no such attribute")),
        }
    }

    fn find(&self, name: &[u8]) -> Option<&Attribute> {
        self.attributes.iter().find(|attribute| name.eq_ignore_ascii_case(attribute.name.as_bytes()))
    }

    /// Supports presence and equality, which clients use on these entries; other filters are Undefined.
    fn matches(&self, schema: &Schema, filter: Filter<'_>) -> bool {
        self.evaluate(schema, filter) == Some(true)
    }

    /// Three-valued logic (RFC 4511 section 4.5.1.7).
    fn evaluate(&self, schema: &Schema, filter: Filter<'_>) -> Option<bool> {
        match filter.kind() {
            Kind::And(filters) => self.combine(schema, filters, false),
            Kind::Or(filters) => self.combine(schema, filters, true),
            Kind::Not(filter) => self.evaluate(schema, filter).map(|is| !is),
            Kind::Present(name) => schema.resolve(name).map(|_| self.find(name).is_some()),
            Kind::Equality(assertion) | Kind::Approx(assertion) => schema
                .resolve(assertion.attribute)
                .map(|_| self.find(assertion.attribute).is_some_and(|found| found.holds(assertion.value))),
            _ => None,
        }
    }

    /// `decisive` if one filter has that value; else Undefined if one filter is Undefined.
    fn combine(&self, schema: &Schema, filters: Filters<'_>, decisive: bool) -> Option<bool> {
        let mut outcome = Some(!decisive);
        for filter in filters.iter() {
            match self.evaluate(schema, filter) {
                Some(is) if is == decisive => return Some(decisive),
                Some(_) => {}
                None => outcome = None,
            }
        }
        outcome
    }

    fn write(&self, search: &SearchRequest<'_>, out: &mut Vec<u8>) {
        ber::write_octets(out, self.dn.as_bytes());
        ber::write_nested(out, tag::SEQUENCE, |out| {
            for attribute in self.attributes.iter().filter(|attribute| attribute.is_selected(search)) {
                let values = attribute.values.iter().map(Vec::as_slice).filter(|_| !search.types_only);
                write_attribute(out, attribute.name.as_bytes(), values);
            }
        });
    }
}

impl Attribute {
    fn holds(&self, value: &[u8]) -> bool {
        self.values.iter().any(|held| held.eq_ignore_ascii_case(value))
    }

    /// RFC 4511 section 4.5.1.8 and RFC 3673.
    fn is_selected(&self, search: &SearchRequest<'_>) -> bool {
        let all = if self.operational { &b"+"[..] } else { &b"*"[..] };
        (search.attributes.is_empty() && !self.operational)
            || search
                .attributes
                .iter()
                .any(|name| name == all || name.eq_ignore_ascii_case(self.name.as_bytes()))
    }
}
