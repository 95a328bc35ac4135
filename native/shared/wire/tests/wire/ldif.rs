//! LDIF: valid records, and the errors of invalid records.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;
use wire::ldif::{Attributes, LdifError, MAX_RECORD_BYTES, Parser, Record};

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

/// Visits every record of a text.
fn each(ldif: impl AsRef<[u8]>, mut visit: impl FnMut(Record<'_>)) -> Result<(), LdifError> {
    let mut parser = Parser::default();
    for line in ldif.as_ref().split(|&byte| byte == b'\n') {
        parser.feed(line)?.into_iter().for_each(&mut visit);
    }
    parser.finish()?.into_iter().for_each(visit);
    Ok(())
}

/// The name and the lines of every record; all records must be entries.
fn entries(ldif: impl AsRef<[u8]>) -> Vec<(String, Pairs)> {
    let mut entries = Vec::new();
    each(ldif, |record| entries.push((text(record.dn), lines(record.entry.unwrap())))).unwrap();
    entries
}

#[track_caller]
fn refused(ldif: &str, message: &str) {
    let error = each(ldif, |_| {}).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn example_1_of_rfc_2849_is_read_as_two_entries() {
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
fn examples_2_and_3_of_rfc_2849_are_unfolded_and_decoded() {
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
fn base64_names_and_options_of_example_4_of_rfc_2849_are_read() {
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
fn a_change_record_of_type_add_is_an_entry_and_other_changes_are_refused() {
    assert_eq!(entries("dn: cn=Fiona\nchangetype: Add\ncn: Fiona\n")[0].1, pairs(&[("cn", "Fiona")]));
    for change in
        ["delete", "modify\nadd: cn\ncn: x\n-\nreplace: sn", "modrdn\nnewrdn: cn=b\ndeleteoldrdn: 1"]
    {
        let mut names = Vec::new();
        let ldif = format!("dn: cn=a\nchangetype: {change}\n\ndn: cn=b\ncn: b\n");
        each(ldif, |record| names.push((text(record.dn), record.entry.is_some()))).unwrap();
        assert_eq!(names, [("cn=a".to_owned(), false), ("cn=b".to_owned(), true)], "{change}");
    }
}

#[test]
fn comments_and_empty_lines_are_accepted_everywhere() {
    let ldif = "# first\n  goes on\n\n\nversion: 1\n\n# between\ndn: o=x\n# inside\no: x\n\n\n\n# last\n";
    assert_eq!(entries(ldif), [("o=x".to_owned(), pairs(&[("o", "x")]))]);
    assert_eq!(entries(""), []);
    assert_eq!(entries("version: 1\n"), []);
}

#[test]
fn a_comment_ends_the_previous_line_and_can_be_folded() {
    assert_eq!(entries("dn: o=x\no: a\n# com\n ment\no: b\n")[0].1, pairs(&[("o", "a"), ("o", "b")]));
}

#[test]
fn ldif_of_other_tools_is_read() {
    let windows = "\u{feff}dn: o=x\r\no: a\r\n b\r\n\r\n";
    assert_eq!(entries(windows), [("o=x".to_owned(), pairs(&[("o", "ab")]))]);
    assert_eq!(
        entries("dn: o=x\no: Käthe\ndescription:\nuser_name:   y  \n")[0].1,
        pairs(&[("o", "Käthe"), ("description", ""), ("user_name", "y  "),])
    );
    assert_eq!(entries("DN: o=x\nO:: YQ== \n")[0].1, pairs(&[("O", "a")]));
}

#[test]
fn values_of_one_attribute_are_grouped() {
    each("dn: o=x\ncn: a\nsn: s\nCN: b\ncn;lang-de: c\nCn: d\n", |record| {
        let groups = record.entry.unwrap().grouped().into_iter();
        let groups: Vec<_> = groups.map(|(name, values)| (text(name), text(&values.concat()))).collect();
        assert_eq!(groups, pairs(&[("cn", "abd"), ("sn", "s"), ("cn;lang-de", "c")]));
    })
    .unwrap();
}

#[test]
fn a_record_has_the_number_of_its_first_line() {
    let mut begins = Vec::new();
    each("version: 1\n\n# c\ndn: o=x\no: x\n\ndn: o=y\no: y\n", |record| begins.push(record.line)).unwrap();
    assert_eq!(begins, [4, 7]);
}

#[test]
fn an_ldif_error_names_the_line_and_the_remedy() {
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
    refused("dn: o=x\nchangetype: add\n", "line 2: no attributes follow the name");
    refused(
        "dn: o=x\no: x\ndn: o=y\no: y\n",
        "line 3: \"dn\" has no place in this record; an empty line ends a record",
    );
    refused("dn: o=x\no: x\n-\n", "line 3: \"-\" has no place in this record; an empty line ends a record");
}

#[test]
fn a_file_without_line_ends_does_not_exhaust_memory() {
    let mut parser = Parser::default();
    parser.feed(b"dn: o=x").unwrap();
    let line = vec![b'x'; 1 << 20];
    let more = [b" ", &line[..]].concat();
    let error = (0..20).find_map(|_| parser.feed(&more).err()).unwrap();
    assert_eq!(error.line as usize, 1 + MAX_RECORD_BYTES / line.len());
    assert!(error.to_string().contains("longer than 16777216 bytes"));
}

/// The LDIF of an attribute as a writer folds it after `width` bytes.
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
    fn written_ldif_reads_back_however_it_is_folded(
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
            let lines = record.entry.unwrap();
            read.extend(lines.iter().map(|(name, value)| (name.to_vec(), value.to_vec())));
        }).unwrap();
        prop_assert_eq!(read, expected);
    }
}
