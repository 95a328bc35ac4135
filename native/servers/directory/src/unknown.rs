//! Unknown names in requests of a domain's clients. A filter with an unknown name is never true, and an
//! unknown attribute is always absent (RFC 4511 section 4.5.1); the client takes this answer for a valid one.

use std::sync::{Mutex, PoisonError};

use wire::ldap::SearchRequest;

use crate::schema::{IN_CHAIN, Schema, rule};

/// The most names, and the most bytes of a name, as clients can invent names.
const MOST: usize = 64;

/// The names in the order in which they were first requested.
#[derive(Debug, Default)]
pub(crate) struct UnknownNames(Mutex<Vec<String>>);

impl UnknownNames {
    /// Notes the unknown names of a search.
    pub(crate) fn note(&self, schema: &Schema, search: &SearchRequest<'_>) {
        search.filter.for_each_item(&mut |attribute, matching_rule| {
            if let Some(name) = matching_rule.filter(|name| *name != IN_CHAIN && rule(name).is_none()) {
                self.add("matching rule", name);
            }
            attribute.into_iter().for_each(|name| self.note_attribute(schema, name));
        });
        let special = [&b"*"[..], b"+", b"1.1"];
        for name in search.attributes.iter().filter(|name| !special.contains(name)) {
            self.note_attribute(schema, name);
        }
    }

    /// All unknown names, with their kinds.
    pub(crate) fn list(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note_attribute(&self, schema: &Schema, name: &[u8]) {
        if schema.resolve(name).is_none() {
            self.add("attribute", name);
        }
    }

    fn add(&self, what: &str, name: &[u8]) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if names.len() < MOST && name.len() <= MOST && name.iter().all(u8::is_ascii_graphic) {
            let name = format!("{what} {}", String::from_utf8_lossy(name));
            if !names.iter().any(|listed| listed.eq_ignore_ascii_case(&name)) {
                names.push(name);
            }
        }
    }
}
