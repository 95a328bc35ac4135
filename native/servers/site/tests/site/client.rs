//! A client that sends literal bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

pub struct Client {
    stream: TcpStream,
    input: Vec<u8>,
}

/// An answer as it was received.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        let line = |line: &'_ str| {
            line.split_once(": ").filter(|(known, _)| known.eq_ignore_ascii_case(name)).is_some()
        };
        self.head.lines().find(|l| line(l)).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    pub fn new(addr: SocketAddr) -> Self {
        Self::of(TcpStream::connect(addr).unwrap())
    }

    /// A client on an existing connection.
    pub fn of(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { stream, input: Vec::new() }
    }

    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap();
    }

    pub fn get(&mut self, path: &str, user: Option<u64>) -> Answer {
        let cookie = user.map_or(String::new(), |user| format!("Cookie: a=b; user={user}\r\n"));
        self.send(format!("GET {path} HTTP/1.1\r\nHost: site\r\n{cookie}\r\n"));
        self.answer()
    }

    pub fn post(&mut self, path: &str, user: Option<u64>, form: &str) -> Answer {
        let cookie = user.map_or(String::new(), |user| format!("Cookie: user={user}\r\n"));
        let length = form.len();
        self.send(format!(
            "POST {path} HTTP/1.1\r\nHost: site\r\n{cookie}Content-Length: {length}\r\n\r\n{form}"
        ));
        self.answer()
    }

    /// Reads the answer to any request except HEAD.
    pub fn answer(&mut self) -> Answer {
        let mut answer = self.head();
        let length = answer.header("content-length").map_or(0, |length| length.parse().unwrap());
        while self.input.len() < length {
            assert!(self.read() > 0, "the body ends early: {}", answer.head);
        }
        answer.body = self.input.drain(..length).collect();
        answer
    }

    /// Reads a head without a body.
    pub fn head(&mut self) -> Answer {
        let end = loop {
            if let Some(end) = self.input.windows(4).position(|four| four == b"\r\n\r\n") {
                break end + 4;
            }
            assert!(self.read() > 0, "closed within a head: {:?}", String::from_utf8_lossy(&self.input));
        };
        let head = String::from_utf8(self.input.drain(..end).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, body: Vec::new() }
    }

    fn read(&mut self) -> usize {
        let mut buffer = [0; 1 << 16];
        let count = loop {
            // A read with a timeout is not resumed after the machine was paused (signal(7)).
            match self.stream.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read.unwrap(),
            }
        };
        self.input.extend_from_slice(&buffer[..count]);
        count
    }

    /// Whether the site has closed the connection without further bytes and without a reset.
    pub fn is_closed(&mut self) -> bool {
        self.input.is_empty() && self.read() == 0
    }

    pub fn finish_sending(&mut self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }
}

/// Sends requests on a connection with a small receive buffer.
pub fn slow_reader(addr: SocketAddr, requests: impl AsRef<[u8]>) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(8_192).unwrap();
    socket.connect(&addr.into()).unwrap();
    let mut socket: TcpStream = socket.into();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    socket.write_all(requests.as_ref()).unwrap();
    socket
}

/// Two programs that disagree on where a request ends take one request for two, or one client's request for
/// another's (RFC 9112 sections 6.1, 6.3, 7.1 and 11.2). Sends ambiguous requests for `target`, each before a
/// `hidden` request; asserts that each is refused, and that nothing behind it is read as a request. Returns the
/// number of requests.
pub fn assert_nothing_is_smuggled(addr: SocketAddr, target: &str, hidden: &str) -> u64 {
    let ambiguous = [
        "Content-Length: 6\r\nContent-Length: 5\r\n\r\ncity=a",
        "Content-Length: 6, 6\r\n\r\ncity=a",
        "Content-Length: 6\r\nContent-Length: 6\r\n\r\ncity=a",
        "Content-Length: +6\r\n\r\ncity=a",
        "Content-Length: 0x6\r\n\r\ncity=a",
        "Content-Length:\r\n\r\ncity=a",
        "Content-Length: 18446744073709551622\r\n\r\ncity=a",
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: identity\r\nContent-Length: 6\r\n\r\ncity=a",
        "Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        "X: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n6\ncity=a\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n6;\ncity=a\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n6\r\ncity=a\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-6\r\ncity=a\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\n0\n\n",
    ];
    let modern = ambiguous.map(|lines| format!("POST {target} HTTP/1.1\r\nHost: a\r\n{lines}{hidden}"));
    // HTTP/1.0 has no chunked encoding.
    let old = format!(
        "POST {target} HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{hidden}"
    );
    for request in modern.iter().chain([&old]) {
        let mut client = Client::new(addr);
        client.send(request);
        let answer = client.answer();
        assert!(matches!(answer.status, 400 | 501), "{request:?}: {}", answer.head);
        assert!(client.is_closed(), "{request:?}");
    }
    modern.len() as u64 + 1
}

/// Asserts that connections close or stay open as requests for `path` say. The requests have the further header
/// lines `lines`, and the answers contain `body`.
pub fn assert_connections_persist_as_requested(addr: SocketAddr, path: &str, lines: &str, body: &str) {
    for (version, line, stays) in [
        ("1.1", "Connection: close\r\n", false),
        ("1.0", "", false),
        ("1.0", "Connection: keep-alive\r\n", true),
    ] {
        let request = format!("GET {path} HTTP/{version}\r\nHost: a\r\n{lines}{line}\r\n");
        let mut client = Client::new(addr);
        client.send(&request);
        let answer = client.answer();
        assert!(answer.status == 200 && answer.text().contains(body), "{request}");
        assert_eq!(answer.header("connection"), Some(if stays { "keep-alive" } else { "close" }));
        if stays {
            client.send(&request);
            assert_eq!(client.answer().status, 200);
        } else {
            assert!(client.is_closed());
        }
    }
}
