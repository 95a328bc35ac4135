//! Bodies of forms: `application/x-www-form-urlencoded` (URL standard, section 5.1).

use wire::http::unescape;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormError {
    #[error("a percent sign without two hexadecimal digits")]
    BadEscape,
    #[error("text that is not UTF-8")]
    NotUtf8,
    #[error("more than {0} fields")]
    TooMany(usize),
}

/// The names and values of a form, in their order; an error if there are more than `most` fields.
pub(crate) fn fields(body: &[u8], most: usize) -> Result<Vec<(String, String)>, FormError> {
    let mut fields = Vec::new();
    for pair in body.split(|&byte| byte == b'&').filter(|pair| !pair.is_empty()) {
        if fields.len() >= most {
            return Err(FormError::TooMany(most));
        }
        let equals = pair.iter().position(|&byte| byte == b'=').unwrap_or(pair.len());
        let (name, value) = pair.split_at(equals);
        fields.push((decode(name)?, decode(value.get(1..).unwrap_or_default())?));
    }
    Ok(fields)
}

fn decode(text: &[u8]) -> Result<String, FormError> {
    let spaced = text.iter().map(|&byte| if byte == b'+' { b' ' } else { byte });
    String::from_utf8(unescape(spaced).ok_or(FormError::BadEscape)?).map_err(|_| FormError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(text: &str) -> String {
        text.bytes().map(|byte| format!("%{byte:02X}")).collect()
    }

    proptest! {
        #[test]
        fn a_form_encoded_by_a_browser_is_decoded(pairs in prop::collection::vec((".+", ".*"), 0..20)) {
            let body: Vec<String> = pairs.iter().map(|(n, v)| format!("{}={}", encode(n), encode(v))).collect();
            prop_assert_eq!(fields(body.join("&").as_bytes(), 20).unwrap(), pairs);
        }

        #[test]
        fn no_body_makes_the_form_reader_panic(body: Vec<u8>) {
            let _ = fields(&body, 128);
        }
    }

    #[test]
    fn each_flaw_of_a_form_has_its_error() {
        assert_eq!(fields(b"a=%4", 9), Err(FormError::BadEscape));
        assert_eq!(fields(b"a=%+1", 9), Err(FormError::BadEscape));
        assert_eq!(fields(b"a=%ff", 9), Err(FormError::NotUtf8));
        assert_eq!(fields("a&".repeat(10).as_bytes(), 9), Err(FormError::TooMany(9)));
        assert_eq!(
            fields(b"a+b=c+d&&e", 9).unwrap(),
            [("a b".into(), "c d".into()), ("e".into(), String::new())]
        );
    }
}
