//! Distinguished names: valid, refused, and equal spellings.

use wire::dn::{Dn, DnError, MAX_DN_BYTES, MAX_RDNS, Plain, Rdn, normal};

fn parts(text: &[u8]) -> Vec<Vec<(String, Vec<u8>)>> {
    let pairs = |rdn: Rdn<'_>| {
        rdn.pairs()
            .map(|pair| {
                let value = pair.value.decode(&mut Vec::new()).to_vec();
                (String::from_utf8(pair.attribute.to_vec()).unwrap(), value)
            })
            .collect()
    };
    Dn::parse(text).unwrap().rdns().map(pairs).collect()
}

fn one(attribute: &str, value: impl AsRef<[u8]>) -> Vec<(String, Vec<u8>)> {
    vec![(attribute.to_owned(), value.as_ref().to_vec())]
}

fn normal_of(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Dn::parse(text).unwrap().write_normal(&Plain, &mut out);
    out
}

fn refusal(text: &[u8]) -> DnError {
    Dn::parse(text).unwrap_err()
}

#[test]
fn the_examples_of_rfc_4514_section_4_are_read() {
    assert_eq!(
        parts(b"UID=jsmith,DC=example,DC=net"),
        [one("UID", "jsmith"), one("DC", "example"), one("DC", "net")]
    );
    assert_eq!(
        parts(b"OU=Sales+CN=J.  Smith,DC=example,DC=net")[0],
        [("OU".to_owned(), b"Sales".to_vec()), ("CN".to_owned(), b"J.  Smith".to_vec())]
    );
    assert_eq!(parts(br#"CN=James \"Jim\" Smith\, III,DC=net"#)[0], one("CN", r#"James "Jim" Smith, III"#));
    assert_eq!(parts(br"CN=Before\0dAfter,DC=net")[0], one("CN", "Before\rAfter"));
    assert_eq!(parts(b"1.3.6.1.4.1.1466.0=#04024869"), [one("1.3.6.1.4.1.1466.0", "Hi")]);
    assert_eq!(parts(br"CN=Lu\C4\8Di\C4\87"), [one("CN", "Lučić")]);
}

#[test]
fn the_ldapv2_spellings_of_rfc_2253_section_4_are_read() {
    assert_eq!(parts(b"CN = a ; O = b"), [one("CN", "a"), one("O", "b")]);
    assert_eq!(parts(br#"O="Sue, Grabbit and Runn" ,C=GB"#)[0], one("O", "Sue, Grabbit and Runn"));
    assert_eq!(parts(br#"CN="a \"b\" \\ c""#), [one("CN", r#"a "b" \ c"#)]);
    assert_eq!(parts(b"OID.2.5.4.3=a,oid.2.5.4.10=b"), [one("2.5.4.3", "a"), one("2.5.4.10", "b")]);
    assert_eq!(parts(b"CN=\" a \""), [one("CN", " a ")]);
}

#[test]
fn the_dn_that_an_ils_client_registers_is_read() {
    assert_eq!(
        parts(b"c=-,o=Microsoft,cn=someone@example.com,objectClass=rtPerson"),
        [
            one("c", "-"),
            one("o", "Microsoft"),
            one("cn", "someone@example.com"),
            one("objectClass", "rtPerson")
        ]
    );
    assert_eq!(parts(b"cn=%,objectClass=rtPerson")[0], one("cn", "%"));
    assert_eq!(parts(b"cn=J\xfcrgen")[0], one("cn", b"J\xfcrgen"));
}

#[test]
fn the_empty_dn_is_the_root() {
    for text in [&b""[..], b"   "] {
        let dn = Dn::parse(text).unwrap();
        assert!(dn.is_root());
        assert!(dn.split_first().is_none() && dn.parent().is_none());
        assert_eq!(normal_of(text), b"");
    }
}

#[test]
fn edge_spaces_of_a_dn_value_count_only_if_escaped() {
    assert_eq!(parts(b"cn=  a b  ,o=x")[0], one("cn", "a b"));
    assert_eq!(parts(br"cn=\ a\  ,o=x")[0], one("cn", " a "));
    assert_eq!(parts(b"cn= ,o=x")[0], one("cn", ""));
}

#[test]
fn a_dn_value_may_contain_an_equals_sign() {
    assert_eq!(parts(b"cn=a=b,o=x")[0], one("cn", "a=b"));
}

#[test]
fn the_first_rdn_and_the_parent_keep_their_spelling() {
    let (first, parent) =
        Dn::parse(br" cn=a\,b + sn=c ; ou=Dynamic,o=Intranet").unwrap().split_first().unwrap();
    assert_eq!(first.as_bytes(), br"cn=a\,b + sn=c");
    assert_eq!(parent.as_bytes(), b"ou=Dynamic,o=Intranet");
    assert_eq!(parent.parent().unwrap().parent().unwrap(), Dn::ROOT);
}

#[test]
fn a_rename_accepts_exactly_one_rdn() {
    assert_eq!(Rdn::try_from(&b"cn=a+sn=b"[..]).unwrap().as_bytes(), b"cn=a+sn=b");
    assert_eq!(Rdn::try_from(&b"cn=a,o=b"[..]), Err(DnError::NotOneRdn));
    assert_eq!(Rdn::try_from(&b""[..]), Err(DnError::NotOneRdn));
    let long = [b"cn=", &[b'a'; MAX_DN_BYTES][..]].concat();
    assert_eq!(Rdn::try_from(&long[..]), Err(DnError::TooLong(long.len())));
}

#[test]
fn a_dn_error_names_its_position() {
    assert_eq!(refusal(b"cn=a,"), DnError::NoAttribute(5));
    assert_eq!(refusal(b"  ,cn=a"), DnError::NoAttribute(2));
    assert_eq!(refusal(b"cn=a,,o=b"), DnError::NoAttribute(5));
    assert_eq!(refusal(b"=a"), DnError::NoAttribute(0));
    assert_eq!(refusal(b"1..2=a"), DnError::NoAttribute(0));
    assert_eq!(refusal(b"cn"), DnError::NoEquals(2));
    assert_eq!(refusal(b"c n=a"), DnError::NoEquals(2));
    assert_eq!(refusal(b"cn=a<b"), DnError::Unescaped { at: 4, byte: b'<' });
    assert_eq!(refusal(b"cn=a\0"), DnError::Unescaped { at: 4, byte: 0 });
    assert_eq!(refusal(br"cn=\x"), DnError::BadEscape(3));
    assert_eq!(refusal(br"cn=\4"), DnError::BadEscape(3));
    assert_eq!(refusal(br"cn=a\"), DnError::BadEscape(4));
    assert_eq!(refusal(br#"cn="a"#), DnError::UnclosedQuote(3));
    assert_eq!(refusal(br#"cn="a"b"#), DnError::Unescaped { at: 6, byte: b'b' });
    for hexadecimal in ["#", "#0", "#04024", "#0403414", "#040141ff", "#0480", "#3000", "#0484ffffffff41"] {
        assert_eq!(refusal(format!("cn={hexadecimal}").as_bytes()), DnError::BadHex(3), "{hexadecimal}");
    }
}

#[test]
fn every_dn_error_message_is_a_sentence() {
    assert_eq!(
        refusal(b"cn=a,").to_string(),
        "no attribute type at byte 5; a name reads attribute=value,attribute=value"
    );
    assert_eq!(refusal(b"cn=a<b").to_string(), "'<' at byte 4 has to be written with a backslash");
    let long = [b"cn=", &[b'a'; MAX_DN_BYTES][..]].concat();
    assert_eq!(refusal(&long).to_string(), "a name of 8195 bytes, over the limit of 8192");
}

#[test]
fn length_and_depth_of_a_dn_are_limited() {
    let deep = |n: usize| vec!["c=a"; n].join(",");
    assert_eq!(parts(deep(MAX_RDNS).as_bytes()).len(), MAX_RDNS);
    assert_eq!(refusal(deep(MAX_RDNS + 1).as_bytes()), DnError::TooManyRdns);
    // Several pairs in one RDN do not add depth.
    assert_eq!(parts(vec!["c=a"; 500].join("+").as_bytes())[0].len(), 500);
}

#[test]
fn spellings_of_one_dn_have_one_normal_form() {
    let expected = b"cn=sue\\2c a,o=x y".to_vec();
    for spelling in [
        &br"cn=Sue\, A,o=X Y"[..],
        br"CN = sue\2C  a ;O=x   y ",
        br#"cn="Sue, A",o="X Y""#,
        b"cn=#04065375652c2041,o=x y",
    ] {
        assert_eq!(normal_of(spelling), expected, "{}", String::from_utf8_lossy(spelling));
    }
    assert_eq!(normal_of(b"sn=b+cn=a,o=x"), normal_of(b"CN=A + SN=B,O=X"));
    assert_eq!(normal_of("cn=ΟΔΥΣΣΕΥΣ".as_bytes()), normal_of("cn=οδυσσευς".as_bytes()));
    assert_ne!(normal_of(b"cn=a"), normal_of(b"cn=b"));
}

#[test]
fn ancestry_of_normal_forms_is_decided_by_their_bytes() {
    let name = normal_of(br"cn=a\,o=x,ou=Dynamic,o=Intranet");
    assert_eq!(normal::parent(&name), Some(&b"ou=dynamic,o=intranet"[..]));
    assert!(normal::is_at_or_below(&name, b"o=intranet"));
    assert!(normal::is_at_or_below(&name, &name));
    assert!(normal::is_at_or_below(&name, b""));
    assert!(!normal::is_at_or_below(b"o=intranet", &name));
    assert!(!normal::is_at_or_below(&normal_of(br"cn=a\,o=intranet"), b"o=intranet"));
    assert!(!normal::is_at_or_below(b"foo=intranet", b"o=intranet"));
    assert_eq!(normal::parent(b""), None);
}
