//! Encoding of requests. Each function appends a whole message.

use super::answer::{write_message, write_operation};
use super::attributes::Values;
use super::control::{CONTROLS, Control, write_control};
use super::decode::Scope;
use super::op;
use crate::ber::{self, BerError, Reader, tag};

/// Parameters of a search other than base and filter.
#[derive(Debug, Clone, Copy)]
pub struct SearchOptions {
    pub scope: Scope,
    /// 0 for no limit.
    pub size_limit: u32,
    /// In seconds; 0 for no limit.
    pub time_limit_s: u32,
    /// Whether attributes are returned without values.
    pub types_only: bool,
    /// When the server dereferences aliases: 0 never, 1 in searching, 2 in finding the base, 3 always.
    pub dereference: u8,
}

/// Appends a simple bind. Empty name and password bind anonymously.
pub fn write_bind(out: &mut Vec<u8>, id: i32, version: u8, name: &[u8], password: &[u8]) {
    write_operation(out, id, op::BIND_REQUEST, |out| {
        ber::write_integer(out, tag::INTEGER, i64::from(version));
        ber::write_octets(out, name);
        ber::write_element(out, tag::context(0), password);
    });
}

/// Appends a SASL bind (RFC 4511 section 4.2) with its first response, which contains the identity.
pub fn write_sasl_bind(out: &mut Vec<u8>, id: i32, mechanism: &[u8], credentials: &[u8]) {
    write_operation(out, id, op::BIND_REQUEST, |out| {
        ber::write_integer(out, tag::INTEGER, 3);
        ber::write_octets(out, b"");
        ber::write_nested(out, tag::context_constructed(3), |out| {
            ber::write_octets(out, mechanism);
            ber::write_octets(out, credentials);
        });
    });
}

pub fn write_unbind(out: &mut Vec<u8>, id: i32) {
    write_message(out, id, |out| ber::write_header(out, op::UNBIND_REQUEST, 0));
}

/// Appends a search; `filter` appends the filter (see [`super::filter`]).
#[inline]
pub fn write_search<'n>(
    out: &mut Vec<u8>,
    id: i32,
    base: &[u8],
    options: &SearchOptions,
    filter: impl FnOnce(&mut Vec<u8>),
    attributes: impl IntoIterator<Item = &'n [u8]>,
) {
    write_operation(out, id, op::SEARCH_REQUEST, |out| {
        ber::write_octets(out, base);
        ber::write_integer(out, tag::ENUMERATED, options.scope as i64);
        ber::write_integer(out, tag::ENUMERATED, i64::from(options.dereference));
        ber::write_integer(out, tag::INTEGER, i64::from(options.size_limit));
        ber::write_integer(out, tag::INTEGER, i64::from(options.time_limit_s));
        ber::write_boolean(out, options.types_only);
        filter(out);
        ber::write_nested(out, tag::SEQUENCE, |out| {
            attributes.into_iter().for_each(|name| ber::write_octets(out, name));
        });
    });
}

/// Appends an add; `attributes` appends the whole AttributeList element.
#[inline]
pub fn write_add(out: &mut Vec<u8>, id: i32, dn: &[u8], attributes: impl FnOnce(&mut Vec<u8>)) {
    write_operation(out, id, op::ADD_REQUEST, |out| {
        ber::write_octets(out, dn);
        attributes(out);
    });
}

pub fn write_delete(out: &mut Vec<u8>, id: i32, dn: &[u8]) {
    write_message(out, id, |out| ber::write_element(out, op::DELETE_REQUEST, dn));
}

/// Appends a modify; `changes` calls [`write_change`] for each change.
pub fn write_modify(out: &mut Vec<u8>, id: i32, dn: &[u8], changes: impl FnOnce(&mut Vec<u8>)) {
    write_operation(out, id, op::MODIFY_REQUEST, |out| {
        ber::write_octets(out, dn);
        ber::write_nested(out, tag::SEQUENCE, changes);
    });
}

