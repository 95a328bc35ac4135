//! Conditional requests and ranges (RFC 9110 sections 13 and 14).

use std::ops::Range;

use http::{HeaderLines, value};
use wire::http::date::parse_http_date;

use super::open_files::OpenedFile;

/// The header lines about conditions and ranges.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Conditions<'a> {
    if_match: Option<&'a [u8]>,
    if_none_match: Option<&'a [u8]>,
    if_modified_since: Option<&'a [u8]>,
    if_unmodified_since: Option<&'a [u8]>,
    if_range: Option<&'a [u8]>,
    range: Option<&'a [u8]>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// 200: the whole file.
    Whole,
    /// 206: one range of bytes.
    Part(Range<u64>),
    /// 304: the client has the current file.
    NotModified,
    /// 412: the current file is not the file that the client requires.
    Failed,
    /// 416: the file has no such bytes.
    Unsatisfiable,
}

impl<'a> HeaderLines<'a> for Conditions<'a> {
    #[inline]
    fn line(&mut self, line: &'a [u8]) {
        let place = match line.first() {
            Some(b'i' | b'I') => match line.get(3).map(u8::to_ascii_lowercase) {
                Some(b'm') if value(line, b"if-match").is_some() => &mut self.if_match,
                Some(b'm') if value(line, b"if-modified-since").is_some() => &mut self.if_modified_since,
                Some(b'n') if value(line, b"if-none-match").is_some() => &mut self.if_none_match,
                Some(b'u') if value(line, b"if-unmodified-since").is_some() => &mut self.if_unmodified_since,
                Some(b'r') if value(line, b"if-range").is_some() => &mut self.if_range,
                _ => return,
            },
            Some(b'r' | b'R') if value(line, b"range").is_some() => &mut self.range,
            _ => return,
        };
        if place.is_none() {
            let colon = line.iter().position(|&byte| byte == b':').unwrap_or(0);
            *place = line.get(colon + 1..).map(<[u8]>::trim_ascii);
        }
    }
}

impl Conditions<'_> {
    /// Decides in the order of RFC 9110 section 13.2.2. Ranges do not apply to HEAD (section 14.2).
    #[inline]
    pub(crate) fn judge(&self, file: &OpenedFile, head_only: bool) -> Verdict {
        let (tag, modified_s) = (file.tag.as_bytes(), file.modified_s);
        let passes = match (self.if_match, self.if_unmodified_since.and_then(parse_http_date)) {
            (Some(tags), _) => names(tags, tag, false),
            (None, Some(since)) => modified_s <= since,
            (None, None) => true,
        };
        if !passes {
            return Verdict::Failed;
        }
        let has_it = match (self.if_none_match, self.if_modified_since) {
            (Some(tags), _) => names(tags, tag, true),
            (None, Some(since)) => parse_http_date(since).is_some_and(|since| modified_s <= since),
            (None, None) => false,
        };
        if has_it {
            return Verdict::NotModified;
        }
        match self.range {
            Some(range) if !head_only && self.if_range.is_none_or(|one| is_same(one, file)) => {
                part(range, file.size)
            }
            _ => Verdict::Whole,
        }
    }
}

/// Whether a list of entity tags contains this tag. The server's tags have no commas, so splitting at commas
/// is safe.
fn names(list: &[u8], tag: &[u8], weakly: bool) -> bool {
    let mut tags = list.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    list == b"*" || tags.any(|one| one == tag || (weakly && one.strip_prefix(b"W/") == Some(tag)))
}

/// Whether the client's part belongs to this file (RFC 9110 section 13.1.5: exactly this tag or this date).
fn is_same(one: &[u8], file: &OpenedFile) -> bool {
    one == file.tag.as_bytes() || one == file.modified.as_bytes()
}

/// The bytes of a single range. Other values and several ranges are ignored, and the whole file is sent, as
/// RFC 9110 section 14.2 allows.
fn part(range: &[u8], size: u64) -> Verdict {
    let read = || {
        let (_, range) =
            range.split_at_checked(6).filter(|(unit, _)| unit.eq_ignore_ascii_case(b"bytes="))?;
        let dash = range.iter().position(|&byte| byte == b'-')?;
        let (first, last) = (range.get(..dash)?.trim_ascii(), range.get(dash + 1..)?.trim_ascii());
        Some(match (number(first)?, number(last)?) {
            (None, None) => return None,
            (None, Some(0)) => None,
            (None, Some(length)) => Some(size.saturating_sub(length)..size),
            (Some(first), Some(last)) if last < first => return None,
            (Some(first), last) => Some(first..last.map_or(size, |last| size.min(last.saturating_add(1)))),
        })
    };
    match read() {
        None => Verdict::Whole,
        Some(Some(range)) if range.start < size => Verdict::Part(range),
        Some(_) => Verdict::Unsatisfiable,
    }
}

/// `Some(None)` for an empty text, and `None` if a character is not a digit. A number that does not fit in 64
/// bits becomes the largest number that fits.
fn number(text: &[u8]) -> Option<Option<u64>> {
    if !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |sum: u64, digit: &u8| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
    Some((!text.is_empty()).then(|| text.iter().fold(0, add)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_read_and_an_invalid_range_is_ignored() {
        for (range, expected) in [
            ("bytes=0-0", Verdict::Part(0..1)),
            ("bytes=2-4", Verdict::Part(2..5)),
            ("Bytes=2-", Verdict::Part(2..10)),
            ("bytes=9-99999999999999999999999", Verdict::Part(9..10)),
            ("bytes=-3", Verdict::Part(7..10)),
            ("bytes=-30", Verdict::Part(0..10)),
            ("bytes=10-", Verdict::Unsatisfiable),
            ("bytes=99999999999999999999999-", Verdict::Unsatisfiable),
            ("bytes=-0", Verdict::Unsatisfiable),
            ("bytes=4-2", Verdict::Whole),
            ("bytes=0-1,3-4", Verdict::Whole),
            ("bytes=-", Verdict::Whole),
            ("bytes=+1-2", Verdict::Whole),
            ("bytes=1", Verdict::Whole),
            ("lines=1-2", Verdict::Whole),
            ("", Verdict::Whole),
        ] {
            assert_eq!(part(range.as_bytes(), 10), expected, "{range}");
        }
        assert_eq!(part(b"bytes=-1", 0), Verdict::Unsatisfiable);
    }
}
