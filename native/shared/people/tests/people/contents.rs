//! Contents of populations: equal for equal people, from any source.

use people::contents::{Contents, Count, LdifCount};
use people::{Profile, ldif};
use wire::ber::{Reader, tag};
use wire::ldap::Attributes;

use crate::common::{entry, population};

fn file(profile: Profile, range: std::ops::Range<u64>) -> Vec<u8> {
    let (people, mut out) = (population(profile, 1), Vec::new());
    ldif::write_containers(&people, &mut out).unwrap();
    range.for_each(|i| ldif::write_person(&people, i, &mut out));
    out
}

fn read(text: &[u8], piece: usize) -> Contents {
    read_of(Profile::Paper, text, piece)
}

fn read_of(profile: Profile, text: &[u8], piece: usize) -> Contents {
    let mut count = LdifCount::of(profile);
    text.chunks(piece).for_each(|piece| count.feed(piece).unwrap());
    count.finish().unwrap()
}

#[test]
fn the_count_of_a_file_does_not_depend_on_the_pieces_in_which_it_is_read() {
    for profile in Profile::ALL {
        let expected = Contents::of(&population(profile, 1), 0..50);
        assert_eq!(expected.people, 50);
        for piece in [1, 7, 4_096, 1 << 20] {
            assert_eq!(read_of(profile, &file(profile, 0..50), piece), expected);
        }
    }
}

#[test]
fn contents_do_not_depend_on_order_and_are_the_sum_of_their_parts() {
    let people = population(Profile::Paper, 1);
    let mut backwards = Vec::new();
    (0..50).rev().for_each(|i| ldif::write_person(&people, i, &mut backwards));
    assert_eq!(read(&backwards, 4_096), Contents::of(&people, 0..50));
    let mut parts = Contents::of(&people, 20..50);
    parts.merge(&Contents::of(&people, 0..20));
    assert_eq!(parts, Contents::of(&people, 0..50));
}

#[test]
fn contents_ignore_spelling_and_attributes_added_by_servers() {
    let text = String::from_utf8(file(Profile::Ils, 0..20)).unwrap();
    let spelled = text
        .replace("surname:", "sn:")
        .replace("rfc822mailbox:", "mail:")
        .replace("sipaddress:", "sIPAddress:")
        .replace(
            "objectClass: RTPerson\n",
            "objectClass: rtPerson\nobjectClass: dynamicObject\nsTTL: 10\nentryTTL: 9\n",
        );
    assert_ne!(spelled, text);
    assert_eq!(read(spelled.as_bytes(), 4_096), Contents::of(&population(Profile::Ils, 1), 0..20));
}

#[test]
fn contents_change_with_every_lost_changed_or_additional_value() {
    let text = String::from_utf8(file(Profile::Paper, 0..20)).unwrap();
    let whole = read(text.as_bytes(), 4_096);
    assert_ne!(Contents::of(&population(Profile::Paper, 1), 0..19), whole);
    assert_ne!(Contents::of(&population(Profile::Paper, 1), 0..21), whole);
    assert_ne!(Contents::of(&population(Profile::Paper, 2), 0..20), whole);
    let one_port_less = text.replacen("sPort: 1503\n", "", 1);
    assert_ne!(read(one_port_less.as_bytes(), 4_096), whole);
    let other_title = text.replacen("\ntitle", "\nl", 1);
    assert_ne!(read(other_title.as_bytes(), 4_096), whole);
}

#[test]
fn contents_ignore_passwords_and_include_all_other_attributes_of_a_person() {
    let text = String::from_utf8(file(Profile::Posix, 0..20)).unwrap();
    let whole = Contents::of(&population(Profile::Posix, 1), 0..20);
    let read = |text: &str| read_of(Profile::Posix, text.as_bytes(), 4_096);
    let lines = || text.lines().filter(|line| !line.starts_with("userPassword"));
    assert_eq!(read(&lines().map(|line| format!("{line}\n")).collect::<String>()), whole);
    assert_eq!(read(&text.replace("userPassword: {SSHA}", "userPassword: {PBKDF2-SHA512}10000$")), whole);
    for name in text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name) {
        if !["dn", "objectClass", "userPassword", "ou", "o", ""].contains(&name) {
            let lost = text.replacen(&format!("\n{name}:"), "\nseeAlso:", 1);
            assert_ne!(read(&lost), whole, "{name}");
        }
    }
}

#[test]
fn people_of_a_class_other_than_that_of_the_profile_are_not_counted() {
    let text = file(Profile::Person, 0..20);
    assert_eq!(read(&text, 4_096), Contents::default());
    assert_eq!(read_of(Profile::Posix, &text, 4_096), Contents::default());
}

#[test]
fn a_file_without_a_final_line_end_counts_everybody() {
    let text = file(Profile::Small, 0..20);
    let mut count = LdifCount::of(Profile::Paper);
    count.feed(text.strip_suffix(b"\n\n").unwrap()).unwrap();
    assert_eq!(count.finish().unwrap(), Contents::of(&population(Profile::Small, 1), 0..20));
    assert_eq!(LdifCount::of(Profile::Paper).finish().unwrap(), Contents::default());
}

#[test]
fn an_entry_of_a_search_result_counts_like_an_entry_of_a_file() {
    let people = population(Profile::Paper, 1);
    let mut count = Count::of(Profile::Paper);
    for i in 0..30 {
        let (_, attributes) = entry(&people, i);
        count.take(Attributes(Reader::new(&attributes).expect(tag::SEQUENCE).unwrap()));
    }
    assert_eq!(count.contents, Contents::of(&people, 0..30));
}

#[test]
fn every_attribute_type_of_a_person_counts_under_each_of_its_names() {
    let schema = people::RTPERSON_SCHEMA;
    let (_, class) = schema.rsplit_once("MUST cn").unwrap();
    let allowed = class.split_once("MAY (").unwrap().1.split_once(')').unwrap().0;
    let names = allowed.split('$').map(str::trim).chain(["cn"]).filter(|&name| name != "sTTL");
    let aliases = schema.lines().filter_map(|line| line.trim().strip_prefix("NAME ( "));
    let aliases = aliases.flat_map(|line| line.split('\'')).filter(|part| part.trim().len() > 1);
    for name in names.chain(aliases) {
        let with = |name: &str| read(format!("dn: cn=a\nobjectClass: RTPerson\n{name}: x\n").as_bytes(), 99);
        assert_ne!(with(name), with("unknown"), "{name}");
    }
}
