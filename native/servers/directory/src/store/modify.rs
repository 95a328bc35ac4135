//! Changes entries (RFC 4511 section 4.6).

use wire::ldap::{Attributes, Change, ResultCode};

use super::add::{first_rdn, set_by_server, take_ttl, write_body};
use super::body;
use super::draft::{Draft, canonical};
use super::inspect::Inspection;
use super::{DEFAULT_TTL_S, EntryId, Refusal, Store, UnixSeconds, Writer};
use crate::schema::{ClassKind, Schema};

impl Store {
    /// Applies all changes or none (RFC 4511 section 4.6, increment RFC 4525). A change of entryTtl
    /// sets the time to live.
    pub fn modify<'c>(
        &mut self,
        dn: &[u8],
        changes: impl Iterator<Item = Change<'c>>,
        now: UnixSeconds,
    ) -> Result<EntryId, Refusal> {
        let changes: Vec<Change<'c>> = changes.collect();
        self.write(|store, writer| {
            store.limits.check_changes(&changes)?;
            let id = store.find_live(dn, now, &mut writer.scratch)?;
            store.modify_with(id.0, &changes, now, writer).map(|()| id)
        })
    }

    fn modify_with(
        &mut self,
        id: u32,
        changes: &[Change<'_>],
        now: UnixSeconds,
        writer: &mut Writer,
    ) -> Result<(), Refusal> {
        self.limits.check_work(&self.schema, Attributes(&[]), changes)?;
        self.declare(now, changes.iter().map(|change| change.attribute.name));
        let Some(slot) = self.slots.get(id) else {
            return Ok(());
        };
        let (dn, before) = body::split(self.bodies.get(slot.place));
        let mut draft = Draft::new(&self.schema, before)?;
        let mut incremented = 0;
        for change in changes {
            // The limits are checked for each change, because the next change searches the values that this
            // change adds.
            self.limits.check_values(change.attribute.values.iter().count())?;
            incremented += apply(&self.schema, &mut draft, change)?;
            self.limits.check_values(incremented)?;
            self.limits.check_values(draft.value_count())?;
        }
        let ttl_s = take_ttl(&self.schema, &mut draft)?;
        check_rdn(&self.schema, dn, &draft)?;
        check_structure(&self.schema, before, &draft)?;
        writer.list.clear();
        draft.encode(&mut writer.list);
        writer.body.clear();
        write_body(dn, &writer.list, &mut writer.body);
        let list = Attributes(&writer.list);
        self.limits.check_list(list)?;
        self.limits.check_work(&self.schema, list, changes)?;
        self.limits.check_entry(writer.body.len())?;
        // The list is inspected before the store is changed, so that all changes are applied or none.
        let inspection = writer.inspector.inspect(&self.schema, &self.indexes, list)?;
        let was_dynamic = slot.expires != 0 && is_dynamic(&self.schema, before);
        self.replace_body(id, now, writer);
        self.settle_ttl(id, (was_dynamic, inspection), ttl_s, now);
        Ok(())
    }

    /// Replaces the entry's body by the inspected body of `writer`.
    pub(super) fn replace_body(&mut self, id: u32, now: UnixSeconds, writer: &mut Writer) {
        let Some(slot) = self.slots.get(id).copied() else {
            return;
        };
        let new_keys = std::mem::take(&mut writer.inspector.keys);
        self.unindex(id, &slot, writer);
        self.indexes.insert(id, &new_keys);
        writer.inspector.keys = new_keys;
        self.bodies.remove(slot.place);
        let place = self.bodies.insert(&writer.body);
        if let Some(slot) = self.slots.get_mut(id) {
            slot.place = place;
            slot.modified = now.0;
            let slot = *slot;
            self.change_prefixes(id, &slot, true);
        }
    }

    /// Makes an entry dynamic if it has the class dynamicObject or was given a time to live. An entry that
    /// loses the class becomes static (RFC 2589 section 3).
    fn settle_ttl(
        &mut self,
        id: u32,
        (was_dynamic, inspection): (bool, Inspection),
        ttl_s: Option<u32>,
        now: UnixSeconds,
    ) {
        let is_dynamic = self.slots.get(id).is_some_and(|slot| slot.expires != 0);
        match (ttl_s, inspection) {
            (Some(ttl_s), _) => self.set_ttl(id, ttl_s, now),
            (None, Inspection::Canonical { dynamic: true }) if !is_dynamic => {
                self.set_ttl(id, DEFAULT_TTL_S, now);
            }
            (None, Inspection::Canonical { dynamic: false }) if was_dynamic => self.clear_ttl(id),
            _ => {}
        }
    }
}

