//! Compiles a step of a scenario to its request and its expectations.

use std::collections::BTreeSet;
use std::sync::Arc;

use memchr::memmem;
use scenario::{Body, Code, Escaped, Json, Named, Part, Request, Source, Step, Template};

use super::escape::{Escape, FORM, push};
use super::fill::{Fill, Filler, Site};
use super::search::{Finder, finder};
use super::target::{Target, is_header_name};
use crate::compile_error::{CompileError, Result};
use crate::fill::Text;
use crate::scripted::{Capture, about, captures, rest};

/// Header lines that the load generator writes itself.
const OWN: [&str; 4] = ["host", "connection", "content-length", "transfer-encoding"];

#[derive(Debug)]
pub struct Ask {
    /// The index of the scenario in the engine.
    pub(super) script: usize,
    /// The index of the operation; `None` for `[start]`.
    pub(super) operation: Option<usize>,
    pub(super) method: &'static str,
    /// The head up to the cookies.
    pub(super) head: Fill,
    /// The bytes after the cookies: up to the end, or up to Content-Length if there is a body to fill in.
    pub(super) tail: Vec<u8>,
    pub(super) body: Option<Fill>,
    pub(super) host: Host,
    /// The value of the Host header if redirects are followed, which must stay on this host.
    pub(super) follows: Option<Box<str>>,
    pub(super) keeps_cookies: bool,
    pub(super) sends_cookies: bool,
    /// Places of values without which the request is not sent.
    pub(super) needs: Vec<usize>,
    /// Sources of owned rows that the request's texts contain.
    pub(super) owned: Vec<usize>,
    pub(super) statuses: Statuses,
    pub(super) length: Option<u64>,
    pub(super) headers: Vec<(String, Fill)>,
    pub(super) identity: Option<Owner>,
    pub(super) contains: Vec<Needle>,
    pub(super) fresh: Vec<Needle>,
    pub(super) captures: Vec<Capture<From>>,
    /// The request line as it may be shown.
    pub(super) shown: Text,
    pub(super) rest: Text,
    /// Secrets to hide in output, with the names that replace them.
    pub(super) secrets: Vec<(String, Text)>,
    /// Whether all further steps depend on its success.
    pub(super) fatal: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) name: Arc<str>,
    /// The index of the host among the target's hosts, for cookies.
    pub(super) number: usize,
    pub(super) secure: bool,
    pub(super) encrypted: bool,
}

#[derive(Debug)]
pub(super) enum Statuses {
    /// 200 to 299.
    Success,
    Any(Vec<Status>),
}

#[derive(Debug)]
pub(super) enum Status {
    Code(u16),
    Named(Text),
}

/// A text to search for in an answer.
#[derive(Debug)]
pub(super) enum Needle {
    /// A text without fields.
    Fixed(Finder),
    /// A text with fields. In HTML the second form has another escape of the same characters.
    Written(Fill, Option<Fill>),
}

/// The place in an answer that names the page's person.
#[derive(Debug)]
pub(super) struct Owner {
    pub(super) before: Finder,
    pub(super) value: Fill,
    pub(super) other: Option<Fill>,
    pub(super) until: Finder,
}

/// The place of a captured value in an answer.
#[derive(Debug)]
pub(super) enum From {
    Cookie(Vec<u8>),
    Header(Vec<u8>),
    Json(String),
    Between { before: Finder, until: Finder },
}

impl From {
    const fn is_in_body(&self) -> bool {
        matches!(self, Self::Json(_) | Self::Between { .. })
    }

    fn new(source: &Source) -> Result<Self> {
        Ok(match source {
            Source::Cookie(name) => Self::Cookie(name.clone().into_bytes()),
            Source::Header(name) => Self::Header(name.clone().into_bytes()),
            Source::Json(pointer) => Self::Json(pointer.clone()),
            Source::Between(before, until) => {
                Self::Between { before: finder(before)?, until: finder(until)? }
            }
            Source::Attribute(_) => return Err("captures what HTTP has not".into()),
        })
    }
}

impl Ask {
    /// Whether the answer's body has to be read.
    pub(super) fn reads_body(&self, verify: bool) -> bool {
        let looks = self.identity.is_some() || !self.contains.is_empty() || !self.fresh.is_empty();
        (verify && looks) || self.captures.iter().any(|capture| capture.from.is_in_body())
    }

