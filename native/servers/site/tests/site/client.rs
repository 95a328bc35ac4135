//! A client that sends literal bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

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
