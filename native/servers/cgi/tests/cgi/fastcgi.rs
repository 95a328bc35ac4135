//! FastCGI requests of web servers, valid and malformed.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, SockAddr, Socket, Type};

use crate::page::page;

const BEGIN_REQUEST: u8 = 1;
const ABORT_REQUEST: u8 = 2;
const END_REQUEST: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;
const GET_VALUES: u8 = 9;
const GET_VALUES_RESULT: u8 = 10;
const UNKNOWN_TYPE: u8 = 11;

/// Bodies of BEGIN_REQUEST records: role responder, with the connection kept open or closed.
const KEPT: [u8; 8] = [0, 1, 1, 0, 0, 0, 0, 0];
const CLOSED: [u8; 8] = [0, 1, 0, 0, 0, 0, 0, 0];

const GIVE_UP: Duration = Duration::from_secs(20);

/// A running program with its own socket.
struct Program {
    process: Child,
    socket: PathBuf,
    _folder: tempfile::TempDir,
}

impl Program {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("a socket");
        // A stale socket, as a killed process leaves it. It never listened: a socket that had listened could
        // still accept a connection, because each test that starts a program holds a copy of its descriptor
        // for a moment.
        let stale = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
        stale.bind(&SockAddr::unix(&socket).unwrap()).unwrap();
        drop(stale);
        let process = program(&socket.to_string_lossy()).spawn().unwrap();
        Self { process, socket, _folder: folder }
    }

    fn connect(&self) -> Connection<UnixStream> {
        let stream = eventually(|| UnixStream::connect(&self.socket));
        stream.set_read_timeout(Some(GIVE_UP)).unwrap();
        Connection(stream)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

fn program(socket: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sitebench-cgi"));
    command.args(["--fastcgi", socket]).env_clear();
    command
}

/// Retries until the program listens.
fn eventually<T>(attempt: impl Fn() -> std::io::Result<T>) -> T {
    let began = Instant::now();
    loop {
        match attempt() {
            Ok(found) => return found,
            Err(error) => assert!(began.elapsed() < GIVE_UP, "{error}"),
        }
        thread::sleep(Duration::from_millis(5));
    }
}

struct Connection<S>(S);

#[derive(Debug, PartialEq)]
struct Record {
    kind: u8,
    id: u16,
    content: Vec<u8>,
}

/// A FastCGI record with some padding.
fn record(kind: u8, id: u16, content: &[u8]) -> Vec<u8> {
    let ([id_high, id_low], [high, low]) = (id.to_be_bytes(), (content.len() as u16).to_be_bytes());
    [&[1, kind, id_high, id_low, high, low, 3, 0], content, b"pad"].concat()
}

fn pair(name: &str, value: &str) -> Vec<u8> {
    let mut out = vec![name.len() as u8];
    // The long form of the length, which a server may use for any length.
    out.extend_from_slice(&(value.len() as u32 | 1 << 31).to_be_bytes());
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(value.as_bytes());
    out
}

/// A complete request for a document.
fn request(id: u16, how: [u8; 8], query: &str) -> Vec<u8> {
    let params = pair("QUERY_STRING", query);
    // The parameters are sent in two parts, split within a name.
    let (one, two) = params.split_at(9);
    [
        record(BEGIN_REQUEST, id, &how),
        record(PARAMS, id, one),
        record(PARAMS, id, two),
        record(PARAMS, id, &[]),
        record(STDIN, id, b"what it sends"),
        record(STDIN, id, &[]),
    ]
    .concat()
}

impl<S: Read + Write> Connection<S> {
    fn send(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).unwrap();
    }

    /// Returns `None` at the end of the connection.
    fn receive(&mut self) -> Option<Record> {
        let mut head = [0; 8];
        match self.0.read_exact(&mut head) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return None,
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return None,
            Err(error) => panic!("{error}"),
        }
        let [1, kind, id_high, id_low, high, low, padding, 0] = head else { panic!("{head:?}") };
        let length = usize::from(u16::from_be_bytes([high, low]));
        let mut content = vec![0; length + usize::from(padding)];
        self.0.read_exact(&mut content).unwrap();
        content.truncate(length);
        Some(Record { kind, id: u16::from_be_bytes([id_high, id_low]), content })
    }

    /// Reads a request's answer to its end; returns the output and the protocol status.
    fn answer(&mut self, id: u16) -> (Vec<u8>, u8) {
        let mut out = Vec::new();
        let mut ended = false;
        loop {
            let found = self.receive().unwrap();
            assert_eq!(found.id, id);
            match found.kind {
                STDOUT => {
                    assert!(!ended, "nothing follows the end of the output");
                    ended = found.content.is_empty();
                    out.extend_from_slice(&found.content);
                }
                END_REQUEST => {
                    assert_eq!(found.content.len(), 8);
                    return (out, *found.content.get(4).unwrap());
                }
                other => panic!("a record of type {other}"),
            }
        }
    }

    fn get(&mut self, id: u16, query: &str) -> Vec<u8> {
        self.send(&request(id, KEPT, query));
        let (answer, how) = self.answer(id);
        assert_eq!(how, 0, "complete");
        let heads = ["plain", "html"].map(|kind| format!("Content-Type: text/{kind}\r\n\r\n"));
        heads.iter().find_map(|head| answer.strip_prefix(head.as_bytes())).unwrap_or(&answer).to_vec()
    }
}

