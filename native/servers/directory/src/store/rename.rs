//! Renames and moves entries (RFC 4511 section 4.9).

use wire::ber;
use wire::dn::{Dn, MAX_DN_BYTES, MAX_RDNS, Rdn};
use wire::ldap::{Attributes, ModifyDnRequest, ResultCode};

use super::add::{ensure_rdn_values, first_rdn, write_body};
use super::body;
use super::draft::Draft;
use super::inspect::Inspection;
use super::slots::NONE;
use super::{EntryId, Refusal, Store, UnixSeconds, Writer};

/// A rewritten entry counts as at least this many bytes, as its name is normalised and hashed, too.
const ENTRY: usize = 1 << 10;

/// The new place of an entry.
struct Target {
    parent: u32,
    dn: Vec<u8>,
}

impl Store {
    /// Renames or moves an entry with its subordinates (RFC 4511 section 4.9).
    pub fn rename(&mut self, request: &ModifyDnRequest<'_>, now: UnixSeconds) -> Result<EntryId, Refusal> {
        self.write(|store, writer| store.rename_with(request, now, writer))
    }

    fn rename_with(
        &mut self,
        request: &ModifyDnRequest<'_>,
        now: UnixSeconds,
        writer: &mut Writer,
    ) -> Result<EntryId, Refusal> {
        let id = self.find_live(request.dn, now, &mut writer.scratch)?.0;
        let target = self.target(id, request, now, &mut writer.scratch)?;
        let new_rdn = rdn(request.new_rdn)?;
        self.declare(now, new_rdn.pairs().map(|pair| pair.attribute));
        let Some(slot) = self.slots.get(id).copied() else {
            return Ok(EntryId(id));
        };
        let (dn, list) = body::split(self.bodies.get(slot.place));
        let mut draft = Draft::new(&self.schema, list)?;
        self.change_rdn_values(&mut draft, dn, new_rdn, request.delete_old_rdn)?;
        writer.list.clear();
        draft.encode(&mut writer.list);
        let list = Attributes(&writer.list);
        if writer.inspector.inspect(&self.schema, &self.indexes, list)? == Inspection::ToRewrite {
            return Err(Refusal::new(ResultCode::OTHER, "the entry's attributes cannot be written"));
        }
        writer.body.clear();
        write_body(&target.dn, &writer.list, &mut writer.body);
        self.limits.check_entry(writer.body.len())?;
        self.replace_body(id, now, writer);
        self.move_entry(id, slot.parent, target.parent);
        self.move_subtree(id, writer);
        Ok(EntryId(id))
    }

    /// Checks that the entry may be moved to the requested place.
    fn target(
        &self,
        id: u32,
        request: &ModifyDnRequest<'_>,
        now: UnixSeconds,
        scratch: &mut super::Scratch,
    ) -> Result<Target, Refusal> {
        let old_parent = self.slots.get(id).map_or(NONE, |slot| slot.parent);
        let parent = match request.new_superior {
            Some(superior) => self.find_live(superior, now, scratch)?.0,
            None => old_parent,
        };
        if self.is_at_or_below(parent, id) {
            return Err(Refusal::new(
                ResultCode::UNWILLING_TO_PERFORM,
                "an entry cannot be moved below itself",
            ));
        }
        let mut dn = rdn(request.new_rdn)?.as_bytes().to_vec();
        let above = match self.dn_of(parent) {
            Some(above) => Some(above),
            None => self.dn_of(id).and_then(|dn| Dn::parse(dn).ok()?.parent()).map(Dn::as_bytes),
        };
        if let Some(above) = above.filter(|above| !above.is_empty()) {
            dn.push(b',');
            dn.extend_from_slice(above);
        }
        self.check_names(id, &dn)?;
        let spot = self.spot(&dn, scratch)?;
        if spot.entry.is_some_and(|other| other != id) {
            return Err(Refusal::new(ResultCode::ENTRY_ALREADY_EXISTS, "an entry of the new name exists"));
        }
        if parent == NONE && !self.is_suffix(&dn, scratch) {
            return Err(Refusal::new(
                ResultCode::UNWILLING_TO_PERFORM,
                "the new name is no suffix of this server, and there is no entry above it",
            ));
        }
        Ok(Target { parent, dn })
    }

