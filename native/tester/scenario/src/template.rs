//! Texts with fields: `uid={person.uid},{base}`.
//!
//! A field is `{name}` or `{name:argument}`. Braces around anything else are literal braces, so JSON and
//! style sheets need no escapes. Before a name, `{{` is one literal brace.

use std::fmt;
use std::ops::Range;

use crate::problem::{nearest, quoted};

/// Maximum of fields in one text.
pub const MOST_FIELDS: usize = 100;

/// Maximum length of one `{random:..}`.
pub const MOST_RANDOM: u32 = 65_536;

/// Maximum size of the character set of a `{random:..}`.
const MOST_CHARACTERS: usize = 256;

/// Letters and digits: the character set of `{random:8}`.
const PLAIN: &str = "0-9a-z";

/// Reserved words: values, captures and data cannot have these names.
pub const BUILT_IN: [&str; 9] =
    ["base", "choice", "env", "iteration", "now", "random", "user", "uuid", "worker"];

/// A text with fields. It is displayed as it was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Template {
    /// Text and fields in their order; texts are not empty, and no two texts are adjacent.
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    Text(String),
    Field(Field),
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// A named value, a capture, or data with one column.
    Name(String),
    Column(String, String),
    /// An environment variable, without the `env.`.
    Env(String),
    Base,
    /// The user's number, unique over all workers, from 1.
    User,
    /// The worker's number, from 1.
    Worker,
    /// The user's iteration, from 1.
    Iteration,
    Uuid,
    /// The time when the step is sent.
    Now(Clock),
    RandomText {
        length: u32,
        /// The character set as written: `0-9a-f`. See [`characters`].
        set: Option<String>,
    },
    RandomNumber {
        first: u64,
        last: u64,
    },
    Choice(Vec<String>),
}

/// A format of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Clock {
    /// RFC 3339, in UTC.
    Rfc3339,
    /// GeneralizedTime (RFC 4517 section 3.3.13).
    Ldap,
    /// Seconds since 1970.
    Unix,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The index of the byte at which the field begins.
    pub at: usize,
    pub what: String,
}

impl Template {
    /// Parses a text.
    ///
    /// ```
    /// use scenario::{Field, Part, Template};
    ///
    /// let template = Template::read(r#"{"user": "{user}"}"#).unwrap();
    /// assert_eq!(template.parts[1], Part::Field(Field::User));
    /// assert_eq!(template.to_string(), r#"{"user": "{user}"}"#);
    /// ```
    pub fn read(text: &str) -> Result<Self, TemplateError> {
        let mut template = Self::default();
        let mut fields = 0;
        for (range, piece) in pieces(text) {
            match piece {
                Piece::Text(text) => template.push(text),
                Piece::Brace(braces) => template.push(braces),
                Piece::Field(name, argument) => {
                    fields += 1;
                    let read = if fields > MOST_FIELDS {
                        Err(format!("more than {MOST_FIELDS} fields in one text"))
                    } else {
                        Field::read(name, argument)
                    };
                    let field = read.map_err(|what| TemplateError { at: range.start, what })?;
                    template.parts.push(Part::Field(field));
                }
            }
        }
        Ok(template)
    }

    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(field) => Some(field),
            Part::Text(_) => None,
        })
    }

    /// The whole text, if it has no field.
    pub fn literal(&self) -> Option<&str> {
        match &self.parts[..] {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The field, if the template is a single field.
    pub fn only_field(&self) -> Option<&Field> {
        match &self.parts[..] {
            [Part::Field(field)] => Some(field),
            _ => None,
        }
    }

    fn push(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, part) in self.parts.iter().enumerate() {
            match part {
                Part::Field(field) => write!(f, "{field}")?,
                Part::Text(text) => {
                    write_text(text, matches!(self.parts.get(n + 1), Some(Part::Field(_))), f)?
                }
            }
        }
        Ok(())
    }
}

/// Doubles literal braces before a name or a field.
fn write_text(text: &str, before_field: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        let after = from.trim_start_matches('{');
        let braces = &from[..from.len() - after.len()];
        let doubled = if after.is_empty() { before_field } else { field_at(after).is_some() };
        write!(f, "{before}{braces}{}", if doubled { braces } else { "" })?;
        rest = after;
    }
    f.write_str(rest)
}

