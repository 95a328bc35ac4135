//! Header lines the shared reader of heads leaves to its users.

/// What they say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lines<'a> {
    /// HTTP/1.0: connections close unless asked to stay, and there are no interim answers.
    pub(crate) http10: bool,
    /// How many lines there are.
    pub(crate) count: usize,
    /// How many Host lines there are.
    pub(crate) hosts: usize,
    /// The client waits for `100 Continue` (RFC 9110 section 10.1.1).
    pub(crate) expects: bool,
    /// A browser: it takes HTML by name.
    pub(crate) html: bool,
    /// The body's type.
    pub(crate) content_type: Option<&'a [u8]>,
    /// What the client has cached.
    pub(crate) if_none_match: Option<&'a [u8]>,
}

impl<'a> Lines<'a> {
    /// Reads a head that has been found well-formed.
    pub(crate) fn read(head: &'a [u8]) -> Self {
        let mut lines = Self::default();
        let mut at = 0;
        let mut first = true;
        while let Some(length) = memchr::memchr(b'\n', head.get(at..).unwrap_or_default()) {
            let line = head.get(at..at + length).unwrap_or_default().trim_ascii_end();
            at += length + 1;
            if first {
                // Empty lines before the request line are allowed (RFC 9112 section 2.2).
                lines.http10 = line.ends_with(b"HTTP/1.0");
                first = line.is_empty();
            } else if !line.is_empty() {
                lines.count += 1;
                lines.line(line);
            }
        }
        lines
    }

    #[inline]
    fn line(&mut self, line: &'a [u8]) {
        // Most lines are decided by their length and first letter.
        match line.first().map(u8::to_ascii_lowercase) {
            Some(b'h') if value(line, b"host").is_some() => self.hosts += 1,
            Some(b'e') => {
                let waits = |value: &[u8]| value.eq_ignore_ascii_case(b"100-continue");
                self.expects |= value(line, b"expect").is_some_and(waits);
            }
            Some(b'a') => {
                let names_html = |value: &[u8]| value.windows(9).any(|part| part == b"text/html");
                self.html |= value(line, b"accept").is_some_and(names_html);
            }
            Some(b'c') => self.content_type = self.content_type.or(value(line, b"content-type")),
            Some(b'i') => self.if_none_match = self.if_none_match.or(value(line, b"if-none-match")),
            _ => {}
        }
    }
}

/// The value of a line, if that is its name.
fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    let rest = rest.strip_prefix(b":")?;
    start.eq_ignore_ascii_case(name).then(|| rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_by_name_in_any_case() {
        let head = b"\r\nPOST / HTTP/1.1\r\nHOST: a\r\nHostile: b\r\nExpect:100-Continue\r\n\
            Accept: text/plain, text/html;q=0.9\r\ncontent-TYPE: a/b\r\nIf-None-Match: \"x\"\r\n\r\n";
        let lines = Lines::read(head);
        assert!(!lines.http10 && lines.expects && lines.html);
        assert_eq!((lines.count, lines.hosts), (6, 1));
        assert_eq!(lines.content_type, Some(&b"a/b"[..]));
        assert_eq!(lines.if_none_match, Some(&b"\"x\""[..]));
        assert_eq!(Lines::read(b"GET / HTTP/1.0\r\n\r\n"), Lines { http10: true, ..Lines::default() });
    }
}
