//! One logical line: `attribute: value`, `attribute:: base64`, or `-`.

use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::error::Problem;

/// The ranges of a line's name and value in the record's bytes. The name of a `-` is empty.
#[derive(Debug)]
pub(super) struct Line {
    /// The number of the line in the file.
    pub(super) number: u64,
    name: Range<usize>,
    value: Range<usize>,
}

impl Line {
    /// Parses an unfolded line and appends its name and value to `bytes`.
    pub(super) fn read(text: &[u8], number: u64, bytes: &mut Vec<u8>) -> Result<Self, Problem> {
        if text == b"-" {
            return Ok(Self { number, name: 0..0, value: 0..0 });
        }
        let colon = text.iter().position(|&byte| byte == b':');
        let Some((name, rest)) = colon.map(|at| (&text[..at], &text[at + 1..])).filter(|(n, _)| is_name(n))
        else {
            return Err(Problem::NotAttributeValue(excerpt(text)));
        };
        let start = bytes.len();
        bytes.extend_from_slice(name);
        let middle = bytes.len();
        match rest {
            [b':', encoded @ ..] => STANDARD
                .decode_vec(encoded.trim_ascii(), bytes)
                .map_err(|_| Problem::NotBase64(excerpt(name)))?,
            [b'<', ..] => return Err(Problem::Url(excerpt(name))),
            plain => bytes.extend_from_slice(trim_spaces(plain)),
        }
        Ok(Self { number, name: start..middle, value: middle..bytes.len() })
    }

    pub(super) fn name<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.name.clone()]
    }

    pub(super) fn value<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.value.clone()]
    }

    pub(super) fn is(&self, bytes: &[u8], name: &[u8]) -> bool {
        self.name(bytes).eq_ignore_ascii_case(name)
    }

    pub(super) fn is_dash(&self) -> bool {
        self.name.is_empty()
    }

    /// The line's name in messages.
    pub(super) fn label(&self, bytes: &[u8]) -> String {
        if self.is_dash() { "-".to_owned() } else { excerpt(self.name(bytes)) }
    }
}

/// The beginning of `text`, short enough for a message.
pub(super) fn excerpt(text: &[u8]) -> String {
    const LONGEST: usize = 60;
    if text.len() <= LONGEST {
        String::from_utf8_lossy(text).into_owned()
    } else {
        format!("{}...", String::from_utf8_lossy(&text[..LONGEST]))
    }
}

/// An attribute description: a type and its options (RFC 2849, `AttributeDescription`).
fn is_name(text: &[u8]) -> bool {
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-.;_".contains(byte);
    text.first().is_some_and(u8::is_ascii_alphanumeric) && text.iter().all(allowed)
}

fn trim_spaces(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|&&byte| byte == b' ').count();
    &text[spaces..]
}
