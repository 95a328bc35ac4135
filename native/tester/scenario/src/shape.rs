//! The first reading: checks that every key is in the form, and that every value is of its key's kind.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::form::{Kind, MOST, Protocol, REQUIRED, VERBS, VerbForm, keys};
use crate::grammar;
use crate::problem::{FoundProblems, ROOT, did_you_mean, listed, nearest, quoted};
use crate::template::Template;

type Value<'t> = Spanned<DeValue<'t>>;

/// The message for keys of the previous form.
const SUCCESSOR: &str = "is of the form before this one: docs/scenarios.md shows how it is written now";

/// Checks a document, and returns its protocol.
pub(crate) fn check(text: &str, document: &DeTable<'_>, problems: &FoundProblems) -> Protocol {
    if let Some(at) = old_form(document) {
        problems.push(at, || SUCCESSOR.to_owned());
        return Protocol::Ldap;
    }
    let protocol = protocol(document, problems);
    let shape = Shape { text, protocol, problems };
    if problems.is_empty() {
        shape.table(&["scenario"], document, ROOT);
    }
    protocol.unwrap_or(Protocol::Ldap)
}

/// The position of a key of the previous form.
fn old_form(document: &DeTable<'_>) -> Option<usize> {
    if let Some((key, _)) = document.get_key_value("class") {
        return Some(key.span().start);
    }
    let operations = document.get("operation")?.get_ref().as_array()?;
    let requests = operations.iter().filter_map(|item| item.get_ref().as_table()?.get_key_value("request"));
    requests.map(|(key, _)| key.span().start).next()
}

/// The keys of a table in the order of the file, which the parser does not keep.
pub(crate) fn in_order<'d, 't>(table: &'d DeTable<'t>) -> Vec<(&'d str, usize, &'d Value<'t>)> {
    let entries = table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span().start, value));
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(|(_, at, _)| *at);
    entries
}

/// The verb of a step, and its position.
pub(crate) fn verb(step: &DeTable<'_>) -> Option<(&'static str, usize)> {
    let written =
        VERBS.iter().filter_map(|verb| Some((verb.name, step.get_key_value(verb.name)?.0.span().start)));
    written.min_by_key(|(_, at)| *at)
}

/// The protocol of a file's verbs, if it has verbs. Verbs of two protocols are a problem.
fn protocol(document: &DeTable<'_>, problems: &FoundProblems) -> Option<Protocol> {
    let mut spoken = Vec::new();
    for table in ["start", "operation"] {
        match document.get(table).map(Spanned::get_ref) {
            Some(DeValue::Table(start)) => speaks(start, &mut spoken),
            Some(DeValue::Array(list)) => {
                list.iter()
                    .filter_map(|item| item.get_ref().as_table())
                    .for_each(|item| speaks(item, &mut spoken));
            }
            _ => {}
        }
    }
    let &(first, verb, _) = spoken.iter().min_by_key(|(_, _, at)| *at)?;
    if let Some(&(other, second, at)) = spoken.iter().find(|(protocol, ..)| *protocol != first) {
        problems.push(at, || {
            let (first, other) = (first.name(), other.name());
            format!("speaks {other} ({second}), and the file {first} ({verb}): write two files")
        });
    }
    Some(first)
}

fn speaks(step: &DeTable<'_>, spoken: &mut Vec<(Protocol, &'static str, usize)>) {
    for &VerbForm { name: verb, protocols, .. } in VERBS {
        let Some((key, value)) = step.get_key_value(verb) else { continue };
        let at = key.span().start;
        match (protocols, value.get_ref().as_str()) {
            ([protocol], _) => spoken.push((*protocol, verb, at)),
            (_, Some(path)) if verb == "delete" => {
                let protocol = if path.starts_with('/') { Protocol::Http } else { Protocol::Ldap };
                spoken.push((protocol, verb, at));
            }
            _ => {}
        }
    }
    let steps = step.get("step").and_then(|steps| steps.get_ref().as_array());
    steps
        .into_iter()
        .flatten()
        .filter_map(|item| item.get_ref().as_table())
        .for_each(|item| speaks(item, spoken));
}

struct Shape<'a> {
    text: &'a str,
    /// `None` if no step has a verb: then keys of both protocols are allowed.
    protocol: Option<Protocol>,
    problems: &'a FoundProblems,
}

