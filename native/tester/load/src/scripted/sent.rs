//! What is sent for a step beside what it is about, as people may read it: a text with the fields of the file.
//!
//! It is written from the file and not from the bytes that are sent: what is secret is a field there, and stands for itself.

use scenario::{
    Body, ChangeKind, Encoding, Entry, Field, Json, Named, Part, Request, Scope, Step, Template, Value, Verb,
    is_named_secret,
};

/// Of a shorter text too much else would be hidden.
const LEAST_SECRET: usize = 4;

/// All of a step's request but its verb and what that is about, and what of it is secret and stands in the file;
/// `common` are header lines of the whole file.
pub(crate) fn rest(step: &Step, common: &[Named]) -> (Template, Vec<String>) {
    let mut line = Line::default();
    match &step.verb {
        Verb::Bind { password, .. } => line.password("password", password.as_ref()),
        Verb::Search(search) => {
            line.key("base", &search.base);
            let scope = match search.scope {
                Scope::Base => "base",
                Scope::One => "one",
                Scope::Sub => "sub",
                Scope::Children => "children",
            };
            line.word("scope", scope);
            if !search.attributes.is_empty() {
                line.word("attributes", &search.attributes.join(","));
            }
        }
        Verb::Compare { entry, .. } | Verb::Add { entry, .. } => line.entry(entry),
        Verb::Modify { changes, .. } => {
            for change in changes {
                let kind = match change.kind {
                    ChangeKind::Add => "add",
                    ChangeKind::Delete => "delete",
                    ChangeKind::Replace => "replace",
                    ChangeKind::Increment => "increment",
                };
                line.values(&format!("{kind}.{}", change.attribute), &change.attribute, &change.values);
            }
        }
        Verb::ModifyDn { new_rdn, new_superior, .. } => {
            line.key("new_rdn", new_rdn);
            new_superior.iter().for_each(|superior| line.key("new_superior", superior));
        }
        Verb::PasswordModify { old_password, new_password, .. } => {
            line.password("old_password", old_password.as_ref());
            line.password("new_password", new_password.as_ref());
        }
        Verb::Refresh { ttl, .. } => line.word("ttl", &format!("{ttl:?}")),
        Verb::Extended { value: Some(value), .. } => {
            line.values("value", "value", std::slice::from_ref(value))
        }
        Verb::Request(request) => line.request(request, common),
        _ => {}
    }
    for control in &step.controls {
        line.word("control", control.oid());
    }
    line.secrets.retain(|secret| secret.len() >= LEAST_SECRET);
    (line.told, line.secrets)
}

/// What a step is about, with names in place of secrets that stand in the file, and these: values of a filter's
/// attributes and of a path's parameters.
pub(crate) fn about(verb: &Verb, about: &Template) -> (Template, Vec<String>) {
    let mut line = Line::default();
    match verb {
        Verb::Search(_) => line.pairs(about, "(", "=~<>:", ")", is_named_secret),
        Verb::Request(_) => line.pairs(about, "?&", "=", "&", is_secret),
        _ => line.filled(about),
    }
    line.secrets.retain(|secret| secret.len() >= LEAST_SECRET);
    (line.told, line.secrets)
}

/// A text that grows.
#[derive(Default)]
struct Line {
    told: Template,
    /// What stands in the file itself and is not told.
    secrets: Vec<String>,
}

impl Line {
    fn text(&mut self, text: &str) {
        if let Some(Part::Text(last)) = self.told.parts.last_mut() {
            last.push_str(text);
        } else {
            self.told.parts.push(Part::Text(text.to_owned()));
        }
    }

    /// Begins a part.
    fn begin(&mut self, key: &str) {
        let gap = if self.told.parts.is_empty() { "" } else { " " };
        self.text(&format!("{gap}{key}="));
    }

    fn word(&mut self, key: &str, word: &str) {
        self.begin(key);
        self.text(word);
    }

    /// A part that is filled in.
    fn key(&mut self, key: &str, template: &Template) {
        self.begin(key);
        self.text("\"");
        self.filled(template);
        self.text("\"");
    }

    fn filled(&mut self, template: &Template) {
        for part in &template.parts {
            match part {
                Part::Text(text) => self.text(text),
                Part::Field(_) => self.told.parts.push(part.clone()),
            }
        }
    }

    /// The same by its fields' names, whatever they stand for; nothing of a literal.
    fn password(&mut self, key: &str, template: Option<&Template>) {
        let Some(template) = template.filter(|template| !template.parts.is_empty()) else { return };
        let shown = match template.literal() {
            Some(literal) => {
                self.secrets.push(literal.to_owned());
                "{password}".to_owned()
            }
            None => template.to_string(),
        };
        self.word(key, &shown);
    }

