//! From a step of a scenario to what is sent for it.

use std::sync::Arc;
use std::time::Duration;

use scenario::{
    Block, Change, ChangeKind, Code, Control, Count, Deref, Encoding, Entry, Part, Sasl, Search, Secrecy,
    Step, Take, Template, Value, Verb,
};
use wire::ber::{self, tag};
use wire::dn::{Dn, escape_value};
use wire::ldap::control::PagedResults;
use wire::ldap::request::{self as write, SearchOptions};
use wire::ldap::{ResultCode, filter_text, oid, op};

use super::super::frame::Frame;
use super::super::verify::ExpectedAttributes;
use crate::fill::{Plan, Text};
use crate::scripted::{self, Preparation, rest};

/// RFC 3062.
const PASSWORD_MODIFY: &[u8] = b"1.3.6.1.4.1.4203.1.11.1";

/// What a bind is described as.
pub(super) const BIND: &str = "bind as";

/// Captures of one step.
const MOST_CAPTURES: usize = 64;

/// A compiled step.
#[derive(Debug, PartialEq)]
pub struct Ask {
    /// Which of the engine's scenarios it is of.
    pub(super) script: usize,
    /// The operation that it stands in; `None` for `[start]`.
    pub(super) operation: Option<usize>,
    /// What is chosen right before it, where it is all that follows: an op less.
    pub(in super::super) first: Option<Arc<Preparation>>,
    pub(super) verb: &'static str,
    pub(super) response: u8,
    /// Whether it must not be sent again where no answer came: a change, or a bind, as each try with a wrong password
    /// counts.
    pub(super) changes: bool,
    pub(super) frame: Frame,
    pub(super) fields: Vec<Field>,
    /// What it is about, for people, and what else is sent.
    pub(super) shown: Text,
    pub(super) rest: Text,
    /// Values of it that people must not see, with their names.
    pub(super) secrets: Vec<(String, Field)>,
    pub(super) expects: Expects,
    pub(super) captures: Vec<Capture>,
    /// Values without which it is not sent, and entries that must be the operation's own.
    pub(super) needs: Vec<usize>,
    /// Where it is kept that it has added an entry.
    pub(super) owns: Option<usize>,
    /// Whose entry it adds as it is, if it adds a person and has no controls.
    pub(super) enters: Option<Enters>,
    /// Attributes that it changes.
    pub(super) changed: Vec<String>,
    /// How many entries a page has, of a search that is read in pages; its cookie is a field after the others.
    pub(super) page_size: Option<u32>,
    /// Whether all that follows depends on it.
    pub(super) fatal: bool,
}

/// A person of a population who is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Enters {
    pub(super) source: usize,
    pub(super) added: bool,
}

/// What fills a place of a frame.
#[derive(Debug, PartialEq)]
pub struct Field {
    pub(super) text: Text,
    pub(super) becomes: Becomes,
}

/// What a text becomes in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Becomes {
    /// Its bytes.
    Itself,
    /// A value in a DN (RFC 4514).
    DnValue,
    /// The name of the person that the answer must be, whose DN is remembered: both are made at once.
    Name { source: usize, added: bool },
    /// A whole filter (RFC 4515), encoded.
    Filter,
    /// UTF-16LE, as unicodePwd has it.
    Utf16,
    /// The bytes that it stands for in base64.
    Base64,
    /// The bytes that it stands for in hexadecimal digits.
    Hex,
}

/// What an answer must be.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Expects {
    /// Any of them.
    pub(super) codes: Vec<Expected>,
    pub(super) entries: Option<Count>,
    /// Values that the one entry must have, among others.
    pub(super) values: Vec<Wanted>,
    /// What each returned attribute must be, where it is a column.
    pub(super) row: Vec<(String, Text)>,
    /// The parts of its DN.
    pub(super) dn: Option<Vec<Field>>,
    /// The person that an entry must be, with all that is asked of them.
    pub(super) person: Option<(Whom, ExpectedAttributes)>,
    /// Entries that the search asks for at most; 0 for any number.
    pub(super) size_limit: u32,
}

/// Which person an entry must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whom {
    /// The only entry is that of the row drawn.
    Row { source: usize, added: bool },
    /// Each entry is of the population.
    Anyone,
}

/// A value that an entry must have.
#[derive(Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) attribute: String,
    pub(super) value: Field,
    /// Whether every bit of it matters: bytes, and not a text.
    pub(super) exact: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Expected {
    Code(ResultCode),
    Named(Text),
}

/// What is remembered of an answer.
#[derive(Debug, PartialEq)]
pub(super) struct Capture {
    pub(super) place: usize,
    /// An attribute, or `dn`.
    pub(super) attribute: String,
    pub(super) take: Take,
    pub(super) default: Option<Vec<Vec<u8>>>,
}

