//! Compares a value with the values of an entry (RFC 4511 section 4.10).

use wire::ldap::{CompareRequest, ResultCode};

use super::body;
use super::{Operational, Refusal, Scratch, Store, UnixSeconds};
use crate::schema::base;

impl Store {
    /// Compares a value (RFC 4511 section 4.10), also of an operational attribute.
    pub fn compare(
        &self,
        request: &CompareRequest<'_>,
        now: UnixSeconds,
        scratch: &mut Scratch,
    ) -> Result<bool, Refusal> {
        let id = self.find_live(request.dn, now, scratch)?;
        let asked = request.attribute;
        let refuse = |code, problem| Refusal::of_attribute(code, asked, problem);
        let unknown = || refuse(ResultCode::UNDEFINED_ATTRIBUTE_TYPE, "unknown attribute type");
        let attribute = self.schema.resolve(asked).ok_or_else(unknown)?;
        let rule = self.schema.attribute(attribute).equality;
        let rule = rule.ok_or_else(|| refuse(ResultCode::INAPPROPRIATE_MATCHING, "no equality rule"))?;
        scratch.normal.clear();
        self.limits.check_value(rule.matching, request.value, &mut scratch.other)?;
        if !rule.matching.normalise(&self.schema, request.value, &mut scratch.normal) {
            return Err(refuse(ResultCode::INVALID_ATTRIBUTE_SYNTAX, "the value breaks the syntax"));
        }
        let Some(slot) = self.slots.get(id.0) else {
            return Ok(false);
        };
        let mut present = false;
        let mut check = |value: &[u8], normal: &[u8], buffer: &mut Vec<u8>| {
            present = true;
            rule.matching.matches(&self.schema, value, request.value, normal, buffer)
        };
        let mut equal = false;
        if let Some(what) = Operational::of(&self.schema, attribute) {
            scratch.effort.begin(self.limits.filter_work);
            for value in self.computed_values(id.0, slot, what, now, &mut scratch.effort) {
                equal |= check(&value, &scratch.normal, &mut scratch.other);
            }
            if scratch.effort.budget.was_cut() {
                return Err(refuse(ResultCode::ADMIN_LIMIT_EXCEEDED, "its values take too long to compute"));
            }
        }
        let (_, list) = body::split(self.body_of(slot));
        for found in list.iter().flatten() {
            let same_type = self.schema.resolve(found.name).is_some_and(|id| self.schema.is_a(id, attribute));
            if same_type && has_options(found.name, asked) {
                for value in found.values.iter().flatten() {
                    equal |= check(value, &scratch.normal, &mut scratch.other);
                }
            }
        }
        match present {
            true => Ok(equal),
            false => Err(refuse(ResultCode::NO_SUCH_ATTRIBUTE, "the entry has no such attribute")),
        }
    }
}

/// Whether a description has at least the requested options (RFC 4512 section 2.5.2).
pub(crate) fn has_options(description: &[u8], asked: &[u8]) -> bool {
    options(asked).all(|option| options(description).any(|one| one.eq_ignore_ascii_case(option)))
}

fn options(description: &[u8]) -> impl Iterator<Item = &[u8]> {
    description[base(description).len()..].split(|&byte| byte == b';').filter(|option| !option.is_empty())
}
