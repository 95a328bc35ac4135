//! An entry's attributes during a change.

use std::borrow::Cow;
use std::collections::HashMap;

use wire::ldap::attributes::Values;
use wire::ldap::{Attributes, ResultCode, request::write_attribute};

use super::Refusal;
use crate::matching::number;
use crate::schema::{AttributeId, Matching, Schema, base};

/// The attributes in their order. Values are decoded only when they are changed.
#[derive(Debug, Default)]
pub(super) struct Draft<'a> {
    attributes: Vec<DraftAttribute<'a>>,
}

#[derive(Debug)]
struct DraftAttribute<'a> {
    id: AttributeId,
    /// The canonical spelling.
    name: Cow<'a, [u8]>,
    /// In order; `None` for a deleted value.
    values: Vec<Option<Cow<'a, [u8]>>>,
    count: usize,
    /// The index of each value by its [`key`]; built at the first search in a long list.
    places: Option<HashMap<Vec<u8>, usize>>,
}

/// Longer lists of values are indexed once instead of searched for every value.
const SHORT: usize = 16;

impl<'a> DraftAttribute<'a> {
    fn new(id: AttributeId, name: Cow<'a, [u8]>) -> Self {
        Self { id, name, values: Vec::new(), count: 0, places: None }
    }

    fn values(&self) -> impl Iterator<Item = &[u8]> {
        self.values.iter().flatten().map(Cow::as_ref)
    }

    fn set(&mut self, values: Values<'a>) {
        self.values = values.iter().flatten().map(|value| Some(Cow::Borrowed(value))).collect();
        self.count = self.values.len();
        self.places = None;
    }

    /// The index of a value in any equivalent spelling.
    fn position(&mut self, schema: &Schema, value: &[u8]) -> Option<usize> {
        let matching = schema.attribute(self.id).matching();
        if self.values.len() > SHORT {
            let Self { values, places, .. } = self;
            let places = places.get_or_insert_with(|| {
                let there = values.iter().enumerate().filter_map(|(at, known)| Some((at, known.as_ref()?)));
                there.map(|(at, known)| (key(schema, matching, known), at)).collect()
            });
            return places.get(&key(schema, matching, value)).copied();
        }
        let mut normal = Vec::new();
        let is_normal = matching.normalise(schema, value, &mut normal);
        let mut buffer = Vec::new();
        self.values.iter().position(|known| match known {
            Some(known) if is_normal => matching.matches(schema, known, value, &normal, &mut buffer),
            Some(known) => **known == *value,
            None => false,
        })
    }

    fn push(&mut self, schema: &Schema, value: Cow<'a, [u8]>) {
        if let Some(places) = &mut self.places {
            places.insert(key(schema, schema.attribute(self.id).matching(), &value), self.values.len());
        }
        self.values.push(Some(value));
        self.count += 1;
    }

    /// Deletes a value; false if absent.
    fn remove(&mut self, schema: &Schema, value: &[u8]) -> bool {
        let Some(at) = self.position(schema, value) else { return false };
        if let Some(places) = &mut self.places {
            places.remove(&key(schema, schema.attribute(self.id).matching(), value));
        }
        let found = self.values.get_mut(at).and_then(Option::take).is_some();
        self.count -= usize::from(found);
        found
    }
}

/// The key that equal values share: the normal form or, if a value has no normal form, the value itself.
fn key(schema: &Schema, matching: Matching, value: &[u8]) -> Vec<u8> {
    let mut key = vec![1];
    if !matching.normalise(schema, value, &mut key) {
        key.clear();
        key.push(0);
        key.extend_from_slice(value);
    }
    key
}

impl<'a> Draft<'a> {
    pub(super) fn value_count(&self) -> usize {
        self.attributes.iter().map(|attribute| attribute.count).sum()
    }

    /// Reads a list. Names become canonical; a description without a known type is refused.
    pub(super) fn new(schema: &Schema, list: Attributes<'a>) -> Result<Self, Refusal> {
        let mut draft = Self::default();
        for attribute in list.iter().flatten() {
            let (id, name) = canonical(schema, attribute.name)?;
            let mut taken = DraftAttribute::new(id, name);
            taken.set(attribute.values);
            draft.attributes.push(taken);
        }
        Ok(draft)
    }

