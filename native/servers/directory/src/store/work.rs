//! What writing an entry costs under the store's lock, known before it is begun.
//!
//! Values are prepared to be compared: once for the entry that is stored, and again for each change that looks
//! for them. Measured with `benches/ils_messages.py`, in units of some 20 ns.

use wire::dn::Dn;
use wire::ldap::attributes::Values;
use wire::ldap::{Attributes, Change};
use wire::text::is_normalised;

use crate::schema::{Matching, Schema};

/// A value, whatever it is.
const EACH: usize = 24;
/// A part of a name, besides its bytes.
const PART: usize = 8;
/// A byte of text that has to be normalised; two bytes of any other are a unit.
const ODD: usize = 64;

/// More than a byte of a list can cost: a part of a name has two, a value has two for its tag and length.
pub(super) const MOST_A_BYTE: usize = ODD + EACH;

/// The work for the values of an entry.
pub(super) fn of_entry(schema: &Schema, list: Attributes<'_>) -> usize {
    list.iter().flatten().map(|attribute| of_values(schema, attribute.name, attribute.values)).sum()
}

/// The work for changes that look for each of their values: all but replace, which takes them as they are.
pub(super) fn of_changes(schema: &Schema, changes: &[Change<'_>]) -> usize {
    const REPLACE: u8 = 2;
    let looked_for = changes.iter().filter(|change| change.operation != REPLACE);
    looked_for.map(|change| of_values(schema, change.attribute.name, change.attribute.values)).sum()
}

fn of_values(schema: &Schema, name: &[u8], values: Values<'_>) -> usize {
    let rule = schema.resolve(name).and_then(|id| schema.attribute(id).equality);
    let matching = rule.map_or(Matching::OctetString, |rule| rule.matching);
    let mut decoded = Vec::new();
    values.iter().flatten().map(|value| of_value(matching, value, &mut decoded)).sum()
}

/// The work for one value that is compared so; `decoded` is room for parts of names.
pub(super) fn of_value(matching: Matching, value: &[u8], decoded: &mut Vec<u8>) -> usize {
    match matching {
        Matching::DistinguishedName => of_name(value, decoded),
        Matching::OctetString => EACH,
        _ => EACH + of_text(value),
    }
}

fn of_text(value: &[u8]) -> usize {
    if is_normalised(value) { value.len() / 2 } else { value.len().saturating_mul(ODD) }
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
