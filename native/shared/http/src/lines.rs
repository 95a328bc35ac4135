//! Header lines that `wire` does not interpret.

/// The header lines that every server needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lines {
    /// Whether the request is HTTP/1.0: connections close unless the client asks otherwise, and there are no
    /// interim answers.
    pub http10: bool,
    /// The number of lines.
    pub count: usize,
    /// The number of Host lines.
    pub hosts: usize,
    /// Whether the client waits for `100 Continue` (RFC 9110 section 10.1.1).
    pub expects: bool,
}

impl Lines {
    /// Reads a well-formed head. `other` gets every line whose name begins with neither `h` nor `e`, so most
    /// lines need no comparison of names.
    #[inline]
    pub fn read<'a>(head: &'a [u8], mut other: impl FnMut(&'a [u8])) -> Self {
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
                continue;
            }
            match line.first().map(u8::to_ascii_lowercase) {
                None => continue,
                Some(b'h') if value(line, b"host").is_some() => lines.hosts += 1,
                Some(b'e') => {
                    let waits = |value: &[u8]| value.eq_ignore_ascii_case(b"100-continue");
                    lines.expects |= value(line, b"expect").is_some_and(waits);
                }
                Some(b'h') => {}
                Some(_) => other(line),
            }
            lines.count += 1;
        }
        lines
    }
}

/// The value of a line, if the line has this name.
#[inline]
pub fn value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, rest) = line.split_at_checked(name.len())?;
    let rest = rest.strip_prefix(b":")?;
    start.eq_ignore_ascii_case(name).then(|| rest.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_are_found_by_name_in_any_case() {
        let head = b"\r\nPOST / HTTP/1.1\r\nHOST: a\r\nHostile: b\r\nExpect:100-Continue\r\n\
            Accept: text/plain\r\ncontent-TYPE: a/b\r\nIf-None-Match: \"x\"\r\n\r\n";
        let mut others = Vec::new();
        let lines = Lines::read(head, |line| others.push(line));
        assert_eq!(lines, Lines { http10: false, count: 6, hosts: 1, expects: true });
        assert_eq!(others, [&b"Accept: text/plain"[..], b"content-TYPE: a/b", b"If-None-Match: \"x\""]);
        assert_eq!(value(others[1], b"content-type"), Some(&b"a/b"[..]));
        assert_eq!(value(others[1], b"content"), None);
        let old = Lines::read(b"GET / HTTP/1.0\r\n\r\n", |_| {});
        assert_eq!(old, Lines { http10: true, ..Lines::default() });
    }
}
