//! Search filters (RFC 4511 section 4.5.1.7), borrowed from the message.
//!
//! A [`Filter`] is validated when it is decoded: its depth and all lengths. Reading a filter
//! allocates nothing.

use super::error::{DecodeError, MAX_FILTER_DEPTH};
use crate::ber::{self, BerError, Reader, Tlv, tag};

pub(super) const AND: u8 = tag::context_constructed(0);
pub(super) const OR: u8 = tag::context_constructed(1);
pub(super) const NOT: u8 = tag::context_constructed(2);
const EQUALITY: u8 = tag::context_constructed(3);
const SUBSTRINGS: u8 = tag::context_constructed(4);
const GREATER_OR_EQUAL: u8 = tag::context_constructed(5);
const LESS_OR_EQUAL: u8 = tag::context_constructed(6);
const PRESENT: u8 = tag::context(7);
const APPROX: u8 = tag::context_constructed(8);
const EXTENSIBLE: u8 = tag::context_constructed(9);

/// A validated filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter<'a>(Tlv<'a>);

/// The kind of a filter, and the filter's direct operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind<'a> {
    /// True if all operands are true; true when empty (RFC 4526).
    And(Filters<'a>),
    /// True if any operand is true; false when empty (RFC 4526).
    Or(Filters<'a>),
    Not(Filter<'a>),
    /// `(attribute=value)`
    Equality(Assertion<'a>),
    /// `(attribute=initial*any*final)`
    Substrings(&'a [u8], Pieces<'a>),
    /// `(attribute>=value)`
    GreaterOrEqual(Assertion<'a>),
    /// `(attribute<=value)`
    LessOrEqual(Assertion<'a>),
    /// `(attribute=*)`
    Present(&'a [u8]),
    /// `(attribute~=value)`
    Approx(Assertion<'a>),
    /// `(attribute:dn:rule:=value)`
    Extensible(Extensible<'a>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assertion<'a> {
    pub attribute: &'a [u8],
    pub value: &'a [u8],
}

/// RFC 4511 section 4.5.1.7.7.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extensible<'a> {
    /// The matching rule, by name or identifier.
    pub rule: Option<&'a [u8]>,
    /// The matched attribute. If absent, all attributes to which the rule applies are matched.
    pub attribute: Option<&'a [u8]>,
    pub value: &'a [u8],
    /// Whether the attributes of the DN are matched, too.
    pub dn_attributes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The start of the value.
    Initial(&'a [u8]),
    /// A part of the value after the previous piece.
    Any(&'a [u8]),
    Final(&'a [u8]),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filters<'a>(&'a [u8]);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pieces<'a>(&'a [u8]);

impl<'a> Filters<'a> {
    pub fn iter(self) -> impl Iterator<Item = Filter<'a>> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || reader.element().ok().map(Filter))
    }
}

impl<'a> Pieces<'a> {
    pub fn iter(self) -> impl Iterator<Item = Piece<'a>> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || reader.element().ok().and_then(piece))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The number of levels, which is one for a single comparison.
    pub depth: usize,
    /// The number of comparisons and of And, Or and Not operators. A substring assertion adds one more for
    /// each of its pieces.
    pub terms: usize,
}

impl<'a> Filter<'a> {
    /// Reads and validates a filter.
    #[inline]
    pub fn decode(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        let element = reader.element()?;
        check(element, 1)?;
        Ok(Self(element))
    }

    #[inline]
    pub fn kind(self) -> Kind<'a> {
        // `decode` has validated the filter, so this cannot fail. The fallback matches nothing, which is
        // harmless.
        kind(self.0).unwrap_or(Kind::Or(Filters(&[])))
    }

    pub fn size(self) -> Size {
        let inner = match self.kind() {
            Kind::And(filters) | Kind::Or(filters) => filters,
            Kind::Not(_) => Filters(self.0.value),
            Kind::Substrings(_, pieces) => return Size { depth: 1, terms: 1 + pieces.iter().count() },
            // The value may be a substring assertion, written as a string (RFC 4517 section 3.3.30).
            Kind::Extensible(extensible) => {
                let pieces = extensible.value.iter().filter(|byte| **byte == b'*').count();
                return Size { depth: 1, terms: 1 + pieces };
            }
            _ => return Size { depth: 1, terms: 1 },
        };
        inner.iter().map(Self::size).fold(Size { depth: 1, terms: 1 }, |sum, one| Size {
            depth: sum.depth.max(1 + one.depth),
            terms: sum.terms + one.terms,
        })
    }

    /// Calls `visit` with the attribute and the matching rule of each term that is no And, Or or Not.
    pub fn for_each_item(self, visit: &mut impl FnMut(Option<&'a [u8]>, Option<&'a [u8]>)) {
        match self.kind() {
            Kind::And(filters) | Kind::Or(filters) => {
                filters.iter().for_each(|filter| filter.for_each_item(visit))
            }
            Kind::Not(filter) => filter.for_each_item(visit),
            Kind::Present(name) | Kind::Substrings(name, _) => visit(Some(name), None),
            Kind::Equality(assertion)
            | Kind::GreaterOrEqual(assertion)
            | Kind::LessOrEqual(assertion)
            | Kind::Approx(assertion) => visit(Some(assertion.attribute), None),
            Kind::Extensible(extensible) => visit(extensible.attribute, extensible.rule),
        }
    }

    /// The filter's tag and content, for callers that store or hash the filter.
    pub const fn element(self) -> Tlv<'a> {
        self.0
    }
}

#[inline]
fn check(element: Tlv<'_>, depth: usize) -> Result<(), DecodeError> {
    if depth > MAX_FILTER_DEPTH {
        return Err(DecodeError::FilterTooDeep);
    }
    match element.tag {
        AND | OR => {
            let mut reader = Reader::new(element.value);
            while !reader.is_empty() {
                check(reader.element()?, depth + 1)?;
            }
            Ok(())
        }
        NOT => {
            let mut reader = Reader::new(element.value);
            check(reader.element()?, depth + 1)?;
            Ok(reader.finish()?)
        }
        SUBSTRINGS => check_substrings(element.value),
        _ => kind(element).map(drop),
    }
}

#[inline]
fn kind(element: Tlv<'_>) -> Result<Kind<'_>, DecodeError> {
    let content = element.value;
    Ok(match element.tag {
        AND => Kind::And(Filters(content)),
        OR => Kind::Or(Filters(content)),
        NOT => Kind::Not(Filter(Reader::new(content).element()?)),
        EQUALITY => Kind::Equality(assertion(content)?),
        SUBSTRINGS => {
            let mut fields = Reader::new(content);
            Kind::Substrings(fields.octets()?, Pieces(fields.expect(tag::SEQUENCE)?))
        }
        GREATER_OR_EQUAL => Kind::GreaterOrEqual(assertion(content)?),
        LESS_OR_EQUAL => Kind::LessOrEqual(assertion(content)?),
        PRESENT => Kind::Present(content),
        APPROX => Kind::Approx(assertion(content)?),
        EXTENSIBLE => Kind::Extensible(extensible(content)?),
        other => return Err(DecodeError::UnknownFilter(other)),
    })
}

#[inline]
fn assertion(content: &[u8]) -> Result<Assertion<'_>, BerError> {
    let mut fields = Reader::new(content);
    let assertion = Assertion { attribute: fields.octets()?, value: fields.octets()? };
    fields.finish()?;
    Ok(assertion)
}

fn extensible(content: &[u8]) -> Result<Extensible<'_>, BerError> {
    let mut fields = Reader::new(content);
    let rule = fields.optional(tag::context(1))?;
    let attribute = fields.optional(tag::context(2))?;
    let value = fields.expect(tag::context(3))?;
    let dn_attributes = match fields.optional(tag::context(4))? {
        Some(content) => ber::boolean(content)?,
        None => false,
    };
    fields.finish()?;
    Ok(Extensible { rule, attribute, value, dn_attributes })
}

/// The pieces of a substring assertion: its non-empty parts between wildcards. `parts` includes the empty parts.
pub fn pieces<'p>(parts: impl Iterator<Item = &'p [u8]> + Clone) -> impl Iterator<Item = Piece<'p>> {
    let count = parts.clone().count();
    parts.enumerate().filter(|(_, part)| !part.is_empty()).map(move |(at, part)| match at {
        0 => Piece::Initial(part),
        at if at + 1 == count => Piece::Final(part),
        _ => Piece::Any(part),
    })
}

fn piece(element: Tlv<'_>) -> Option<Piece<'_>> {
    match element.tag {
        0x80 => Some(Piece::Initial(element.value)),
        0x81 => Some(Piece::Any(element.value)),
        0x82 => Some(Piece::Final(element.value)),
        _ => None,
    }
}

/// RFC 4511 section 4.5.1.7.2: there is at least one piece; `initial` is the first piece, and `final` is the
/// last piece. RFC 4517 section 3.3.30: no piece is empty.
fn check_substrings(content: &[u8]) -> Result<(), DecodeError> {
    let mut fields = Reader::new(content);
    fields.octets()?;
    let mut pieces = fields.sequence()?;
    fields.finish()?;
    let mut first = true;
    while !pieces.is_empty() {
        let element = pieces.element()?;
        if element.value.is_empty() {
            return Err(DecodeError::BadSubstrings);
        }
        match piece(element) {
            Some(Piece::Initial(_)) if first => {}
            Some(Piece::Any(_)) => {}
            Some(Piece::Final(_)) if pieces.is_empty() => {}
            _ => return Err(DecodeError::BadSubstrings),
        }
        first = false;
    }
    if first { Err(DecodeError::BadSubstrings) } else { Ok(()) }
}

/// Appends `(attribute=value)`.
#[inline]
pub fn write_equality(out: &mut Vec<u8>, attribute: &[u8], value: &[u8]) {
    write_assertion(out, EQUALITY, attribute, value);
}

/// Appends `(attribute>=value)`.
pub fn write_greater_or_equal(out: &mut Vec<u8>, attribute: &[u8], value: &[u8]) {
    write_assertion(out, GREATER_OR_EQUAL, attribute, value);
}

/// Appends `(attribute<=value)`.
pub fn write_less_or_equal(out: &mut Vec<u8>, attribute: &[u8], value: &[u8]) {
    write_assertion(out, LESS_OR_EQUAL, attribute, value);
}

/// Appends `(attribute~=value)`.
pub fn write_approx(out: &mut Vec<u8>, attribute: &[u8], value: &[u8]) {
    write_assertion(out, APPROX, attribute, value);
}

#[inline]
fn write_assertion(out: &mut Vec<u8>, tag: u8, attribute: &[u8], value: &[u8]) {
    ber::write_header(out, tag, ber::element_size(attribute.len()) + ber::element_size(value.len()));
    ber::write_octets(out, attribute);
    ber::write_octets(out, value);
}

/// Appends `(attribute=*)`.
pub fn write_present(out: &mut Vec<u8>, attribute: &[u8]) {
    ber::write_element(out, PRESENT, attribute);
}

/// Appends an And of the filters that `fill` appends.
pub fn write_and(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    ber::write_nested(out, AND, fill);
}

/// Appends an Or of the filters that `fill` appends.
pub fn write_or(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    ber::write_nested(out, OR, fill);
}

/// Appends a Not of the filter that `fill` appends.
pub fn write_not(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    ber::write_nested(out, NOT, fill);
}

/// Appends `(attribute=initial*any*final)`.
pub fn write_substrings<'p>(
    out: &mut Vec<u8>,
    attribute: &[u8],
    pieces: impl IntoIterator<Item = Piece<'p>>,
) {
    ber::write_nested(out, SUBSTRINGS, |out| {
        ber::write_octets(out, attribute);
        ber::write_nested(out, tag::SEQUENCE, |out| {
            for piece in pieces {
                match piece {
                    Piece::Initial(text) => ber::write_element(out, tag::context(0), text),
                    Piece::Any(text) => ber::write_element(out, tag::context(1), text),
                    Piece::Final(text) => ber::write_element(out, tag::context(2), text),
                }
            }
        });
    });
}

/// Appends an extensible match.
pub fn write_extensible(out: &mut Vec<u8>, filter: &Extensible<'_>) {
    ber::write_nested(out, EXTENSIBLE, |out| {
        if let Some(rule) = filter.rule {
            ber::write_element(out, tag::context(1), rule);
        }
        if let Some(attribute) = filter.attribute {
            ber::write_element(out, tag::context(2), attribute);
        }
        ber::write_element(out, tag::context(3), filter.value);
        if filter.dn_attributes {
            ber::write_element(out, tag::context(4), &[0xff]);
        }
    });
}
