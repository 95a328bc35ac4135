//! Requests, byte by byte as OpenLDAP 2.6's clients send them to slapd, and refused requests.

use wire::ber::{BerError, tag, write_nested, write_octets};
use wire::ldap::control::PagedResults;
use wire::ldap::filter::{Kind, write_not, write_present};
use wire::ldap::request::{
    SearchOptions, write_abandon, write_add, write_attribute, write_bind, write_change, write_compare,
    write_delete, write_extended, write_modify, write_modify_dn, write_refresh_value, write_sasl_bind,
    write_search, write_unbind,
};
use wire::ldap::{Credentials, DecodeError, MAX_FILTER_DEPTH, Operation, Request, Scope, filter_text, oid};

use crate::written;

/// The parameters of a search that asks for the base alone.
const OF_THE_BASE: SearchOptions =
    SearchOptions { scope: Scope::Base, size_limit: 0, time_limit_s: 0, types_only: false, dereference: 0 };

fn operation(message: &[u8]) -> Operation<'_> {
    Request::decode(message).unwrap().operation
}

fn refusal(message: &[u8]) -> DecodeError {
    Request::decode(message).unwrap_err()
}

#[test]
fn simple_binds_are_read() {
    let anonymous = &b"0\x0c\x02\x01\x01`\x07\x02\x01\x03\x04\x00\x80\x00"[..];
    let named = b"0%\x02\x01\x01` \x02\x01\x03\x04\x13cn=admin,o=Intranet\x80\x06secret";
    for (message, name, password) in
        [(anonymous, &b""[..], &b""[..]), (named, b"cn=admin,o=Intranet", b"secret")]
    {
        assert_eq!(written(|out| write_bind(out, 1, 3, name, password)), message);
        let Operation::Bind(bind) = operation(message) else { panic!() };
        assert_eq!((bind.version, bind.name), (3, name));
        assert!(matches!(bind.credentials, Credentials::Simple(read) if read == password));
    }
}

#[test]
fn sasl_binds_and_a_bind_with_an_unknown_method_are_read() {
    let external = b"0\x18\x02\x01\x01`\x13\x02\x01\x03\x04\x00\xa3\x0c\x04\x08EXTERNAL\x04\x00";
    let plain = b"0\x19\x02\x01\x02`\x14\x02\x01\x03\x04\x00\xa3\x0d\x04\x05PLAIN\x04\x04\x00a\x00b";
    assert_eq!(written(|out| write_sasl_bind(out, 1, b"EXTERNAL", b"")), external);
    assert_eq!(written(|out| write_sasl_bind(out, 2, b"PLAIN", b"\0a\0b")), plain);
    let credentials = |message| match operation(message) {
        Operation::Bind(bind) => bind.credentials,
        other => panic!("{other:?}"),
    };
    assert!(matches!(credentials(external), Credentials::Sasl(b"EXTERNAL", Some(b""))));
    assert!(matches!(credentials(plain), Credentials::Sasl(b"PLAIN", Some(b"\0a\0b"))));
    let unknown = b"0\x0c\x02\x01\x01`\x07\x02\x01\x02\x04\x00\x84\x00";
    assert!(matches!(credentials(unknown), Credentials::Other(0x84)));
}

#[test]
fn an_unbind_and_an_abandon_are_read() {
    let unbind = b"0\x05\x02\x01\x03B\x00";
    assert_eq!(written(|out| write_unbind(out, 3)), unbind);
    assert!(matches!(operation(unbind), Operation::Unbind));
    let abandon = b"0\x06\x02\x01\x03P\x01\x02";
    assert_eq!(written(|out| write_abandon(out, 3, 2)), abandon);
    assert!(matches!(operation(abandon), Operation::Abandon(2)));
}

