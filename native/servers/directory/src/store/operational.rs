//! Operational attributes, computed on request (RFC 4512 section 3.4).

use super::body;
use super::slots::Slot;
use super::{Store, UnixSeconds};
use crate::matching::write_timestamp;
use crate::schema::{AttributeId, ClassKind, Schema};

/// The name of the subschema subentry (RFC 4512 section 4.2).
pub(crate) const SUBSCHEMA_DN: &str = "cn=Subschema";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operational {
    EntryDn,
    EntryUuid,
    CreateTimestamp,
    ModifyTimestamp,
    HasSubordinates,
    NumSubordinates,
    StructuralObjectClass,
    SubschemaSubentry,
    EntryTtl,
    DistinguishedName,
    MemberOf,
    ObjectCategory,
    ObjectGuid,
    ObjectSid,
    PrimaryGroupId,
    SamAccountType,
    WhenChanged,
    WhenCreated,
    /// The groups of which the entry is a direct or indirect member.
    MemberOfInChain,
    /// For a group, true if the asserted name is its direct or indirect member.
    MemberInChain,
}

impl Operational {
    /// The standard attributes in the order of answers, with the names of their types.
    pub const ALL: [(Self, &'static str); 9] = [
        (Self::StructuralObjectClass, "structuralObjectClass"),
        (Self::EntryUuid, "entryUUID"),
        (Self::CreateTimestamp, "createTimestamp"),
        (Self::ModifyTimestamp, "modifyTimestamp"),
        (Self::EntryTtl, "entryTtl"),
        (Self::EntryDn, "entryDN"),
        (Self::SubschemaSubentry, "subschemaSubentry"),
        (Self::HasSubordinates, "hasSubordinates"),
        (Self::NumSubordinates, "numSubordinates"),
    ];

    /// The computed attributes of Active Directory, which are user attributes.
    pub const ACTIVE_DIRECTORY: [(Self, &'static str); 9] = [
        (Self::DistinguishedName, "distinguishedName"),
        (Self::MemberOf, "memberOf"),
        (Self::ObjectCategory, "objectCategory"),
        (Self::ObjectGuid, "objectGUID"),
        (Self::ObjectSid, "objectSid"),
        (Self::PrimaryGroupId, "primaryGroupID"),
        (Self::SamAccountType, "sAMAccountType"),
        (Self::WhenChanged, "whenChanged"),
        (Self::WhenCreated, "whenCreated"),
    ];

    /// The computed attribute of a type, if the type is computed.
    pub(crate) fn of(schema: &Schema, id: AttributeId) -> Option<Self> {
        if !schema.attribute(id).computed {
            return None;
        }
        let name = schema.canonical_name(id);
        let mut all = Self::ALL.iter().chain(&Self::ACTIVE_DIRECTORY);
        all.find(|(_, computed)| *computed == name).map(|(what, _)| *what)
    }
}

impl Store {
    /// Appends the value of an operational attribute; false if the entry has none.
    pub(crate) fn write_operational(
        &self,
        id: u32,
        slot: &Slot,
        what: Operational,
        now: UnixSeconds,
        out: &mut Vec<u8>,
    ) -> bool {
        match what {
            Operational::EntryDn => out.extend_from_slice(body::dn(self.body_of(slot))),
            Operational::EntryUuid => write_uuid(uuid(self.salt, slot), out),
            Operational::CreateTimestamp => write_time(slot.created, out),
            Operational::ModifyTimestamp => write_time(slot.modified, out),
            Operational::HasSubordinates => {
                let has = self.children.contains_key(&id);
                out.extend_from_slice(if has { b"TRUE" } else { b"FALSE" });
            }
            Operational::NumSubordinates => {
                let count = self.children.get(&id).map_or(0, roaring::RoaringBitmap::len);
                out.extend_from_slice(count.to_string().as_bytes());
            }
            Operational::SubschemaSubentry => out.extend_from_slice(SUBSCHEMA_DN.as_bytes()),
            Operational::StructuralObjectClass => return self.write_structural_class(slot, out),
            Operational::EntryTtl if slot.expires == 0 => return false,
            Operational::EntryTtl => {
                // The entry no longer exists in the second `expires`: see `set_ttl`.
                let left = slot.expires.saturating_sub(now.0).saturating_sub(1);
                out.extend_from_slice(left.to_string().as_bytes());
            }
            _ => return self.write_constructed(slot, what, out),
        }
        true
    }

    #[inline]
    pub(crate) fn body_of(&self, slot: &Slot) -> &[u8] {
        self.bodies.get(slot.place)
    }

    fn write_structural_class(&self, slot: &Slot, out: &mut Vec<u8>) -> bool {
        let class = self.structural_class(slot);
        out.extend_from_slice(class.unwrap_or_default().as_bytes());
        class.is_some()
    }

    /// The most derived structural class (RFC 4512 section 2.4.2).
    pub(super) fn structural_class(&self, slot: &Slot) -> Option<&str> {
        let (_, list) = body::split(self.body_of(slot));
        let classes = list.iter().flatten().find(|attribute| attribute.name == b"objectClass");
        let mut deepest: Option<(usize, &str)> = None;
        for value in classes.iter().flat_map(|attribute| attribute.values.iter().flatten()) {
            let chain = self.schema.class_chain(value);
            if let Some(class) = chain.first().filter(|class| class.kind == ClassKind::Structural)
                && deepest.is_none_or(|(depth, _)| chain.len() > depth)
            {
                deepest = Some((chain.len(), class.name()));
            }
        }
        deepest.map(|(_, name)| name)
    }
}

pub(crate) fn write_time(seconds: u32, out: &mut Vec<u8>) {
    write_timestamp(i64::from(seconds), out);
    out.push(b'Z');
}

/// A UUID of version 8 (RFC 9562 section 5.8): time of the addition, its sequence number, and the
/// store's salt.
pub(super) fn uuid(salt: u64, slot: &Slot) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&slot.created.to_be_bytes());
    bytes[4..8].copy_from_slice(&slot.sequence.to_be_bytes());
    bytes[8..].copy_from_slice(&salt.to_be_bytes());
    // The version overwrites four bits of the sequence number, so their byte is also stored in the salt.
    bytes[9] = bytes[6];
    bytes[6] = 0x80 | bytes[6] & 0x0f;
    bytes[8] = 0x80 | bytes[8] & 0x3f;
    bytes
}

fn write_uuid(bytes: [u8; 16], out: &mut Vec<u8>) {
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        out.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
}
