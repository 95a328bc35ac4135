//! LDAP messages as bytes on a socket: in pieces, in batches, malformed.

use std::time::Duration;

use crate::common::{Client, Search, eventually, lookup, search_for_all, serve};
use wire::ldap::request::{write_delete, write_unbind};
use wire::ldap::{ResultCode, oid, op};

/// An anonymous bind with message ID 1 and its response, encoded as RFC 4511 section 5.1 requires.
const BIND: &[u8] = b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00";
const BOUND: &[u8] = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00";
const UNBIND: &[u8] = b"\x30\x05\x02\x01\x02\x42\x00";

#[test]
fn a_bind_its_response_and_an_unbind_have_exactly_the_expected_bytes() {
    let (_directory, mut client) = serve("{}");
    client.send(BIND);
    assert_eq!(client.raw().unwrap(), BOUND);
    // A bind by LDAP version 2 has the same response.
    client.send(b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x02\x04\x00\x80\x00");
    assert_eq!(client.raw().unwrap(), BOUND);
    client.send(UNBIND);
    assert!(client.is_closed());
}

#[test]
fn a_message_may_arrive_byte_by_byte() {
    let (_directory, mut client) = serve("{}");
    client.add_person("Ann 1");
    for byte in (Search { filter: lookup("Ann 1"), ..Search::default() }).message(77) {
        client.send(&[byte]);
        std::thread::sleep(Duration::from_millis(1));
    }
    let (entries, done) = client.collect();
    assert_eq!((entries.len(), done.id, done.code), (1, 77, ResultCode::SUCCESS));
}

#[test]
fn a_thousand_requests_in_one_write_are_answered_in_order() {
    let (_directory, mut client) = serve("{}");
    for name in ["Ann 1", "Bob 2"] {
        client.add_person(name);
    }
    let mut out = Vec::new();
    for id in 1..=1000 {
        let name = if id % 2 == 0 { "Ann 1" } else { "Bob 2" };
        out.extend(Search { filter: lookup(name), ..Search::default() }.message(id));
    }
    client.send(&out);
    for id in 1..=1000 {
        let (entries, done) = client.collect();
        assert_eq!((entries.len(), done.id, done.code), (1, id, ResultCode::SUCCESS));
        let expected = if id % 2 == 0 { ["Ann 1"] } else { ["Bob 2"] };
        assert_eq!(entries[0].values("cn"), expected);
    }
}

#[test]
fn a_batch_of_requests_may_end_within_a_message_or_with_an_unbind() {
    let (_directory, mut client) = serve("{}");
    let mut out = Vec::new();
    for id in 1..=3 {
        write_delete(&mut out, id, b"cn=nobody,ou=Dynamic,o=Intranet");
    }
    write_unbind(&mut out, 4);
    let (first, second) = out.split_at(out.len() / 2);
    client.send(first);
    std::thread::sleep(Duration::from_millis(20));
    client.send(second);
    for id in 1..=3 {
        let done = client.done();
        assert_eq!((done.id, done.code), (id, ResultCode::NO_SUCH_OBJECT));
    }
    assert!(client.is_closed());
}

#[test]
fn a_client_that_half_closes_still_gets_its_answers() {
    let (_directory, mut client) = serve("{}");
    client.send(BIND);
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(client.raw().unwrap(), BOUND);
    assert!(client.is_closed());
}

fn assert_noticed(client: &mut Client) {
    let notice = client.done();
    assert_eq!((notice.id, notice.tag), (0, op::EXTENDED_RESPONSE));
    assert_eq!(notice.code, ResultCode::PROTOCOL_ERROR);
    assert_eq!(notice.name.as_deref(), Some(oid::NOTICE_OF_DISCONNECTION));
    assert!(!notice.diagnostic.is_empty());
    assert!(client.is_closed());
}

#[test]
fn a_client_that_sends_no_ldap_gets_a_notice_and_the_server_continues() {
    let (directory, mut client) = serve("{}");
    let strangers: [&[u8]; 10] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\x03\x00\x00\x13\x0e\xe0\x00\x00\x00\x00\x00\x01\x00\x08\x00\x03\x00\x00\x00",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        // An indefinite length, a length field of more than four bytes, and a length beyond every limit.
        b"\x30\x80\x02\x01\x01",
        b"\x30\x85\x01\x00\x00\x00\x00",
        b"\x30\x84\x7f\xff\xff\xff\x02\x01\x01",
        // A valid frame without an operation, and a valid frame with an unknown operation.
        b"\x30\x03\x02\x01\x01",
        b"\x30\x05\x02\x01\x01\x7e\x00",
        // A bind with message ID 0.
        b"\x30\x0c\x02\x01\x00\x60\x07\x02\x01\x03\x04\x00\x80\x00",
    ];
    for bytes in strangers {
        let mut stranger = Client::connect(directory.addr());
        stranger.send(bytes);
        assert_noticed(&mut stranger);
    }
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn requests_before_malformed_bytes_are_answered() {
    let (_directory, mut client) = serve("{}");
    client.send(&[BIND, b"\x31\x00"].concat());
    assert_eq!(client.raw().unwrap(), BOUND);
    assert_noticed(&mut client);
}

#[test]
fn a_protocol_error_is_counted_as_an_abort_and_an_idle_timeout_is_not() {
    let (directory, mut idle) = serve(r#"{"limits": {"idle_ms": 3000}}"#);
    let mut stranger = Client::connect(directory.addr());
    stranger.send(b"\x31\x00");
    // The client stays connected until the server disconnects it.
    assert_noticed(&mut stranger);
    assert!(eventually(|| directory.stats().traffic.disconnections == 1));
    assert_eq!(directory.stats().traffic.aborted, 1);
    assert!(idle.is_closed());
    assert!(eventually(|| directory.stats().traffic.disconnections == 2));
    assert_eq!(directory.stats().traffic.aborted, 1);
}

#[test]
fn an_undefined_scope_is_a_protocol_error_that_leaves_the_connection_open() {
    let (_directory, mut client) = serve("{}");
    let mut out = search_for_all(5);
    let scope = out.windows(3).position(|bytes| bytes == b"\x0a\x01\x02").unwrap() + 2;
    out[scope] = 9;
    let done = client.request(|bytes| bytes.extend_from_slice(&out));
    assert_eq!((done.id, done.tag, done.code), (5, op::SEARCH_DONE, ResultCode::PROTOCOL_ERROR));
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn a_sender_that_stalls_within_a_message_is_cut_off_and_an_idle_client_is_not() {
    let (directory, mut idle) = serve(r#"{"limits": {"stall_ms": 300}}"#);
    let mut stalled = Client::connect(directory.addr());
    stalled.send(&BIND[..5]);
    assert!(stalled.is_closed());
    idle.send(BIND);
    assert_eq!(idle.raw().unwrap(), BOUND);
}