    /// Removes an attribute, with or without options; returns its first value.
    pub(super) fn take(&mut self, id: AttributeId) -> Option<Cow<'a, [u8]>> {
        let at = self.attributes.iter().position(|attribute| attribute.id == id)?;
        self.attributes.remove(at).values.into_iter().flatten().next()
    }

    pub(super) fn types(&self) -> impl Iterator<Item = AttributeId> {
        self.attributes.iter().map(|attribute| attribute.id)
    }

    /// The values of an attribute without options.
    pub(super) fn values(&self, id: AttributeId) -> impl Iterator<Item = &[u8]> {
        let found =
            self.attributes.iter().find(|attribute| attribute.id == id && !attribute.name.contains(&b';'));
        found.into_iter().flat_map(DraftAttribute::values)
    }

    /// Adds a value unless present.
    pub(super) fn ensure(&mut self, schema: &Schema, name: &[u8], value: &[u8]) -> Result<(), Refusal> {
        let (id, name) = canonical(schema, name)?;
        let attribute = self.attribute(id, &name);
        if attribute.position(schema, value).is_none() {
            attribute.push(schema, Cow::Owned(value.to_vec()));
        }
        Ok(())
    }

    /// RFC 4511 section 4.6, add: a value that is present already is refused.
    pub(super) fn add(&mut self, schema: &Schema, name: &[u8], values: Values<'a>) -> Result<(), Refusal> {
        let (id, name) = canonical(schema, name)?;
        let attribute = self.attribute(id, &name);
        for (at, value) in values.iter().flatten().enumerate() {
            if attribute.position(schema, value).is_some() {
                let problem = format_args!("value #{at} is there already");
                return Err(Refusal::of_attribute(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS, &name, problem));
            }
            attribute.push(schema, Cow::Borrowed(value));
        }
        Ok(())
    }

    /// RFC 4511 section 4.6, delete: the listed values, or all values if none is listed.
    pub(super) fn delete(&mut self, schema: &Schema, name: &[u8], values: Values<'_>) -> Result<(), Refusal> {
        let (_, name) = canonical(schema, name)?;
        let missing = |problem| Refusal::of_attribute(ResultCode::NO_SUCH_ATTRIBUTE, &name, problem);
        let at = self.attributes.iter().position(|attribute| attribute.name == name);
        let at = at.ok_or_else(|| missing("no such attribute"))?;
        if values.0.is_empty() {
            self.attributes.remove(at);
            return Ok(());
        }
        let kept = &mut self.attributes[at];
        for value in values.iter().flatten() {
            if !kept.remove(schema, value) {
                return Err(missing("no such value"));
            }
        }
        if kept.count == 0 {
            self.attributes.remove(at);
        }
        Ok(())
    }

    /// Deletes a value if present.
    pub(super) fn discard(&mut self, schema: &Schema, name: &[u8], value: &[u8]) -> Result<(), Refusal> {
        let (_, name) = canonical(schema, name)?;
        for attribute in self.attributes.iter_mut().filter(|attribute| attribute.name == name) {
            attribute.remove(schema, value);
        }
        self.attributes.retain(|attribute| attribute.count > 0);
        Ok(())
    }

    /// RFC 4511 section 4.6, replace: an empty list deletes the attribute, and an absent attribute is no
    /// error.
    pub(super) fn replace(
        &mut self,
        schema: &Schema,
        name: &[u8],
        values: Values<'a>,
    ) -> Result<(), Refusal> {
        let (id, name) = canonical(schema, name)?;
        if values.0.is_empty() {
            self.attributes.retain(|attribute| attribute.name != name);
            return Ok(());
        }
        self.attribute(id, &name).set(values);
        Ok(())
    }

    /// RFC 4525: adds a number to every value; returns the number of values.
    pub(super) fn increment(
        &mut self,
        schema: &Schema,
        name: &[u8],
        by: Values<'_>,
    ) -> Result<usize, Refusal> {
        let (id, name) = canonical(schema, name)?;
        let refuse = |code, problem| Refusal::of_attribute(code, &name, problem);
        let mut amounts = by.iter().flatten();
        let (Some(amount), None) = (amounts.next().and_then(number), amounts.next()) else {
            return Err(refuse(ResultCode::PROTOCOL_ERROR, "an increment takes one whole number"));
        };
        let attribute = self.attributes.iter_mut().find(|attribute| attribute.name == name);
        let attribute =
            attribute.ok_or_else(|| refuse(ResultCode::NO_SUCH_ATTRIBUTE, "no such attribute"))?;
        let kind = schema.attribute(id);
        if kind.declared && !matches!(kind.matching(), Matching::Integer | Matching::NumericString) {
            return Err(refuse(ResultCode::CONSTRAINT_VIOLATION, "its values are no numbers"));
        }
        attribute.places = None;
        for value in attribute.values.iter_mut().flatten() {
            let sum = number(value).and_then(|number| number.checked_add(amount)).ok_or_else(|| {
                refuse(ResultCode::CONSTRAINT_VIOLATION, "a value is no number, or would grow out of bounds")
            })?;
            *value = Cow::Owned(sum.to_string().into_bytes());
        }
        Ok(attribute.count)
    }

    /// Appends the attributes as a list.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for attribute in &self.attributes {
            write_attribute(out, &attribute.name, attribute.values());
        }
    }

    fn attribute(&mut self, id: AttributeId, name: &[u8]) -> &mut DraftAttribute<'a> {
        let at = self.attributes.iter().position(|attribute| attribute.name == name).unwrap_or_else(|| {
            self.attributes.push(DraftAttribute::new(id, Cow::Owned(name.to_vec())));
            self.attributes.len() - 1
        });
        &mut self.attributes[at]
    }
}

/// The type of a description, and its canonical spelling: the canonical name, then the sorted options
/// in lower case (RFC 4512 section 2.5.2: the order of options has no meaning).
pub(super) fn canonical<'d>(
    schema: &Schema,
    description: &'d [u8],
) -> Result<(AttributeId, Cow<'d, [u8]>), Refusal> {
    let Some(id) = schema.resolve(description) else {
        let problem = "no attribute description, or too many options or undeclared types";
        return Err(Refusal::of_attribute(ResultCode::UNDEFINED_ATTRIBUTE_TYPE, description, problem));
    };
    if super::inspect::is_canonical(schema, id, description) {
        return Ok((id, Cow::Borrowed(description)));
    }
    let mut name = schema.canonical_name(id).as_bytes().to_vec();
    let options = description[base(description).len()..].to_ascii_lowercase();
    let mut options: Vec<&[u8]> = options.split(|&byte| byte == b';').filter(|one| !one.is_empty()).collect();
    options.sort_unstable();
    options.dedup();
    for option in options {
        name.push(b';');
        name.extend_from_slice(option);
    }
    Ok((id, Cow::Owned(name)))
}
