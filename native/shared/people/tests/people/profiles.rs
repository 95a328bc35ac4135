use crate::common::{changed, population};
use people::{Population, Profile, RTPERSON_SCHEMA};

fn names(people: &Population, i: u64) -> Vec<String> {
    people.attributes(i).into_iter().map(|(name, _)| name).collect()
}

/// The values of one attribute, all of which are text except an Active Directory password.
fn values(people: &Population, i: u64, wanted: &str) -> Vec<String> {
    let attributes = people.attributes(i);
    let found = attributes.into_iter().find(|(name, _)| name == wanted);
    found.unwrap().1.into_iter().map(|value| String::from_utf8(value).unwrap()).collect()
}

#[test]
fn the_paper_profile_has_twenty_attributes_that_any_server_can_store() {
    let people = population(Profile::Paper, 1);
    let expected = "objectClass cn sn givenName mail telephoneNumber c l o title sIPAddress sSecurity sFlags \
                    sAppID sAppGUID sMimeType sProtID sProtMimeType sPort description";
    for i in 0..50 {
        assert_eq!(names(&people, i).join(" "), expected);
    }
    assert_eq!(values(&people, 0, "objectClass"), ["top", "RTPerson"]);
    assert_eq!(values(&people, 0, "sPort"), ["1503", "1720"]);
}

#[test]
fn the_ils_profile_has_the_fifteen_attributes_of_a_registration() {
    let people = population(Profile::Ils, 1);
    let expected = "cn givenname surname rfc822mailbox location comment c sipaddress sflags ssecurity \
                    ilsA26214430 ilsA32833566 ilsA32964638 ilsA26279966 ilsA39321630";
    assert_eq!(names(&people, 0).join(" "), expected);
    for i in 0..200 {
        let mail = &values(&people, i, "cn")[0];
        assert!(mail.is_ascii() && mail.contains(&format!(".{i}@example.")), "{mail}");
        assert_eq!(&values(&people, i, "rfc822mailbox")[0], mail);
        let address: u32 = values(&people, i, "sipaddress")[0].parse().unwrap();
        assert_eq!(address.to_le_bytes()[0], 10, "the first octet is the lowest");
        let version: u32 = values(&people, i, "ilsA26279966")[0].parse().unwrap();
        assert_eq!((version >> 24, version >> 16 & 0xff), (4, 4));
    }
}

#[test]
fn the_small_profile_has_at_most_three_attributes() {
    let people = population(Profile::Small, 1);
    for i in 0..1_000 {
        let names = names(&people, i);
        assert!(
            names.starts_with(&["objectClass".to_owned(), "cn".to_owned()]) && names.len() <= 3,
            "{names:?}"
        );
    }
}

#[test]
fn profiles_person_posix_and_ad_have_standard_attributes() {
    let common = "displayName mail telephoneNumber employeeNumber";
    let expected = [
        (
            Profile::Person,
            "inetOrgPerson",
            format!("objectClass uid cn sn givenName {common} o l title description userPassword"),
        ),
        (
            Profile::Posix,
            "inetOrgPerson posixAccount",
            format!(
                "objectClass gidNumber loginShell uid cn sn givenName {common} o l title description uidNumber \
                 homeDirectory gecos userPassword"
            ),
        ),
        (
            Profile::Ad,
            "user",
            format!(
                "objectClass userAccountControl cn sAMAccountName userPrincipalName sn givenName {common} company \
                 l title description unicodePwd"
            ),
        ),
    ];
    for (profile, classes, attributes) in expected {
        let people = population(profile, 1);
        assert_eq!(
            values(&people, 7, "objectClass").join(" "),
            format!("top person organizationalPerson {classes}")
        );
        for i in 0..50 {
            assert_eq!(names(&people, i).join(" "), attributes);
        }
    }
}

#[test]
fn ascii_only_attributes_are_ascii_in_every_script() {
    let people = population(Profile::Posix, 1);
    for i in 0..300 {
        assert_eq!(values(&people, i, "uid"), [format!("user.{i}")]);
        assert_eq!(values(&people, i, "mail"), [format!("user.{i}@example.com")]);
        assert_eq!(values(&people, i, "homeDirectory"), [format!("/home/user.{i}")]);
        assert_eq!(values(&people, i, "gecos"), [format!("User {i}")]);
    }
    assert!((0..300).any(|i| !values(&people, i, "cn")[0].is_ascii()), "names are as people are called");
}

#[test]
fn user_numbers_have_at_most_31_bits_for_any_person() {
    let people = population(Profile::Posix, 1);
    for i in [0, 1, 999_999, 1_000_000_000, 9_999_999_999] {
        let number: u64 = values(&people, i, "uidNumber")[0].parse().unwrap();
        assert!((10_000..1 << 31).contains(&number), "{i}: {number}");
    }
    assert_eq!(values(&people, 4_711, "uidNumber"), ["14711"]);
}

#[test]
fn an_active_directory_user_has_the_domain_of_the_base() {
    let of = |base: &str| {
        let people = changed(|spec| (spec.profile, spec.base) = (Profile::Ad, base.to_owned())).unwrap();
        values(&people, 5, "userPrincipalName").remove(0)
    };
    assert_eq!(of("CN=Users,DC=ad, DC=example,DC=com"), "user.5@ad.example.com");
    assert_eq!(of("ou=Dynamic,o=Intranet"), "user.5@example.com");
}

#[test]
fn the_schema_defines_every_attribute_and_class_of_people() {
    // Standard types come from OpenLDAP's core schema, under these names (RFC 4519, RFC 4524).
    let standard =
        "objectclass cn sn surname givenname mail rfc822mailbox telephonenumber c l o title description";
    let schema = RTPERSON_SCHEMA.to_ascii_lowercase();
    for profile in [Profile::Paper, Profile::Small, Profile::Ils] {
        let people = population(profile, 1);
        for name in (0..100).flat_map(|i| names(&people, i)) {
            let name = name.to_ascii_lowercase();
            let known =
                standard.split(' ').any(|known| known == name) || schema.contains(&format!("'{name}'"));
            assert!(known, "{name}");
        }
    }
    assert!(schema.contains("name 'rtperson'"));
}
