//! The texts of a step with their keys, uses and secrecy.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::form::GENERATED;
use crate::template::{Field, Part, Template};
use crate::types::{
    Body, Capture, Control, Data, Encoding, Entry, Json, Named, Scenario, Source, Step, Value, Verb,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepText<'s> {
    /// The key in the file, such as `replace.mail`.
    pub key: Cow<'s, str>,
    pub text: Cow<'s, Template>,
    pub encoding: Encoding,
    pub secrecy: Secrecy,
    pub place: Place,
}

/// The parts of a text that are hidden in output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Secrecy {
    Shown,
    /// The literal text is hidden; the values of its fields are shown. A cookie that contains a column needs
    /// this.
    Literal,
    /// The literal text and the values of all its fields are hidden.
    Secret,
}

/// The use of a text of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The entry, filter or path that the request is about.
    Subject,
    /// A named value within the subject, such as a parameter of the path.
    Part,
    /// A part of the request.
    Sent,
    /// A part of a control of the request.
    Control,
    /// A text that is compared with the answer.
    Expected,
}

impl Step {
    /// All texts of the step that may have fields. Output would show the secrets of a text that
    /// this list misses.
    pub fn texts(&self) -> Vec<StepText<'_>> {
        let mut texts = Texts(Vec::new());
        match &self.verb {
            Verb::Bind { bind, password, sasl: _, version: _ } => {
                texts.subject(bind);
                texts.sent("password", password.as_ref(), Secrecy::Secret);
            }
            Verb::Search(search) => {
                texts.subject(&search.filter);
                texts.parts(&search.filter, FILTER, of_attribute);
                texts.sent("base", Some(&search.base), Secrecy::Shown);
            }
            Verb::Compare { dn, entry } | Verb::Add { dn, entry, keep: _ } => {
                texts.subject(dn);
                texts.entry(entry, Place::Sent);
            }
            Verb::Modify { dn, changes } => {
                texts.subject(dn);
                for change in changes {
                    let key = format!("{}.{}", change.kind.word(), change.attribute);
                    texts.values(&key, &change.values, of_attribute(&change.attribute), Place::Sent);
                }
            }
            Verb::ModifyDn { dn, new_rdn, delete_old_rdn: _, new_superior } => {
                texts.subject(dn);
                texts.sent("new_rdn", Some(new_rdn), Secrecy::Shown);
                texts.sent("new_superior", new_superior.as_ref(), Secrecy::Shown);
            }
            Verb::Delete { dn } | Verb::Refresh { dn, ttl: _ } => texts.subject(dn),
            Verb::PasswordModify { dn, old_password, new_password } => {
                texts.subject(dn);
                texts.sent("old_password", old_password.as_ref(), Secrecy::Secret);
                texts.sent("new_password", new_password.as_ref(), Secrecy::Secret);
            }
            // Only the server knows whether the value is a secret.
            Verb::Extended { oid: _, value } => {
                texts.values("value", value.as_slice(), Secrecy::Secret, Place::Sent);
            }
            Verb::Request(request) => {
                texts.subject(&request.path);
                texts.parts(&request.path, QUERY, of_parameter);
                texts.headers(&request.headers, Place::Sent);
                match &request.body {
                    Some(Body::Form(fields)) => {
                        for (name, value) in fields {
                            texts.push(format!("form.{name}"), value, of_parameter(name), Place::Sent);
                        }
                    }
                    Some(Body::Json(json)) => texts.json("json", json, Secrecy::Shown),
                    Some(Body::Text(text, _)) => {
                        texts.sent("body", Some(text), Secrecy::Shown);
                        // The text may be an encoded form.
                        texts.parts(text, QUERY, of_parameter);
                    }
                    None => {}
                }
            }
            Verb::Unbind { connection: _ }
            | Verb::File { class: _ }
            | Verb::Program { .. }
            | Verb::Think { .. }
            | Verb::Repeat { .. } => {}
        }
        self.controls.iter().for_each(|control| texts.control(control));
        let expect = &self.expect;
        expect.entry.iter().for_each(|entry| texts.entry(entry, Place::Expected));
        let identity = expect.identity.as_ref().map(|identity| &identity.value);
        for text in expect.dn.iter().chain(&expect.contains).chain(&expect.fresh).chain(identity) {
            texts.push("expect", text, Secrecy::Shown, Place::Expected);
        }
        texts.headers(&expect.headers, Place::Expected);
        texts.0
    }
}

