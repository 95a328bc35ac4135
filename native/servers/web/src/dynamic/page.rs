//! Pages with today's date: parsed for each request, or parsed once and filled in.
//!
//! Paper 001's page has 6,250 bytes and shows the date. A server-parsed page is searched for directives at
//! each request. A compiled template is parsed once, and each request only fills in the date; there are a
//! hundred identical templates.

use std::sync::LazyLock;

use memchr::memmem;

use super::clock::{DEFAULT_FORMAT, push_time};

/// Bytes of a page of paper 001 with its date.
const PAGE_BYTES: usize = 6_250;

/// Identical pages (paper 001: "one of 100 identical pages").
pub(crate) const TEMPLATES: usize = 100;

/// A format whose dates always have ten characters, so that all pages have the same size.
const FORMAT: &[u8] = b"%Y-%m-%d";
const DATE_BYTES: usize = 10;

const DIRECTIVES: &str = "<!--#config timefmt=\"%Y-%m-%d\" --><!--#echo var=\"DATE_LOCAL\" -->";
const BEFORE: &str =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Today</title></head><body>\n<p>Today is ";
const AFTER: &str = ".</p>\n";
const END: &str = "</body></html>\n";

/// The source of the built-in page.
pub(crate) static PARSED_PAGE: LazyLock<Vec<u8>> =
    LazyLock::new(|| [BEFORE, DIRECTIVES, AFTER, &filler(), END].concat().into_bytes());

/// Paragraphs that fill the page up to its size.
fn filler() -> String {
    let length = PAGE_BYTES - BEFORE.len() - DATE_BYTES - AFTER.len() - END.len();
    let (open, close) = ("<p>", "</p>\n");
    let words =
        "A page of the size that the paper's clients asked for, with nothing else to say. ".repeat(80);
    let text = words.get(..length - open.len() - close.len()).unwrap_or_default();
    [open, text, close].concat()
}

/// A hundred parsed pages. Each has its own bytes, like a hundred files.
#[derive(Debug)]
pub(crate) struct Templates(Vec<(Vec<u8>, Vec<u8>)>);

impl Templates {
    pub(crate) fn new() -> Self {
        let after = [AFTER, &filler(), END].concat();
        Self(vec![(BEFORE.into(), after.into()); TEMPLATES])
    }

    /// The length of a page after filling in.
    pub(crate) const LENGTH: usize = PAGE_BYTES;

    /// Appends page `number`.
    pub(crate) fn push(&self, number: usize, unix_s: u64, out: &mut Vec<u8>) {
        if let Some((before, after)) = self.0.get(number) {
            out.extend_from_slice(before);
            push_time(out, FORMAT, unix_s);
            out.extend_from_slice(after);
        }
    }
}

/// Longer directives stay in the page as text.
const DIRECTIVE_BYTES: usize = 1_024;
/// Further directives of a page stay in the page as text. Together with [`DIRECTIVE_BYTES`] this limits the
/// size of a page.
const DIRECTIVES_MOST: usize = 10_000;

/// The text of Apache's mod_include for an invalid directive, and for an unset variable.
const ERROR: &[u8] = b"[an error occurred while processing this directive]";
const NONE: &[u8] = b"(none)";

/// Appends a page with its directives replaced: `<!--#echo var="DATE_LOCAL" -->` (or `DATE_GMT`), and
/// `<!--#config timefmt="..." -->`, which applies to later dates.
pub(crate) fn expand(page: &[u8], unix_s: u64, out: &mut Vec<u8>) {
    let mut format = DEFAULT_FORMAT;
    let mut rest = page;
    let opening = memmem::Finder::new(b"<!--#");
    for _ in 0..DIRECTIVES_MOST {
        let Some(start) = opening.find(rest) else { break };
        let (before, directive) = rest.split_at(start + 5);
        let Some(end) = memmem::find(directive.get(..DIRECTIVE_BYTES).unwrap_or(directive), b"-->") else {
            out.extend_from_slice(before);
            rest = directive;
            continue;
        };
        out.extend_from_slice(before.strip_suffix(b"<!--#").unwrap_or(before));
        rest = directive.get(end + 3..).unwrap_or_default();
        match read(directive.get(..end).unwrap_or_default()) {
            Some((b"echo", b"var", b"DATE_LOCAL" | b"DATE_GMT")) => push_time(out, format, unix_s),
            Some((b"echo", b"var", _)) => out.extend_from_slice(NONE),
            Some((b"config", b"timefmt", chosen)) => format = chosen,
            _ => out.extend_from_slice(ERROR),
        }
    }
    out.extend_from_slice(rest);
}

/// Name, attribute and value of a directive: `echo var="DATE_LOCAL"`.
fn read(directive: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let directive = directive.trim_ascii();
    let space = directive.iter().position(u8::is_ascii_whitespace)?;
    let (name, attribute) = directive.split_at(space);
    let equals = attribute.iter().position(|&byte| byte == b'=')?;
    let (attribute, value) = attribute.split_at(equals);
    let value = value.get(1..)?.trim_ascii();
    let bare = value.strip_prefix(b"\"")?.strip_suffix(b"\"").filter(|value| !value.contains(&b'"'))?;
    Some((name, attribute.trim_ascii(), bare))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(page: &str) -> String {
        let mut out = Vec::new();
        expand(page.as_bytes(), 784_111_777, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_parsed_page_and_a_filled_page_are_equal_and_have_the_papers_size() {
        let (mut parsed, mut filled) = (Vec::new(), Vec::new());
        expand(&PARSED_PAGE, 784_111_777, &mut parsed);
        Templates::new().push(99, 784_111_777, &mut filled);
        assert_eq!(parsed, filled);
        assert_eq!(parsed.len(), 6_250);
        assert!(String::from_utf8(parsed).unwrap().contains("<p>Today is 1994-11-06.</p>"));
    }

    #[test]
    fn directives_are_replaced_and_all_other_text_stays() {
        for (page, shown) in [
            ("a<!--#echo var=\"DATE_LOCAL\" -->b", "aSunday, 06-Nov-1994 08:49:37 UTCb"),
            ("<!--#config timefmt=\"%d\"--><!--#echo  var = \"DATE_GMT\"-->", "06"),
            ("<!--#echo var=\"HOME\" -->", "(none)"),
            ("<!--#exec cmd=\"id\" -->", "[an error occurred while processing this directive]"),
            ("<!--#echo -->", "[an error occurred while processing this directive]"),
            ("<!--# -->", "[an error occurred while processing this directive]"),
            ("<!-- a comment --><!--", "<!-- a comment --><!--"),
            ("<!--#echo var=\"DATE_LOCAL\"", "<!--#echo var=\"DATE_LOCAL\""),
            ("<!--#<!--#config timefmt=\"%d\" -->", "[an error occurred while processing this directive]"),
            ("", ""),
        ] {
            assert_eq!(expanded(page), shown, "{page}");
        }
    }

    #[test]
    fn the_growth_of_a_page_is_limited() {
        let long = format!("<!--#config timefmt=\"{}\" -->", "%A".repeat(1_000));
        assert_eq!(expanded(&long), long, "a directive too long to be one");
        let many = "<!--#echo var=\"DATE_GMT\" -->".repeat(10_001);
        assert!(expanded(&many).ends_with("UTC<!--#echo var=\"DATE_GMT\" -->"));
    }

    proptest::proptest! {
        #[test]
        fn no_page_makes_the_parser_panic(page in "(<!--#|-->|echo |config |timefmt=|var=|\"|%|DATE_GMT|.){0,30}") {
            expanded(&page);
        }
    }
}
