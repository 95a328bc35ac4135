//! The entries: a plain data structure without I/O, clock or lock.
//!
//! Reads take `&self`, writes `&mut self`; the server has the lock. Everything that a read needs besides the
//! store is in the caller's [`Scratch`], so that readers on several threads never write to a shared cache
//! line.

mod add;
mod bodies;
pub(crate) mod body;
mod bounds;
mod budget;
mod compare;
mod constructed;
mod draft;
mod inspect;
mod maintain;
mod modify;
mod naming;
mod operational;
mod prefetch;
mod prepared;
mod remove;
mod rename;
mod scratch;
mod slots;
pub(crate) mod work;

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use hashbrown::HashMap;
use roaring::RoaringBitmap;
use wire::dn::Dn;
use wire::ldap::{Attributes, ResultCode};

pub use operational::Operational;
pub use scratch::Scratch;
pub(crate) use scratch::{KEPT, trim};

pub(crate) use budget::Budget;
pub(crate) use compare::has_options;
pub(crate) use operational::{SUBSCHEMA_DN, write_time};
pub(crate) use prefetch::Prefetch;
pub(crate) use prepared::{Effort, Form};
pub(crate) use scratch::LISTED;
pub(crate) use slots::{NONE, Slot};

use crate::domain::Domain;
use crate::expiry::Wheel;
use crate::index::{HashPairs, Indexes};
use crate::limits::Limits;
use crate::schema::Schema;
use bodies::Bodies;
use inspect::Inspector;
use slots::Slots;

/// Seconds since 1970-01-01T00:00:00Z. The store has no clock, so the time is an
/// argument of every operation that needs it. Valid until 2106.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixSeconds(pub u32);

/// An LDAP result other than success, which the client receives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {diagnostic}")]
pub struct Refusal {
    /// RFC 4511 appendix A.
    pub code: ResultCode,
    pub diagnostic: Cow<'static, str>,
    /// The deepest existing ancestor, after noSuchObject; otherwise empty.
    pub matched_dn: Vec<u8>,
}

impl Refusal {
    /// A refusal without a matched DN.
    pub fn new(code: ResultCode, diagnostic: impl Into<Cow<'static, str>>) -> Self {
        Self { code, diagnostic: diagnostic.into(), matched_dn: Vec::new() }
    }

    /// A refusal about an attribute.
    pub(crate) fn of_attribute(code: ResultCode, attribute: &[u8], problem: impl Display) -> Self {
        Self::new(code, format!("{}: {problem}", String::from_utf8_lossy(attribute)))
    }
}

/// The number of a slot. The number is valid until the entry is removed; after that the slot may hold another
/// entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub(crate) u32);

/// A stored entry.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'s> {
    /// The encoded SearchResultEntry without its header: OCTET STRING dn, then the whole
    /// PartialAttributeList. [`wire::ldap::answer::write_entry`] takes it unchanged.
    pub body: &'s [u8],
    pub created: UnixSeconds,
    /// When the entry was added or last changed.
    pub modified: UnixSeconds,
    /// When a dynamic entry expires (RFC 2589).
    pub expires: Option<UnixSeconds>,
}

impl<'s> Entry<'s> {
    /// The DN as spelled in the add request.
    pub fn dn(&self) -> &'s [u8] {
        body::dn(self.body)
    }

    /// The user attributes, canonically spelled.
    pub fn attributes(&self) -> Attributes<'s> {
        body::split(self.body).1
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub entries: u64,
    /// Entries with a time to live.
    pub dynamic: u64,
    pub body_bytes: u64,
}

/// The time to live of a dynamic entry (objectClass dynamicObject) without an entryTtl. RFC 2589 section 5
/// suggests a day.
pub const DEFAULT_TTL_S: u32 = 86_400;

#[derive(Debug)]
pub struct Store {
    /// Shared with threads that compile a long filter without the lock.
    pub(crate) schema: Arc<Schema>,
    /// The schema before the current write, if that write has declared types.
    declared_from: Option<Arc<Schema>>,
    /// When entries last declared types.
    pub(crate) schema_modified: Option<UnixSeconds>,
    suffixes: Vec<Suffix>,
    pub(crate) slots: Slots,
    bodies: Bodies,
    /// Entries by the hashes of their names.
    names: HashPairs,
    /// Entries without a parent entry.
    pub(crate) roots: Vec<u32>,
    /// The children of each entry that has children.
    pub(crate) children: HashMap<u32, RoaringBitmap>,
    pub(crate) indexes: Indexes,
    wheel: Wheel,
    pub(crate) limits: Limits,
    dynamic: u64,
    sequence: u32,
    /// A number that differs from store to store. Clients see it in entryUUIDs, so it is unrelated to the
    /// hashes of names: otherwise clients could choose names with equal hashes.
    pub(crate) salt: u64,
    /// The domain, if the directory is an Active Directory.
    pub(crate) domain: Option<Domain>,
    /// `None` while a write uses it.
    writer: Option<Box<Writer>>,
}

