//! The two entries outside of the store: the root DSE (RFC 4512 section 5.1) and the subschema subentry (RFC
//! 4512 section 4.2).

use wire::ldap::answer::{Verdict, write_entry, write_result};
use wire::ldap::request::write_attribute;
use wire::ldap::{Attributes, Filter, ResultCode, Scope, SearchRequest, oid, op};

use crate::controls;
use crate::domain;
use crate::filter::Subject;
use crate::scan::compile;
use crate::schema::{Schema, Usage};
use crate::session::Session;
use crate::settings::normal;
use crate::store::{Refusal, SUBSCHEMA_DN, body, write_time};
use crate::turn::Turn;

/// Extended operations that are always supported (RFC 4512 section 5.1.4); StartTLS depends on the
/// configuration.
const EXTENSIONS: [&[u8]; 3] = [oid::WHO_AM_I, oid::REFRESH, oid::PASSWORD_MODIFY];

/// Supported features (RFC 4512 section 5.1.5).
const FEATURES: [&[u8]; 3] = [oid::ALL_OPERATIONAL, oid::TRUE_FALSE_FILTERS, oid::MODIFY_INCREMENT];

/// An entry that is generated on request.
#[derive(Debug)]
pub(crate) struct Special {
    dn: &'static str,
    attributes: Vec<Attribute>,
}

/// A name with its values.
type Attribute = (&'static str, Vec<Vec<u8>>);

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
/// attribute, like most names in searches, are not parsed.
#[inline]
fn is_subschema(dn: &[u8]) -> bool {
    let attribute = dn.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii();
    [&b"cn"[..], b"2.5.4.3", b"oid.2.5.4.3"].iter().any(|name| attribute.eq_ignore_ascii_case(name))
        && normal(dn).is_some_and(|dn| dn == b"cn=subschema" || dn == b"2.5.4.3=subschema")
}

fn root_dse(session: &Session, turn: &mut Turn<'_>) -> Special {
    let (mut extensions, mechanisms) = (EXTENSIONS.to_vec(), session.mechanisms());
    extensions.extend(turn.settings.starts_tls.then_some(oid::START_TLS));
    let store = turn.access.read();
    let owned = |values: &[&[u8]]| values.iter().map(|value| value.to_vec()).collect::<Vec<_>>();
    let naming_contexts = store.suffixes().map(<[u8]>::to_vec).collect();
    let mut root = Special {
        dn: "",
        attributes: vec![
            ("objectClass", owned(&[b"top"])),
            ("namingContexts", naming_contexts),
            ("subschemaSubentry", owned(&[SUBSCHEMA_DN.as_bytes()])),
            ("supportedLDAPVersion", owned(&[b"2", b"3"])),
            ("supportedControl", owned(&controls::SUPPORTED)),
            ("supportedExtension", owned(&extensions)),
            ("supportedFeatures", owned(&FEATURES)),
            ("dynamicSubtrees", store.suffixes().map(<[u8]>::to_vec).collect()),
            ("vendorName", owned(&[b"sitebench"])),
            ("vendorVersion", owned(&[env!("CARGO_PKG_VERSION").as_bytes()])),
        ],
    };
    if let Some(here) = &store.domain {
        root.attributes.push(("defaultNamingContext", owned(&[here.suffix.as_bytes()])));
        root.attributes.push(("supportedCapabilities", owned(&domain::CAPABILITIES)));
    }
    if !mechanisms.is_empty() {
        // An attribute has at least one value, so an empty list of mechanisms is omitted.
        root.attributes.push(("supportedSASLMechanisms", owned(mechanisms)));
    }
    root
}

fn subschema(turn: &mut Turn<'_>) -> Special {
    let created = turn.settings.started;
    let store = turn.access.read();
    let (schema, modified) = (store.schema(), store.schema_modified.unwrap_or(created));
    let mut attributes = vec![
        ("objectClass", vec![b"top".to_vec(), b"subentry".to_vec(), b"subschema".to_vec()]),
        ("cn", vec![b"Subschema".to_vec()]),
    ];
    // The schema applies to all entries (RFC 3672 section 2.1).
    attributes.push(("subtreeSpecification", vec![b"{}".to_vec()]));
    // Clients cache the schema until its modifyTimestamp changes (RFC 4512 section 4.4).
    for (name, time) in [("createTimestamp", created), ("modifyTimestamp", modified)] {
        let mut value = Vec::new();
        write_time(time.0, &mut value);
        attributes.push((name, vec![value]));
    }
    for (name, values) in schema.subschema() {
        attributes.push((name, values.into_iter().map(String::into_bytes).collect()));
    }
    Special { dn: SUBSCHEMA_DN, attributes }
}

impl Special {
    /// Answers a search with this entry as the base.
    pub(crate) fn answer(&self, id: i32, search: &SearchRequest<'_>, turn: &mut Turn<'_>) {
        // Special entries have no subordinates.
        let includes = matches!(search.scope, Scope::Base | Scope::Subtree);
        if includes && self.matches(search.filter, turn) {
            let mut body = Vec::new();
            self.write(search, turn.access.read().schema(), &mut body);
            write_entry(&mut turn.out, id, &body);
            turn.counters.entries_sent += 1;
        }
        write_result(&mut turn.out, id, op::SEARCH_DONE, &Verdict::SUCCESS);
    }

    /// Compares a value with the values of an attribute (RFC 4511 section 4.10).
    pub(crate) fn compare(&self, attribute: &[u8], value: &[u8]) -> Result<bool, Refusal> {
        match self.attributes.iter().find(|(name, _)| attribute.eq_ignore_ascii_case(name.as_bytes())) {
            Some((_, values)) => Ok(values.iter().any(|known| known.eq_ignore_ascii_case(value))),
            None => Err(Refusal::new(ResultCode::NO_SUCH_ATTRIBUTE, "the entry has no such attribute")),
        }
    }

    fn matches(&self, filter: Filter<'_>, turn: &mut Turn<'_>) -> bool {
        compile(filter, turn);
        let mut list = Vec::new();
        for (name, values) in &self.attributes {
            write_attribute(&mut list, name.as_bytes(), values.iter().map(Vec::as_slice));
        }
        let effort = &mut turn.scratch.store.effort;
        effort.begin(turn.settings.limits.filter_work);
        let schema = turn.access.read().schema();
        let (dn, attributes) = (self.dn.as_bytes(), Attributes(&list));
        turn.scratch.filter.matches(&Subject { schema, dn, attributes, computed: None }, effort)
    }

    fn write(&self, search: &SearchRequest<'_>, schema: &Schema, out: &mut Vec<u8>) {
        body::write(self.dn.as_bytes(), out, |out| {
            for (name, values) in self.attributes.iter().filter(|(name, _)| is_selected(name, search, schema))
            {
                let values = values.iter().map(Vec::as_slice).filter(|_| !search.types_only);
                write_attribute(out, name.as_bytes(), values);
            }
        });
    }
}

/// Whether a search selects this attribute (RFC 4511 section 4.5.1.8, RFC 3673). A name that the schema lacks
/// counts as operational.
fn is_selected(name: &str, search: &SearchRequest<'_>, schema: &Schema) -> bool {
    let id = schema.resolve(name.as_bytes());
    let is_user = id.is_some_and(|id| schema.attribute(id).usage == Usage::UserApplications);
    let all = if is_user { b"*" } else { b"+" };
    let mut selected = search.attributes.iter();
    (search.attributes.is_empty() && is_user)
        || selected.any(|asked| asked == all || asked.eq_ignore_ascii_case(name.as_bytes()))
}
