//! The attributes of passwords, and the comparison and hashing of passwords.
//!
//! A stored `userPassword` is plaintext, or `{SCHEME}base64(digest salt)` as OpenLDAP and 389-ds write it
//! (RFC 2307 section 5.3).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hashes::{Quick, Slow, is_of, same};
use wire::ldap::Attributes;
use wire::ldap::attributes::Attribute;

use crate::limits::Limits;

/// A password of a client, which logs do not show.
pub(crate) struct Password(pub(crate) Box<[u8]>);

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("(hidden)")
    }
}

/// The attribute of passwords, which only the administrator may read.
pub(crate) const PASSWORD: &[u8] = b"userPassword";
/// RFC 4519 section 2.41.
const PASSWORD_OID: &[u8] = b"2.5.4.35";
/// Active Directory's password attribute. Its value is in quotes, as UTF-16 (MS-ADTS 3.1.1.3.1.5).
const UNICODE: &[u8] = b"unicodePwd";

/// Whether an attribute description names a password attribute.
#[inline]
pub(crate) fn is_password(description: &[u8]) -> bool {
    let is = |name: &[u8]| match description.get(..name.len()) {
        Some(start) => {
            start.eq_ignore_ascii_case(name) && matches!(description.get(name.len()), None | Some(b';'))
        }
        None => false,
    };
    // The first letter excludes most other descriptions.
    matches!(description.first(), Some(b'u' | b'U' | b'2'))
        && (is(PASSWORD) || is(PASSWORD_OID) || is(UNICODE))
}

/// Whether an attribute description names Active Directory's password attribute.
#[inline]
pub(crate) fn is_unicode(description: &[u8]) -> bool {
    description.eq_ignore_ascii_case(UNICODE)
}

/// The stored slow hashes against which `password` has to be checked, within `limits`.
pub(crate) fn slow(attributes: Attributes<'_>, password: &[u8], limits: &Limits) -> Vec<Slow> {
    let mut left_ns = limits.slow_hash_ms.saturating_mul(1_000_000);
    let passwords = attributes.iter().flatten().filter(|attribute| is_password(attribute.name));
    let values = passwords.flat_map(|attribute| attribute.values.iter().flatten());
    let slow = values.filter_map(Slow::parse).filter(|slow| slow.memory_bytes() <= limits.slow_hash_bytes);
    slow.take(limits.slow_hashes)
        .filter(|slow| match left_ns.checked_sub(slow.nanoseconds(password)) {
            Some(left) => {
                left_ns = left;
                true
            }
            None => false,
        })
        .collect()
}

/// Whether the attributes have this stored password.
pub(crate) fn has(attributes: Attributes<'_>, stored: &Slow) -> bool {
    let mut passwords = attributes.iter().flatten().filter(|attribute| is_password(attribute.name));
    passwords.any(|attribute| {
        attribute.values.iter().flatten().any(|value| Slow::parse(value).as_ref() == Some(stored))
    })
}

/// Whether an attribute has `password` as plaintext or as a quick hash.
pub(crate) fn is_in(attribute: Attribute<'_>, password: &[u8]) -> bool {
    let mut stored = attribute.values.iter().flatten();
    if attribute.name.eq_ignore_ascii_case(UNICODE) {
        let quoted = std::str::from_utf8(password).map(|password| format!("\"{password}\""));
        let units = quoted.iter().flat_map(|quoted| quoted.encode_utf16());
        let encoded: Vec<u8> = units.flat_map(u16::to_le_bytes).collect();
        return quoted.is_ok() && stored.any(|stored| same(stored, &encoded));
    }
    stored.any(|stored| is_of(stored, password))
}

pub(crate) fn includes_password(attributes: Attributes<'_>) -> bool {
    attributes.iter().flatten().any(|attribute| is_password(attribute.name))
}

/// The salt of a new hash, in bytes.
const SALT_BYTES: usize = 16;

/// Hashes a new password with a new salt.
pub(crate) fn hash(password: &[u8]) -> Result<Vec<u8>, getrandom::Error> {
    let mut salt = [0; SALT_BYTES];
    getrandom::fill(&mut salt)?;
    let mut value = Vec::new();
    Quick::Sha256.write_value(password, &salt, &mut value);
    Ok(value)
}

/// A random password, for a password modify without a new password (RFC 3062 section 2).
pub(crate) fn generate() -> Result<Vec<u8>, getrandom::Error> {
    let mut bytes = [0; 12];
    getrandom::fill(&mut bytes)?;
    Ok(BASE64.encode(bytes).into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_attribute_is_recognised_under_all_of_its_names() {
        for name in ["userPassword", "USERPASSWORD", "2.5.4.35", "userpassword;lang-de"] {
            assert!(is_password(name.as_bytes()), "{name}");
        }
        for name in ["userPasswordHint", "2.5.4.355", "user", "cn"] {
            assert!(!is_password(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn each_new_hash_accepts_its_password_and_differs_from_earlier_hashes() {
        let (one, two) = (hash(b"secret").unwrap(), hash(b"secret").unwrap());
        assert!(is_of(&one, b"secret") && is_of(&two, b"secret"));
        assert!(!is_of(&one, b"Secret"));
        assert_ne!(one, two);
    }

    #[test]
    fn an_active_directory_password_is_compared_in_active_directorys_encoding() {
        let stored = b"\"\0P\0\xfc\0\"\0";
        let mut encoded = Vec::new();
        wire::ldap::request::write_attribute(&mut encoded, b"UnicodePwd", [&stored[..]]);
        let attribute = Attributes(&encoded).iter().next().unwrap().unwrap();
        assert!(is_in(attribute, "P\u{fc}".as_bytes()));
        for wrong in [&b"P"[..], b"\"P\xc3\xbc\"", b"P\xfc", stored] {
            assert!(!is_in(attribute, wrong), "{wrong:?}");
        }
    }
}
