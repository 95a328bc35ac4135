//! Requests of every kind, decoded and encoded again, have the same bytes.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::ber::{tag, write_element, write_nested};
use wire::ldap::frame::message_length;
use wire::ldap::request::{self, SearchOptions, write_attribute, write_change};
use wire::ldap::{Attributes, Credentials, Operation, Request, Scope, filter_text};

use super::{bytes, controls, owned, with_controls};

type Values = (Vec<u8>, Vec<Vec<u8>>);

fn values() -> impl Strategy<Value = Values> {
    (bytes(), vec(bytes(), 0..4))
}

fn slices(values: &[Vec<u8>]) -> impl Iterator<Item = &[u8]> {
    values.iter().map(Vec::as_slice)
}

fn filter() -> impl Strategy<Value = String> {
    let leaf =
        "\\([a-z]{1,4}(=|>=|<=|~=|:dn:1\\.2:=)[a-z]{0,4}\\)|\\([a-z]=\\*?[a-z]\\*[a-z]?\\)|\\([a-z]=\\*\\)";
    leaf.prop_recursive(4, 12, 3, |inner| {
        (vec(inner, 1..4), 0..3usize).prop_map(|(filters, sign)| match sign {
            0 => format!("(!{})", filters[0]),
            sign => format!("({}{})", ["", "&", "|"][sign], filters.concat()),
        })
    })
}

fn search() -> impl Strategy<Value = Vec<u8>> {
    let scope = prop::sample::select(vec![Scope::Base, Scope::One, Scope::Subtree, Scope::Children]);
    let limits = (0..=i32::MAX as u32, 0..=i32::MAX as u32, any::<bool>(), 0u8..4);
    (0..=i32::MAX, bytes(), scope, limits, filter(), vec(bytes(), 0..4)).prop_map(
        |(id, base, scope, (size_limit, time_limit_s, types_only, dereference), filter, names)| {
            let options = SearchOptions { scope, size_limit, time_limit_s, types_only, dereference };
            let mut out = Vec::new();
            let filter = |out: &mut Vec<u8>| filter_text::parse(&filter, out).unwrap();
            request::write_search(&mut out, id, &base, &options, filter, slices(&names));
            out
        },
    )
}

/// A message of any kind but a search.
fn other() -> impl Strategy<Value = Vec<u8>> {
    let parts = (bytes(), bytes(), option::of(bytes()), any::<bool>(), vec(values(), 0..4));
    (0..12usize, 0..=i32::MAX, parts).prop_map(|(which, id, (one, two, third, flag, list))| {
        let mut out = Vec::new();
        match which {
            0 => request::write_bind(&mut out, id, 3, &one, &two),
            1 => request::write_sasl_bind(&mut out, id, &one, &two),
            2 => request::write_unbind(&mut out, id),
            3 | 4 => request::write_add(&mut out, id, &one, |out| {
                write_nested(out, tag::SEQUENCE, |out| {
                    list.iter().for_each(|(name, values)| write_attribute(out, name, slices(values)));
                });
            }),
            5 | 6 => request::write_modify(&mut out, id, &one, |out| {
                for (at, (name, values)) in list.iter().enumerate() {
                    write_change(out, at as u8 % 4, name, slices(values));
                }
            }),
            7 => request::write_delete(&mut out, id, &one),
            8 => request::write_modify_dn(&mut out, id, &one, &two, flag, third.as_deref()),
            9 => request::write_compare(&mut out, id, &one, &two, third.as_deref().unwrap_or_default()),
            10 => request::write_abandon(&mut out, id, id / 2),
            _ => request::write_extended(&mut out, id, &one, third.as_deref()),
        }
        out
    })
}

/// Encodes the request with sitebench's writers.
fn again(request: &Request<'_>) -> Vec<u8> {
    let (id, mut out) = (request.id, Vec::new());
    match request.operation {
        Operation::Bind(bind) => match bind.credentials {
            Credentials::Simple(password) => {
                request::write_bind(&mut out, id, bind.version as u8, bind.name, password);
            }
            Credentials::Sasl(mechanism, proof) => {
                request::write_sasl_bind(&mut out, id, mechanism, proof.unwrap());
            }
            Credentials::Other(choice) => panic!("no writer makes a bind with {choice:#x}"),
        },
        Operation::Unbind => request::write_unbind(&mut out, id),
        Operation::Search(search) => {
            let options = SearchOptions {
                scope: search.scope,
                size_limit: search.size_limit,
                time_limit_s: search.time_limit_s,
                types_only: search.types_only,
                dereference: search.dereference,
            };
            let text = search.filter.to_string();
            let filter = |out: &mut Vec<u8>| filter_text::parse(&text, out).unwrap();
            request::write_search(&mut out, id, search.base, &options, filter, search.attributes.iter());
        }
        Operation::Add(add) => {
            request::write_add(&mut out, id, add.dn, |out| write_list(out, add.attributes))
        }
        Operation::Modify(modify) => request::write_modify(&mut out, id, modify.dn, |out| {
            for change in modify.changes() {
                let values = change.attribute.values.iter().map(Result::unwrap);
                write_change(out, change.operation, change.attribute.name, values);
            }
        }),
        Operation::Delete(dn) => request::write_delete(&mut out, id, dn),
        Operation::ModifyDn(ask) => {
            let (dn, rdn) = (ask.dn, ask.new_rdn);
            request::write_modify_dn(&mut out, id, dn, rdn, ask.delete_old_rdn, ask.new_superior);
        }
        Operation::Compare(ask) => request::write_compare(&mut out, id, ask.dn, ask.attribute, ask.value),
        Operation::Abandon(abandoned) => request::write_abandon(&mut out, id, abandoned),
        Operation::Extended(ask) => request::write_extended(&mut out, id, ask.name, ask.value),
    }
    with_controls(&out, &owned(request.controls))
}

/// Encodes the attributes one by one: [`write_element`] of the whole list would copy its bytes without
/// decoding them.
pub(super) fn write_list(out: &mut Vec<u8>, attributes: Attributes<'_>) {
    let mut list = Vec::new();
    for attribute in attributes.iter().map(Result::unwrap) {
        write_attribute(&mut list, attribute.name, attribute.values.iter().map(Result::unwrap));
    }
    write_element(out, tag::SEQUENCE, &list);
}

proptest! {
    #[test]
    fn a_decoded_request_encodes_to_the_same_bytes(
        message in prop_oneof![1 => search(), 2 => other()], controls in controls(0..3)
    ) {
        let message = with_controls(&message, &controls);
        let request = Request::decode(&message).unwrap();
        prop_assert_eq!(owned(request.controls), controls);
        prop_assert_eq!(again(&request), message);
    }

    #[test]
    fn consecutive_messages_are_split_at_their_ends(messages in vec(other(), 1..5), cut in any::<prop::sample::Index>()) {
        let stream = messages.concat();
        let mut rest = &stream[..cut.index(stream.len() + 1)];
        let (mut whole, mut bytes) = (0, 0);
        while let Some(length) = message_length(rest, usize::MAX).unwrap() {
            prop_assert_eq!(&rest[..length], &messages[whole][..]);
            (whole, bytes) = (whole + 1, bytes + length);
            rest = &rest[length..];
        }
        // The remaining bytes are the beginning of the next message.
        prop_assert!(rest.is_empty() || messages[whole].starts_with(rest) && messages[whole].len() > rest.len());
        prop_assert_eq!(bytes, messages[..whole].concat().len());
    }
}
