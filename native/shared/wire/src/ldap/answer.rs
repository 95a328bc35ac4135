//! Answers of a server.

use super::control::{CONTROLS, Control, write_control};
use super::op;
use super::result::ResultCode;
use crate::ber::{self, tag};

/// The LDAPResult common to every final answer (RFC 4511 section 4.1.9).
#[derive(Debug, Clone, Copy)]
pub struct Verdict<'a> {
    pub code: ResultCode,
    /// The DN of the deepest existing ancestor, if the result is noSuchObject.
    pub matched_dn: &'a [u8],
    /// A message for people.
    pub diagnostic: &'a [u8],
}

impl Verdict<'static> {
    pub const SUCCESS: Self = Self { code: ResultCode::SUCCESS, matched_dn: b"", diagnostic: b"" };
}

/// Appends a final answer without controls; `tag` is the constant in [`op`] for this kind of answer.
#[inline]
pub fn write_result(out: &mut Vec<u8>, id: i32, tag: u8, verdict: &Verdict<'_>) {
    write_operation(out, id, tag, |out| write_verdict(out, verdict));
}

/// Appends a final answer with controls.
pub fn write_result_with(
    out: &mut Vec<u8>,
    id: i32,
    tag: u8,
    verdict: &Verdict<'_>,
    controls: &[Control<'_>],
) {
    write_message(out, id, |out| {
        ber::write_nested(out, tag, |out| write_verdict(out, verdict));
        ber::write_nested(out, CONTROLS, |out| {
            controls.iter().for_each(|control| write_control(out, control))
        });
    });
}

/// Appends an ExtendedResponse (RFC 4511 section 4.12).
pub fn write_extended(
    out: &mut Vec<u8>,
    id: i32,
    verdict: &Verdict<'_>,
    name: Option<&[u8]>,
    value: Option<&[u8]>,
) {
    write_operation(out, id, op::EXTENDED_RESPONSE, |out| {
        write_verdict(out, verdict);
        if let Some(name) = name {
            ber::write_element(out, tag::context(10), name);
        }
        if let Some(value) = value {
            ber::write_element(out, tag::context(11), value);
        }
    });
}

/// Appends a SearchResultEntry whose body (name and attribute list) is already encoded.
#[inline]
pub fn write_entry(out: &mut Vec<u8>, id: i32, body: &[u8]) {
    let id = i64::from(id);
    ber::write_header(out, tag::SEQUENCE, 2 + ber::integer_width(id) + ber::element_size(body.len()));
    ber::write_integer(out, tag::INTEGER, id);
    ber::write_element(out, op::SEARCH_ENTRY, body);
}

/// Appends an LDAPMessage whose operation has this tag and the content that `fill` appends.
#[inline]
pub(super) fn write_operation(out: &mut Vec<u8>, id: i32, tag: u8, fill: impl FnOnce(&mut Vec<u8>)) {
    write_message(out, id, |out| ber::write_nested(out, tag, fill));
}

/// Appends an LDAPMessage with the content that `fill` appends.
#[inline]
pub fn write_message(out: &mut Vec<u8>, id: i32, fill: impl FnOnce(&mut Vec<u8>)) {
    ber::write_nested(out, tag::SEQUENCE, |out| {
        ber::write_integer(out, tag::INTEGER, i64::from(id));
        fill(out);
    });
}

#[inline]
fn write_verdict(out: &mut Vec<u8>, verdict: &Verdict<'_>) {
    ber::write_integer(out, tag::ENUMERATED, i64::from(verdict.code.0));
    ber::write_octets(out, verdict.matched_dn);
    ber::write_octets(out, verdict.diagnostic);
}
