//! What is sent for a step beside what it is about, as people may read it: a text with the fields of the file.
//!
//! It is written from the file and not from the bytes that are sent: what is secret is a field there, and stands for itself.

use scenario::{
    Body, ChangeKind, Encoding, Entry, Field, Json, Named, Part, Request, Scope, Step, Template, Value, Verb,
    is_named_secret,
};

/// Header lines that say who asks.
const CREDENTIALS: [&str; 3] = ["authorization", "proxy-authorization", "cookie"];

/// All of a step's request but its verb and what that is about; `common` are header lines of the whole file.
pub(crate) fn rest(step: &Step, common: &[Named]) -> Template {
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
    line.0
}

/// A text that grows.
#[derive(Default)]
struct Line(Template);

impl Line {
    fn text(&mut self, text: &str) {
        if let Some(Part::Text(last)) = self.0.parts.last_mut() {
            last.push_str(text);
        } else {
            self.0.parts.push(Part::Text(text.to_owned()));
        }
    }

    /// Begins a part.
    fn begin(&mut self, key: &str) {
        let gap = if self.0.parts.is_empty() { "" } else { " " };
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
                Part::Field(_) => self.0.parts.push(part.clone()),
            }
        }
    }

    /// The same by its fields' names, whatever they stand for; nothing of a literal.
    fn password(&mut self, key: &str, template: Option<&Template>) {
        let Some(template) = template.filter(|template| !template.parts.is_empty()) else { return };
        let shown = if template.literal().is_some() { "{password}".to_owned() } else { template.to_string() };
        self.word(key, &shown);
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
            if is_secret(name) { self.password(key, Some(&value.text)) } else { self.key(key, &value.text) }
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
            Json::Literal(_) if secret => self.text("{secret}"),
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

/// Whether what has this name is never shown.
fn is_secret(name: &str) -> bool {
    is_named_secret(name) || CREDENTIALS.iter().any(|known| name.eq_ignore_ascii_case(known))
}
