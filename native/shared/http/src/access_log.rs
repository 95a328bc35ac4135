//! A log of requests, in the common format of web servers.
//!
//! Each thread collects lines. The thread appends these lines to the file if there are many, before the first
//! line of another second, and when the thread ends. Measured servers with logs do the same (Apache's
//! `BufferedLogs`, nginx's `buffer=`).

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::Path;

use wire::http::date::log_date;

/// The number of bytes that are appended at once.
const ENOUGH: usize = 32 << 10;

/// The log of one thread.
#[derive(Debug)]
pub struct AccessLog {
    file: File,
    lines: Vec<u8>,
    /// The time of the collected lines, in seconds and as text.
    second: u64,
    date: String,
}

impl AccessLog {
    /// Appends to a file, which is created if it does not exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        let failed = |error: io::Error| {
            io::Error::new(error.kind(), format!("cannot log requests to {}: {error}", path.display()))
        };
        let file = OpenOptions::new().append(true).create(true).open(path).map_err(failed)?;
        Ok(Self { file, lines: Vec::with_capacity(ENOUGH), second: 0, date: log_date(0) })
    }

    /// Sets the time of the following lines.
    pub(crate) fn at(&mut self, unix_s: u64) {
        if self.second != unix_s {
            self.flush();
            (self.second, self.date) = (unix_s, log_date(unix_s));
        }
    }

    /// Adds a line: the client, the request, and the answer's status and length.
    pub(crate) fn line(&mut self, from: IpAddr, asked: &[u8], answer: &[u8]) {
        // Writing to a Vec cannot fail.
        let _ = write!(self.lines, "{from} - - [{}] \"", self.date);
        self.lines.extend_from_slice(asked);
        let status = answer.get(9..12).unwrap_or(b"-");
        self.lines.extend_from_slice(b"\" ");
        self.lines.extend_from_slice(status);
        self.lines.push(b' ');
        self.lines.extend_from_slice(if asked.starts_with(b"HEAD ") { b"-" } else { length(answer) });
        self.lines.push(b'\n');
        if self.lines.len() >= ENOUGH {
            self.flush();
        }
    }

    fn flush(&mut self) {
        // A full disk does not stop the service, but the lines are lost.
        let _ = self.file.write_all(&self.lines);
        self.lines.clear();
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The request line as it is logged, without characters that would end the line or the quotes.
pub(crate) fn asked(bytes: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let line =
        bytes.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    for &byte in line.trim_ascii().iter().take(2_000) {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
}

/// The length of an answer's body according to its head; `-` if the head has no length.
fn length(answer: &[u8]) -> &[u8] {
    const NAME: &[u8] = b"\r\nContent-Length: ";
    let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(answer.len());
    let answer = &answer[..head];
    let Some(at) = answer.windows(NAME.len()).position(|part| part == NAME) else { return b"-" };
    let value = &answer[at + NAME.len()..];
    let end = value.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(value.len());
    if value[..end] == *b"0" { b"-" } else { &value[..end] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_log_line_has_the_common_log_format_for_any_request() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("access.log");
        let mut log = AccessLog::open(&path).unwrap();
        log.at(784_111_777);
        let from = IpAddr::from([127, 0, 0, 1]);
        let mut line = Vec::new();
        let answer = b"HTTP/1.1 200 OK\r\nDate: x\r\nContent-Length: 2326\r\n\r\nContent-Length: 1";
        for head in [&b"\r\nGET /a HTTP/1.0\r\nHost: a\r\n\r\n"[..], b"GET /\"\x1b[0m\\ HTTP/1.1\r\n\r\n"] {
            asked(head, &mut line);
            log.line(from, &line, answer);
        }
        log.line(from, b"HEAD / HTTP/1.1", answer);
        log.line(from, b"GET / HTTP/1.1", b"HTTP/1.1 200 OK\r\n\r\n1\r\n\r\nContent-Length: 7");
        log.line(from, b"", b"HTTP/1.1 304 Not Modified\r\n\r\n");
        drop(log);
        let text = std::fs::read_to_string(&path).unwrap();
        let date = "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000]";
        let expected = [
            format!("{date} \"GET /a HTTP/1.0\" 200 2326"),
            format!("{date} \"GET /\\\"\\x1b[0m\\\\ HTTP/1.1\" 200 2326"),
            format!("{date} \"HEAD / HTTP/1.1\" 200 -"),
            format!("{date} \"GET / HTTP/1.1\" 200 -"),
            format!("{date} \"\" 304 -"),
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
