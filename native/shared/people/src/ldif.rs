//! LDIF for other directories (RFC 2849), appended to a buffer entry by entry.
//!
//! The output does not begin with `version: 1`: slapadd (2.5) reads this line as an attribute, slapcat does
//! not write it, and common readers do not need it.
//!
//! Lines are not folded: folding is optional (RFC 2849 section 2, note 2), and slapadd, ldapadd and other
//! common readers accept long lines.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::contents::pairs;
use crate::groups::Groups;
use crate::population::{Population, decode};
use crate::spec::{OBJECT_CLASS, Profile};
use crate::{Container, containers::ContainersError};

/// More than the bytes of one person.
const ROOM: usize = 2_048;

/// Appends the entries above the people, beginning with the suffix. See [`crate::containers`].
pub fn write_containers(population: &Population, out: &mut Vec<u8>) -> Result<(), ContainersError> {
    for Container { dn, attributes } in crate::containers(&population.spec().base)? {
        let lines =
            attributes.iter().flat_map(|(name, values)| values.iter().map(|value| (&name[..], &value[..])));
        write_entry(dn.as_bytes(), lines.map(|(name, value)| (name.as_bytes(), value)), out);
    }
    Ok(())
}

/// Appends person `i`.
///
/// ILS clients give the class of an entry in its DN only; a file for other directories has the class as an
/// attribute.
pub fn write_person(population: &Population, i: u64, out: &mut Vec<u8>) {
    let mut buffer = Vec::with_capacity(ROOM);
    population.write_dn(i, &mut buffer);
    let name = buffer.len();
    population.write_attributes(i, &mut buffer);
    let (dn, list) = buffer.split_at(name);
    let classes: &[&[u8]] = match population.spec().profile {
        Profile::Ils => &[b"top", OBJECT_CLASS.as_bytes()],
        _ => &[],
    };
    let classes = classes.iter().map(|class| (&b"objectClass"[..], *class));
    write_entry(dn, classes.chain(pairs(decode(list))), out);
}

pub fn write_group(groups: &Groups, g: u64, out: &mut Vec<u8>) {
    let mut buffer = Vec::with_capacity(ROOM);
    groups.write_dn(g, &mut buffer);
    let name = buffer.len();
    groups.write_attributes(g, &mut buffer);
    let (dn, list) = buffer.split_at(name);
    write_entry(dn, pairs(decode(list)), out);
}

/// Appends an entry and the empty line after it.
fn write_entry<'a>(dn: &[u8], lines: impl Iterator<Item = (&'a [u8], &'a [u8])>, out: &mut Vec<u8>) {
    write_line(b"dn", dn, out);
    lines.for_each(|(name, value)| write_line(name, value, out));
    out.push(b'\n');
}

/// Appends `name: value`, or `name:: base64` if RFC 2849 requires base64.
pub fn write_line(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    if is_safe(value) {
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
    } else {
        out.extend_from_slice(b":: ");
        let start = out.len();
        out.resize(start + value.len().div_ceil(3) * 4, 0);
        // The space is exact: base64 writes four bytes for every three bytes, and for one or two bytes at the
        // end.
        let _ = STANDARD.encode_slice(value, &mut out[start..]);
    }
    out.push(b'\n');
}

/// RFC 2849's SAFE-STRING, and note 8's advice about trailing spaces.
fn is_safe(value: &[u8]) -> bool {
    let safe_start = !matches!(value.first(), Some(b' ' | b':' | b'<'));
    // Every byte is tested, because vector instructions do that faster than a search for the first unsafe
    // byte.
    let safe_byte = |&byte: &u8| byte.is_ascii() & !matches!(byte, 0 | b'\n' | b'\r');
    let safe_bytes = value.iter().fold(true, |safe, byte| safe & safe_byte(byte));
    safe_start && safe_bytes && value.last() != Some(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_ldif_cannot_hold_as_plain_text_are_written_in_base64() {
        for (value, line) in [
            ("Anna Schmidt 42", "cn: Anna Schmidt 42\n"),
            ("a:b < c", "cn: a:b < c\n"),
            ("", "cn: \n"),
            ("Käthe", "cn:: S8OkdGhl\n"),
            (" a", "cn:: IGE=\n"),
            ("a ", "cn:: YSA=\n"),
            (":a", "cn:: OmE=\n"),
            ("<a", "cn:: PGE=\n"),
            ("a\nb", "cn:: YQpi\n"),
            ("\0", "cn:: AA==\n"),
        ] {
            let mut out = Vec::new();
            write_line(b"cn", value.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), line);
        }
    }
}
