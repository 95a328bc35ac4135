//! The second reading: tables into types, and what their names mean.
//!
//! Every key and kind was checked by the first reading, so what is missing here has its default.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::form::Protocol;
use crate::grammar;
use crate::names::{Known, Life, Names};
use crate::problem::{Found, did_you_mean, quoted};
use crate::shape::{in_order, int, number, verb, within};
use crate::template::{Piece, Template, pieces};
use crate::types::*;

/// Values, sources of data, connections and common headers of one file, each.
pub const MOST_NAMES: usize = 100;

/// Cards of a deck, after what all weights share is taken out.
const MOST_CARDS: u64 = 10_000;

/// The connection of steps that name none.
const MAIN: &str = "main";

type Entry_<'t> = Spanned<DeValue<'t>>;

/// A table of the document.
#[derive(Clone, Copy)]
struct Table<'d, 't> {
    table: &'d DeTable<'t>,
    at: usize,
}

impl<'d, 't> Table<'d, 't> {
    fn get(self, key: &str) -> Option<&'d Entry_<'t>> {
        self.table.get(key)
    }

    fn has(self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Where the value of a key stands, or the table without it.
    fn at(self, key: &str) -> usize {
        self.get(key).map_or(self.at, |value| value.span().start)
    }

    fn table(self, key: &str) -> Option<Self> {
        let value = self.get(key)?;
        Some(Self { table: value.get_ref().as_table()?, at: value.span().start })
    }

    /// The entries of a table of names, in the order of the file.
    fn entries(self, key: &str) -> Vec<(&'d str, usize, &'d Entry_<'t>)> {
        self.table(key).map(|table| in_order(table.table)).unwrap_or_default()
    }

    fn list(self, key: &str) -> &'d [Entry_<'t>] {
        self.get(key).and_then(|value| value.get_ref().as_array()).map_or(&[], |list| &list[..])
    }

    fn tables(self, key: &str) -> impl Iterator<Item = Self> {
        let tables = self.list(key).iter();
        tables.filter_map(|each| Some(Self { table: each.get_ref().as_table()?, at: each.span().start }))
    }

    fn str(self, key: &str) -> Option<&'d str> {
        self.get(key)?.get_ref().as_str()
    }

    fn text(self, key: &str) -> Option<String> {
        self.str(key).map(str::to_owned)
    }

    fn texts(self, key: &str) -> Vec<String> {
        self.list(key).iter().filter_map(|each| each.get_ref().as_str()).map(str::to_owned).collect()
    }

    fn ints(self, key: &str) -> Vec<i64> {
        self.list(key).iter().filter_map(|each| int(each.get_ref())).collect()
    }

    fn flag(self, key: &str, default: bool) -> bool {
        self.get(key).and_then(|value| value.get_ref().as_bool()).unwrap_or(default)
    }

    /// A whole number that is at least 0.
    fn int<N: TryFrom<i64>>(self, key: &str) -> Option<N> {
        N::try_from(int(self.get(key)?.get_ref())?).ok()
    }

    fn duration(self, key: &str) -> Option<Duration> {
        grammar::duration(self.str(key)?)
    }

    fn sasl(self) -> Option<Sasl> {
        self.str("sasl").map(|name| if name == "PLAIN" { Sasl::Plain } else { Sasl::External })
    }
}

/// What an operation did so far.
#[derive(Default)]
struct Done {
    /// Rows with their verbs.
    rows: HashMap<String, &'static str>,
    /// How many rows were called after each verb.
    unnamed: HashMap<&'static str, usize>,
    /// Adds of entries that are to go again.
    adds: Vec<(usize, Template)>,
    deletes: HashSet<Template>,
    renames: bool,
}

struct Reader<'a, 'd, 't> {
    text: &'a str,
    protocol: Protocol,
    found: &'a Found,
    names: Names,
    /// Header lines of every request that can differ: what is said of them is asked where they are sent.
    headers: Vec<(&'d str, &'d Entry_<'t>)>,
    classes: Vec<String>,
    done: Done,
    /// The operation's connection.
    on: String,
}

/// Reads a document that has the shape of the form.
pub(crate) fn scenario(
    text: &str,
    document: &DeTable<'_>,
    protocol: Protocol,
    found: &Found,
    columns: &dyn Fn(&Data) -> Option<Vec<String>>,
) -> Scenario {
    let root = Table { table: document, at: 0 };
    let mut captures = HashSet::new();
    root.table("start")
        .into_iter()
        .chain(root.tables("operation"))
        .for_each(|each| captures_of(each, &mut captures));
    let mut reader = Reader {
        text,
        protocol,
        found,
        names: Names::new(captures),
        headers: Vec::new(),
        classes: Vec::new(),
        done: Done::default(),
        on: MAIN.to_owned(),
    };
    reader.scenario(root, columns)
}

fn captures_of(step: Table<'_, '_>, captures: &mut HashSet<String>) {
    captures.extend(step.entries("capture").into_iter().map(|(name, ..)| name.to_owned()));
    step.tables("step").for_each(|each| captures_of(each, captures));
}

