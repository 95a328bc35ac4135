//! Decoding of requests.

use super::attributes::{Attribute, Attributes, read_attribute};
use super::control::{CONTROLS, Controls};
use super::error::DecodeError;
use super::filter::Filter;
use super::op;
use crate::ber::{Reader, tag};

#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The message id, which every answer repeats.
    pub id: i32,
    pub operation: Operation<'a>,
    pub controls: Controls<'a>,
}

#[derive(Debug, Clone, Copy)]
pub enum Operation<'a> {
    Bind(BindRequest<'a>),
    Unbind,
    Search(SearchRequest<'a>),
    Modify(ModifyRequest<'a>),
    Add(AddRequest<'a>),
    Delete(&'a [u8]),
    ModifyDn(ModifyDnRequest<'a>),
    Compare(CompareRequest<'a>),
    Abandon(i32),
    Extended(ExtendedRequest<'a>),
}

/// RFC 4511 section 4.2.
#[derive(Debug, Clone, Copy)]
pub struct BindRequest<'a> {
    pub version: i64,
    pub name: &'a [u8],
    pub credentials: Credentials<'a>,
}

#[derive(Debug, Clone, Copy)]
pub enum Credentials<'a> {
    /// A password; empty for an anonymous bind.
    Simple(&'a [u8]),
    /// A SASL mechanism with its credentials.
    Sasl(&'a [u8], Option<&'a [u8]>),
    /// An authentication method that RFC 4511 does not define.
    Other(u8),
}

/// The scope of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Base = 0,
    One = 1,
    Subtree = 2,
    /// All subordinates of the base, without the base (draft-sermersheim-ldap-subordinate-scope-02).
    Children = 3,
}

/// RFC 4511 section 4.5.1.
#[derive(Debug, Clone, Copy)]
pub struct SearchRequest<'a> {
    /// The base of the search.
    pub base: &'a [u8],
    pub scope: Scope,
    /// When the server dereferences aliases: 0 never, 1 in searching, 2 in finding the base, 3 always.
    pub dereference: u8,
    /// 0 for no limit.
    pub size_limit: u32,
    /// In seconds; 0 for no limit.
    pub time_limit_s: u32,
    /// Whether attributes are returned without values.
    pub types_only: bool,
    pub filter: Filter<'a>,
    pub attributes: Selection<'a>,
}

/// The validated attribute selection of a search (RFC 4511 section 4.5.1.8).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection<'a>(&'a [u8]);

impl<'a> Selection<'a> {
    /// Whether the list is empty, which selects all user attributes.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub const fn encoded_len(&self) -> usize {
        self.0.len()
    }

    /// The listed descriptions, including `*`, `+` and `1.1`.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut reader = Reader::new(self.0);
        std::iter::from_fn(move || reader.octets().ok())
    }
}

/// RFC 4511 section 4.7.
#[derive(Debug, Clone, Copy)]
pub struct AddRequest<'a> {
    pub dn: &'a [u8],
    /// The validated attributes of the entry.
    pub attributes: Attributes<'a>,
    /// The number of values of all attributes.
    pub values: usize,
}

/// RFC 4511 section 4.6.
#[derive(Debug, Clone, Copy)]
pub struct ModifyRequest<'a> {
    pub dn: &'a [u8],
    changes: &'a [u8],
}

/// A change of a modify.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// 0 add, 1 delete, 2 replace, 3 increment (RFC 4525).
    pub operation: u8,
    pub attribute: Attribute<'a>,
}

impl<'a> ModifyRequest<'a> {
    pub fn changes(&self) -> impl Iterator<Item = Change<'a>> + use<'a> {
        let mut reader = Reader::new(self.changes);
        std::iter::from_fn(move || read_change(&mut reader).ok())
    }
}

/// RFC 4511 section 4.9.
#[derive(Debug, Clone, Copy)]
pub struct ModifyDnRequest<'a> {
    pub dn: &'a [u8],
    pub new_rdn: &'a [u8],
    /// Whether the values of the old RDN are removed from the entry.
    pub delete_old_rdn: bool,
    /// The new parent, if the entry moves.
    pub new_superior: Option<&'a [u8]>,
}

/// RFC 4511 section 4.10.
#[derive(Debug, Clone, Copy)]
pub struct CompareRequest<'a> {
    pub dn: &'a [u8],
    pub attribute: &'a [u8],
    pub value: &'a [u8],
}

/// RFC 4511 section 4.12.
#[derive(Debug, Clone, Copy)]
pub struct ExtendedRequest<'a> {
    pub name: &'a [u8],
    pub value: Option<&'a [u8]>,
}

impl<'a> Request<'a> {
    /// Decodes a message with the length that [`super::frame::message_length`] returned.
    #[inline]
    pub fn decode(message: &'a [u8]) -> Result<Self, DecodeError> {
        let (id, operation, controls) = decode_message(message, operation)?;
        Ok(Self { id, operation, controls })
    }
}

/// The id, the operation and the controls of a message (RFC 4511 section 4.1.1). Unknown elements at the end are
/// ignored (section 4).
#[inline(always)]
pub(super) fn decode_message<'a, T>(
    message: &'a [u8],
    operation: impl FnOnce(u8, &'a [u8]) -> Result<T, DecodeError>,
) -> Result<(i32, T, Controls<'a>), DecodeError> {
    let mut outer = Reader::new(message);
    let mut fields = outer.sequence()?;
    outer.finish()?;
    let id = message_id(fields.integer(tag::INTEGER)?)?;
    let element = fields.element()?;
    let operation = operation(element.tag, element.value)?;
    let controls = match fields.optional(CONTROLS)? {
        Some(content) => Controls::decode(content)?,
        None => Controls::default(),
    };
    Ok((id, operation, controls))
}

