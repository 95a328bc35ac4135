//! Responses of every kind, decoded and encoded again, have the same bytes.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::ber::{tag, write_element, write_octets};
use wire::ldap::answer::{Verdict, write_entry, write_extended, write_result, write_result_with};
use wire::ldap::control::PagedResults;
use wire::ldap::request::write_attribute;
use wire::ldap::{Attributes, Control, Reply, Response, ResultCode, op};

const FINAL: [u8; 8] = [
    op::BIND_RESPONSE,
    op::SEARCH_DONE,
    op::MODIFY_RESPONSE,
    op::ADD_RESPONSE,
    op::DELETE_RESPONSE,
    op::MODIFY_DN_RESPONSE,
    op::COMPARE_RESPONSE,
    op::EXTENDED_RESPONSE,
];

/// Any bytes, sometimes enough for a length field of two bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![8 => vec(any::<u8>(), 0..20), 1 => vec(any::<u8>(), 120..300)]
}

fn answer() -> impl Strategy<Value = Vec<u8>> {
    let parts = (bytes(), bytes(), option::of(bytes()), option::of(bytes()));
    let list = vec((bytes(), vec(bytes(), 0..4)), 0..4);
    (0..=FINAL.len() + 1, 0..=i32::MAX, any::<u16>(), parts, list).prop_map(
        |(which, id, code, (matched_dn, diagnostic, name, value), list)| {
            let mut out = Vec::new();
            let code = ResultCode(u32::from(code));
            let verdict = Verdict { code, matched_dn: &matched_dn, diagnostic: &diagnostic };
            match FINAL.get(which) {
                Some(tag) => write_result(&mut out, id, *tag, &verdict),
                None if which == FINAL.len() => {
                    write_extended(&mut out, id, &verdict, name.as_deref(), value.as_deref());
                }
                None => {
                    let mut attributes = Vec::new();
                    for (name, values) in &list {
                        write_attribute(&mut attributes, name, values.iter().map(Vec::as_slice));
                    }
                    let mut body = Vec::new();
                    write_octets(&mut body, &matched_dn);
                    write_element(&mut body, tag::SEQUENCE, &attributes);
                    write_entry(&mut out, id, &body);
                }
            }
            out
        },
    )
}

/// Encodes the attributes one by one: [`write_element`] of the whole list would copy its bytes without
/// decoding them.
fn write_list(out: &mut Vec<u8>, attributes: Attributes<'_>) {
    let mut list = Vec::new();
    for attribute in attributes.iter().map(Result::unwrap) {
        write_attribute(&mut list, attribute.name, attribute.values.iter().map(Result::unwrap));
    }
    write_element(out, tag::SEQUENCE, &list);
}

fn again(response: &Response<'_>) -> Vec<u8> {
    let (id, mut out) = (response.id, Vec::new());
    match response.reply {
        Reply::Entry { dn, attributes } => {
            let mut body = Vec::new();
            write_octets(&mut body, dn);
            write_list(&mut body, attributes);
            write_entry(&mut out, id, &body);
        }
        Reply::Done { tag, outcome } => {
            let (code, matched_dn, diagnostic) = (outcome.code, outcome.matched_dn, outcome.diagnostic);
            let verdict = Verdict { code, matched_dn, diagnostic };
            if outcome.name.is_some() || outcome.value.is_some() {
                write_extended(&mut out, id, &verdict, outcome.name, outcome.value);
            } else {
                write_result(&mut out, id, tag, &verdict);
            }
        }
        other => panic!("no writer makes {other:?}"),
    }
    out
}

proptest! {
    #[test]
    fn a_decoded_response_encodes_to_the_same_bytes(message in answer()) {
        prop_assert_eq!(again(&Response::decode(&message).unwrap()), message);
    }

    #[test]
    fn a_response_with_controls_decodes_to_the_result_and_the_controls(
        controls in vec((bytes(), any::<bool>(), option::of(bytes())), 1..3), id in 0..=i32::MAX,
        tag in prop::sample::select(&FINAL[..]),
    ) {
        let (mut plain, mut whole) = (Vec::new(), Vec::new());
        write_result(&mut plain, id, tag, &Verdict::SUCCESS);
        let written: Vec<_> = controls
            .iter()
            .map(|(oid, critical, value)| Control { oid, critical: *critical, value: value.as_deref() })
            .collect();
        write_result_with(&mut whole, id, tag, &Verdict::SUCCESS, &written);
        let response = Response::decode(&whole).unwrap();
        prop_assert!(response.controls.iter().eq(written));
        prop_assert_eq!(again(&response), plain);
    }

    #[test]
    fn a_written_page_control_reads_back(size: i64, cookie in bytes()) {
        let mut out = Vec::new();
        PagedResults { size, cookie: &cookie }.encode(&mut out);
        prop_assert_eq!(PagedResults::decode(&out), Ok(PagedResults { size, cookie: &cookie }));
    }
}