/// Applies a change. Returns the number of incremented values.
fn apply<'c>(schema: &Schema, draft: &mut Draft<'c>, change: &Change<'c>) -> Result<usize, Refusal> {
    let (name, values) = (change.attribute.name, change.attribute.values);
    let (id, _) = canonical(schema, name)?;
    if schema.attribute(id).read_only {
        return Err(set_by_server(schema, id));
    }
    match change.operation {
        // entryTtl is not stored with the attributes: add and replace both set the time to live.
        0 | 2 if schema.attribute(id).computed => draft.replace(schema, name, values),
        0 if values.0.is_empty() => {
            Err(Refusal::of_attribute(ResultCode::PROTOCOL_ERROR, name, "nothing to add"))
        }
        0 => draft.add(schema, name, values),
        1 => draft.delete(schema, name, values),
        2 => draft.replace(schema, name, values),
        _ => return draft.increment(schema, name, values),
    }
    .map(|()| 0)
}

/// Whether dynamicObject is among the classes.
fn is_dynamic(schema: &Schema, list: Attributes<'_>) -> bool {
    let classes = list.iter().flatten().filter(|attribute| attribute.name == b"objectClass");
    classes
        .flat_map(|attribute| attribute.values.iter().flatten())
        .any(|class| schema.class_chain(class).iter().any(|class| class.name() == "dynamicObject"))
}

/// Refuses to remove RDN values (RFC 4511 section 4.6).
fn check_rdn(schema: &Schema, dn: &[u8], draft: &Draft<'_>) -> Result<(), Refusal> {
    let Some(rdn) = first_rdn(dn) else {
        return Ok(());
    };
    let (mut decoded, mut normal, mut buffer) = (Vec::new(), Vec::new(), Vec::new());
    for pair in rdn.pairs() {
        let value = pair.value.decode(&mut decoded);
        let Some(id) = schema.resolve(pair.attribute) else {
            continue;
        };
        let matching = schema.naming_rule(id);
        normal.clear();
        let known = matching.normalise(schema, value, &mut normal);
        if !draft
            .values(id)
            .any(|have| have == value || known && matching.matches(schema, have, value, &normal, &mut buffer))
        {
            let problem = "this value names the entry; rename it instead";
            return Err(Refusal::of_attribute(ResultCode::NOT_ALLOWED_ON_RDN, pair.attribute, problem));
        }
    }
    Ok(())
}

/// Refuses to change the structural classes of an entry (RFC 4511 section 4.6).
fn check_structure(schema: &Schema, before: Attributes<'_>, draft: &Draft<'_>) -> Result<(), Refusal> {
    let Some(id) = schema.resolve(b"objectClass") else {
        return Ok(());
    };
    let name = schema.canonical_name(id).as_bytes();
    let old = before.iter().flatten().filter(|attribute| attribute.name == name);
    let old = structural(schema, old.flat_map(|attribute| attribute.values.iter().flatten()));
    let new = structural(schema, draft.values(id));
    // If no class is left, the inspection refuses the entry.
    if old == new || draft.values(id).next().is_none() {
        return Ok(());
    }
    Err(Refusal::new(
        ResultCode::OBJECT_CLASS_MODS_PROHIBITED,
        "the structural class of an entry cannot change; remove it and add it again",
    ))
}

/// The structural classes among the classes and their superclasses, sorted.
fn structural<'s, 'v>(schema: &'s Schema, classes: impl Iterator<Item = &'v [u8]>) -> Vec<&'s str> {
    let chains = classes.flat_map(|name| schema.class_chain(name));
    let structural = chains.filter(|class| class.kind == ClassKind::Structural);
    let mut names: Vec<&str> = structural.map(|class| class.oid.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