/// Appends a change: 0 add, 1 delete, 2 replace, 3 increment.
pub fn write_change<'v>(
    out: &mut Vec<u8>,
    operation: u8,
    attribute: &[u8],
    values: impl IntoIterator<Item = &'v [u8]>,
) {
    ber::write_nested(out, tag::SEQUENCE, |out| {
        ber::write_integer(out, tag::ENUMERATED, i64::from(operation));
        write_attribute(out, attribute, values);
    });
}

/// Appends `SEQUENCE { type, vals }`, the element of attribute lists and changes.
pub fn write_attribute<'v>(out: &mut Vec<u8>, name: &[u8], values: impl IntoIterator<Item = &'v [u8]>) {
    ber::write_nested(out, tag::SEQUENCE, |out| {
        ber::write_octets(out, name);
        ber::write_nested(out, tag::SET, |out| {
            values.into_iter().for_each(|value| ber::write_octets(out, value));
        });
    });
}

/// Appends a PartialAttribute whose values are already encoded.
#[inline]
pub fn write_encoded_attribute(out: &mut Vec<u8>, name: &[u8], Values(values): Values<'_>) {
    ber::write_header(out, tag::SEQUENCE, ber::element_size(name.len()) + ber::element_size(values.len()));
    ber::write_octets(out, name);
    ber::write_element(out, tag::SET, values);
}

pub fn write_modify_dn(
    out: &mut Vec<u8>,
    id: i32,
    dn: &[u8],
    new_rdn: &[u8],
    delete_old_rdn: bool,
    new_superior: Option<&[u8]>,
) {
    write_operation(out, id, op::MODIFY_DN_REQUEST, |out| {
        ber::write_octets(out, dn);
        ber::write_octets(out, new_rdn);
        ber::write_boolean(out, delete_old_rdn);
        if let Some(superior) = new_superior {
            ber::write_element(out, tag::context(0), superior);
        }
    });
}

pub fn write_compare(out: &mut Vec<u8>, id: i32, dn: &[u8], attribute: &[u8], value: &[u8]) {
    write_operation(out, id, op::COMPARE_REQUEST, |out| {
        ber::write_octets(out, dn);
        ber::write_nested(out, tag::SEQUENCE, |out| {
            ber::write_octets(out, attribute);
            ber::write_octets(out, value);
        });
    });
}

/// Adds controls (RFC 4511 section 4.1.11) to the message that begins at `start`.
pub fn add_controls(out: &mut Vec<u8>, start: usize, controls: &[Control<'_>]) -> Result<(), BerError> {
    let content = Reader::new(out.get(start..).unwrap_or_default()).expect(tag::SEQUENCE)?.to_vec();
    out.truncate(start);
    ber::write_nested(out, tag::SEQUENCE, |out| {
        out.extend_from_slice(&content);
        ber::write_nested(out, CONTROLS, |out| controls.iter().for_each(|each| write_control(out, each)));
    });
    Ok(())
}

/// Appends an abandon of the request with the id `abandoned`.
pub fn write_abandon(out: &mut Vec<u8>, id: i32, abandoned: i32) {
    write_message(out, id, |out| ber::write_integer(out, op::ABANDON_REQUEST, i64::from(abandoned)));
}

pub fn write_extended(out: &mut Vec<u8>, id: i32, name: &[u8], value: Option<&[u8]>) {
    write_operation(out, id, op::EXTENDED_REQUEST, |out| {
        ber::write_element(out, tag::context(0), name);
        if let Some(value) = value {
            ber::write_element(out, tag::context(1), value);
        }
    });
}

/// Appends the value of a refresh request (RFC 2589 section 4.1).
pub fn write_refresh_value(out: &mut Vec<u8>, dn: &[u8], ttl_s: u32) {
    ber::write_nested(out, tag::SEQUENCE, |out| {
        ber::write_element(out, tag::context(0), dn);
        ber::write_integer(out, tag::context(1), i64::from(ttl_s));
    });
}
