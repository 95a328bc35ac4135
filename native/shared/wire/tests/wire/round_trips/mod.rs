//! Messages of every kind and spelling are read as they were written.

mod answers;
mod heads;
mod names;
mod requests;

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;

/// Any bytes, sometimes enough for a length field of two bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![8 => vec(any::<u8>(), 0..20), 1 => vec(any::<u8>(), 120..300)]
}

/// The identifier of a control, whether it is critical, and its value.
type Controls = Vec<(Vec<u8>, bool, Option<Vec<u8>>)>;

fn controls(how_many: Range<usize>) -> impl Strategy<Value = Controls> {
    vec((bytes(), any::<bool>(), prop::option::of(bytes())), how_many)
}

/// Adds these controls to a message, as [`wire::ldap::Request`] and [`wire::ldap::Response`] carry them.
fn with_controls(message: &[u8], controls: &Controls) -> Vec<u8> {
    use wire::ber::{Reader, tag, write_nested};
    use wire::ldap::Control;
    use wire::ldap::control::{CONTROLS, write_control};

    if controls.is_empty() {
        return message.to_vec();
    }
    let content = Reader::new(message).expect(tag::SEQUENCE).unwrap();
    let mut out = Vec::new();
    write_nested(&mut out, tag::SEQUENCE, |out| {
        out.extend_from_slice(content);
        write_nested(out, CONTROLS, |out| {
            for (oid, critical, value) in controls {
                write_control(out, &Control { oid, critical: *critical, value: value.as_deref() });
            }
        });
    });
    out
}

fn owned(controls: wire::ldap::Controls<'_>) -> Controls {
    let parts = |control: wire::ldap::Control<'_>| {
        (control.oid.to_vec(), control.critical, control.value.map(<[u8]>::to_vec))
    };
    controls.iter().map(parts).collect()
}
