//! Reads entries, values, changes and controls.

use toml::de::DeValue;

use super::Reader;
use super::table::{Item, Table, variant};
use crate::grammar;
use crate::problem::quoted;
use crate::shape::{in_order, int, within};
use crate::template::{Part, Template};
use crate::types::{Change, ChangeKind, Control, Encoding, Entry, SortKey, Value};

impl<'d, 't> Reader<'_, 'd, 't> {
    pub(super) fn entry(&mut self, table: Table<'d, 't>) -> Entry {
        let Some(value) = table.get("entry") else { return Entry::Attributes(Vec::new()) };
        if let Some(data) = value.get_ref().as_str() {
            if let Err(what) = self.names.row(data) {
                self.wrong(value.span().start, what);
            }
            return Entry::Row(data.to_owned());
        }
        let attributes = table.entries("entry");
        if attributes.is_empty() {
            self.wrong(value.span().start, "has no attributes");
        }
        Entry::Attributes(
            attributes.into_iter().map(|(name, at, value)| self.attribute(name, at, value)).collect(),
        )
    }

    /// The assertion of a compare.
    pub(super) fn assertion(&mut self, step: Table<'d, 't>) -> Entry {
        let entry = self.entry(step);
        let one = match &entry {
            Entry::Attributes(attributes) => matches!(&attributes[..], [(_, values)] if values.len() == 1),
            Entry::Row(data) => {
                let data = self.names.data.get(data);
                let columns = data.and_then(|data| data.what.columns.as_ref());
                columns.is_none_or(|columns| columns.len() == 1)
            }
        };
        if !one {
            self.wrong(step.at("entry"), "compares more or less than one value of one attribute");
        }
        entry
    }

    pub(super) fn attribute(&mut self, name: &str, at: usize, value: &Item<'t>) -> (String, Vec<Value>) {
        if !grammar::is_attribute(name) {
            self.wrong(at, format!("{} is not an attribute", quoted(name)));
        }
        let values = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|item| self.value(item)).collect(),
            _ => vec![self.value(value)],
        };
        (name.to_owned(), values)
    }

    pub(super) fn value(&mut self, value: &Item<'t>) -> Value {
        let plain = |text: String| {
            let parts = if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] };
            Value { text: Template { parts }, encoding: Encoding::Text }
        };
        match value.get_ref() {
            DeValue::Table(table) => {
                let encoded =
                    in_order(table).into_iter().find_map(|(key, _, text)| Some((variant(key)?, text)));
                match encoded {
                    Some((Encoding::File, path)) => self.in_file(path),
                    Some((encoding @ (Encoding::Base64 | Encoding::Hex), text)) => {
                        Value { text: self.digits(text), encoding }
                    }
                    Some((encoding, text)) => Value { text: self.template(text), encoding },
                    None => plain(String::new()),
                }
            }
            // These are the values of LDAP's syntax Boolean (RFC 4517 section 3.3.3).
            DeValue::Boolean(flag) => plain(if *flag { "TRUE" } else { "FALSE" }.to_owned()),
            DeValue::String(_) => Value { text: self.template(value), encoding: Encoding::Text },
            other => plain(int(other).unwrap_or_default().to_string()),
        }
    }

    /// An encoded value: a literal, or one column.
    fn digits(&mut self, value: &Item<'t>) -> Template {
        let text = self.whole(value, "value in base64 or hex");
        if text.literal().is_none() && text.only_field().is_none() {
            self.wrong(value.span().start, "is neither a text nor one field alone");
        }
        text
    }

    /// The contents of a file. Files are read before the first request, so their paths cannot have fields.
    fn in_file(&self, path: &Item<'t>) -> Value {
        let text = path.get_ref().as_str().unwrap_or_default();
        if text.contains('\0') {
            self.wrong(path.span().start, "is not a path of a file");
        } else if Template::read(text).is_ok_and(|template| template.literal().is_none()) {
            self.wrong(path.span().start, "is one file for all users: no field can be in its name");
        }
        Value { text: Template { parts: vec![Part::Text(text.to_owned())] }, encoding: Encoding::File }
    }

    pub(super) fn changes(&mut self, step: Table<'d, 't>) -> Vec<Change> {
        let tables: Vec<_> = step.table("change").into_iter().chain(step.tables("change")).collect();
        let mut changes = Vec::new();
        for table in tables {
            let before = changes.len();
            for (word, _, value) in in_order(table.table) {
                let (Some(kind), Some(attributes)) = (variant(word), value.get_ref().as_table()) else {
                    continue;
                };
                let least = usize::from(matches!(kind, ChangeKind::Add | ChangeKind::Increment));
                for (name, at, value) in in_order(attributes) {
                    let (attribute, values) = self.attribute(name, at, value);
                    if values.len() < least {
                        self.wrong(at, "adds no value");
                    }
                    changes.push(Change { kind, attribute, values });
                }
            }
            if changes.len() == before {
                self.wrong(table.at, "changes nothing");
            }
        }
        changes
    }

    pub(super) fn controls(&mut self, step: Table<'d, 't>, verb: &str) -> Vec<Control> {
        let mut controls = Vec::new();
        let Some(table) = step.table("control") else { return controls };
        for (name, at, value) in in_order(table.table) {
            let control = match (name, value.get_ref()) {
                ("sort", _) => Control::Sort(self.sort_keys(table)),
                ("proxied_authorization", _) => Control::ProxiedAuthorization(self.authorization(value)),
                ("assertion", _) => Control::Assertion(self.whole(value, "filter")),
                ("pre_read", _) => Control::PreRead(self.attributes(table, name)),
                ("post_read", _) => Control::PostRead(self.attributes(table, name)),
                (_, DeValue::Boolean(false)) => continue,
                ("manage_dsa_it", _) => Control::ManageDsaIt,
                ("permissive_modify", _) => Control::PermissiveModify,
                ("subtree_delete", _) => Control::SubtreeDelete,
                ("password_policy", _) => Control::PasswordPolicy,
                ("subentries", _) => Control::Subentries,
                _ => {
                    // A control of the form without a match arm above also ends here, and is not sent.
                    let Some(other) = table.table(name) else { continue };
                    Control::Other {
                        oid: name.to_owned(),
                        critical: other.flag("critical", true),
                        value: other.get("value").map(|value| self.value(value)),
                    }
                }
            };
            let verbs = control.verbs();
            if !verbs.is_empty() && !verbs.contains(&verb) {
                self.wrong(at, format!("is for {}, and this is {verb}", verbs.join(", ")));
            }
            if control.is_critical() {
                self.needs(name, control.oid(), at);
            }
            controls.push(control);
        }
        controls
    }

    /// An authorization identity (RFC 4513 section 5.2.1.8); an empty identity is anonymous.
    fn authorization(&mut self, value: &Item<'t>) -> Template {
        let text = value.get_ref().as_str().unwrap_or_default();
        if let Some(dn) = text.strip_prefix("dn:") {
            if let Err((byte, what)) = grammar::dn(dn) {
                self.wrong(within(self.text, value.span(), text, byte + 3), what);
            }
            for field in grammar::name_fields(dn) {
                if let Some(what) = self.names.no_name(&field) {
                    self.wrong(value.span().start, what);
                }
            }
            return self.template(value);
        }
        let template = self.whole(value, "identity");
        let whole = text.is_empty() || text.starts_with("u:") || template.only_field().is_some();
        if !whole {
            self.wrong(value.span().start, "is none of \"dn:...\", \"u:...\", or a column with one");
        }
        template
    }

    pub(super) fn sort_keys(&self, table: Table<'d, 't>) -> Vec<SortKey> {
        let words = table.str("sort").unwrap_or_default().split_whitespace();
        let keys = words.map(|word| {
            let attribute = word.strip_prefix('-').unwrap_or(word);
            SortKey { attribute: attribute.to_owned(), reverse: word.starts_with('-') }
        });
        let keys: Vec<_> = keys.collect();
        if keys.is_empty() || !keys.iter().all(|key| grammar::is_attribute(&key.attribute)) {
            self.wrong(table.at("sort"), "is not an order: write attributes, such as \"sn -givenName\"");
        }
        keys
    }
}
