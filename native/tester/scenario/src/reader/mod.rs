//! The second reading: tables into types, and what their names mean.
//!
//! Every key and kind was checked by the first reading, so what is missing here has its default.

mod answers;
mod described;
mod entries;
mod steps;
mod table;
mod texts;
mod verbs;

use std::collections::{HashMap, HashSet};

use toml::de::DeTable;

use crate::form::Protocol;
use crate::grammar;
use crate::names::{Life, Names};
use crate::problem::{Found, quoted};
use crate::template::Template;
use crate::types::{Data, Load, Needed, Scenario};

use table::{Item, Table};

/// Values, sources of data, connections and common headers of one file, each.
pub const MOST_NAMES: usize = 100;

/// Steps of one file. Each is compared with others of its operation.
pub const MOST_STEPS: usize = 10_000;

/// The connection of steps that name none.
const MAIN: &str = "main";

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
    headers: Vec<(&'d str, &'d Item<'t>)>,
    classes: HashSet<String>,
    done: Done,
    on: String,
    needed: Vec<Needed>,
    steps: usize,
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
        names: Names::new(protocol, captures),
        headers: Vec::new(),
        classes: HashSet::new(),
        done: Done::default(),
        on: MAIN.to_owned(),
        needed: Vec::new(),
        steps: 0,
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
        if self.found.is_empty() {
            self.unused();
        }
        let names = std::mem::replace(&mut self.names, Names::new(self.protocol, HashSet::new()));
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
            uses_base: names.base,
            variables: names.variables.iter().cloned().collect(),
            draws: names.draws(&order),
            needed: std::mem::take(&mut self.needed),
        }
    }

    /// Notes a control that a server must know.
    fn needs(&mut self, name: &str, oid: &str, at: usize) {
        let line = self.text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        let operation = self.names.block.operation;
        self.needed.push(Needed { operation, name: name.to_owned(), oid: oid.to_owned(), line });
    }

    fn with_life<T>(&mut self, life: Life, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.names.life, life);
        let done = read(self);
        self.names.life = before;
        done
    }

    /// The tables of a part of the file whose names are its own.
    fn named(&self, root: Table<'d, 't>, key: &str) -> Vec<(&'d str, usize, &'d Item<'t>)> {
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
