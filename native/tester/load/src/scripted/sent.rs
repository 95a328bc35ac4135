//! The values that a step sends, as readers may see them: a text with the fields of the file.
//!
//! The text is made from the file and not from the bytes on the wire. In the file a secret is a field, and
//! the name of the field is shown.

use scenario::{
    Encoding, Entry, Named, Part, Place, Secrecy, Step, StepText, Template, Verb, header_texts,
    is_named_secret, is_named_secret_on_sites,
};
use wire::ldap::Scope;

/// Shorter secrets of the file are not hidden elsewhere, because too much other text would be hidden as well.
const LEAST_SECRET: usize = 4;

/// The texts of a step, after the header lines of the whole file that its request does not replace.
pub(crate) fn texts_of<'s>(step: &'s Step, common: &'s [Named]) -> Vec<StepText<'s>> {
    let own = step.texts();
    let mut texts = if matches!(step.verb, Verb::Request(_)) { header_texts(common) } else { Vec::new() };
    texts.retain(|text| !own.iter().any(|other| other.key.eq_ignore_ascii_case(&text.key)));
    texts.extend(own);
    texts
}

/// A step's request without its verb and subject, and the secrets that are written in the file. `common` are
/// header lines of the whole file.
pub(crate) fn rest(step: &Step, common: &[Named]) -> (Template, Vec<String>) {
    let mut line = Line::default();
    let texts = texts_of(step, common);
    texts.iter().filter(|text| text.place == Place::Sent).for_each(|text| line.sent(text));
    match &step.verb {
        Verb::Search(search) => {
            let scope = match search.scope {
                Scope::Base => "base",
                Scope::One => "one",
                Scope::Subtree => "sub",
                Scope::Children => "children",
            };
            line.word("scope", scope);
            if !search.attributes.is_empty() {
                line.word("attributes", &search.attributes.join(","));
            }
        }
        Verb::Compare { entry: Entry::Row(data), .. } | Verb::Add { entry: Entry::Row(data), .. } => {
            line.word("entry", data);
        }
        Verb::Modify { changes, .. } => {
            let empty = changes.iter().filter(|change| change.values.is_empty());
            empty.for_each(|change| line.word(&format!("{}.{}", change.kind.word(), change.attribute), "[]"));
        }
        Verb::Refresh { ttl, .. } => line.word("ttl", &format!("{ttl:?}")),
        _ => {}
    }
    for control in &step.controls {
        line.word("control", control.oid());
    }
    line.secrets.retain(|secret| secret.len() >= LEAST_SECRET);
    (line.shown, line.secrets)
}

/// The subject of a step, with names in place of secrets that are written in the file: secret values in a
/// filter's assertions or a path's parameters.
pub(crate) fn about(verb: &Verb, about: &Template) -> (Template, Vec<String>) {
    let mut line = Line::default();
    match verb {
        Verb::Search(_) => line.pairs(about, "(", "=~<>:", ")", is_named_secret),
        Verb::Request(_) => line.pairs(about, "?&", "=", "&", is_named_secret_on_sites),
        _ => line.filled(about),
    }
    line.secrets.retain(|secret| secret.len() >= LEAST_SECRET);
    (line.shown, line.secrets)
}

/// A text that is being built.
#[derive(Default)]
struct Line {
    shown: Template,
    /// Secrets that are written in the file.
    secrets: Vec<String>,
}

impl Line {
    fn text(&mut self, text: &str) {
        if let Some(Part::Text(last)) = self.shown.parts.last_mut() {
            last.push_str(text);
        } else {
            self.shown.parts.push(Part::Text(text.to_owned()));
        }
    }

    fn begin(&mut self, key: &str) {
        let gap = if self.shown.parts.is_empty() { "" } else { " " };
        self.text(&format!("{gap}{key}="));
    }

    fn word(&mut self, key: &str, word: &str) {
        self.begin(key);
        self.text(word);
    }

    /// Appends `key="template"`.
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
                Part::Field(_) => self.shown.parts.push(part.clone()),
            }
        }
    }

    /// Appends the names of a password's fields, but no literal text.
    fn password(&mut self, key: &str, template: &Template) {
        if template.parts.is_empty() {
            return;
        }
        let shown = match template.literal() {
            Some(literal) => {
                if !matches!(literal, "true" | "false") {
                    self.secrets.push(literal.to_owned());
                }
                "{password}".to_owned()
            }
            None => template.to_string(),
        };
        self.word(key, &shown);
    }

    /// Appends names and values, without secret values. A name follows a character of `before`; a value is
    /// between a character of `between` and a character of `after`.
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
                    self.shown.parts.push(part.clone());
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

    /// Replaces a secret value.
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

    fn sent(&mut self, StepText { key, text, encoding, secrecy, .. }: &StepText<'_>) {
        let how = match encoding {
            Encoding::Text => "",
            Encoding::Base64 => "=base64",
            Encoding::Hex => "=hex",
            Encoding::Utf16 => "=utf16",
            Encoding::File => "=file",
        };
        let key = format!("{key}{how}");
        if *secrecy == Secrecy::Shown { self.key(&key, text) } else { self.password(&key, text) }
    }
}