    /// Whether the request may change the site: all methods that HTTP does not call safe (RFC 9110 section
    /// 9.2.1).
    pub(super) fn writes(&self) -> bool {
        !matches!(self.method, "GET" | "HEAD")
    }

    /// Compiles a request of a block; `common` are header lines of the whole file.
    pub(super) fn new(
        script: usize,
        site: Site<'_>,
        (step, request): (&Step, &Request),
        common: &[Named],
        (target, host, keeps_cookies): (&Target, Host, bool),
    ) -> Result<Self> {
        let is_own = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let (rest, secrets_of_rest) = rest(step, common);
        let rest = site.plan.shown(&rest, site.block, true)?;
        let common = common.iter().filter(|(name, _)| !is_own(name));
        let headers: Vec<_> = common.chain(&request.headers).collect();
        let has = |name: &str| headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let mut head = Fill::default();
        head.push_text(format!("{} {}", request.method, target.base_path).as_bytes());
        head_path(&mut head, site, &request.path)?;
        head.push_text(target.head_lines(host.secure).as_bytes());
        for (name, value) in &headers {
            check_header(name)?;
            head.push_text(format!("{name}: ").as_bytes());
            head.push(site, value, Escape::Line)?;
            head.push_text(b"\r\n");
        }
        let (tail, body) = body(site, request, has("Content-Type"))?;
        let looks = Looks { site, how: request.escaped };
        let expect = &step.expect;
        let identity = expect.identity.as_ref().map(|identity| looks.owner(identity)).transpose()?;
        let (contains, fresh) = (looks.needles(&expect.contains)?, looks.needles(&expect.fresh)?);
        let header = |(name, value): &Named| Ok((name.clone(), Fill::of(site, value, Escape::Plain)?));
        let headers_expected = expect.headers.iter().map(header).collect::<Result<Vec<_>>>()?;
        let statuses = statuses(site, request.method, &expect.statuses)?;

        let searched = contains.iter().chain(&fresh).filter_map(Needle::fill);
        let searched = searched.chain(identity.iter().map(|owner| &owner.value));
        let searched = searched.chain(headers_expected.iter().map(|(_, value)| value));
        let fills: Vec<&Fill> = [&head].into_iter().chain(&body).chain(searched).collect();
        let values = || fills.iter().copied().flat_map(Fill::values);
        let needs = site.plan.needs(values());
        let people = fills.iter().copied().flat_map(Fill::people);
        let owned = people.chain(values().flat_map(|text| site.plan.sources_of(text)));
        let owned: BTreeSet<_> = owned.filter(|source| site.plan.is_owned(*source)).collect();
        let mut secrets: Vec<_> = values().flat_map(|text| site.plan.secrets_in(text, true)).collect();
        secrets.extend(site.plan.environment());
        let (path, told_of_path) = about(&step.verb, &request.path);
        let own = secrets_of_rest.into_iter().chain(told_of_path);
        secrets.extend(own.map(|secret| ("{secret}".to_owned(), Text::fixed(secret.into_bytes()))));
        let mut shown =
            Template { parts: vec![Part::Text(format!("{} {}", request.method, target.base_path))] };
        shown.parts.extend(path.parts);
        Ok(Self {
            script,
            operation: site.block.operation,
            rest,
            method: request.method,
            shown: site.plan.shown(&shown, site.block, true)?,
            tail,
            follows: request.follow.then(|| target.authority(host.secure).into()),
            host,
            keeps_cookies,
            sends_cookies: keeps_cookies && !has("Cookie"),
            needs,
            owned: owned.into_iter().collect(),
            secrets,
            statuses,
            length: expect.length,
            captures: captures(site.plan, site.block, &step.captures, From::new)?,
            // All operations of a user depend on the steps of `[start]`.
            fatal: site.block.operation.is_none(),
            headers: headers_expected,
            head,
            body,
            identity,
            contains,
            fresh,
        })
    }
}

