//! Escapes of a text in a request or an answer.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escape {
    /// No escape, in a header line. A text with control characters would end the line and is not sent.
    Line,
    Plain,
    /// Percent-encoding in paths, queries and forms (RFC 3986 section 2.1).
    Percent,
    /// HTML with `&quot;` and `&#39;`, as most template engines write it.
    Html,
    /// HTML with `&#34;`, as Python's MarkupSafe writes it.
    HtmlNumeric,
    /// A string in JSON (RFC 8259 section 7).
    Json,
}

/// The content type of a posted form.
pub(super) const FORM: &str = "application/x-www-form-urlencoded";

const HEX: &[u8; 16] = b"0123456789ABCDEF";

#[inline]
pub(super) fn push(out: &mut Vec<u8>, text: &[u8], how: Escape) {
    let passes = text.iter().take_while(|&&byte| passes(byte, how)).count();
    let (clean, rest) = text.split_at(passes);
    out.extend_from_slice(clean);
    for &byte in rest {
        push_byte(out, byte, how);
    }
}

fn push_byte(out: &mut Vec<u8>, byte: u8, how: Escape) {
    if passes(byte, how) {
        return out.push(byte);
    }
    let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
    match (how, byte) {
        (Escape::Line | Escape::Plain, _) => {}
        (Escape::Percent, _) => out.extend_from_slice(&[b'%', high, low]),
        (Escape::Html | Escape::HtmlNumeric, b'&') => out.extend_from_slice(b"&amp;"),
        (Escape::Html | Escape::HtmlNumeric, b'<') => out.extend_from_slice(b"&lt;"),
        (Escape::Html | Escape::HtmlNumeric, b'>') => out.extend_from_slice(b"&gt;"),
        (Escape::Html, b'"') => out.extend_from_slice(b"&quot;"),
        (Escape::HtmlNumeric, b'"') => out.extend_from_slice(b"&#34;"),
        (Escape::Html | Escape::HtmlNumeric, _) => out.extend_from_slice(b"&#39;"),
        (Escape::Json, b'"' | b'\\') => out.extend_from_slice(&[b'\\', byte]),
        (Escape::Json, _) => out.extend_from_slice(&[b'\\', b'u', b'0', b'0', high, low]),
    }
}

const fn passes(byte: u8, how: Escape) -> bool {
    match how {
        Escape::Line | Escape::Plain => true,
        Escape::Percent => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~'),
        Escape::Html | Escape::HtmlNumeric => !matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\''),
        Escape::Json => !matches!(byte, b'"' | b'\\' | 0..=0x1f),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, how: Escape) -> String {
        let mut out = Vec::new();
        push(&mut out, text.as_bytes(), how);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_context_of_a_filled_in_value_has_its_escapes() {
        let text = "Zoë & \"Li\" <x>'\\\n";
        assert_eq!(written(text, Escape::Plain), text);
        assert_eq!(written(text, Escape::Percent), "Zo%C3%AB%20%26%20%22Li%22%20%3Cx%3E%27%5C%0A");
        assert_eq!(written(text, Escape::Html), "Zoë &amp; &quot;Li&quot; &lt;x&gt;&#39;\\\n");
        assert_eq!(written(text, Escape::HtmlNumeric), "Zoë &amp; &#34;Li&#34; &lt;x&gt;&#39;\\\n");
        assert_eq!(written(text, Escape::Json), "Zoë & \\\"Li\\\" <x>'\\\\\\u000A");
    }
}