/// RFC 4511 section 4.1.1.1.
fn message_id(value: i64) -> Result<i32, DecodeError> {
    i32::try_from(value).ok().filter(|id| *id >= 0).ok_or(DecodeError::BadMessageId(value))
}

#[inline]
fn operation(tag: u8, content: &[u8]) -> Result<Operation<'_>, DecodeError> {
    Ok(match tag {
        op::SEARCH_REQUEST => Operation::Search(search(content)?),
        op::BIND_REQUEST => Operation::Bind(bind(content)?),
        op::UNBIND_REQUEST => Operation::Unbind,
        op::ADD_REQUEST => Operation::Add(add(content)?),
        op::DELETE_REQUEST => Operation::Delete(content),
        op::MODIFY_REQUEST => Operation::Modify(modify(content)?),
        op::MODIFY_DN_REQUEST => Operation::ModifyDn(modify_dn(content)?),
        op::COMPARE_REQUEST => Operation::Compare(compare(content)?),
        op::ABANDON_REQUEST => Operation::Abandon(message_id(crate::ber::integer(content)?)?),
        op::EXTENDED_REQUEST => Operation::Extended(extended(content)?),
        other => return Err(DecodeError::UnknownOperation(other)),
    })
}

#[inline]
fn search(content: &[u8]) -> Result<SearchRequest<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    let base = fields.octets()?;
    let scope = match fields.integer(tag::ENUMERATED)? {
        0 => Scope::Base,
        1 => Scope::One,
        2 => Scope::Subtree,
        3 => Scope::Children,
        value => return Err(DecodeError::BadValue { what: "the scope", value }),
    };
    let dereference = ranged(&mut fields, tag::ENUMERATED, 3, "derefAliases")? as u8;
    let size_limit = ranged(&mut fields, tag::INTEGER, i32::MAX, "the size limit")?;
    let time_limit_s = ranged(&mut fields, tag::INTEGER, i32::MAX, "the time limit")?;
    let types_only = fields.boolean()?;
    let filter = Filter::decode(&mut fields)?;
    let selected = fields.expect(tag::SEQUENCE)?;
    let mut names = Reader::new(selected);
    while !names.is_empty() {
        names.octets()?;
    }
    let attributes = Selection(selected);
    Ok(SearchRequest { base, scope, dereference, size_limit, time_limit_s, types_only, filter, attributes })
}

#[inline]
fn ranged(fields: &mut Reader<'_>, tag: u8, max: i32, what: &'static str) -> Result<u32, DecodeError> {
    let value = fields.integer(tag)?;
    u32::try_from(value)
        .ok()
        .filter(|v| *v <= max.unsigned_abs())
        .ok_or(DecodeError::BadValue { what, value })
}

fn bind(content: &[u8]) -> Result<BindRequest<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    let version = fields.integer(tag::INTEGER)?;
    let name = fields.octets()?;
    let choice = fields.element()?;
    let credentials = match choice.tag {
        0x80 => Credentials::Simple(choice.value),
        0xa3 => {
            let mut sasl = Reader::new(choice.value);
            Credentials::Sasl(sasl.octets()?, sasl.optional(tag::OCTET_STRING)?)
        }
        other => Credentials::Other(other),
    };
    Ok(BindRequest { version, name, credentials })
}

#[inline]
fn add(content: &[u8]) -> Result<AddRequest<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    let dn = fields.octets()?;
    let attributes = Attributes(fields.expect(tag::SEQUENCE)?);
    let values = attributes.check()?;
    Ok(AddRequest { dn, attributes, values })
}

fn modify(content: &[u8]) -> Result<ModifyRequest<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    let dn = fields.octets()?;
    let changes = fields.expect(tag::SEQUENCE)?;
    let mut reader = Reader::new(changes);
    while !reader.is_empty() {
        read_change(&mut reader)?;
    }
    Ok(ModifyRequest { dn, changes })
}

fn read_change<'a>(reader: &mut Reader<'a>) -> Result<Change<'a>, DecodeError> {
    let mut fields = reader.sequence()?;
    let operation = ranged(&mut fields, tag::ENUMERATED, 3, "the kind of change")? as u8;
    let attribute = read_attribute(&mut fields)?;
    attribute.values.iter().try_for_each(|value| value.map(drop))?;
    Ok(Change { operation, attribute })
}

fn modify_dn(content: &[u8]) -> Result<ModifyDnRequest<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    Ok(ModifyDnRequest {
        dn: fields.octets()?,
        new_rdn: fields.octets()?,
        delete_old_rdn: fields.boolean()?,
        new_superior: fields.optional(tag::context(0))?,
    })
}

fn compare(content: &[u8]) -> Result<CompareRequest<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    let dn = fields.octets()?;
    let mut assertion = fields.sequence()?;
    Ok(CompareRequest { dn, attribute: assertion.octets()?, value: assertion.octets()? })
}

fn extended(content: &[u8]) -> Result<ExtendedRequest<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    Ok(ExtendedRequest { name: fields.expect(tag::context(0))?, value: fields.optional(tag::context(1))? })
}
