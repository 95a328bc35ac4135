//! Answers: status line, header lines, body, appended to what goes out.

use std::io::Write as _;

use crate::page::{PAGE_BYTES, push_joined};

/// How a request wants to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResponseOptions {
    /// The connection stays open.
    pub(crate) keep_alive: bool,
    /// An HTTP/1.0 client: `Connection: keep-alive` has to say that it does.
    pub(crate) http10: bool,
    /// HEAD: everything but the body.
    pub(crate) head_only: bool,
    /// The client is a browser.
    pub(crate) html: bool,
}

/// For requests that cannot be read.
pub(crate) const CLOSING: ResponseOptions =
    ResponseOptions { keep_alive: false, http10: false, head_only: false, html: false };

/// Writes answers to one request.
pub(crate) struct Answer<'o> {
    pub(crate) out: &'o mut Vec<u8>,
    pub(crate) date: &'o str,
    pub(crate) options: ResponseOptions,
}

const HTML: &str = "text/html; charset=utf-8";
const TEXT: &str = "text/plain; charset=utf-8";

impl Answer<'_> {
    /// An answer with a body of known length that `write` appends.
    #[inline]
    pub(crate) fn sized(
        &mut self,
        status: &str,
        kind: &str,
        length: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        self.head(status, &[("Content-Type: ", kind), ("Cache-Control: ", "private, no-store")]);
        self.length(length);
        if !self.options.head_only {
            write(self.out);
        }
    }

    /// The personalized page; `page` has to be of its one size.
    #[inline]
    pub(crate) fn page(&mut self, page: impl FnOnce(&mut Vec<u8>)) {
        self.sized("200 OK", HTML, PAGE_BYTES, page);
    }

    /// A page of another size.
    pub(crate) fn html(&mut self, status: &str, write: impl FnOnce(&mut Vec<u8>)) {
        let mut body = Vec::new();
        write(&mut body);
        self.sized(status, HTML, body.len(), |out| out.extend_from_slice(&body));
    }

    /// A picture, for good: its name names these bytes.
    pub(crate) fn image(&mut self, image: &[u8], tag: &str) {
        self.head(
            "200 OK",
            &[("Content-Type: ", "image/gif"), ("Cache-Control: ", "public, max-age=86400"), ("ETag: ", tag)],
        );
        self.length(image.len());
        if !self.options.head_only {
            self.out.extend_from_slice(image);
        }
    }

    /// The client has that picture (RFC 9110 section 15.4.5).
    pub(crate) fn not_modified(&mut self, tag: &str) {
        self.head("304 Not Modified", &[("Cache-Control: ", "public, max-age=86400"), ("ETag: ", tag)]);
        self.out.extend_from_slice(b"\r\n");
    }

    /// A sentence, for people and for logs.
    pub(crate) fn sentence(&mut self, status: &str, extra: &[(&str, &str)], sentence: &str) {
        self.head(status, &[("Content-Type: ", TEXT)]);
        self.lines(extra);
        self.length(sentence.len() + 1);
        if !self.options.head_only {
            self.out.extend_from_slice(sentence.as_bytes());
            self.out.push(b'\n');
        }
    }

    /// The browser is now the user with this number.
    pub(crate) fn created(&mut self, id: u64) {
        let cookie = cookie(id);
        let mut body = Vec::new();
        let kind = if self.options.html {
            push_joined(&mut body, id);
            HTML
        } else {
            body.extend_from_slice(format!("user {id}\n").as_bytes());
            TEXT
        };
        self.head("201 Created", &[("Content-Type: ", kind), ("Location: ", "/"), ("Set-Cookie: ", &cookie)]);
        self.length(body.len());
        self.out.extend_from_slice(&body);
    }

    /// A browser comes back as that user.
    pub(crate) fn entered(&mut self, id: u64) {
        self.head("303 See Other", &[("Location: ", "/"), ("Set-Cookie: ", &cookie(id))]);
        self.length(0);
    }

    /// An update is stored. A browser is sent to its page, so that reloading does not send the
    /// form again (RFC 9110 section 15.4.4).
    pub(crate) fn updated(&mut self) {
        if self.options.html {
            self.head("303 See Other", &[("Location: ", "/")]);
            self.length(0);
        } else {
            self.head("204 No Content", &[]);
            self.out.extend_from_slice(b"\r\n");
        }
    }

    #[inline]
    fn head(&mut self, status: &str, lines: &[(&str, &str)]) {
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
    fn lines(&mut self, lines: &[(&str, &str)]) {
        for (name, value) in lines {
            self.push(name).push(value).push("\r\n");
        }
    }

    /// The last line and the end of the head.
    #[inline]
    fn length(&mut self, length: usize) {
        // Writing to a Vec cannot fail.
        let _ = write!(self.out, "Content-Length: {length}\r\n\r\n");
    }

    #[inline]
    fn push(&mut self, text: &str) -> &mut Self {
        self.out.extend_from_slice(text.as_bytes());
        self
    }
}

fn cookie(id: u64) -> String {
    format!("user={id}; Path=/; HttpOnly; SameSite=Lax")
}
