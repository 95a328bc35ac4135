//! A domain as Active Directory clients see it; the profile `ad` serves it.

use crate::common::{Attributes, Client, Entry, Search, filter, serve_suffix};
use directory::Running;
use wire::ldap::{ResultCode, filter_text};

const SUFFIX: &str = "dc=example,dc=com";
const BASE: &str = "ou=people,dc=example,dc=com";
/// The bit rules and the rule of nested members (MS-ADTS section 3.1.1.3.4.4).
const ALL_BITS: &str = "1.2.840.113556.1.4.803";
const ANY_BIT: &str = "1.2.840.113556.1.4.804";
const IN_CHAIN: &str = "1.2.840.113556.1.4.1941";

/// Twelve people, the three groups `staff`, `admins` and `root`, of which each is a member of another, and a
/// group with one member.
fn serve(profile: &str) -> (Running, Client) {
    let (directory, mut client) =
        serve_suffix(&format!(r#"{{"profile": "{profile}", "suffix": "{SUFFIX}"}}"#));
    client.add(BASE, &[("objectClass", &["organizationalUnit"]), ("ou", &["people"])]);
    for i in 0..12 {
        let (name, login) = (format!("Person {i}"), format!("user.{i}"));
        let principal = format!("{login}@example.com");
        let control = if i == 11 { "514" } else { "512" };
        let attributes: Attributes<'_> = &[
            ("objectClass", &["top", "person", "organizationalPerson", "user"]),
            ("cn", &[&name]),
            ("sAMAccountName", &[&login]),
            ("userPrincipalName", &[&principal]),
            ("userAccountControl", &[control]),
            ("userPassword", &[&login]),
        ];
        assert_eq!(client.add(&person(i), attributes).code, ResultCode::SUCCESS);
    }
    for (name, members) in [
        ("staff", vec![person(0), person(11), group("root")]),
        // The same name in another spelling.
        ("admins", vec![person(1), group("staff").to_uppercase().replace(',', " , ")]),
        ("root", vec![group("admins")]),
        ("single", vec![person(5)]),
    ] {
        let members: Vec<&str> = members.iter().map(String::as_str).collect();
        let attributes: Attributes<'_> = &[
            ("objectClass", &["top", "group"]),
            ("cn", &[name]),
            ("sAMAccountName", &[name]),
            ("member", &members),
        ];
        assert_eq!(client.add(&group(name), attributes).code, ResultCode::SUCCESS);
    }
    (directory, client)
}

fn person(i: usize) -> String {
    format!("CN=Person {i},{BASE}")
}

fn group(name: &str) -> String {
    format!("CN={name},{BASE}")
}

fn text(filter_of: &str) -> Vec<u8> {
    filter(|out| filter_text::parse(filter_of, out).unwrap())
}

fn entries(client: &mut Client, filter_of: &str, attributes: &[&str]) -> Vec<Entry> {
    let search = Search { base: SUFFIX, filter: text(filter_of), attributes, ..Search::default() };
    let (entries, done) = client.search(&search);
    assert_eq!(done.code, ResultCode::SUCCESS, "{filter_of}: {}", done.diagnostic);
    entries
}

/// The names of the matching entries, without their base.
fn names(client: &mut Client, filter_of: &str) -> Vec<String> {
    let entries = entries(client, filter_of, &["1.1"]);
    entries.iter().map(|entry| entry.dn.split([',', '=']).nth(1).unwrap().to_owned()).collect()
}

fn the_entry(client: &mut Client, filter_of: &str, attributes: &[&str]) -> Entry {
    let mut entries = entries(client, filter_of, attributes);
    assert_eq!(entries.len(), 1, "{filter_of}");
    entries.remove(0)
}

#[test]
fn the_root_dse_identifies_an_active_directory() {
    let requested = &["defaultNamingContext", "supportedCapabilities"][..];
    let (_directory, mut client) = serve("ad");
    for attributes in [requested, &["+"]] {
        let root = client.read("", attributes).unwrap();
        assert_eq!(root.values("defaultNamingContext"), [SUFFIX]);
        assert!(root.values("supportedCapabilities").contains(&"1.2.840.113556.1.4.800"));
    }
    let (_directory, mut client) = serve("person");
    assert!(client.read("", requested).unwrap().names().is_empty());
}

