//! String representation of filters (RFC 4515): text to BER, and BER to text for messages.
//!
//! Other clients and this parser accept more than the RFC's grammar: a single condition without parentheses,
//! spaces between conditions, and LDAPv2's escapes (`\*`, `\(`, `\)`, `\\`; RFC 1960).

use std::fmt::{self, Write as _};

use super::error::MAX_FILTER_DEPTH;
use super::filter::{
    AND, Assertion, Extensible, Filter, Kind, NOT, OR, Piece, Pieces, pieces, write_approx, write_equality,
    write_extensible, write_greater_or_equal, write_less_or_equal, write_present, write_substrings,
};
use crate::ber;

/// Positions are byte offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FilterTextError {
    #[error("a filter reads (attribute=value), but at byte {0} is no '('")]
    NoOpening(usize),
    #[error("the '(' at byte {0} is never closed")]
    NotClosed(usize),
    #[error("the filter ends before byte {0}; conditions are joined as (&(a=b)(c=d))")]
    Trailing(usize),
    #[error("nested more than {MAX_FILTER_DEPTH} deep")]
    TooDeep,
    #[error("no attribute at byte {0}")]
    NoAttribute(usize),
    #[error("none of = >= <= ~= := at byte {0}")]
    NoOperator(usize),
    /// A character of the grammar in a value.
    #[error("{character:?} at byte {at} has to be written \\{code:02x}", code = u32::from(*.character))]
    Unescaped { at: usize, character: char },
    #[error("the backslash at byte {0} is not followed by two hexadecimal digits")]
    BadEscape(usize),
}

/// Appends the BER of the filter in `text`; appends nothing if `text` is no filter.
///
/// ```
/// let mut ber = Vec::new();
/// wire::ldap::filter_text::parse("(cn=Anna*)", &mut ber)?;
/// assert_eq!(ber, b"\xa4\x0c\x04\x02cn\x30\x06\x80\x04Anna");
/// # Ok::<(), wire::ldap::filter_text::FilterTextError>(())
/// ```
pub fn parse(text: &str, out: &mut Vec<u8>) -> Result<(), FilterTextError> {
    let start = out.len();
    let mut cursor = Cursor { text: text.as_bytes(), at: 0 };
    let done = cursor.whole(out);
    if done.is_err() {
        out.truncate(start);
    }
    done
}

struct Cursor<'t> {
    text: &'t [u8],
    at: usize,
}

impl<'t> Cursor<'t> {
    fn whole(&mut self, out: &mut Vec<u8>) -> Result<(), FilterTextError> {
        self.skip_spaces();
        if self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b':') {
            self.item(out)?;
        } else {
            self.filter(out, 1)?;
        }
        self.skip_spaces();
        if self.at == self.text.len() { Ok(()) } else { Err(FilterTextError::Trailing(self.at)) }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    fn eat(&mut self, expected: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(expected);
        self.at += if found { expected.len() } else { 0 };
        found
    }

    fn filter(&mut self, out: &mut Vec<u8>, depth: usize) -> Result<(), FilterTextError> {
        if depth > MAX_FILTER_DEPTH {
            return Err(FilterTextError::TooDeep);
        }
        let open = self.at;
        if !self.eat(b"(") {
            return Err(FilterTextError::NoOpening(open));
        }
        self.skip_spaces();
        match self.peek() {
            Some(b'&') => self.composite(out, AND, depth)?,
            Some(b'|') => self.composite(out, OR, depth)?,
            Some(b'!') => self.composite(out, NOT, depth)?,
            _ => self.item(out)?,
        }
        if self.eat(b")") { Ok(()) } else { Err(FilterTextError::NotClosed(open)) }
    }

    /// `&`, `|` or `!` and its operands; `!` has exactly one operand.
    fn composite(&mut self, out: &mut Vec<u8>, tag: u8, depth: usize) -> Result<(), FilterTextError> {
        self.at += 1;
        ber::write_nested(out, tag, |out| {
            self.skip_spaces();
            let mut more = tag == NOT || self.peek() == Some(b'(');
            while more {
                self.filter(out, depth + 1)?;
                self.skip_spaces();
                more = tag != NOT && self.peek() == Some(b'(');
            }
            Ok(())
        })
    }

    /// One condition, up to its closing parenthesis.
    fn item(&mut self, out: &mut Vec<u8>) -> Result<(), FilterTextError> {
        let start = self.at;
        let attribute = self.description();
        if self.peek() == Some(b':') {
            return self.extensible(attribute, start, out);
        }
        if attribute.is_empty() {
            return Err(FilterTextError::NoAttribute(start));
        }
        let write = match self.peek() {
            Some(b'=') => {
                self.at += 1;
                return self.equality(attribute, out);
            }
            Some(b'>') => write_greater_or_equal,
            Some(b'<') => write_less_or_equal,
            Some(b'~') => write_approx,
            _ => return Err(FilterTextError::NoOperator(self.at)),
        };
        if self.text.get(self.at + 1) != Some(&b'=') {
            return Err(FilterTextError::NoOperator(self.at));
        }
        self.at += 2;
        write(out, attribute, &self.value()?);
        Ok(())
    }

    /// `=` and a value with or without `*`: equality, presence or substrings.
    fn equality(&mut self, attribute: &[u8], out: &mut Vec<u8>) -> Result<(), FilterTextError> {
        let mut parts = vec![self.part()?];
        while self.eat(b"*") {
            parts.push(self.part()?);
        }
        if parts.len() == 1 {
            write_equality(out, attribute, &parts[0]);
        } else if parts.iter().all(Vec::is_empty) {
            write_present(out, attribute);
        } else {
            write_substrings(out, attribute, pieces(parts.iter().map(Vec::as_slice)));
        }
        Ok(())
    }

