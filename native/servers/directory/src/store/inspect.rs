//! Checks an entry's attributes before they are stored, and collects their index keys.

use wire::ber::{self, BerError};
use wire::ldap::attributes::{Attribute, Values};
use wire::ldap::{Attributes, ResultCode};

use super::{Refusal, trim};
use crate::index::{Indexes, Key, OBJECT_CLASS, Part};
use crate::schema::{AttributeId, AttributeType, Matching, Schema, base};

/// The result of an inspection. Only lists that are stored unchanged have index keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inspection {
    /// The list can be stored unchanged.
    Canonical {
        /// Whether dynamicObject is among the classes.
        dynamic: bool,
    },
    /// The list is not in canonical form, or has attributes that are not stored.
    ToRewrite,
}

/// Inspects attribute lists. Caches the order of types and the classes of the last list, as the next list is
/// usually similar.
#[derive(Debug, Default)]
pub(super) struct Inspector {
    /// The index keys of the list last inspected.
    pub(super) keys: Vec<Key>,
    /// For each type, the type that followed in the last list; at index `first`, the first type of that list.
    successors: Vec<u16>,
    first: usize,
    /// A bit for each type seen in this list.
    seen: Vec<u64>,
    buffer: Vec<u8>,
    other: Vec<u8>,
    classes: Classes,
}

/// The classes of the list last inspected.
#[derive(Debug, Default)]
struct Classes {
    encoded: Vec<u8>,
    size: usize,
    keys: Vec<Key>,
    dynamic: bool,
}

impl Inspector {
    /// Checks a list of a client, or a rewritten list.
    pub(super) fn inspect(
        &mut self,
        schema: &Schema,
        indexes: &Indexes,
        list: Attributes<'_>,
    ) -> Result<Inspection, Refusal> {
        self.start(schema);
        let mut minimal = 0;
        let mut previous = self.first;
        let mut dynamic = None;
        for attribute in list.iter() {
            let attribute = attribute.map_err(malformed)?;
            let Some(id) = self.resolve(schema, previous, attribute.name) else {
                return Ok(Inspection::ToRewrite);
            };
            previous = usize::from(id.0);
            if schema.attribute(id).computed {
                return Ok(Inspection::ToRewrite);
            }
            self.check_unique(id, attribute.name, list)?;
            let values = if indexes.of_values(id) == Some(OBJECT_CLASS) {
                let size = self.check_classes(schema, id, attribute)?;
                dynamic = Some(self.add_classes(schema, indexes, attribute.values));
                size
            } else {
                self.add_keys(schema, indexes, id, attribute.values);
                self.check_values(schema, id, attribute)?
            };
            let inner = ber::element_size(attribute.name.len()) + ber::element_size(values);
            minimal += ber::element_size(inner);
        }
        match dynamic {
            None => Err(Refusal::new(ResultCode::OBJECT_CLASS_VIOLATION, "the entry has no objectClass")),
            Some(_) if minimal != list.0.len() => Ok(Inspection::ToRewrite),
            Some(dynamic) => Ok(Inspection::Canonical { dynamic }),
        }
    }

    /// Collects the keys of a list that was inspected before.
    pub(super) fn keys_of(&mut self, schema: &Schema, indexes: &Indexes, list: Attributes<'_>) {
        self.start(schema);
        let mut previous = self.first;
        for attribute in list.iter().flatten() {
            let Some(id) = self.resolve(schema, previous, attribute.name) else {
                continue;
            };
            previous = usize::from(id.0);
            if indexes.of_values(id) == Some(OBJECT_CLASS) {
                self.add_classes(schema, indexes, attribute.values);
            } else {
                self.add_keys(schema, indexes, id, attribute.values);
            }
        }
    }

    /// Frees memory that few entries need.
    pub(super) fn trim(&mut self) {
        trim(&mut self.keys);
        trim(&mut self.buffer);
        trim(&mut self.other);
        trim(&mut self.classes.encoded);
        trim(&mut self.classes.keys);
    }

    fn start(&mut self, schema: &Schema) {
        self.keys.clear();
        let types = schema.len();
        self.first = types;
        self.successors.resize(types + 1, 0);
        self.seen.clear();
        self.seen.resize(types.div_ceil(64), 0);
    }

    /// The type of a canonically spelled description. People's attributes nearly always come in the same
    /// order, so the successor in the last list is tried first.
    #[inline]
    fn resolve(&mut self, schema: &Schema, previous: usize, name: &[u8]) -> Option<AttributeId> {
        let successor = self.successors.get_mut(previous)?;
        let guess = AttributeId(*successor);
        if schema.canonical_name(guess).as_bytes() == name {
            return Some(guess);
        }
        let id = schema.resolve(name)?;
        *successor = id.0;
        is_canonical(schema, id, name).then_some(id)
    }

    /// Refuses a second occurrence of an attribute (RFC 4511 section 4.1.7).
    #[inline]
    fn check_unique(&mut self, id: AttributeId, name: &[u8], list: Attributes<'_>) -> Result<(), Refusal> {
        let (word, bit) = (usize::from(id.0) / 64, 1 << (id.0 % 64));
        let Some(seen) = self.seen.get_mut(word) else {
            return Ok(());
        };
        let again = *seen & bit != 0;
        *seen |= bit;
        if again && list.iter().flatten().filter(|attribute| attribute.name == name).count() > 1 {
            let name = String::from_utf8_lossy(name);
            return Err(Refusal::new(
                ResultCode::ATTRIBUTE_OR_VALUE_EXISTS,
                format!("attribute {name} is there more than once"),
            ));
        }
        Ok(())
    }

