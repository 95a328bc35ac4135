//! StartTLS: cleartext messages are never taken for protected messages.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{Client, Search, eventually, serve_alone, trusting};
use directory::Running;
use tls::{Fault, Stream};
use wire::ldap::control::{Control, PagedResults, write_control};
use wire::ldap::{ResultCode, Scope, oid, op, request};

const OFFERED: &str = r#"{"tls": {"start": true}}"#;
const LDAPS: &str = r#"{"tls": {}, "limits": {"stall_ms": 300}}"#;

fn started(json: &str) -> Running {
    directory::start(crate::common::config(json), None).unwrap()
}

fn secured(directory: &Running, socket: TcpStream) -> Stream<TcpStream> {
    let mut stream = Stream::new(socket);
    stream.connect(&trusting(directory)).unwrap();
    assert!(stream.shake().unwrap());
    stream
}

/// Sends "Who am I?" (RFC 4532) and reads the first bytes of the answer.
fn is_answered(stream: &mut Stream<TcpStream>) -> bool {
    let mut out = Vec::new();
    request::write_extended(&mut out, 1, oid::WHO_AM_I, None);
    stream.write_all(&out).unwrap();
    let mut room = [0; 100];
    stream.read_some(&mut room).unwrap() > 0 && room[0] == 0x30
}

#[test]
fn messages_after_the_start_tls_answer_are_encrypted() {
    let directory = serve_alone(OFFERED);
    let mut client = Client::connect(directory.addr());
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
    let answer = client.extended(oid::START_TLS, None);
    assert_eq!((answer.tag, answer.code), (op::EXTENDED_RESPONSE, ResultCode::SUCCESS));
    assert_eq!(answer.name.as_deref(), Some(oid::START_TLS));
    let mut stream = secured(&directory, client.stream);
    assert!(is_answered(&mut stream));
    // A second StartTLS is refused.
    let mut out = Vec::new();
    request::write_extended(&mut out, 2, oid::START_TLS, None);
    stream.write_all(&out).unwrap();
    let mut room = [0; 200];
    assert!(stream.read_some(&mut room).unwrap() > 0);
    assert_eq!(room[9], ResultCode::OPERATIONS_ERROR.0 as u8);
    assert!(eventually(|| directory.stats().traffic.tls_handshakes == 1));
}

#[test]
fn requests_sent_before_the_start_tls_answer_are_refused() {
    let directory = serve_alone(OFFERED);
    let mut client = Client::connect(directory.addr());
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
    let directory = serve_alone(OFFERED);
    let mut client = Client::connect(directory.addr());
    for n in 0..200 {
        client.add_person(&format!("Person {n}"));
    }
    let mut out = Vec::new();
    Search::default().write(&mut out, 1);
    request::write_extended(&mut out, 2, oid::START_TLS, None);
    client.send(&out);
    let (mut codes, mut entries) = (Vec::new(), 0);
    while codes.len() < 2 {
        match client.receive() {
            crate::common::Message::Entry(_) => entries += 1,
            crate::common::Message::Done(answer) => codes.push((answer.id, answer.code)),
        }
    }
    codes.sort_unstable();
    assert_eq!(codes, [(1, ResultCode::SUCCESS), (2, ResultCode::OPERATIONS_ERROR)]);
    assert_eq!(entries, 201);
}

#[test]
fn start_tls_with_a_value_is_refused() {
    let directory = serve_alone(OFFERED);
    let mut client = Client::connect(directory.addr());
    let answer = client.extended(oid::START_TLS, Some(b"x"));
    assert_eq!(answer.code, ResultCode::PROTOCOL_ERROR);
    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS, "the connection goes on");
}