/// What a request is written with.
struct Writing<'p> {
    plan: &'p Plan,
    block: &'p Block,
    fields: Vec<Field>,
    controls: Vec<Controlled>,
    page_size: Option<u32>,
}

/// A control, as it is written.
struct Controlled {
    oid: String,
    critical: bool,
    value: Option<ControlValue>,
}

/// The value of a control.
enum ControlValue {
    Plain(Pieces),
    Assertion(FilterPieces),
}

/// A filter with fields.
struct FilterPieces {
    pieces: Pieces,
    /// Whether a field is all of it.
    whole: bool,
}

impl FilterPieces {
    /// The filter, given the bytes of its fields.
    fn encoded(&self, fields: &[&[u8]]) -> Result<Vec<u8>, String> {
        if self.whole {
            return Ok(joined(&self.pieces, fields));
        }
        // Escaped in full, a field's bytes are a value whatever they are; the reader unescapes them.
        let escape = |piece: &Piece| match piece {
            Piece::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Piece::Field(number) => fields[*number].iter().map(|byte| format!("\\{byte:02x}")).collect(),
        };
        let text: String = self.pieces.iter().map(escape).collect();
        let mut out = Vec::new();
        filter_text::parse(&text, &mut out).map(|()| out).map_err(|error| error.to_string())
    }
}

/// A text whose fields have their numbers.
#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    Field(usize),
}

type Pieces = Vec<Piece>;

/// The bytes of a text, given those of its fields.
fn joined(pieces: &Pieces, fields: &[&[u8]]) -> Vec<u8> {
    let of = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Field(number) => fields[*number].to_vec(),
    };
    pieces.iter().flat_map(of).collect()
}