#[test]
fn entries_have_the_constructed_attributes_of_a_domain_controller() {
    let (_directory, mut client) = serve("ad");
    let varying = ["objectGUID", "objectSid", "whenCreated", "whenChanged"];
    let constant = ["memberOf", "objectCategory", "primaryGroupID", "distinguishedName", "sAMAccountType"];
    for attributes in [&[][..], &["*"], &[&varying[..], &constant].concat()] {
        let entry = the_entry(&mut client, "(sAMAccountName=USER.0)", attributes);
        assert_eq!(entry.values("distinguishedName"), [person(0)]);
        assert_eq!(entry.values("memberOf"), [group("staff")]);
        assert_eq!(entry.values("primaryGroupID"), ["513"]);
        assert_eq!(entry.values("sAMAccountType"), ["805306368"]);
        let category = "CN=Person,CN=Schema,CN=Configuration,dc=example,dc=com";
        assert_eq!(entry.values("objectCategory"), [category]);
        for name in varying {
            assert_eq!(entry.values(name).len(), 1, "{name} of {attributes:?}");
        }
    }
    let group_of = the_entry(&mut client, "(sAMAccountName=staff)", &["*"]);
    assert_eq!(group_of.values("memberOf"), [group("admins")]);
    assert_eq!(group_of.values("sAMAccountType"), ["268435456"]);
    assert!(group_of.values("primaryGroupID").is_empty());
    // A request for `distinguishedName` does not return `member`, which has the same syntax.
    let only = the_entry(&mut client, "(sAMAccountName=staff)", &["distinguishedName"]);
    assert_eq!(only.names(), ["distinguishedName"]);
    let (_directory, mut client) = serve("person");
    let entry = the_entry(&mut client, "(sAMAccountName=user.0)", &["*", "memberOf", "objectGUID"]);
    assert!(entry.values("memberOf").is_empty() && entry.values("objectGUID").is_empty());
}

#[test]
fn object_guid_encodes_the_uuid_and_object_sid_contains_the_domain() {
    let (_directory, mut client) = serve("ad");
    let raw = |client: &mut Client, filter_of: &str, name: &str| {
        let search =
            Search { base: SUFFIX, filter: text(filter_of), attributes: &[name], ..Search::default() };
        client.send(&search.message(1));
        let message = client.raw().unwrap();
        client.done();
        message
    };
    // The binary values are at the end of the message.
    let uuid = the_entry(&mut client, "(cn=Person 3)", &["entryUUID"]).values("entryUUID")[0].to_owned();
    let digits = uuid.replace('-', "");
    let uuid: Vec<u8> = (0..16).map(|at| u8::from_str_radix(&digits[2 * at..][..2], 16).unwrap()).collect();
    let guid = raw(&mut client, "(cn=Person 3)", "objectGUID");
    let guid = &guid[guid.len() - 16..];
    // The first three fields begin with the lowest byte (MS-DTYP section 2.3.4.2).
    assert_eq!([guid[3], guid[2], guid[1], guid[0], guid[5], guid[4], guid[7], guid[6]], uuid[..8]);
    assert_eq!(guid[8..], uuid[8..]);
    let escaped: String = guid.iter().map(|byte| format!("\\{byte:02x}")).collect();
    assert_eq!(names(&mut client, &format!("(objectGUID={escaped})")), ["Person 3"]);
    // The form is S-1-5-21-a-b-c, followed by the number of the entry if it has one.
    let sids: Vec<Vec<u8>> = ["(cn=Person 3)", "(cn=Person 4)", "(cn=staff)"]
        .map(|filter_of| raw(&mut client, filter_of, "objectSid"))
        .into_iter()
        .map(|message| message[message.len() - 28..].to_vec())
        .collect();
    assert_eq!(sids[0][..12], [1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0]);
    assert!(sids[0][..24] == sids[1][..24] && sids[1][..24] == sids[2][..24]);
    assert!(sids[0] != sids[1] && sids[1] != sids[2]);
    let number = |at: usize| u32::from_le_bytes(sids[0][at..at + 4].try_into().unwrap());
    let [a, b, c, relative] = [12, 16, 20, 24].map(number);
    let written = format!("(objectSid=S-1-5-21-{a}-{b}-{c}-{relative})");
    assert_eq!(names(&mut client, &written), ["Person 3"]);
    for wrong in ["S-1-5-21", "S-2-5-21-1", "S-1", "S-x"] {
        assert!(names(&mut client, &format!("(objectSid={wrong})")).is_empty(), "{wrong}");
    }
    let (_other, mut again) = serve("ad");
    let sid = raw(&mut again, "(cn=Person 3)", "objectSid");
    assert!(sid.ends_with(&sids[0]), "the same people have the same numbers");
}

