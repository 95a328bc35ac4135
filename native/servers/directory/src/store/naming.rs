//! Finds entries by DN.
//!
//! The hash of a name is computed from the root down: each RDN's normal form is hashed with the hash of the
//! parent's name. So below a known parent only one RDN is normalised and hashed. Nearly every requested name
//! is in the same container as the previous one: [`Scratch`] caches that container, and a comparison with the
//! container's name verifies the guess.

use wire::dn::{Dn, Rdn, normal};
use wire::ldap::ResultCode;

use super::body;
use super::slots::NONE;
use super::{EntryId, Refusal, Scratch, Store, UnixSeconds};

/// The hash of the root's name.
const ROOT: u32 = 0;

/// The place of a name, whether or not an entry has the name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot<'d> {
    /// The first RDN of the name; `None` for the root.
    pub(super) rdn: Option<Rdn<'d>>,
    pub(super) hash: u32,
    /// The entry with the name.
    pub(super) entry: Option<u32>,
    /// The parent entry; [`NONE`] if it does not exist.
    pub(super) parent: u32,
}

impl Store {
    /// Finds the entry of this name in any spelling, even if the entry has expired. Requests use
    /// [`find_live`](Self::find_live). The refusal noSuchObject has the deepest existing ancestor; a
    /// malformed name is refused with invalidDNSyntax.
    #[inline]
    pub fn find(&self, dn: &[u8], scratch: &mut Scratch) -> Result<EntryId, Refusal> {
        if self.dn_of(scratch.container) == Some(dn) && !dn.is_empty() {
            return Ok(EntryId(scratch.container));
        }
        match self.spot(dn, scratch)?.entry {
            Some(id) => {
                // The next search is usually below the same entry.
                if self.children.contains_key(&id) {
                    scratch.container = id;
                }
                Ok(EntryId(id))
            }
            None => Err(self.no_such_object(dn, scratch)),
        }
    }

    /// Finds the entry of this name, unless it has expired (RFC 2589 section 6).
    #[inline]
    pub(crate) fn find_live(
        &self,
        dn: &[u8],
        now: UnixSeconds,
        scratch: &mut Scratch,
    ) -> Result<EntryId, Refusal> {
        let id = self.find(dn, scratch)?;
        if self.is_overdue(id.0, now) { Err(self.no_such_object(dn, scratch)) } else { Ok(id) }
    }

    /// noSuchObject for a name, with the deepest existing ancestor (RFC 4511 section 4.1.9).
    pub(super) fn no_such_object(&self, dn: &[u8], scratch: &mut Scratch) -> Refusal {
        let mut refusal = Refusal::new(ResultCode::NO_SUCH_OBJECT, "there is no entry of this name");
        let Ok(dn) = Dn::parse(dn) else {
            return refusal;
        };
        scratch.normal.clear();
        dn.write_normal(&*self.schema, &mut scratch.normal);
        let normal = std::mem::take(&mut scratch.normal);
        let mut ancestors = std::iter::successors(normal::parent(&normal), |name| normal::parent(name));
        if let Some(id) = ancestors.find_map(|name| self.find_normal(name, &mut scratch.other)) {
            refusal.matched_dn = self.dn_of(id).unwrap_or_default().to_vec();
        }
        scratch.normal = normal;
        refusal
    }

