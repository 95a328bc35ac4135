//! Writes a scenario's request with its controls: the frame, and the fields that fill it.

use std::time::Duration;

use scenario::{Block, Change, Control, Encoding, Entry, Part, Sasl, Search, Template, Value, Verb};
use wire::ber::{self, tag};
use wire::dn::{Dn, escape_value};
use wire::ldap::control::PagedResults;
use wire::ldap::request::{self as write, SearchOptions};
use wire::ldap::{filter_text, oid, op};

use super::frame::Frame;
use crate::compile_error::{CompileError, Result};
use crate::connection::sasl;
use crate::fill::{Plan, Text};

/// A field of a frame.
#[derive(Debug, PartialEq)]
pub struct Field {
    pub(super) text: Text,
    pub(super) becomes: Becomes,
}

/// The encoding of a field's text in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Becomes {
    /// The bytes of the text.
    Itself,
    /// A value in a DN (RFC 4514).
    DnValue,
    /// The name of the person that the answer must be. The person's DN is derived and kept with the name.
    Name { source: usize, added: bool },
    /// A whole filter (RFC 4515), encoded.
    Filter,
    /// UTF-16LE, which unicodePwd requires.
    Utf16,
    /// The bytes that the text encodes in base64.
    Base64,
    /// The bytes that the text encodes in hexadecimal digits.
    Hex,
}

/// A request while its frame is written.
pub(super) struct Writing<'p> {
    plan: &'p Plan,
    block: &'p Block,
    pub(super) fields: Vec<Field>,
    controls: Vec<Controlled>,
    pub(super) page_size: Option<u32>,
}

/// The frame of a request, and the text that names its entry for readers.
pub(super) struct Written<'s> {
    pub(super) verb: &'static str,
    /// The tag of the final answer.
    pub(super) response: u8,
    pub(super) about: Option<&'s Template>,
    pub(super) frame: Frame,
}

struct Controlled {
    oid: String,
    critical: bool,
    value: Option<ControlValue>,
}

enum ControlValue {
    Plain(Pieces),
    Assertion(FilterPieces),
}

/// A filter with fields.
struct FilterPieces {
    pieces: Pieces,
    /// Whether one field is the whole filter.
    whole: bool,
}

impl FilterPieces {
    /// The encoded filter whose fields are filled with these bytes.
    fn encoded(&self, fields: &[&[u8]]) -> Result<Vec<u8>> {
        if self.whole {
            return Ok(joined(&self.pieces, fields));
        }
        // Each byte is escaped, so a field can only be a value. The parser removes the escapes.
        let escape = |piece: &Piece| match piece {
            Piece::Text(text) => String::from_utf8_lossy(text).into_owned(),
            Piece::Field(number) => fields[*number].iter().map(|byte| format!("\\{byte:02x}")).collect(),
        };
        let text: String = self.pieces.iter().map(escape).collect();
        let mut out = Vec::new();
        filter_text::parse(&text, &mut out).map_err(|error| format!("the filter: {error}"))?;
        Ok(out)
    }
}

#[derive(Debug)]
enum Piece {
    Text(Vec<u8>),
    Field(usize),
}

type Pieces = Vec<Piece>;

/// The bytes of a text whose fields are filled with these bytes.
fn joined(pieces: &Pieces, fields: &[&[u8]]) -> Vec<u8> {
    let of = |piece: &Piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Field(number) => fields[*number].to_vec(),
    };
    pieces.iter().flat_map(of).collect()
}

impl<'p> Writing<'p> {
    /// A request with controls.
    pub(super) fn new(plan: &'p Plan, block: &'p Block, controls: &[Control]) -> Result<Self> {
        let mut writing = Self { plan, block, fields: Vec::new(), controls: Vec::new(), page_size: None };
        writing.add_controls(controls)?;
        Ok(writing)
    }

