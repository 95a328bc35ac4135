//! Adds entries (RFC 4511 section 4.7).

use std::sync::Arc;

use hashbrown::hash_map::Entry as Place;
use roaring::RoaringBitmap;
use wire::ber::{self, tag};
use wire::dn::{Dn, Rdn};
use wire::ldap::{Attributes, ResultCode};

use super::draft::Draft;
use super::inspect::Inspection;
use super::naming::Spot;
use super::slots::{NONE, Slot};
use super::{DEFAULT_TTL_S, EntryId, Refusal, Store, UnixSeconds, Writer};
use crate::auth::is_password;
use crate::schema::{AttributeId, Schema};

impl Store {
    /// Adds an entry. An entryTtl (seconds) among the attributes, or the class dynamicObject,
    /// makes the entry dynamic.
    pub fn add(
        &mut self,
        dn: &[u8],
        attributes: Attributes<'_>,
        now: UnixSeconds,
    ) -> Result<EntryId, Refusal> {
        self.write(|store, writer| store.add_with(dn, attributes, now, writer))
    }

    fn add_with(
        &mut self,
        dn: &[u8],
        list: Attributes<'_>,
        now: UnixSeconds,
        writer: &mut Writer,
    ) -> Result<EntryId, Refusal> {
        let spot = self.vacant_spot(dn, now, writer)?;
        self.limits.check_list(list)?;
        self.limits.check_work(&self.schema, list, &[])?;
        writer.body.clear();
        let inspection = writer.inspector.inspect(&self.schema, &self.indexes, list)?;
        let ttl_s = match inspection {
            Inspection::Canonical { dynamic } if self.holds_rdn(&spot, list, writer) => {
                write_body(dn, list.0, &mut writer.body);
                dynamic.then_some(DEFAULT_TTL_S)
            }
            _ => self.rewrite(dn, list, now, writer)?,
        };
        self.limits.check_entry(writer.body.len())?;
        Ok(self.insert(spot, ttl_s, now, writer))
    }

    /// The place of the new entry, if its name is free and its parent exists.
    fn vacant_spot<'d>(
        &mut self,
        dn: &'d [u8],
        now: UnixSeconds,
        writer: &mut Writer,
    ) -> Result<Spot<'d>, Refusal> {
        let mut spot = self.spot(dn, &mut writer.scratch)?;
        if let Some(id) = spot.entry.filter(|id| self.is_overdue(*id, now) && !self.children.contains_key(id))
        {
            self.remove_leaf(id, writer);
            spot.entry = None;
        }
        if spot.entry.is_some() {
            return Err(Refusal::new(ResultCode::ENTRY_ALREADY_EXISTS, "an entry of this name exists"));
        }
        if spot.parent == NONE && !self.is_suffix(dn, &mut writer.scratch)
            || self.is_overdue(spot.parent, now)
        {
            let mut refusal = self.no_such_object(dn, &mut writer.scratch);
            refusal.diagnostic = "the entry above this name does not exist".into();
            return Err(refusal);
        }
        Ok(spot)
    }

    /// Whether the values of the RDN are among the attributes (RFC 4511 section 4.7).
    #[inline]
    fn holds_rdn(&self, spot: &Spot<'_>, list: Attributes<'_>, writer: &mut Writer) -> bool {
        let Some(rdn) = spot.rdn else {
            return false;
        };
        rdn.pairs().all(|pair| {
            if is_password(pair.attribute) {
                // The slow path refuses an entry with a password in its name.
                return false;
            }
            let value = pair.value.decode(&mut writer.buffer);
            self.schema.resolve(pair.attribute).is_some_and(|id| self.holds(list, id, value))
        })
    }

    /// Whether an attribute has a value with exactly these bytes. The slow path finds other spellings of the
    /// value.
    #[inline]
    fn holds(&self, list: Attributes<'_>, id: AttributeId, value: &[u8]) -> bool {
        let name = self.schema.canonical_name(id).as_bytes();
        let mut found = list.iter().flatten().filter(|attribute| attribute.name == name);
        found.any(|attribute| attribute.values.iter().flatten().any(|known| known == value))
    }

    /// Rewrites the body in canonical form, with missing RDN values added. Returns the time to live.
    fn rewrite(
        &mut self,
        dn: &[u8],
        attributes: Attributes<'_>,
        now: UnixSeconds,
        writer: &mut Writer,
    ) -> Result<Option<u32>, Refusal> {
        self.declare(now, attributes.iter().flatten().map(|attribute| attribute.name));
        let mut draft = Draft::new(&self.schema, attributes)?;
        let ttl_s = take_ttl(&self.schema, &mut draft)?;
        refuse_operational(&self.schema, &draft)?;
        // RFC 4511 section 4.7: values of the RDN that are missing are added.
        first_rdn(dn).map_or(Ok(()), |rdn| ensure_rdn_values(&self.schema, rdn, &mut draft))?;
        writer.list.clear();
        draft.encode(&mut writer.list);
        let list = Attributes(&writer.list);
        let inspection = writer.inspector.inspect(&self.schema, &self.indexes, list)?;
        write_body(dn, &writer.list, &mut writer.body);
        match inspection {
            Inspection::Canonical { dynamic: true } => Ok(ttl_s.or(Some(DEFAULT_TTL_S))),
            _ => Ok(ttl_s),
        }
    }

    /// Declares unknown types.
    pub(super) fn declare<'n>(&mut self, now: UnixSeconds, descriptions: impl Iterator<Item = &'n [u8]>) {
        for description in descriptions {
            // A declaration copies the whole schema, so it is made only for a type that can be declared.
            if self.schema.may_declare(description) {
                self.declared_from.get_or_insert_with(|| Arc::clone(&self.schema));
                if Arc::make_mut(&mut self.schema).resolve_or_declare(description).is_some() {
                    self.schema_modified = Some(now);
                }
            }
        }
    }

    /// Inserts the body of `writer` at `spot`.
    fn insert(&mut self, spot: Spot<'_>, ttl_s: Option<u32>, now: UnixSeconds, writer: &Writer) -> EntryId {
        self.sequence = self.sequence.wrapping_add(1);
        let slot = Slot {
            place: self.bodies.insert(&writer.body),
            parent: spot.parent,
            hash: spot.hash,
            sequence: self.sequence,
            created: now.0,
            modified: now.0,
            expires: 0,
        };
        let id = self.slots.insert(slot);
        self.names.insert(spot.hash, id);
        self.indexes.insert(id, &writer.inspector.keys);
        self.change_prefixes(id, &slot, true);
        if spot.parent == NONE {
            self.adopt(id);
        } else {
            self.add_child(spot.parent, id);
        }
        if let Some(ttl_s) = ttl_s {
            self.set_ttl(id, ttl_s, now);
        }
        EntryId(id)
    }

    pub(super) fn add_child(&mut self, parent: u32, id: u32) {
        match self.children.entry(parent) {
            Place::Occupied(mut children) => {
                children.get_mut().insert(id);
            }
            Place::Vacant(place) => {
                place.insert(RoaringBitmap::from_iter([id]));
            }
        }
    }

    /// Makes roots below a new entry its children: a suffix can be added after a suffix below it.
    fn adopt(&mut self, id: u32) {
        let name = self.dn_of(id).unwrap_or_default().to_vec();
        let roots = std::mem::take(&mut self.roots);
        for root in roots {
            let above = self.dn_of(root).and_then(|dn| Dn::parse(dn).ok()).and_then(Dn::parent);
            let is_child = above.is_some_and(|above| self.same_name(above.as_bytes(), &name));
            if is_child {
                if let Some(slot) = self.slots.get_mut(root) {
                    slot.parent = id;
                }
                self.add_child(id, root);
            } else {
                self.roots.push(root);
            }
        }
        self.roots.push(id);
    }
}