#[test]
fn a_kept_connection_answers_consecutive_requests() {
    let program = Program::start();
    let mut connection = program.connect();
    for (id, size) in [(1, 0), (1, 1), (7, 65_500), (65_535, 65_501), (2, 1_000_000)] {
        assert_eq!(connection.get(id, &format!("kind=constant&size={size}")), page(size));
    }
    let random = connection.get(1, "kind=random&size=500");
    assert!(random.len() == 500 && random.iter().all(|byte| (b'?'..=b'X').contains(byte)));
    assert_ne!(connection.get(1, "kind=random&size=500"), random);
    assert!(connection.get(1, "kind=other").starts_with(b"Status: 400"));
    assert_eq!(connection.get(1, ""), b"QUERY_STRING=\n", "the variables of the request and no others");
}

#[test]
fn a_connection_without_keep_conn_is_closed_after_its_answer() {
    let program = Program::start();
    let mut connection = program.connect();
    connection.send(&request(1, CLOSED, "kind=constant&size=9"));
    assert_eq!(connection.answer(1).0.len(), 27 + 9);
    assert_eq!(connection.receive(), None);
}

#[test]
fn connections_are_served_concurrently() {
    let program = Program::start();
    let mut connections: Vec<_> = (0..100).map(|_| program.connect()).collect();
    for (i, connection) in connections.iter_mut().enumerate().rev() {
        let (first, rest) = (page(i), request(1, KEPT, "kind=constant&size=3"));
        assert_eq!(connection.get(1, &format!("kind=constant&size={i}")), first);
        // All connections now wait in the middle of a request.
        connection.send(rest.get(..30).unwrap());
    }
}

#[test]
fn the_program_also_listens_on_a_tcp_address() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let mut process = program(&address).spawn().unwrap();
    let mut connection = Connection(eventually(|| TcpStream::connect(&address)));
    assert_eq!(connection.get(1, "kind=constant&size=2"), b"xx");
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn sigterm_ends_the_program_even_within_a_request() {
    let mut program = Program::start();
    let mut connection = program.connect();
    connection.send(request(1, KEPT, "").get(..40).unwrap());
    let killed = Command::new("kill").arg(program.process.id().to_string()).status().unwrap();
    assert!(killed.success());
    assert_eq!(program.process.wait().unwrap().signal(), Some(15));
    assert_eq!(connection.receive(), None);
}

#[test]
fn a_failure_to_listen_names_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "kept").unwrap();
    for socket in [&*file.to_string_lossy(), "127.0.0.1:99999", "127.0.0.1:http", "/nowhere/a"] {
        let ended = program(socket).stderr(Stdio::piped()).output().unwrap();
        assert!(!ended.status.success());
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(said.starts_with(&format!("sitebench-cgi: cannot listen at {socket}: ")), "{said}");
    }
    assert_eq!(std::fs::read(&file).unwrap(), b"kept", "only a socket is replaced");
}

