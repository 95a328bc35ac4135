//! Removes entries: deleted (RFC 4511 section 4.8) or expired (RFC 2589).

use wire::ldap::ResultCode;

use super::body;
use super::slots::{NONE, Slot};
use super::{EntryId, Refusal, Store, UnixSeconds, Writer};

impl Store {
    /// Removes an entry without children.
    pub fn remove(&mut self, dn: &[u8], now: UnixSeconds) -> Result<(), Refusal> {
        self.write(|store, writer| {
            let id = store.find_live(dn, now, &mut writer.scratch)?.0;
            if store.children.contains_key(&id) {
                return Err(Refusal::new(
                    ResultCode::NOT_ALLOWED_ON_NON_LEAF,
                    "there are entries below this one; delete them first",
                ));
            }
            store.remove_leaf(id, writer);
            Ok(())
        })
    }

    /// Sets the time to live of a dynamic entry, from now on (RFC 2589 section 4).
    pub fn refresh(&mut self, id: EntryId, ttl_s: u32, now: UnixSeconds) -> Result<(), Refusal> {
        match self.slots.get(id.0) {
            _ if self.is_overdue(id.0, now) => {
                Err(Refusal::new(ResultCode::NO_SUCH_OBJECT, "the entry's life is over"))
            }
            None => Err(Refusal::new(ResultCode::NO_SUCH_OBJECT, "the entry is gone")),
            Some(slot) if slot.expires == 0 => Err(Refusal::new(
                ResultCode::OBJECT_CLASS_VIOLATION,
                "the entry is not dynamic: it has not the class dynamicObject",
            )),
            Some(_) => {
                self.set_ttl(id.0, ttl_s, now);
                Ok(())
            }
        }
    }

    /// Whether an entry has expired, even if it has not been removed yet.
    pub(super) fn is_overdue(&self, id: u32, now: UnixSeconds) -> bool {
        self.slots.get(id).is_some_and(|slot| slot.is_overdue(now))
    }

    /// Removes up to `budget` expired entries; returns their number. Must be called at least once a second;
    /// if the budget is used up, more entries can have expired. An entry with subordinates stays until they
    /// are removed.
    pub fn expire(&mut self, now: UnixSeconds, budget: usize) -> usize {
        let mut writer = self.writer.take().unwrap_or_default();
        let mut removed = 0;
        while removed < budget {
            let Some(id) = self.wheel.pop(now.0) else {
                break;
            };
            match self.slots.get(id).map(|slot| slot.expires) {
                None | Some(0) => {}
                Some(expires) if expires > now.0 => self.wheel.insert(id, expires),
                Some(_) if self.children.contains_key(&id) => self.wheel.insert(id, now.0 + 1),
                Some(_) => removed += self.remove_overdue(id, now, &mut writer),
            }
        }
        self.writer = Some(writer);
        removed
    }

    /// Removes a leaf, and expired entries above it that have no other children.
    fn remove_overdue(&mut self, leaf: u32, now: UnixSeconds, writer: &mut Writer) -> usize {
        let mut removed = 0;
        let mut next = leaf;
        while let Some(slot) = self.slots.get(next).copied().filter(|slot| slot.is_overdue(now)) {
            if self.children.contains_key(&next) {
                break;
            }
            self.remove_leaf(next, writer);
            removed += 1;
            next = slot.parent;
        }
        removed
    }

    /// Sets the expiry of an entry. As `now` is rounded down to a second, one second is added: the entry
    /// never expires too early, and at most a second late.
    pub(super) fn set_ttl(&mut self, id: u32, ttl_s: u32, now: UnixSeconds) {
        let Some(slot) = self.slots.get_mut(id) else {
            return;
        };
        let expires = now.0.saturating_add(ttl_s).saturating_add(1);
        let before = std::mem::replace(&mut slot.expires, expires);
        self.dynamic += u64::from(before == 0);
        // If the new deadline is later than the old deadline, the entry stays in its list, and is filed again
        // when the second of this list is reached.
        if before == 0 || expires < before {
            self.wheel.insert(id, expires);
        }
    }

    pub(super) fn clear_ttl(&mut self, id: u32) {
        if let Some(slot) = self.slots.get_mut(id).filter(|slot| slot.expires != 0) {
            slot.expires = 0;
            self.dynamic -= 1;
            self.wheel.remove(id);
        }
    }

    pub(super) fn remove_leaf(&mut self, id: u32, writer: &mut Writer) {
        self.clear_ttl(id);
        let Some(slot) = self.slots.get(id).copied() else {
            return;
        };
        self.unindex(id, &slot, writer);
        self.names.remove(slot.hash, id);
        self.detach(slot.parent, id);
        self.bodies.remove(slot.place);
        self.slots.remove(id);
    }

    /// Removes an entry from all indexes on values.
    pub(super) fn unindex(&mut self, id: u32, slot: &Slot, writer: &mut Writer) {
        let (_, list) = body::split(self.bodies.get(slot.place));
        writer.inspector.keys_of(&self.schema, &self.indexes, list);
        self.indexes.remove(id, &writer.inspector.keys);
        self.change_prefixes(id, slot, false);
    }

    /// Removes an entry from its parent's children.
    pub(super) fn detach(&mut self, parent: u32, id: u32) {
        if parent == NONE {
            self.roots.retain(|root| *root != id);
        } else if let Some(children) = self.children.get_mut(&parent) {
            children.remove(id);
            if children.is_empty() {
                self.children.remove(&parent);
            }
        }
    }
}
