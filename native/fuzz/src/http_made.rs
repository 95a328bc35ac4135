//! HTTP messages built from parts decode to the same parts, however they are framed and split.

use arbitrary::{Arbitrary, Unstructured};
use wire::http::{Body, Framing, RequestHead, ResponseHead};

#[derive(Debug, Arbitrary)]
struct Made {
    method: u8,
    path: Vec<u8>,
    query: Option<Vec<u8>>,
    user: u64,
    headers: Vec<(u8, Vec<u8>)>,
    close: bool,
    chunked: bool,
    upper_case: bool,
    pieces: Vec<Vec<u8>>,
    trailer: bool,
    cut: u8,
}

pub(crate) fn target(bytes: &[u8]) {
    let Ok(made) = Made::arbitrary(&mut Unstructured::new(bytes)) else { return };
    made.request();
    made.answer();
}

/// Maps bytes to letters, which tokens, paths and values may hold without quotes.
fn letters(bytes: &[u8]) -> String {
    bytes.iter().take(200).map(|byte| char::from(b'a' + byte % 26)).collect()
}

impl Made {
    fn content(&self) -> Vec<u8> {
        self.pieces.concat()
    }

    fn lines(&self, out: &mut Vec<u8>) {
        for (name, value) in self.headers.iter().take(50) {
            out.extend_from_slice(format!("X-{}: {}\r\n", letters(&[*name]), letters(value)).as_bytes());
        }
        if self.close {
            out.extend_from_slice(b"Connection: close\r\n");
        }
    }

    fn body(&self, out: &mut Vec<u8>) {
        let name = |text: &str| if self.upper_case { text.to_uppercase() } else { text.to_owned() };
        if !self.chunked {
            let length = self.content().len();
            out.extend_from_slice(format!("{}: {length}\r\n\r\n", name("Content-Length")).as_bytes());
            out.extend_from_slice(&self.content());
            return;
        }
        out.extend_from_slice(format!("{}: Chunked\r\n\r\n", name("Transfer-Encoding")).as_bytes());
        for piece in self.pieces.iter().filter(|piece| !piece.is_empty()) {
            out.extend_from_slice(format!("{:x};a=b\r\n", piece.len()).as_bytes());
            out.extend_from_slice(piece);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(if self.trailer { b"0\r\nX: y\r\n\r\n" } else { b"0\r\n\r\n" });
    }

    fn request(&self) {
        let method = ["GET", "POST", "PUT", "DELETE"][usize::from(self.method % 4)];
        let path = format!("/{}", letters(&self.path));
        let query = self.query.as_deref().map(letters).unwrap_or_default();
        let mark = if self.query.is_some() { "?" } else { "" };
        let mut out = format!("{method} {path}{mark}{query} HTTP/1.1\r\nHost: a\r\n").into_bytes();
        out.extend_from_slice(format!("Cookie: a=b; user={}\r\n", self.user).as_bytes());
        self.lines(&mut out);
        self.body(&mut out);
        let head = RequestHead::decode(&out).expect("well-formed").expect("complete");
        assert_eq!((head.method, head.path, head.query), (method, path.as_str(), query.as_str()));
        let user = wire::http::cookie(head.cookies, b"user");
        assert_eq!(user, Some(self.user.to_string().as_bytes()));
        assert_eq!(head.keep_alive, !self.close);
        self.check(head.framing, out.get(head.length..).unwrap_or_default());
    }

    fn answer(&self) {
        // Later statuses than 304 have a body.
        let status = 305 + u16::from(self.method);
        let (cookie, location) = (format!("user={}", self.user), format!("/{}", letters(&self.path)));
        let mut out = format!("HTTP/1.1 {status} OK\r\nset-cookie: {cookie}\r\n").into_bytes();
        self.lines(&mut out);
        out.extend_from_slice(format!("LOCATION:{location}\r\n").as_bytes());
        self.body(&mut out);
        let head = ResponseHead::decode(&out, false).expect("well-formed").expect("complete");
        assert_eq!((head.status, head.keep_alive), (status, !self.close));
        assert_eq!(head.set_cookie, Some(cookie.as_bytes()));
        assert_eq!(head.location, Some(location.as_bytes()));
        self.check(head.framing, out.get(head.length..).unwrap_or_default());
    }

    fn check(&self, framing: Framing, bytes: &[u8]) {
        let mut body = Body::new(framing);
        let mut content = Vec::new();
        for mut piece in bytes.chunks(usize::from(self.cut) + 1) {
            while !piece.is_empty() && !body.is_done() {
                let progress = body.feed(piece).expect("well-formed");
                content
                    .extend_from_slice(piece.get(progress.content.0..progress.content.1).unwrap_or_default());
                piece = piece.get(progress.consumed..).unwrap_or_default();
            }
            assert!(piece.is_empty(), "the body ends where it was made to end");
        }
        assert!(body.is_done());
        assert_eq!(content, self.content());
    }
}
