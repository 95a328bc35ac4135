//! The subset of BER that LDAP allows (RFC 4511 section 5.1): definite lengths only, one-byte
//! tags, primitive strings.

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BerError {
    /// The element ends outside of the enclosing element.
    #[error("an element of {needed} bytes in a space of {available}")]
    Truncated { needed: usize, available: usize },
    #[error("indefinite length, which RFC 4511 section 5.1 forbids")]
    IndefiniteLength,
    /// A length field with more than four bytes.
    #[error("a length of {0} bytes' width")]
    LengthTooWide(usize),
    #[error("tag {found:#04x} where {expected:#04x} belongs")]
    UnexpectedTag { expected: u8, found: u8 },
    /// An integer that is empty or wider than 64 bits.
    #[error("an integer of {0} bytes")]
    BadInteger(usize),
    #[error("a boolean of {0} bytes")]
    BadBoolean(usize),
    #[error("{0} bytes after the last element")]
    Trailing(usize),
}

/// The universal tags that LDAP uses, and tags of the context class.
pub mod tag {
    pub const BOOLEAN: u8 = 0x01;
    pub const INTEGER: u8 = 0x02;
    pub const OCTET_STRING: u8 = 0x04;
    pub const ENUMERATED: u8 = 0x0a;
    /// SEQUENCE and SEQUENCE OF.
    pub const SEQUENCE: u8 = 0x30;
    /// SET OF.
    pub const SET: u8 = 0x31;

    /// The tag of a primitive element of the context class.
    pub const fn context(number: u8) -> u8 {
        0x80 | number
    }

    /// The tag of a constructed element of the context class.
    pub const fn context_constructed(number: u8) -> u8 {
        0xa0 | number
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tlv<'a> {
    /// The tag byte, including class and form.
    pub tag: u8,
    pub value: &'a [u8],
}

/// The length of an element's header and of its content; `None` if the header is incomplete.
///
/// The content need not be in `bytes`: callers that read from a socket need the length before the bytes have
/// arrived.
#[inline]
pub fn header(bytes: &[u8]) -> Result<Option<(usize, usize)>, BerError> {
    let Some(&first) = bytes.get(1) else {
        return Ok(None);
    };
    if first < 0x80 {
        return Ok(Some((2, usize::from(first))));
    }
    let width = usize::from(first & 0x7f);
    if width == 0 {
        return Err(BerError::IndefiniteLength);
    }
    // Four bytes express lengths up to 4 GiB, which is far above every limit on a message.
    if width > 4 {
        return Err(BerError::LengthTooWide(width));
    }
    let Some(digits) = bytes.get(2..2 + width) else {
        return Ok(None);
    };
    let length = digits.iter().fold(0usize, |sum, &b| sum << 8 | usize::from(b));
    Ok(Some((2 + width, length)))
}

/// A cursor over consecutive elements.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Whether every element has been read.
    pub const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The unread bytes.
    pub const fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The tag of the next element.
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Reads an element of any tag.
    #[inline]
    pub fn element(&mut self) -> Result<Tlv<'a>, BerError> {
        // Nearly every length takes one byte.
        if let &[tag, length @ ..0x80, ref after @ ..] = self.rest
            && let Some((value, rest)) = after.split_at_checked(usize::from(length))
        {
            self.rest = rest;
            return Ok(Tlv { tag, value });
        }
        self.any_element()
    }

    fn any_element(&mut self) -> Result<Tlv<'a>, BerError> {
        let truncated = |needed| BerError::Truncated { needed, available: self.rest.len() };
        let Some((start, length)) = header(self.rest)? else {
            return Err(truncated(2));
        };
        let end = start + length;
        let (Some(value), Some(&tag)) = (self.rest.get(start..end), self.rest.first()) else {
            return Err(truncated(end));
        };
        self.rest = &self.rest[end..];
        Ok(Tlv { tag, value })
    }

    /// Reads an element of any tag, and returns it with its header.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a [u8], BerError> {
        let before = self.rest;
        self.element()?;
        Ok(&before[..before.len() - self.rest.len()])
    }

    /// Reads an element that must have this tag.
    #[inline]
    pub fn expect(&mut self, expected: u8) -> Result<&'a [u8], BerError> {
        let Tlv { tag, value } = self.element()?;
        if tag == expected { Ok(value) } else { Err(BerError::UnexpectedTag { expected, found: tag }) }
    }

    /// Reads an element if it has this tag; otherwise reads nothing.
    #[inline]
    pub fn optional(&mut self, tag: u8) -> Result<Option<&'a [u8]>, BerError> {
        if self.peek() == Some(tag) { self.expect(tag).map(Some) } else { Ok(None) }
    }

    #[inline]
    pub fn sequence(&mut self) -> Result<Reader<'a>, BerError> {
        self.expect(tag::SEQUENCE).map(Reader::new)
    }

    #[inline]
    pub fn octets(&mut self) -> Result<&'a [u8], BerError> {
        self.expect(tag::OCTET_STRING)
    }

    /// Reads an INTEGER, or another element with the encoding of an INTEGER, under the given tag.
    #[inline]
    pub fn integer(&mut self, tag: u8) -> Result<i64, BerError> {
        integer(self.expect(tag)?)
    }

    #[inline]
    pub fn boolean(&mut self) -> Result<bool, BerError> {
        boolean(self.expect(tag::BOOLEAN)?)
    }

    /// Refuses bytes after the last element.
    #[inline]
    pub fn finish(self) -> Result<(), BerError> {
        if self.rest.is_empty() { Ok(()) } else { Err(BerError::Trailing(self.rest.len())) }
    }
}