    /// Checks the classes by [`Self::check_values`], unless they equal the classes of the previous list.
    fn check_classes(
        &mut self,
        schema: &Schema,
        id: AttributeId,
        attribute: Attribute<'_>,
    ) -> Result<usize, Refusal> {
        // An empty set equals the initial state, in which nothing has been checked.
        if attribute.values.0.is_empty() || self.classes.encoded != attribute.values.0 {
            self.classes.encoded.clear();
            return self.check_values(schema, id, attribute);
        }
        Ok(self.classes.size)
    }

    /// Checks values and returns their encoded size with minimal headers.
    fn check_values(
        &mut self,
        schema: &Schema,
        id: AttributeId,
        attribute: Attribute<'_>,
    ) -> Result<usize, Refusal> {
        let kind = schema.attribute(id);
        let (mut count, mut size) = (0, 0);
        for value in attribute.values.iter() {
            let value = value.map_err(malformed)?;
            if !kind.syntax.accepts(schema, value, &mut self.buffer) {
                return Err(refuse_value(ResultCode::INVALID_ATTRIBUTE_SYNTAX, kind.name(), count));
            }
            count += 1;
            size += ber::element_size(value.len());
        }
        match count {
            0 => Err(Refusal::new(
                ResultCode::PROTOCOL_ERROR,
                format!("attribute {} has no values", kind.name()),
            )),
            1 => Ok(size),
            2 if !kind.single_valued && self.differ(schema, kind, attribute.values) => Ok(size),
            _ if kind.single_valued => Err(Refusal::new(
                ResultCode::CONSTRAINT_VIOLATION,
                format!("attribute {} has one value at most", kind.name()),
            )),
            _ => match duplicate(schema, kind.matching(), attribute.values) {
                Some(at) => Err(refuse_value(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS, kind.name(), at)),
                None => Ok(size),
            },
        }
    }

    /// Whether the first two values differ. Most attributes with several values have two, such as two
    /// protocols or two ports.
    fn differ(&mut self, schema: &Schema, kind: &AttributeType, values: Values<'_>) -> bool {
        let mut values = values.iter().flatten();
        let (Some(first), Some(second)) = (values.next(), values.next()) else {
            return true;
        };
        let matching = kind.matching();
        self.buffer.clear();
        if !matching.normalise(schema, first, &mut self.buffer) {
            return first != second;
        }
        !matching.matches(schema, second, first, &self.buffer, &mut self.other)
    }

    #[inline]
    fn add_keys(&mut self, schema: &Schema, indexes: &Indexes, id: AttributeId, values: Values<'_>) {
        let Some(index) = indexes.of_values(id).filter(|&index| indexes.keeps(Part::Equality(index))) else {
            return;
        };
        let matching = indexes.matching(index);
        for value in values.iter().flatten() {
            self.buffer.clear();
            if matching.normalise(schema, value, &mut self.buffer) {
                self.keys.push(Key { index, hash: indexes.hash(&self.buffer) });
            }
        }
    }

    /// Adds the index keys of an entry's classes and their superclasses (RFC 4512 section 2.4.2). Returns
    /// whether dynamicObject is among them.
    fn add_classes(&mut self, schema: &Schema, indexes: &Indexes, values: Values<'_>) -> bool {
        let Classes { encoded, size, keys, dynamic } = &mut self.classes;
        if encoded.as_slice() != values.0 {
            encoded.clear();
            encoded.extend_from_slice(values.0);
            *size = values.iter().flatten().map(|value| ber::element_size(value.len())).sum();
            keys.clear();
            *dynamic = false;
            for value in values.iter().flatten() {
                let chain = schema.class_chain(value);
                *dynamic |= chain.iter().any(|class| class.name() == "dynamicObject");
                let names = chain.iter().map(|class| class.name().as_bytes());
                for name in names.chain(chain.is_empty().then_some(value)) {
                    self.buffer.clear();
                    Matching::ObjectIdentifier.normalise(schema, name, &mut self.buffer);
                    let key = Key { index: OBJECT_CLASS, hash: indexes.hash(&self.buffer) };
                    if !keys.contains(&key) {
                        keys.push(key);
                    }
                }
            }
        }
        if indexes.keeps(Part::Equality(OBJECT_CLASS)) {
            self.keys.extend_from_slice(keys);
        }
        *dynamic
    }
}

/// Whether a description is the canonical name with sorted options in lower case.
pub(super) fn is_canonical(schema: &Schema, id: AttributeId, description: &[u8]) -> bool {
    let name = base(description);
    if name != schema.canonical_name(id).as_bytes() {
        return false;
    }
    let options = &description[name.len()..];
    !options.iter().any(u8::is_ascii_uppercase)
        && options.split(|&byte| byte == b';').skip(1).is_sorted_by(|a, b| !a.is_empty() && a < b)
        && !options.ends_with(b";")
}

/// The index of a value that equals another value.
fn duplicate(schema: &Schema, matching: Matching, values: Values<'_>) -> Option<usize> {
    let form = |value: &[u8]| {
        let mut normal = Vec::new();
        matching.normalise(schema, value, &mut normal);
        normal
    };
    let mut forms: Vec<(Vec<u8>, usize)> =
        values.iter().flatten().enumerate().map(|(at, value)| (form(value), at)).collect();
    forms.sort_unstable();
    forms.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1)
}

fn refuse_value(code: ResultCode, name: &str, at: usize) -> Refusal {
    let what = match code {
        ResultCode::INVALID_ATTRIBUTE_SYNTAX => "breaks the attribute's syntax",
        _ => "is there more than once",
    };
    Refusal::of_attribute(code, name.as_bytes(), format_args!("value #{at} {what}"))
}

fn malformed(error: BerError) -> Refusal {
    Refusal::new(ResultCode::PROTOCOL_ERROR, error.to_string())
}