/// A piece of a text before its field is parsed.
#[derive(Debug)]
pub(crate) enum Piece<'t> {
    Text(&'t str),
    /// Literal braces: half of the written braces.
    Brace(&'t str),
    Field(&'t str, Option<&'t str>),
}

/// Cuts a text into pieces, each with its range. Takes linear time.
pub(crate) fn pieces(text: &str) -> Vec<(Range<usize>, Piece<'_>)> {
    let (mut pieces, mut at, mut plain) = (Vec::new(), 0, 0);
    while let Some(open) = text[at..].find('{').map(|open| at + open) {
        let after = open + text[open..].bytes().take_while(|&byte| byte == b'{').count();
        at = after;
        let Some((name, argument, end)) = field_at(&text[after..]) else { continue };
        let braces = after - open;
        pieces.push((plain..open, Piece::Text(&text[plain..open])));
        pieces.push((open..open + braces / 2 * 2, Piece::Brace(&text[open..open + braces / 2])));
        plain = after;
        if braces % 2 == 1 {
            at = after + end;
            plain = at;
            pieces.push((after - 1..at, Piece::Field(name, argument)));
        }
    }
    pieces.push((plain..text.len(), Piece::Text(&text[plain..])));
    pieces
}

/// Characters of column names, in addition to letters, digits and blanks.
pub(crate) const IN_COLUMNS: &str = "- _ ; . / ( ) # + @ &";

/// Whether a field can name this column: columns of CSV files may have blanks and other characters.
pub(crate) fn is_column(name: &str) -> bool {
    !name.is_empty() && name.chars().all(in_column)
}

fn in_column(c: char) -> bool {
    c.is_alphanumeric() || IN_COLUMNS.contains(c)
}

/// Parses a field after its opening brace: name, argument, and the position after the closing brace.
fn field_at(text: &str) -> Option<(&str, Option<&str>, usize)> {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return None;
    }
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut end = text.find(|c| !in_name(c)).unwrap_or(text.len());
    if let Some(column) = text[end..].strip_prefix('.') {
        let length = column.find(|c: char| !in_column(c)).unwrap_or(column.len());
        if length == 0 {
            return None;
        }
        end += 1 + length;
    }
    let (name, rest) = text.split_at(end);
    if rest.starts_with('}') {
        return Some((name, None, end + 1));
    }
    let argument = rest.strip_prefix(':')?;
    let length = argument.find(['{', '}'])?;
    let closed = argument[length..].starts_with('}');
    closed.then(|| (name, Some(&argument[..length]), end + length + 2))
}

impl Field {
    fn read(name: &str, argument: Option<&str>) -> Result<Self, String> {
        let field = match (name.split_once('.'), argument) {
            (Some(("env", variable)), None) => Self::Env(variable.to_owned()),
            (Some((data, column)), None) => Self::Column(data.to_owned(), column.to_owned()),
            (None, argument) => return Self::built_in(name, argument),
            (Some(_), Some(_)) => return Err(format!("{{{name}}} takes nothing after it{BRACES}")),
        };
        Ok(field)
    }

    fn built_in(name: &str, argument: Option<&str>) -> Result<Self, String> {
        let field = match (name, argument) {
            ("base", None) => Self::Base,
            ("user", None) => Self::User,
            ("worker", None) => Self::Worker,
            ("iteration", None) => Self::Iteration,
            ("uuid", None) => Self::Uuid,
            ("now", None) => Self::Now(Clock::Rfc3339),
            ("now", Some("ldap")) => Self::Now(Clock::Ldap),
            ("now", Some("unix")) => Self::Now(Clock::Unix),
            ("now", Some(other)) => {
                return Err(format!(
                    "no time is written {}: write {{now}}, {{now:ldap}} or {{now:unix}}",
                    quoted(other)
                ));
            }
            ("random", argument) => return random(argument.unwrap_or_default()),
            ("choice", Some(texts)) if !texts.is_empty() => {
                Self::Choice(texts.split(',').map(str::to_owned).collect())
            }
            ("choice", _) => return Err("write {choice:a,b}".to_owned()),
            ("env", _) => return Err("write {env.NAME}".to_owned()),
            (_, None) => Self::Name(name.to_owned()),
            (_, Some(_)) if BUILT_IN.contains(&name) => {
                return Err(format!("{{{name}}} takes nothing after it"));
            }
            (_, Some(_)) => {
                let near = nearest(name, ["now", "random", "choice"]);
                let near =
                    near.map_or_else(|| BRACES.to_owned(), |near| format!("; did you mean {{{near}:..}}?"));
                return Err(format!("{{{name}:..}} is unknown{near}"));
            }
        };
        Ok(field)
    }
}

