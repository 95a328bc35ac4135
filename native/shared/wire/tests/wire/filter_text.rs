//! Filters in RFC 4515's notation: their BER encoding, and their text in messages.

use wire::ber::Reader;
use wire::ldap::filter_text::{FilterTextError, parse};
use wire::ldap::{Filter, MAX_FILTER_DEPTH};

fn ber(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    parse(text, &mut out).unwrap();
    out
}

fn text(ber: &[u8]) -> String {
    Filter::decode(&mut Reader::new(ber)).unwrap().to_string()
}

fn refusal(text: &str) -> FilterTextError {
    let mut out = b"before".to_vec();
    let error = parse(text, &mut out).unwrap_err();
    assert_eq!(out, b"before", "nothing is left behind");
    error
}

#[test]
fn the_examples_of_rfc_4515_section_4_read_and_write_back() {
    for example in [
        "(cn=Babs Jensen)",
        "(!(cn=Tim Howes))",
        "(&(objectClass=Person)(|(sn=Jensen)(cn=Babs J*)))",
        "(o=univ*of*mich*)",
        "(seeAlso=)",
        "(cn:caseExactMatch:=Fred Flintstone)",
        "(cn:=Betty Rubble)",
        "(sn:dn:2.4.6.8.10:=Barney Rubble)",
        "(o:dn:=Ace Industry)",
        "(:1.2.3:=Wilma Flintstone)",
        "(:dn:2.4.6.8.10:=Dino)",
        r"(o=Parens R Us \28for all your parenthetical needs\29)",
        r"(cn=*\2a*)",
        r"(filename=C:\5cMyFile)",
        r"(bin=\00\00\00\04)",
        "(sn=Lučić)",
        "(&)",
        "(|)",
        "(a>=b)",
        "(a<=b)",
        "(a~=b)",
        "(cn=*)",
    ] {
        assert_eq!(text(&ber(example)), example);
    }
    assert_eq!(text(&ber(r"(sn=Lu\c4\8di\c4\87)")), "(sn=Lučić)");
    assert_eq!(text(&ber(r"(1.3.6.1.4.1.1466.0=\04\02\48\69)")), r"(1.3.6.1.4.1.1466.0=\04\02Hi)");
}

#[test]
fn a_lookup_filter_has_the_same_bytes_as_in_openldap() {
    let expected = b"\xa0\x2b\xa3\x17\x04\x0bobjectClass\x04\x08RTPerson\xa3\x10\x04\x02cn\x04\x0aAnna Weber";
    assert_eq!(ber("(&(objectClass=RTPerson)(cn=Anna Weber))"), expected);
}

#[test]
fn spellings_that_every_client_accepts_are_read() {
    assert_eq!(ber("cn=Anna"), ber("(cn=Anna)"));
    assert_eq!(ber(" ( & (a=b) ( ! (c=d) ) ) "), ber("(&(a=b)(!(c=d)))"));
    assert_eq!(ber(r"(cn=\*\(\)\\)"), ber(r"(cn=\2a\28\29\5c)"));
    assert_eq!(ber("(cn=a**b)"), ber("(cn=a*b)"));
    assert_eq!(ber("(cn=**)"), ber("(cn=*)"));
    assert_eq!(ber("(cn;lang-de=a b )"), b"\xa3\x12\x04\x0acn;lang-de\x04\x04a b ");
}

#[test]
fn a_filter_error_names_its_position() {
    assert_eq!(refusal(""), FilterTextError::NoOpening(0));
    assert_eq!(refusal("*"), FilterTextError::NoOpening(0));
    assert_eq!(refusal("(cn=a"), FilterTextError::NotClosed(0));
    assert_eq!(refusal("(&(cn=a)"), FilterTextError::NotClosed(0));
    assert_eq!(refusal("(&(cn=a)x)"), FilterTextError::NotClosed(0));
    assert_eq!(refusal("(cn=a)(sn=b)"), FilterTextError::Trailing(6));
    assert_eq!(refusal("cn=a)"), FilterTextError::Trailing(4));
    assert_eq!(refusal("(!)"), FilterTextError::NoOpening(2));
    assert_eq!(refusal("(!(a=b)(c=d))"), FilterTextError::NotClosed(0));
    assert_eq!(refusal("(=a)"), FilterTextError::NoAttribute(1));
    assert_eq!(refusal("(:=a)"), FilterTextError::NoAttribute(1));
    assert_eq!(refusal("(:dn:=a)"), FilterTextError::NoAttribute(1));
    assert_eq!(refusal("(cn)"), FilterTextError::NoOperator(3));
    assert_eq!(refusal("(cn>a)"), FilterTextError::NoOperator(3));
    assert_eq!(refusal("(cn:a:b:=c)"), FilterTextError::NoOperator(5));
    assert_eq!(refusal("(cn:dn"), FilterTextError::NoOperator(6));
    assert_eq!(refusal("(cn=a(b)"), FilterTextError::Unescaped { at: 5, character: '(' });
    assert_eq!(refusal("(cn>=a*)"), FilterTextError::Unescaped { at: 6, character: '*' });
    assert_eq!(refusal(r"(cn=\zz)"), FilterTextError::BadEscape(4));
    assert_eq!(refusal(r"(cn=\2"), FilterTextError::BadEscape(4));
    assert_eq!(refusal("(cn>=a*)").to_string(), r"'*' at byte 6 has to be written \2a");
}

#[test]
fn the_text_parser_has_the_depth_limit_of_the_decoder() {
    let nested = |n: usize| format!("{}(a=b){}", "(!".repeat(n), ")".repeat(n));
    assert_eq!(text(&ber(&nested(MAX_FILTER_DEPTH - 1))), nested(MAX_FILTER_DEPTH - 1));
    assert_eq!(refusal(&nested(MAX_FILTER_DEPTH)), FilterTextError::TooDeep);
    assert_eq!(refusal(&"(!".repeat(100_000)), FilterTextError::TooDeep);
}