    /// `[attribute][:dn][:rule]:=value`; attribute or rule is required.
    fn extensible(
        &mut self,
        attribute: &[u8],
        start: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), FilterTextError> {
        let mut dn_attributes = false;
        let mut rule = None;
        while !self.eat(b":=") {
            let at = self.at;
            let word = if self.eat(b":") { self.description() } else { b"" };
            match word {
                b"" => return Err(FilterTextError::NoOperator(at)),
                _ if rule.is_some() => return Err(FilterTextError::NoOperator(at)),
                _ if !dn_attributes && word.eq_ignore_ascii_case(b"dn") => dn_attributes = true,
                _ => rule = Some(word),
            }
        }
        if attribute.is_empty() && rule.is_none() {
            return Err(FilterTextError::NoAttribute(start));
        }
        let attribute = Some(attribute).filter(|attribute| !attribute.is_empty());
        write_extensible(out, &Extensible { rule, attribute, value: &self.value()?, dn_attributes });
        Ok(())
    }

    /// An attribute description or a matching rule. It may be empty.
    fn description(&mut self) -> &'t [u8] {
        let rest = &self.text[self.at..];
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.;_".contains(&byte);
        let length = rest.iter().position(|&byte| !allowed(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// A value without `*`.
    fn value(&mut self) -> Result<Vec<u8>, FilterTextError> {
        let value = self.part()?;
        match self.peek() {
            Some(b'*') => Err(FilterTextError::Unescaped { at: self.at, character: '*' }),
            _ => Ok(value),
        }
    }

    /// A value, or its part up to the next `*`.
    fn part(&mut self) -> Result<Vec<u8>, FilterTextError> {
        let mut part = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'*' | b')' => break,
                b'(' | 0 => {
                    return Err(FilterTextError::Unescaped { at: self.at, character: char::from(byte) });
                }
                b'\\' => part.push(self.escape()?),
                _ => {
                    part.push(byte);
                    self.at += 1;
                }
            }
        }
        Ok(part)
    }

    fn escape(&mut self) -> Result<u8, FilterTextError> {
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let (byte, length) = match self.text.get(self.at + 1..) {
            Some(&[special @ (b'*' | b'(' | b')' | b'\\'), ..]) => (special, 2),
            Some(&[high, low, ..]) => match (digit(high), digit(low)) {
                (Some(high), Some(low)) => ((high << 4 | low) as u8, 3),
                _ => return Err(FilterTextError::BadEscape(self.at)),
            },
            _ => return Err(FilterTextError::BadEscape(self.at)),
        };
        self.at += length;
        Ok(byte)
    }
}

impl fmt::Display for Filter<'_> {
    /// Writes the text of RFC 4515. A [`Filter`] has been validated, so its depth is bounded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('(')?;
        match self.kind() {
            Kind::And(filters) => {
                f.write_char('&')?;
                filters.iter().try_for_each(|filter| filter.fmt(f))
            }
            Kind::Or(filters) => {
                f.write_char('|')?;
                filters.iter().try_for_each(|filter| filter.fmt(f))
            }
            Kind::Not(filter) => write!(f, "!{filter}"),
            Kind::Equality(assertion) => write_assertion(f, assertion, "="),
            Kind::GreaterOrEqual(assertion) => write_assertion(f, assertion, ">="),
            Kind::LessOrEqual(assertion) => write_assertion(f, assertion, "<="),
            Kind::Approx(assertion) => write_assertion(f, assertion, "~="),
            Kind::Present(attribute) => write!(f, "{}=*", Escaped(attribute)),
            Kind::Substrings(attribute, pieces) => write_pieces(f, attribute, pieces),
            Kind::Extensible(extensible) => write_extensible_text(f, &extensible),
        }?;
        f.write_char(')')
    }
}

fn write_assertion(f: &mut fmt::Formatter<'_>, assertion: Assertion<'_>, operator: &str) -> fmt::Result {
    write!(f, "{}{operator}{}", Escaped(assertion.attribute), Escaped(assertion.value))
}

fn write_pieces(f: &mut fmt::Formatter<'_>, attribute: &[u8], pieces: Pieces<'_>) -> fmt::Result {
    write!(f, "{}=", Escaped(attribute))?;
    let mut open = true;
    for piece in pieces.iter() {
        match piece {
            Piece::Initial(text) => write!(f, "{}", Escaped(text))?,
            Piece::Any(text) => write!(f, "*{}", Escaped(text))?,
            Piece::Final(text) => {
                write!(f, "*{}", Escaped(text))?;
                open = false;
            }
        }
    }
    if open { f.write_char('*') } else { Ok(()) }
}

fn write_extensible_text(f: &mut fmt::Formatter<'_>, extensible: &Extensible<'_>) -> fmt::Result {
    if let Some(attribute) = extensible.attribute {
        write!(f, "{}", Escaped(attribute))?;
    }
    if extensible.dn_attributes {
        f.write_str(":dn")?;
    }
    if let Some(rule) = extensible.rule {
        write!(f, ":{}", Escaped(rule))?;
    }
    write!(f, ":={}", Escaped(extensible.value))
}

/// A value in a filter's text. `*`, `(`, `)`, `\`, control characters and bytes that are not UTF-8 become a
/// backslash and two hexadecimal digits (RFC 4515 section 3).
struct Escaped<'a>(&'a [u8]);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, bytes: &[u8]| {
            bytes.iter().try_for_each(|byte| write!(f, "\\{byte:02x}"))
        };
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '*' | '(' | ')' | '\\' | '\0'..='\x1f' | '\x7f' => hex(f, &[c as u8])?,
                    _ => f.write_char(c)?,
                }
            }
            hex(f, chunk.invalid())?;
        }
        Ok(())
    }
}
