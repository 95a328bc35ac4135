//! Colours as the database stores them.

/// Whether `text` is `#rrggbb`.
pub(crate) fn is_colour(text: &str) -> bool {
    text.len() == 7 && text.starts_with('#') && text.bytes().skip(1).all(|b| b.is_ascii_hexdigit())
}

/// Black or white, whichever is readable on the background `colour`, by the luminance of ITU-R BT.601.
pub(super) fn ink_on(colour: &str) -> &'static str {
    let channel = |at: usize| {
        let digits = colour.get(at..at + 2).unwrap_or_default();
        u32::from_str_radix(digits, 16).unwrap_or(0)
    };
    let luminance = 299 * channel(1) + 587 * channel(3) + 114 * channel(5);
    if luminance > 150_000 { "#1d1d1f" } else { "#ffffff" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_hexadecimal_digits_after_a_hash_sign_are_a_colour() {
        assert!(is_colour("#00aaFF"));
        for text in ["", "#", "00aaFF", "#00aaF", "#00aaFFF", "#00aaFG", "#é0aa"] {
            assert!(!is_colour(text), "{text}");
        }
    }

    #[test]
    fn light_backgrounds_get_dark_text() {
        assert_eq!(ink_on("#ffffff"), "#1d1d1f");
        assert_eq!(ink_on("#ffff00"), "#1d1d1f");
        assert_eq!(ink_on("#1f4e79"), "#ffffff");
        assert_eq!(ink_on("rubbish"), "#ffffff");
    }
}