pub(super) fn first_rdn(dn: &[u8]) -> Option<Rdn<'_>> {
    Dn::parse(dn).ok()?.split_first().map(|(rdn, _)| rdn)
}

pub(super) fn write_body(dn: &[u8], list: &[u8], out: &mut Vec<u8>) {
    ber::write_octets(out, dn);
    ber::write_element(out, tag::SEQUENCE, list);
}

/// Removes entryTtl from the attributes and returns its value.
pub(super) fn take_ttl(schema: &Schema, draft: &mut Draft<'_>) -> Result<Option<u32>, Refusal> {
    let Some(value) = schema.resolve(b"entryTtl").and_then(|id| draft.take(id)) else {
        return Ok(None);
    };
    match std::str::from_utf8(&value).ok().and_then(|text| text.trim().parse().ok()) {
        Some(ttl_s) => Ok(Some(ttl_s)),
        None => Err(Refusal::new(
            ResultCode::INVALID_ATTRIBUTE_SYNTAX,
            "entryTtl: not a number of seconds from 0 to 4294967295",
        )),
    }
}

fn refuse_operational(schema: &Schema, draft: &Draft<'_>) -> Result<(), Refusal> {
    let operational = draft.types().find(|&id| schema.attribute(id).read_only);
    operational.map_or(Ok(()), |id| Err(set_by_server(schema, id)))
}

/// The refusal of a value for an operational attribute.
pub(super) fn set_by_server(schema: &Schema, id: AttributeId) -> Refusal {
    let name = schema.canonical_name(id).as_bytes();
    Refusal::of_attribute(ResultCode::CONSTRAINT_VIOLATION, name, "only the server sets it")
}

/// Adds the missing values of an RDN.
pub(super) fn ensure_rdn_values(schema: &Schema, rdn: Rdn<'_>, draft: &mut Draft<'_>) -> Result<(), Refusal> {
    let mut buffer = Vec::new();
    for pair in rdn.pairs() {
        if let Some(id) = schema.resolve(pair.attribute).filter(|&id| schema.attribute(id).computed) {
            let name = schema.canonical_name(id).as_bytes();
            let problem = "the server sets it, so that it names no entry";
            return Err(Refusal::of_attribute(ResultCode::NAMING_VIOLATION, name, problem));
        }
        if is_password(pair.attribute) {
            return Err(Refusal::new(
                ResultCode::NAMING_VIOLATION,
                "a password names no entry: every client may read names",
            ));
        }
        draft.ensure(schema, pair.attribute, pair.value.decode(&mut buffer))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_add_with_an_invalid_type_name_does_not_copy_the_schema() {
        let mut store = Store::new(Schema::standard());
        let before = store.shared_schema();
        store.declare(UnixSeconds(1), [b"no name".as_slice()].into_iter());
        assert!(Arc::ptr_eq(&before, &store.schema));
        store.declare(UnixSeconds(1), [b"name".as_slice(), b"x"].into_iter());
        assert!(!Arc::ptr_eq(&before, &store.schema));
    }
}
