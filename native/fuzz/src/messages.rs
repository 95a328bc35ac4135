//! A stream of messages, read as a server and as a client reads it.

use wire::ldap::control::PagedResults;
use wire::ldap::frame::message_length;
use wire::ldap::{Operation, Reply, Request, Response};

pub(crate) fn target(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Some(length)) = message_length(rest, 1 << 16) {
        assert!(length >= 2, "a message that makes no progress");
        request(&rest[..length]);
        response(&rest[..length]);
        rest = &rest[length..];
    }
}

/// Asserts that every part of a decoded request can be read without a further error.
fn request(message: &[u8]) {
    let Ok(request) = Request::decode(message) else { return };
    for control in request.controls.iter() {
        let _ = control.value.map(PagedResults::decode);
    }
    match request.operation {
        Operation::Search(search) => {
            let _ = search.filter.to_string();
            search.attributes.iter().for_each(drop);
        }
        Operation::Add(add) => {
            add.attributes.check().expect("attributes were walked");
        }
        Operation::Modify(modify) => {
            for change in modify.changes() {
                assert!(change.attribute.values.iter().all(|value| value.is_ok()), "values were walked");
            }
        }
        _ => {}
    }
}

fn response(message: &[u8]) {
    let Ok(response) = Response::decode(message) else { return };
    if let Reply::Entry { attributes, .. } = response.reply {
        let whole = attributes.check().is_ok();
        let read = attributes
            .iter()
            .try_for_each(|attribute| attribute?.values.iter().try_for_each(|value| value.map(drop)));
        assert_eq!(read.is_ok(), whole);
    }
}