#[test]
fn constructed_attributes_cannot_be_written() {
    let (_directory, mut client) = serve("ad");
    for (name, value) in [("memberOf", &*group("single")), ("objectSid", "x"), ("primaryGroupID", "513")] {
        let answer = client.modify(&person(2), &[(2, name, &[value])]);
        assert_eq!(answer.code, ResultCode::CONSTRAINT_VIOLATION);
        assert_eq!(answer.diagnostic, format!("{name}: only the server sets it"));
    }
}

#[test]
fn bit_rules_test_the_bits_of_an_integer() {
    for profile in ["ad", "person"] {
        let (_directory, mut client) = serve(profile);
        let disabled = format!("(userAccountControl:{ALL_BITS}:=2)");
        assert_eq!(names(&mut client, &disabled), ["Person 11"]);
        let enabled = format!("(&(sAMAccountName=user.1*)(!{disabled}))");
        assert_eq!(names(&mut client, &enabled), ["Person 1", "Person 10"]);
        let bits = |rule: &str, mask: &str| format!("(&(cn=Person 11)(userAccountControl:{rule}:={mask}))");
        for (rule, mask, is_match) in [
            (ALL_BITS, "514", true),
            (ALL_BITS, "515", false),
            (ALL_BITS, "0", true),
            (ANY_BIT, "3", true),
            (ANY_BIT, "1", false),
            (ANY_BIT, "0", false),
            (ALL_BITS, "2x", false),
        ] {
            assert_eq!(names(&mut client, &bits(rule, mask)).len(), usize::from(is_match), "{rule} {mask}");
        }
        // A value that is not a number has no bits.
        assert!(names(&mut client, &format!("(cn:{ALL_BITS}:=0)")).is_empty());
        // The type of a security group (MS-ADTS section 2.2.12) is negative, in two's complement.
        let security = client.modify(&group("single"), &[(2, "groupType", &["-2147483646"])]);
        assert_eq!(security.code, ResultCode::SUCCESS);
        assert_eq!(names(&mut client, &format!("(groupType:{ALL_BITS}:=2147483648)")), ["single"]);
    }
}

#[test]
fn member_of_and_nested_membership_can_be_searched() {
    let (_directory, mut client) = serve("ad");
    let (staff, root) = (group("staff"), group("root").to_lowercase());
    for (filter_of, expected) in [
        (format!("(memberOf={staff})"), &["Person 0", "Person 11", "root"][..]),
        (format!("(&(objectClass=user)(memberOf={staff}))"), &["Person 0", "Person 11"]),
        (
            format!("(&(objectClass=user)(memberOf:{IN_CHAIN}:={root}))"),
            &["Person 0", "Person 1", "Person 11"],
        ),
        (format!("(&(sAMAccountName=user.5)(memberOf:{IN_CHAIN}:={root}))"), &[]),
        ("(&(objectClass=user)(!(memberOf=*))(cn=Person 1*))".to_owned(), &["Person 10"]),
        // All groups that contain the person are returned once, although the groups form a cycle.
        (format!("(member:{IN_CHAIN}:={})", person(0)), &["staff", "admins", "root"]),
        (format!("(&(cn=root)(member:{IN_CHAIN}:={}))", person(1)), &["root"]),
        (format!("(&(cn=single)(member:{IN_CHAIN}:={}))", person(1)), &[]),
        (format!("(member:{IN_CHAIN}:={})", person(7)), &[]),
        (format!("(member={})", person(0)), &["staff"]),
        (format!("(distinguishedName={})", person(5)), &["Person 5"]),
        (format!("(manager:{IN_CHAIN}:={staff})"), &[]),
    ] {
        assert_eq!(names(&mut client, &filter_of), expected, "{filter_of}");
    }
    let every = the_entry(&mut client, "(cn=Person 0)", &["memberOf"]);
    assert_eq!(every.values("memberOf"), [&staff]);
    // The search result follows changes of the groups.
    client.modify(&staff, &[(1, "member", &[&person(0)])]);
    assert!(the_entry(&mut client, "(cn=Person 0)", &["memberOf"]).names().is_empty());
    assert_eq!(client.compare(&person(5), "memberOf", &group("single")), ResultCode::COMPARE_TRUE);
    assert_eq!(client.compare(&person(5), "memberOf", &staff), ResultCode::COMPARE_FALSE);
}

