//! Heads of requests, and errors that do not depend on the target.

use wire::http::{Framing, HeadError, RequestHead};

use crate::limits::RequestLimits;
use crate::lines::Lines;

/// Reads the head at the start of `bytes`; `None` if the head is incomplete. `other` gets the header lines
/// that [`Lines`] does not read.
#[inline]
pub(crate) fn read<'a>(
    bytes: &'a [u8],
    limits: &RequestLimits,
    other: impl FnMut(&'a [u8]),
) -> Result<Option<(RequestHead<'a>, Lines)>, HeadError> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let Some(head) = RequestHead::decode(bytes)? else {
        return if bytes.len() <= limits.head_bytes { Ok(None) } else { Err(HeadError::TooLong) };
    };
    let lines = Lines::read(bytes.get(..head.length).unwrap_or_default(), other);
    if head.length > limits.head_bytes || lines.count > limits.headers {
        return Err(HeadError::TooLong);
    }
    Ok(Some((head, lines)))
}

/// The status that answers invalid bytes. The connection cannot be used any further.
pub(crate) fn refusal(error: HeadError, bytes: &[u8]) -> &'static str {
    match error {
        // The bytes have no line end: the target makes the request line too long.
        HeadError::TooLong if !bytes.contains(&b'\n') => "414 URI Too Long",
        HeadError::TooLong | HeadError::TooMany => "431 Request Header Fields Too Large",
        HeadError::BadCoding => "501 Not Implemented",
        HeadError::Malformed(_) if names_other_version(bytes) => "505 HTTP Version Not Supported",
        _ => "400 Bad Request",
    }
}

/// Whether this is a request line of another version, such as `GET / HTTP/2.0`.
fn names_other_version(bytes: &[u8]) -> bool {
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let mut words = line.split(|&byte| byte == b' ');
    words.nth(2).is_some_and(|word| word.starts_with(b"HTTP/") && !word.starts_with(b"HTTP/1."))
}

/// The status and the sentence for an invalid request, whatever its target.
#[inline]
pub(crate) fn problem(
    head: &RequestHead<'_>,
    lines: &Lines,
    target_bytes: usize,
) -> Option<(&'static str, &'static str)> {
    if head.path.len() + head.query.len() > target_bytes {
        return Some(("414 URI Too Long", "a longer target than anything here has"));
    }
    // RFC 9112 section 6.1: a message with HTTP/1.0 and Transfer-Encoding may have passed a proxy that does
    // not know chunks, so its framing cannot be trusted.
    if lines.http10 && head.framing == Framing::Chunked {
        return Some(("400 Bad Request", "chunks in HTTP/1.0"));
    }
    // RFC 9112 section 3.2: exactly one Host line, except in HTTP/1.0.
    let hosts = if lines.http10 { 0..=1 } else { 1..=1 };
    if !hosts.contains(&lines.hosts) {
        return Some(("400 Bad Request", "not exactly one Host line"));
    }
    (!is_known_method(head.method)).then_some(("501 Not Implemented", "an unknown method"))
}

/// Methods of RFC 9110 section 9 and RFC 5789. Other methods are answered with 501 (RFC 9110 section 9.1).
#[inline]
fn is_known_method(method: &str) -> bool {
    matches!(method, "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "CONNECT" | "OPTIONS" | "TRACE" | "PATCH")
}

/// The path of a target that contains the server's name (RFC 9112 section 3.2.2).
#[inline]
pub fn origin_form(target: &str) -> &str {
    let Some(rest) = target.strip_prefix("http://").or_else(|| target.strip_prefix("https://")) else {
        return target;
    };
    rest.find('/').map_or("/", |slash| &rest[slash..])
}
