//! The common parts of request and response heads.

use super::body::Framing;

/// Longer heads are refused (431). Browsers send about 1 KiB; the limit of Apache and nginx is 8 KiB.
pub const MAX_HEAD_BYTES: usize = 16 * 1024;

/// Heads with more header lines are refused (431). Browsers send about 20; the limit of Apache is 100.
pub const MAX_HEADERS: usize = 100;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// Not HTTP/1, or a violation of RFC 9112.
    #[error("not an HTTP/1 message: {0}")]
    Malformed(httparse::Error),
    #[error("a head of over {MAX_HEAD_BYTES} bytes")]
    TooLong,
    #[error("over {MAX_HEADERS} header lines")]
    TooMany,
    /// Two different lengths, or a length that is not a number (RFC 9112 section 6.3).
    #[error("Content-Length is not one number")]
    BadLength,
    /// A request with two lengths, equal or not (RFC 9110 section 8.6).
    #[error("Content-Length twice")]
    Repeated,
    /// A coding other than chunked (RFC 9112 section 6.1).
    #[error("a transfer coding other than chunked")]
    BadCoding,
    /// A length and a coding together, which allows request smuggling (RFC 9112 section 6.3).
    #[error("Content-Length and Transfer-Encoding together")]
    LengthAndCoding,
}

impl From<httparse::Error> for HeadError {
    fn from(error: httparse::Error) -> Self {
        match error {
            httparse::Error::TooManyHeaders => Self::TooMany,
            other => Self::Malformed(other),
        }
    }
}

/// The header lines about the connection and the body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines {
    pub length: Option<u64>,
    /// Whether several lines have a length.
    pub repeated: bool,
    pub chunked: bool,
    pub keep_alive: bool,
}

impl Lines {
    pub(super) fn read(headers: &[httparse::Header<'_>], minor_version: u8) -> Result<Self, HeadError> {
        let mut lines =
            Self { length: None, repeated: false, chunked: false, keep_alive: minor_version >= 1 };
        let mut closes = false;
        for header in headers {
            let name = header.name;
            if name.eq_ignore_ascii_case("content-length") {
                lines.length(header.value)?;
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                if !header.value.trim_ascii().eq_ignore_ascii_case(b"chunked") || lines.chunked {
                    return Err(HeadError::BadCoding);
                }
                lines.chunked = true;
            } else if name.eq_ignore_ascii_case("connection") {
                closes |= lines.connection(header.value);
            }
        }
        lines.keep_alive &= !closes;
        if lines.chunked && lines.length.is_some() {
            return Err(HeadError::LengthAndCoding);
        }
        Ok(lines)
    }

    fn length(&mut self, value: &[u8]) -> Result<(), HeadError> {
        let value = value.trim_ascii();
        // RFC 9110 section 8.6: digits only; `u64::from_str` would take a plus sign.
        let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
        let number = std::str::from_utf8(value).ok().filter(|_| digits).and_then(|text| text.parse().ok());
        let number: u64 = number.ok_or(HeadError::BadLength)?;
        if self.length.is_some_and(|before| before != number) {
            return Err(HeadError::BadLength);
        }
        self.repeated = self.length.is_some();
        self.length = Some(number);
        Ok(())
    }

    /// Returns whether the connection closes, whatever other options ask for (RFC 9112 section 9.3).
    fn connection(&mut self, value: &[u8]) -> bool {
        let mut closes = false;
        for option in value.split(|&b| b == b',') {
            let option = option.trim_ascii();
            closes |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
        closes
    }

    pub(super) fn framing(&self) -> Option<Framing> {
        if self.chunked { Some(Framing::Chunked) } else { self.length.map(Framing::Length) }
    }
}

/// The value of a cookie in a Cookie header's value (RFC 6265 section 4.2.1).
pub fn cookie<'a>(header: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    header.split(|&b| b == b';').find_map(|pair| value_of(pair.trim_ascii(), name))
}

/// The value of a field of a query or of a form body, still percent-encoded.
pub fn query<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    text.split(|&b| b == b'&').find_map(|pair| value_of(pair, name))
}

fn value_of<'a>(pair: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    pair.strip_prefix(name)?.strip_prefix(b"=")
}

/// The length of the head in `bytes`; `None` if the head is incomplete.
pub(super) fn status<T>(parsed: httparse::Status<T>, seen: usize) -> Result<Option<T>, HeadError> {
    match parsed {
        httparse::Status::Complete(value) => Ok(Some(value)),
        httparse::Status::Partial if seen > MAX_HEAD_BYTES => Err(HeadError::TooLong),
        httparse::Status::Partial => Ok(None),
    }
}
