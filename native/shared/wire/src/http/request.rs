//! Heads of requests, as servers read them.

use std::mem::MaybeUninit;

use super::body::Framing;
use super::head::{HeadError, Lines, MAX_HEADERS, status};

/// The head of a request, borrowed from the received bytes.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    /// GET, POST, ...
    pub method: &'a str,
    /// The path, without the query.
    pub path: &'a str,
    /// The text after the question mark; empty without a question mark.
    pub query: &'a str,
    /// The value of the Cookie header; empty without this header.
    pub cookies: &'a [u8],
    /// Whether the connection stays open after the answer.
    pub keep_alive: bool,
    pub framing: Framing,
    /// Bytes of the head; the body follows.
    pub length: usize,
}

impl<'a> RequestHead<'a> {
    /// Reads the head at the start of `bytes`; `None` if the head is incomplete.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<Self>, HeadError> {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut request = httparse::Request::new(&mut []);
        let Some(length) = status(request.parse_with_uninit_headers(bytes, &mut headers)?, bytes.len())?
        else {
            return Ok(None);
        };
        let lines = Lines::read(request.headers, request.version.unwrap_or(0))?;
        // RFC 9110 section 8.6 allows the refusal. A proxy may have read only one of the two lengths.
        if lines.repeated {
            return Err(HeadError::Repeated);
        }
        let target = request.path.unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let cookies = request
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("cookie"))
            .map_or(&b""[..], |header| header.value);
        Ok(Some(Self {
            method: request.method.unwrap_or("GET"),
            path,
            query,
            cookies,
            keep_alive: lines.keep_alive,
            // RFC 9112 section 6.3: a request without a length has no body.
            framing: lines.framing().unwrap_or(Framing::Length(0)),
            length,
        }))
    }
}
