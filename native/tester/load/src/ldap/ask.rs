//! Compiles a step of a scenario to its request and its expectations.

use scenario::{Block, Code, Count, Encoding, Entry, Part, Secrecy, Source, Step, Template, Verb};
use wire::dn::escape_value;
use wire::ldap::{Controls, ResultCode, filter_text, op};

use super::frame::Frame;
use super::verify::ExpectedAttributes;
use super::writing::{Becomes, Field, Writing, Written, bytes_of};
use crate::compile_error::Result;
use crate::fill::{Plan, Preparation, Text};
use crate::scripted::{self, Capture, captures, rest};

#[derive(Debug, PartialEq)]
pub struct Ask {
    /// The index of the scenario in the engine.
    pub(super) script: usize,
    /// The index of the operation; `None` for `[start]`.
    pub(super) operation: Option<usize>,
    /// The draws of a block whose only step is this request. The program needs no separate op for these
    /// draws.
    pub(super) first: Option<Preparation>,
    /// Whether the request removes the lane's person to add, if that person's entry was added before.
    pub(super) removes_taken: bool,
    pub(super) verb: &'static str,
    pub(super) response: u8,
    /// Whether the request must not be retried after a missing answer: it is a change, or a bind, whose
    /// failures servers count.
    pub(super) changes: bool,
    pub(super) frame: Frame,
    pub(super) fields: Vec<Field>,
    /// The subject of the request, for readers, and the rest of its values.
    pub(super) shown: Text,
    pub(super) rest: Text,
    /// Secrets to hide in output, with the names that replace them.
    pub(super) secrets: Vec<(String, Field)>,
    pub(super) expects: Expects,
    pub(super) captures: Vec<Capture<String>>,
    /// Places of values without which the request is not sent. Among them is the mark that the
    /// operation has added the entry that the request changes or deletes.
    pub(super) needs: Vec<usize>,
    /// The place of the mark that the request has added an entry.
    pub(super) owns: Option<usize>,
    /// The person whose entry the request adds unchanged and without controls.
    pub(super) enters: Option<Enters>,
    pub(super) changed: Vec<String>,
    /// Entries per page of a paged search. The page's cookie is a field after all others.
    pub(crate) page_size: Option<u32>,
    /// Whether all further steps depend on its success.
    pub(super) fatal: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Enters {
    pub(super) source: usize,
    pub(super) added: bool,
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Expects {
    pub(super) codes: Vec<Expected>,
    pub(super) entries: Option<Count>,
    /// Values that the only entry must have. The entry may have further values.
    pub(super) values: Vec<Wanted>,
    /// The expected value of each returned attribute that is a column of people.
    pub(super) row: Vec<(String, Text)>,
    /// The parts of the entry's DN.
    pub(super) dn: Option<Vec<Field>>,
    /// The object identifier of a control that the final answer must have.
    pub(super) control: Option<String>,
    /// The person that an entry must be, and the attributes that it must have.
    pub(super) person: Option<(ExpectedPerson, ExpectedAttributes)>,
    /// 0 for no limit.
    pub(super) size_limit: u32,
}

impl Expects {
    /// The expected control, if `controls` lack it.
    #[inline]
    pub(super) fn missing_control(&self, controls: Controls<'_>) -> Option<&str> {
        let oid = self.control.as_deref()?;
        let is_present = controls.iter().any(|control| control.oid == oid.as_bytes());
        (!is_present).then_some(oid)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedPerson {
    /// The only entry must be the person of the drawn row.
    Row { source: usize, added: bool },
    /// Each entry must be any person of the population.
    Anyone,
}

#[derive(Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) attribute: String,
    pub(super) value: Field,
    /// Whether the value is compared byte by byte, not as a text.
    pub(super) exact: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Expected {
    Code(ResultCode),
    Named(Text),
}

/// The place of the mark that an add sets. For a modify or a delete of an added entry, appends the place of
/// that entry's mark to `needs`.
fn own_entry(plan: &Plan, block: &Block, verb: &Verb, needs: &mut Vec<usize>) -> Option<usize> {
    let name = |dn: &Template| plan.added(&dn.to_string(), block);
    match verb {
        Verb::Add { dn, .. } => name(dn),
        // If the add has failed, the entry belongs to another client.
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
    }
}

impl Ask {
    pub(crate) const fn expects_control(&self) -> bool {
        self.expects.control.is_some()
    }

    /// Compiles a step of a block.
    pub(super) fn new(script: usize, plan: &Plan, block: &Block, step: &Step) -> Result<Self> {
        let mut writing = Writing::new(plan, block, &step.controls)?;
        let Written { verb, response, about, frame } = writing.request(&step.verb)?;
        // `rest` hides secrets that are written in the file, but a password is hidden whatever its length.
        let texts = step.texts();
        let secret = texts.iter().filter(|text| {
            let is_named = response == op::BIND_RESPONSE || text.text.literal().is_none();
            text.secrecy == Secrecy::Secret && is_named
        });
        let secret: Vec<_> = secret.map(|text| &*text.text).collect();
        let (mut fields, page_size) = (writing.fields, writing.page_size);
        let expects = expects(plan, block, step)?;
        if let Some((ExpectedPerson::Row { source, added }, _)) = expects.person {
            let is_name =
                |field: &&mut Field| plan.is_name(&field.text, source) && field.becomes == Becomes::Itself;
            if let Some(field) = fields.iter_mut().find(is_name) {
                field.becomes = Becomes::Name { source, added };
            }
        }
        let mut needs = plan.needs(fields.iter().map(|field| &field.text));
        let owns = own_entry(plan, block, &step.verb, &mut needs);
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
        let ((shown, mut own), (rest, more)) =
            (scripted::about(&step.verb, about.unwrap_or(&Template::default())), rest(step, &[]));
        own.extend(more);
        Ok(Self {
            script,
            verb,
            response,
            // An extended operation may change data.
            changes: !matches!(response, op::SEARCH_DONE | op::COMPARE_RESPONSE),
            frame,
            needs,
            owns,
            enters,
            changed,
            page_size,
            operation: block.operation,
            first: None,
            removes_taken: false,
            shown: plan.shown(&shown, block, false)?,
            rest: plan.shown(&rest, block, false)?,
            secrets: secrets(plan, block, (&secret, own), &fields)?,
            fields,
            expects,
            captures: captures(plan, block, &step.captures, captured_attribute)?,
            // All operations of a user depend on the steps of `[start]`.
            fatal: block.operation.is_none(),
        })
    }
}

/// Secrets to hide in output: passwords and other secret values.
fn secrets(
    plan: &Plan,
    block: &Block,
    (passwords, own): (&[&Template], Vec<String>),
    fields: &[Field],
) -> Result<Vec<(String, Field)>> {
    let as_it_is = |(name, text): (String, Text)| (name, Field { text, becomes: Becomes::Itself });
    let of_file = |secret: String| as_it_is(("{secret}".to_owned(), Text::fixed(secret.into_bytes())));
    let mut secrets = Vec::new();
    for password in passwords.iter().filter(|password| !password.parts.is_empty()) {
        // A password of the command line has no name in the file.
        let name = if password.literal().is_some() { "{password}".to_owned() } else { password.to_string() };
        secrets.push(as_it_is((name, plan.text(password, block)?)));
    }
    secrets.extend(own.into_iter().map(of_file));
    for field in fields {
        for (name, text) in plan.secrets_in(&field.text, false) {
            // A server's message may contain the converted value.
            if !matches!(field.becomes, Becomes::Itself | Becomes::Filter | Becomes::Name { .. }) {
                secrets.push((name.clone(), Field { text: text.clone(), becomes: field.becomes }));
            }
            secrets.push(as_it_is((name, text)));
        }
    }
    secrets.extend(plan.environment().map(as_it_is));
    Ok(secrets)
}

fn expects(plan: &Plan, block: &Block, step: &Step) -> Result<Expects> {
    let expect = &step.expect;
    let usual = match &step.verb {
        Verb::Compare { .. } => ResultCode::COMPARE_TRUE,
        _ => ResultCode::SUCCESS,
    };
    let code = |code: &Code| {
        Ok(match code {
            Code::Number(number) => Expected::Code(ResultCode(*number)),
            Code::Field(template) => Expected::Named(plan.checked(template, block, |cell| {
                is_any_code(cell).then_some(()).ok_or_else(|| "is no result code".to_owned())
            })?),
        })
    };
    let mut codes = expect.results.iter().map(code).collect::<Result<Vec<_>>>()?;
    if codes.is_empty() {
        codes.push(Expected::Code(usual));
    }
    let (entries, control) = (expect.entries, expect.control.clone());
    let mut expects = Expects { codes, entries, control, ..Expects::default() };
    let mut person = expect.every.as_ref().map(|_| ExpectedPerson::Anyone);
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
            person = Some(ExpectedPerson::Row { source: plan.source(data)?, added: plan.is_taken(data) });
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
        expects.person = person.map(|person| (person, ExpectedAttributes::new(&search.attributes)));
    }
    if let Some(dn) = &expect.dn {
        expects.dn = Some(dn_parts(plan, block, dn)?);
    }
    Ok(expects)
}

/// Whether a text is the number or the name of any result.
fn is_any_code(text: &[u8]) -> bool {
    let is_number = std::str::from_utf8(text).is_ok_and(|text| text.parse::<u32>().is_ok());
    is_number || (0..=ResultCode::OTHER.0).any(|code| is_code(text, ResultCode(code)))
}

/// Whether a text is the number or the name of this result.
pub(super) fn is_code(text: &[u8], code: ResultCode) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    text.parse() == Ok(code.0) || text.eq_ignore_ascii_case(code.name())
}

/// The fields of an expected DN, with the escapes of a request.
fn dn_parts(plan: &Plan, block: &Block, dn: &Template) -> Result<Vec<Field>> {
    let mut names = scenario::stand_for_names(dn).into_iter();
    let part = |part: &Part| {
        let is_field = matches!(part, Part::Field(_));
        let is_value = is_field && names.next() != Some(true);
        let text = plan.text(&Template { parts: vec![part.clone()] }, block)?;
        Ok(Field { text, becomes: if is_value { Becomes::DnValue } else { Becomes::Itself } })
    };
    dn.parts.iter().map(part).collect()
}

/// The attribute of a captured value, or `dn`.
fn captured_attribute(from: &Source) -> Result<String> {
    match from {
        Source::Attribute(attribute) => Ok(attribute.clone()),
        _ => Err("captures what LDAP has not".into()),
    }
}

/// Appends the converted text.
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
                // Invalid text: it was refused when the data were read, or the server refuses it.
                out.truncate(start);
            }
        }
    }
}
