//! Percent-encoding (RFC 3986 section 2.1).

/// The decoded bytes; `None` if two hexadecimal digits are missing after a percent sign.
pub fn unescape(text: impl IntoIterator<Item = u8>) -> Option<Vec<u8>> {
    let mut text = text.into_iter();
    let mut bytes = Vec::with_capacity(text.size_hint().0);
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    while let Some(byte) = text.next() {
        bytes.push(match byte {
            b'%' => digit(text.next()?)? << 4 | digit(text.next()?)?,
            other => other,
        });
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percent_sign_needs_two_hexadecimal_digits() {
        let read = |text: &str| unescape(text.bytes());
        assert_eq!(read("a%2Fb%00%fF").as_deref(), Some(&b"a/b\0\xff"[..]));
        for text in ["%", "%4", "a%4", "%+1", "%g0", "%0g"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