#[derive(Debug)]
struct Suffix {
    dn: Vec<u8>,
    normal: Vec<u8>,
}

/// Reused buffers of writes.
#[derive(Debug, Default)]
struct Writer {
    scratch: Scratch,
    inspector: Inspector,
    body: Vec<u8>,
    /// An attribute list being written.
    list: Vec<u8>,
    buffer: Vec<u8>,
}

impl Store {
    /// An empty store. Entries can be added at and below each declared suffix. Types that are declared
    /// later are not indexed.
    pub fn new(schema: Schema) -> Self {
        Self {
            indexes: Indexes::new(&schema),
            schema: Arc::new(schema),
            declared_from: None,
            schema_modified: None,
            suffixes: Vec::new(),
            slots: Slots::default(),
            bodies: Bodies::default(),
            names: HashPairs::default(),
            roots: Vec::new(),
            children: HashMap::new(),
            wheel: Wheel::default(),
            limits: Limits::default(),
            dynamic: 0,
            sequence: 0,
            salt: salt(),
            domain: None,
            writer: None,
        }
    }

    pub const fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Makes a change in reused buffers. Removes the types that a refused change has declared, and frees
    /// memory that few changes need.
    fn write<T>(
        &mut self,
        change: impl FnOnce(&mut Self, &mut Writer) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let mut writer = self.writer.take().unwrap_or_default();
        let result = change(self, &mut writer);
        if let (Some(before), true) = (self.declared_from.take(), result.is_err()) {
            self.schema = before;
            writer.inspector = Inspector::default();
        }
        trim(&mut writer.body);
        trim(&mut writer.list);
        trim(&mut writer.buffer);
        writer.inspector.trim();
        writer.scratch.trim();
        self.writer = Some(writer);
        result
    }

    /// The schema, including undeclared types of entries.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// The schema for use after the store's lock has been released.
    pub(crate) fn shared_schema(&self) -> Arc<Schema> {
        Arc::clone(&self.schema)
    }

    /// Declares a naming context: the entry of this name needs no parent.
    pub fn add_suffix(&mut self, dn: &[u8]) -> Result<(), Refusal> {
        let name =
            Dn::parse(dn).map_err(|error| Refusal::new(ResultCode::INVALID_DN_SYNTAX, error.to_string()))?;
        let mut normal = Vec::new();
        name.write_normal(&*self.schema, &mut normal);
        if !self.suffixes.iter().any(|known| known.normal == normal) {
            self.suffixes.push(Suffix { dn: dn.to_vec(), normal });
        }
        Ok(())
    }

    /// The naming contexts, as spelled in their declarations.
    pub fn suffixes(&self) -> impl Iterator<Item = &[u8]> {
        self.suffixes.iter().map(|suffix| suffix.dn.as_slice())
    }

    /// Reserves memory for this many further entries, so that a bulk load does not grow the store step by
    /// step.
    pub fn reserve(&mut self, entries: usize) {
        self.slots.reserve(entries);
    }

    pub fn counts(&self) -> Counts {
        Counts { entries: u64::from(self.slots.used), dynamic: self.dynamic, body_bytes: self.bodies.bytes }
    }

    #[inline]
    pub fn entry(&self, id: EntryId) -> Option<Entry<'_>> {
        self.slots.get(id.0).map(|slot| Entry {
            body: self.bodies.get(slot.place),
            created: UnixSeconds(slot.created),
            modified: UnixSeconds(slot.modified),
            expires: (slot.expires != 0).then_some(UnixSeconds(slot.expires)),
        })
    }

    /// Whether any entry may have many values.
    pub(crate) const fn may_hold_many_values(&self) -> bool {
        self.bodies.any_long()
    }

    /// Whether the entry of this name has more than `most` values.
    pub(crate) fn has_more_values(&self, dn: &[u8], most: usize, scratch: &mut Scratch) -> bool {
        self.bodies.any_long()
            && self.find(dn, scratch).ok().and_then(|id| self.entry(id)).is_some_and(|entry| {
                entry.body.len() > bodies::LONG && entry.attributes().has_more_values(most)
            })
    }

    /// Whether the entry of this name has subordinates.
    pub(crate) fn is_container(&self, dn: &[u8], scratch: &mut Scratch) -> bool {
        self.find(dn, scratch).is_ok_and(|id| self.children.contains_key(&id.0))
    }

    fn is_suffix(&self, dn: &[u8], scratch: &mut Scratch) -> bool {
        let Ok(name) = Dn::parse(dn) else {
            return false;
        };
        scratch.normal.clear();
        name.write_normal(&*self.schema, &mut scratch.normal);
        self.suffixes.iter().any(|suffix| suffix.normal == scratch.normal)
    }
}

/// A random number, or the time if the system has no random numbers yet: the salt is no secret.
fn salt() -> u64 {
    let time = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    getrandom::u64().unwrap_or_else(|_| time())
}
