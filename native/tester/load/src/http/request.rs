//! From the description of a request to what is sent and looked for.

use memchr::memmem;

use files::FileSet;

use super::escape::{Escape, FORM};
use super::file::FileRequest;
use super::look::{Finder, finder};
use super::people_view::Needs;
use super::spec::{Capture, Effect, FileSpec, Identity, Match, PersonSelector, RequestSpec, Statuses};
use super::target::{Target, is_header_name};
use super::template::Template;

/// A request that is described by its templates, or is for a file.
#[derive(Debug)]
pub struct Described {
    /// Its number among all requests of the engine.
    pub(super) id: usize,
    pub(super) effect: Effect,
    /// The person it is about, if any.
    pub(super) person: Option<PersonSelector>,
    pub(super) line: Line,
    pub(super) asks: Needs,
    pub(super) looks: Needs,
    pub(super) statuses: Box<[u16]>,
    pub(super) length: Option<u64>,
    pub(super) identity: Option<OwnerCheck>,
    pub(super) contains: Box<[Needle]>,
    pub(super) fresh: Box<[Needle]>,
    pub(super) capture: Option<CompiledCapture>,
    /// Present if it is for a file of a set. Of the fields above it then has only the number.
    pub(super) file: Option<FileRequest>,
}

#[derive(Debug, Default)]
pub(super) struct Line {
    /// HEAD: the answer has no body, whatever it says.
    pub(super) head_only: bool,
    /// Everything, or everything but Content-Length and the body.
    pub(super) head: Template,
    pub(super) body: Option<Template>,
}

/// A text to look for.
#[derive(Debug)]
pub(super) enum Needle {
    /// Always the same.
    Fixed(Finder),
    /// Another for each person; in HTML there are two ways to write some.
    Written(Template, Option<Template>),
}

/// Where an answer names the person it is about.
#[derive(Debug)]
pub(super) struct OwnerCheck {
    pub(super) before: Finder,
    pub(super) value: Template,
    pub(super) other: Option<Template>,
    pub(super) until: Finder,
}

/// See [`Capture`].
#[derive(Debug)]
pub(super) enum CompiledCapture {
    Cookie(Vec<u8>),
    Text { before: Finder, until: Finder },
}

impl Described {
    pub(super) fn new(
        id: usize,
        spec: &RequestSpec,
        target: &Target,
        has_visitors: bool,
    ) -> Result<Self, String> {
        let line = line(spec, target)?;
        let identity = spec
            .expect
            .identity
            .as_ref()
            .map(|spec_identity| identity(spec_identity, spec.matching))
            .transpose()?;
        let contains = needles(&spec.expect.contains, spec.matching)?;
        let fresh = needles(&spec.expect.fresh, spec.matching)?;
        let asks = || std::iter::once(&line.head).chain(&line.body);
        let looks = || {
            let needles = contains.iter().chain(&fresh).filter_map(Needle::template);
            needles.chain(identity.iter().map(|check| &check.value))
        };
        let (asks_needs, looks_needs) = (Needs::of(asks()), Needs::of(looks()));
        if !has_visitors && (asks_needs.visitors() || looks_needs.visitors()) {
            return Err(
                "it names properties of people, but the engine was started without visitors".to_owned()
            );
        }
        let names_a_person = asks().chain(looks()).flat_map(Template::fields).next().is_some();
        Ok(Self {
            id,
            effect: spec.effect,
            person: person(spec, names_a_person)?,
            asks: asks_needs,
            looks: looks_needs,
            statuses: statuses(&spec.expect.status)?,
            length: spec.expect.length,
            capture: spec.capture.as_ref().map(capture).transpose()?,
            line,
            identity,
            contains,
            fresh,
            file: None,
        })
    }

    /// A request for a file of a class.
    pub(super) fn file(
        id: usize,
        spec: &FileSpec,
        target: &Target,
        set: Option<&FileSet>,
    ) -> Result<Self, String> {
        Ok(Self {
            id,
            effect: Effect::Read,
            person: None,
            line: Line::default(),
            asks: Needs::default(),
            looks: Needs::default(),
            statuses: Box::from([200]),
            length: None,
            identity: None,
            contains: Box::default(),
            fresh: Box::default(),
            capture: None,
            file: Some(FileRequest::new(spec, target, set)?),
        })
    }

    /// Whether the answer's body is of interest.
    pub(super) fn reads_body(&self, verify: bool) -> bool {
        let looks = self.identity.is_some() || !self.contains.is_empty() || !self.fresh.is_empty();
        (verify && looks) || matches!(self.capture, Some(CompiledCapture::Text { .. }))
    }

    pub(super) fn accepts(&self, status: u16) -> bool {
        self.statuses.contains(&status)
    }
}

impl Needle {
    fn template(&self) -> Option<&Template> {
        match self {
            Self::Fixed(_) => None,
            Self::Written(template, _) => Some(template),
        }
    }
}

