//! Grammars of single texts: durations, counts, filters, names, paths.

use std::ops::Range;
use std::time::Duration;

use wire::dn::{Dn, DnError, Rdn};
use wire::ldap::ResultCode;
use wire::ldap::filter_text::{self, FilterTextError};

use crate::template::{Field, Piece, Template, pieces};
use crate::types::{Count, Level, Lifetime, Stage};

/// The byte offset of an error in a text, and its message.
pub(crate) type Wrong = (usize, String);

/// A year: longer than any pause or run.
const LONGEST_S: f64 = 366.0 * 86_400.0;

/// `500ms`, `2s`, `1.5m`, `1h`.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return None,
    };
    let seconds = decimal(number)? * seconds;
    if seconds <= LONGEST_S { Duration::try_from_secs_f64(seconds).ok() } else { None }
}

/// `12` or `12.5`.
fn decimal(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits =
        |part: &str| !part.is_empty() && part.len() <= 15 && part.bytes().all(|b| b.is_ascii_digit());
    if digits(whole) && digits(fraction) { text.parse().ok() } else { None }
}

/// `30s:100/s` or `30s:100`.
pub(crate) fn stage(text: &str) -> Option<Stage> {
    let (lasts, level) = text.split_once(':')?;
    let level = match level.strip_suffix("/s") {
        Some(rate) => Level::Rate(decimal(rate)?),
        None => Level::Users(whole(level)?),
    };
    Some(Stage { lasts: duration(lasts)?, level })
}

fn whole(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// `>=1`, `<=500` or `all`.
pub(crate) fn count(text: &str) -> Option<Count> {
    if text == "all" {
        return Some(Count::All);
    }
    let (least, most) = (text.strip_prefix(">="), text.strip_prefix("<="));
    least.map(|text| whole(text).map(Count::AtLeast)).or(most.map(|text| whole(text).map(Count::AtMost)))?
}

/// `user`, `iteration` or `step`.
pub(crate) fn per(text: &str) -> Option<Lifetime> {
    match text {
        "user" => Some(Lifetime::User),
        "iteration" => Some(Lifetime::Iteration),
        "step" => Some(Lifetime::Step),
        _ => None,
    }
}

/// Whether a text is a valid name of a connection, data, a value or a capture.
pub(crate) fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.len() <= 64
        && text.bytes().all(allowed)
}

/// Whether a text is a valid name of a row: like `is_name` in sitebench/runs/point.py.
pub(crate) fn is_label(text: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.starts_with(word)
        && text.chars().count() <= 64
        && text.chars().all(|c| word(c) || " .,:+-".contains(c))
}

/// Whether a text is a valid name of a file set or class: such names are folders in paths.
pub(crate) fn is_folder(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= 64
        && text.bytes().all(allowed)
}

/// Whether a text is a numeric object identifier (RFC 4512 section 1.4).
pub(crate) fn is_oid(text: &str) -> bool {
    let arc = |arc: &str| whole(arc).is_some_and(|number| number.to_string() == arc);
    text.len() <= 256
        && text.starts_with(['0', '1', '2'])
        && text[1..].starts_with('.')
        && text.split('.').all(arc)
}

/// Whether a text is an attribute description (RFC 4512 section 2.5).
pub(crate) fn is_attribute(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.;_".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.bytes().all(allowed)
}

/// Whether a text is the name of a header (RFC 9110 section 5.6.2).
pub(crate) fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

/// Names of result codes and their numbers.
pub(crate) fn result_names() -> impl Iterator<Item = (&'static str, u32)> {
    let last = ResultCode::OTHER.0;
    (0..=last)
        .map(|code| (ResultCode(code).name(), code))
        .filter(move |&(name, code)| name != "other" || code == last)
}

/// The text with each field replaced by as many bytes, for a grammar that treats a field as an atom.
/// Positions do not change.
fn masked(text: &str, fill: impl Fn(&str, &str, usize) -> Result<String, Wrong>) -> Result<String, Wrong> {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (range, piece) in pieces(text) {
        if let Piece::Field(..) = piece {
            out.push_str(&text[end..range.start]);
            let mask = fill(&text[..range.start], &text[range.end..], range.start)?;
            out.extend(std::iter::repeat_n(mask.as_str(), 1));
            out.extend(std::iter::repeat_n('x', range.len() - mask.len()));
            end = range.end;
        }
    }
    out.push_str(&text[end..]);
    Ok(out)
}

/// A byte that may be part of a value, but not of an attribute, operator or escape.
const ATOM: &str = "\u{1}";

