//! Behaviour of Active Directory's domain controllers that the profile `ad` imitates: entries and values are
//! limited to some thousand per answer, and a password may be set over TLS only. Samba has none of these
//! limits, so a client that works with Samba can fail at a domain controller.

use wire::ldap::ResultCode;
use wire::ldap::attributes::Attribute;
use wire::ldap::request::{write_attribute, write_encoded_attribute};

use crate::auth;
use crate::store::{Refusal, body};

/// The most entries of a page, and of a search without pages (MaxPageSize, MS-ADTS section 3.1.1.3.4.6).
pub(crate) const PAGE_ENTRIES: u32 = 1_000;

/// The most values of an attribute in one answer (MaxValRange, MS-ADTS section 3.1.1.3.4.6).
pub(crate) const RANGE_VALUES: usize = 1_500;

/// No attribute of a shorter entry has more values than fit in one answer, as a value takes at least three
/// bytes.
const RANGED_BYTES: usize = 3 * RANGE_VALUES;

/// The requested values of an attribute: `member;range=1500-*` (MS-ADTS section 3.1.1.3.1.3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Range {
    /// The attribute's description without the range.
    name: Box<[u8]>,
    first: usize,
    /// The index of the last requested value; `None` requests all values from `first` on.
    last: Option<usize>,
}

/// Splits a description into its name and its range; `None` for a description without a range.
pub(crate) fn without_range(description: &[u8]) -> Option<(&[u8], Range)> {
    let at = description.iter().rposition(|&byte| byte == b';')?;
    let (name, option) = description.split_at_checked(at)?;
    let (option, bounds) = option.get(1..)?.split_at_checked(b"range=".len())?;
    if !option.eq_ignore_ascii_case(b"range=") {
        return None;
    }
    let (first, last) = std::str::from_utf8(bounds).ok()?.split_once('-')?;
    let (first, last) = (first.parse().ok()?, if last == "*" { None } else { Some(last.parse().ok()?) });
    Some((name, Range { name: name.into(), first, last }))
}

/// Whether an encoded entry is so long that an attribute could have more values than fit in one answer.
#[inline]
pub(crate) const fn may_need_ranges(body: &[u8]) -> bool {
    body.len() > RANGED_BYTES
}

/// Reduces each attribute of an encoded entry to the requested values, at most as many as fit in one answer.
/// The attribute's name states the range.
pub(crate) fn in_ranges(encoded: &mut Vec<u8>, asked: &[Range]) {
    body::rewrite(encoded, |attributes, out| {
        for attribute in attributes.iter().flatten() {
            write_range(&attribute, asked, out);
        }
    });
}

fn write_range(attribute: &Attribute<'_>, asked: &[Range], out: &mut Vec<u8>) {
    let count = attribute.values.iter().flatten().count();
    let range = asked.iter().find(|range| range.name.eq_ignore_ascii_case(attribute.name));
    if count == 0 || (range.is_none() && count <= RANGE_VALUES) {
        return write_encoded_attribute(out, attribute.name, attribute.values);
    }
    let (first, last) = range.map_or((0, None), |range| (range.first, range.last));
    let end =
        last.map_or(count, |last| last.saturating_add(1)).min(first.saturating_add(RANGE_VALUES)).min(count);
    if first >= end {
        return;
    }
    let until = if end == count { "*".to_owned() } else { (end - 1).to_string() };
    let name = [attribute.name, format!(";range={first}-{until}").as_bytes()].concat();
    write_attribute(out, &name, attribute.values.iter().flatten().skip(first).take(end - first));
}

/// Refuses a write of Active Directory's password attribute. Called for writes without TLS (MS-ADTS section
/// 3.1.1.3.1.5).
pub(crate) fn refuse_in_the_clear<'n>(mut names: impl Iterator<Item = &'n [u8]>) -> Result<(), Refusal> {
    match names.any(auth::is_unicode) {
        true => Err(Refusal::new(
            ResultCode::UNWILLING_TO_PERFORM,
            "unicodePwd is set over TLS alone; use ldaps, or StartTLS",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_read_from_the_last_option_of_an_attribute_description() {
        let (name, range) = without_range(b"member;Range=1500-*").unwrap();
        assert_eq!((name, range.first, range.last), (&b"member"[..], 1500, None));
        assert_eq!(without_range(b"member;range=0-9").unwrap().1.last, Some(9));
        for other in
            [&b"member"[..], b"member;binary", b"member;range=", b"member;range=a-b", b"member;range=1"]
        {
            assert_eq!(without_range(other), None);
        }
    }
}
