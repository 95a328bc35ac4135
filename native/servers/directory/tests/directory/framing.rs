//! LDAP messages as bytes on a socket: in pieces, in batches, malformed.

use std::time::Duration;

use crate::common::{Client, Search, lookup, serve_alone};
use wire::ldap::request::{write_bind, write_delete, write_unbind};
use wire::ldap::{ResultCode, oid, op};

/// An anonymous bind with message ID 1 and its response, encoded as RFC 4511 section 5.1 requires.
const BIND: &[u8] = b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00";
const BOUND: &[u8] = b"\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x00\x04\x00\x04\x00";
const UNBIND: &[u8] = b"\x30\x05\x02\x01\x02\x42\x00";

#[test]
fn a_bind_its_response_and_an_unbind_have_exactly_the_expected_bytes() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    client.send(BIND);
    assert_eq!(client.raw().unwrap(), BOUND);
    client.send(UNBIND);
    assert!(client.is_closed());
}

#[test]
fn an_ldap_v2_bind_is_answered() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    client.send(b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x02\x04\x00\x80\x00");
    assert_eq!(client.raw().unwrap(), BOUND);
}

#[test]
fn a_message_may_arrive_byte_by_byte() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    client.add_person("Ann 1");
    let mut out = Vec::new();
    Search { filter: lookup("Ann 1"), ..Search::default() }.write(&mut out, 77);
    for byte in out {
        client.send(&[byte]);
        std::thread::sleep(Duration::from_millis(1));
    }
    let (found, done) = client.collect();
    assert_eq!((found.len(), done.id, done.code), (1, 77, ResultCode::SUCCESS));
}

#[test]
fn a_thousand_requests_in_one_write_are_answered_in_order() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    for name in ["Ann 1", "Bob 2"] {
        client.add_person(name);
    }
    let mut out = Vec::new();
    for id in 1..=1000 {
        let name = if id % 2 == 0 { "Ann 1" } else { "Bob 2" };
        Search { filter: lookup(name), ..Search::default() }.write(&mut out, id);
    }
    client.send(&out);
    for id in 1..=1000 {
        let (found, done) = client.collect();
        assert_eq!((found.len(), done.id, done.code), (1, id, ResultCode::SUCCESS));
        let expected = if id % 2 == 0 { ["Ann 1"] } else { ["Bob 2"] };
        assert_eq!(found[0].values("cn"), expected);
    }
}

#[test]
fn a_batch_of_requests_may_end_within_a_message_or_with_an_unbind() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
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
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
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
    let directory = serve_alone("{}");
    let strangers: [&[u8]; 9] = [
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
    ];
    for bytes in strangers {
        let mut client = Client::connect(directory.addr());
        client.send(bytes);
        assert_noticed(&mut client);
    }
    let mut client = Client::connect(directory.addr());
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn requests_before_malformed_bytes_are_answered() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    client.send(&[BIND, b"\x31\x00"].concat());
    assert_eq!(client.raw().unwrap(), BOUND);
    assert_noticed(&mut client);
}

#[test]
fn a_protocol_error_is_counted_as_an_abort_and_an_idle_timeout_is_not() {
    let directory = serve_alone(r#"{"limits": {"idle_ms": 3000}}"#);
    let mut idle = Client::connect(directory.addr());
    let mut stranger = Client::connect(directory.addr());
    stranger.send(b"\x31\x00");
    // The client stays connected until the server disconnects it.
    assert_noticed(&mut stranger);
    assert!(
        crate::common::eventually(|| directory.stats().traffic.disconnections >= 2),
        "the stranger, and the client that set the directory up"
    );
    assert_eq!(directory.stats().traffic.aborted, 1);
    assert!(idle.is_closed());
    assert!(crate::common::eventually(|| directory.stats().traffic.disconnections == 3));
    assert_eq!(directory.stats().traffic.aborted, 1);
}

#[test]
fn a_request_with_message_id_zero_is_refused() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    client.send(b"\x30\x0c\x02\x01\x00\x60\x07\x02\x01\x03\x04\x00\x80\x00");
    assert_noticed(&mut client);
}

