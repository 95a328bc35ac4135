//! Reads definitions (data, values, files, connections), and the options of the run.

use std::collections::{HashMap, HashSet};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::table::Table;
use super::{MAIN, MOST_NAMES, Reader};
use crate::grammar;
use crate::names::{Known, Life};
use crate::problem::{did_you_mean, quoted};
use crate::shape::{in_order, number};
use crate::template::{Field, IN_COLUMNS, Part, Template, is_column};
use crate::types::{
    Connection, Data, Drawn, FileClass, FileSet, Level, Lifetime, Load, Named, Rows, Stage, Tls,
};

/// The most bytes of a value with the values in it. Twelve values that each use another value ten times would
/// have a terabyte ("billion laughs").
const MOST_VALUE_BYTES: u64 = 1 << 20;

/// The limit of the option for operations per second.
const MOST_PER_S: f64 = 1e7;

impl<'d, 't> Reader<'_, 'd, 't> {
    pub(super) fn data(
        &mut self,
        root: Table<'d, 't>,
        columns: &dyn Fn(&Data) -> Option<Vec<String>>,
    ) -> Vec<Data> {
        let mut all = Vec::new();
        for (name, at, value) in self.named(root, "data") {
            let Some(table) = value.get_ref().as_table() else { continue };
            if self.names.is_taken(name) {
                self.wrong(at, format!("{name:?} has a meaning of its own in templates: take another name"));
            }
            let mut data = self.source(name, Table { table, at });
            if data.columns.is_none() {
                data.columns = columns(&data);
            }
            all.push(data.clone());
            self.names.data.insert(name.to_owned(), Known::new(data, at));
        }
        all
    }

    pub(super) fn source(&self, name: &str, table: Table<'d, 't>) -> Data {
        let kinds = ["file", "values", "range", "people"];
        let given: Vec<_> = kinds.into_iter().filter(|kind| table.has(kind)).collect();
        if given.len() != 1 {
            let what = if given.is_empty() { "none" } else { "several" };
            self.wrong(table.at, format!("has {what} of file, values, range, people: write one"));
        }
        let mut columns = Some(vec![name.to_owned()]);
        let rows = match given.first() {
            Some(&"values") => {
                if table.list("values").is_empty() {
                    self.wrong(table.at("values"), "has no values");
                }
                Rows::Values(table.texts("values"))
            }
            Some(&"range") => match table.ints("range")[..] {
                [first, last] if first <= last && last.checked_sub(first).is_some() => {
                    Rows::Range(first, last)
                }
                _ => {
                    self.wrong(table.at("range"), "is not a range: write [first, last], the smaller first");
                    Rows::Range(0, 0)
                }
            },
            Some(&"people") => {
                columns = None;
                if table.str("people") == Some("new") { Rows::New } else { Rows::Seeded }
            }
            _ => {
                columns = self.columns(table);
                self.file(table)
            }
        };
        if !matches!(rows, Rows::File { .. }) {
            for key in ["columns", "separator"].into_iter().filter(|key| table.has(key)) {
                self.wrong(table.at(key), format!("{key:?} is for data of a file"));
            }
        }
        let per_user = table.str("per") == Some("user");
        if table.has("deal") && (per_user || rows == Rows::New) {
            let why =
                if per_user { "with per = \"user\", user 1 has row 1" } else { "each new person comes once" };
            self.wrong(table.at("deal"), format!("nothing is dealt here: {why}"));
        }
        let secret = table.texts("secret");
        if let Some(columns) = &columns {
            for name in secret.iter().filter(|name| !columns.contains(name)) {
                let near = did_you_mean(name, columns.iter().map(String::as_str));
                self.wrong(table.at("secret"), format!("there is no column {}{near}", quoted(name)));
            }
        }
        Data { name: name.to_owned(), rows, columns, deal: table.word("deal"), per_user, secret }
    }

    pub(super) fn columns(&self, table: Table<'d, 't>) -> Option<Vec<String>> {
        let columns = table.texts("columns");
        let mut seen = HashSet::new();
        if table.has("columns") && (columns.is_empty() || !columns.iter().all(|column| seen.insert(column))) {
            self.wrong(table.at("columns"), "must name each column once");
        } else if columns.len() > MOST_NAMES {
            self.wrong(table.at("columns"), format!("more than {MOST_NAMES} columns"));
        }
        if let Some(name) = columns.iter().find(|name| !is_column(name)) {
            let name = quoted(name);
            self.wrong(
                table.at("columns"),
                format!("{name} cannot name a column: letters, digits, blanks and {IN_COLUMNS}"),
            );
        }
        table.has("columns").then_some(columns)
    }

    pub(super) fn file(&self, table: Table<'d, 't>) -> Rows {
        let path = table.text("file").unwrap_or_default();
        if table.has("file") && (path.is_empty() || path.contains('\0')) {
            self.wrong(table.at("file"), "is not a path of a file");
        }
        let mut separator = table.str("separator").unwrap_or(",").chars();
        let first = separator.next().filter(|c| !"\"\r\n".contains(*c) && separator.next().is_none());
        if first.is_none() {
            self.wrong(table.at("separator"), "is not one character, such as \",\" or \"\\t\"");
        }
        Rows::File { path, separator: first.unwrap_or(','), header: !table.has("columns") }
    }

    /// Named values, in an order in which each value follows the values that it uses.
    pub(super) fn values(&mut self, root: Table<'d, 't>) -> Vec<String> {
        let entries = self.named(root, "values");
        for &(name, at, value) in &entries {
            if self.names.is_taken(name) {
                self.wrong(
                    at,
                    format!("{name:?} is taken: it is the name of data, or has a meaning of its own"),
                );
            }
            let template = Template::read(value.get_ref().as_str().unwrap_or_default()).unwrap_or_default();
            self.names.values.insert(name.to_owned(), Known::new(template, at));
        }
        for &(name, _, value) in &entries {
            self.names.described = Some(Default::default());
            self.template(value);
            let uses = self.names.described.take().unwrap_or_default();
            if let Some(value) = self.names.values.get_mut(name) {
                value.uses = uses;
            }
        }
        let mut order = Vec::new();
        let mut rest: Vec<&str> = entries.iter().map(|(name, ..)| *name).collect();
        while !rest.is_empty() {
            let is_ready = |name: &&str| {
                let uses = self.names.values.get(*name).into_iter().flat_map(|value| &value.uses);
                uses.filter_map(|what| if let Drawn::Value(name) = what { Some(name) } else { None })
                    .all(|used| order.contains(used))
            };
            let (ready, waiting): (Vec<&str>, Vec<&str>) = rest.iter().partition(|name| is_ready(name));
            if ready.is_empty() {
                let at =
                    rest.first().and_then(|name| self.names.values.get(*name)).map_or(0, |value| value.at);
                self.wrong(at, "is made of itself, by way of the values in it");
                break;
            }
            order.extend(ready.into_iter().map(str::to_owned));
            rest = waiting;
        }
        self.check_lengths(&order);
        order
    }

    /// Refuses a value that becomes too long with the values in it. In `order` each value follows the values
    /// that it uses.
    fn check_lengths(&self, order: &[String]) {
        let mut lengths: HashMap<&str, u64> = HashMap::new();
        for name in order {
            let Some(value) = self.names.values.get(name) else { continue };
            let length = value.what.parts.iter().map(|part| match part {
                Part::Text(text) => text.len() as u64,
                // Other fields count as one byte: their values are not known yet.
                Part::Field(field) => match field {
                    Field::Name(used) => lengths.get(used.as_str()).copied().unwrap_or(1),
                    _ => 1,
                },
            });
            let length = length.fold(1, u64::saturating_add);
            if length > MOST_VALUE_BYTES {
                let what = format!("is longer than {MOST_VALUE_BYTES} bytes with the values in it");
                return self.wrong(value.at, what);
            }
            lengths.insert(name, length);
        }
    }

    pub(super) fn files(&mut self, root: Table<'d, 't>) -> Option<FileSet> {
        let sets = root.entries("files");
        if let Some(&(_, at, _)) = sets.get(1) {
            self.wrong(at, "is a second set: a file has one");
        }
        let &(name, at, value) = sets.first()?;
        if !grammar::is_folder(name) || name.ends_with(".manifest") {
            self.wrong(at, "cannot name a folder: letters, digits, - _ and ., and not .manifest at the end");
        }
        let mut classes = Vec::new();
        for (class, at, value) in value.get_ref().as_table().map(in_order).unwrap_or_default() {
            let Some(table) = value.get_ref().as_table() else { continue };
            if !grammar::is_folder(class) {
                self.wrong(at, "cannot name a folder: letters, digits, - _ and .");
            }
            classes.push(self.class(class, Table { table, at }));
        }
        self.classes = classes.iter().map(|class| class.name.clone()).collect();
        Some(FileSet { name: name.to_owned(), classes })
    }

    pub(super) fn class(&self, name: &str, table: Table<'d, 't>) -> FileClass {
        let bytes = |key: &str| -> Vec<u64> {
            table
                .ints(key)
                .into_iter()
                .filter_map(|size| u64::try_from(size).ok().filter(|size| *size > 0))
                .collect()
        };
        let (sizes, spread, count) = (bytes("sizes"), bytes("spread"), table.int::<u32>("count"));
        if table.has("sizes") == table.has("spread") {
            self.wrong(table.at, "has neither or both of sizes and spread: write one");
        } else if table.has("sizes") && (sizes.is_empty() || sizes.len() != table.list("sizes").len()) {
            self.wrong(table.at("sizes"), "is not a list of sizes from 1 byte on");
        } else if table.has("sizes") && count.is_some_and(|count| (count as usize) < sizes.len()) {
            self.wrong(table.at("count"), format!("so many files cannot have {} sizes", sizes.len()));
        } else if table.has("spread") && count.is_none_or(|count| count < 2) {
            self.wrong(table.at("count"), "a spread needs a count of 2 files or more");
        }
        let spread = match spread[..] {
            [least, most] if least <= most => Some((least, most)),
            _ => {
                if table.has("spread") {
                    self.wrong(table.at("spread"), "is not a smallest and a largest size");
                }
                None
            }
        };
        FileClass { name: name.to_owned(), sizes, spread, count }
    }

    pub(super) fn connections(&mut self, root: Table<'d, 't>) {
        for (name, at, value) in self.named(root, "connection") {
            let Some(table) = value.get_ref().as_table() else { continue };
            let table = Table { table, at };
            let mut connection = self.connection(name, table);
            self.names.life = match connection.lives {
                _ if connection.is_shared() => Life::Shared,
                Lifetime::Iteration | Lifetime::Step => Life::Iteration,
                _ => Life::User,
            };
            self.names.described = Some(Default::default());
            connection.bind = table.get("bind").map(|value| self.bind_name(value, connection.sasl));
            connection.password = table.get("password").map(|value| self.secret(value));
            let uses = self.names.described.take().unwrap_or_default();
            let mut definition = Known::new(connection, at);
            definition.uses = uses;
            self.names.connections.insert(name.to_owned(), definition);
        }
        self.names.life = Life::Iteration;
        if !self.names.connections.contains_key(MAIN) {
            let main = self.connection(MAIN, Table { table: &DeTable::new(), at: 0 });
            self.names.connections.insert(MAIN.to_owned(), Known::new(main, 0));
        }
    }

    pub(super) fn connection(&self, name: &str, table: Table<'_, '_>) -> Connection {
        let http_1_0 = table.str("http") == Some("1.0");
        let outstanding = table.int("outstanding").unwrap_or(1);
        let pool = table.int("pool").map(Lifetime::Pool);
        let per = match table.get("per").map(Spanned::get_ref) {
            Some(DeValue::String(text)) => grammar::per(text),
            _ => table.int("per").map(Lifetime::Operations),
        };
        if pool.is_some() && per.is_some() {
            self.wrong(table.at("per"), "has both per and pool: a pool lives as long as the run");
        } else if outstanding > 1 && per.is_some_and(|per| per != Lifetime::User) {
            self.wrong(table.at("per"), "cannot be: users share a connection with outstanding requests");
        }
        let default = if http_1_0 { Lifetime::Step } else { Lifetime::User };
        let tls = table.get("tls").map(|value| match value.get_ref() {
            DeValue::Boolean(true) => Tls::Always,
            DeValue::Boolean(false) => Tls::Never,
            _ => Tls::StartTls,
        });
        if table.str("sasl") == Some("EXTERNAL") && table.has("password") {
            self.wrong(table.at("password"), "EXTERNAL takes no password: the certificate says who it is");
        }
        Connection {
            name: name.to_owned(),
            lives: pool.or(per).unwrap_or(default),
            outstanding,
            tls,
            bind: None,
            password: None,
            sasl: table.word("sasl"),
            version: table.int("version").unwrap_or(3),
            http_1_0,
        }
    }

    pub(super) fn load(&self, table: Table<'d, 't>) -> Load {
        let clients: Vec<u64> =
            table.ints("clients").into_iter().filter_map(|n| u64::try_from(n).ok()).collect();
        if table.has("clients") && (clients.len() != table.list("clients").len() || clients.contains(&0)) {
            self.wrong(table.at("clients"), "is not a list of numbers from 1 on");
        }
        let stages: Vec<_> = table.texts("stages").iter().filter_map(|text| grammar::stage(text)).collect();
        let rates = stages.iter().filter(|stage| matches!(stage.level, Level::Rate(_))).count();
        let rate = table.get("rate").and_then(|value| number(value.get_ref()));
        let is_too_high = |stage: &Stage| matches!(stage.level, Level::Rate(rate) if rate > MOST_PER_S);
        for (key, is_wrong) in
            [("rate", rate.is_some_and(|rate| rate > MOST_PER_S)), ("stages", stages.iter().any(is_too_high))]
        {
            if is_wrong {
                self.wrong(table.at(key), "is above 10M/s: no tester sends as much, ask for less");
            }
        }
        if rates > 0 && rates < stages.len() {
            self.wrong(table.at("stages"), "has rates and users: write /s after all of them, or after none");
        }
        for other in ["rate", "warmup", "measure"] {
            if !stages.is_empty() && table.has(other) {
                let what = format!("says when operations begin and for how long, and so does {other}");
                self.wrong(table.at("stages"), what);
            }
        }
        for other in ["users", "arrivals"] {
            if !stages.is_empty() && rates == 0 && table.has(other) {
                self.wrong(table.at("stages"), format!("are of users, who leave nothing for {other} to say"));
            }
        }
        let stages: Vec<_> = stages.iter().map(Stage::to_string).collect();
        Load {
            users: table.int("users"),
            clients: table.has("clients").then_some(clients),
            rate,
            arrivals: table.text("arrivals"),
            stages: (!stages.is_empty()).then(|| stages.join(",")),
            think: table.seconds("think"),
            session: table.seconds("session"),
            objective: table.text("objective"),
            warmup: table.seconds("warmup"),
            measure: table.seconds("measure"),
            timeout: table.seconds("timeout"),
            keys: table.word("keys"),
        }
    }

    pub(super) fn common_headers(&mut self, root: Table<'d, 't>) -> Vec<Named> {
        let mut all = Vec::new();
        for (name, at, value) in root.entries("headers") {
            self.header(name, at, value);
            let template = Template::read(value.get_ref().as_str().unwrap_or_default()).unwrap_or_default();
            if template.literal().is_none() {
                self.headers.push((name, value));
            }
            all.push((name.to_owned(), template));
        }
        // The fields of these lines are checked again for every request, so the number of lines is limited.
        if let Some((_, value)) = self.headers.get(10) {
            self.wrong(value.span().start, "more than 10 header lines of all requests have fields");
        }
        self.headers.truncate(10);
        all
    }
}