    /// Names and values, of which those of secrets are not told: a name comes after one of `before`, a value between
    /// one of `between` and one of `after`.
    fn pairs(&mut self, text: &Template, before: &str, between: &str, after: &str, secret: fn(&str) -> bool) {
        let (mut name, mut value) = (String::new(), None::<String>);
        for part in &text.parts {
            let text = match part {
                Part::Text(text) => text,
                Part::Field(field) if value.is_some() => {
                    self.hide(&mut value);
                    value = Some(String::new());
                    self.text(&field.to_string());
                    continue;
                }
                Part::Field(_) => {
                    self.told.parts.push(part.clone());
                    continue;
                }
            };
            for c in text.chars() {
                if value.is_some() && after.contains(c) {
                    self.hide(&mut value);
                }
                match &mut value {
                    Some(value) if c != '=' || !value.is_empty() => {
                        value.push(c);
                        continue;
                    }
                    Some(_) => {}
                    None if before.contains(c) => name.clear(),
                    None if between.contains(c) && secret(&name) => value = Some(String::new()),
                    None => name.push(c),
                }
                self.text(c.encode_utf8(&mut [0; 4]));
            }
        }
        self.hide(&mut value);
    }

    /// Tells a secret by what it is.
    fn hide(&mut self, value: &mut Option<String>) {
        match value.take() {
            Some(value) if value == "*" => self.text("*"),
            Some(value) if !value.is_empty() => {
                self.text("{secret}");
                self.secrets.push(value);
            }
            _ => {}
        }
    }

    /// Values of what has a name, by which they may be secret.
    fn values(&mut self, key: &str, name: &str, values: &[Value]) {
        if values.is_empty() {
            self.word(key, "[]");
        }
        for value in values {
            let how = match value.encoding {
                Encoding::Text => "",
                Encoding::Base64 => "base64:",
                Encoding::Hex => "hex:",
                Encoding::Utf16 => "utf16:",
                Encoding::File => "file:",
            };
            let key = format!("{key}{}{how}", if how.is_empty() { "" } else { "=" });
            let key = key.trim_end_matches(':');
            if is_named_secret(name) {
                self.password(key, Some(&value.text));
            } else {
                self.key(key, &value.text);
            }
        }
    }

    fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::Row(data) => self.word("entry", data),
            Entry::Attributes(attributes) => {
                for (name, values) in attributes {
                    self.values(name, name, values);
                }
            }
        }
    }

    fn request(&mut self, request: &Request, common: &[Named]) {
        let is_own = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
        let common = common.iter().filter(|(name, _)| !is_own(name));
        for (name, value) in common.chain(&request.headers) {
            self.named(&format!("headers.{name}"), name, value);
        }
        match &request.body {
            Some(Body::Form(fields)) => {
                for (name, value) in fields {
                    self.named(&format!("form.{name}"), name, value);
                }
            }
            Some(Body::Json(json)) => {
                self.begin("json");
                self.json(false, json);
            }
            Some(Body::Text(text, _)) => self.key("body", text),
            None => {}
        }
    }

    fn named(&mut self, key: &str, name: &str, value: &Template) {
        if is_secret(name) { self.password(key, Some(value)) } else { self.key(key, value) }
    }

    /// A value; `secret` if it, or what it is within, has such a name.
    fn json(&mut self, secret: bool, json: &Json) {
        match json {
            Json::Text(text) if secret => {
                let named: Vec<_> = text.fields().map(Field::to_string).collect();
                self.secrets.extend(text.literal().map(str::to_owned));
                self.text(&format!(
                    "{:?}",
                    if named.is_empty() { "{secret}".to_owned() } else { named.concat() }
                ));
            }
            Json::Text(text) => {
                self.text("\"");
                self.filled(text);
                self.text("\"");
            }
            Json::Literal(literal) if secret => {
                self.secrets.extend(
                    Some(literal).filter(|literal| *literal != "true" && *literal != "false").cloned(),
                );
                self.text("{secret}");
            }
            Json::Literal(literal) => self.text(literal),
            Json::List(list) => {
                self.text("[");
                for (number, each) in list.iter().enumerate() {
                    self.text(if number > 0 { ", " } else { "" });
                    self.json(secret, each);
                }
                self.text("]");
            }
            Json::Object(fields) => {
                self.text("{");
                for (number, (name, each)) in fields.iter().enumerate() {
                    self.text(&format!("{}{name:?}: ", if number > 0 { ", " } else { "" }));
                    self.json(secret || is_secret(name), each);
                }
                self.text("}");
            }
        }
    }
}

/// Whether what has this name in a request of HTTP is never shown: a header, a field, a parameter.
pub(crate) fn is_secret(name: &str) -> bool {
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

/// A text with names in place of secrets, of which one may be a part of another.
pub(crate) fn hide(said: String, mut secrets: Vec<(String, &str)>) -> String {
    secrets.retain(|(secret, _)| !secret.is_empty());
    secrets.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
    secrets.iter().fold(said, |said, (secret, name)| said.replace(secret, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_in_any_writing() {
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
            assert!(is_secret(name), "{name}");
        }
        for name in ["author", "postcode", "zip", "side", "design", "page", "Accept", "user"] {
            assert!(!is_secret(name), "{name}");
        }
    }
}
