//! LDAP responses, byte by byte as slapd 2.6 sends them.

use wire::ber::{BerError, tag, write_element, write_nested, write_octets};
use wire::ldap::answer::{Verdict, write_entry, write_extended, write_result, write_result_with};
use wire::ldap::control::PagedResults;
use wire::ldap::request::write_attribute;
use wire::ldap::{Control, DecodeError, Outcome, Reply, Response, ResultCode, oid, op};

use crate::written;

fn done(message: &[u8]) -> (u8, Outcome<'_>) {
    match Response::decode(message).unwrap().reply {
        Reply::Done { tag, outcome } => (tag, outcome),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_result_is_read_with_its_matched_dn_and_diagnostic_message() {
    const MISSING: &[u8] = b"modify/delete: description: no such attribute";
    for (response, tag, code, matched_dn, diagnostic) in [
        (
            &b"0\x0c\x02\x01\x01a\x07\x0a\x01\x00\x04\x00\x04\x00"[..],
            op::BIND_RESPONSE,
            0,
            &b""[..],
            &b""[..],
        ),
        (b"0\x0c\x02\x01\x02e\x07\x0a\x01\x00\x04\x00\x04\x00", op::SEARCH_DONE, 0, b"", b""),
        (b"0\x0c\x02\x01\x02i\x07\x0a\x01\x00\x04\x00\x04\x00", op::ADD_RESPONSE, 0, b"", b""),
        (b"0\x0c\x02\x01\x02m\x07\x0a\x01\x00\x04\x00\x04\x00", op::MODIFY_DN_RESPONSE, 0, b"", b""),
        (b"0\x0c\x02\x01\x02k\x07\x0a\x01\x00\x04\x00\x04\x00", op::DELETE_RESPONSE, 0, b"", b""),
        (
            b"09\x02\x01\x02g4\x0a\x01\x10\x04\x00\x04-modify/delete: description: no such attribute",
            op::MODIFY_RESPONSE,
            16,
            b"",
            MISSING,
        ),
        (
            b"0\x16\x02\x01\x02e\x11\x0a\x01 \x04\x0ao=Intranet\x04\x00",
            op::SEARCH_DONE,
            32,
            b"o=Intranet",
            b"",
        ),
        (b"0\x0c\x02\x01\x01a\x07\x0a\x011\x04\x00\x04\x00", op::BIND_RESPONSE, 49, b"", b""),
    ] {
        let id = Response::decode(response).unwrap().id;
        let verdict = Verdict { code: ResultCode(code), matched_dn, diagnostic };
        assert_eq!(written(|out| write_result(out, id, tag, &verdict)), response);
        let (read, outcome) = done(response);
        assert_eq!((read, outcome.code), (tag, verdict.code));
        assert_eq!((outcome.matched_dn, outcome.diagnostic), (matched_dn, diagnostic));
    }
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
    assert_eq!(ResultCode::NO_SUCH_ATTRIBUTE.to_string(), "noSuchAttribute (16)");
    assert_eq!(ResultCode(32), ResultCode::NO_SUCH_OBJECT);
    assert_eq!(ResultCode(49), ResultCode::INVALID_CREDENTIALS);
}
