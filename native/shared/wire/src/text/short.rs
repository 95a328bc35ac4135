//! A fast preparation for texts in which only the case of characters has to change. Nearly all names are such
//! texts.

use super::Preparation;
use super::fold::simple;

/// The range of the characters with two bytes in UTF-8.
const TWO_BYTES: std::ops::Range<u32> = 0x80..0x800;

/// The folded form of each character of two bytes; zero if the Unicode tables are needed.
const FOLDED: [u16; (TWO_BYTES.end - TWO_BYTES.start) as usize] = {
    let mut folded = [0; (TWO_BYTES.end - TWO_BYTES.start) as usize];
    let mut code = TWO_BYTES.start;
    while code < TWO_BYTES.end {
        if let Some(c) = char::from_u32(code)
            && let Some(simple) = simple(c)
        {
            folded[(code - TWO_BYTES.start) as usize] = simple as u16;
        }
        code += 1;
    }
    folded
};

/// Appends the prepared form of `value`. Returns false, and appends nothing, if the full preparation is
/// needed.
///
/// No character grows: spaces are kept or dropped, and folding here keeps the width. So the output is resized
/// once, and every character is one check and one store.
#[inline]
pub(super) fn prepare(value: &[u8], how: Preparation, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.resize(start + value.len(), 0);
    match write(value, how, &mut out[start..]) {
        Some(written) => {
            out.truncate(start + written);
            true
        }
        None => {
            out.truncate(start);
            false
        }
    }
}

fn write(value: &[u8], how: Preparation, out: &mut [u8]) -> Option<usize> {
    let mut room = Room { out, written: 0, space: false, keep_leading_space: how.keep_leading_space };
    let mut rest = value;
    loop {
        match rest {
            [letter @ b'!'..=b'~', after @ ..] => {
                room.put_space()?;
                room.put(if how.fold_case { letter.to_ascii_lowercase() } else { *letter })?;
                rest = after;
            }
            [b' ' | b'\t'..=b'\r', after @ ..] => {
                room.space = true;
                rest = after;
            }
            [first @ 0xc2..=0xdf, second @ 0x80..=0xbf, after @ ..] => {
                let code = u16::from(first & 0x1f) << 6 | u16::from(second & 0x3f);
                let folded = *FOLDED.get(usize::from(code) - TWO_BYTES.start as usize)?;
                if folded == 0 {
                    return None;
                }
                let kept = if how.fold_case { folded } else { code };
                room.put_space()?;
                room.put(0xc0 | (kept >> 6) as u8)?;
                room.put(0x80 | (kept & 0x3f) as u8)?;
                rest = after;
            }
            [first @ 0xe1..=0xef, second @ 0x80..=0xbf, third @ 0x80..=0xbf, after @ ..] => {
                let high = u32::from(first & 0x0f) << 12 | u32::from(second & 0x3f) << 6;
                let c = char::from_u32(high | u32::from(third & 0x3f))?;
                if simple(c) != Some(c) {
                    return None;
                }
                room.put_space()?;
                room.put(*first)?;
                room.put(*second)?;
                room.put(*third)?;
                rest = after;
            }
            // Control characters map to nothing (RFC 4518 section 2.2).
            [0..=0x1f | 0x7f, after @ ..] => rest = after,
            [] => break,
            _ => return None,
        }
    }
    if room.space && how.keep_trailing_space && (room.written > 0 || how.keep_leading_space) {
        room.put(b' ')?;
    }
    Some(room.written)
}

/// The output buffer, and whether spaces precede the next character.
struct Room<'o> {
    out: &'o mut [u8],
    written: usize,
    space: bool,
    keep_leading_space: bool,
}

impl Room<'_> {
    #[inline]
    fn put(&mut self, byte: u8) -> Option<()> {
        *self.out.get_mut(self.written)? = byte;
        self.written += 1;
        Some(())
    }

    /// Writes one space for the preceding run of spaces, except for leading spaces that are not kept.
    #[inline]
    fn put_space(&mut self) -> Option<()> {
        if std::mem::take(&mut self.space) && (self.written > 0 || self.keep_leading_space) {
            self.put(b' ')?;
        }
        Some(())
    }
}