/// The value of an INTEGER's or ENUMERATED's content.
#[inline]
pub fn integer(content: &[u8]) -> Result<i64, BerError> {
    // Nearly every number takes one byte.
    if let [byte] = *content {
        return Ok(i64::from(byte.cast_signed()));
    }
    let (Some(&first), true) = (content.first(), content.len() <= 8) else {
        return Err(BerError::BadInteger(content.len()));
    };
    let sign = if first & 0x80 == 0 { 0 } else { -1 };
    Ok(content.iter().fold(sign, |sum, &b| sum << 8 | i64::from(b)))
}

/// The value of a BOOLEAN's content; any byte but zero is true (X.690 8.2.2).
pub fn boolean(content: &[u8]) -> Result<bool, BerError> {
    match content {
        [byte] => Ok(*byte != 0),
        _ => Err(BerError::BadBoolean(content.len())),
    }
}

/// The number of bytes of the length field for a content of `length` bytes.
#[inline]
pub const fn length_width(length: usize) -> usize {
    match length {
        0..=0x7f => 1,
        0x80..=0xff => 2,
        0x100..=0xffff => 3,
        0x1_0000..=0xff_ffff => 4,
        _ => 5,
    }
}

/// The number of bytes of an element with `length` bytes of content, including its tag and length.
#[inline]
pub const fn element_size(length: usize) -> usize {
    1 + length_width(length) + length
}

/// Appends a tag and a minimal length.
#[inline]
pub fn write_header(out: &mut Vec<u8>, tag: u8, length: usize) {
    let digits = (length as u64).to_be_bytes();
    match length_width(length) {
        1 => out.extend_from_slice(&[tag, digits[7]]),
        2 => out.extend_from_slice(&[tag, 0x81, digits[7]]),
        3 => out.extend_from_slice(&[tag, 0x82, digits[6], digits[7]]),
        4 => out.extend_from_slice(&[tag, 0x83, digits[5], digits[6], digits[7]]),
        _ => out.extend_from_slice(&[tag, 0x84, digits[4], digits[5], digits[6], digits[7]]),
    }
}

#[inline]
pub fn write_element(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    write_header(out, tag, content.len());
    out.extend_from_slice(content);
}

#[inline]
pub fn write_octets(out: &mut Vec<u8>, content: &[u8]) {
    write_element(out, tag::OCTET_STRING, content);
}

/// Appends a two's complement number in its minimal number of bytes, under the given tag.
#[inline]
pub fn write_integer(out: &mut Vec<u8>, tag: u8, value: i64) {
    let bytes = value.to_be_bytes();
    let width = integer_width(value);
    write_element(out, tag, &bytes[8 - width..]);
}

/// The number of content bytes that [`write_integer`] writes for `value`.
#[inline]
pub const fn integer_width(value: i64) -> usize {
    let significant = 64 - if value < 0 { (!value).leading_zeros() } else { value.leading_zeros() } as usize;
    significant / 8 + 1
}

/// Appends a BOOLEAN; true is 0xff (RFC 4511 section 5.1).
pub fn write_boolean(out: &mut Vec<u8>, value: bool) {
    write_element(out, tag::BOOLEAN, &[if value { 0xff } else { 0 }]);
}

/// Appends an element whose content `fill` writes, with a minimal length.
///
/// The content is written after a length of one byte, and moved if its length needs more bytes. For the short
/// elements of messages this is cheaper than a separate buffer.
#[inline]
pub fn write_nested<T>(out: &mut Vec<u8>, tag: u8, fill: impl FnOnce(&mut Vec<u8>) -> T) -> T {
    out.extend_from_slice(&[tag, 0]);
    let start = out.len();
    let result = fill(out);
    let length = out.len() - start;
    match length_width(length) {
        1 => out[start - 1] = length as u8,
        width => {
            let digits = (length as u64).to_be_bytes();
            let more = width - 1;
            out[start - 1] = 0x80 | more as u8;
            out.extend_from_slice(&[0; 4][..more]);
            out.copy_within(start..start + length, start + more);
            out[start..start + more].copy_from_slice(&digits[8 - more..]);
        }
    }
    result
}