    /// The place of a name, whether or not an entry has the name.
    #[inline]
    pub(super) fn spot<'d>(&self, dn: &'d [u8], scratch: &mut Scratch) -> Result<Spot<'d>, Refusal> {
        match self.rdn_below(scratch.container, dn) {
            Some(rdn) => Ok(self.spot_below(scratch.container, rdn, dn, scratch)),
            None => self.spot_anywhere(dn, scratch),
        }
    }

    /// The RDN of a name whose parent is spelled like the container's name. If the comma before the parent is
    /// escaped or quoted, the text before the comma is no RDN, because it ends in a backslash or within
    /// quotes.
    #[inline]
    fn rdn_below<'d>(&self, container: u32, dn: &'d [u8]) -> Option<Rdn<'d>> {
        let above = self.dn_of(container).filter(|name| !name.is_empty())?;
        let rdn = dn.strip_suffix(above)?.strip_suffix(b",")?;
        Rdn::try_from(rdn).ok()
    }

    #[inline]
    fn spot_below<'d>(&self, parent: u32, rdn: Rdn<'d>, dn: &[u8], scratch: &mut Scratch) -> Spot<'d> {
        scratch.normal.clear();
        rdn.write_normal(&*self.schema, &mut scratch.normal);
        let above = self.slots.get(parent).map_or(ROOT, |slot| slot.hash);
        let hash = self.indexes.chain(above, &scratch.normal);
        let is_it = |&id: &u32| {
            self.dn_of(id) == Some(dn)
                || self.slots.get(id).is_some_and(|slot| slot.parent == parent)
                    && self.first_rdn_is(id, &scratch.normal, &mut scratch.other)
        };
        let entry = self.names.get(hash).find(is_it);
        Spot { rdn: Some(rdn), hash, entry, parent }
    }

    fn first_rdn_is(&self, id: u32, normal: &[u8], buffer: &mut Vec<u8>) -> bool {
        buffer.clear();
        let first = Dn::parse(self.dn_of(id).unwrap_or_default()).ok().and_then(Dn::split_first);
        first.is_some_and(|(rdn, _)| {
            rdn.write_normal(&*self.schema, buffer);
            buffer == normal
        })
    }

    fn spot_anywhere<'d>(&self, dn: &'d [u8], scratch: &mut Scratch) -> Result<Spot<'d>, Refusal> {
        let name =
            Dn::parse(dn).map_err(|error| Refusal::new(ResultCode::INVALID_DN_SYNTAX, error.to_string()))?;
        scratch.normal.clear();
        name.write_normal(&*self.schema, &mut scratch.normal);
        let (hash, entry) = self.look_up(&scratch.normal, &mut scratch.other);
        let parent = match entry.and_then(|id| self.slots.get(id)) {
            Some(slot) => slot.parent,
            None => normal::parent(&scratch.normal)
                .and_then(|above| self.find_normal(above, &mut scratch.other))
                .unwrap_or(NONE),
        };
        if let Some(id) = entry.filter(|id| parent == NONE || self.children.contains_key(id)) {
            scratch.container = id;
        } else if parent != NONE {
            scratch.container = parent;
        }
        Ok(Spot { rdn: name.split_first().map(|(rdn, _)| rdn), hash, entry, parent })
    }

    fn find_normal(&self, normal: &[u8], buffer: &mut Vec<u8>) -> Option<u32> {
        self.look_up(normal, buffer).1
    }

    /// The hash of a name in normal form, and its entry.
    fn look_up(&self, normal: &[u8], buffer: &mut Vec<u8>) -> (u32, Option<u32>) {
        let hash = self.hash_name(normal);
        let found = self.names.get(hash).find(|&id| {
            let dn = self.dn_of(id).unwrap_or_default();
            dn == normal || self.is_name(dn, normal, buffer)
        });
        (hash, found)
    }

    /// The hash of a normal form, in which every comma is a separator.
    pub(super) fn hash_name(&self, normal: &[u8]) -> u32 {
        if normal.is_empty() {
            return ROOT;
        }
        normal.rsplit(|&byte| byte == b',').fold(ROOT, |above, rdn| self.indexes.chain(above, rdn))
    }

    /// Whether two names are equal.
    pub(super) fn same_name(&self, left: &[u8], right: &[u8]) -> bool {
        let (mut normal, mut buffer) = (Vec::new(), Vec::new());
        match Dn::parse(left) {
            Ok(dn) => dn.write_normal(&*self.schema, &mut normal),
            Err(_) => return false,
        }
        self.is_name(right, &normal, &mut buffer)
    }

    /// Whether a name has this normal form.
    pub(super) fn is_name(&self, dn: &[u8], normal: &[u8], buffer: &mut Vec<u8>) -> bool {
        buffer.clear();
        Dn::parse(dn).is_ok_and(|dn| {
            dn.write_normal(&*self.schema, buffer);
            buffer == normal
        })
    }

    /// The DN of an entry as spelled in the add request.
    #[inline]
    pub(super) fn dn_of(&self, id: u32) -> Option<&[u8]> {
        self.slots.get(id).map(|slot| body::dn(self.bodies.get(slot.place)))
    }
}