/// Refuses a header line that the load generator writes itself.
pub(super) fn check_header(name: &str) -> Result<()> {
    if OWN.iter().any(|own| name.eq_ignore_ascii_case(own)) || !is_header_name(name) {
        return Err(format!("the tester itself writes the header {name}: leave it out").into());
    }
    Ok(())
}

/// Appends a path, which may consist of one column.
fn head_path(head: &mut Fill, site: Site<'_>, path: &Template) -> Result<()> {
    let Some(field) = path.only_field() else { return head.push(site, path, Escape::Percent) };
    let text = site.plan.checked(path, site.block, is_path)?;
    match text.literal() {
        Some(literal) => {
            is_path(literal).map_err(|problem| CompileError::from(format!("{field} {problem}")).of(path))?;
            head.push_text(literal);
        }
        None => head.push_value(text),
    }
    Ok(())
}

pub(super) fn is_path(text: &[u8]) -> Result<(), String> {
    if !text.starts_with(b"/") {
        return Err("is no path: it does not begin with /".to_owned());
    }
    match text.iter().find(|byte| !byte.is_ascii_graphic() || **byte == b'#') {
        Some(byte) => Err(format!("is no path: write {:?} as %{byte:02X}", char::from(*byte))),
        None => Ok(()),
    }
}

/// The bytes after the cookies, and the body if it has to be filled in.
fn body(site: Site<'_>, request: &Request, has_type: bool) -> Result<(Vec<u8>, Option<Fill>)> {
    let Some(body) = &request.body else {
        // RFC 9110 section 8.6: methods that anticipate content state its absence.
        let anticipates = matches!(request.method, "POST" | "PUT" | "PATCH");
        return Ok((
            if anticipates { b"Content-Length: 0\r\n\r\n" as &[u8] } else { b"\r\n" }.to_vec(),
            None,
        ));
    };
    let mut fill = Fill::default();
    let kind = match body {
        Body::Form(fields) => {
            for (number, (name, value)) in fields.iter().enumerate() {
                let mut before = if number > 0 { b"&".to_vec() } else { Vec::new() };
                push(&mut before, name.as_bytes(), Escape::Percent);
                before.push(b'=');
                fill.push_text(&before);
                push_escaped(&mut fill, site, value, Escape::Percent)?;
            }
            FORM
        }
        Body::Json(json) => {
            push_json(&mut fill, site, json)?;
            "application/json"
        }
        Body::Text(text, kind) => {
            let kind = kind.as_deref().unwrap_or(FORM);
            let how = match kind.split(';').next().unwrap_or_default().trim() {
                FORM => Escape::Percent,
                kind if kind.ends_with("json") => Escape::Json,
                _ => Escape::Plain,
            };
            fill.push(site, text, how)?;
            kind
        }
    };
    let mut tail = if has_type { Vec::new() } else { format!("Content-Type: {kind}\r\n").into_bytes() };
    tail.extend_from_slice(b"Content-Length: ");
    if let Some(fixed) = fill.literal() {
        tail.extend_from_slice(format!("{}\r\n\r\n", fixed.len()).as_bytes());
        tail.extend_from_slice(fixed);
        return Ok((tail, None));
    }
    Ok((tail, Some(fill)))
}

/// Appends a value in a form or in JSON. Its literal text is escaped, too.
fn push_escaped(fill: &mut Fill, site: Site<'_>, value: &Template, how: Escape) -> Result<()> {
    for part in &value.parts {
        match part {
            Part::Text(text) => {
                let mut escaped = Vec::new();
                push(&mut escaped, text.as_bytes(), how);
                fill.push_text(&escaped);
            }
            Part::Field(field) => fill.push_field(site, field, how).map_err(|error| error.of(value))?,
        }
    }
    Ok(())
}