impl Writing<'_> {
    /// Adds a field; returns its number.
    fn add(&mut self, text: Text, becomes: Becomes) -> usize {
        let field = Field { text, becomes };
        self.fields.iter().position(|known| *known == field).unwrap_or_else(|| {
            self.fields.push(field);
            self.fields.len() - 1
        })
    }

    fn pieces(
        &mut self,
        template: &Template,
        is_dn: bool,
        mut becomes: impl FnMut() -> Becomes,
    ) -> Result<Pieces, String> {
        let mut pieces = Vec::new();
        for part in &template.parts {
            pieces.push(match part {
                Part::Text(text) => Piece::Text(text.as_bytes().to_vec()),
                Part::Field(field) => {
                    let (text, becomes) = (self.plan.field(field, self.block)?, becomes());
                    if is_dn && becomes == Becomes::Itself {
                        self.plan.check_cells(&text, |cell| {
                            Dn::parse(cell).map(|_| ()).map_err(|_| "is no name (RFC 4514)".to_owned())
                        })?;
                    }
                    match text.literal() {
                        // What is the same for all lanes needs no field.
                        Some(literal) if becomes == Becomes::Itself => Piece::Text(literal.to_vec()),
                        Some(literal) if becomes == Becomes::DnValue => {
                            let mut escaped = Vec::new();
                            escape_value(literal, &mut escaped);
                            Piece::Text(escaped)
                        }
                        _ => Piece::Field(self.add(text, becomes)),
                    }
                }
            });
        }
        Ok(pieces)
    }

    fn plain(&mut self, template: &Template) -> Result<Pieces, String> {
        self.pieces(template, false, || Becomes::Itself)
    }

    fn dn(&mut self, template: &Template) -> Result<Pieces, String> {
        let mut names = scenario::stand_for_names(template).into_iter();
        self.pieces(template, true, || match names.next() {
            Some(true) => Becomes::Itself,
            _ => Becomes::DnValue,
        })
    }

    fn value(&mut self, value: &Value) -> Result<Pieces, String> {
        if value.encoding == Encoding::Text {
            return self.plain(&value.text);
        }
        let Field { text, becomes } = bytes_of(self.plan, self.block, value)?;
        Ok(vec![match (text.literal(), becomes) {
            (Some(literal), Becomes::Itself) => Piece::Text(literal.to_vec()),
            _ => Piece::Field(self.add(text, becomes)),
        }])
    }

    fn attributes(
        &mut self,
        attributes: &[(String, Vec<Value>)],
    ) -> Result<Vec<(String, Vec<Pieces>)>, String> {
        let of = |(name, values): &(String, Vec<Value>)| {
            let values = values.iter().map(|value| self.value(value)).collect::<Result<Vec<_>, String>>()?;
            Ok((name.clone(), values))
        };
        attributes.iter().map(of).collect()
    }

    /// Attributes of an entry that are written out, or that are the columns of a row.
    fn entry(&mut self, entry: &Entry) -> Result<Vec<(String, Vec<Pieces>)>, String> {
        match entry {
            Entry::Attributes(attributes) => self.attributes(attributes),
            Entry::Row(data) => {
                let source = self.plan.source(data)?;
                let columns = self.plan.columns(source);
                let columns: Vec<_> = columns.map(|(name, text)| (name.to_owned(), text)).collect();
                let columns = columns.into_iter().filter(|(name, _)| name != "dn");
                let column = |(name, text)| (name, vec![vec![Piece::Field(self.add(text, Becomes::Itself))]]);
                Ok(columns.map(column).collect())
            }
        }
    }

    /// A filter: its text with fields in it, as the reader of filters has to see them.
    fn filter(&mut self, template: &Template) -> Result<FilterPieces, String> {
        if template.only_field().is_some() {
            let text = self.plan.text(template, self.block)?;
            self.plan.check_cells(&text, |cell| {
                let text = std::str::from_utf8(cell).map_err(|error| error.to_string())?;
                if text.to_lowercase().contains("sttl") {
                    return Err("prolongs an entry, which a search of the file itself has to say".to_owned());
                }
                filter_text::parse(text, &mut Vec::new()).map_err(|error| error.to_string())
            })?;
            let pieces = vec![Piece::Field(self.add(text, Becomes::Filter))];
            return Ok(FilterPieces { pieces, whole: true });
        }
        let filter = FilterPieces { pieces: self.plain(template)?, whole: false };
        filter
            .encoded(&vec![&b"x"[..]; self.fields.len()])
            .map_err(|error| format!("the filter: {error}"))?;
        Ok(filter)
    }

    /// Takes controls that requests are to have.
    fn add_controls(&mut self, controls: &[Control]) -> Result<(), String> {
        for control in controls {
            let value = match control {
                Control::Sort(keys) => {
                    let mut value = Vec::new();
                    // RFC 2891 section 1.1.
                    ber::write_nested(&mut value, tag::SEQUENCE, |out| {
                        for key in keys {
                            ber::write_nested(out, tag::SEQUENCE, |out| {
                                ber::write_octets(out, key.attribute.as_bytes());
                                if key.reverse {
                                    ber::write_element(out, tag::context(1), &[0xff]);
                                }
                            });
                        }
                    });
                    Some(ControlValue::Plain(vec![Piece::Text(value)]))
                }
                Control::ProxiedAuthorization(who) => Some(ControlValue::Plain(self.authorization(who)?)),
                Control::Assertion(filter) => Some(ControlValue::Assertion(self.filter(filter)?)),
                Control::PreRead(names) | Control::PostRead(names) => {
                    let mut value = Vec::new();
                    ber::write_nested(&mut value, tag::SEQUENCE, |out| {
                        names.iter().for_each(|name| ber::write_octets(out, name.as_bytes()));
                    });
                    Some(ControlValue::Plain(vec![Piece::Text(value)]))
                }
                Control::Subentries => {
                    // The visibility (RFC 3672 section 3).
                    let mut value = Vec::new();
                    ber::write_boolean(&mut value, true);
                    Some(ControlValue::Plain(vec![Piece::Text(value)]))
                }
                Control::Other { value, .. } => {
                    value.as_ref().map(|value| self.value(value)).transpose()?.map(ControlValue::Plain)
                }
                Control::ManageDsaIt
                | Control::PermissiveModify
                | Control::SubtreeDelete
                | Control::PasswordPolicy => None,
            };
            let (oid, critical) = (control.oid().to_owned(), control.is_critical());
            self.controls.push(Controlled { oid, critical, value });
        }
        Ok(())
    }

    /// Whose rights hold: `dn:` and a name, or `u:` and a text.
    fn authorization(&mut self, who: &Template) -> Result<Pieces, String> {
        if let Some((Part::Text(first), others)) = who.parts.split_first()
            && let Some(name) = first.strip_prefix("dn:")
        {
            let first = (!name.is_empty()).then(|| Part::Text(name.to_owned()));
            let dn = Template { parts: first.into_iter().chain(others.iter().cloned()).collect() };
            let mut pieces = vec![Piece::Text(b"dn:".to_vec())];
            pieces.extend(self.dn(&dn)?);
            return Ok(pieces);
        }
        if who.only_field().is_some() {
            let text = self.plan.text(who, self.block)?;
            self.plan.check_cells(&text, |cell| {
                let right = match cell.strip_prefix(b"dn:") {
                    Some(dn) => Dn::parse(dn).is_ok(),
                    None => cell.is_empty() || cell.starts_with(b"u:"),
                };
                right.then_some(()).ok_or_else(|| "is no identity, such as u:ann (RFC 4513)".to_owned())
            })?;
        }
        self.plain(who)
    }

    fn frame(&self, write: impl Fn(&mut Vec<u8>, i32, &[&[u8]])) -> Result<Frame, String> {
        let with_controls =
            |out: &mut Vec<u8>, id: i32, fields: &[&[u8]]| {
                let start = out.len();
                write(out, id, fields);
                let value = |controlled: &Controlled| match controlled.value.as_ref()? {
                    ControlValue::Plain(pieces) => Some(joined(pieces, fields)),
                    ControlValue::Assertion(filter) => Some(filter.encoded(fields).unwrap_or_default()),
                };
                let values: Vec<_> = self.controls.iter().map(value).collect();
                let controls = self.controls.iter().zip(&values);
                let controls = controls.map(|(Controlled { oid, critical, .. }, value)| {
                    wire::ldap::Control { oid: oid.as_bytes(), critical: *critical, value: value.as_deref() }
                });
                let mut controls: Vec<_> = controls.collect();
                let mut page = Vec::new();
                if let (Some(size), Some(cookie)) = (self.page_size, fields.last()) {
                    PagedResults { size: i64::from(size), cookie }.encode(&mut page);
                    let oid = oid::PAGED_RESULTS;
                    controls.push(wire::ldap::Control { oid, critical: true, value: Some(&page) });
                }
                if !controls.is_empty() {
                    // What was written is a message.
                    let _ = write::add_controls(out, start, &controls);
                }
            };
        Frame::new(self.fields.len() + usize::from(self.page_size.is_some()), with_controls)
            .ok_or_else(|| "the request has 16 MiB or more".to_owned())
    }

    fn search(&mut self, search: &Search) -> Result<Frame, String> {
        let scope = match search.scope {
            scenario::Scope::Base => wire::ldap::Scope::Base,
            scenario::Scope::One => wire::ldap::Scope::One,
            scenario::Scope::Sub => wire::ldap::Scope::Subtree,
            scenario::Scope::Children => wire::ldap::Scope::Children,
        };
        let dereference = match search.deref {
            Deref::Never => 0,
            Deref::Searching => 1,
            Deref::Finding => 2,
            Deref::Always => 3,
        };
        self.page_size = search.page_size;
        let options = SearchOptions {
            scope,
            size_limit: search.size_limit,
            time_limit_s: whole_seconds(search.time_limit),
            types_only: search.types_only,
            dereference,
        };
        let (base, filter) = (self.dn(&search.base)?, self.filter(&search.filter)?);
        self.frame(|out, id, fields| {
            let base = joined(&base, fields);
            let filter =
                |out: &mut Vec<u8>| out.extend_from_slice(&filter.encoded(fields).unwrap_or_default());
            write::write_search(
                out,
                id,
                &base,
                &options,
                filter,
                search.attributes.iter().map(String::as_bytes),
            );
        })
    }
}