#[test]
fn the_program_with_cgi_variables_answers_instead_of_listening() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let variables = HashMap::from([("GATEWAY_INTERFACE", "CGI/1.1")]);
    let ended = program(&socket.to_string_lossy()).envs(&variables).output().unwrap();
    assert_eq!(ended.stdout, b"Content-Type: text/plain\r\n\r\nGATEWAY_INTERFACE=CGI/1.1\n");
}

#[test]
fn management_records_are_answered_as_fastcgi_specifies() {
    let program = Program::start();
    let mut connection = program.connect();
    let asked = [pair("FCGI_MPXS_CONNS", ""), pair("FCGI_MAX_CONNS", ""), pair("OTHER", "")].concat();
    connection.send(&record(GET_VALUES, 0, &asked));
    let content = b"\x0e\x04FCGI_MAX_CONNS1024\x0f\x01FCGI_MPXS_CONNS0".to_vec();
    assert_eq!(connection.receive(), Some(Record { kind: GET_VALUES_RESULT, id: 0, content }));

    connection.send(&record(77, 0, b"?"));
    let content = vec![77, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(connection.receive(), Some(Record { kind: UNKNOWN_TYPE, id: 0, content }));

    // The authorizer role, which the program does not have.
    connection.send(&record(BEGIN_REQUEST, 4, &[0, 2, 1, 0, 0, 0, 0, 0]));
    assert_eq!(connection.answer(4), (Vec::new(), 3));

    // A second request on the same connection; then the first request is aborted.
    connection.send(&record(BEGIN_REQUEST, 5, &KEPT));
    connection.send(&record(BEGIN_REQUEST, 6, &KEPT));
    assert_eq!(connection.answer(6), (Vec::new(), 1));
    connection.send(&record(ABORT_REQUEST, 5, &[]));
    assert_eq!(connection.answer(5), (Vec::new(), 0));

    // Records of unknown requests are ignored.
    for kind in [PARAMS, STDIN, ABORT_REQUEST, 8, 200] {
        connection.send(&record(kind, 9, b"?"));
    }
    assert_eq!(connection.get(9, "kind=constant&size=1"), b"x");
}

#[test]
fn hostile_input_closes_no_other_connection() {
    let program = Program::start();
    let begun = record(BEGIN_REQUEST, 1, &KEPT);
    let with = |params: &[u8]| {
        [&*begun, &record(PARAMS, 1, params), &record(PARAMS, 1, &[]), &record(STDIN, 1, &[])].concat()
    };
    let much = vec![b'a'; 65_535];
    let endless: Vec<u8> = (0..17).flat_map(|_| record(PARAMS, 1, &much)).collect();
    let inputs = [
        ("another protocol", b"GET / HTTP/1.1\r\n\r\n".to_vec()),
        ("a name longer than its record", with(b"\x05\x00name")),
        ("a value longer than its record", with(b"\x04\x7fname")),
        ("a length of 2 GB", with(b"\xff\xff\xff\xff\xff\xff\xff\xffa")),
        ("a length that ends early", with(b"\xff\xff")),
        ("one length of two", with(b"\x04")),
        ("endless variables", [&*begun, &endless].concat()),
        ("a beginning without a role", record(BEGIN_REQUEST, 1, &[0])),
        ("a beginning within a request", [&*begun, &*begun].concat()),
        ("a body before the variables", [&*begun, &record(STDIN, 1, &[])].concat()),
        ("lengths that lie about values", record(GET_VALUES, 0, b"\xff\xff\xff\xff\x01a")),
    ];
    for (what, input) in inputs {
        let mut connection = program.connect();
        // The program may close the connection before all bytes were sent.
        let _ = connection.0.write_all(&input);
        assert_eq!(connection.receive(), None, "{what}");
    }
    // A record header without its content, from a client that disconnects or stays connected.
    let announced = [&*begun, &[1, PARAMS, 0, 1, 0xff, 0xff, 0xff, 0]].concat();
    let mut staying = program.connect();
    staying.send(&announced);
    program.connect().send(&announced);
    assert_eq!(program.connect().get(1, "kind=constant&size=4"), b"xxxx");
}