#[test]
fn a_search_with_every_field_is_read() {
    let message =
        b"0i\x02\x01\x02cd\x04\x0ao=Intranet\x0a\x01\x02\x0a\x01\x00\x02\x01\x0a\x02\x01\x05\x01\x01\x00\
        \xa0>\xa4\x0e\x04\x02cn0\x08\x80\x02An\x82\x02er\xa2\x09\xa5\x07\x04\x02sn\x04\x01x\
        \xa1!\x87\x02sn\xa9\x1b\x81\x0fcaseIgnoreMatch\x82\x02cn\x83\x01a\x84\x01\xff\
        0\x07\x04\x02cn\x04\x01+";
    let text = "(&(cn=An*er)(!(sn>=x))(|(sn=*)(cn:dn:caseIgnoreMatch:=a)))";
    let options = SearchOptions { scope: Scope::Subtree, size_limit: 10, time_limit_s: 5, ..OF_THE_BASE };
    let ours = written(|out| {
        let filter = |out: &mut Vec<u8>| filter_text::parse(text, out).unwrap();
        write_search(out, 2, b"o=Intranet", &options, filter, [&b"cn"[..], b"+"]);
    });
    assert_eq!(ours, message);
    let Operation::Search(search) = operation(message) else { panic!() };
    assert_eq!((search.base, search.scope, search.dereference), (&b"o=Intranet"[..], Scope::Subtree, 0));
    assert_eq!((search.size_limit, search.time_limit_s, search.types_only), (10, 5, false));
    assert_eq!(search.filter.to_string(), text);
    assert_eq!(search.attributes.iter().collect::<Vec<_>>(), [&b"cn"[..], b"+"]);
}

#[test]
fn a_types_only_search_is_read() {
    let message = b"0&\x02\x01\x02c!\x04\x0ao=Intranet\x0a\x01\x02\x0a\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\xff\x87\x02cn0\x00";
    let Operation::Search(search) = operation(message) else { panic!() };
    assert!(search.types_only && search.attributes.is_empty());
    assert_eq!(search.filter.kind(), Kind::Present(b"cn"));
}

#[test]
fn a_search_with_a_page_control_is_read() {
    let message =
        b"0\x5c\x02\x01\x02c/\x04\x0ao=Intranet\x0a\x01\x00\x0a\x01\x00\x02\x01\x00\x02\x01\x00\x01\x01\x00\
        \x87\x0bobjectClass0\x05\x04\x031.1\
        \xa0&0$\x04\x161.2.840.113556.1.4.319\x01\x01\xff\x04\x070\x05\x02\x01\x02\x04\x00";
    let request = Request::decode(message).unwrap();
    let controls: Vec<_> = request.controls.iter().collect();
    assert_eq!(controls.len(), 1);
    assert_eq!((controls[0].oid, controls[0].critical), (oid::PAGED_RESULTS, true));
    let paged = PagedResults { size: 2, cookie: b"" };
    assert_eq!(PagedResults::decode(controls[0].value.unwrap()), Ok(paged));
    assert_eq!(written(|out| paged.encode(out)), controls[0].value.unwrap());
}

#[test]
fn an_add_is_read() {
    let message = b"0N\x02\x01\x02hI\x04\x10cn=Bo,o=Intranet050\x17\x04\x0bobjectClass1\x08\x04\x06person\
        0\x0a\x04\x02cn1\x04\x04\x02Bo0\x0e\x04\x02sn1\x08\x04\x02Li\x04\x02Ly";
    let entry: [(&[u8], &[&[u8]]); 3] =
        [(b"objectClass", &[b"person"]), (b"cn", &[b"Bo"]), (b"sn", &[b"Li", b"Ly"])];
    let ours = written(|out| {
        write_add(out, 2, b"cn=Bo,o=Intranet", |out| {
            write_nested(out, tag::SEQUENCE, |out| {
                entry.iter().for_each(|(name, values)| write_attribute(out, name, values.iter().copied()));
            });
        });
    });
    assert_eq!(ours, message);
    let Operation::Add(add) = operation(message) else { panic!() };
    assert_eq!(add.dn, b"cn=Bo,o=Intranet");
    assert_eq!(add.values, 4);
    for (read, (name, values)) in add.attributes.iter().zip(entry) {
        let read = read.unwrap();
        assert_eq!(read.name, name);
        assert_eq!(read.values.iter().map(Result::unwrap).collect::<Vec<_>>(), values);
    }
}