/// What a value in another encoding is made of.
fn bytes_of(plan: &Plan, block: &Block, value: &Value) -> Result<Field, String> {
    let becomes = match value.encoding {
        Encoding::File => {
            let bytes = plan.file(value.text.literal().unwrap_or_default())?;
            return Ok(Field { text: Text::fixed(bytes.to_vec()), becomes: Becomes::Itself });
        }
        Encoding::Text => Becomes::Itself,
        Encoding::Utf16 => Becomes::Utf16,
        Encoding::Base64 => Becomes::Base64,
        Encoding::Hex => Becomes::Hex,
    };
    let decode = |text: &[u8]| value.encoding.decode(text);
    let text = plan.text(&value.text, block)?;
    if let Some(literal) = text.literal() {
        let bytes = decode(literal).ok_or("a value does not decode")?;
        return Ok(Field { text: Text::fixed(bytes), becomes: Becomes::Itself });
    }
    if becomes != Becomes::Utf16 {
        plan.check_cells(&text, |cell| {
            let wrong = || {
                format!("is not in {}", if becomes == Becomes::Hex { "hexadecimal digits" } else { "base64" })
            };
            decode(cell).map(|_| ()).ok_or_else(wrong)
        })?;
    }
    Ok(Field { text, becomes })
}

/// In seconds, the next whole one: none at all would mean another thing.
fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}

/// The name and password of a bind.
pub(super) struct Bind<'s> {
    pub(super) name: &'s Template,
    pub(super) password: Option<&'s Template>,
    pub(super) sasl: Option<Sasl>,
    pub(super) version: u8,
    pub(super) controls: &'s [Control],
}

impl Ask {
    /// The tag of the answer that ends it.
    pub(in super::super) const fn response(&self) -> u8 {
        self.response
    }

