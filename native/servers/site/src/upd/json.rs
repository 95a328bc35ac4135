//! Multi-valued properties: JSON arrays of strings, as SQLite's own functions read them.

use std::borrow::Cow;

/// The strings of a JSON array, up to the first error: a page is shown whatever another program has written.
pub fn strings(json: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = json.trim_start().strip_prefix('[').unwrap_or("");
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n', ',']);
        let length = quoted_length(rest)?;
        let (quoted, after) = rest.split_at_checked(length)?;
        rest = after;
        let plain = quoted.get(1..length - 1)?;
        if plain.contains('\\') {
            serde_json::from_str(quoted).ok().map(Cow::Owned)
        } else {
            Some(Cow::Borrowed(plain))
        }
    })
}

/// The length of the quoted string at the start of `text`, including its quotes.
fn quoted_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'"') {
        return None;
    }
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

pub fn write_strings<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> String {
    let mut json = String::from("[");
    for value in values {
        if json.len() > 1 {
            json.push(',');
        }
        // Every string can be written as JSON.
        json.push_str(&serde_json::to_string(value.as_ref()).unwrap_or_default());
    }
    json.push(']');
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn written_json_is_read_back(values: Vec<String>) {
            let json = write_strings(&values);
            prop_assert_eq!(&serde_json::from_str::<Vec<String>>(&json).unwrap(), &values);
            prop_assert_eq!(strings(&json).collect::<Vec<_>>(), values);
        }

        #[test]
        fn no_text_makes_the_json_reader_panic(text: String) {
            let _ = strings(&text).count();
            let _ = strings(&format!("[{text}")).count();
            let _ = strings(&format!("[\"{text}")).count();
        }
    }

    #[test]
    fn spaces_between_json_values_are_not_values() {
        assert_eq!(strings(" [ \"a\" , \"b\\u00e9\" ]").collect::<Vec<_>>(), ["a", "bé"]);
        assert_eq!(strings("[]").count(), 0);
        assert_eq!(strings("\"a\"").count(), 0);
    }
}
