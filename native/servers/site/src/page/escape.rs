//! Escapes texts in HTML.

/// Appends `text` as HTML for text or a quoted attribute, in at most `most` bytes.
///
/// A text that is too long ends before the first character or reference that would be cut. Control characters
/// become spaces: HTML cannot represent most of them (HTML standard, 13.1.4).
pub fn push_escaped(out: &mut Vec<u8>, text: &str, most: usize) {
    let mut clean = 0;
    let bytes = text.as_bytes();
    // The common case: nothing to escape, and room for the whole text.
    if bytes.len() <= most {
        while bytes.get(clean).is_some_and(|&byte| !is_special(byte)) {
            clean += 1;
        }
        out.extend_from_slice(bytes.get(..clean).unwrap_or_default());
    }
    let end = out.len() - clean + most;
    for character in text.get(clean..).unwrap_or_default().chars() {
        let mut buffer = [0; 4];
        let written = match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '"' => "&quot;",
            '\'' => "&#39;",
            c if c.is_control() => " ",
            c => c.encode_utf8(&mut buffer),
        };
        if out.len() + written.len() > end {
            return;
        }
        out.extend_from_slice(written.as_bytes());
    }
}

const fn is_special(byte: u8) -> bool {
    // 0xc2 begins the control characters beyond ASCII, U+0080 to U+009F, among other characters.
    matches!(byte, b'&' | b'<' | b'>' | b'"' | b'\'' | 0..=0x1f | 0x7f | 0xc2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &str, most: usize) -> String {
        let mut out = b"before".to_vec();
        push_escaped(&mut out, text, most);
        String::from_utf8(out.split_off(6)).unwrap()
    }

    /// The text that a browser shows for this HTML.
    fn shown(html: &str) -> String {
        html.replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&#39;", "'")
            .replace("&amp;", "&")
    }

    proptest! {
        #[test]
        fn a_browser_shows_escaped_text_unchanged(text in "[\\PC&<>\"']{0,60}") {
            let html = escaped(&text, 1_000);
            prop_assert!(!html.contains(['<', '>', '"', '\'']), "{html}");
            let expected: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            prop_assert_eq!(shown(&html), expected);
        }

        #[test]
        fn truncated_text_is_a_prefix_of_whole_characters(text: String, most in 0usize..40) {
            let (html, whole) = (escaped(&text, most), escaped(&text, usize::MAX >> 1));
            prop_assert!(html.len() <= most);
            prop_assert!(whole.starts_with(&html));
            let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            prop_assert!(clean.starts_with(&shown(&html)), "{html}");
        }
    }

    #[test]
    fn control_characters_become_spaces() {
        assert_eq!(escaped("a\0b\u{7f}c\u{85}d\n\u{c2}", 100), "a b c d \u{c2}");
    }
}
