//! Compiles a step of a scenario to its request and its expectations.

use scenario::{
    Block, Code, Control, Count, Encoding, Entry, Part, Sasl, Secrecy, Step, Take, Template, Verb,
};
use wire::dn::escape_value;
use wire::ldap::request as write;
use wire::ldap::{Controls, ResultCode, filter_text, op};

use super::frame::Frame;
use super::verify::ExpectedAttributes;
use super::writing::{Becomes, Field, Writing, Written, bytes_of, joined};
use crate::compile_error::Result;
use crate::connection::sasl;
use crate::fill::{Plan, Preparation, Text};
use crate::scripted::{self, rest};

pub(super) const BIND: &str = "bind as";

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
    pub(super) captures: Vec<Capture>,
    /// Places of values without which the request is not sent, and of marks that the operation has added the
    /// entry of the request.
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
    pub(super) person: Option<(Whom, ExpectedAttributes)>,
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
pub(super) enum Whom {
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

#[derive(Debug, PartialEq)]
pub(super) struct Capture {
    pub(super) place: usize,
    /// An attribute, or `dn`.
    pub(super) attribute: String,
    pub(super) take: Take,
    pub(super) default: Option<Vec<Vec<u8>>>,
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

pub(super) struct Bind<'s> {
    pub(super) name: &'s Template,
    pub(super) password: Option<&'s Template>,
    pub(super) sasl: Option<Sasl>,
    pub(super) version: u8,
    pub(super) controls: &'s [Control],
}

impl Ask {
    pub(super) const fn is_search(&self) -> bool {
        self.response == op::SEARCH_DONE
    }

    pub(crate) const fn expects_control(&self) -> bool {
        self.expects.control.is_some()
    }

    /// Compiles a step of a block.
    pub(super) fn new(script: usize, plan: &Plan, block: &Block, step: &Step) -> Result<Self> {
        if let Verb::Bind { bind, password, sasl, version } = &step.verb {
            let bind = Bind {
                name: bind,
                password: password.as_ref(),
                sasl: *sasl,
                version: *version,
                controls: &step.controls,
            };
            return Self::bind(script, plan, block, &bind)?.counted(plan, block, step);
        }
        let mut writing = Writing::new(plan, block, &step.controls)?;
        let Written { verb, response, about, frame } = writing.request(&step.verb)?;
        // `rest` hides secrets that are written in the file.
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
            shown: plan.shown(&shown, block)?,
            rest: plan.shown(&rest, block)?,
            secrets: secrets(plan, block, (&secret, own), &fields)?,
            fields,
            expects,
            captures: captures(plan, block, step)?,
            // A user's operations depend on its start.
            fatal: block.operation.is_none(),
        })
    }

    /// Makes the bind's failure an ordinary failure, which does not end the pass.
    pub(super) fn counted(mut self, plan: &Plan, block: &Block, step: &Step) -> Result<Self> {
        self.fatal = false;
        self.rest = plan.shown(&rest(step, &[]).0, block)?;
        self.expects = expects(plan, block, step)?;
        Ok(self)
    }

    /// Makes the request remove the lane's person to add. The operation has not added that person's entry
    /// yet.
    pub(super) fn removing_taken(self) -> Self {
        Self { removes_taken: true, changes: false, needs: Vec::new(), fatal: false, ..self }
    }

    pub(super) fn bind(script: usize, plan: &Plan, block: &Block, bind: &Bind<'_>) -> Result<Self> {
        let mut writing = Writing::new(plan, block, bind.controls)?;
        let none = Template::default();
        let given = bind.password.unwrap_or(&none);
        let name = if bind.sasl.is_some() { writing.plain(bind.name)? } else { writing.dn(bind.name)? };
        let password = writing.plain(given)?;
        let (sasl, version) = (bind.sasl, bind.version);
        let frame = writing.frame(|out, id, fields| {
            let (name, password) = (joined(&name, fields), joined(&password, fields));
            match sasl {
                Some(mechanism) => sasl::write_bind(mechanism, out, id, &name, &password),
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
            removes_taken: false,
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

/// Places of captures that fields use, which may be missing.
fn needs(plan: &Plan, fields: &[Field]) -> Vec<usize> {
    let places = fields.iter().flat_map(|field| field.text.needs());
    let mut needs: Vec<_> = places.filter(|place| plan.is_capture(*place)).collect();
    needs.sort_unstable();
    needs.dedup();
    needs
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
    let mut secrets: Vec<_> = own.into_iter().map(of_file).collect();
    for password in passwords.iter().filter(|password| !password.parts.is_empty()) {
        // A password of the command line has no name in the file.
        let name = if password.literal().is_some() { "{password}".to_owned() } else { password.to_string() };
        secrets.push(as_it_is((name, plan.text(password, block)?)));
    }
    for field in fields {
        for (name, text) in plan.secrets_in(&field.text) {
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

/// Whether a text is the number or the name of any result.
fn is_any_code(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let is_named = |code: u32| ResultCode(code).name().eq_ignore_ascii_case(text);
    text.parse::<u32>().is_ok() || (0..=ResultCode::OTHER.0).any(is_named)
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

fn captures(plan: &Plan, block: &Block, step: &Step) -> Result<Vec<Capture>> {
    let capture = |capture: &scenario::Capture| {
        let scenario::Source::Attribute(attribute) = &capture.from else {
            return Err("captures what LDAP has not".into());
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
