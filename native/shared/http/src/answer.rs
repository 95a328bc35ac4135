//! The beginnings of answers: status line, header lines, length.

use std::io::Write as _;

/// The answer to a client that has begun without TLS on a port with TLS.
pub(crate) const NOT_TLS: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 47\r\n\
    Connection: close\r\n\r\nthis port speaks TLS; ask for it with https://\n";

/// The answer to a client beyond the limit of connections, in total or per address.
pub(crate) const UNAVAILABLE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\
    Connection: close\r\n\r\n";

/// The form of an answer that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseOptions {
    pub keep_alive: bool,
    /// Whether the request is HTTP/1.0. The client must then be told if the connection stays open.
    pub http10: bool,
    /// Whether the request is HEAD, so that the answer has no body.
    pub head_only: bool,
}

/// The form of answers to requests that cannot be parsed.
pub(crate) const CLOSING: ResponseOptions =
    ResponseOptions { keep_alive: false, http10: false, head_only: false };

/// Writes the answer to one request.
#[derive(Debug)]
pub struct Answer<'o> {
    pub out: &'o mut Vec<u8>,
    pub date: &'o str,
    pub options: ResponseOptions,
}

impl Answer<'_> {
    /// Appends the status line, `lines`, and the Date and Connection lines. The names in `lines` end in a
    /// colon and a space.
    #[inline]
    pub fn head(&mut self, status: &str, lines: &[(&str, &str)]) {
        let date = self.date;
        self.push("HTTP/1.1 ").push(status).push("\r\nDate: ").push(date).push("\r\n");
        self.lines(lines);
        if !self.options.keep_alive {
            self.push("Connection: close\r\n");
        } else if self.options.http10 {
            self.push("Connection: keep-alive\r\n");
        }
    }

    #[inline]
    pub fn lines(&mut self, lines: &[(&str, &str)]) {
        for (name, value) in lines {
            self.push(name).push(value).push("\r\n");
        }
    }

    /// Appends the Content-Length line and the end of the head.
    #[inline]
    pub fn length(&mut self, length: u64) {
        // Writing to a Vec cannot fail.
        let _ = write!(self.out, "Content-Length: {length}\r\n\r\n");
    }

    /// Ends a head without a length. Such an answer never has a body (RFC 9110 sections 15.3.5 and 15.4.5).
    #[inline]
    pub fn end(&mut self) {
        self.push("\r\n");
    }

    /// An answer with a sentence for people and for logs.
    pub fn sentence(&mut self, status: &str, extra: &[(&str, &str)], sentence: &str) {
        self.head(status, &[("Content-Type: ", "text/plain; charset=utf-8")]);
        self.lines(extra);
        self.length(sentence.len() as u64 + 1);
        if !self.options.head_only {
            self.push(sentence).push("\n");
        }
    }

    #[inline]
    fn push(&mut self, text: &str) -> &mut Self {
        self.out.extend_from_slice(text.as_bytes());
        self
    }
}