    /// Checks the limits on the new names of the entry and its descendants, and on the bytes to rewrite.
    fn check_names(&self, top: u32, dn: &[u8]) -> Result<(), Refusal> {
        let too_long = |error: String| Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, error);
        let depth = Dn::parse(dn).map_err(|error| too_long(error.to_string()))?.rdns().count();
        let mut rewritten = 0;
        // Entries to check, each with the bytes and the number of RDNs of its new name.
        let mut checked = vec![(top, dn.len(), depth)];
        while let Some((above, name, depth)) = checked.pop() {
            let Some(below) = self.children.get(&above) else { continue };
            // The rename is refused as soon as the limit is exceeded, so a larger container does not lengthen
            // the check.
            self.limits
                .check_rename(usize::try_from(below.len()).unwrap_or(usize::MAX).saturating_mul(ENTRY))?;
            for id in below {
                let body = self.slots.get(id).map(|slot| self.bodies.get(slot.place)).unwrap_or_default();
                let old = body::dn(body);
                let name = first_rdn(old).map_or(0, |rdn| rdn.as_bytes().len()) + 1 + name;
                if name > MAX_DN_BYTES || depth >= MAX_RDNS {
                    return Err(too_long(format!(
                        "a name below it would have {name} bytes and {} parts; {MAX_DN_BYTES} and {MAX_RDNS} is the limit",
                        depth + 1
                    )));
                }
                let renamed = body.len() - ber::element_size(old.len()) + ber::element_size(name);
                self.limits.check_entry(renamed)?;
                rewritten += renamed.max(ENTRY);
                self.limits.check_rename(rewritten)?;
                checked.push((id, name, depth + 1));
            }
        }
        Ok(())
    }

    fn change_rdn_values(
        &self,
        draft: &mut Draft<'_>,
        dn: &[u8],
        new_rdn: Rdn<'_>,
        delete_old: bool,
    ) -> Result<(), Refusal> {
        let mut buffer = Vec::new();
        if let Some(old) = first_rdn(dn).filter(|_| delete_old) {
            for pair in old.pairs() {
                draft.discard(&self.schema, pair.attribute, pair.value.decode(&mut buffer))?;
            }
        }
        ensure_rdn_values(&self.schema, new_rdn, draft)
    }

    fn move_entry(&mut self, id: u32, old_parent: u32, new_parent: u32) {
        if old_parent == new_parent {
            return;
        }
        self.detach(old_parent, id);
        self.add_child(new_parent, id);
        if let Some(slot) = self.slots.get_mut(id) {
            slot.parent = new_parent;
        }
    }

    /// Renames the entry and its descendants.
    fn move_subtree(&mut self, top: u32, writer: &mut Writer) {
        self.rehash(top, &mut writer.buffer);
        let mut below: Vec<u32> = self.children.get(&top).into_iter().flatten().collect();
        while let Some(id) = below.pop() {
            below.extend(self.children.get(&id).into_iter().flatten());
            self.rewrite_name(id, writer);
            self.rehash(id, &mut writer.buffer);
        }
    }

    /// Rewrites an entry's name: its RDN and the parent's name.
    fn rewrite_name(&mut self, id: u32, writer: &mut Writer) {
        let Some(slot) = self.slots.get(id).copied() else {
            return;
        };
        let (dn, list) = body::split(self.bodies.get(slot.place));
        writer.buffer.clear();
        writer.buffer.extend_from_slice(first_rdn(dn).map_or(&[], Rdn::as_bytes));
        writer.buffer.push(b',');
        writer.buffer.extend_from_slice(self.dn_of(slot.parent).unwrap_or_default());
        writer.body.clear();
        write_body(&writer.buffer, list.0, &mut writer.body);
        self.bodies.remove(slot.place);
        let place = self.bodies.insert(&writer.body);
        if let Some(slot) = self.slots.get_mut(id) {
            slot.place = place;
        }
    }

    /// Updates the index of names with the hash of an entry's new name.
    fn rehash(&mut self, id: u32, buffer: &mut Vec<u8>) {
        let (Some(slot), Some(dn)) = (self.slots.get(id).copied(), self.dn_of(id)) else {
            return;
        };
        buffer.clear();
        if let Ok(dn) = Dn::parse(dn) {
            dn.write_normal(&*self.schema, buffer);
        }
        let hash = self.hash_name(buffer);
        self.names.remove(slot.hash, id);
        self.names.insert(hash, id);
        if let Some(slot) = self.slots.get_mut(id) {
            slot.hash = hash;
        }
    }

    /// Whether `id` is `ancestor` or below it.
    pub(crate) fn is_at_or_below(&self, id: u32, ancestor: u32) -> bool {
        let mut current = id;
        while current != ancestor {
            match self.slots.get(current) {
                Some(slot) => current = slot.parent,
                None => return false,
            }
        }
        true
    }
}

fn rdn(text: &[u8]) -> Result<Rdn<'_>, Refusal> {
    Rdn::try_from(text).map_err(|error| Refusal::new(ResultCode::INVALID_DN_SYNTAX, error.to_string()))
}