/// The remedy for braces that were meant as literal braces.
pub(crate) const BRACES: &str = " (for braces as they are, write {{ before the name)";

fn random(argument: &str) -> Result<Field, String> {
    let wrong = || "write {random:8}, {random:8:0-9} or {random:1..100}".to_owned();
    // Only the canonical form of a number is accepted, so that a template is displayed as it was written.
    let number = |text: &str| text.parse::<u64>().ok().filter(|number| number.to_string() == text);
    if let Some((first, last)) = argument.split_once("..") {
        let (first, last) = number(first).zip(number(last)).ok_or_else(wrong)?;
        return if first <= last { Ok(Field::RandomNumber { first, last }) } else { Err(wrong()) };
    }
    let (length, set) =
        argument.split_once(':').map_or((argument, None), |(length, set)| (length, Some(set)));
    let length = number(length).ok_or_else(wrong)?;
    let length = u32::try_from(length).ok().filter(|length| (1..=MOST_RANDOM).contains(length));
    let length = length.ok_or_else(|| format!("{{random:..}} makes 1 to {MOST_RANDOM} characters"))?;
    characters(set)?;
    Ok(Field::RandomText { length, set: set.map(str::to_owned) })
}

/// The characters of a set such as `0-9a-f`, in its order; by default digits and small letters.
pub fn characters(set: Option<&str>) -> Result<Vec<char>, String> {
    let mut characters = Vec::new();
    let text: Vec<char> = set.unwrap_or(PLAIN).chars().take(3 * MOST_CHARACTERS + 1).collect();
    let mut rest = &text[..];
    while let [first, after @ ..] = rest {
        let (last, after) = match after {
            ['-', last, after @ ..] => (last, after),
            _ => (first, after),
        };
        if last < first {
            return Err(format!("the characters {first:?} to {last:?} are none: write the smaller first"));
        }
        characters.extend((*first..=*last).take(MOST_CHARACTERS + 1));
        if characters.len() > MOST_CHARACTERS {
            return Err(format!("more than {MOST_CHARACTERS} characters to choose from"));
        }
        rest = after;
    }
    if characters.is_empty() { Err("no characters to choose from".to_owned()) } else { Ok(characters) }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "{{{name}}}"),
            Self::Column(data, column) => write!(f, "{{{data}.{column}}}"),
            Self::Env(variable) => write!(f, "{{env.{variable}}}"),
            Self::Base => f.write_str("{base}"),
            Self::User => f.write_str("{user}"),
            Self::Worker => f.write_str("{worker}"),
            Self::Iteration => f.write_str("{iteration}"),
            Self::Uuid => f.write_str("{uuid}"),
            Self::Now(Clock::Rfc3339) => f.write_str("{now}"),
            Self::Now(Clock::Ldap) => f.write_str("{now:ldap}"),
            Self::Now(Clock::Unix) => f.write_str("{now:unix}"),
            Self::RandomText { length, set: None } => write!(f, "{{random:{length}}}"),
            Self::RandomText { length, set: Some(set) } => write!(f, "{{random:{length}:{set}}}"),
            Self::RandomNumber { first, last } => write!(f, "{{random:{first}..{last}}}"),
            Self::Choice(texts) => write!(f, "{{choice:{}}}", texts.join(",")),
        }
    }
}