#[test]
fn a_modify_is_read() {
    let message =
        b"0@\x02\x01\x02f;\x04\x10cn=Bo,o=Intranet0'0\x0f\x0a\x01\x020\x0a\x04\x02sn1\x04\x04\x02Lo\
        0\x14\x0a\x01\x010\x0f\x04\x0bdescription1\x00";
    let ours = written(|out| {
        write_modify(out, 2, b"cn=Bo,o=Intranet", |out| {
            write_change(out, 2, b"sn", [&b"Lo"[..]]);
            write_change(out, 1, b"description", []);
        });
    });
    assert_eq!(ours, message);
    let Operation::Modify(modify) = operation(message) else { panic!() };
    let changes: Vec<_> = modify.changes().map(|change| (change.operation, change.attribute.name)).collect();
    assert_eq!(changes, [(2, &b"sn"[..]), (1, b"description")]);
}

#[test]
fn a_delete_a_rename_and_a_compare_are_read() {
    let delete = b"0\x16\x02\x01\x02J\x11cn=Bob,o=Intranet";
    assert_eq!(written(|out| write_delete(out, 2, b"cn=Bob,o=Intranet")), delete);
    assert!(matches!(operation(delete), Operation::Delete(b"cn=Bob,o=Intranet")));

    let rename = b"0.\x02\x01\x02l)\x04\x10cn=Bo,o=Intranet\x04\x06cn=Bob\x01\x01\xff\x80\x0ao=Intranet";
    let ours =
        written(|out| write_modify_dn(out, 2, b"cn=Bo,o=Intranet", b"cn=Bob", true, Some(b"o=Intranet")));
    assert_eq!(ours, rename);
    let Operation::ModifyDn(read) = operation(rename) else { panic!() };
    assert_eq!((read.dn, read.new_rdn), (&b"cn=Bo,o=Intranet"[..], &b"cn=Bob"[..]));
    assert_eq!((read.delete_old_rdn, read.new_superior), (true, Some(&b"o=Intranet"[..])));

    let compare = b"0\x22\x02\x01\x02n\x1d\x04\x11cn=Bob,o=Intranet0\x08\x04\x02sn\x04\x02Lo";
    assert_eq!(written(|out| write_compare(out, 2, b"cn=Bob,o=Intranet", b"sn", b"Lo")), compare);
    let Operation::Compare(read) = operation(compare) else { panic!() };
    assert_eq!((read.attribute, read.value), (&b"sn"[..], &b"Lo"[..]));
}

#[test]
fn extended_requests_are_read() {
    let who_am_i = b"0\x1e\x02\x01\x02w\x19\x80\x171.3.6.1.4.1.4203.1.11.3";
    assert_eq!(written(|out| write_extended(out, 2, oid::WHO_AM_I, None)), who_am_i);
    let start_tls = b"0\x1d\x02\x01\x01w\x18\x80\x161.3.6.1.4.1.1466.20037";
    let Operation::Extended(read) = operation(start_tls) else { panic!() };
    assert_eq!((read.name, read.value), (oid::START_TLS, None));

    let refresh = b"0B\x02\x01\x02w=\x80\x1a1.3.6.1.4.1.1466.101.119.1\x81\x1f0\x1d\x80\x18cn=Anna Weber,o=Intranet\x81\x01<";
    let value = written(|out| write_refresh_value(out, b"cn=Anna Weber,o=Intranet", 60));
    assert_eq!(written(|out| write_extended(out, 2, oid::REFRESH, Some(&value))), refresh);
    let Operation::Extended(read) = operation(refresh) else { panic!() };
    assert_eq!((read.name, read.value), (oid::REFRESH, Some(&value[..])));
}

#[test]
fn elements_appended_by_later_protocols_are_skipped_as_in_rfc_4511_section_4() {
    assert!(matches!(operation(b"0\x08\x02\x01\x03B\x00\x8f\x01x"), Operation::Unbind));
}

#[test]
fn a_malformed_request_is_refused() {
    assert_eq!(refusal(b"0\x05\x02\x01\x01\x7e\x00"), DecodeError::UnknownOperation(0x7e));
    assert_eq!(refusal(b"0\x05\x02\x01\xffB\x00"), DecodeError::BadMessageId(-1));
    assert_eq!(refusal(b"0\x09\x02\x05\x00\x80\0\0\0B\x00"), DecodeError::BadMessageId(1 << 31));
    assert_eq!(refusal(b"0\x05\x02\x01\x03B\x00x"), DecodeError::Ber(BerError::Trailing(1)));
    assert_eq!(
        refusal(b"0\x05\x04\x01\x03B\x00"),
        DecodeError::Ber(BerError::UnexpectedTag { expected: 0x02, found: 0x04 })
    );
}

