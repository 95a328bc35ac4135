//! LDAP responses, byte by byte as slapd 2.6 sends them.

use proptest::prelude::*;
use wire::ber::{BerError, tag, write_element, write_nested, write_octets};
use wire::ldap::answer::{Verdict, write_entry, write_extended, write_result, write_result_with};
use wire::ldap::control::PagedResults;
use wire::ldap::request::write_attribute;
use wire::ldap::{Control, DecodeError, Outcome, Reply, Response, ResultCode, oid, op};

fn written(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    fill(&mut out);
    out
}

fn done(message: &[u8]) -> (u8, Outcome<'_>) {
    match Response::decode(message).unwrap().reply {
        Reply::Done { tag, outcome } => (tag, outcome),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_success_of_every_operation_is_read_from_its_response() {
    for (response, tag) in [
        (&b"0\x0c\x02\x01\x01a\x07\x0a\x01\x00\x04\x00\x04\x00"[..], op::BIND_RESPONSE),
        (b"0\x0c\x02\x01\x02e\x07\x0a\x01\x00\x04\x00\x04\x00", op::SEARCH_DONE),
        (b"0\x0c\x02\x01\x02i\x07\x0a\x01\x00\x04\x00\x04\x00", op::ADD_RESPONSE),
        (b"0\x0c\x02\x01\x02m\x07\x0a\x01\x00\x04\x00\x04\x00", op::MODIFY_DN_RESPONSE),
        (b"0\x0c\x02\x01\x02k\x07\x0a\x01\x00\x04\x00\x04\x00", op::DELETE_RESPONSE),
    ] {
        let id = Response::decode(response).unwrap().id;
        assert_eq!(written(|out| write_result(out, id, tag, &Verdict::SUCCESS)), response);
        let (read, outcome) = done(response);
        assert_eq!((read, outcome.code), (tag, ResultCode::SUCCESS));
    }
}

#[test]
fn a_refusal_has_its_diagnostic_message() {
    let message = b"09\x02\x01\x02g4\x0a\x01\x10\x04\x00\x04-modify/delete: description: no such attribute";
    let (tag, outcome) = done(message);
    assert_eq!((tag, outcome.code), (op::MODIFY_RESPONSE, ResultCode::NO_SUCH_ATTRIBUTE));
    assert_eq!(outcome.diagnostic, b"modify/delete: description: no such attribute");
    assert_eq!(outcome.code.to_string(), "noSuchAttribute (16)");
    let verdict = Verdict { code: outcome.code, matched_dn: b"", diagnostic: outcome.diagnostic };
    assert_eq!(written(|out| write_result(out, 2, tag, &verdict)), message);
}

#[test]
fn a_missing_base_has_its_closest_existing_ancestor_as_matched_dn() {
    let message = b"0\x16\x02\x01\x02e\x11\x0a\x01 \x04\x0ao=Intranet\x04\x00";
    let (_, outcome) = done(message);
    assert_eq!((outcome.code, outcome.matched_dn), (ResultCode::NO_SUCH_OBJECT, &b"o=Intranet"[..]));
}

#[test]
fn a_wrong_password_is_read_as_invalid_credentials() {
    let (tag, outcome) = done(b"0\x0c\x02\x01\x01a\x07\x0a\x011\x04\x00\x04\x00");
    assert_eq!((tag, outcome.code), (op::BIND_RESPONSE, ResultCode::INVALID_CREDENTIALS));
}

#[test]
fn an_entry_with_attributes_is_read() {
    let message = b"0D\x02\x01\x02d?\x04\x18cn=Anna Weber,o=Intranet0#\
        0\x12\x04\x02cn1\x0c\x04\x0aAnna Weber0\x0d\x04\x02sn1\x07\x04\x05Weber";
    let body = written(|out| {
        write_octets(out, b"cn=Anna Weber,o=Intranet");
        write_nested(out, tag::SEQUENCE, |out| {
            write_attribute(out, b"cn", [&b"Anna Weber"[..]]);
            write_attribute(out, b"sn", [&b"Weber"[..]]);
        });
    });
    assert_eq!(written(|out| write_entry(out, 2, &body)), message);
    let Reply::Entry { dn, attributes } = Response::decode(message).unwrap().reply else { panic!() };
    assert_eq!(dn, b"cn=Anna Weber,o=Intranet");
    let names: Vec<_> = attributes.iter().map(|attribute| attribute.unwrap().name).collect();
    assert_eq!(names, [b"cn", b"sn"]);
}

#[test]
fn an_entry_without_values_is_read() {
    let message = b"0T\x02\x01\x02dO\x04\x18cn=Anna Weber,o=Intranet030\x0f\x04\x0bobjectClass1\x00\
        0\x06\x04\x02cn1\x000\x06\x04\x02sn1\x000\x10\x04\x0cuserPassword1\x00";
    let Reply::Entry { attributes, .. } = Response::decode(message).unwrap().reply else { panic!() };
    assert_eq!(attributes.iter().count(), 4);
    assert!(attributes.iter().all(|attribute| attribute.unwrap().values.iter().next().is_none()));
    assert_eq!(attributes.check(), Ok(0));
}

#[test]
fn the_last_page_has_an_empty_cookie() {
    let message = b"01\x02\x01\x02e\x07\x0a\x01\x00\x04\x00\x04\x00\
        \xa0#0!\x04\x161.2.840.113556.1.4.319\x04\x070\x05\x02\x01\x00\x04\x00";
    let response = Response::decode(message).unwrap();
    let control = response.controls.iter().next().unwrap();
    assert_eq!((control.oid, control.critical), (oid::PAGED_RESULTS, false));
    assert_eq!(PagedResults::decode(control.value.unwrap()), Ok(PagedResults { size: 0, cookie: b"" }));
    let control = Control { oid: oid::PAGED_RESULTS, critical: false, value: control.value };
    let ours = written(|out| write_result_with(out, 2, op::SEARCH_DONE, &Verdict::SUCCESS, &[control]));
    assert_eq!(ours, message);
}

#[test]
fn an_extended_response_carries_a_value() {
    let message = b"0$\x02\x01\x02x\x1f\x0a\x01\x00\x04\x00\x04\x00\x8b\x16dn:cn=admin,o=Intranet";
    let (tag, outcome) = done(message);
    assert_eq!((tag, outcome.name), (op::EXTENDED_RESPONSE, None));
    assert_eq!(outcome.value, Some(&b"dn:cn=admin,o=Intranet"[..]));
    assert_eq!(written(|out| write_extended(out, 2, &Verdict::SUCCESS, None, outcome.value)), message);
}

/// RFC 4511 section 4.4.1.
#[test]
fn a_notice_of_disconnection_belongs_to_no_request() {
    let verdict =
        Verdict { code: ResultCode::PROTOCOL_ERROR, matched_dn: b"", diagnostic: b"not an LDAP message" };
    let message = written(|out| write_extended(out, 0, &verdict, Some(oid::NOTICE_OF_DISCONNECTION), None));
    assert_eq!(Response::decode(&message).unwrap().id, 0);
    assert_eq!(done(&message).1.name, Some(oid::NOTICE_OF_DISCONNECTION));
}

#[test]
fn referrals_and_references_are_recognised() {
    let referral = b"0\x20\x02\x01\x02e\x1b\x0a\x01\x0a\x04\x00\x04\x00\xa3\x12\x04\x10ldap://x/o=Other";
    assert_eq!(done(referral).1.code, ResultCode::REFERRAL);
    let reference = b"0\x17\x02\x01\x02s\x12\x04\x10ldap://x/o=Other";
    assert!(matches!(Response::decode(reference).unwrap().reply, Reply::Reference));
}

#[test]
fn a_malformed_response_is_refused() {
    let refusal = |message: &[u8]| Response::decode(message).unwrap_err();
    // A request in the place of a response.
    assert_eq!(refusal(b"0\x05\x02\x01\x03B\x00"), DecodeError::UnknownOperation(0x42));
    assert_eq!(
        refusal(b"0\x0c\x02\x01\x01a\x07\x0a\x01\xff\x04\x00\x04\x00"),
        DecodeError::BadValue { what: "the result code", value: -1 }
    );
    // A diagnostic message that extends beyond its operation.
    assert_eq!(
        refusal(b"0\x0c\x02\x01\x01a\x07\x0a\x01\x00\x04\x00\x04\x01"),
        DecodeError::Ber(BerError::Truncated { needed: 3, available: 2 })
    );
    // Attributes that extend beyond the entry are noticed during iteration, not before.
    let entry = written(|out| {
        write_entry(
            out,
            1,
            &written(|out| {
                write_octets(out, b"o=x");
                write_element(out, tag::SEQUENCE, b"\x30\x09\x04\x02cn");
            }),
        );
    });
    let Reply::Entry { attributes, .. } = Response::decode(&entry).unwrap().reply else { panic!() };
    assert_eq!(attributes.check(), Err(BerError::Truncated { needed: 11, available: 6 }));
    assert_eq!(attributes.iter().count(), 1, "the walk ends at the first error");
}

#[test]
fn result_codes_outside_rfc_4511_are_read_as_the_code_other() {
    assert_eq!(ResultCode(80).name(), "other");
    assert_eq!(ResultCode(4096).to_string(), "other (4096)");
    assert_eq!(ResultCode::ENTRY_ALREADY_EXISTS.name(), "entryAlreadyExists");
}

proptest! {
    #[test]
    fn random_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = Response::decode(&bytes);
        let framed = written(|out| write_nested(out, tag::SEQUENCE, |out| out.extend(&bytes)));
        if let Ok(Response { reply: Reply::Entry { attributes, .. }, .. }) = Response::decode(&framed) {
            let _ = attributes.check();
        }
    }

    #[test]
    fn a_written_result_reads_back(
        id in 0..=i32::MAX, code in 0..200u32, matched in any::<Vec<u8>>(), diagnostic in any::<Vec<u8>>()
    ) {
        let verdict = Verdict { code: ResultCode(code), matched_dn: &matched, diagnostic: &diagnostic };
        let message = written(|out| write_result(out, id, op::SEARCH_DONE, &verdict));
        prop_assert_eq!(Response::decode(&message).unwrap().id, id);
        let (_, outcome) = done(&message);
        prop_assert_eq!(
            (outcome.code.0, outcome.matched_dn, outcome.diagnostic),
            (code, &matched[..], &diagnostic[..])
        );
    }

    #[test]
    fn a_written_entry_reads_back(
        id in 0..=i32::MAX,
        attributes in prop::collection::vec(("[a-z]{1,8}", prop::collection::vec(any::<Vec<u8>>(), 0..4)), 0..6),
    ) {
        let body = written(|out| {
            write_octets(out, b"o=x");
            write_nested(out, tag::SEQUENCE, |out| {
                for (name, values) in &attributes {
                    write_attribute(out, name.as_bytes(), values.iter().map(Vec::as_slice));
                }
            });
        });
        let message = written(|out| write_entry(out, id, &body));
        let Reply::Entry { attributes: read, .. } = Response::decode(&message).unwrap().reply else { panic!() };
        let read: Vec<(String, Vec<Vec<u8>>)> = read
            .iter()
            .map(|one| one.unwrap())
            .map(|one| {
                let values = one.values.iter().map(|value| value.unwrap().to_vec()).collect();
                (String::from_utf8(one.name.to_vec()).unwrap(), values)
            })
            .collect();
        prop_assert_eq!(read, attributes);
    }
}