#[test]
fn an_undefined_scope_is_a_protocol_error_that_leaves_the_connection_open() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    let mut out = Vec::new();
    Search::default().write(&mut out, 5);
    let scope = out.windows(3).position(|bytes| bytes == b"\x0a\x01\x02").unwrap() + 2;
    out[scope] = 9;
    let done = client.request(|bytes| bytes.extend_from_slice(&out));
    assert_eq!((done.id, done.tag, done.code), (5, op::SEARCH_DONE, ResultCode::PROTOCOL_ERROR));
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
}

#[test]
fn a_filter_nested_too_deep_is_refused() {
    let directory = serve_alone("{}");
    let mut client = Client::connect(directory.addr());
    let mut filter = crate::common::filter(|out| wire::ldap::filter::write_present(out, b"cn"));
    for _ in 0..10_000 {
        let inner = std::mem::take(&mut filter);
        wire::ber::write_element(&mut filter, 0xa2, &inner);
    }
    let (found, done) = client.search(&Search { filter, ..Search::default() });
    assert_eq!((found.len(), done.code), (0, ResultCode::ADMIN_LIMIT_EXCEEDED));
}

#[test]
fn large_messages_are_accepted_only_after_a_bind_with_a_name() {
    let directory = serve_alone(
        r#"{"admin_dn": "cn=admin", "admin_password": "secret",
            "limits": {"message_bytes_before_bind": 1000, "message_bytes_after_bind": 300000}}"#,
    );
    let long = "x".repeat(200_000);
    let add = |client: &mut Client| {
        let mut out = Vec::new();
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["RTPerson"]), ("cn", &["long"]), ("description", &[&long])];
        crate::common::write_add(&mut out, 9, "cn=long,ou=Dynamic,o=Intranet", attributes);
        // The server may close the connection before the last bytes are sent.
        let _ = std::io::Write::write_all(&mut client.stream, &out);
    };
    for binds in [false, true] {
        let mut stranger = Client::connect(directory.addr());
        if binds {
            assert_eq!(stranger.bind("", "").code, ResultCode::SUCCESS);
        }
        add(&mut stranger);
        assert_noticed(&mut stranger);
    }
    let mut client = Client::connect(directory.addr());
    assert_eq!(client.bind("cn=admin", "secret").code, ResultCode::SUCCESS);
    client.add("ou=Dynamic,o=Intranet", &[("objectClass", &["organizationalUnit"]), ("ou", &["Dynamic"])]);
    add(&mut client);
    assert_eq!(client.done().code, ResultCode::SUCCESS);
    let (found, _) = client.search(&Search { filter: lookup("long"), ..Search::default() });
    assert_eq!(found[0].values("description"), [long.as_str()]);
}

#[test]
fn a_sender_that_stalls_within_a_message_is_cut_off_and_an_idle_client_is_not() {
    let directory = serve_alone(r#"{"limits": {"stall_ms": 300}}"#);
    let mut idle = Client::connect(directory.addr());
    let mut stalled = Client::connect(directory.addr());
    stalled.send(&BIND[..5]);
    assert!(stalled.is_closed());
    idle.send(BIND);
    assert_eq!(idle.raw().unwrap(), BOUND);
}

#[test]
fn a_connection_beyond_the_limit_gets_a_notice() {
    let directory =
        directory::start(crate::common::config(r#"{"limits": {"connections": 2}}"#), None).unwrap();
    let mut first: Vec<_> = (0..2).map(|_| Client::connect(directory.addr())).collect();
    for client in &mut first {
        assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
    }
    let mut third = Client::connect(directory.addr());
    let notice = third.done();
    assert_eq!((notice.id, notice.code), (0, ResultCode::UNAVAILABLE));
    assert!(third.is_closed());
    drop(first.pop());
    // The slot becomes free once the server has read the end of the connection.
    let admitted = (0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        let mut client = Client::connect(directory.addr());
        let mut out = Vec::new();
        write_bind(&mut out, 1, 3, b"", b"");
        let _ = std::io::Write::write_all(&mut client.stream, &out);
        client.raw().is_some_and(|bytes| bytes == BOUND)
    });
    assert!(admitted);
}
