//! Reads texts with fields.

use toml::de::DeValue;

use super::Reader;
use super::table::{Item, Table};
use crate::grammar;
use crate::problem::quoted;
use crate::shape::within;
use crate::template::{Piece, Template, pieces};
use crate::texts::is_for_credentials;
use crate::types::{Named, Sasl};

const SECRET: &str = "is a secret in the file: write \"{env.NAME}\", or a column";

impl<'d, 't> Reader<'_, 'd, 't> {
    /// Checks a header's name and value, whatever its fields are.
    pub(super) fn header(&self, name: &str, at: usize, value: &Item<'t>) {
        let text = value.get_ref().as_str().unwrap_or_default();
        if !grammar::is_token(name) {
            self.wrong(at, format!("{} cannot name a header", quoted(name)));
        }
        if let Err((byte, what)) = grammar::header_value(text) {
            self.wrong(within(self.text, value.span(), text, byte), what);
        }
        if is_for_credentials(name) {
            let template = Template::read(text).unwrap_or_default();
            if self.names.is_literal(&template) {
                self.wrong(value.span().start, SECRET);
            }
        }
    }

    /// Reads a text whose fields must have a meaning at this place.
    pub(super) fn template(&mut self, value: &Item<'t>) -> Template {
        let text = value.get_ref().as_str().unwrap_or_default();
        let template = Template::read(text).unwrap_or_default();
        if self.problems.is_full() {
            return template;
        }
        let starts = pieces(text).into_iter().filter(|(_, piece)| matches!(piece, Piece::Field(..)));
        for ((range, _), field) in starts.zip(template.fields()) {
            if let Err(what) = self.names.field(field) {
                self.wrong(within(self.text, value.span(), text, range.start), what);
            }
        }
        template
    }

    /// Checks the fields of a common header line for a request that sends it.
    pub(super) fn sent_with(&mut self, value: &Item<'t>, request: &str) {
        let text = value.get_ref().as_str().unwrap_or_default();
        for field in Template::read(text).unwrap_or_default().fields() {
            if let Err(what) = self.names.field(field) {
                let at = value.span().start;
                self.wrong(at, format!("{what}, and {request} sends it"));
                // A problem is reported for one request only.
                self.headers.retain(|(_, other)| other.span().start != at);
                return;
            }
        }
    }

    pub(super) fn dn(&mut self, value: &Item<'t>) -> Template {
        let template = self.template(value);
        let text = value.get_ref().as_str().unwrap_or_default();
        for field in grammar::name_fields(text) {
            if let Some(what) = self.names.no_name(&field) {
                self.wrong(value.span().start, what);
            }
        }
        template
    }

    /// The DN of an entry that is changed; the root is refused.
    pub(super) fn entry_dn(&mut self, step: Table<'d, 't>, key: &str) -> Template {
        if step.str(key).is_some_and(|text| text.trim().is_empty()) {
            self.wrong(step.at(key), "names no entry");
        }
        self.dn_of(step, key)
    }

    pub(super) fn dn_of(&mut self, step: Table<'d, 't>, key: &str) -> Template {
        step.get(key).map_or_else(Template::default, |value| self.dn(value))
    }

    pub(super) fn whole(&mut self, value: &Item<'t>, what: &str) -> Template {
        let template = self.template(value);
        if let Some(wrong) = template.only_field().and_then(|field| self.names.no_whole(field, what)) {
            self.wrong(value.span().start, wrong);
        }
        template
    }

    pub(super) fn bind_name(&mut self, value: &Item<'t>, sasl: Option<Sasl>) -> Template {
        if sasl.is_some() {
            return self.template(value);
        }
        let text = value.get_ref().as_str().unwrap_or_default();
        if let Err((byte, what)) = grammar::dn(text) {
            self.wrong(within(self.text, value.span(), text, byte), what);
        }
        self.dn(value)
    }

    pub(super) fn secret(&mut self, value: &Item<'t>) -> Template {
        let template = self.template(value);
        if !template.parts.is_empty() && self.names.is_literal(&template) {
            self.wrong(value.span().start, SECRET);
        }
        template
    }

    pub(super) fn templates(&mut self, value: Option<&Item<'t>>) -> Vec<Template> {
        match value.map(|value| (value, value.get_ref())) {
            Some((_, DeValue::Array(list))) => list.iter().map(|item| self.template(item)).collect(),
            Some((value, _)) => vec![self.template(value)],
            None => Vec::new(),
        }
    }

    pub(super) fn named_texts(&mut self, table: Table<'d, 't>, key: &str) -> Vec<Named> {
        let entries = table.entries(key).into_iter();
        entries.map(|(name, _, value)| (name.to_owned(), self.template(value))).collect()
    }

    pub(super) fn headers_of(&mut self, table: Table<'d, 't>) -> Vec<Named> {
        table.entries("headers").iter().for_each(|(name, at, value)| self.header(name, *at, value));
        self.named_texts(table, "headers")
    }
}