impl Scenario {
    /// Files from which values are read. The flag of a file tells whether its contents are secret.
    pub fn value_files(&self) -> Vec<(&str, bool)> {
        let mut files: Vec<(&str, bool)> = Vec::new();
        for text in self.steps().flat_map(Step::texts) {
            // Paths of files are the only texts with this encoding, and such a text is always borrowed.
            let (Encoding::File, Cow::Borrowed(template)) = (text.encoding, text.text) else { continue };
            let Some(path) = template.literal() else { continue };
            let secret = text.secrecy == Secrecy::Secret;
            match files.iter_mut().find(|(key, _)| *key == path) {
                Some((_, hidden)) => *hidden |= secret,
                None => files.push((path, secret)),
            }
        }
        files
    }

    /// Secret columns of data: columns listed as secret, and columns that are a part of a password.
    pub fn secret_columns(&self, data: &Data) -> Vec<String> {
        let texts: Vec<_> =
            header_texts(&self.headers).into_iter().chain(self.steps().flat_map(Step::texts)).collect();
        let secret = texts.iter().filter(|text| text.secrecy == Secrecy::Secret).map(|text| &*text.text);
        let passwords = self.connections.iter().filter_map(|connection| connection.password.as_ref());
        let mut columns = data.secret.clone();
        // Values may use other values, so each value is visited once.
        let mut seen = HashSet::new();
        let mut fields: Vec<&Field> = passwords.chain(secret).flat_map(Template::fields).collect();
        while let Some(field) = fields.pop() {
            match field {
                Field::Column(name, column) if *name == data.name && !columns.contains(column) => {
                    columns.push(column.clone());
                }
                Field::Name(name) if *name == data.name && !columns.contains(name) => {
                    columns.push(name.clone())
                }
                Field::Name(name) if seen.insert(name) => {
                    let value = self.values.iter().find(|(key, _)| key == name);
                    fields.extend(value.into_iter().flat_map(|(_, template)| template.fields()));
                }
                _ => {}
            }
        }
        columns
    }

    /// Captures that are used as passwords, and so are secret.
    pub fn secret_captures(&self) -> Vec<String> {
        let is_secret = |capture: &&Capture| match &capture.from {
            Source::Attribute(name) => name == GENERATED || is_named_secret(name),
            _ => false,
        };
        let captures = self.steps().flat_map(|step| step.captures.iter().filter(is_secret));
        captures.map(|capture| capture.name.clone()).collect()
    }
}

/// Header lines as texts. Common header lines are sent with every request.
pub fn header_texts(headers: &[Named]) -> Vec<StepText<'_>> {
    let mut texts = Texts(Vec::new());
    texts.headers(headers, Place::Sent);
    texts.0
}

/// The characters before a name, between the name and its value, and after the value.
type Marks = [&'static str; 3];
const FILTER: Marks = ["(", "=~<>:", ")"];
const QUERY: Marks = ["?&", "=", "&"];

struct Texts<'s>(Vec<StepText<'s>>);

impl<'s> Texts<'s> {
    fn push(&mut self, key: impl Into<Cow<'s, str>>, text: &'s Template, secrecy: Secrecy, place: Place) {
        let text = Cow::Borrowed(text);
        self.0.push(StepText { key: key.into(), text, encoding: Encoding::Text, secrecy, place });
    }

    fn subject(&mut self, text: &'s Template) {
        self.push("", text, Secrecy::Shown, Place::Subject);
    }

    fn sent(&mut self, key: &'static str, text: Option<&'s Template>, secrecy: Secrecy) {
        text.into_iter().for_each(|text| self.push(key, text, secrecy, Place::Sent));
    }

    fn values(&mut self, key: &str, values: &'s [Value], secrecy: Secrecy, place: Place) {
        for Value { text, encoding } in values {
            let (key, text) = (Cow::Owned(key.to_owned()), Cow::Borrowed(text));
            self.0.push(StepText { key, text, encoding: *encoding, secrecy, place });
        }
    }

    fn entry(&mut self, entry: &'s Entry, place: Place) {
        let Entry::Attributes(attributes) = entry else { return };
        for (name, values) in attributes {
            self.values(name, values, of_attribute(name), place);
        }
    }

    fn headers(&mut self, headers: &'s [Named], place: Place) {
        for (name, value) in headers {
            let secrecy = if is_for_credentials(name) { Secrecy::Secret } else { of_parameter(name) };
            self.push(format!("headers.{name}"), value, secrecy, place);
        }
    }

