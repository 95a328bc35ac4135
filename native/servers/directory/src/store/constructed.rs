//! Attributes that Active Directory constructs or maintains, and alternative names of its users.

use std::borrow::Cow;

use roaring::RoaringBitmap;
use wire::ldap::attributes::Attribute;

use super::operational::{Operational, uuid};
use super::slots::{NONE, Slot};
use super::{Budget, Effort, EntryId, Form, Scratch, Store, UnixSeconds, body};
use crate::domain;
use crate::index::{Hits, Key};
use crate::matching::write_timestamp;

/// The cost of an index lookup in units of the budget: some two microseconds.
const LOOKUP: usize = 1_000;

impl Store {
    /// Appends the value of a constructed attribute; false if the entry has none.
    pub(super) fn write_constructed(&self, slot: &Slot, what: Operational, out: &mut Vec<u8>) -> bool {
        let Some(here) = &self.domain else { return false };
        let class = || self.structural_class(slot).unwrap_or_default();
        match what {
            Operational::DistinguishedName => out.extend_from_slice(body::dn(self.body_of(slot))),
            Operational::ObjectGuid => domain::write_guid(uuid(self.salt, slot), out),
            Operational::ObjectCategory => here.write_category(class(), out),
            Operational::ObjectSid if slot.parent == NONE => here.write_sid(None, out),
            Operational::ObjectSid if domain::account(class()).is_some() => {
                here.write_sid(Some(slot.sequence), out);
            }
            Operational::PrimaryGroupId | Operational::SamAccountType => {
                let is_kind = what == Operational::SamAccountType;
                let account = domain::account(class());
                let number = account.and_then(|(kind, group)| if is_kind { Some(kind) } else { group });
                out.extend_from_slice(number.unwrap_or_default().as_bytes());
                return number.is_some();
            }
            Operational::WhenCreated | Operational::WhenChanged => {
                let time = if what == Operational::WhenCreated { slot.created } else { slot.modified };
                write_timestamp(time.into(), out);
                out.extend_from_slice(b".0Z");
            }
            _ => return false,
        }
        true
    }

    /// The values of a computed attribute; incomplete if the budget is exhausted.
    pub(crate) fn computed_values<'s>(
        &'s self,
        id: u32,
        slot: &Slot,
        what: Operational,
        now: UnixSeconds,
        effort: &mut Effort,
    ) -> Vec<Cow<'s, [u8]>> {
        let nested = what == Operational::MemberOfInChain;
        if nested || what == Operational::MemberOf {
            let Some(dn) = self.dn_of(id) else { return Vec::new() };
            let groups = self.groups_of(dn, nested, now, effort);
            return groups.into_iter().filter_map(|group| self.dn_of(group)).map(Cow::Borrowed).collect();
        }
        let mut value = Vec::new();
        let has = self.write_operational(id, slot, what, now, &mut value);
        if has { vec![Cow::Owned(value)] } else { Vec::new() }
    }

    /// The groups of which a name is a direct member; with `nested`, a direct or indirect member. Each group
    /// occurs once. Incomplete if the budget is exhausted.
    pub(crate) fn groups_of(
        &self,
        dn: &[u8],
        nested: bool,
        now: UnixSeconds,
        effort: &mut Effort,
    ) -> Vec<u32> {
        let mut groups = self.having(b"member", dn, now, effort);
        let mut seen = RoaringBitmap::from_iter(&groups);
        let mut at = 0;
        while let Some(&group) = groups.get(at).filter(|_| nested && !effort.budget.was_cut()) {
            let above = self.having(b"member", self.dn_of(group).unwrap_or_default(), now, effort);
            groups.extend(above.into_iter().filter(|group| seen.insert(*group)));
            at += 1;
        }
        groups
    }

    /// The entry that a bind names. In a domain, `user@example.com` and `EXAMPLE\user` are names, too
    /// (MS-ADTS section 5.1.1.1.1).
    pub(crate) fn find_login(&self, name: &[u8], now: UnixSeconds, scratch: &mut Scratch) -> Option<EntryId> {
        let Some(domain) = self.domain.as_ref().filter(|_| !name.contains(&b'=')) else {
            return self.find_live(name, now, scratch).ok();
        };
        let effort = &mut scratch.effort;
        effort.begin(self.limits.filter_work);
        // If two entries have the name, the name is ambiguous and means neither entry.
        let mut the_one = |attribute, value| match *self.having(attribute, value, now, effort) {
            [id] => Ok(Some(EntryId(id))),
            [] => Ok(None),
            _ => Err(()),
        };
        if let Some((netbios, user)) = split_at(name, b'\\') {
            let is_here = domain.is_netbios(netbios);
            return if is_here { the_one(b"sAMAccountName".as_slice(), user).ok()? } else { None };
        }
        let (user, dns) = split_at(name, b'@')?;
        match the_one(b"userPrincipalName", name).ok()? {
            // `sAMAccountName@domain` is valid beside any userPrincipalName (MS-ADTS section 5.1.1.1.1).
            None if domain.is_dns(dns) => the_one(b"sAMAccountName", user).ok()?,
            entry => entry,
        }
    }

    /// The entries with this value of an attribute, which must be indexed from the start.
    fn having(&self, attribute: &[u8], value: &[u8], now: UnixSeconds, effort: &mut Effort) -> Vec<u32> {
        let Effort { budget, lists, .. } = effort;
        let (mut ids, mut normal) = (Vec::new(), Vec::new());
        let Some(kind) = self.schema.resolve(attribute) else { return ids };
        let matching = self.schema.naming_rule(kind);
        if !budget.spend(LOOKUP + Budget::UNIT * value.len())
            || !matching.normalise(&self.schema, value, &mut normal)
        {
            return ids;
        }
        let hash = self.indexes.hash(&normal);
        match self.indexes.of_assertions(kind).and_then(|index| self.indexes.get(Key { index, hash })) {
            Some(Hits::Few(few, count)) => ids.extend_from_slice(few.get(..count).unwrap_or_default()),
            Some(Hits::Many(many)) => ids.extend(many),
            None => {}
        }
        ids.sort_unstable();
        // Other values may have the same hash.
        ids.retain(|&id| {
            let Some(entry) = self.entry(EntryId(id)).filter(|_| !self.is_overdue(id, now)) else {
                return false;
            };
            let mut stored = entry.attributes().iter().flatten().filter(|stored| stored.name == attribute);
            stored.any(|Attribute { values, .. }| {
                let form = (matching, Form::Normal);
                let list = lists.of(values, form);
                if list.is_scanned_raw(values, budget)
                    && values.iter().flatten().any(|stored| stored == value)
                {
                    return true;
                }
                let forms = list.prepare(&self.schema, values, form, budget);
                forms.is_some_and(|forms| forms.holds(matching, &normal))
            })
        });
        ids
    }
}

fn split_at(name: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let at = name.iter().rposition(|&byte| byte == separator)?;
    Some((name.get(..at)?, name.get(at + 1..)?))
}
