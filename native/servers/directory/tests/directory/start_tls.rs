//! StartTLS: cleartext messages are never taken for protected messages.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{
    Client, Message, Search, eventually, search_for_all, serve, serve_people, serve_suffix, start, trusting,
};
use directory::Running;
use tls::{Fault, Stream};
use wire::ldap::{ResultCode, oid, request};

const OFFERED: &str = r#"{"tls": {"start": true}}"#;
const LDAPS: &str = r#"{"tls": {}, "limits": {"stall_ms": 300}}"#;

#[test]
fn messages_after_the_start_tls_answer_are_encrypted() {
    let (directory, mut client) = serve(OFFERED);
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
    let mut client = client.secured(&trusting(&directory));
    assert_eq!(client.extended(oid::WHO_AM_I, None).code, ResultCode::SUCCESS);
    // A second StartTLS is refused.
    assert_eq!(client.extended(oid::START_TLS, None).code, ResultCode::OPERATIONS_ERROR);
    assert!(eventually(|| directory.stats().traffic.tls_handshakes == 1));
}

#[test]
fn requests_sent_before_the_start_tls_answer_are_refused() {
    let (directory, mut client) = serve(OFFERED);
    let mut out = Vec::new();
    request::write_extended(&mut out, 1, oid::START_TLS, None);
    request::write_delete(&mut out, 2, b"ou=Dynamic,o=Intranet");
    client.send(&out);
    assert_eq!(client.done().code, ResultCode::SUCCESS);
    let notice = client.done();
    assert_eq!((notice.id, notice.code), (0, ResultCode::PROTOCOL_ERROR));
    assert!(client.is_closed());
    assert_eq!(directory.stats().served.deletes, 0);
}

#[test]
fn start_tls_is_refused_while_a_search_is_under_way() {
    let (_directory, mut client) = serve_people(OFFERED, 200);
    let mut out = search_for_all(1);
    request::write_extended(&mut out, 2, oid::START_TLS, None);
    client.send(&out);
    let (mut codes, mut entries) = (Vec::new(), 0);
    while codes.len() < 2 {
        match client.receive() {
            Message::Entry(_) => entries += 1,
            Message::Done(answer) => codes.push((answer.id, answer.code)),
        }
    }
    codes.sort_unstable();
    assert_eq!(codes, [(1, ResultCode::SUCCESS), (2, ResultCode::OPERATIONS_ERROR)]);
    assert_eq!(entries, 201);
}

#[test]
fn start_tls_with_a_value_is_refused() {
    let (_directory, mut client) = serve(OFFERED);
    let answer = client.extended(oid::START_TLS, Some(b"x"));
    assert_eq!(answer.code, ResultCode::PROTOCOL_ERROR);
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS, "the connection goes on");
}

#[test]
fn a_client_that_begins_no_tls_handshake_is_cut_off() {
    let (directory, mut silent) = serve_suffix(LDAPS);
    assert!(silent.is_closed());
    assert!(eventually(|| directory.stats().traffic.aborted == 1));
}

#[test]
fn a_mismatch_of_ldap_and_ldaps_is_reported_to_client_and_server() {
    let ldaps = start(LDAPS);
    let mut plain = Client::connect(ldaps.addr());
    let notice = plain.bind("", "");
    assert_eq!((notice.id, notice.code), (0, ResultCode::PROTOCOL_ERROR));
    assert!(notice.diagnostic.contains("ldaps://"), "{}", notice.diagnostic);
    assert!(plain.is_closed());
    // The client stays connected until the server disconnects it. The failure is no abort.
    let counts = || {
        let traffic = ldaps.stats().traffic;
        (traffic.disconnections, traffic.tls_failed, traffic.aborted)
    };
    assert!(eventually(|| counts() == (1, 1, 0)), "{:?}", counts());

    let clear = start("{}");
    let mut stream = Stream::new(TcpStream::connect(clear.addr()).unwrap());
    stream.socket().set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.connect(&trusting(&ldaps)).unwrap();
    let error = stream.shake().unwrap_err();
    assert_eq!(stream.fault(&error), Some(Fault::NotTls));
}

/// A directory that requires client certificates of its authority; no client here has such a certificate.
fn mutual() -> Running {
    let mut ca = tempfile::NamedTempFile::new().unwrap();
    ca.write_all(start(OFFERED).made_ca().unwrap().as_bytes()).unwrap();
    start(&format!(r#"{{"tls": {{"start": true, "certificate": {{"client_ca": {:?}}}}}}}"#, ca.path()))
}

#[test]
fn a_directory_that_requires_client_certificates_refuses_cleartext_requests() {
    let directory = mutual();
    let mut client = Client::connect(directory.addr());
    let unit: (&str, &[&str]) = ("objectClass", &["organizationalUnit"]);
    for answer in [
        client.bind("", ""),
        client.bind("cn=Ann,o=Intranet", "secret"),
        client.add("ou=X,o=Intranet", &[unit]),
        client.delete("o=Intranet"),
        client.modify("o=Intranet", &[(0, "description", &["x"])]),
        client.extended(oid::WHO_AM_I, None),
        client.search(&Search { base: "o=Intranet", ..Search::default() }).1,
        client.search(&Search { base: "", ..Search::default() }).1,
    ] {
        assert_eq!(answer.code, ResultCode::CONFIDENTIALITY_REQUIRED, "{answer:?}");
    }
    assert_eq!(client.compare("o=Intranet", "o", "Intranet"), ResultCode::CONFIDENTIALITY_REQUIRED);
    assert!(client.read("", &[]).is_some(), "the root DSE says how to go on");
    assert_eq!(client.extended(oid::START_TLS, None).code, ResultCode::SUCCESS);
}

fn mechanisms<S: Read + Write>(client: &mut Client<S>) -> Vec<String> {
    let root = client.read("", &["supportedSASLMechanisms"]).unwrap();
    root.values("supportedSASLMechanisms").into_iter().map(str::to_owned).collect()
}

#[test]
fn sasl_mechanisms_are_listed_only_over_connections_that_accept_them() {
    for directory in [start(OFFERED), mutual()] {
        let mut client = Client::connect(directory.addr());
        assert!(mechanisms(&mut client).is_empty(), "a client would send its password in the clear");
    }
    let (directory, client) = serve(OFFERED);
    let mut client = client.secured(&trusting(&directory));
    assert_eq!(mechanisms(&mut client), ["PLAIN"]);
    assert_eq!(client.compare("", "supportedSASLMechanisms", "PLAIN"), ResultCode::COMPARE_TRUE);
    assert_eq!(client.compare("", "supportedSASLMechanisms", "EXTERNAL"), ResultCode::COMPARE_FALSE);
}

#[test]
fn start_tls_discards_binds_and_pages_of_the_cleartext_session() {
    let (directory, mut client) = serve_suffix(
        r#"{"tls": {"start": true}, "admin_dn": "cn=admin", "admin_password": "root", "require_bind": true}"#,
    );
    assert_eq!(client.bind("cn=admin", "root").code, ResultCode::SUCCESS);
    client.add_container();
    client.add_person("Ann");
    let cookie = client.page(1, b"").1.cookie().unwrap();
    assert!(!cookie.is_empty());
    let mut client = client.secured(&trusting(&directory));
    assert_eq!(client.extended(oid::WHO_AM_I, None).value.as_deref(), Some(&b""[..]));
    assert_eq!(client.page(1, b"").1.code, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    assert_eq!(client.bind("cn=admin", "root").code, ResultCode::SUCCESS);
    assert_eq!(client.page(1, &cookie).1.code, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(client.page(1, b"").1.code, ResultCode::SUCCESS);
}