    fn json(&mut self, key: &str, json: &'s Json, secrecy: Secrecy) {
        match json {
            Json::Text(text) => self.push(key.to_owned(), text, secrecy, Place::Sent),
            Json::Literal(literal) => {
                let text = Cow::Owned(Template { parts: vec![Part::Text(literal.clone())] });
                let key = Cow::Owned(key.to_owned());
                self.0.push(StepText { key, text, encoding: Encoding::Text, secrecy, place: Place::Sent });
            }
            Json::List(list) => list.iter().for_each(|item| self.json(key, item, secrecy)),
            Json::Object(fields) => {
                for (name, item) in fields {
                    self.json(&format!("{key}.{name}"), item, secrecy.max(of_parameter(name)));
                }
            }
        }
    }

    fn control(&mut self, control: &'s Control) {
        match control {
            Control::ProxiedAuthorization(who) => self.push("control", who, Secrecy::Shown, Place::Control),
            Control::Assertion(filter) => {
                self.push("control", filter, Secrecy::Shown, Place::Control);
                self.parts(filter, FILTER, of_attribute);
            }
            // Only the server knows whether the value is a secret.
            Control::Other { oid: _, critical: _, value } => {
                self.values("control", value.as_slice(), Secrecy::Secret, Place::Control);
            }
            Control::Sort(_)
            | Control::PreRead(_)
            | Control::PostRead(_)
            | Control::ManageDsaIt
            | Control::PermissiveModify
            | Control::SubtreeDelete
            | Control::PasswordPolicy
            | Control::Subentries => {}
        }
    }

    /// Adds the fields in `text` that are the values of secret names.
    fn parts(&mut self, text: &Template, [before, between, after]: Marks, secrecy: fn(&str) -> Secrecy) {
        let (mut name, mut is_value) = (String::new(), false);
        for part in &text.parts {
            let text = match part {
                Part::Text(text) => text,
                Part::Field(_) => {
                    if is_value && secrecy(&name) > Secrecy::Shown {
                        let (key, text) = (name.clone().into(), Template { parts: vec![part.clone()] });
                        let (encoding, secrecy) = (Encoding::Text, secrecy(&name));
                        let text = Cow::Owned(text);
                        self.0.push(StepText { key, text, encoding, secrecy, place: Place::Part });
                    }
                    continue;
                }
            };
            for c in text.chars() {
                if is_value && after.contains(c) {
                    is_value = false;
                }
                if !is_value && before.contains(c) {
                    name.clear();
                } else if !is_value && between.contains(c) {
                    is_value = true;
                } else if !is_value {
                    name.push(c);
                }
            }
        }
    }
}

fn of_attribute(name: &str) -> Secrecy {
    if is_named_secret(name) { Secrecy::Secret } else { Secrecy::Shown }
}

fn of_parameter(name: &str) -> Secrecy {
    match (is_named_secret(name), is_named_secret_on_sites(name)) {
        (true, _) => Secrecy::Secret,
        (_, true) => Secrecy::Literal,
        _ => Secrecy::Shown,
    }
}

pub(crate) fn is_for_credentials(header: &str) -> bool {
    ["authorization", "proxy-authorization"].iter().any(|name| header.eq_ignore_ascii_case(name))
}

/// Whether the name of a column or an attribute suggests a secret.
pub fn is_named_secret(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphabetic());
    ["pass", "pwd", "secret", "token"].iter().any(|part| lower.contains(part))
        || words.any(|word| matches!(word, "otp" | "pin" | "pw"))
}

/// Whether the name of an HTTP header, form field or parameter suggests a secret.
pub fn is_named_secret_on_sites(name: &str) -> bool {
    let lower = name.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    is_named_secret(name)
        || ["authoriz", "authent", "oauth", "cookie", "jwt", "session", "signature"]
            .iter()
            .any(|part| lower.contains(part))
        || words.any(|word| {
            word.ends_with("key") || word.ends_with("sid") || matches!(word, "auth" | "code" | "sig")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_recognised_in_any_spelling() {
        for name in [
            "Authorization",
            "Cookie",
            "X-Api-Key",
            "apikey",
            "PHPSESSID",
            "sid",
            "code",
            "auth",
            "X-Csrf-Token",
            "otp",
            "JSESSIONID",
        ] {
            assert!(is_named_secret_on_sites(name), "{name}");
        }
        for name in ["author", "postcode", "zip", "side", "design", "page", "Accept", "user"] {
            assert!(!is_named_secret_on_sites(name), "{name}");
        }
    }
}