impl<'d, 't> Reader<'_, 'd, 't> {
    fn wrong(&self, at: usize, what: impl Into<String>) {
        self.found.push(at, || what.into());
    }

    fn scenario(&mut self, root: Table<'d, 't>, columns: &dyn Fn(&Data) -> Option<Vec<String>>) -> Scenario {
        let data = self.data(root, columns);
        let order = self.values(root);
        let base = self.with_life(Life::Run, |reader| root.get("base").map(|value| reader.dn(value)));
        let files = self.files(root);
        self.connections(root);
        let headers = self.common_headers(root);

        self.names.scopes.push(HashMap::new());
        let start = root.table("start");
        let start =
            self.with_life(Life::Start, |reader| start.map_or_else(Vec::new, |start| reader.start(start)));
        let operations = self.operations(root);
        self.unused();
        let names = std::mem::replace(&mut self.names, Names::new(HashSet::new()));
        let values =
            order.iter().filter_map(|name| Some((name.clone(), names.values.get(name)?.what.clone())));
        let values = values.collect();
        let connections = names.connections.values().filter(|known| known.used || known.at > 0);
        let connections = connections.map(|known| known.what.clone()).collect();
        Scenario {
            title: root.text("title"),
            paper: root.text("paper"),
            note: root.text("note"),
            protocol: self.protocol,
            base,
            headers,
            cookies: root.flag("cookies", true),
            load: root.table("load").map_or_else(Load::default, |table| self.load(table)),
            values,
            connections,
            data,
            files,
            start,
            operations,
            draws: names.draws(&order),
        }
    }

    fn with_life<T>(&mut self, life: Life, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.names.life, life);
        let done = read(self);
        self.names.life = before;
        done
    }

    /// The tables of a part of the file whose names are its own.
    fn named(&self, root: Table<'d, 't>, key: &str) -> Vec<(&'d str, usize, &'d Entry_<'t>)> {
        let entries = root.entries(key);
        for &(name, at, _) in &entries {
            if !grammar::is_name(name) {
                self.wrong(
                    at,
                    format!("{} cannot be a name: a letter, then letters, digits, - and _", quoted(name)),
                );
            }
        }
        if let Some(&(_, at, _)) = entries.get(MOST_NAMES) {
            self.wrong(at, format!("more than {MOST_NAMES} of [{key}]"));
        }
        entries.into_iter().take(MOST_NAMES).collect()
    }

    // What names stand for.

    fn data(&mut self, root: Table<'d, 't>, columns: &dyn Fn(&Data) -> Option<Vec<String>>) -> Vec<Data> {
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

    fn source(&self, name: &str, table: Table<'d, 't>) -> Data {
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
                    self.wrong(table.at("range"), "is no range: write [first, last], the smaller first");
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
        Data { name: name.to_owned(), rows, columns, deal: table.str("deal").map(deal), per_user, secret }
    }

    fn columns(&self, table: Table<'d, 't>) -> Option<Vec<String>> {
        let columns = table.texts("columns");
        let mut seen = HashSet::new();
        if table.has("columns") && (columns.is_empty() || !columns.iter().all(|each| seen.insert(each))) {
            self.wrong(table.at("columns"), "must name each column once");
        }
        if let Some(name) = columns.iter().find(|name| !grammar::is_name(name)) {
            let name = quoted(name);
            self.wrong(
                table.at("columns"),
                format!("{name} cannot be a name: a letter, then letters, digits, - and _"),
            );
        }
        table.has("columns").then_some(columns)
    }

    fn file(&self, table: Table<'d, 't>) -> Rows {
        let path = table.text("file").unwrap_or_default();
        if table.has("file") && (path.is_empty() || path.contains('\0')) {
            self.wrong(table.at("file"), "is no path of a file");
        }
        let mut separator = table.str("separator").unwrap_or(",").chars();
        let first = separator.next().filter(|c| !"\"\r\n".contains(*c) && separator.next().is_none());
        if first.is_none() {
            self.wrong(table.at("separator"), "is not one character, such as \",\" or \"\\t\"");
        }
        Rows::File { path, separator: first.unwrap_or(','), header: !table.has("columns") }
    }

    /// Named values, in an order that has each after those that it uses.
    fn values(&mut self, root: Table<'d, 't>) -> Vec<String> {
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
        order
    }

    fn files(&mut self, root: Table<'d, 't>) -> Option<FileSet> {
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

    fn class(&self, name: &str, table: Table<'d, 't>) -> FileClass {
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
            self.wrong(table.at("sizes"), "is no list of sizes from 1 byte on");
        } else if table.has("sizes") && count.is_some_and(|count| (count as usize) < sizes.len()) {
            self.wrong(table.at("count"), format!("so many files cannot have {} sizes", sizes.len()));
        } else if table.has("spread") && count.is_none_or(|count| count < 2) {
            self.wrong(table.at("count"), "a spread needs a count of 2 files or more");
        }
        let count = count.unwrap_or_else(|| u32::try_from(sizes.len()).unwrap_or(u32::MAX));
        let sizes = match spread[..] {
            [least, most] if least <= most => Sizes::Spread(least, most),
            _ => {
                if table.has("spread") {
                    self.wrong(table.at("spread"), "is not a smallest and a largest size");
                }
                Sizes::Each(sizes)
            }
        };
        FileClass { name: name.to_owned(), sizes, count }
    }

    fn connections(&mut self, root: Table<'d, 't>) {
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
            let mut known = Known::new(connection, at);
            known.uses = uses;
            self.names.connections.insert(name.to_owned(), known);
        }
        self.names.life = Life::Iteration;
        if !self.names.connections.contains_key(MAIN) {
            let main = self.connection(MAIN, Table { table: &DeTable::new(), at: 0 });
            self.names.connections.insert(MAIN.to_owned(), Known::new(main, 0));
        }
    }

    fn connection(&self, name: &str, table: Table<'_, '_>) -> Connection {
        let http_1_0 = table.str("http") == Some("1.0");
        let outstanding = table.int("outstanding").unwrap_or(1);
        let pool = table.int("pool").map(Lifetime::Pool);
        let per = match table.get("per").map(Spanned::get_ref) {
            Some(DeValue::String(text)) => grammar::per(text),
            _ => table.int("per").map(Lifetime::Operations),
        };
        if pool.is_some() && per.is_some() {
            self.wrong(table.at("per"), "has both per and pool: a pool lives as long as the run");
        } else if outstanding > 1 && matches!(per, Some(Lifetime::Iteration | Lifetime::Step)) {
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
            sasl: table.sasl(),
            version: table.int("version").unwrap_or(3),
            http_1_0,
        }
    }

    fn load(&self, table: Table<'d, 't>) -> Load {
        let clients: Vec<u64> =
            table.ints("clients").into_iter().filter_map(|n| u64::try_from(n).ok()).collect();
        if table.has("clients") && (clients.len() != table.list("clients").len() || clients.contains(&0)) {
            self.wrong(table.at("clients"), "is no list of numbers from 1 on");
        }
        let stages: Vec<_> = table.texts("stages").iter().filter_map(|text| grammar::stage(text)).collect();
        let rates = stages.iter().filter(|stage| matches!(stage.level, Level::Rate(_))).count();
        if rates > 0 && rates < stages.len() {
            self.wrong(table.at("stages"), "has rates and users: write /s after all of them, or after none");
        }
        Load {
            users: table.int("users"),
            clients,
            rate: table.get("rate").and_then(|value| number(value.get_ref())),
            arrivals: table.text("arrivals"),
            stages,
            think: table.duration("think"),
            session: table.duration("session"),
            objective: table.text("objective"),
            warmup: table.duration("warmup"),
            measure: table.duration("measure"),
            timeout: table.duration("timeout"),
            keys: table.str("keys").map(deal),
        }
    }

    fn common_headers(&mut self, root: Table<'d, 't>) -> Vec<Named> {
        let mut all = Vec::new();
        for (name, at, value) in root.entries("headers") {
            self.header(name, at, value);
            let template = Template::read(value.get_ref().as_str().unwrap_or_default()).unwrap_or_default();
            if template.literal().is_none() {
                self.headers.push((name, value));
            }
            all.push((name.to_owned(), template));
        }
        // Each request asks again for each of them what it means there.
        if let Some((_, value)) = self.headers.get(10) {
            self.wrong(value.span().start, "more than 10 header lines of all requests have fields");
        }
        self.headers.truncate(10);
        all
    }

    /// Says what is wrong with a name or value whatever its fields are.
    fn header(&self, name: &str, at: usize, value: &Entry_<'t>) {
        let text = value.get_ref().as_str().unwrap_or_default();
        if !grammar::is_token(name) {
            self.wrong(at, format!("{} cannot name a header", quoted(name)));
        }
        if let Err((byte, what)) = grammar::header_value(text) {
            self.wrong(within(self.text, value.span(), text, byte), what);
        }
        if grammar::is_for_credentials(name) {
            let template = Template::read(text).unwrap_or_default();
            if self.names.is_literal(&template) {
                self.wrong(value.span().start, SECRET);
            }
        }
    }

    // Texts.

    /// A text whose fields mean something here.
    fn template(&mut self, value: &Entry_<'t>) -> Template {
        let text = value.get_ref().as_str().unwrap_or_default();
        let template = Template::read(text).unwrap_or_default();
        let starts = pieces(text).into_iter().filter(|(_, piece)| matches!(piece, Piece::Field(..)));
        for ((range, _), field) in starts.zip(template.fields()) {
            if let Err(what) = self.names.field(field) {
                self.wrong(within(self.text, value.span(), text, range.start), what);
            }
        }
        template
    }

    fn dn(&mut self, value: &Entry_<'t>) -> Template {
        let template = self.template(value);
        let text = value.get_ref().as_str().unwrap_or_default();
        for field in grammar::name_fields(text) {
            if let Some(what) = self.names.no_name(&field) {
                self.wrong(value.span().start, what);
            }
        }
        template
    }

    /// The name of an entry that changes: not the root.
    fn entry_dn(&mut self, step: Table<'d, 't>, key: &str) -> Template {
        if step.str(key).is_some_and(|text| text.trim().is_empty()) {
            self.wrong(step.at(key), "names no entry");
        }
        self.dn_of(step, key)
    }

    fn dn_of(&mut self, step: Table<'d, 't>, key: &str) -> Template {
        step.get(key).map_or_else(Template::default, |value| self.dn(value))
    }

    fn whole(&mut self, value: &Entry_<'t>, what: &str) -> Template {
        let template = self.template(value);
        if let Some(wrong) = template.only_field().and_then(|field| self.names.no_whole(field, what)) {
            self.wrong(value.span().start, wrong);
        }
        template
    }

    fn bind_name(&mut self, value: &Entry_<'t>, sasl: Option<Sasl>) -> Template {
        if sasl.is_some() {
            return self.template(value);
        }
        let text = value.get_ref().as_str().unwrap_or_default();
        if let Err((byte, what)) = grammar::dn(text) {
            self.wrong(within(self.text, value.span(), text, byte), what);
        }
        self.dn(value)
    }

    fn secret(&mut self, value: &Entry_<'t>) -> Template {
        let template = self.template(value);
        if !template.parts.is_empty() && self.names.is_literal(&template) {
            self.wrong(value.span().start, SECRET);
        }
        template
    }

    fn templates(&mut self, value: Option<&Entry_<'t>>) -> Vec<Template> {
        match value.map(|value| (value, value.get_ref())) {
            Some((_, DeValue::Array(list))) => list.iter().map(|each| self.template(each)).collect(),
            Some((value, _)) => vec![self.template(value)],
            None => Vec::new(),
        }
    }

    fn named_texts(&mut self, table: Table<'d, 't>, key: &str) -> Vec<Named> {
        let entries = table.entries(key).into_iter();
        entries.map(|(name, _, value)| (name.to_owned(), self.template(value))).collect()
    }

    fn headers_of(&mut self, table: Table<'d, 't>) -> Vec<Named> {
        table.entries("headers").iter().for_each(|(name, at, value)| self.header(name, *at, value));
        self.named_texts(table, "headers")
    }

    // Steps.

    fn start(&mut self, start: Table<'d, 't>) -> Vec<Step> {
        let steps = self.steps(start);
        self.left_behind();
        steps
    }

    fn operations(&mut self, root: Table<'d, 't>) -> Vec<Operation> {
        let mut operations: Vec<Operation> = Vec::new();
        let mut names = HashSet::new();
        for (number, table) in root.tables("operation").enumerate() {
            self.names.block = Block { operation: Some(number), repeats: Vec::new() };
            self.names.scopes.push(HashMap::new());
            let operation = self.operation(table);
            self.names.scopes.pop();
            if !names.insert(operation.name.clone()) {
                let name = quoted(&operation.name);
                self.wrong(
                    table.at("name"),
                    format!("two operations are called {name}: give one another name"),
                );
            }
            operations.push(operation);
        }
        let divisor = operations.iter().fold(0, |divisor, operation| gcd(divisor, operation.weight));
        let cards: u64 = operations.iter().map(|operation| operation.weight / divisor.max(1)).sum();
        if cards > MOST_CARDS {
            let at = root.tables("operation").next().map_or(0, |table| table.at("weight"));
            self.wrong(
                at,
                format!("the weights make a deck of {cards} cards, over {MOST_CARDS}: round them"),
            );
        }
        operations
    }

    fn operation(&mut self, table: Table<'d, 't>) -> Operation {
        self.done = Done::default();
        self.on = MAIN.to_owned();
        let single = verb(table.table).map(|(verb, _)| verb);
        let (steps, called) = match single {
            Some(verb) => {
                let (step, _) = self.step(table, verb, true);
                let called = if matches!(verb, "file" | "program") { table.text(verb) } else { None };
                (vec![step], called.unwrap_or_else(|| verb.to_owned()))
            }
            None => {
                self.on = table.text("on").unwrap_or_else(|| MAIN.to_owned());
                if !table.has("name") {
                    self.wrong(table.at, "an operation of several steps needs a name");
                }
                (self.steps(table), String::new())
            }
        };
        if self.done.rows.is_empty() {
            self.wrong(table.at, "asks for nothing: write a step besides think");
        }
        let counts = table.text("counts");
        if let Some(counts) = counts.as_ref().filter(|counts| !self.done.rows.contains_key(*counts)) {
            let near = did_you_mean(counts, self.done.rows.keys().map(String::as_str));
            self.wrong(
                table.at("counts"),
                format!("counts {}, which is none of its steps{near}", quoted(counts)),
            );
        }
        self.left_behind();
        Operation {
            name: table.text("name").unwrap_or(called),
            weight: table.int("weight").unwrap_or(1),
            counts,
            objective: table.text("objective"),
            page: table.flag("page", false),
            steps,
        }
    }

    /// Says which entries would stay that nobody said should.
    fn left_behind(&mut self) {
        let done = std::mem::take(&mut self.done);
        for (at, dn) in done.adds {
            let renamed = done.renames && !done.deletes.is_empty();
            if !renamed && !done.deletes.contains(&dn) {
                self.wrong(
                    at,
                    "adds what no step of the operation deletes: write keep = true if it is to stay",
                );
            }
        }
    }

    fn steps(&mut self, table: Table<'d, 't>) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, step) in table.tables("step").enumerate() {
            let Some((verb, _)) = verb(step.table) else { continue };
            if verb == "repeat" {
                self.names.block.repeats.push(number);
            }
            let (step, captures) = self.step(step, verb, false);
            if verb == "repeat" {
                self.names.block.repeats.pop();
            }
            if let Some(scope) = self.names.scopes.last_mut() {
                scope.extend(captures);
            }
            steps.push(step);
        }
        steps
    }

    /// A step, and what can be used after it; `single` where it is an operation too.
    fn step(&mut self, step: Table<'d, 't>, verb: &'static str, single: bool) -> (Step, Vec<(String, bool)>) {
        let asks = !matches!(verb, "think" | "repeat");
        let name = if asks { self.row(step, verb, single) } else { step.text("name").unwrap_or_default() };
        let on = step.text("on").unwrap_or_else(|| self.on.clone());
        if asks && verb != "unbind" {
            self.uses_connection(&on, step.at("on"), verb);
        }
        let action = self.verb(step, verb);
        let controls = self.controls(step);
        let expect = step.table("expect").map_or_else(Expect::default, |table| self.expect(table, verb));
        let captures: Vec<_> = step
            .entries("capture")
            .into_iter()
            .map(|(name, at, value)| self.capture(name, at, value, verb))
            .collect();
        let scope =
            captures.iter().map(|capture| (capture.name.clone(), capture.take == Take::All)).collect();
        (Step { name, on, verb: action, expect, captures, controls }, scope)
    }

    fn row(&mut self, step: Table<'d, 't>, verb: &'static str, single: bool) -> String {
        let given = step.text("name").filter(|_| !single);
        let name = given.unwrap_or_else(|| {
            let number = self.done.unnamed.entry(verb).or_insert(0);
            *number += 1;
            if *number == 1 { verb.to_owned() } else { format!("{verb} {number}") }
        });
        let other = *self.done.rows.entry(name.clone()).or_insert(verb);
        if other != verb {
            let at = if single { step.at } else { step.at("name") };
            self.wrong(
                at,
                format!("two steps called {} have different verbs, {other} and {verb}", quoted(&name)),
            );
        }
        name
    }

    fn uses_connection(&mut self, name: &str, at: usize, verb: &str) {
        let Some(known) = self.names.connections.get_mut(name) else {
            let near = did_you_mean(name, self.names.connections.keys().map(String::as_str));
            return self.wrong(at, format!("no connection is called {}{near}", quoted(name)));
        };
        known.used = true;
        if verb == "bind" && known.what.is_shared() {
            let what = "a step cannot bind on a connection that users share (RFC 4511 4.2.1)";
            return self.wrong(at, what);
        }
        let (uses, per_iteration) = (known.uses.clone(), known.what.lives == Lifetime::Iteration);
        let block = self.names.block.clone();
        if per_iteration {
            self.names.block.repeats.clear();
        }
        let noted = self.names.note_all(&uses);
        self.names.block = block;
        if let Err(what) = noted {
            self.wrong(at, format!("the connection's bind: {what}"));
        }
    }

    fn verb(&mut self, step: Table<'d, 't>, verb: &'static str) -> Verb {
        match verb {
            "bind" => self.bind(step),
            "search" => Verb::Search(Box::new(self.search(step))),
            "compare" => Verb::Compare { dn: self.dn_of(step, "compare"), entry: self.assertion(step) },
            "add" => self.add(step),
            "modify" => Verb::Modify { dn: self.entry_dn(step, "modify"), changes: self.changes(step) },
            "modify_dn" => self.modify_dn(step),
            "delete" if self.protocol == Protocol::Ldap => {
                let dn = self.entry_dn(step, "delete");
                self.done.deletes.insert(dn.clone());
                Verb::Delete { dn }
            }
            "password_modify" => Verb::PasswordModify {
                dn: self.dn_of(step, "password_modify"),
                old_password: step.get("old_password").map(|value| self.secret(value)),
                new_password: step.get("new_password").map(|value| self.secret(value)),
            },
            "refresh" => {
                let ttl = step.duration("ttl").unwrap_or_default();
                Verb::Refresh { dn: self.entry_dn(step, "refresh"), ttl }
            }
            "extended" => {
                let oid = step.text("extended").unwrap_or_default();
                Verb::Extended { oid, value: step.get("value").map(|value| self.value(value)) }
            }
            "unbind" => self.unbind(step),
            "file" => {
                let class = step.text("file").unwrap_or_default();
                if !self.classes.contains(&class) {
                    let near = did_you_mean(&class, self.classes.iter().map(String::as_str));
                    let class = quoted(&class);
                    self.wrong(step.at("file"), format!("no class of [files] is called {class}{near}"));
                }
                Verb::File { class }
            }
            "program" => {
                if step.has("size") == step.has("size_about") {
                    self.wrong(step.at("program"), "has neither or both of size and size_about: write one");
                } else if step.str("program") == Some("cgi-env") && step.has("size") {
                    self.wrong(
                        step.at("size"),
                        "an environment differs from server to server: write size_about",
                    );
                }
                Verb::Program {
                    program: step.text("program").unwrap_or_default(),
                    size: step.int("size"),
                    size_about: step.int("size_about"),
                    random: step.str("content") == Some("random"),
                }
            }
            "think" => Verb::Think {
                mean: step.duration("think").unwrap_or_default(),
                constant: step.str("distribution") == Some("constant"),
            },
            "repeat" => self.repeat(step),
            method => Verb::Request(Box::new(self.request(step, method))),
        }
    }

    fn bind(&mut self, step: Table<'d, 't>) -> Verb {
        let sasl = step.sasl();
        let nobody = step.str("bind").is_none_or(str::is_empty);
        match sasl {
            Some(Sasl::External) if step.has("password") => {
                self.wrong(step.at("password"), "EXTERNAL takes no password: the certificate says who it is");
            }
            Some(Sasl::External) => {}
            _ if !nobody && !step.has("password") => {
                let what = "a bind with a name needs a password; write password = \"\" for an unauthenticated one \
                            (RFC 4513 5.1.2)";
                self.wrong(step.at("bind"), what);
            }
            _ => {}
        }
        Verb::Bind {
            bind: step.get("bind").map_or_else(Template::default, |value| self.bind_name(value, sasl)),
            password: step.get("password").map(|value| self.secret(value)),
            sasl,
            version: step.int("version").unwrap_or(3),
        }
    }

    fn search(&mut self, step: Table<'d, 't>) -> Search {
        let base = step.get("base").map(|value| self.dn(value));
        Search {
            filter: step.get("search").map_or_else(Template::default, |value| self.whole(value, "filter")),
            base: base.unwrap_or_else(|| Template::read("{base}").unwrap_or_default()),
            scope: match step.str("scope") {
                Some("base") => Scope::Base,
                Some("one") => Scope::One,
                Some("children") => Scope::Children,
                _ => Scope::Sub,
            },
            attributes: self.attributes(step, "attributes"),
            size_limit: step.int("size_limit").unwrap_or(0),
            time_limit: step.duration("time_limit").unwrap_or_default(),
            types_only: step.flag("types_only", false),
            deref: match step.str("deref") {
                Some("searching") => Deref::Searching,
                Some("finding") => Deref::Finding,
                Some("always") => Deref::Always,
                _ => Deref::Never,
            },
            page_size: step.int("page_size"),
        }
    }

    /// Attributes to return: `*`, `+`, `1.1` and `@class` are some too.
    fn attributes(&self, table: Table<'d, 't>, key: &str) -> Vec<String> {
        let names = table.texts(key);
        let special = |name: &str| {
            matches!(name, "*" | "+") || name.strip_prefix('@').is_some_and(grammar::is_attribute)
        };
        if let Some(name) = names.iter().find(|name| !grammar::is_attribute(name) && !special(name)) {
            self.wrong(table.at(key), format!("{} is no attribute", quoted(name)));
        }
        names
    }

    fn add(&mut self, step: Table<'d, 't>) -> Verb {
        let (dn, keep) = (self.entry_dn(step, "add"), step.flag("keep", false));
        let entry = self.entry(step);
        // People of the population are removed when the test ends.
        let data = if let Entry::Row(data) = &entry { self.names.data.get(data) } else { None };
        if !keep && !data.is_some_and(|data| matches!(data.what.rows, Rows::New | Rows::Seeded)) {
            self.done.adds.push((step.at("add"), dn.clone()));
        }
        Verb::Add { dn, entry, keep }
    }

    fn modify_dn(&mut self, step: Table<'d, 't>) -> Verb {
        self.done.renames = true;
        let rdn = step.str("new_rdn").unwrap_or_default();
        if let (Err((byte, what)), Some(value)) = (grammar::rdn(rdn), step.get("new_rdn")) {
            self.wrong(within(self.text, value.span(), rdn, byte), what);
        }
        Verb::ModifyDn {
            dn: self.entry_dn(step, "modify_dn"),
            new_rdn: self.dn_of(step, "new_rdn"),
            delete_old_rdn: step.flag("delete_old_rdn", true),
            new_superior: step.get("new_superior").map(|value| self.dn(value)),
        }
    }

    fn unbind(&mut self, step: Table<'d, 't>) -> Verb {
        let connection = step.text("unbind").unwrap_or_default();
        match self.names.connections.get(&connection) {
            None => {
                let near = did_you_mean(&connection, self.names.connections.keys().map(String::as_str));
                self.wrong(
                    step.at("unbind"),
                    format!("no connection is called {}{near}", quoted(&connection)),
                );
            }
            Some(known) if known.what.is_shared() => {
                self.wrong(step.at("unbind"), "a step cannot close a connection that users share");
            }
            Some(_) => {}
        }
        Verb::Unbind { connection }
    }

    fn repeat(&mut self, step: Table<'d, 't>) -> Verb {
        let mut scope = HashMap::new();
        let times = match step.str("repeat") {
            Some(name) => {
                match self.names.list(name) {
                    Some(true) => {}
                    Some(false) => self.wrong(
                        step.at("repeat"),
                        format!("{} is one value: capture it with take = \"all\"", quoted(name)),
                    ),
                    None => {
                        let near = did_you_mean(name, self.names.captures.iter().map(String::as_str));
                        let what = "is neither a number nor a list that was captured before";
                        self.wrong(step.at("repeat"), format!("{} {what}{near}", quoted(name)));
                    }
                }
                scope.insert(name.to_owned(), false);
                Times::Each(name.to_owned())
            }
            None => Times::Number(step.int("repeat").unwrap_or(1)),
        };
        self.names.scopes.push(scope);
        let steps = self.steps(step);
        self.names.scopes.pop();
        Verb::Repeat { times, steps }
    }

    fn request(&mut self, step: Table<'d, 't>, verb: &str) -> Request {
        let path = step.get(verb).map_or_else(Template::default, |value| self.whole(value, "path"));
        let headers = self.headers_of(step);
        for (name, value) in self.headers.clone() {
            if !headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name)) {
                self.template(value);
            }
        }
        let bodies: Vec<_> = ["form", "json", "body"].into_iter().filter(|key| step.has(key)).collect();
        if bodies.len() > 1 {
            self.wrong(step.at(bodies[1]), format!("has several bodies: {}", bodies.join(", ")));
        } else if step.has("content_type") && !step.has("body") {
            self.wrong(step.at("content_type"), "is for body: form and json have their own");
        }
        if let Err((_, what)) = grammar::header_value(step.str("content_type").unwrap_or_default()) {
            self.wrong(step.at("content_type"), what);
        }
        let body = match bodies.first() {
            Some(&"form") => Some(Body::Form(self.named_texts(step, "form"))),
            Some(&"json") => step.get("json").map(|value| Body::Json(self.json(value))),
            Some(_) => {
                step.get("body").map(|value| Body::Text(self.template(value), step.text("content_type")))
            }
            None => None,
        };
        Request {
            method: match verb {
                "head" => "HEAD",
                "post" => "POST",
                "put" => "PUT",
                "patch" => "PATCH",
                "delete" => "DELETE",
                _ => "GET",
            },
            path,
            headers,
            body,
            escaped: match step.str("match") {
                Some("json") => Escaped::Json,
                Some("plain") => Escaped::Plain,
                _ => Escaped::Html,
            },
            follow: step.flag("follow", false),
        }
    }

    fn json(&mut self, value: &Entry_<'t>) -> Json {
        match value.get_ref() {
            DeValue::Table(table) => {
                let fields = in_order(table).into_iter();
                Json::Object(fields.map(|(name, _, value)| (name.to_owned(), self.json(value))).collect())
            }
            DeValue::Array(list) => Json::List(list.iter().map(|each| self.json(each)).collect()),
            DeValue::String(_) => Json::Text(self.template(value)),
            DeValue::Boolean(flag) => Json::Literal(flag.to_string()),
            other => Json::Literal(match int(other) {
                Some(int) => int.to_string(),
                None => number(other)
                    .and_then(serde_json::Number::from_f64)
                    .map_or_else(String::new, |n| n.to_string()),
            }),
        }
    }

    // Entries and values.

    fn entry(&mut self, table: Table<'d, 't>) -> Entry {
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

    /// What a compare asks for.
    fn assertion(&mut self, step: Table<'d, 't>) -> Entry {
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

    fn attribute(&mut self, name: &str, at: usize, value: &Entry_<'t>) -> (String, Vec<Value>) {
        if !grammar::is_attribute(name) {
            self.wrong(at, format!("{} is no attribute", quoted(name)));
        }
        let values = match value.get_ref() {
            DeValue::Array(list) => list.iter().map(|each| self.value(each)).collect(),
            _ => vec![self.value(value)],
        };
        (name.to_owned(), values)
    }

    fn value(&mut self, value: &Entry_<'t>) -> Value {
        let plain = |text: String| {
            let parts = if text.is_empty() { Vec::new() } else { vec![crate::template::Part::Text(text)] };
            Value { text: Template { parts }, encoding: Encoding::Text }
        };
        match value.get_ref() {
            DeValue::Table(table) => {
                let encodings = [
                    ("base64", Encoding::Base64),
                    ("hex", Encoding::Hex),
                    ("utf16", Encoding::Utf16),
                    ("file", Encoding::File),
                ];
                let given =
                    encodings.into_iter().find_map(|(key, encoding)| Some((table.get(key)?, encoding)));
                let (text, encoding) = given
                    .map_or((Template::default(), Encoding::Text), |(value, e)| (self.template(value), e));
                let whole = text.literal().is_some() || text.only_field().is_some();
                if matches!(encoding, Encoding::Base64 | Encoding::Hex) && !whole {
                    self.wrong(value.span().start, "is neither a text nor one field alone");
                }
                Value { text, encoding }
            }
            // RFC 4517 section 3.3.3.
            DeValue::Boolean(flag) => plain(if *flag { "TRUE" } else { "FALSE" }.to_owned()),
            DeValue::String(_) => Value { text: self.template(value), encoding: Encoding::Text },
            other => plain(int(other).unwrap_or_default().to_string()),
        }
    }

    fn changes(&mut self, step: Table<'d, 't>) -> Vec<Change> {
        let tables: Vec<_> = step.table("change").into_iter().chain(step.tables("change")).collect();
        let mut changes = Vec::new();
        for table in tables {
            let before = changes.len();
            for (kind, _, value) in in_order(table.table) {
                let Some(attributes) = value.get_ref().as_table() else { continue };
                let (kind, least) = match kind {
                    "add" => (ChangeKind::Add, 1),
                    "delete" => (ChangeKind::Delete, 0),
                    "increment" => (ChangeKind::Increment, 1),
                    _ => (ChangeKind::Replace, 0),
                };
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

    fn controls(&mut self, step: Table<'d, 't>) -> Vec<Control> {
        let mut controls = Vec::new();
        let Some(table) = step.table("control") else { return controls };
        for (name, _, value) in in_order(table.table) {
            let control = match (name, value.get_ref()) {
                ("sort", _) => Control::Sort(self.sort_keys(table)),
                ("proxied_authorization", _) => Control::ProxiedAuthorization(self.template(value)),
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
                    let Some(other) = table.table(name) else { continue };
                    Control::Other {
                        oid: name.to_owned(),
                        critical: other.flag("critical", true),
                        value: other.get("value").map(|value| self.value(value)),
                    }
                }
            };
            controls.push(control);
        }
        controls
    }

    fn sort_keys(&self, table: Table<'d, 't>) -> Vec<SortKey> {
        let words = table.str("sort").unwrap_or_default().split_whitespace();
        let keys = words.map(|word| {
            let attribute = word.strip_prefix('-').unwrap_or(word);
            SortKey { attribute: attribute.to_owned(), reverse: word.starts_with('-') }
        });
        let keys: Vec<_> = keys.collect();
        if keys.is_empty() || !keys.iter().all(|key| grammar::is_attribute(&key.attribute)) {
            self.wrong(table.at("sort"), "is no order: write attributes, such as \"sn -givenName\"");
        }
        keys
    }

    // Answers.

    fn expect(&mut self, table: Table<'d, 't>, verb: &str) -> Expect {
        for key in ["entries", "entry", "dn"] {
            if verb != "search" && table.has(key) {
                self.wrong(table.at(key), format!("only a search has entries, and this is {verb}"));
            }
        }
        let identity = table.table("identity").map(|identity| Identity {
            before: identity.text("before").unwrap_or_default(),
            value: identity.get("value").map_or_else(Template::default, |value| self.template(value)),
            until: identity.text("until").unwrap_or_else(|| "\"".to_owned()),
        });
        if let Some(empty) = identity.as_ref().filter(|each| each.before.is_empty() || each.until.is_empty())
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
            dn: table.get("dn").map(|value| self.dn(value)),
            statuses: self.codes(table, "status"),
            length: table.int("length"),
            contains: self.templates(table.get("contains")),
            headers: self.named_texts(table, "headers"),
            identity,
            fresh: self.templates(table.get("fresh")),
        }
    }

    fn codes(&mut self, table: Table<'d, 't>, key: &str) -> Vec<Code> {
        let Some(value) = table.get(key) else { return Vec::new() };
        let list = match value.get_ref() {
            DeValue::Array(list) => &list[..],
            _ => std::slice::from_ref(value),
        };
        let code = |each: &Entry_<'t>| match each.get_ref() {
            DeValue::String(text) => match grammar::result_names().find(|(name, _)| name == text) {
                Some((_, code)) => Code::Number(code),
                None => Code::Field(self.template(each)),
            },
            other => Code::Number(int(other).and_then(|code| u32::try_from(code).ok()).unwrap_or_default()),
        };
        list.iter().map(code).collect()
    }

    fn capture(&mut self, name: &str, at: usize, value: &Entry_<'t>, verb: &str) -> Capture {
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
                let take = match table.str("take") {
                    Some("all") => Take::All,
                    Some("random") => Take::Random,
                    _ => Take::First,
                };
                (self.source_of(table), take, self.default(table, take))
            }
            other => (Source::Attribute(other.as_str().unwrap_or_default().to_owned()), Take::First, None),
        };
        if let Source::Attribute(attribute) = &from {
            let right = match verb {
                "search" => grammar::is_attribute(attribute),
                "password_modify" => attribute == "genPasswd",
                _ => false,
            };
            if !right {
                let what = match verb {
                    "search" => format!("{} is no attribute", quoted(attribute)),
                    "password_modify" => "the answer has nothing but \"genPasswd\"".to_owned(),
                    _ => format!("the answer to {verb} has nothing to capture"),
                };
                self.wrong(value.span().start, what);
            }
        }
        Capture { name: name.to_owned(), from, take, default }
    }

    fn source_of(&self, table: Table<'d, 't>) -> Source {
        let kinds = ["attribute", "cookie", "header", "json", "before"];
        let given: Vec<_> = kinds.into_iter().filter(|kind| table.has(kind)).collect();
        let text = |key: &str| table.text(key).unwrap_or_default();
        let (what, from) = match given[..] {
            ["attribute"] => (None, Source::Attribute(text("attribute"))),
            ["cookie"] => (None, Source::Cookie(text("cookie"))),
            ["header"] => {
                let wrong = !grammar::is_token(&text("header"));
                (wrong.then_some("is no header"), Source::Header(text("header")))
            }
            ["json"] => {
                let pointer = text("json");
                let wrong = !(pointer.is_empty() || pointer.starts_with('/'));
                (
                    wrong.then_some("is no JSON pointer, such as \"/user/id\" (RFC 6901)"),
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

    fn default(&self, table: Table<'d, 't>, take: Take) -> Option<Vec<String>> {
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

    /// Says which names nothing uses.
    fn unused(&self) {
        let names = &self.names;
        let unused = |at: usize, what: &str| self.wrong(at, what.to_owned());
        names.data.values().filter(|known| !known.used).for_each(|known| unused(known.at, "nothing uses it"));
        names
            .values
            .values()
            .filter(|known| !known.used)
            .for_each(|known| unused(known.at, "nothing uses it"));
        let connections = names.connections.values().filter(|known| !known.used && known.at > 0);
        connections.for_each(|known| unused(known.at, "no step uses it"));
    }
}

const SECRET: &str = "is a secret in the file: write \"{env.NAME}\", or a column";

fn deal(word: &str) -> Deal {
    match word {
        "in-order" => Deal::InOrder,
        "once" => Deal::Once,
        "exclusive" => Deal::Exclusive,
        "uniform" => Deal::Uniform,
        "zipfian" => Deal::Zipfian,
        "hotspot" => Deal::Hotspot,
        "latest" => Deal::Latest,
        _ => Deal::Shuffled,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
