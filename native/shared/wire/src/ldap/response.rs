//! Answers as clients read them.

use super::attributes::Attributes;
use super::control::Controls;
use super::decode::decode_message;
use super::error::DecodeError;
use super::op;
use super::result::ResultCode;
use crate::ber::{Reader, tag};

#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    /// The id of the answered request; 0 for an unsolicited message.
    pub id: i32,
    pub reply: Reply<'a>,
    pub controls: Controls<'a>,
}

#[derive(Debug, Clone, Copy)]
pub enum Reply<'a> {
    /// A SearchResultEntry. The attributes have not been validated.
    Entry { dn: &'a [u8], attributes: Attributes<'a> },
    /// A SearchResultReference (RFC 4511 section 4.5.3).
    Reference,
    /// An IntermediateResponse (RFC 4511 section 4.13).
    Intermediate,
    /// The end of an operation; `tag` is the constant in [`op`] for this kind of answer.
    Done { tag: u8, outcome: Outcome<'a> },
}

/// An LDAPResult, with the further fields of bind and extended responses.
#[derive(Debug, Clone, Copy)]
pub struct Outcome<'a> {
    pub code: ResultCode,
    /// The DN of the deepest existing ancestor, if the result is noSuchObject.
    pub matched_dn: &'a [u8],
    /// A message for people.
    pub diagnostic: &'a [u8],
    pub name: Option<&'a [u8]>,
    pub value: Option<&'a [u8]>,
}

impl<'a> Response<'a> {
    /// Decodes a message with the length that [`super::frame::message_length`] returned.
    ///
    /// Inlined: callers use the fields at once, so the answer need not be copied to memory.
    #[inline(always)]
    pub fn decode(message: &'a [u8]) -> Result<Self, DecodeError> {
        let (id, reply, controls) = decode_message(message, reply)?;
        Ok(Self { id, reply, controls })
    }
}

#[inline]
fn reply(tag: u8, content: &[u8]) -> Result<Reply<'_>, DecodeError> {
    match tag {
        op::SEARCH_ENTRY => {
            let mut fields = Reader::new(content);
            let dn = fields.octets()?;
            let attributes = Attributes(fields.expect(tag::SEQUENCE)?);
            fields.finish()?;
            Ok(Reply::Entry { dn, attributes })
        }
        op::SEARCH_REFERENCE => Ok(Reply::Reference),
        op::INTERMEDIATE_RESPONSE => Ok(Reply::Intermediate),
        op::SEARCH_DONE
        | op::BIND_RESPONSE
        | op::MODIFY_RESPONSE
        | op::ADD_RESPONSE
        | op::DELETE_RESPONSE
        | op::MODIFY_DN_RESPONSE
        | op::COMPARE_RESPONSE
        | op::EXTENDED_RESPONSE => Ok(Reply::Done { tag, outcome: outcome(content)? }),
        other => Err(DecodeError::UnknownOperation(other)),
    }
}

#[inline]
fn outcome(content: &[u8]) -> Result<Outcome<'_>, DecodeError> {
    let mut fields = Reader::new(content);
    let value = fields.integer(tag::ENUMERATED)?;
    let code = u32::try_from(value).map_err(|_| DecodeError::BadValue { what: "the result code", value })?;
    let matched_dn = fields.octets()?;
    let diagnostic = fields.octets()?;
    let (mut name, mut value) = (None, None);
    while !fields.is_empty() {
        let element = fields.element()?;
        match element.tag {
            0x8a => name = Some(element.value),
            0x8b => value = Some(element.value),
            // Referrals and SASL credentials are not needed here.
            _ => {}
        }
    }
    Ok(Outcome { code: ResultCode(code), matched_dn, diagnostic, name, value })
}
