//! Limits of one entry, and of one change to an entry.

use wire::ldap::{Attributes, Change, ResultCode};

use super::{Refusal, work};
use crate::limits::Limits;
use crate::schema::{Matching, Schema};

/// The limits of the same names in [`Limits`].
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub attributes: usize,
    pub values: usize,
    pub entry_bytes: usize,
    pub changes: usize,
    /// Values of all changes of one modify.
    pub changed_values: usize,
    pub write_work: usize,
    pub filter_work: usize,
    pub rename_bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self::from(&Limits::default())
    }
}

impl From<&Limits> for Bounds {
    fn from(limits: &Limits) -> Self {
        Self {
            attributes: limits.attributes_per_entry,
            values: limits.values_per_entry,
            entry_bytes: limits.entry_bytes,
            changes: limits.changes_per_modify,
            changed_values: limits.values_per_modify,
            write_work: limits.write_work,
            filter_work: limits.filter_work,
            rename_bytes: limits.rename_bytes,
        }
    }
}

/// `SEQUENCE { type, SET {} }` around a name of one letter.
const LEAST_ATTRIBUTE_BYTES: usize = 7;

/// The length of an empty OCTET STRING.
const LEAST_VALUE_BYTES: usize = 2;

impl Bounds {
    /// Refuses a list with too many attributes or values. Most lists are too short for that and are not
    /// counted.
    #[inline]
    pub(super) fn check(&self, list: Attributes<'_>) -> Result<(), Refusal> {
        let bytes = list.0.len();
        if bytes <= self.attributes.saturating_mul(LEAST_ATTRIBUTE_BYTES)
            && bytes <= self.values.saturating_mul(LEAST_VALUE_BYTES)
        {
            return Ok(());
        }
        let attributes = list.iter().flatten().count();
        if attributes > self.attributes {
            return Err(too_many("attributes", attributes, self.attributes));
        }
        let values = list.iter().flatten().map(|attribute| attribute.values.iter().count()).sum();
        self.check_values(values)
    }

    /// Refuses too many values.
    pub(super) fn check_values(&self, values: usize) -> Result<(), Refusal> {
        if values > self.values { Err(too_many("values", values, self.values)) } else { Ok(()) }
    }

    /// Refuses a write that would take too long. Short lists never do and are not read.
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

    /// Adds up until the limit is exceeded: weighing the rest would be work as well.
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
        if changes.len() > self.changes {
            return Err(too_many("changes", changes.len(), self.changes));
        }
        let values = changes.iter().map(|change| change.attribute.values.iter().count()).sum();
        let most = self.changed_values;
        if values > most { Err(too_many("values in the changes", values, most)) } else { Ok(()) }
    }
}

fn too_many(what: &str, count: usize, limit: usize) -> Refusal {
    Refusal::new(ResultCode::ADMIN_LIMIT_EXCEEDED, format!("{count} {what}, over the limit of {limit}"))
}
