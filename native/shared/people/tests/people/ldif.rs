use crate::common::population;
use base64::Engine as _;
use people::{Population, Profile, ldif};
use proptest::prelude::*;
use wire::ldif::Parser;

/// Reads the written subset of RFC 2849: one line per value, an empty line after an entry.
fn read(text: &str) -> Vec<Vec<(String, Vec<u8>)>> {
    let entries = text.split_terminator("\n\n");
    entries.map(|entry| entry.lines().map(read_line).collect()).collect()
}

fn read_line(line: &str) -> (String, Vec<u8>) {
    assert!(line.is_ascii(), "{line}");
    let (name, value) = line.split_once(':').unwrap();
    let value = match value.strip_prefix(": ") {
        Some(encoded) => base64::engine::general_purpose::STANDARD.decode(encoded).unwrap(),
        None => value.strip_prefix(' ').unwrap().as_bytes().to_vec(),
    };
    (name.to_owned(), value)
}

fn person(people: &Population, i: u64) -> Vec<(String, Vec<u8>)> {
    let mut out = Vec::new();
    ldif::write_person(people, i, &mut out);
    read(&String::from_utf8(out).unwrap()).remove(0)
}

#[test]
fn a_person_written_as_ldif_reads_back_as_the_same_entry() {
    for profile in Profile::ALL.into_iter().filter(|profile| *profile != Profile::Ils) {
        let people = population(profile, 1);
        for i in 0..200 {
            let (dn, _) = crate::common::entry(&people, i);
            let attributes = people.attributes(i).into_iter();
            let mut expected = vec![("dn".to_owned(), dn)];
            expected.extend(
                attributes
                    .flat_map(|(name, values)| values.into_iter().map(move |value| (name.clone(), value))),
            );
            assert_eq!(person(&people, i), expected);
        }
    }
}

#[test]
fn an_ils_person_is_written_with_an_object_class() {
    let lines = person(&population(Profile::Ils, 1), 5);
    assert_eq!(lines[1], ("objectClass".to_owned(), b"top".to_vec()));
    assert_eq!(lines[2], ("objectClass".to_owned(), b"RTPerson".to_vec()));
    assert_eq!(lines.len(), 1 + 2 + 15);
}

#[test]
fn a_file_with_containers_loads_into_an_empty_directory() {
    let mut out = Vec::new();
    ldif::write_containers(&population(Profile::Paper, 1), &mut out).unwrap();
    let expected = "dn: o=Intranet\nobjectClass: top\nobjectClass: organization\no: Intranet\n\n\
                    dn: ou=Dynamic,o=Intranet\nobjectClass: top\nobjectClass: organizationalUnit\nou: Dynamic\n\n";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

proptest! {
    #[test]
    fn any_value_written_as_ldif_reads_back(
        // Excludes names of lines with a special meaning, such as dn.
        values in prop::collection::vec(("x[a-zA-Z0-9;-]{0,9}", prop_oneof![any::<Vec<u8>>(), "[ -~]{0,90}".prop_map(Vec::from)]), 1..6)
    ) {
        let mut file = Vec::new();
        ldif::write_line(b"dn", b"o=Intranet", &mut file);
        values.iter().for_each(|(name, value)| ldif::write_line(name.as_bytes(), value, &mut file));
        let (mut read, mut parser) = (Vec::new(), Parser::default());
        let owned = |(name, value): (&[u8], &[u8])| (String::from_utf8_lossy(name).into_owned(), value.to_vec());
        for line in file.split(|&byte| byte == b'\n') {
            let record = parser.feed(line).unwrap();
            read.extend(record.and_then(|record| record.entry).into_iter().flat_map(|lines| lines.iter()).map(owned));
        }
        prop_assert_eq!(read, values);
    }
}
