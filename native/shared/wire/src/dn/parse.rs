//! The grammar of RFC 4514 section 3, one `attribute=value` at a time.

use super::Pair;
use super::escape::is_special;
use super::value::{Value, check_ber};

/// Positions are byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DnError {
    #[error("a name of {0} bytes, over the limit of {max}", max = super::MAX_DN_BYTES)]
    TooLong(usize),
    #[error("a name of more than {max} parts", max = super::MAX_RDNS)]
    TooManyRdns,
    #[error("not exactly one relative name")]
    NotOneRdn,
    /// Neither a descriptor nor a numeric identifier.
    #[error("no attribute type at byte {0}; a name reads attribute=value,attribute=value")]
    NoAttribute(usize),
    #[error("no '=' after the attribute type, at byte {0}")]
    NoEquals(usize),
    /// A backslash before a character that cannot be escaped.
    #[error("a backslash at byte {0} before neither a special character nor two hexadecimal digits")]
    BadEscape(usize),
    /// An unescaped special character (RFC 4514 section 2.4).
    #[error("{:?} at byte {at} has to be written with a backslash", char::from(*.byte))]
    Unescaped { at: usize, byte: u8 },
    #[error("the quote at byte {0} is never closed")]
    UnclosedQuote(usize),
    /// The text after `#` is not the hexadecimal form of one primitive BER element.
    #[error("the value at byte {0} starts with '#' and is not one primitive BER element in hexadecimal")]
    BadHex(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Another pair of the same RDN follows.
    Plus,
    Separator,
    Input,
}

/// Reads pairs from the left.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
    /// End of the last pair, without trailing spaces.
    end: usize,
    /// Offset of `text` in the caller's text.
    offset: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a [u8], offset: usize) -> Self {
        Self { text, at: 0, end: 0, offset }
    }

    /// The text of the pairs read so far, and the text after their separator.
    pub(super) fn split(&self) -> (&'a [u8], &'a [u8]) {
        (&self.text[..self.end], trim_start(&self.text[self.at..]))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn position(&self) -> usize {
        self.offset + self.at
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn skip_while(&mut self, accepted: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| !accepted(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Reads `attribute=value` and the separator after it.
    #[inline]
    pub(super) fn pair(&mut self) -> Result<(Pair<'a>, End), DnError> {
        self.skip_spaces();
        let attribute = self.attribute()?;
        self.skip_spaces();
        if self.peek() != Some(b'=') {
            return Err(DnError::NoEquals(self.position()));
        }
        self.at += 1;
        self.end = self.at;
        self.skip_spaces();
        let value = self.value()?;
        self.skip_spaces();
        let end = match self.peek() {
            None => End::Input,
            Some(b'+') => End::Plus,
            Some(b',' | b';') => End::Separator,
            Some(byte) => return Err(DnError::Unescaped { at: self.position(), byte }),
        };
        self.at += usize::from(end != End::Input);
        Ok((Pair { attribute, value }, end))
    }

    /// A descriptor or a numeric identifier (RFC 4512 section 1.4).
    fn attribute(&mut self) -> Result<&'a [u8], DnError> {
        let error = DnError::NoAttribute(self.position());
        let rest = &self.text[self.at..];
        if rest.len() > 4 && rest[..4].eq_ignore_ascii_case(b"oid.") {
            self.at += 4;
        }
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() => {
                Ok(self.skip_while(|byte| byte.is_ascii_alphanumeric() || byte == b'-'))
            }
            Some(byte) if byte.is_ascii_digit() => {
                let oid = self.skip_while(|byte| byte.is_ascii_digit() || byte == b'.');
                let numbers = oid.split(|&byte| byte == b'.');
                if numbers.into_iter().all(|number| !number.is_empty()) { Ok(oid) } else { Err(error) }
            }
            _ => Err(error),
        }
    }

    #[inline]
    fn value(&mut self) -> Result<Value<'a>, DnError> {
        match self.peek() {
            Some(b'#') => self.hexadecimal(),
            Some(b'"') => self.quoted(),
            _ => self.string(),
        }
    }

    fn hexadecimal(&mut self) -> Result<Value<'a>, DnError> {
        let start = self.position();
        self.at += 1;
        let digits = self.skip_while(|byte| byte.is_ascii_hexdigit());
        self.end = self.at;
        if check_ber(digits) { Ok(Value::Hexadecimal(digits)) } else { Err(DnError::BadHex(start)) }
    }

    /// A quoted value of RFC 1779, which RFC 2253 section 4 requires servers to accept.
    fn quoted(&mut self) -> Result<Value<'a>, DnError> {
        let open = self.position();
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            match self.peek() {
                None => return Err(DnError::UnclosedQuote(open)),
                Some(b'"') => break,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => self.at += 1,
            }
        }
        let inner = &self.text[start..self.at];
        self.at += 1;
        self.end = self.at;
        Ok(if escaped { Value::Escaped(inner) } else { Value::Plain(inner) })
    }

    #[inline]
    fn string(&mut self) -> Result<Value<'a>, DnError> {
        let start = self.at;
        let mut escaped = false;
        let end = loop {
            let plain = self.skip_while(|byte| !is_special(byte));
            // Trailing spaces are not part of the value, but escaped spaces are.
            let spaces = plain.iter().rev().take_while(|&&byte| byte == b' ').count();
            match self.peek() {
                None | Some(b',' | b';' | b'+') => break self.at - spaces,
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(byte) => return Err(DnError::Unescaped { at: self.position(), byte }),
            }
        };
        let raw = &self.text[start..end];
        if !raw.is_empty() {
            self.end = end;
        }
        Ok(if escaped { Value::Escaped(raw) } else { Value::Plain(raw) })
    }

    fn escape(&mut self) -> Result<(), DnError> {
        self.at += match self.text.get(self.at + 1..) {
            Some([b'"' | b'+' | b',' | b';' | b'<' | b'>' | b'\\' | b' ' | b'#' | b'=', ..]) => 2,
            Some([high, low, ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => 3,
            _ => return Err(DnError::BadEscape(self.position())),
        };
        Ok(())
    }
}

#[derive(Debug, Clone)]
pub struct Pairs<'a>(Cursor<'a>);

impl<'a> Pairs<'a> {
    pub(super) const fn new(rdn: &'a [u8]) -> Self {
        Self(Cursor::new(rdn, 0))
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Pair<'a>;

    #[inline]
    fn next(&mut self) -> Option<Pair<'a>> {
        // The RDN has been validated, so this cannot fail.
        let at_end = self.0.peek().is_none();
        if at_end { None } else { self.0.pair().ok().map(|(pair, _)| pair) }
    }
}

pub(super) fn trim_start(text: &[u8]) -> &[u8] {
    let spaces = text.iter().take_while(|&&byte| byte == b' ').count();
    &text[spaces..]
}