fn push_json(fill: &mut Fill, site: Site<'_>, json: &Json) -> Result<()> {
    let quoted = |fill: &mut Fill, text: &Template| {
        fill.push_text(b"\"");
        push_escaped(fill, site, text, Escape::Json)?;
        fill.push_text(b"\"");
        Ok(())
    };
    match json {
        Json::Text(text) => quoted(fill, text),
        Json::Literal(literal) => {
            fill.push_text(literal.as_bytes());
            Ok(())
        }
        Json::List(list) => {
            fill.push_text(b"[");
            for (number, item) in list.iter().enumerate() {
                fill.push_text(if number > 0 { b"," } else { b"" });
                push_json(fill, site, item)?;
            }
            fill.push_text(b"]");
            Ok(())
        }
        Json::Object(fields) => {
            fill.push_text(b"{");
            for (number, (name, item)) in fields.iter().enumerate() {
                fill.push_text(if number > 0 { b"," } else { b"" });
                quoted(fill, &Template { parts: vec![Part::Text(name.clone())] })?;
                fill.push_text(b":");
                push_json(fill, site, item)?;
            }
            fill.push_text(b"}");
            Ok(())
        }
    }
}

fn statuses(site: Site<'_>, method: &str, codes: &[Code]) -> Result<Statuses> {
    if codes.is_empty() {
        // For GET and HEAD an answer without content (202, 204) is not the page.
        let page = matches!(method, "GET" | "HEAD");
        return Ok(if page { Statuses::Any(vec![Status::Code(200)]) } else { Statuses::Success });
    }
    let is_status = |number: u32| u16::try_from(number).ok().filter(|number| (200..600).contains(number));
    let code = |code: &Code| match code {
        Code::Number(number) => {
            let status =
                is_status(*number).ok_or_else(|| format!("{number} is no final status: use 200 to 599"));
            Ok(Status::Code(status?))
        }
        Code::Field(template) => {
            let text = site.plan.checked(template, site.block, |cell| {
                let number = std::str::from_utf8(cell).ok().and_then(|cell| cell.parse().ok());
                number
                    .and_then(is_status)
                    .map(|_| ())
                    .ok_or_else(|| "is no status: use 200 to 599".to_owned())
            })?;
            Ok(Status::Named(text))
        }
    };
    Ok(Statuses::Any(codes.iter().map(code).collect::<Result<_>>()?))
}

/// The texts to search for, with their escape.
#[derive(Clone, Copy)]
struct Looks<'p> {
    site: Site<'p>,
    how: Escaped,
}

impl Looks<'_> {
    /// The text as answers contain it, and its alternative form if it has two.
    fn written(self, text: &Template) -> Result<(Fill, Option<Fill>)> {
        let (how, other) = match self.how {
            Escaped::Html => (Escape::Html, Some(Escape::HtmlNumeric)),
            Escaped::Json => (Escape::Json, None),
            Escaped::Plain => (Escape::Plain, None),
        };
        let other = other.map(|how| Fill::of(self.site, text, how)).transpose()?;
        Ok((Fill::of(self.site, text, how)?, other))
    }

    fn needles(self, texts: &[Template]) -> Result<Vec<Needle>> {
        let needle = |text: &Template| {
            let (fill, other) = self.written(text)?;
            match fill.literal() {
                Some(b"") => Err("an empty text is in every answer: leave it out".into()),
                Some(fixed) => Ok(Needle::Fixed(Box::new(memmem::Finder::new(fixed).into_owned()))),
                None => Ok(Needle::Written(fill, other)),
            }
        };
        texts.iter().map(needle).collect()
    }

    fn owner(self, identity: &scenario::Identity) -> Result<Owner> {
        let (value, other) = self.written(&identity.value)?;
        if value.literal().is_some() {
            return Err("\"identity\" is the same for everyone: name a field in its \"value\"".into());
        }
        Ok(Owner { before: finder(&identity.before)?, value, other, until: finder(&identity.until)? })
    }
}

impl Owner {
    /// Appends the searched text with the person's value.
    pub(super) fn write(&self, filler: &mut Filler<'_>, out: &mut Vec<u8>) {
        out.extend_from_slice(self.before.needle());
        filler.write(&self.value, out);
    }
}

impl Needle {
    /// Appends the searched text.
    pub(super) fn write(&self, filler: &mut Filler<'_>, out: &mut Vec<u8>) {
        match self {
            Self::Fixed(finder) => out.extend_from_slice(finder.needle()),
            Self::Written(fill, _) => drop(filler.write(fill, out)),
        }
    }

    const fn fill(&self) -> Option<&Fill> {
        match self {
            Self::Fixed(_) => None,
            Self::Written(fill, _) => Some(fill),
        }
    }
}