/// Checks a filter whose fields are assertion values. A single field may be a whole filter.
pub(crate) fn filter(text: &str) -> Result<(), Wrong> {
    if is_one_field(text) {
        return Ok(());
    }
    let masked = masked(text, |_, _, _| Ok(ATOM.to_owned()))?;
    filter_text::parse(&masked, &mut Vec::new()).map_err(|error| {
        use FilterTextError as E;
        let at = match error {
            E::NoOpening(at)
            | E::NotClosed(at)
            | E::Trailing(at)
            | E::NoAttribute(at)
            | E::NoOperator(at) => at,
            E::Unescaped { at, .. } | E::BadEscape(at) => at,
            E::TooDeep => 0,
        };
        let field = masked[at..].starts_with(ATOM) && !text[at..].starts_with(ATOM);
        let what = if field {
            format!("at byte {at} is a field, and only a value of a condition can be one")
        } else {
            format!("is not a filter: {error}")
        };
        (at, what)
    })
}

fn is_one_field(text: &str) -> bool {
    Template::read(text).is_ok_and(|template| template.only_field().is_some())
}

/// Checks a distinguished name whose fields are values. A field that begins a name may stand for a whole
/// name.
pub(crate) fn dn(text: &str) -> Result<(), Wrong> {
    let masked = masked_dn(text)?;
    Dn::parse(masked.as_bytes()).map(drop).map_err(|error| dn_error(text, &masked, error))
}

/// Checks a name of exactly one RDN.
pub(crate) fn rdn(text: &str) -> Result<(), Wrong> {
    let masked = masked_dn(text)?;
    Rdn::try_from(masked.as_bytes()).map(drop).map_err(|error| dn_error(text, &masked, error))
}

fn dn_error(text: &str, masked: &str, error: DnError) -> Wrong {
    use DnError as E;
    let at = match error {
        E::NoAttribute(at) | E::NoEquals(at) | E::BadEscape(at) | E::UnclosedQuote(at) | E::BadHex(at) => at,
        E::Unescaped { at, .. } => at,
        E::TooLong(_) | E::TooManyRdns | E::NotOneRdn => 0,
    };
    let rest = |text: &'_ str| text.as_bytes().get(at) == Some(&1);
    if rest(masked) && !rest(text) {
        return (at, format!("at byte {at} is a field, and only a value or a whole name can be one"));
    }
    (at, format!("is not a distinguished name: {error}"))
}

fn masked_dn(text: &str) -> Result<String, Wrong> {
    masked(text, |before, after, at| {
        if !begins_name(before) {
            return Ok(ATOM.to_owned());
        }
        if !after.trim_start_matches(' ').chars().next().is_none_or(|next| ",;".contains(next)) {
            return Err((
                at,
                format!("at byte {at} is a field that stands for a name: only ',' can follow it"),
            ));
        }
        Ok("x=".to_owned())
    })
}

/// Whether a name begins after this text: at the start of the text, or after a separator that is not escaped.
fn begins_name(before: &str) -> bool {
    let before = before.trim_end_matches(' ');
    let Some(rest) = before.strip_suffix([',', ';']) else { return before.is_empty() };
    rest.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 0
}

/// For each field of a DN, whether the field is a DN, not a value.
pub fn stand_for_names(dn: &Template) -> Vec<bool> {
    fields_of_name(&dn.to_string()).into_iter().map(|(_, name)| name).collect()
}

/// The ranges of a DN's fields, and whether the fields are DNs.
fn fields_of_name(text: &str) -> Vec<(Range<usize>, bool)> {
    let fields = pieces(text).into_iter().filter(|(_, piece)| matches!(piece, Piece::Field(..)));
    fields.map(|(range, _)| (range.clone(), begins_name(&text[..range.start]))).collect()
}

/// The fields of a DN that are DNs.
pub(crate) fn name_fields(text: &str) -> Vec<Field> {
    let names = fields_of_name(text).into_iter().filter(|(_, name)| *name);
    let read = names.filter_map(|(range, _)| Template::read(&text[range]).ok());
    read.filter_map(|template| template.only_field().cloned()).collect()
}

/// Checks the path of a URL. A single field may be a whole path.
pub(crate) fn path(text: &str) -> Result<(), Wrong> {
    if is_one_field(text) {
        return Ok(());
    }
    if !text.starts_with('/') {
        let alone = text.contains("://");
        let remedy =
            if alone { "write the path alone: the target has the address" } else { "write it in front" };
        return Err((0, format!("does not begin with '/': {remedy}")));
    }
    let masked = masked(text, |_, _, _| Ok("x".to_owned()))?;
    let wrong = masked.char_indices().find(|&(_, c)| !c.is_ascii_graphic() || "#{}".contains(c));
    wrong.map_or(Ok(()), |(at, c)| {
        Err((at, format!("no request line can carry {c:?}, at byte {at}: write it as %XX")))
    })
}

/// Checks a header's value.
pub(crate) fn header_value(text: &str) -> Result<(), Wrong> {
    let wrong = text.char_indices().find(|&(_, c)| c.is_control() && c != '\t');
    wrong.map_or(Ok(()), |(at, c)| Err((at, format!("no header can hold {c:?}, at byte {at}"))))
}
