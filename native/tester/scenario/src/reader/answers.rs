//! Reads expected answers and captures.

use toml::de::DeValue;

use super::Reader;
use super::table::{Item, Table};
use crate::form::{Answer, Protocol, VerbForm};
use crate::grammar;
use crate::problem::quoted;
use crate::shape::int;
use crate::template::Template;
use crate::types::{Capture, Code, Count, Expect, Identity, Rows, Source, Take};

/// The parts of a verb's answer.
fn answer(verb: &str) -> Answer {
    VerbForm::of(verb).map_or(Answer::Nothing, |verb| verb.answer)
}

impl<'d, 't> Reader<'_, 'd, 't> {
    pub(super) fn expect(&mut self, table: Table<'d, 't>, verb: &str) -> Expect {
        let has_entries = answer(verb) == Answer::Entries;
        for key in ["entries", "entry", "every", "dn"] {
            if !has_entries && table.has(key) {
                self.wrong(table.at(key), format!("only a search has entries, and this is {verb}"));
            }
        }
        let identity = table.table("identity").map(|identity| Identity {
            before: identity.text("before").unwrap_or_default(),
            value: identity.get("value").map_or_else(Template::default, |value| self.template(value)),
            until: identity.text("until").unwrap_or_else(|| "\"".to_owned()),
        });
        if let Some(empty) =
            identity.as_ref().filter(|identity| identity.before.is_empty() || identity.until.is_empty())
        {
            let key = if empty.before.is_empty() { "before" } else { "until" };
            self.wrong(table.at("identity"), format!("{key:?} is empty"));
        }
        let entries = table.get("entries").and_then(|value| match value.get_ref() {
            DeValue::String(text) => grammar::count(text),
            other => int(other).and_then(|count| u64::try_from(count).ok()).map(Count::Exactly),
        });
        table.entries("headers").iter().filter(|(name, ..)| !grammar::is_token(name)).for_each(
            |(name, at, _)| {
                self.wrong(*at, format!("{} cannot name a header", quoted(name)));
            },
        );
        Expect {
            results: self.codes(table, "result"),
            entries,
            entry: table.has("entry").then(|| self.entry(table)),
            every: self.every(table, entries == Some(Count::All)),
            dn: table.get("dn").map(|value| self.dn(value)),
            control: table.text("control"),
            statuses: self.codes(table, "status"),
            length: table.int("length"),
            contains: self.templates(table.get("contains")),
            headers: self.named_texts(table, "headers"),
            identity,
            fresh: self.templates(table.get("fresh")),
        }
    }

    /// The data set of which each entry must be a row. Only seeded people are allowed, because `entries` may
    /// be `"all"`, and the number of other people is unknown.
    fn every(&mut self, table: Table<'d, 't>, counts_all: bool) -> Option<String> {
        let Some(name) = table.text("every") else {
            if counts_all {
                self.wrong(table.at("entries"), "\"all\" counts people: say of which data, with every");
            }
            return None;
        };
        match self.names.data.get_mut(&name) {
            Some(data) if data.what.rows == Rows::Seeded => data.used = true,
            _ => self
                .wrong(table.at("every"), format!("{} is no data with people = \"seeded\"", quoted(&name))),
        }
        for key in ["entry", "dn"].into_iter().filter(|key| table.has(key)) {
            self.wrong(table.at(key), "is of one entry, and every of each: leave one of them out");
        }
        Some(name)
    }

    pub(super) fn codes(&mut self, table: Table<'d, 't>, key: &str) -> Vec<Code> {
        let Some(value) = table.get(key) else { return Vec::new() };
        let list = match value.get_ref() {
            DeValue::Array(list) => &list[..],
            _ => std::slice::from_ref(value),
        };
        let code = |item: &Item<'t>| match item.get_ref() {
            DeValue::String(text) => match grammar::result_names().find(|(name, _)| name == text) {
                Some((_, code)) => Code::Number(code),
                None => Code::Field(self.template(item)),
            },
            other => Code::Number(int(other).and_then(|code| u32::try_from(code).ok()).unwrap_or_default()),
        };
        list.iter().map(code).collect()
    }

    pub(super) fn capture(&mut self, name: &str, at: usize, value: &Item<'t>, verb: &str) -> Capture {
        if !grammar::is_name(name) {
            self.wrong(
                at,
                format!("{} cannot be a name: a letter, then letters, digits, - and _", quoted(name)),
            );
        } else if self.names.is_taken(name) {
            self.wrong(
                at,
                format!("{name:?} is taken: it names data or a value, or has a meaning of its own"),
            );
        }
        let (from, take, default) = match value.get_ref() {
            DeValue::Table(table) => {
                let table = Table { table, at: value.span().start };
                let take = table.word("take").unwrap_or_default();
                (self.source_of(table), take, self.default(table, take))
            }
            other => (Source::Attribute(other.as_str().unwrap_or_default().to_owned()), Take::First, None),
        };
        if let Source::Attribute(attribute) = &from {
            let (right, what) = match answer(verb) {
                Answer::Entries => {
                    (grammar::is_attribute(attribute), format!("{} is not an attribute", quoted(attribute)))
                }
                Answer::Value(name) => (attribute == name, format!("the answer has nothing but {name:?}")),
                Answer::Nothing => (false, format!("the answer to {verb} has nothing to capture")),
            };
            // Another message reports a table without an attribute.
            let is_said = attribute.is_empty() && value.get_ref().as_table().is_some();
            if !right && !is_said {
                self.wrong(value.span().start, what);
            }
        }
        Capture { name: name.to_owned(), from, take, default }
    }

    pub(super) fn source_of(&self, table: Table<'d, 't>) -> Source {
        let kinds = ["attribute", "cookie", "header", "json", "before"];
        let given: Vec<_> = kinds.into_iter().filter(|kind| table.has(kind)).collect();
        let text = |key: &str| table.text(key).unwrap_or_default();
        let (what, from) = match given[..] {
            ["attribute"] => (None, Source::Attribute(text("attribute"))),
            ["cookie"] => (None, Source::Cookie(text("cookie"))),
            ["header"] => {
                let wrong = !grammar::is_token(&text("header"));
                (wrong.then_some("is not a header"), Source::Header(text("header")))
            }
            ["json"] => {
                let pointer = text("json");
                let wrong = !(pointer.is_empty() || pointer.starts_with('/'));
                (
                    wrong.then_some("is not a JSON pointer, such as \"/user/id\" (RFC 6901)"),
                    Source::Json(pointer),
                )
            }
            ["before"] => (None, Source::Between(text("before"), text("until"))),
            _ if self.protocol == Protocol::Ldap => {
                (Some("captures nothing: write attribute"), Source::Attribute(String::new()))
            }
            _ => (
                Some("captures nothing, or two things: write one of cookie, header, json, before with until"),
                Source::Cookie(String::new()),
            ),
        };
        let between =
            matches!(&from, Source::Between(before, until) if before.is_empty() || until.is_empty());
        if let Some(what) = what {
            self.wrong(
                given.first().filter(|_| given.len() == 1).map_or(table.at, |key| table.at(key)),
                what,
            );
        } else if between || table.has("until") && given != ["before"] {
            self.wrong(table.at, "needs both before and until, and text in them");
        } else if given.first().is_some_and(|key| *key != "json" && text(key).is_empty()) {
            self.wrong(table.at, "captures something without a name");
        }
        from
    }

    pub(super) fn default(&self, table: Table<'d, 't>, take: Take) -> Option<Vec<String>> {
        let list = table.get("default")?.get_ref().as_str().is_none();
        if list != (take == Take::All) {
            let what = if list {
                "is a list, and one value is captured"
            } else {
                "is one value, and a list is captured"
            };
            self.wrong(table.at("default"), what);
        }
        Some(table.text("default").map_or_else(|| table.texts("default"), |text| vec![text]))
    }
}
