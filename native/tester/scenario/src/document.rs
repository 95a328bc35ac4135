//! Parses TOML 1.0 into a tree with positions.
//!
//! The parser reads TOML 1.1, which editors and Python's `tomllib` do not read, so additions of TOML 1.1 are
//! refused here.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::problem::{FoundProblems, ROOT, quoted};
use crate::template::Template;

/// The deepest nesting of brackets: ten nested `repeat`s, and room for their values.
const MOST_BRACKETS: usize = 24;

/// The most dots of one key; the form needs `operation.step.change.replace.attribute`.
///
/// Nested tables are dropped recursively: a key of a million parts would overflow the stack.
const MOST_DOTS: usize = 8;

/// Reads a document. Returns `None` if the text is not TOML, and adds the reasons to `problems`.
pub(crate) fn read<'t>(text: &'t str, problems: &FoundProblems) -> Option<DeTable<'t>> {
    if !is_shallow(text, problems) {
        return None;
    }
    let (document, errors) = DeTable::parse_recoverable(text);
    let places =
        errors.iter().map(|error| (error.span().map_or(0, |span| span.start.min(text.len())), error));
    let mut places: Vec<_> = places.collect();
    places.sort_by_key(|(at, _)| *at);
    let mut last = None;
    for (at, error) in places {
        // Further errors on the same line are usually caused by the first.
        if last.is_none_or(|last| text.as_bytes()[last..at].contains(&b'\n')) {
            problems.push(at, || format!("is not TOML: {}", error.message()));
        }
        last = Some(at);
    }
    problems.is_empty().then(|| document.into_inner())
}

/// Whether the nesting is within the limits. Also reports texts that are not TOML 1.0.
fn is_shallow(text: &str, problems: &FoundProblems) -> bool {
    let (mut open, mut dots, mut last) = (Vec::new(), 0, TokenKind::Newline);
    for token in Source::new(text).lex() {
        let at = token.span().start();
        dots = match token.kind() {
            TokenKind::Dot => dots + 1,
            TokenKind::Atom | TokenKind::Whitespace | TokenKind::LiteralString => dots,
            TokenKind::BasicString | TokenKind::MlBasicString => {
                if let Some(escape) = new_escape(&text[at..token.span().end()]) {
                    problems.push(at + escape, || "is not TOML 1.0: write \\u001B or \\u00XX".to_owned());
                }
                dots
            }
            _ => 0,
        };
        match token.kind() {
            kind @ (TokenKind::LeftCurlyBracket | TokenKind::LeftSquareBracket) => open.push(kind),
            TokenKind::RightCurlyBracket | TokenKind::RightSquareBracket => {
                let brace = open.pop() == Some(TokenKind::LeftCurlyBracket);
                if brace && last == TokenKind::Comma {
                    problems.push(at, || "is not TOML 1.0: no comma before a closing brace".to_owned());
                }
            }
            TokenKind::Newline | TokenKind::Comment if open.last() == Some(&TokenKind::LeftCurlyBracket) => {
                problems.push(at, || {
                    "is not TOML 1.0: a table in braces ends on its line; write [brackets] with the name of the \
                     table, and a line for each key"
                        .to_owned()
                });
                // One message per table: keys below this depth may belong to another table.
                open.pop();
            }
            _ => {}
        }
        if dots > MOST_DOTS || open.len() > MOST_BRACKETS {
            problems.push(at, || "is nested too deep".to_owned());
            return false;
        }
        if !matches!(token.kind(), TokenKind::Whitespace) {
            last = token.kind();
        }
    }
    true
}

/// The position of `\e` or `\x` in a string, which TOML 1.1 added.
fn new_escape(string: &str) -> Option<usize> {
    let bytes = string.as_bytes();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|&byte| byte == b'\\') {
        at += next;
        if let Some(b'e' | b'x') = bytes.get(at + 1) {
            return Some(at);
        }
        at = (at + 2).min(bytes.len());
    }
    None
}

/// The position of a text below these keys, or of the last of these keys that exists.
pub(crate) fn place(document: &DeTable<'_>, keys: &[String], text: Option<&Template>) -> usize {
    let (mut at, mut table, mut list) = (ROOT, document, None);
    for key in keys {
        let item = list.and_then(|list: &DeArray<'_>| list.get(key.parse::<usize>().ok()?));
        let Some(value) = item.or_else(|| table.get(key.as_str())) else { continue };
        at = value.span().start;
        list = value.get_ref().as_array();
        table = value.get_ref().as_table().unwrap_or(table);
    }
    let of_text = |table: &DeTable<'_>| table.values().find_map(|value| place_of(value, text?));
    of_text(table).or_else(|| of_text(document)).unwrap_or(at)
}

fn place_of(value: &Spanned<DeValue<'_>>, text: &Template) -> Option<usize> {
    match value.get_ref() {
        DeValue::Table(table) => table.values().find_map(|value| place_of(value, text)),
        DeValue::Array(list) => list.iter().find_map(|value| place_of(value, text)),
        DeValue::String(string) if Template::read(string).as_ref() == Ok(text) => Some(value.span().start),
        _ => None,
    }
}

/// A part of the path to a value.
#[derive(Clone, Copy)]
enum Part<'d> {
    Key(&'d str),
    Number(usize),
}

/// The paths of the keys or tables at offsets: `operation[2].expect.entries`.
pub(crate) fn paths(document: &DeTable<'_>, offsets: &[usize]) -> Vec<String> {
    let mut paths = vec![String::new(); offsets.len()];
    paths_of_table(document, offsets, &mut Vec::new(), &mut paths);
    paths
}

fn paths_of_table<'d>(
    table: &'d DeTable<'_>,
    offsets: &[usize],
    way: &mut Vec<Part<'d>>,
    paths: &mut [String],
) {
    for (key, value) in table {
        way.push(Part::Key(key.get_ref()));
        note(key.span().start..key.span().start + 1, offsets, way, paths);
        paths_of_value(value, offsets, way, paths);
        way.pop();
    }
}

fn paths_of_value<'d>(
    value: &'d Spanned<DeValue<'_>>,
    offsets: &[usize],
    way: &mut Vec<Part<'d>>,
    paths: &mut [String],
) {
    let span = value.span();
    match value.get_ref() {
        DeValue::Table(table) => {
            note(span.start..span.start + 1, offsets, way, paths);
            paths_of_table(table, offsets, way, paths);
        }
        DeValue::Array(array) => {
            note(span.start..span.start + 1, offsets, way, paths);
            for (n, item) in array.iter().enumerate() {
                way.push(Part::Number(n + 1));
                paths_of_value(item, offsets, way, paths);
                way.pop();
            }
        }
        _ => note(span, offsets, way, paths),
    }
}

/// Writes the path `way` for the offsets within a span. Later calls have deeper paths and overwrite earlier
/// ones.
fn note(span: Range<usize>, offsets: &[usize], way: &[Part<'_>], paths: &mut [String]) {
    for (offset, path) in offsets.iter().zip(paths) {
        if !span.contains(offset) {
            continue;
        }
        path.clear();
        for part in way {
            let dot = if path.is_empty() { "" } else { "." };
            match part {
                Part::Key(name) if is_bare(name) => path.push_str(&format!("{dot}{name}")),
                Part::Key(name) => path.push_str(&format!("{dot}{}", quoted(name))),
                Part::Number(number) => path.push_str(&format!("[{number}]")),
            }
        }
    }
}

fn is_bare(key: &str) -> bool {
    !key.is_empty() && key.len() <= 64 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}
