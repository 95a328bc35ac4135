//! TOML 1.0 into a tree with places.
//!
//! The parser reads TOML 1.1, which editors and Python's `tomllib` do not: what is new in it is refused here.

use toml::de::{DeTable, DeValue};
use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::problem::Found;

/// Brackets within brackets: ten `repeat`s, one in the other, and room for their values.
const MOST_BRACKETS: usize = 24;

/// Dots of one key; the form needs `operation.step.change.replace.attribute`.
///
/// Tables are dropped one within the other: a key of a million parts would take the stack.
const MOST_DOTS: usize = 8;

/// Reads a document; `None` where it is none, and problems say why.
pub(crate) fn read<'t>(text: &'t str, found: &Found) -> Option<DeTable<'t>> {
    if !is_shallow(text, found) {
        return None;
    }
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        found.push(error.span().map_or(0, |span| span.start), || format!("is not TOML: {}", error.message()));
    }
    found.is_empty().then(|| document.into_inner())
}

/// Whether nothing is nested too deep; says also where a text is not TOML 1.0.
fn is_shallow(text: &str, found: &Found) -> bool {
    let (mut open, mut dots, mut last) = (Vec::new(), 0, TokenKind::Newline);
    for token in Source::new(text).lex() {
        let at = token.span().start();
        dots = match token.kind() {
            TokenKind::Dot => dots + 1,
            TokenKind::Atom | TokenKind::Whitespace | TokenKind::LiteralString => dots,
            TokenKind::BasicString | TokenKind::MlBasicString => {
                if let Some(escape) = new_escape(&text[at..token.span().end()]) {
                    found.push(at + escape, || "is not TOML 1.0: write \\u001B or \\u00XX".to_owned());
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
                    found.push(at, || "is not TOML 1.0: no comma before a closing brace".to_owned());
                }
            }
            TokenKind::Newline | TokenKind::Comment if open.last() == Some(&TokenKind::LeftCurlyBracket) => {
                found.push(at, || {
                    "is not TOML 1.0: a table in braces ends on its line; write [brackets] with the name of the \
                     table, and a line for each key"
                        .to_owned()
                });
                // One message for each table: what follows is not known to be within it.
                open.pop();
            }
            _ => {}
        }
        if dots > MOST_DOTS || open.len() > MOST_BRACKETS {
            found.push(at, || "is nested too deep".to_owned());
            return false;
        }
        if !matches!(token.kind(), TokenKind::Whitespace) {
            last = token.kind();
        }
    }
    true
}

/// Where a string has `\e` or `\x`, which came with TOML 1.1.
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

/// The key at an offset, or the table around it: `operation[2].expect.entries`.
pub(crate) fn path(document: &DeTable<'_>, at: usize) -> String {
    let mut path = Vec::new();
    let mut best = String::new();
    table_path(document, at, &mut path, &mut best);
    best
}

fn table_path(table: &DeTable<'_>, at: usize, path: &mut Vec<String>, best: &mut String) {
    for (key, value) in table {
        let dot = if path.is_empty() { "" } else { "." };
        let name = key.get_ref();
        let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
        let name = if bare && name.len() <= 64 { name.to_string() } else { crate::problem::quoted(name) };
        path.push(format!("{dot}{name}"));
        if key.span().start == at {
            *best = path.concat();
        }
        value_path(value.get_ref(), value.span(), at, path, best);
        path.pop();
    }
}

fn value_path(
    value: &DeValue<'_>,
    span: std::ops::Range<usize>,
    at: usize,
    path: &mut Vec<String>,
    best: &mut String,
) {
    let is_leaf = !matches!(value, DeValue::Table(_) | DeValue::Array(_));
    if span.start == at || is_leaf && span.contains(&at) {
        *best = path.concat();
    }
    match value {
        DeValue::Table(table) => table_path(table, at, path, best),
        DeValue::Array(array) => {
            for (n, each) in array.iter().enumerate() {
                path.push(format!("[{}]", n + 1));
                value_path(each.get_ref(), each.span(), at, path, best);
                path.pop();
            }
        }
        _ => {}
    }
}
