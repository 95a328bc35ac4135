//! The cost of preparing values for comparisons, estimated beforehand.
//!
//! A write prepares values under the store's lock: once for the stored entry, and again for each change that
//! searches them. Measured with `benches/ils_messages.py`, in units of some 20 ns.

use wire::dn::Dn;
use wire::ldap::attributes::Values;
use wire::ldap::{Attributes, Change};
use wire::text::is_normalised;

use crate::schema::{Matching, Schema};

/// The cost of a value without its bytes.
const EACH: usize = 24;
/// The cost of a part of a name without its bytes.
const PART: usize = 8;
/// The cost of a byte of text that has to be normalised. A byte of other text is one unit, two bytes of ASCII
/// are one unit.
const ODD: usize = 64;

/// More than the cost per byte of any list. For this bound, a part of a name has at least two bytes, and a
/// value at least two for its tag and length.
pub(super) const MOST_A_BYTE: usize = ODD + EACH;

/// The work for each value of an entry.
pub(super) fn of_entry<'a>(schema: &'a Schema, list: Attributes<'a>) -> impl Iterator<Item = usize> + 'a {
    list.iter().flatten().flat_map(|attribute| of_values(schema, attribute.name, attribute.values))
}

/// The work for each value that a change searches in the entry. Every change searches its values, except a
/// replace, which takes its values unchanged.
pub(super) fn of_changes<'a>(
    schema: &'a Schema,
    changes: &'a [Change<'a>],
) -> impl Iterator<Item = usize> + 'a {
    const REPLACE: u8 = 2;
    let looked_for = changes.iter().filter(|change| change.operation != REPLACE);
    looked_for.flat_map(|change| of_values(schema, change.attribute.name, change.attribute.values))
}

fn of_values<'a>(schema: &Schema, name: &[u8], values: Values<'a>) -> impl Iterator<Item = usize> + use<'a> {
    let matching = schema.resolve(name).map_or(Matching::OctetString, |id| schema.attribute(id).matching());
    let mut decoded = Vec::new();
    values.iter().flatten().map(move |value| of_value(matching, value, &mut decoded))
}

/// The work for one value with this matching rule; `decoded` is a buffer for parts of names.
pub(crate) fn of_value(matching: Matching, value: &[u8], decoded: &mut Vec<u8>) -> usize {
    match matching {
        Matching::DistinguishedName => of_name(value, decoded),
        Matching::OctetString => EACH,
        _ => EACH + of_text(value),
    }
}

fn of_text(value: &[u8]) -> usize {
    match (value.is_ascii(), is_normalised(value)) {
        (true, _) => value.len() / 2,
        (false, true) => value.len(),
        (false, false) => value.len().saturating_mul(ODD),
    }
}

fn of_name(value: &[u8], decoded: &mut Vec<u8>) -> usize {
    let plain = value.is_ascii() && !value.contains(&b'\\') && !value.contains(&b'#');
    if plain {
        return EACH + value.len() / 2 + PART * value.iter().filter(|&&byte| byte == b'=').count();
    }
    let Ok(name) = Dn::parse(value) else { return EACH + of_text(value) };
    let parts = name.rdns().flat_map(|rdn| rdn.pairs());
    EACH + value.len() / 2 + parts.map(|pair| PART + of_text(pair.value.decode(decoded))).sum::<usize>()
}
