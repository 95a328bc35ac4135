//! The store's limits of one entry, and of one change to an entry.

use wire::ldap::{Attributes, Change, ResultCode};

use super::{Refusal, work};
use crate::limits::Limits;
use crate::schema::{Matching, Schema};

/// The bytes of `SEQUENCE { type, SET {} }` around a name of one letter.
const LEAST_ATTRIBUTE_BYTES: usize = 7;

/// The length of an empty OCTET STRING.
const LEAST_VALUE_BYTES: usize = 2;

impl Limits {
    /// Refuses a list with too many attributes or values. Most lists are too short to exceed the limits, and
    /// are not counted.
    #[inline]
    pub(super) fn check_list(&self, list: Attributes<'_>) -> Result<(), Refusal> {
        let bytes = list.0.len();
        if bytes <= self.attributes_per_entry.saturating_mul(LEAST_ATTRIBUTE_BYTES)
            && bytes <= self.values_per_entry.saturating_mul(LEAST_VALUE_BYTES)
        {
            return Ok(());
        }
        let attributes = list.iter().flatten().count();
        if attributes > self.attributes_per_entry {
            return Err(too_many("attributes", attributes, self.attributes_per_entry));
        }
        let values = list.iter().flatten().map(|attribute| attribute.values.iter().count()).sum();
        self.check_values(values)
    }

    /// Refuses too many values.
    pub(super) fn check_values(&self, values: usize) -> Result<(), Refusal> {
        if values > self.values_per_entry {
            Err(too_many("values", values, self.values_per_entry))
        } else {
            Ok(())
        }
    }

    /// Refuses a write that would take too long. The work for a short list is always below the limit and is
    /// not estimated.
    #[inline]
    pub(super) fn check_work(
        &self,
        schema: &Schema,
        list: Attributes<'_>,
        changes: &[Change<'_>],
    ) -> Result<(), Refusal> {
        let changed: usize = changes.iter().map(|change| change.attribute.values.0.len()).sum();
        if (list.0.len() + changed).saturating_mul(work::MOST_A_BYTE) <= self.write_work {
            return Ok(());
        }
        self.check_units(work::of_entry(schema, list).chain(work::of_changes(schema, changes)))
    }

    /// Refuses to compare a value whose preparation takes too long.
    pub(super) fn check_value(
        &self,
        matching: Matching,
        value: &[u8],
        decoded: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        self.check_units([work::of_value(matching, value, decoded)].into_iter())
    }

    /// Adds up the units until the limit is exceeded: estimating the remaining values would take time, too.
    fn check_units(&self, mut units: impl Iterator<Item = usize>) -> Result<(), Refusal> {
        let most = self.write_work;
        let too_much = units.try_fold(0_usize, |sum, each| match sum.saturating_add(each) {
            sum if sum > most => Err(sum),
            sum => Ok(sum),
        });
        too_much.map(drop).map_err(|units| too_many("units of work for the values", units, most))
    }

    /// Refuses an entry that would be too long.
    #[inline]
    pub(super) fn check_entry(&self, bytes: usize) -> Result<(), Refusal> {
        if bytes > self.entry_bytes { Err(too_many("bytes", bytes, self.entry_bytes)) } else { Ok(()) }
    }

    /// Refuses a rename that rewrites too many bytes.
    pub(super) fn check_rename(&self, bytes: usize) -> Result<(), Refusal> {
        if bytes <= self.rename_bytes {
            return Ok(());
        }
        let most = self.rename_bytes;
        let diagnostic = format!("the entries below would take more than {most} bytes of rewriting");
        Err(Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, diagnostic))
    }

    /// Refuses a modify with too many changes, or with too many values in them.
    pub(super) fn check_changes(&self, changes: &[Change<'_>]) -> Result<(), Refusal> {
        if changes.len() > self.changes_per_modify {
            return Err(too_many("changes", changes.len(), self.changes_per_modify));
        }
        let values = changes.iter().map(|change| change.attribute.values.iter().count()).sum();
        let most = self.values_per_modify;
        if values > most { Err(too_many("values in the changes", values, most)) } else { Ok(()) }
    }
}

fn too_many(what: &str, count: usize, limit: usize) -> Refusal {
    Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, format!("{count} {what}, over the limit of {limit}"))
}