    pub(in super::super) fn changed(&self) -> &[String] {
        &self.changed
    }

    pub(in super::super) const fn has_pages(&self) -> bool {
        self.page_size.is_some()
    }

    pub(in super::super) const fn is_fatal(&self) -> bool {
        self.fatal
    }

    pub(in super::super) const fn is_search(&self) -> bool {
        self.response == op::SEARCH_DONE
    }

    /// Compiles a step that stands in a block.
    pub(super) fn new(script: usize, plan: &Plan, block: &Block, step: &Step) -> Result<Self, String> {
        let mut writing = Writing { plan, block, fields: Vec::new(), controls: Vec::new(), page_size: None };
        writing.add_controls(&step.controls)?;
        let mut about = &Template::default();
        let (verb, response, frame) = match &step.verb {
            Verb::Bind { bind, password, sasl, version } => {
                let bind = Bind {
                    name: bind,
                    password: password.as_ref(),
                    sasl: *sasl,
                    version: *version,
                    controls: &step.controls,
                };
                return Self::bind(script, plan, block, &bind)?.counted(plan, block, step);
            }
            Verb::Search(search) => {
                about = &search.filter;
                ("search", op::SEARCH_DONE, writing.search(search)?)
            }
            Verb::Compare { dn, entry } => {
                about = dn;
                let dn = writing.dn(dn)?;
                let mut entry = writing.entry(entry)?;
                let (Some((name, mut values)), true) = (entry.pop(), entry.is_empty()) else {
                    return Err("compares one attribute at a time".to_owned());
                };
                let value = values.pop().unwrap_or_default();
                let frame = writing.frame(|out, id, fields| {
                    let (dn, value) = (joined(&dn, fields), joined(&value, fields));
                    write::write_compare(out, id, &dn, name.as_bytes(), &value);
                })?;
                ("compare", op::COMPARE_RESPONSE, frame)
            }
            Verb::Add { dn, entry: Entry::Row(data), .. } if plan.is_people(data) => {
                if dn.only_field() != Some(&scenario::Field::Column(data.clone(), "dn".to_owned())) {
                    return Err(format!("people have their own names: add {{{data}.dn}}"));
                }
                about = dn;
                let (dn, entry) = (writing.dn(dn)?, writing.add(plan.entry(data)?, Becomes::Itself));
                let frame = writing.frame(|out, id, fields| {
                    write::write_add(out, id, &joined(&dn, fields), |out| {
                        out.extend_from_slice(fields[entry])
                    });
                })?;
                ("add", op::ADD_RESPONSE, frame)
            }
            Verb::Add { dn, entry, .. } => {
                about = dn;
                let (dn, entry) = (writing.dn(dn)?, writing.entry(entry)?);
                let frame = writing.frame(|out, id, fields| {
                    write::write_add(out, id, &joined(&dn, fields), |out| {
                        ber::write_nested(out, tag::SEQUENCE, |out| {
                            for (name, values) in &entry {
                                let values: Vec<_> =
                                    values.iter().map(|value| joined(value, fields)).collect();
                                let values = values.iter().map(Vec::as_slice);
                                write::write_attribute(out, name.as_bytes(), values);
                            }
                        });
                    });
                })?;
                ("add", op::ADD_RESPONSE, frame)
            }
            Verb::Modify { dn, changes } => {
                about = dn;
                let dn = writing.dn(dn)?;
                let change = |Change { kind, attribute, values }: &Change| {
                    let values = values.iter().map(|value| writing.value(value));
                    let number: u8 = match kind {
                        ChangeKind::Add => 0,
                        ChangeKind::Delete => 1,
                        ChangeKind::Replace => 2,
                        ChangeKind::Increment => 3,
                    };
                    Ok((number, attribute.clone(), values.collect::<Result<Vec<_>, String>>()?))
                };
                let changes = changes.iter().map(change).collect::<Result<Vec<_>, String>>()?;
                let frame = writing.frame(|out, id, fields| {
                    write::write_modify(out, id, &joined(&dn, fields), |out| {
                        for (kind, name, values) in &changes {
                            let values: Vec<_> = values.iter().map(|value| joined(value, fields)).collect();
                            let values = values.iter().map(Vec::as_slice);
                            write::write_change(out, *kind, name.as_bytes(), values);
                        }
                    });
                })?;
                ("modify", op::MODIFY_RESPONSE, frame)
            }
            Verb::ModifyDn { dn, new_rdn, delete_old_rdn, new_superior } => {
                about = dn;
                let (dn, rdn) = (writing.dn(dn)?, writing.dn(new_rdn)?);
                let superior = new_superior.as_ref().map(|superior| writing.dn(superior)).transpose()?;
                let frame = writing.frame(|out, id, fields| {
                    let superior = superior.as_ref().map(|superior| joined(superior, fields));
                    let (dn, rdn) = (joined(&dn, fields), joined(&rdn, fields));
                    write::write_modify_dn(out, id, &dn, &rdn, *delete_old_rdn, superior.as_deref());
                })?;
                ("rename", op::MODIFY_DN_RESPONSE, frame)
            }
            Verb::Delete { dn } => {
                about = dn;
                let dn = writing.dn(dn)?;
                let frame =
                    writing.frame(|out, id, fields| write::write_delete(out, id, &joined(&dn, fields)))?;
                ("delete", op::DELETE_RESPONSE, frame)
            }
            Verb::PasswordModify { dn, old_password, new_password } => {
                about = dn;
                let who = (!dn.parts.is_empty()).then(|| writing.dn(dn)).transpose()?;
                let old = old_password.as_ref().map(|old| writing.plain(old)).transpose()?;
                let new = new_password.as_ref().map(|new| writing.plain(new)).transpose()?;
                let frame = writing.frame(|out, id, fields| {
                    let mut value = Vec::new();
                    ber::write_nested(&mut value, tag::SEQUENCE, |out| {
                        for (number, part) in [&who, &old, &new].into_iter().enumerate() {
                            if let Some(part) = part {
                                ber::write_element(out, tag::context(number as u8), &joined(part, fields));
                            }
                        }
                    });
                    write::write_extended(out, id, PASSWORD_MODIFY, Some(&value));
                })?;
                ("change the password of", op::EXTENDED_RESPONSE, frame)
            }
            Verb::Refresh { dn, ttl } => {
                about = dn;
                let dn = writing.dn(dn)?;
                let ttl_s = whole_seconds(*ttl);
                let frame = writing.frame(|out, id, fields| {
                    let mut value = Vec::new();
                    write::write_refresh_value(&mut value, &joined(&dn, fields), ttl_s);
                    write::write_extended(out, id, oid::REFRESH, Some(&value));
                })?;
                ("refresh", op::EXTENDED_RESPONSE, frame)
            }
            Verb::Extended { oid, value } => {
                let value = value.as_ref().map(|value| writing.value(value)).transpose()?;
                let frame = writing.frame(|out, id, fields| {
                    let value = value.as_ref().map(|value| joined(value, fields));
                    write::write_extended(out, id, oid.as_bytes(), value.as_deref());
                })?;
                ("extended request", op::EXTENDED_RESPONSE, frame)
            }
            _ => return Err("is no request of LDAP".to_owned()),
        };
        // What a literal is, `rest` says.
        let texts = step.texts();
        let secret =
            texts.iter().filter(|text| text.secrecy == Secrecy::Secret && text.text.literal().is_none());
        let secret: Vec<_> = secret.map(|text| &*text.text).collect();
        let (mut fields, page_size) = (writing.fields, writing.page_size);
        let expects = expects(plan, block, step)?;
        if let Some((Whom::Row { source, added }, _)) = expects.person {
            let is_name =
                |field: &&mut Field| plan.is_name(&field.text, source) && field.becomes == Becomes::Itself;
            if let Some(field) = fields.iter_mut().find(is_name) {
                field.becomes = Becomes::Name { source, added };
            }
        }
        let mut needs = needs(plan, &fields);
        let name = |dn: &Template| plan.added(&dn.to_string(), block);
        let owns = match &step.verb {
            Verb::Add { dn, .. } => name(dn),
            // Where the add has failed, the entry is another's.
            Verb::Modify { dn, .. }
            | Verb::Delete { dn }
            | Verb::Refresh { dn, .. }
            | Verb::PasswordModify { dn, .. } => {
                needs.extend(name(dn));
                None
            }
            Verb::ModifyDn { dn, new_rdn, new_superior, .. } => {
                needs.extend(name(dn));
                plan.added(&scenario::renamed(dn, new_rdn, new_superior.as_ref()), block)
            }
            _ => None,
        };
        let enters = match &step.verb {
            Verb::Add { entry: Entry::Row(data), .. } if plan.is_people(data) && step.controls.is_empty() => {
                Some(Enters { source: plan.source(data)?, added: plan.is_taken(data) })
            }
            _ => None,
        };
        let changed = match &step.verb {
            Verb::Modify { changes, .. } => changes.iter().map(|change| change.attribute.clone()).collect(),
            _ => Vec::new(),
        };
        let ((shown, mut own), (rest, more)) = (scripted::about(&step.verb, about), rest(step, &[]));
        own.extend(more);
        Ok(Self {
            script,
            verb,
            response,
            // Of an extended operation only its server knows.
            changes: !matches!(response, op::SEARCH_DONE | op::COMPARE_RESPONSE),
            frame,
            needs,
            owns,
            enters,
            changed,
            page_size,
            operation: block.operation,
            first: None,
            shown: plan.shown(&shown, block)?,
            rest: plan.shown(&rest, block)?,
            secrets: secrets(plan, block, (&secret, own), &fields)?,
            fields,
            expects,
            captures: captures(plan, block, step)?,
            // Without what is done at a user's start, its operations make no sense.
            fatal: block.operation.is_none(),
        })
    }