    /// Writes the request of a verb.
    pub(super) fn request<'s>(&mut self, verb: &'s Verb) -> Result<Written<'s>> {
        let (verb, response, about, frame) = match verb {
            Verb::Bind { bind, password, sasl, version } => {
                let frame = self.bind(bind, password.as_ref(), *sasl, *version)?;
                ("bind as", op::BIND_RESPONSE, Some(bind), frame)
            }
            Verb::Search(search) => ("search", op::SEARCH_DONE, Some(&search.filter), self.search(search)?),
            Verb::Compare { dn, entry } => {
                ("compare", op::COMPARE_RESPONSE, Some(dn), self.compare(dn, entry)?)
            }
            Verb::Add { dn, entry: Entry::Row(data), .. } if self.plan.is_people(data) => {
                ("add", op::ADD_RESPONSE, Some(dn), self.add_person(dn, data)?)
            }
            Verb::Add { dn, entry, .. } => ("add", op::ADD_RESPONSE, Some(dn), self.add_entry(dn, entry)?),
            Verb::Modify { dn, changes } => {
                ("modify", op::MODIFY_RESPONSE, Some(dn), self.modify(dn, changes)?)
            }
            Verb::ModifyDn { dn, new_rdn, delete_old_rdn, new_superior } => {
                let frame = self.rename(dn, new_rdn, *delete_old_rdn, new_superior.as_ref())?;
                ("rename", op::MODIFY_DN_RESPONSE, Some(dn), frame)
            }
            Verb::Delete { dn } => {
                let name = self.dn(dn)?;
                let frame =
                    self.frame(|out, id, fields| write::write_delete(out, id, &joined(&name, fields)))?;
                ("delete", op::DELETE_RESPONSE, Some(dn), frame)
            }
            Verb::PasswordModify { dn, old_password, new_password } => {
                let frame = self.change_password(dn, old_password.as_ref(), new_password.as_ref())?;
                ("change the password of", op::EXTENDED_RESPONSE, Some(dn), frame)
            }
            Verb::Refresh { dn, ttl } => {
                let (name, ttl_s) = (self.dn(dn)?, whole_seconds(*ttl));
                let frame = self.frame(|out, id, fields| {
                    let mut value = Vec::new();
                    write::write_refresh_value(&mut value, &joined(&name, fields), ttl_s);
                    write::write_extended(out, id, oid::REFRESH, Some(&value));
                })?;
                ("refresh", op::EXTENDED_RESPONSE, Some(dn), frame)
            }
            Verb::Extended { oid, value } => {
                let value = value.as_ref().map(|value| self.value(value)).transpose()?;
                let frame = self.frame(|out, id, fields| {
                    let value = value.as_ref().map(|value| joined(value, fields));
                    write::write_extended(out, id, oid.as_bytes(), value.as_deref());
                })?;
                ("extended request", op::EXTENDED_RESPONSE, None, frame)
            }
            _ => return Err("is no request of LDAP".into()),
        };
        Ok(Written { verb, response, about, frame })
    }

    fn bind(
        &mut self,
        name: &Template,
        password: Option<&Template>,
        mechanism: Option<Sasl>,
        version: u8,
    ) -> Result<Frame> {
        let name = if mechanism.is_some() { self.plain(name)? } else { self.dn(name)? };
        let password = password.map(|password| self.plain(password)).transpose()?.unwrap_or_default();
        self.frame(|out, id, fields| {
            let (name, password) = (joined(&name, fields), joined(&password, fields));
            match mechanism {
                Some(mechanism) => sasl::write_bind(mechanism, out, id, &name, &password),
                None => write::write_bind(out, id, version, &name, &password),
            }
        })
    }

    fn compare(&mut self, dn: &Template, entry: &Entry) -> Result<Frame> {
        let dn = self.dn(dn)?;
        let mut entry = self.entry(entry)?;
        let (Some((name, mut values)), true) = (entry.pop(), entry.is_empty()) else {
            return Err("compares one attribute at a time".into());
        };
        let value = values.pop().unwrap_or_default();
        self.frame(|out, id, fields| {
            let (dn, value) = (joined(&dn, fields), joined(&value, fields));
            write::write_compare(out, id, &dn, name.as_bytes(), &value);
        })
    }

    /// The add of a person of the population, unchanged.
    fn add_person(&mut self, dn: &Template, data: &str) -> Result<Frame> {
        if dn.only_field() != Some(&scenario::Field::Column(data.to_owned(), "dn".to_owned())) {
            return Err(format!("people have their own names: add {{{data}.dn}}").into());
        }
        let (dn, entry) = (self.dn(dn)?, self.add(self.plan.entry(data)?, Becomes::Itself));
        self.frame(|out, id, fields| {
            write::write_add(out, id, &joined(&dn, fields), |out| out.extend_from_slice(fields[entry]));
        })
    }

    fn add_entry(&mut self, dn: &Template, entry: &Entry) -> Result<Frame> {
        let (dn, entry) = (self.dn(dn)?, self.entry(entry)?);
        self.frame(|out, id, fields| {
            write::write_add(out, id, &joined(&dn, fields), |out| {
                ber::write_nested(out, tag::SEQUENCE, |out| {
                    for (name, values) in &entry {
                        let values: Vec<_> = values.iter().map(|value| joined(value, fields)).collect();
                        let values = values.iter().map(Vec::as_slice);
                        write::write_attribute(out, name.as_bytes(), values);
                    }
                });
            });
        })
    }

    fn modify(&mut self, dn: &Template, changes: &[Change]) -> Result<Frame> {
        let dn = self.dn(dn)?;
        let change = |Change { kind, attribute, values }: &Change| {
            let values = values.iter().map(|value| self.value(value));
            Ok((*kind as u8, attribute.clone(), values.collect::<Result<Vec<_>>>()?))
        };
        let changes = changes.iter().map(change).collect::<Result<Vec<_>>>()?;
        self.frame(|out, id, fields| {
            write::write_modify(out, id, &joined(&dn, fields), |out| {
                for (kind, name, values) in &changes {
                    let values: Vec<_> = values.iter().map(|value| joined(value, fields)).collect();
                    let values = values.iter().map(Vec::as_slice);
                    write::write_change(out, *kind, name.as_bytes(), values);
                }
            });
        })
    }

    fn rename(
        &mut self,
        dn: &Template,
        new_rdn: &Template,
        delete_old_rdn: bool,
        new_superior: Option<&Template>,
    ) -> Result<Frame> {
        let (dn, rdn) = (self.dn(dn)?, self.dn(new_rdn)?);
        let superior = new_superior.map(|superior| self.dn(superior)).transpose()?;
        self.frame(|out, id, fields| {
            let superior = superior.as_ref().map(|superior| joined(superior, fields));
            let (dn, rdn) = (joined(&dn, fields), joined(&rdn, fields));
            write::write_modify_dn(out, id, &dn, &rdn, delete_old_rdn, superior.as_deref());
        })
    }

    /// Password Modify (RFC 3062 section 2).
    fn change_password(
        &mut self,
        dn: &Template,
        old: Option<&Template>,
        new: Option<&Template>,
    ) -> Result<Frame> {
        let who = (!dn.parts.is_empty()).then(|| self.dn(dn)).transpose()?;
        let old = old.map(|old| self.plain(old)).transpose()?;
        let new = new.map(|new| self.plain(new)).transpose()?;
        self.frame(|out, id, fields| {
            let mut value = Vec::new();
            ber::write_nested(&mut value, tag::SEQUENCE, |out| {
                for (number, part) in [&who, &old, &new].into_iter().enumerate() {
                    if let Some(part) = part {
                        ber::write_element(out, tag::context(number as u8), &joined(part, fields));
                    }
                }
            });
            write::write_extended(out, id, oid::PASSWORD_MODIFY, Some(&value));
        })
    }

    /// Adds a field and returns its number.
    fn add(&mut self, text: Text, becomes: Becomes) -> usize {
        let field = Field { text, becomes };
        self.fields.iter().position(|other| *other == field).unwrap_or_else(|| {
            self.fields.push(field);
            self.fields.len() - 1
        })
    }

    fn pieces(
        &mut self,
        template: &Template,
        is_dn: bool,
        mut becomes: impl FnMut() -> Becomes,
    ) -> Result<Pieces> {
        let mut pieces = Vec::new();
        for part in &template.parts {
            pieces.push(match part {
                Part::Text(text) => Piece::Text(text.as_bytes().to_vec()),
                Part::Field(field) => {
                    let (text, becomes) = (self.plan.field(field, self.block)?, becomes());
                    if is_dn && becomes == Becomes::Itself {
                        self.plan.check_cells(&text, |cell| {
                            Dn::parse(cell).map(drop).map_err(|_| "is no name (RFC 4514)".to_owned())
                        })?;
                    }
                    match text.literal() {
                        // A text without fields becomes part of the frame.
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

    fn plain(&mut self, template: &Template) -> Result<Pieces> {
        self.pieces(template, false, || Becomes::Itself).map_err(|error| error.of(template))
    }

    fn dn(&mut self, template: &Template) -> Result<Pieces> {
        let mut names = scenario::stand_for_names(template).into_iter();
        let mut becomes = || if names.next() == Some(true) { Becomes::Itself } else { Becomes::DnValue };
        self.pieces(template, true, &mut becomes).map_err(|error| error.of(template))
    }

    fn value(&mut self, value: &Value) -> Result<Pieces> {
        if value.encoding == Encoding::Text {
            return self.plain(&value.text);
        }
        let Field { text, becomes } = bytes_of(self.plan, self.block, value)?;
        Ok(vec![match (text.literal(), becomes) {
            (Some(literal), Becomes::Itself) => Piece::Text(literal.to_vec()),
            _ => Piece::Field(self.add(text, becomes)),
        }])
    }

    fn attributes(&mut self, attributes: &[(String, Vec<Value>)]) -> Result<Vec<(String, Vec<Pieces>)>> {
        let of = |(name, values): &(String, Vec<Value>)| {
            let values = values.iter().map(|value| self.value(value)).collect::<Result<Vec<_>>>()?;
            Ok((name.clone(), values))
        };
        attributes.iter().map(of).collect()
    }

    /// The attributes of an entry: written out in the file, or the columns of a row.
    fn entry(&mut self, entry: &Entry) -> Result<Vec<(String, Vec<Pieces>)>> {
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

    /// A filter as text with fields, ready for the parser of filters.
    fn filter(&mut self, template: &Template) -> Result<FilterPieces> {
        if template.only_field().is_some() {
            let text = self.plan.checked(template, self.block, |cell| {
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
        filter.encoded(&vec![&b"x"[..]; self.fields.len()]).map_err(|error| error.of(template))?;
        Ok(filter)
    }

    fn add_controls(&mut self, controls: &[Control]) -> Result<()> {
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
                    // The visibility flag (RFC 3672 section 3).
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

    /// An authorization identity: `dn:` with a name, or `u:` with a text (RFC 4513 section 5.2.1.8).
    fn authorization(&mut self, who: &Template) -> Result<Pieces> {
        if let Some((Part::Text(first), parts)) = who.parts.split_first()
            && let Some(name) = first.strip_prefix("dn:")
        {
            let first = (!name.is_empty()).then(|| Part::Text(name.to_owned()));
            let dn = Template { parts: first.into_iter().chain(parts.iter().cloned()).collect() };
            let mut pieces = vec![Piece::Text(b"dn:".to_vec())];
            pieces.extend(self.dn(&dn)?);
            return Ok(pieces);
        }
        if who.only_field().is_some() {
            self.plan.checked(who, self.block, |cell| {
                let right = match cell.strip_prefix(b"dn:") {
                    Some(dn) => Dn::parse(dn).is_ok(),
                    None => cell.is_empty() || cell.starts_with(b"u:"),
                };
                right.then_some(()).ok_or_else(|| "is no identity, such as u:ann (RFC 4513)".to_owned())
            })?;
        }
        self.plain(who)
    }

    fn frame(&self, write: impl Fn(&mut Vec<u8>, i32, &[&[u8]])) -> Result<Frame> {
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
                    // The error is impossible: a message has just been written.
                    let _ = write::add_controls(out, start, &controls);
                }
            };
        let fields = self.fields.len() + usize::from(self.page_size.is_some());
        Ok(Frame::new(fields, with_controls).ok_or("the request has 16 MiB or more")?)
    }

    fn search(&mut self, search: &Search) -> Result<Frame> {
        self.page_size = search.page_size;
        let options = SearchOptions {
            scope: search.scope,
            size_limit: search.size_limit,
            time_limit_s: whole_seconds(search.time_limit),
            types_only: search.types_only,
            dereference: search.deref as u8,
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

/// The field that sends a value as bytes, decoded from its encoding in the scenario file.
pub(super) fn bytes_of(plan: &Plan, block: &Block, value: &Value) -> Result<Field> {
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
    let text = plan.checked(&value.text, block, |cell| {
        let digits = if becomes == Becomes::Hex { "hexadecimal digits" } else { "base64" };
        let is_right = becomes == Becomes::Utf16 || decode(cell).is_some();
        is_right.then_some(()).ok_or_else(|| format!("is not in {digits}"))
    })?;
    if let Some(literal) = text.literal() {
        let bytes = decode(literal);
        let bytes = bytes.ok_or_else(|| CompileError::from("does not decode").of(&value.text))?;
        return Ok(Field { text: Text::fixed(bytes), becomes: Becomes::Itself });
    }
    Ok(Field { text, becomes })
}

/// Rounds up to whole seconds, because 0 would mean no limit.
fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1_000)).unwrap_or(u32::MAX)
}
