//! LDIF's change records (RFC 2849), written by hand and read back.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::ldif::{Body, LdifError, ModificationKind, Record, each};

use super::bytes;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Change {
    Add(Vec<(String, Vec<u8>)>),
    Delete,
    Modify(Vec<(ModificationKind, String, Vec<Vec<u8>>)>),
    Rename(Vec<u8>, bool, Option<Vec<u8>>),
}

fn change() -> impl Strategy<Value = Change> {
    use ModificationKind::{Add, Delete, Increment, Replace};
    // Never that of a line with a meaning of its own, such as dn.
    let name = "x[a-z]{0,7}";
    let kind = prop::sample::select(vec![Add, Delete, Replace, Increment]);
    prop_oneof![
        vec((name, bytes()), 1..5).prop_map(Change::Add),
        Just(Change::Delete),
        vec((kind, name, vec(bytes(), 1..3)), 1..4).prop_map(Change::Modify),
        (bytes(), any::<bool>(), prop::option::of(bytes()))
            .prop_map(|(rdn, delete, superior)| Change::Rename(rdn, delete, superior)),
    ]
}

fn line(name: &str, value: &[u8], out: &mut Vec<u8>) {
    use base64::Engine as _;
    let value = base64::engine::general_purpose::STANDARD.encode(value);
    out.extend(format!("{name}:: {value}\n").into_bytes());
}

fn write(dn: &[u8], change: &Change, out: &mut Vec<u8>) {
    line("dn", dn, out);
    let kind = |kind: &str, out: &mut Vec<u8>| out.extend(format!("changetype: {kind}\n").into_bytes());
    match change {
        Change::Add(attributes) => {
            kind("add", out);
            attributes.iter().for_each(|(name, value)| line(name, value, out));
        }
        Change::Delete => kind("delete", out),
        Change::Modify(changes) => {
            kind("modify", out);
            for (what, name, values) in changes {
                out.extend(format!("{}: {name}\n", format!("{what:?}").to_lowercase()).into_bytes());
                values.iter().for_each(|value| line(name, value, out));
                out.extend_from_slice(b"-\n");
            }
        }
        Change::Rename(rdn, delete, superior) => {
            kind("modrdn", out);
            line("newrdn", rdn, out);
            out.extend(format!("deleteoldrdn: {}\n", u8::from(*delete)).into_bytes());
            if let Some(superior) = superior {
                line("newsuperior", superior, out);
            }
        }
    }
    out.push(b'\n');
}

fn read(record: &Record<'_>) -> (Vec<u8>, Change) {
    let text = |name: &[u8]| String::from_utf8(name.to_vec()).unwrap();
    let change = match record.body {
        Body::Content(_) => panic!("it has a changetype"),
        Body::Add(attributes) => {
            Change::Add(attributes.iter().map(|(name, value)| (text(name), value.to_vec())).collect())
        }
        Body::Delete => Change::Delete,
        Body::Modify(changes) => {
            let changes = changes
                .iter()
                .map(|one| (one.kind, text(one.attribute), one.values().map(<[u8]>::to_vec).collect()));
            Change::Modify(changes.collect())
        }
        Body::ModifyDn { new_rdn, delete_old_rdn, new_superior } => {
            Change::Rename(new_rdn.to_vec(), delete_old_rdn, new_superior.map(<[u8]>::to_vec))
        }
    };
    (record.dn.to_vec(), change)
}

proptest! {
    #[test]
    fn changes_read_back_as_they_were_written(records in vec((bytes(), change()), 1..5)) {
        let mut file = b"version: 1\n".to_vec();
        records.iter().for_each(|(dn, change)| write(dn, change, &mut file));
        let mut found = Vec::new();
        each(&file[..], |record| {
            found.push(read(&record));
            Ok::<_, LdifError>(())
        }).unwrap();
        prop_assert_eq!(found, records);
    }
}