#[test]
fn a_tls_handshake_may_arrive_byte_by_byte() {
    let directory = started(r#"{"tls": {}}"#);
    let mut stream = Stream::new(Slow(TcpStream::connect(directory.addr()).unwrap()));
    stream.connect(&trusting(&directory)).unwrap();
    assert!(stream.shake().unwrap());
}

/// A socket that transfers one byte at a time.
struct Slow(TcpStream);

impl Read for Slow {
    fn read(&mut self, room: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(room)
    }
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.set_nodelay(true)?;
        self.0.write(&bytes[..bytes.len().min(1)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_client_that_begins_no_tls_handshake_is_cut_off() {
    let directory = started(LDAPS);
    let mut silent = Client::connect(directory.addr());
    assert!(silent.is_closed());
    assert!(eventually(|| directory.stats().traffic.aborted == 1));
}

#[test]
fn a_mismatch_of_ldap_and_ldaps_is_reported_to_client_and_server() {
    let ldaps = started(LDAPS);
    let mut plain = Client::connect(ldaps.addr());
    let notice = plain.bind("", "");
    assert_eq!((notice.id, notice.code), (0, ResultCode::PROTOCOL_ERROR));
    assert!(notice.diagnostic.contains("ldaps://"), "{}", notice.diagnostic);
    assert!(plain.is_closed());
    assert!(eventually(|| ldaps.stats().traffic.tls_failed == 1));

    let clear = started("{}");
    let mut stream = Stream::new(TcpStream::connect(clear.addr()).unwrap());
    stream.socket().set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.connect(&trusting(&ldaps)).unwrap();
    let error = stream.shake().unwrap_err();
    assert_eq!(stream.fault(&error), Some(Fault::NotTls));
}

/// A directory that requires client certificates of its authority; no client here has such a certificate.
fn mutual() -> Running {
    let mut ca = tempfile::NamedTempFile::new().unwrap();
    ca.write_all(started(OFFERED).made_ca().unwrap().as_bytes()).unwrap();
    started(&format!(r#"{{"tls": {{"start": true, "certificate": {{"client_ca": {:?}}}}}}}"#, ca.path()))
}

#[test]
fn a_directory_that_requires_client_certificates_refuses_cleartext_requests() {
    let directory = mutual();
    let mut client = Client::connect(directory.addr());
    let refused = ResultCode::CONFIDENTIALITY_REQUIRED;
    assert_eq!(client.bind("", "").code, refused);
    assert_eq!(client.bind("cn=Ann,o=Intranet", "secret").code, refused);
    assert_eq!(client.add("ou=X,o=Intranet", &[("objectClass", &["organizationalUnit"])]).code, refused);
    assert_eq!(client.delete("o=Intranet").code, refused);
    assert_eq!(client.modify("o=Intranet", &[(0, "description", &["x"])]).code, refused);
    assert_eq!(client.compare("o=Intranet", "o", "Intranet"), refused);
    assert_eq!(client.extended(oid::WHO_AM_I, None).code, refused);
    assert_eq!(client.search(&Search { base: "o=Intranet", ..Search::default() }).1.code, refused);
    assert_eq!(client.search(&Search { base: "", ..Search::default() }).1.code, refused);
    let root = Search { base: "", scope: Scope::Base, ..Search::default() };
    assert_eq!(client.search(&root).0.len(), 1, "how to go on stands in the root DSE");
    assert_eq!(client.extended(oid::START_TLS, None).code, ResultCode::SUCCESS);
}

fn mechanisms<S: Read + Write>(client: &mut Client<S>) -> Vec<String> {
    let root = Search {
        base: "",
        scope: Scope::Base,
        attributes: &["supportedSASLMechanisms"],
        ..Search::default()
    };
    let (found, _) = client.search(&root);
    found[0].values("supportedSASLMechanisms").into_iter().map(str::to_owned).collect()
}

#[test]
fn sasl_mechanisms_are_listed_only_over_connections_that_accept_them() {
    for directory in [serve_alone(OFFERED), mutual()] {
        let mut client = Client::connect(directory.addr());
        assert!(mechanisms(&mut client).is_empty(), "a client would send its password in the clear");
    }
    let directory = serve_alone(OFFERED);
    let mut client = Client::connect(directory.addr()).secured(&trusting(&directory));
    assert_eq!(mechanisms(&mut client), ["PLAIN"]);
    assert_eq!(client.compare("", "supportedSASLMechanisms", "PLAIN"), ResultCode::COMPARE_TRUE);
    assert_eq!(client.compare("", "supportedSASLMechanisms", "EXTERNAL"), ResultCode::COMPARE_FALSE);
}

/// Requests a page of one entry, the first page or the page after `cookie`; returns its result code and the
/// cookie of the next page.
fn page<S: Read + Write>(client: &mut Client<S>, cookie: &[u8]) -> (ResultCode, Vec<u8>) {
    let mut value = Vec::new();
    PagedResults { size: 1, cookie }.encode(&mut value);
    let mut controls = Vec::new();
    write_control(&mut controls, &Control { oid: oid::PAGED_RESULTS, critical: false, value: Some(&value) });
    let done = client.search(&Search { controls, ..Search::default() }).1;
    let next = done.controls.first().map(|(_, value)| PagedResults::decode(value).unwrap().cookie.to_vec());
    (done.code, next.unwrap_or_default())
}

#[test]
fn start_tls_discards_binds_and_pages_of_the_cleartext_session() {
    let directory = started(
        r#"{"tls": {"start": true}, "admin_dn": "cn=admin", "admin_password": "root", "require_bind": true}"#,
    );
    let mut client = Client::connect(directory.addr());
    assert_eq!(client.bind("cn=admin", "root").code, ResultCode::SUCCESS);
    client.add("ou=Dynamic,o=Intranet", &[("objectClass", &["organizationalUnit"]), ("ou", &["Dynamic"])]);
    client.add_person("Ann");
    let (code, cookie) = page(&mut client, b"");
    assert_eq!((code, cookie.is_empty()), (ResultCode::SUCCESS, false));
    let mut client = client.secured(&trusting(&directory));
    assert_eq!(client.extended(oid::WHO_AM_I, None).value.as_deref(), Some(&b""[..]));
    assert_eq!(page(&mut client, b"").0, ResultCode::INSUFFICIENT_ACCESS_RIGHTS);
    assert_eq!(client.bind("cn=admin", "root").code, ResultCode::SUCCESS);
    assert_eq!(page(&mut client, &cookie).0, ResultCode::UNWILLING_TO_PERFORM);
    assert_eq!(page(&mut client, b"").0, ResultCode::SUCCESS);
}