#[test]
fn object_category_matches_by_name_or_by_class() {
    let (_directory, mut client) = serve("ad");
    let group_class = "CN=Group,CN=Schema,CN=Configuration,DC=example,DC=com";
    for (category, count) in [
        ("person", 12),
        ("user", 12),
        ("Person", 12),
        ("group", 4),
        (group_class, 4),
        ("organizationalUnit", 1),
        ("computer", 0),
        ("nonsense", 0),
    ] {
        assert_eq!(names(&mut client, &format!("(objectCategory={category})")).len(), count, "{category}");
    }
}

#[test]
fn users_log_in_by_user_principal_name_and_by_domain_name() {
    let (_directory, mut client) = serve("ad");
    for (name, password, code) in [
        ("user.4@example.com", "user.4", ResultCode::SUCCESS),
        ("USER.4@EXAMPLE.COM", "user.4", ResultCode::SUCCESS),
        ("EXAMPLE\\user.4", "user.4", ResultCode::SUCCESS),
        ("example\\User.4", "user.4", ResultCode::SUCCESS),
        (&person(4), "user.4", ResultCode::SUCCESS),
        // The implicit principal name of a user with an explicit principal name.
        ("user.3@example.com", "user.3", ResultCode::SUCCESS),
        ("anna@example.com", "user.3", ResultCode::SUCCESS),
        ("user.4@example.com", "user.5", ResultCode::INVALID_CREDENTIALS),
        ("user.4@example.org", "user.4", ResultCode::INVALID_CREDENTIALS),
        ("OTHER\\user.4", "user.4", ResultCode::INVALID_CREDENTIALS),
        ("EXAMPLE\\nobody", "user.4", ResultCode::INVALID_CREDENTIALS),
        // Two users have this principal name, so it identifies neither.
        ("twice@example.com", "user.7", ResultCode::INVALID_CREDENTIALS),
    ] {
        for (i, principal) in [(3, "anna@example.com"), (7, "twice@example.com"), (8, "twice@example.com")] {
            client.modify(&person(i), &[(2, "userPrincipalName", &[principal])]);
        }
        assert_eq!(client.bind(name, password).code, code, "{name}");
    }
    let (_directory, mut client) = serve("person");
    assert_eq!(client.bind("user.4@example.com", "user.4").code, ResultCode::INVALID_CREDENTIALS);
}

#[test]
fn unknown_attribute_names_in_requests_are_listed_once() {
    let (directory, mut client) = serve("ad");
    for _ in 0..2 {
        names(&mut client, "(&(msDS-Made=x)(!(cn:1.2.3.4:=x))(cn:caseIgnoreMatch:=x)(!(cn=*)))");
        let attributes = ["pwdLastSet", "PWDLASTSET", "cn", "*", "+", "1.1", "member;range=0-*"];
        entries(&mut client, "(cn=x)", &attributes);
    }
    let expected = ["attribute msDS-Made", "matching rule 1.2.3.4", "attribute pwdLastSet"];
    assert_eq!(directory.unknown_names(), expected);
    // The list of unknown names has a limit.
    for i in 0..200 {
        names(&mut client, &format!("(x{i}={})", "y".repeat(i)));
    }
    assert_eq!(directory.unknown_names().len(), 64);
    let (directory, mut client) = serve("person");
    entries(&mut client, "(cn:1.2.3.4:=x)", &["pwdLastSet"]);
    assert!(directory.unknown_names().is_empty());
}
