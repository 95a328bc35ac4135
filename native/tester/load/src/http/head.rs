//! Response heads, most of which have been seen before.
//!
//! The heads of two pages differ only in their time, which changes once a second. Comparing a head with the
//! previous head of the same request is several times faster than parsing it.

use wire::http::{Framing, HeadError, MAX_HEAD_BYTES, ResponseHead};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    pub(super) keep_alive: bool,
    pub(super) framing: Framing,
    pub(super) length: usize,
    pub(super) sets_cookies: bool,
}

/// The previous heads, by request.
#[derive(Debug, Default)]
pub(super) struct Heads(Vec<Option<(Vec<u8>, Head)>>);

impl Heads {
    /// Reads the head at the start of `bytes`; `None` if it is incomplete.
    #[inline]
    pub(super) fn decode(
        &mut self,
        request: usize,
        bodiless: bool,
        bytes: &[u8],
    ) -> Result<Option<Head>, HeadError> {
        if let Some(Some((last_bytes, head))) = self.0.get(request)
            && bytes.starts_with(last_bytes)
        {
            return Ok(Some(*head));
        }
        self.parse(request, bodiless, bytes)
    }

    #[cold]
    fn parse(&mut self, request: usize, bodiless: bool, bytes: &[u8]) -> Result<Option<Head>, HeadError> {
        let head = ResponseHead::decode(bytes, bodiless)?;
        let Some(ResponseHead { status, keep_alive, framing, length, .. }) = head else {
            return if bytes.len() > MAX_HEAD_BYTES { Err(HeadError::TooLong) } else { Ok(None) };
        };
        let sets_cookies = lines(&bytes[..length], SET_COOKIE).next().is_some();
        let head = Head { status, keep_alive, framing, length, sets_cookies };
        if request >= self.0.len() {
            self.0.resize(request + 1, None);
        }
        let (last_bytes, last) = self.0[request].get_or_insert_with(|| (Vec::new(), head));
        last_bytes.clear();
        last_bytes.extend_from_slice(&bytes[..length]);
        *last = head;
        Ok(Some(head))
    }
}

pub(super) const SET_COOKIE: &[u8] = b"set-cookie";

/// The values of the header lines with this name. A folded line begins with white space and never matches.
pub(super) fn lines<'h>(head: &'h [u8], name: &[u8]) -> impl Iterator<Item = &'h [u8]> {
    head.split(|&byte| byte == b'\n').filter_map(move |line| {
        let (key, value) = line.split_at_checked(name.len())?;
        let value = value.strip_prefix(b":")?;
        key.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
    })
}

/// The values of the cookies with this name that a head sets.
pub(super) fn cookies<'h>(head: &'h [u8], name: &[u8]) -> impl Iterator<Item = &'h [u8]> {
    lines(head, SET_COOKIE).filter_map(move |cookie| {
        let pair = cookie.split(|&byte| byte == b';').next()?.trim_ascii();
        pair.strip_prefix(name)?.trim_ascii_start().strip_prefix(b"=")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cached_head_equals_a_parsed_head() {
        let mut heads = Heads::default();
        let page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        let other = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell";
        let first = heads.decode(0, false, page).unwrap().unwrap();
        assert_eq!(heads.decode(0, false, page).unwrap().unwrap(), first);
        assert_eq!(heads.decode(0, false, other).unwrap().unwrap().framing, Framing::Length(4));
        assert_eq!(heads.decode(2, false, page).unwrap().unwrap(), first);
        assert_eq!(heads.decode(0, false, &page[..20]).unwrap(), None);
        assert!(heads.decode(0, false, b"nonsense\r\n\r\n").is_err());
    }

    #[test]
    fn a_cookie_is_found_among_other_cookies() {
        let head = b"HTTP/1.1 201 Created\r\nX: a\r\n Set-Cookie: user=fold\r\nSet-Cookie: users=no\r\nset-cookie:user=17; Path=/\r\n\r\n";
        assert_eq!(cookies(head, b"user").collect::<Vec<_>>(), [b"17"]);
        assert_eq!(cookies(head, b"id").next(), None);
    }
}
