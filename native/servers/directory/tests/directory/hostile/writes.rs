//! Writes and binds at the limits.

use directory::limits::Limits;
use wire::ldap::ResultCode;

use super::{GROUP, add_group};
use crate::common::{Client, serve};

fn rename(client: &mut Client, dn: &str, rdn: &str) -> ResultCode {
    client.rename(dn, rdn, None).code
}

#[test]
fn a_rename_cannot_make_a_name_too_long() {
    let (_directory, mut client) = serve("{}");
    client.add_person("Ann 1");
    let long = |bytes: usize| format!("ou={}", "x".repeat(bytes - 3));
    // With this component the person's name is a byte too long; without that byte it fits.
    let below = "cn=Ann 1,,o=Intranet".len();
    let (most, fits) = (8_192 - below, long(8_192 - below));
    let too_long = long(most + 1);
    assert_eq!(rename(&mut client, "ou=Dynamic,o=Intranet", &too_long), ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert!(client.read("cn=Ann 1,ou=Dynamic,o=Intranet", &[]).is_some());
    assert_eq!(rename(&mut client, "ou=Dynamic,o=Intranet", &fits), ResultCode::SUCCESS);
    assert!(client.read(&format!("cn=Ann 1,{fits},o=Intranet"), &[]).is_some());
    // A rename of the person cannot make the name a byte too long, either.
    let leaf = format!("cn=Ann 1,{fits},o=Intranet");
    assert_eq!(rename(&mut client, &leaf, "cn=Ann 10"), ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert!(client.read(&leaf, &[]).is_some());
}

#[test]
fn a_move_cannot_make_a_name_too_deep() {
    let (_directory, mut client) = serve("{}");
    let mut chains = Vec::new();
    for chain in ["a", "b"] {
        let mut dn = "ou=Dynamic,o=Intranet".to_owned();
        for depth in 0..32 {
            dn = format!("ou={chain}{depth},{dn}");
            let ou = format!("{chain}{depth}");
            let added = client.add(&dn, &[("objectClass", &["organizationalUnit"]), ("ou", &[&ou])]);
            assert_eq!(added.code, ResultCode::SUCCESS);
        }
        chains.push(dn);
    }
    let moved = client.rename("ou=b0,ou=Dynamic,o=Intranet", "ou=b0", Some(&chains[0]));
    assert_eq!(moved.code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert!(client.read(&chains[1], &[]).is_some());
}

#[test]
fn a_container_with_too_many_entries_is_not_renamed() {
    let (_directory, mut client) = serve(r#"{"limits": {"rename_bytes": 10240}}"#);
    (1..=10).for_each(|i| drop(client.add_person(&format!("P {i}"))));
    assert_eq!(rename(&mut client, "ou=Dynamic,o=Intranet", "ou=Ten"), ResultCode::SUCCESS);
    assert_eq!(rename(&mut client, "ou=Ten,o=Intranet", "ou=Dynamic"), ResultCode::SUCCESS);
    client.add_person("P 11");
    assert_eq!(rename(&mut client, "ou=Dynamic,o=Intranet", "ou=Ten"), ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert!(client.read("cn=P 11,ou=Dynamic,o=Intranet", &[]).is_some());
}

#[test]
fn the_length_of_a_password_is_limited() {
    let most = Limits::default().password_bytes;
    let (_directory, mut client) = serve("{}");
    let (fits, long) = ("x".repeat(most), "x".repeat(most + 1));
    add_group(&mut client, "userPassword", &[fits.clone(), long.clone()]);
    assert_eq!(client.bind(GROUP, &fits).code, ResultCode::SUCCESS);
    assert_eq!(client.bind(GROUP, &long).code, ResultCode::INVALID_CREDENTIALS);
    client.bind(GROUP, &fits);
    let set = client.change_password(Some(GROUP), None, Some(&long));
    assert_eq!(set.code, ResultCode::ADMIN_LIMIT_EXCEEDED, "nobody could bind with it");
}

#[test]
fn types_declared_by_a_refused_write_are_removed() {
    let (_directory, mut client) = serve("{}");
    add_group(&mut client, "description", &["x".into()]);
    // These refused writes have more types than a directory may hold.
    for n in 0..5_000 / 500 {
        let names: Vec<String> = (0..500).map(|i| format!("x{n}x{i}")).collect();
        let mut changes: Vec<(u8, &str, &[&str])> =
            names.iter().map(|name| (0, &**name, &["v"][..])).collect();
        changes.push((1, "description", &["not there"]));
        let refused = client.modify(GROUP, &changes);
        assert_eq!(refused.code, ResultCode::NO_SUCH_ATTRIBUTE);
    }
    assert_eq!(client.modify(GROUP, &[(0, "mine", &["v"])]).code, ResultCode::SUCCESS);
}

#[test]
fn values_that_take_long_to_normalise_are_refused() {
    let (_directory, mut client) = serve(r#"{"limits": {"message_bytes_before_bind": 4194304}}"#);
    // The values have characters whose normal form has eighteen characters (U+FDFA, NFKC), plain or escaped
    // in names; or they are names of many components.
    let odd = |i: usize| format!("{i} {}", "\u{fdfa}".repeat(40));
    let escaped = |i: usize| format!("cn={i}{}", "\\ef\\b7\\ba".repeat(13));
    let folded = |i: usize| format!("{i} {}", "\u{390}".repeat(60));
    let parts = |i: usize| format!("cn={i}{}", ",c=a".repeat(28));
    type MakeValue<'v> = &'v dyn Fn(usize) -> String;
    let kinds: [(&str, MakeValue<'_>, usize); 4] = [
        ("description", &odd, 1_500),
        ("seeAlso", &escaped, 1_500),
        ("description", &folded, 1_500),
        ("seeAlso", &parts, 8_000),
    ];
    for (name, value, count) in kinds {
        let values: Vec<String> = (0..count).map(value).collect();
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let add =
            |client: &mut Client, values: &[&str]| client.add_person_with("Group", &[(name, values)]).code;
        assert_eq!(add(&mut client, &values), ResultCode::ADMIN_LIMIT_EXCEEDED, "{name}");
        assert_eq!(add(&mut client, &values[..20]), ResultCode::SUCCESS, "{name}");
        let more = &values[20..];
        assert_eq!(client.modify(GROUP, &[(0, name, more)]).code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{name}");
        assert_eq!(client.modify(GROUP, &[(2, name, more)]).code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{name}");
        assert_eq!(client.modify(GROUP, &[(2, name, &more[..20])]).code, ResultCode::SUCCESS, "{name}");
        let compared = client.compare(GROUP, name, values[0]);
        assert!([ResultCode::COMPARE_TRUE, ResultCode::COMPARE_FALSE].contains(&compared), "{name}");
        assert_eq!(client.delete(GROUP).code, ResultCode::SUCCESS);
    }
    let long = "\u{fdfa}".repeat(20_000);
    assert_eq!(client.compare("o=Intranet", "o", &long), ResultCode::ADMIN_LIMIT_EXCEEDED);
}