/// The person a request is about. The default depends on its effect; `None` if no template has a field.
fn person(spec: &RequestSpec, names_a_person: bool) -> Result<Option<PersonSelector>, String> {
    match (spec.effect, spec.person) {
        (Effect::Create, None | Some(PersonSelector::New)) => Ok(Some(PersonSelector::New)),
        (Effect::Create, _) => Err("a create is about \"new\": leave \"person\" out".to_owned()),
        (Effect::Update, None) => Ok(Some(PersonSelector::Own)),
        (Effect::Update, Some(PersonSelector::Random)) => {
            Err("an update is about \"own\", \"current\" or \"new\": others may be being updated".to_owned())
        }
        (Effect::Update, Some(person)) => Ok(Some(person)),
        // A picture belongs to no person: the lane's current person stays.
        (Effect::Read, _) if !names_a_person => Ok(None),
        (Effect::Read, person) => Ok(Some(person.unwrap_or(PersonSelector::Current))),
    }
}

fn statuses(expected: &Statuses) -> Result<Box<[u16]>, String> {
    let statuses = match expected {
        Statuses::One(status) => vec![*status],
        Statuses::Many(statuses) => statuses.clone(),
    };
    if statuses.is_empty() {
        return Err("no status is accepted: leave it out for 200, or give one or several".to_owned());
    }
    match statuses.iter().find(|status| !(200..600).contains(*status)) {
        Some(status) => Err(format!("{status} is no final status: use 200 to 599")),
        None => Ok(statuses.into()),
    }
}

/// Everything up to the body, and the body.
fn line(spec: &RequestSpec, target: &Target) -> Result<Line, String> {
    let RequestSpec { method, path, .. } = spec;
    if !method.bytes().all(|byte| byte.is_ascii_uppercase()) || method.is_empty() {
        return Err(format!("{method:?} is no method: use GET, POST or another in capitals"));
    }
    if !path.starts_with('/') || !path.bytes().all(|byte| byte > b' ' && byte != 0x7f) {
        return Err(format!("{path:?} is no path: begin with \"/\" and leave out spaces"));
    }
    let mut head = Template::default();
    head.push_text(&format!("{method} {}", target.base_path));
    head.push(path, Escape::Percent)?;
    head.push_text(&target.head_lines(spec.tls));
    for (name, value) in &spec.headers {
        if !is_header_name(name) || value.chars().any(char::is_control) {
            return Err(format!("{name:?}: {value:?} is no header line: leave out control characters"));
        }
        head.push_text(&format!("{name}: "));
        head.push(value, Escape::Line)?;
        head.push_text("\r\n");
    }
    let body = body(spec, &mut head)?;
    Ok(Line { head_only: method == "HEAD", head, body })
}

/// The body, unless it is always the same and part of the head.
fn body(spec: &RequestSpec, head: &mut Template) -> Result<Option<Template>, String> {
    let Some(text) = &spec.body else {
        // RFC 9110 section 8.6: methods that anticipate content say that there is none.
        let anticipates = matches!(spec.method.as_str(), "POST" | "PUT" | "PATCH");
        head.push_text(if anticipates { "Content-Length: 0\r\n\r\n" } else { "\r\n" });
        return Ok(None);
    };
    let kind = spec.content_type.as_deref().unwrap_or(FORM);
    if kind.chars().any(char::is_control) {
        return Err(format!("{kind:?} is no content type: leave out control characters"));
    }
    head.push_text(&format!("Content-Type: {kind}\r\nContent-Length: "));
    let how = match kind.split(';').next().unwrap_or_default().trim() {
        FORM => Escape::Percent,
        kind if kind.ends_with("json") => Escape::Json,
        _ => Escape::Plain,
    };
    let body = Template::read(text, how)?;
    Ok(match body.text() {
        Some(fixed) => {
            head.push_text(&format!("{}\r\n\r\n", fixed.len()));
            head.push_text(text);
            None
        }
        None => Some(body),
    })
}

/// How a text is written in an answer, and the other way if there are two.
fn written(text: &str, matching: Match) -> Result<(Template, Option<Template>), String> {
    let (how, other) = match matching {
        Match::Html => (Escape::Html, Some(Escape::HtmlNumeric)),
        Match::Json => (Escape::Json, None),
        Match::Plain => (Escape::Plain, None),
    };
    let other = other.map(|how| Template::read(text, how)).transpose()?;
    Ok((Template::read(text, how)?, other))
}

fn needles(texts: &[String], matching: Match) -> Result<Box<[Needle]>, String> {
    texts.iter().map(|text| needle(text, matching)).collect()
}

fn needle(text: &str, matching: Match) -> Result<Needle, String> {
    let (template, other) = written(text, matching)?;
    match template.text() {
        Some(b"") => Err("an empty text is in every answer: leave it out".to_owned()),
        Some(fixed) => Ok(Needle::Fixed(Box::new(memmem::Finder::new(fixed).into_owned()))),
        None => Ok(Needle::Written(template, other)),
    }
}

fn identity(identity: &Identity, matching: Match) -> Result<OwnerCheck, String> {
    let (value, other) = written(&identity.value, matching)?;
    if value.text().is_some() {
        return Err("\"identity\" is the same for every person: name a field in its \"value\"".to_owned());
    }
    Ok(OwnerCheck { before: finder(&identity.before)?, value, other, until: finder(&identity.until)? })
}

fn capture(capture: &Capture) -> Result<CompiledCapture, String> {
    Ok(match capture {
        Capture::Cookie { cookie } => CompiledCapture::Cookie(cookie.as_bytes().to_vec()),
        Capture::Text { before, until } => {
            CompiledCapture::Text { before: finder(before)?, until: finder(until)? }
        }
    })
}
