//! Writes the selected part of an entry.

use wire::ldap::Attributes;
use wire::ldap::attributes::Values;
use wire::ldap::request::{write_attribute, write_encoded_attribute};

use super::{Naming, Projection, Wanted};
use crate::schema::{Schema, base};
use crate::store::{Effort, EntryId, Operational, Store, UnixSeconds, body};

impl Store {
    /// Appends the body of a SearchResultEntry with the selected attributes. If all user attributes are
    /// selected, [`Entry::body`](crate::store::Entry::body) is sent unchanged instead.
    pub fn write_projected(&self, id: EntryId, projection: &Projection, now: UnixSeconds, out: &mut Vec<u8>) {
        let Some(slot) = self.slots.get(id.0) else {
            return;
        };
        let (dn, list) = body::split(self.body_of(slot));
        body::write(dn, out, |out| {
            match projection.naming {
                Naming::Canonical => projection.write_in_order(&self.schema, list, out),
                Naming::AsRequested => projection.write_as_requested(&self.schema, list, out),
            }
            let mut value = Vec::new();
            for (what, canonical) in Operational::ALL {
                let Some(name) = projection.name_of_computed(what, canonical) else {
                    continue;
                };
                value.clear();
                if self.write_operational(id.0, slot, what, now, &mut value) {
                    write_attribute(out, name, Some(&value[..]).filter(|_| !projection.types_only));
                }
            }
        });
    }
}

impl Store {
    /// Adds the selected attributes of Active Directory to a body that [`Self::write_projected`] or the store
    /// has written; false if the budget is exhausted before all are added.
    pub(crate) fn add_constructed(
        &self,
        id: EntryId,
        projection: &Projection,
        now: UnixSeconds,
        effort: &mut Effort,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(slot) = self.slots.get(id.0) else { return true };
        body::rewrite(out, |list, out| {
            out.extend_from_slice(list.0);
            for (what, name) in Operational::ACTIVE_DIRECTORY {
                if projection.all_user || projection.wanted.iter().any(|wanted| wanted.computed == Some(what))
                {
                    let values = self.computed_values(id.0, slot, what, now, effort);
                    let shown = values.iter().map(AsRef::as_ref).filter(|_| !projection.types_only);
                    if !values.is_empty() {
                        write_attribute(out, name.as_bytes(), shown);
                    }
                }
            }
        });
        !effort.budget.was_cut()
    }
}

impl Projection {
    /// The name of a computed attribute in the answer, if it is selected.
    fn name_of_computed<'n>(&'n self, what: Operational, canonical: &'n str) -> Option<&'n [u8]> {
        let wanted = self.wanted.iter().find(|wanted| wanted.computed == Some(what));
        match (wanted, self.naming) {
            (Some(wanted), Naming::AsRequested) => Some(self.name(wanted.asked)),
            (Some(_), Naming::Canonical) => Some(canonical.as_bytes()),
            (None, _) => self.all_operational.then_some(canonical.as_bytes()),
        }
    }

    fn write_in_order(&self, schema: &Schema, list: Attributes<'_>, out: &mut Vec<u8>) {
        for attribute in list.iter().flatten() {
            if self.all_user || self.is_any_wanted(schema, &self.wanted, attribute.name) {
                self.write_attribute(attribute.name, attribute.values, out);
            }
        }
    }

    /// Writes each attribute once (RFC 4511 section 4.1.7), however often it is requested.
    fn write_as_requested(&self, schema: &Schema, list: Attributes<'_>, out: &mut Vec<u8>) {
        for (at, wanted) in self.wanted.iter().enumerate() {
            let before = self.wanted.get(..at).unwrap_or_default();
            for attribute in list.iter().flatten().filter(|one| self.is_wanted(schema, wanted, one.name)) {
                if !self.is_any_wanted(schema, before, attribute.name) {
                    let name = self.requested_name(schema, wanted, attribute.name);
                    self.write_attribute(name, attribute.values, out);
                }
            }
        }
        for attribute in list.iter().flatten().filter(|_| self.all_user) {
            if !self.is_any_wanted(schema, &self.wanted, attribute.name) {
                self.write_attribute(attribute.name, attribute.values, out);
            }
        }
    }

    fn is_any_wanted(&self, schema: &Schema, wanted: &[Wanted], description: &[u8]) -> bool {
        wanted.iter().any(|wanted| self.is_wanted(schema, wanted, description))
    }

    /// The name of an attribute in the answer: a listed type has the requested spelling; a subtype or a
    /// description with options has the stored spelling.
    fn requested_name<'n>(&'n self, schema: &Schema, wanted: &Wanted, stored: &'n [u8]) -> &'n [u8] {
        let asked = self.name(wanted.asked);
        let is_type = schema.canonical_name(wanted.id).as_bytes() == stored;
        if is_type && base(asked).len() == asked.len() { asked } else { stored }
    }

    fn write_attribute(&self, name: &[u8], values: Values<'_>, out: &mut Vec<u8>) {
        write_encoded_attribute(out, name, if self.types_only { Values(&[]) } else { values });
    }
}