#[test]
fn the_refusal_of_a_value_that_rfc_4511_does_not_define_names_the_field() {
    let good = search_with(|out| write_present(out, b"objectClass"));
    // The position of the scope: behind the message's header and ID, the operation's header, and the empty
    // base.
    let scope = 2 + 3 + 2 + 2 + 2;
    for (place, value, message) in [
        (scope, 4, "the scope is 4, which RFC 4511 does not define"),
        (scope + 3, 4, "derefAliases is 4, which RFC 4511 does not define"),
        (scope + 6, 0x80, "the size limit is -128, which RFC 4511 does not define"),
        (scope + 9, 0xff, "the time limit is -1, which RFC 4511 does not define"),
    ] {
        let mut bad = good.clone();
        bad[place] = value;
        assert_eq!(refusal(&bad).to_string(), message);
    }
    assert_eq!(
        refusal(&written(|out| write_modify(out, 1, b"", |out| write_change(out, 4, b"cn", [])))),
        DecodeError::BadValue { what: "the kind of change", value: 4 }
    );
}

fn search_with(filter: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    written(|out| write_search(out, 1, b"", &OF_THE_BASE, filter, []))
}

#[test]
fn a_filter_is_accepted_up_to_the_depth_limit() {
    fn nest(out: &mut Vec<u8>, depth: usize) {
        if depth == 1 {
            write_present(out, b"cn");
        } else {
            write_not(out, |out| nest(out, depth - 1));
        }
    }
    Request::decode(&search_with(|out| nest(out, MAX_FILTER_DEPTH))).unwrap();
    assert_eq!(refusal(&search_with(|out| nest(out, MAX_FILTER_DEPTH + 1))), DecodeError::FilterTooDeep);
}

/// CVE-2020-12243: recursive decoding of a deeply nested filter overflowed slapd's stack.
#[test]
fn a_filter_that_crashed_slapd_is_refused() {
    const DEPTH: u32 = 100_000;
    let innermost = b"\x87\x02cn";
    let mut filter = Vec::new();
    for below in (0..DEPTH).rev() {
        filter.extend_from_slice(b"\xa2\x84");
        filter.extend_from_slice(&(below * 6 + 4).to_be_bytes());
    }
    filter.extend_from_slice(innermost);
    assert_eq!(refusal(&search_with(|out| out.extend_from_slice(&filter))), DecodeError::FilterTooDeep);
}

#[test]
fn a_malformed_filter_is_refused() {
    let filter = |bytes: &'static [u8]| refusal(&search_with(|out| out.extend_from_slice(bytes)));
    assert_eq!(filter(b"\xaa\x00"), DecodeError::UnknownFilter(0xaa));
    assert_eq!(filter(b"\xa0\x02\xaa\x00"), DecodeError::UnknownFilter(0xaa));
    // An equality without its value, a negation of nothing, a negation of two filters.
    assert!(matches!(filter(b"\xa3\x04\x04\x02cn"), DecodeError::Ber(BerError::Truncated { .. })));
    assert!(matches!(filter(b"\xa2\x00"), DecodeError::Ber(BerError::Truncated { .. })));
    assert_eq!(filter(b"\xa2\x06\x87\x01a\x87\x01b"), DecodeError::Ber(BerError::Trailing(3)));
}

#[test]
fn substring_pieces_must_be_in_order() {
    let filter = |pieces: &[u8]| {
        let mut content = Vec::new();
        write_octets(&mut content, b"cn");
        wire::ber::write_element(&mut content, tag::SEQUENCE, pieces);
        Request::decode(&search_with(|out| wire::ber::write_element(out, 0xa4, &content))).map(drop)
    };
    assert_eq!(filter(b"\x80\x01a\x81\x01b\x81\x01c\x82\x01d"), Ok(()));
    for wrong in [&b""[..], b"\x81\x01a\x80\x01b", b"\x82\x01a\x81\x01b", b"\x83\x01a", b"\x81\x00"] {
        assert_eq!(filter(wrong), Err(DecodeError::BadSubstrings), "{wrong:?}");
    }
}