impl Shape<'_> {
    fn may_have(&self, protocols: &[Protocol]) -> bool {
        self.protocol.is_none_or(|protocol| protocols.contains(&protocol))
    }

    /// Checks a table against these tables of the form.
    fn table(&self, tables: &[&str], table: &DeTable<'_>, at: usize) {
        let keys: Vec<_> = keys(tables).collect();
        for (name, at, value) in in_order(table) {
            match keys.iter().find(|key| key.name == name) {
                Some(key) if self.may_have(key.protocols) => self.value(key.kind, value, at),
                Some(_) => self
                    .problems
                    .push(at, || format!("is not for {}", self.protocol.map_or("this", Protocol::name))),
                None => self.problems.push(at, || self.unknown(tables, name)),
            }
        }
        for key in keys.iter().filter(|key| key.default == REQUIRED && self.may_have(key.protocols)) {
            if !table.contains_key(key.name) {
                self.problems.push(at, || format!("{:?} is missing ({})", key.name, key.about));
            }
        }
    }

    fn unknown(&self, tables: &[&str], name: &str) -> String {
        let known = || keys(tables).filter(|key| self.may_have(key.protocols)).map(|key| key.name);
        if let Some(near) = nearest(name, known()) {
            return format!("unknown key; did you mean {near:?}?");
        }
        // Another message reports a key of another verb.
        let verb = tables.iter().find(|table| VerbForm::of(table).is_some());
        if let Some(verb) = verb {
            let has =
                |tables: &[&str]| keys(tables).any(|key| key.name == name && self.may_have(key.protocols));
            let others: Vec<_> =
                VERBS.iter().filter(|other| has(other.tables)).map(|other| other.name).collect();
            if !others.is_empty() {
                return format!("is not a key of {verb}, but of {}", listed(others));
            }
        }
        format!("unknown key; known: {}", listed(known()))
    }

    /// Checks a step, or an operation with a verb: `more` are the tables of its other keys.
    fn step(&self, step: &DeTable<'_>, at: usize, more: &[&str]) {
        let Some((verb, verb_at)) = verb(step) else {
            let verbs = || VERBS.iter().filter(|verb| self.may_have(verb.protocols)).map(|verb| verb.name);
            let known = |name: &str| VERBS.iter().any(|verb| keys(verb.tables).any(|key| key.name == name));
            let mut unknown = in_order(step).into_iter().filter(|(name, ..)| !known(name));
            let meant = unknown.find_map(|(name, at, _)| Some((name, at, nearest(name, verbs())?)));
            let at = meant.map_or(at, |(_, at, _)| at);
            self.problems.push(at, || match meant {
                Some((key, _, verb)) => format!("{} is not a verb; did you mean {verb:?}?", quoted(key)),
                None => format!("has no verb: write one of {}", listed(verbs())),
            });
            return;
        };
        let others = VERBS.iter().filter(|other| other.name != verb && step.contains_key(other.name));
        let others: Vec<_> = others.map(|other| other.name).collect();
        if !others.is_empty() {
            self.problems.push(verb_at, || format!("has several verbs: {verb}, {}", listed(others)));
            return;
        }
        let tables = VerbForm::of(verb).map_or(&[][..], |verb| verb.tables);
        self.table(&[tables, more].concat(), step, at);
    }

    fn operation(&self, operation: &DeTable<'_>, at: usize) {
        if operation.contains_key("step") && verb(operation).is_none() {
            self.table(&["operation", "card"], operation, at);
        } else if let Some((step, _)) =
            operation.get_key_value("step").filter(|_| !operation.contains_key("repeat"))
        {
            self.problems.push(step.span().start, || {
                "stands beside a verb: an operation has steps, or one verb right here".to_owned()
            });
        } else {
            self.step(operation, at, &["card"]);
        }
    }

    fn list<'d, 't>(&self, value: &'d Value<'t>, at: usize, what: &str) -> Vec<(&'d DeTable<'t>, usize)> {
        let list = value.get_ref().as_array().map_or(&[][..], |list| &list[..]);
        if value.get_ref().as_table().is_some() {
            self.problems.push(at, || format!("is one {what}: write its name in [[double brackets]]"));
        } else if list.is_empty() {
            self.problems.push(at, || format!("is not a list of {what}s with something in it"));
        }
        let tables = list.iter().filter_map(|item| match item.get_ref() {
            DeValue::Table(table) => Some((table, item.span().start)),
            _ => {
                self.problems.push(item.span().start, || format!("is not a {what}: write a table in braces"));
                None
            }
        });
        tables.collect()
    }

    /// Checks the value of the key that begins at `at`.
    fn value(&self, kind: Kind, value: &Value<'_>, at: usize) {
        let place = value.span().start;
        let wrong = |what: &str| self.problems.push(place, || format!("is {what}"));
        match (kind, value.get_ref()) {
            (Kind::Table(name), DeValue::Table(table)) => self.table(&[name], table, place),
            (Kind::Map(kind), DeValue::Table(table)) => {
                in_order(table).into_iter().for_each(|(_, at, value)| self.value(*kind, value, at));
            }
            (Kind::Table(_) | Kind::Map(_), _) => wrong("not a table"),
            (Kind::Steps, _) => {
                self.list(value, at, "step").into_iter().for_each(|(step, at)| self.step(step, at, &[]));
            }
            (Kind::Operations, _) => {
                self.list(value, at, "operation").into_iter().for_each(|(item, at)| self.operation(item, at));
            }
            (Kind::Controls, DeValue::Table(table)) => self.controls(table),
            (Kind::Controls, _) => wrong("not a table of controls"),
            (Kind::Capture, DeValue::Table(table)) => self.table(&["capture"], table, place),
            (Kind::Capture, DeValue::String(_)) if self.protocol == Some(Protocol::Ldap) => {}
            (Kind::Capture, _) if self.protocol == Some(Protocol::Ldap) => {
                wrong("not a capture: write \"mail\", or a table")
            }
            (Kind::Capture, _) => wrong("not a capture: write a table, such as { cookie = \"session\" }"),
            (Kind::Entry, DeValue::Table(_)) => self.value(Kind::Map(&Kind::Values), value, at),
            (Kind::Entry, DeValue::String(_)) => {}
            (Kind::Entry, _) => wrong("neither a table of attributes nor the name of data"),
            (Kind::Changes, DeValue::Table(table)) => self.table(&["change"], table, place),
            (Kind::Changes, _) => {
                let changes = self.list(value, at, "change");
                changes.into_iter().for_each(|(table, at)| self.table(&["change"], table, at));
            }
            (Kind::Values, DeValue::Array(list)) => {
                list.iter().for_each(|item| self.value(Kind::Value, item, item.span().start));
            }
            (Kind::Values, _) => self.value(Kind::Value, value, at),
            (Kind::Value, DeValue::Table(table)) => self.encoded(table, place),
            (Kind::Value, DeValue::String(_)) => self.text(Kind::Template, value),
            (Kind::Value, DeValue::Boolean(_)) => {}
            (Kind::Value, DeValue::Integer(_)) if int(value.get_ref()).is_some() => {}
            (Kind::Value, _) => {
                wrong("not a value: write text, a whole number, or a table such as { base64 = \"..\" }")
            }
            (Kind::Json, DeValue::Table(table)) => {
                in_order(table).into_iter().for_each(|(_, at, value)| self.value(kind, value, at));
            }
            (Kind::Json, DeValue::Array(list)) => {
                list.iter().for_each(|item| self.value(kind, item, item.span().start));
            }
            (Kind::Json, DeValue::String(_)) => self.text(Kind::Template, value),
            (Kind::Json, DeValue::Boolean(_)) => {}
            (Kind::Json, item) if int(item).is_some() || float(item).is_some() => {}
            (Kind::Json, _) => wrong("nothing that JSON has"),
            (Kind::Templates | Kind::Results | Kind::Statuses, DeValue::Array(list)) if !list.is_empty() => {
                list.iter().for_each(|item| self.one_of_several(kind, item));
            }
            (Kind::Templates | Kind::Results | Kind::Statuses, _) => self.one_of_several(kind, value),
            _ => self.scalar(kind, value),
        }
    }

    /// Checks a single value, or a list of single values.
    fn scalar(&self, kind: Kind, value: &Value<'_>) {
        let place = value.span().start;
        let wrong = |what: &str| self.problems.push(place, || format!("is {what}"));
        match (kind, value.get_ref()) {
            (Kind::Bool, DeValue::Boolean(_)) => {}
            (Kind::Bool, _) => wrong("neither true nor false"),
            (Kind::Int(least, most), other) => {
                if int(other).is_none_or(|number| !(least..=most).contains(&number)) {
                    self.problems.push(place, || match most {
                        MOST => format!("is not a whole number from {least} on"),
                        _ => format!("is not a whole number from {least} to {most}"),
                    });
                }
            }
            (Kind::Number, other) => {
                if number(other).is_none_or(|number| number <= 0.0) {
                    wrong("not a number over 0");
                }
            }
            (Kind::Ints, DeValue::Array(list)) if list.iter().all(|item| int(item.get_ref()).is_some()) => {}
            (Kind::Ints, _) => wrong("not a list of whole numbers"),
            (Kind::Texts, DeValue::Array(list))
                if list.iter().all(|item| item.get_ref().as_str().is_some()) => {}
            (Kind::Texts, _) => wrong("not a list of texts"),
            (Kind::Stages, DeValue::Array(list)) if !list.is_empty() => {
                for item in
                    list.iter().filter(|item| item.get_ref().as_str().and_then(grammar::stage).is_none())
                {
                    let what = "is not a stage: write \"30s:100/s\" for a rate, or \"30s:100\" for users";
                    self.problems.push(item.span().start, || what.to_owned());
                }
            }
            (Kind::Stages, _) => wrong("not a list of stages, such as [\"30s:100/s\", \"1m:500/s\"]"),
            (Kind::Per, DeValue::Integer(_))
                if int(value.get_ref()).is_some_and(|n| (1..=1 << 31).contains(&n)) => {}
            (Kind::Per, DeValue::String(text)) if grammar::per(text).is_some() => {}
            (Kind::Per, _) => {
                wrong("none of \"user\", \"iteration\", \"step\", or a number of operations from 1")
            }
            (Kind::Tls, DeValue::Boolean(_)) => {}
            (Kind::Tls, DeValue::String(text)) if text == "starttls" => {}
            (Kind::Tls, _) => wrong("none of true, false, \"starttls\""),
            (Kind::Times, DeValue::String(_)) => {}
            (Kind::Times, other) => {
                if int(other).is_none_or(|number| !(1..=1 << 31).contains(&number)) {
                    wrong("neither a number from 1 nor the name of a list that was captured");
                }
            }
            (Kind::Count, DeValue::String(text)) if grammar::count(text).is_some() => {}
            (Kind::Count, DeValue::Integer(_)) if int(value.get_ref()).is_some_and(|number| number >= 0) => {}
            (Kind::Count, _) => wrong("not a count: write 1, \">=1\", \"<=500\" or \"all\""),
            (Kind::Default, DeValue::Array(list))
                if list.iter().all(|item| item.get_ref().as_str().is_some()) => {}
            (Kind::Default, DeValue::String(_)) => {}
            (Kind::Default, _) => wrong("neither text nor a list of texts"),
            (_, DeValue::String(_)) => self.text(kind, value),
            (Kind::Word(words), _) => self
                .problems
                .push(place, || format!("is not text: write one of {}", listed(words.iter().copied()))),
            _ => wrong("not text"),
        }
    }

    fn one_of_several(&self, kind: Kind, value: &Value<'_>) {
        let place = value.span().start;
        match (kind, value.get_ref()) {
            (Kind::Statuses, other) if int(other).is_some_and(|code| (100..=599).contains(&code)) => {}
            (Kind::Results, other)
                if int(other).is_some_and(|code| (0..=i64::from(u16::MAX)).contains(&code)) => {}
            (_, DeValue::String(text)) => {
                self.text(Kind::Template, value);
                let is_code = kind != Kind::Templates;
                let field = Template::read(text).is_ok_and(|template| template.literal().is_none());
                let named = kind == Kind::Results && grammar::result_names().any(|(name, _)| name == text);
                if is_code && !field && !named {
                    self.problems.push(place, || match kind {
                        Kind::Results => {
                            let near = did_you_mean(text, grammar::result_names().map(|(name, _)| name));
                            format!("is not a result code: {}{near}", quoted(text))
                        }
                        _ => "is not a status code: write a number, such as 200".to_owned(),
                    });
                }
            }
            (Kind::Templates, _) => {
                self.problems.push(place, || "is neither text nor a list of texts".to_owned())
            }
            (Kind::Statuses, _) => {
                self.problems.push(place, || "is not a status code from 100 to 599".to_owned())
            }
            _ => self.problems.push(place, || "is not a result code".to_owned()),
        }
    }

    /// Checks a text of a kind with its own grammar.
    fn text(&self, kind: Kind, value: &Value<'_>) {
        let (Some(text), span) = (value.get_ref().as_str(), value.span()) else { return };
        let place = span.start;
        let within = |wrong: Result<(), grammar::Wrong>| {
            if let Err((at, what)) = wrong {
                self.problems.push(within(self.text, span.clone(), text, at), || what);
            }
        };
        let check = |right: bool, what: &str| {
            if !right {
                self.problems.push(place, || what.to_owned());
            }
        };
        let plain = matches!(kind, Kind::Text | Kind::Label | Kind::Connection | Kind::Class | Kind::Oid);
        let is_template = !plain && !matches!(kind, Kind::Word(_) | Kind::Duration);
        if let Some(error) = is_template.then(|| Template::read(text).err()).flatten() {
            return within(Err((error.at, error.what)));
        }
        match kind {
            Kind::Label => check(
                grammar::is_label(text),
                "cannot name a row: up to 64 letters, digits, spaces and _ . , : + -, a letter or digit first",
            ),
            Kind::Oid => {
                check(grammar::is_oid(text), "is not an object identifier, such as 1.3.6.1.4.1.4203.1.11.3")
            }
            Kind::Duration => check(
                grammar::duration(text).is_some(),
                "is not a duration: write 500ms, 2s, 10m or 1h, a year at most",
            ),
            Kind::Word(words) if !words.contains(&text) => self.problems.push(place, || {
                let near = did_you_mean(text, words.iter().copied());
                format!("is not one of {}{near}", listed(words.iter().copied()))
            }),
            Kind::Filter => within(grammar::filter(text)),
            Kind::Dn => within(grammar::dn(text)),
            Kind::Path => within(grammar::path(text)),
            Kind::DnOrPath if self.protocol == Some(Protocol::Http) => within(grammar::path(text)),
            Kind::DnOrPath => within(grammar::dn(text)),
            _ => {}
        }
    }

    fn encoded(&self, table: &DeTable<'_>, at: usize) {
        self.table(&["value"], table, at);
        if table.len() != 1 {
            self.problems.push(at, || "has none or several of base64, hex, utf16, file".to_owned());
        }
        for (name, value) in table {
            let text = value.get_ref().as_str().unwrap_or_default();
            let literal = Template::read(text).is_ok_and(|template| template.literal().is_some());
            let right = match name.get_ref().as_ref() {
                "base64" => STANDARD.decode(text).is_ok(),
                "hex" => text.len() % 2 == 0 && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
                "file" => !text.is_empty(),
                _ => true,
            };
            if literal && !right {
                self.problems.push(value.span().start, || format!("is not {}", name.get_ref()));
            }
        }
    }

    fn controls(&self, table: &DeTable<'_>) {
        for (name, at, value) in in_order(table) {
            match keys(&["controls"]).find(|key| key.name == name) {
                Some(key) => self.value(key.kind, value, at),
                None if grammar::is_oid(name) => self.value(Kind::Table("control"), value, at),
                None => self.problems.push(at, || {
                    let known = || keys(&["controls"]).map(|key| key.name);
                    match did_you_mean(name, known()) {
                        near if near.is_empty() => {
                            format!("is neither an OID nor one of {}", listed(known()))
                        }
                        near => format!("unknown control{near}"),
                    }
                }),
            }
        }
    }
}

/// The position in the file of byte `at` of a string's value; the position of the string if escapes have
/// moved the byte.
pub(crate) fn within(file: &str, span: std::ops::Range<usize>, value: &str, at: usize) -> usize {
    let written = file.get(span.clone()).unwrap_or_default();
    let quotes = (written.len().saturating_sub(value.len())) / 2;
    let as_it_is = written.get(quotes..quotes + value.len()) == Some(value);
    if as_it_is { span.start + quotes + at } else { span.start }
}

/// A whole number of 64 bits.
pub(crate) fn int(value: &DeValue<'_>) -> Option<i64> {
    let DeValue::Integer(number) = value else { return None };
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A finite number with a fraction or an exponent.
fn float(value: &DeValue<'_>) -> Option<f64> {
    let DeValue::Float(number) = value else { return None };
    number.as_str().parse().ok().filter(|number: &f64| number.is_finite())
}

/// A whole number or a finite number with a fraction.
pub(crate) fn number(value: &DeValue<'_>) -> Option<f64> {
    int(value).map(|number| number as f64).or_else(|| float(value))
}