    /// Has it be an answer like any other where it fails.
    pub(super) fn counted(mut self, plan: &Plan, block: &Block, step: &Step) -> Result<Self, String> {
        self.fatal = false;
        self.rest = plan.shown(&rest(step, &[]).0, block)?;
        self.expects = expects(plan, block, step)?;
        Ok(self)
    }

    /// Compiles the bind of a connection.
    pub(super) fn bind(script: usize, plan: &Plan, block: &Block, bind: &Bind<'_>) -> Result<Self, String> {
        let mut writing = Writing { plan, block, fields: Vec::new(), controls: Vec::new(), page_size: None };
        writing.add_controls(bind.controls)?;
        let none = Template::default();
        let given = bind.password.unwrap_or(&none);
        let name = if bind.sasl.is_some() { writing.plain(bind.name)? } else { writing.dn(bind.name)? };
        let password = writing.plain(given)?;
        let (sasl, version) = (bind.sasl, bind.version);
        let frame = writing.frame(|out, id, fields| {
            let (name, password) = (joined(&name, fields), joined(&password, fields));
            match sasl {
                Some(Sasl::External) => write::write_sasl_bind(out, id, b"EXTERNAL", b""),
                Some(Sasl::Plain) => {
                    let credentials = [b"\0", &name[..], b"\0", &password].concat();
                    write::write_sasl_bind(out, id, b"PLAIN", &credentials);
                }
                None => write::write_bind(out, id, version, &name, &password),
            }
        })?;
        let fields = writing.fields;
        Ok(Self {
            script,
            verb: BIND,
            response: op::BIND_RESPONSE,
            changes: true,
            frame,
            needs: needs(plan, &fields),
            owns: None,
            enters: None,
            changed: Vec::new(),
            page_size: None,
            operation: block.operation,
            first: None,
            shown: plan.shown(bind.name, block)?,
            rest: Text::default(),
            secrets: secrets(plan, block, (&[given], Vec::new()), &fields)?,
            fields,
            expects: Expects { codes: vec![Expected::Code(ResultCode::SUCCESS)], ..Expects::default() },
            captures: Vec::new(),
            fatal: true,
        })
    }
}

