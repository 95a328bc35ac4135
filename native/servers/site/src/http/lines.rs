//! Header lines that only this site reads.

use http::{HeaderLines, value};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lines<'a> {
    /// Whether the client is a browser: its Accept line names HTML.
    pub(crate) html: bool,
    pub(crate) content_type: Option<&'a [u8]>,
    /// The tags that the client has cached.
    pub(crate) if_none_match: Option<&'a [u8]>,
}

impl<'a> HeaderLines<'a> for Lines<'a> {
    #[inline]
    fn line(&mut self, line: &'a [u8]) {
        match line.first().map(u8::to_ascii_lowercase) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_lines_are_found_by_name_in_any_case() {
        let mut lines = Lines::default();
        for line in [
            "ACCEPT: text/plain, text/html;q=0.9",
            "content-TYPE: a/b",
            "If-None-Match: \"x\"",
            "Accepted: 1",
        ] {
            lines.line(line.as_bytes());
        }
        let expected = Lines { html: true, content_type: Some(b"a/b"), if_none_match: Some(b"\"x\"") };
        assert_eq!(lines, expected);
    }
}
