//! Heads of responses, as clients read them.

use std::mem::MaybeUninit;

use super::body::Framing;
use super::head::{HeadError, Lines, MAX_HEADERS, status};

/// The head of a response, borrowed from the received bytes.
#[derive(Debug, Clone, Copy)]
pub struct ResponseHead<'a> {
    /// 200, 404, ...
    pub status: u16,
    /// Whether the connection stays open after the body.
    pub keep_alive: bool,
    pub framing: Framing,
    /// The value of the first Set-Cookie header, up to the first line end in the value.
    pub set_cookie: Option<&'a [u8]>,
    /// The value of the Location header, up to the first line end in the value.
    pub location: Option<&'a [u8]>,
    /// Bytes of the head; the body follows.
    pub length: usize,
}

impl<'a> ResponseHead<'a> {
    /// Reads the head at the start of `bytes`; `None` if the head is incomplete.
    ///
    /// With `bodiless`, for the answer to a HEAD request, there is no body, whatever the head says.
    pub fn decode(bytes: &'a [u8], bodiless: bool) -> Result<Option<Self>, HeadError> {
        let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
        let mut response = httparse::Response::new(&mut []);
        let mut parser = httparse::ParserConfig::default();
        // RFC 9112 section 5.2: a user agent reads the fold of a line as spaces. The fold stays in the value
        // and is trimmed like spaces.
        parser.allow_obsolete_multiline_headers_in_responses(true);
        let parsed = parser.parse_response_with_uninit_headers(&mut response, bytes, &mut headers);
        let Some(length) = status(parsed?, bytes.len())? else {
            return Ok(None);
        };
        let lines = Lines::read(response.headers, response.version.unwrap_or(0))?;
        let code = response.code.unwrap_or(0);
        // A client may send the value back, so it must not contain the end of a line.
        let value = |name: &str| {
            let header = response.headers.iter().find(|h| h.name.eq_ignore_ascii_case(name))?;
            header.value.split(|byte| matches!(byte, b'\r' | b'\n')).next()
        };
        // RFC 9112 section 6.3: answers to HEAD, informational answers, 204 and 304 never have a body. A body
        // without a length lasts until the connection closes.
        let bodiless = bodiless || matches!(code, 100..=199 | 204 | 304);
        let framing =
            if bodiless { Framing::Length(0) } else { lines.framing().unwrap_or(Framing::UntilClose) };
        Ok(Some(Self {
            status: code,
            keep_alive: lines.keep_alive && framing != Framing::UntilClose,
            framing,
            set_cookie: value("set-cookie"),
            location: value("location"),
            length,
        }))
    }
}