/// Captures that fields are made of, and that may not have been found.
fn needs(plan: &Plan, fields: &[Field]) -> Vec<usize> {
    let places = fields.iter().flat_map(|field| field.text.needs());
    let mut needs: Vec<_> = places.filter(|place| plan.is_capture(*place)).collect();
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// What is taken out of what people see: passwords, and whatever else is secret.
fn secrets(
    plan: &Plan,
    block: &Block,
    (passwords, own): (&[&Template], Vec<String>),
    fields: &[Field],
) -> Result<Vec<(String, Field)>, String> {
    let as_it_is = |(name, text): (String, Text)| (name, Field { text, becomes: Becomes::Itself });
    let of_file = |secret: String| as_it_is(("{secret}".to_owned(), Text::fixed(secret.into_bytes())));
    let mut secrets: Vec<_> = own.into_iter().map(of_file).collect();
    for password in passwords.iter().filter(|password| !password.parts.is_empty()) {
        // What the command line gave has no name of its own.
        let name = if password.literal().is_some() { "{password}".to_owned() } else { password.to_string() };
        secrets.push(as_it_is((name, plan.text(password, block)?)));
    }
    for field in fields {
        for (name, text) in plan.secrets_in(&field.text) {
            // A server may say what came of it.
            if !matches!(field.becomes, Becomes::Itself | Becomes::Filter | Becomes::Name { .. }) {
                secrets.push((name.clone(), Field { text: text.clone(), becomes: field.becomes }));
            }
            secrets.push(as_it_is((name, text)));
        }
    }
    secrets.extend(plan.environment().map(as_it_is));
    Ok(secrets)
}

fn expects(plan: &Plan, block: &Block, step: &Step) -> Result<Expects, String> {
    let expect = &step.expect;
    let usual = match &step.verb {
        Verb::Compare { .. } => ResultCode::COMPARE_TRUE,
        _ => ResultCode::SUCCESS,
    };
    let code = |code: &Code| {
        Ok(match code {
            Code::Number(number) => Expected::Code(ResultCode(*number)),
            Code::Field(template) => {
                let text = plan.text(template, block)?;
                plan.check_cells(&text, |cell| {
                    is_any_code(cell).then_some(()).ok_or_else(|| "is no result code".to_owned())
                })?;
                Expected::Named(text)
            }
        })
    };
    let mut codes = expect.results.iter().map(code).collect::<Result<Vec<_>, String>>()?;
    if codes.is_empty() {
        codes.push(Expected::Code(usual));
    }
    let mut expects = Expects { codes, entries: expect.entries, ..Expects::default() };
    let mut whom = expect.every.as_ref().map(|_| Whom::Anyone);
    match &expect.entry {
        Some(Entry::Attributes(attributes)) => {
            for (name, values) in attributes {
                for value in values {
                    let exact = value.encoding != Encoding::Text;
                    let value = bytes_of(plan, block, value)?;
                    expects.values.push(Wanted { attribute: name.clone(), value, exact });
                }
            }
        }
        Some(Entry::Row(data)) if plan.is_people(data) => {
            whom = Some(Whom::Row { source: plan.source(data)?, added: plan.is_taken(data) });
        }
        Some(Entry::Row(data)) => {
            expects.row =
                plan.columns(plan.source(data)?).map(|(name, text)| (name.to_owned(), text)).collect();
            let named = expects.row.iter().find(|(name, _)| name == "dn");
            let dn = named.map(|(_, text)| Field { text: text.clone(), becomes: Becomes::Itself });
            expects.dn = dn.map(|field| vec![field]);
        }
        None => {}
    }
    if let Verb::Search(search) = &step.verb {
        expects.size_limit = search.size_limit;
        expects.person = whom.map(|whom| (whom, ExpectedAttributes::new(&search.attributes)));
    }
    if let Some(dn) = &expect.dn {
        expects.dn = Some(dn_parts(plan, block, dn)?);
    }
    Ok(expects)
}

/// Whether a text is the number or the name of a result.
fn is_any_code(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let known = |code: u32| ResultCode(code).name().eq_ignore_ascii_case(text);
    text.parse::<u32>().is_ok() || (0..=ResultCode::OTHER.0).any(known)
}

/// A DN in an expectation is escaped as one in a request is.
fn dn_parts(plan: &Plan, block: &Block, dn: &Template) -> Result<Vec<Field>, String> {
    let mut names = scenario::stand_for_names(dn).into_iter();
    let part = |part: &Part| {
        let is_field = matches!(part, Part::Field(_));
        let is_value = is_field && names.next() != Some(true);
        let text = plan.text(&Template { parts: vec![part.clone()] }, block)?;
        Ok(Field { text, becomes: if is_value { Becomes::DnValue } else { Becomes::Itself } })
    };
    dn.parts.iter().map(part).collect()
}

fn captures(plan: &Plan, block: &Block, step: &Step) -> Result<Vec<Capture>, String> {
    if step.captures.len() > MOST_CAPTURES {
        return Err(format!("has more than {MOST_CAPTURES} captures"));
    }
    let capture = |capture: &scenario::Capture| {
        let scenario::Source::Attribute(attribute) = &capture.from else {
            return Err("captures what LDAP has not".to_owned());
        };
        let texts = |texts: &Vec<String>| texts.iter().map(|text| text.clone().into_bytes()).collect();
        Ok(Capture {
            place: plan.captured(&capture.name, block)?,
            attribute: attribute.clone(),
            take: capture.take,
            default: capture.default.as_ref().map(texts),
        })
    };
    step.captures.iter().map(capture).collect()
}

/// Appends what a text becomes.
pub(super) fn becomes(becomes: Becomes, text: &[u8], out: &mut Vec<u8>) {
    match becomes {
        Becomes::Itself | Becomes::Name { .. } => out.extend_from_slice(text),
        Becomes::DnValue => escape_value(text, out),
        Becomes::Utf16 => out.extend_from_slice(&Encoding::Utf16.decode(text).unwrap_or_default()),
        Becomes::Base64 => out.extend_from_slice(&Encoding::Base64.decode(text).unwrap_or_default()),
        Becomes::Hex => out.extend_from_slice(&Encoding::Hex.decode(text).unwrap_or_default()),
        Becomes::Filter => {
            let start = out.len();
            let parsed = std::str::from_utf8(text).ok().map(|text| filter_text::parse(text, out));
            if !matches!(parsed, Some(Ok(()))) {
                // Refused when the data were read; a server refuses it, too.
                out.truncate(start);
            }
        }
    }
}
