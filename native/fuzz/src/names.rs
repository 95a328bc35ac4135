//! Names: a name that was read has one normal form, and a normal form is its own normal form.

use wire::dn::{Dn, MAX_DN_BYTES, Plain, escape_value, normal};
use wire::text::{Preparation, prepare};

pub(crate) fn target(bytes: &[u8]) {
    name(bytes);
    value(bytes);
    let mut text = b"cn=".to_vec();
    escape_value(bytes, &mut text);
    if text.len() <= MAX_DN_BYTES {
        let dn = Dn::parse(&text).expect("what is escaped can be read");
        let (rdn, parent) = dn.split_first().expect("one part");
        assert!(parent.is_root());
        let pair = rdn.pairs().next().expect("one pair");
        assert_eq!(pair.value.decode(&mut Vec::new()), bytes);
        name(&text);
    }
}

fn normal_of(dn: Dn<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    dn.write_normal(&Plain, &mut out);
    out
}

fn name(text: &[u8]) {
    let Ok(dn) = Dn::parse(text) else { return };
    let once = normal_of(dn);
    let parts = dn.rdns().count();
    assert_eq!(parts, once.split(|&byte| byte == b',').filter(|part| !part.is_empty()).count());
    if let Some(parent) = dn.parent() {
        assert_eq!(normal::parent(&once), Some(&normal_of(parent)[..]));
        assert!(normal::is_at_or_below(&once, &normal_of(parent)));
    }
    // A normal form may exceed the maximum length of a name.
    if once.len() <= MAX_DN_BYTES {
        assert_eq!(normal_of(Dn::parse(&once).expect("a normal form is a name")), once);
    }
}

fn value(value: &[u8]) {
    for how in [
        Preparation::IGNORE_CASE,
        Preparation::EXACT,
        Preparation::IGNORE_CASE.piece(false, false),
        Preparation::EXACT.piece(true, false),
    ] {
        let (mut once, mut twice) = (Vec::new(), Vec::new());
        prepare(value, how, &mut once);
        prepare(&once, how, &mut twice);
        assert_eq!(once, twice);
    }
}
