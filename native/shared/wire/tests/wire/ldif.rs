//! LDIF: which records are read, and the errors for the rest.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use wire::ber::Reader;
use wire::ldap::Attributes as Encoded;
use wire::ldif::{Attributes, Body, LdifError, MAX_RECORD_BYTES, ModificationKind, Parser, Record, each};

type Pairs = Vec<(String, String)>;

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn lines(attributes: Attributes<'_>) -> Pairs {
    attributes.iter().map(|(name, value)| (text(name), text(value))).collect()
}

fn pairs(expected: &[(&str, &str)]) -> Pairs {
    expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Name and lines of every record, all of which must be entries.
fn entries(ldif: impl AsRef<[u8]>) -> Vec<(String, Pairs)> {
    let mut entries = Vec::new();
    each(ldif.as_ref(), |record| match record.body {
        Body::Content(attributes) => {
            entries.push((text(record.dn), lines(attributes)));
            Ok::<_, LdifError>(())
        }
        other => panic!("{other:?}"),
    })
    .unwrap();
    entries
}

fn only<T>(ldif: &str, look: impl Fn(Record<'_>) -> T) -> T {
    let mut found = Vec::new();
    each(ldif.as_bytes(), |record| {
        found.push(look(record));
        Ok::<_, LdifError>(())
    })
    .unwrap();
    assert_eq!(found.len(), 1, "{ldif}");
    found.remove(0)
}

#[track_caller]
fn refused(ldif: &str, message: &str) {
    let error = each(ldif.as_bytes(), |_| Ok::<_, LdifError>(())).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn example_1_of_rfc_2849_is_two_entries() {
    let ldif = "version: 1
dn: cn=Barbara Jensen, ou=Product Development, dc=airius, dc=com
objectclass: top
objectclass: person
cn: Barbara Jensen
sn: Jensen
description: A big sailing fan.

dn: cn=Bjorn Jensen, ou=Accounting, dc=airius, dc=com
objectclass: top
telephonenumber: +1 408 555 1212
";
    let read = entries(ldif);
    assert_eq!(read.len(), 2);
    assert_eq!(read[0].0, "cn=Barbara Jensen, ou=Product Development, dc=airius, dc=com");
    assert_eq!(read[0].1[4], ("description".to_owned(), "A big sailing fan.".to_owned()));
    assert_eq!(read[1].1, pairs(&[("objectclass", "top"), ("telephonenumber", "+1 408 555 1212")]));
}

#[test]
fn examples_2_and_3_of_rfc_2849_unfold_and_decode() {
    let ldif = "version: 1
dn:cn=Barbara Jensen, ou=Product Development, dc=airius, dc=com
description:Babs is a big sailing fan, and travels extensively in sea
 rch of perfect sailing conditions.
description:: V2hhdCBhIGNhcmVmdWwgcmVhZGVyIHlvdSBhcmUhICBUaGlzIHZhbHVlIGlzIGJhc2
 UtNjQtZW5jb2RlZCBiZWNhdXNlIGl0IGhhcyBhIGNvbnRyb2wgY2hhcmFjdGVyIGluIGl0IChhIENSKS4NIC
 BCeSB0aGUgd2F5LCB5b3Ugc2hvdWxkIHJlYWxseSBnZXQgb3V0IG1vcmUu
";
    let read = entries(ldif);
    let sailing =
        "Babs is a big sailing fan, and travels extensively in search of perfect sailing conditions.";
    assert_eq!(read[0].1[0].1, sailing);
    assert!(read[0].1[1].1.starts_with("What a careful reader you are!  This value is base-64-encoded"));
    assert!(read[0].1[1].1.contains("(a CR).\r  By the way"));
}

#[test]
fn example_4_of_rfc_2849_has_names_in_base64_and_options() {
    let ldif = "# dn:: ou=<JapaneseOU>,o=Airius
dn:: b3U95Za25qWt6YOoLG89QWlyaXVz
objectclass: organizationalUnit
ou:: 5Za25qWt6YOo
ou;lang-ja;phonetic:: 44GI44GE44GO44KH44GG44G2
";
    let read = entries(ldif);
    assert_eq!(read[0].0, "ou=営業部,o=Airius");
    assert_eq!(read[0].1[2], ("ou;lang-ja;phonetic".to_owned(), "えいぎょうぶ".to_owned()));
}

#[test]
fn the_changes_of_example_6_of_rfc_2849_are_read() {
    only("dn: cn=Fiona\nchangetype: add\ncn: Fiona\n", |record| {
        assert!(matches!(record.body, Body::Add(a) if lines(a) == pairs(&[("cn", "Fiona")])));
    });
    only("dn: cn=Robert\nchangetype: delete\n", |record| assert!(matches!(record.body, Body::Delete)));
    only("dn: cn=Paul\nchangetype: modrdn\nnewrdn: cn=Paula\ndeleteoldrdn: 1\n", |record| {
        let Body::ModifyDn { new_rdn, delete_old_rdn, new_superior } = record.body else { panic!() };
        assert_eq!((new_rdn, delete_old_rdn, new_superior), (&b"cn=Paula"[..], true, None));
    });
    only(
        "dn: ou=PD\nchangetype: moddn\nnewrdn: ou=PD\ndeleteoldrdn: 0\nnewsuperior: ou=Accounting\n",
        |record| {
            let Body::ModifyDn { delete_old_rdn, new_superior, .. } = record.body else { panic!() };
            assert_eq!((delete_old_rdn, new_superior), (false, Some(&b"ou=Accounting"[..])));
        },
    );
}

#[test]
fn a_modify_is_one_modification_after_the_other() {
    let ldif = "dn: cn=Paula Jensen
changetype: modify
add: postaladdress
postaladdress: 123 Anystreet $ Sunnyvale, CA $ 94086
-
delete: description
-
replace: telephonenumber
telephonenumber: +1 408 555 1234
telephonenumber: +1 408 555 5678
-
increment: uidNumber
uidNumber: 1
";
    only(ldif, |record| {
        let Body::Modify(modifications) = record.body else { panic!() };
        let read: Vec<_> = modifications
            .iter()
            .map(|one| (one.kind, text(one.attribute), one.values().map(text).collect::<Vec<_>>()))
            .collect();
        let expected = [
            (ModificationKind::Add, "postaladdress", vec!["123 Anystreet $ Sunnyvale, CA $ 94086"]),
            (ModificationKind::Delete, "description", vec![]),
            (ModificationKind::Replace, "telephonenumber", vec!["+1 408 555 1234", "+1 408 555 5678"]),
            (ModificationKind::Increment, "uidNumber", vec!["1"]),
        ];
        let expected = expected.map(|(kind, name, values)| {
            (kind, name.to_owned(), values.into_iter().map(str::to_owned).collect())
        });
        assert_eq!(read, expected);
    });
}

#[test]
fn comments_and_empty_lines_may_stand_anywhere() {
    let ldif = "# first\n  goes on\n\n\nversion: 1\n\n# between\ndn: o=x\n# inside\no: x\n\n\n\n# last\n";
    assert_eq!(entries(ldif), [("o=x".to_owned(), pairs(&[("o", "x")]))]);
    assert_eq!(entries(""), []);
    assert_eq!(entries("version: 1\n"), []);
}

#[test]
fn a_comment_ends_the_line_before_and_is_folded_like_it() {
    assert_eq!(entries("dn: o=x\no: a\n# com\n ment\no: b\n")[0].1, pairs(&[("o", "a"), ("o", "b")]));
}

#[test]
fn what_other_tools_write_is_read() {
    let windows = "\u{feff}dn: o=x\r\no: a\r\n b\r\n\r\n";
    assert_eq!(entries(windows), [("o=x".to_owned(), pairs(&[("o", "ab")]))]);
    assert_eq!(
        entries("dn: o=x\no: Käthe\ndescription:\nuser_name:   y  \n")[0].1,
        pairs(&[("o", "Käthe"), ("description", ""), ("user_name", "y  "),])
    );
    assert_eq!(entries("DN: o=x\nO:: YQ== \n")[0].1, pairs(&[("O", "a")]));
}

#[test]
fn values_of_one_attribute_come_together() {
    only("dn: o=x\ncn: a\nsn: s\nCN: b\ncn;lang-de: c\nCn: d\n", |record| {
        let Body::Content(attributes) = record.body else { panic!() };
        let grouped: Vec<_> =
            attributes.grouped().into_iter().map(|(name, values)| (text(name), values.concat())).collect();
        let expected = [("cn", "abd"), ("sn", "s"), ("cn;lang-de", "c")];
        assert_eq!(grouped, expected.map(|(name, values)| (name.to_owned(), values.into())));

        let mut ber = Vec::new();
        attributes.encode(&mut ber);
        let encoded = Encoded(Reader::new(&ber).expect(0x30).unwrap());
        let decoded: Vec<_> = encoded
            .iter()
            .map(|one| one.unwrap())
            .map(|one| (text(one.name), one.values.iter().flat_map(Result::unwrap).copied().collect()))
            .collect::<Vec<(String, Vec<u8>)>>();
        assert_eq!(decoded, grouped);
    });
}

#[test]
fn a_record_says_where_it_began() {
    let mut begins = Vec::new();
    each(b"version: 1\n\n# c\ndn: o=x\no: x\n\ndn: o=y\no: y\n", |record| {
        begins.push(record.line);
        Ok::<_, LdifError>(())
    })
    .unwrap();
    assert_eq!(begins, [4, 7]);
}

#[test]
fn a_message_names_the_line_and_the_remedy() {
    refused(" o: x\n", "line 1: starts with a space, which continues a line, but there is none to continue");
    refused(
        "dn: o=x\no: x\n\n\n x\n",
        "line 5: starts with a space, which continues a line, but there is none to continue",
    );
    refused("version: 2\n", "line 1: version \"2\"; only version 1 is defined (RFC 2849)");
    refused("dn: o=x\no: x\nhello\n", "line 3: \"hello\" is not 'attribute: value'");
    refused("dn: o=x\no x: x\n", "line 2: \"o x: x\" is not 'attribute: value'");
    refused(
        "dn: o=x\no:: YQ=\n",
        "line 2: the value of o is not base64, as its '::' says; write ':' for plain text",
    );
    refused(
        "dn: o=x\njpegPhoto:< file:///etc/passwd\n",
        "line 2: jpegPhoto:< would read another file, which is refused; put the value here, in base64 after '::'",
    );
    refused(
        "dn: o=x\no: x\n\nsearch: 2\n",
        "line 4: a record starts with 'dn:', not with \"search\" (ldapsearch -LLL leaves its own lines out)",
    );
    refused("dn: o=x\n", "line 1: no attributes follow the name");
    refused(
        "dn: o=x\ncontrol: 1.2.3 true\nchangetype: delete\n",
        "line 2: controls are not supported; take the 'control:' line out",
    );
    refused(
        "dn: o=x\nchangetype: rename\n",
        "line 2: changetype \"rename\"; there are add, delete, modify, modrdn and moddn",
    );
    refused(
        "dn: o=x\nchangetype: delete\no: x\n",
        "line 3: \"o\" has no place in this record; an empty line ends a record",
    );
    refused(
        "dn: o=x\no: x\ndn: o=y\no: y\n",
        "line 3: \"dn\" has no place in this record; an empty line ends a record",
    );
    refused("dn: o=x\no: x\n-\n", "line 3: \"-\" has no place in this record; an empty line ends a record");
}

#[test]
fn a_wrong_change_is_refused_where_it_is_wrong() {
    refused("dn: o=x\nchangetype: add\n", "line 2: no attributes follow the name");
    refused("dn: o=x\nchangetype: modify\n", "line 2: no attributes follow the name");
    refused(
        "dn: o=x\nchangetype: modify\no: x\n",
        "line 3: a modification starts with 'add:', 'delete:', 'replace:' or 'increment:', not with \"o\"",
    );
    refused(
        "dn: o=x\nchangetype: modify\nadd: o\no: x\nreplace: l\nl: x\n",
        "line 5: a value of replace in a modification of o; a line of '-' starts another one",
    );
    refused(
        "dn: o=x\nchangetype: modrdn\ndeleteoldrdn: 1\n",
        "line 3: a change of name needs 'newrdn:' and then 'deleteoldrdn:', here is \"deleteoldrdn\"",
    );
    refused(
        "dn: o=x\nchangetype: modrdn\nnewrdn: o=y\n",
        "line 2: a change of name needs 'newrdn:' and then 'deleteoldrdn:', here is \"the end of the record\"",
    );
    refused(
        "dn: o=x\nchangetype: modrdn\nnewrdn: o=y\ndeleteoldrdn: yes\n",
        "line 4: deleteoldrdn is \"yes\"; it is 0 or 1",
    );
    refused(
        "dn: o=x\nchangetype: modrdn\nnewrdn: o=y\ndeleteoldrdn: 1\nl: z\n",
        "line 5: \"l\" has no place in this record; an empty line ends a record",
    );
}

#[test]
fn a_file_without_line_ends_does_not_fill_the_memory() {
    let mut parser = Parser::default();
    parser.feed(b"dn: o=x").unwrap();
    let line = vec![b'x'; 1 << 20];
    let more = [b" ", &line[..]].concat();
    let error = (0..20).find_map(|_| parser.feed(&more).err()).unwrap();
    assert_eq!(error.line as usize, 1 + MAX_RECORD_BYTES / line.len());
    assert!(error.to_string().contains("longer than 16777216 bytes"));
}

/// What a writer makes of an attribute, folded after `width` bytes.
fn written(name: &str, value: &[u8], base64: bool, width: usize) -> Vec<u8> {
    let mut line = name.as_bytes().to_vec();
    if base64 {
        line.extend_from_slice(b":: ");
        line.extend_from_slice(STANDARD.encode(value).as_bytes());
    } else {
        line.extend_from_slice(b": ");
        line.extend_from_slice(value);
    }
    let mut folded: Vec<u8> = line.chunks(width).collect::<Vec<_>>().join(&b"\n "[..]);
    folded.push(b'\n');
    folded
}

proptest! {
    #[test]
    fn what_is_written_reads_back_however_it_is_folded(
        values in prop::collection::vec((any::<Vec<u8>>(), "[!-9;=-~][ -~]{0,30}[!-~]"), 1..5),
        width in 1usize..80,
    ) {
        let mut ldif = b"dn: o=x\n".to_vec();
        let mut expected = Vec::new();
        for (bytes, plain) in &values {
            ldif.extend(written("a", bytes, true, width));
            ldif.extend(written("b", plain.as_bytes(), false, width));
            expected.push((b"a".to_vec(), bytes.clone()));
            expected.push((b"b".to_vec(), plain.clone().into_bytes()));
        }
        let mut read = Vec::new();
        each(&ldif, |record| {
            let Body::Content(attributes) = record.body else { panic!() };
            read.extend(attributes.iter().map(|(name, value)| (name.to_vec(), value.to_vec())));
            Ok::<_, LdifError>(())
        }).unwrap();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn random_lines_never_panic(
        lines in prop::collection::vec("(dn|o|add|-|changetype|newrdn| |#|version|)(:|::|:<|)( |)(1|modify|add|delete|modrdn|o|YQ==|o=x|)", 0..12),
        bytes: Vec<u8>,
    ) {
        let _ = each(lines.join("\n").as_bytes(), |_| Ok::<_, LdifError>(()));
        let _ = each(&bytes, |_| Ok::<_, LdifError>(()));
    }
}
