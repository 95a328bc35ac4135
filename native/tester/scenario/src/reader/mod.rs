//! The second reading: converts tables to types, and resolves their names.
//!
//! The first reading has checked every key and kind, so a missing key has its default.

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
use crate::problem::{FoundProblems, quoted};
use crate::template::Template;
use crate::types::{Data, Load, Needed, Scenario};

use table::{Item, Table};

/// The most values, data sets, connections and common headers of one file.
pub const MOST_NAMES: usize = 100;

/// The most steps of one file. Each step is compared with all other steps of its operation, so the cost is
/// quadratic.
pub const MOST_STEPS: usize = 10_000;

/// The connection of steps that name no connection.
const MAIN: &str = "main";

/// The steps of the current operation so far.
#[derive(Default)]
struct Done {
    /// The names of result rows, with the verbs of their steps.
    rows: HashMap<String, &'static str>,
    /// The number of unnamed steps by verb.
    unnamed: HashMap<&'static str, usize>,
    /// Adds without `keep`: a step has to delete their entries.
    adds: Vec<(usize, Template)>,
    deletes: HashSet<Template>,
    renames: bool,
}

struct Reader<'a, 'd, 't> {
    text: &'a str,
    protocol: Protocol,
    problems: &'a FoundProblems,
    names: Names,
    /// Common header lines with fields: their fields are checked in every request that sends them.
    headers: Vec<(&'d str, &'d Item<'t>)>,
    classes: HashSet<String>,
    done: Done,
    on: String,
    needed: Vec<Needed>,
    steps: usize,
}

/// Reads a document whose shape the first reading has checked.
pub(crate) fn scenario(
    text: &str,
    document: &DeTable<'_>,
    protocol: Protocol,
    problems: &FoundProblems,
    columns: &dyn Fn(&Data) -> Option<Vec<String>>,
) -> Scenario {
    let root = Table { table: document, at: 0 };
    let mut captures = HashSet::new();
    root.table("start")
        .into_iter()
        .chain(root.tables("operation"))
        .for_each(|operation| captures_of(operation, &mut captures));
    let mut reader = Reader {
        text,
        protocol,
        problems,
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
    step.tables("step").for_each(|step| captures_of(step, captures));
}

impl<'d, 't> Reader<'_, 'd, 't> {
    fn wrong(&self, at: usize, what: impl Into<String>) {
        self.problems.push(at, || what.into());
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
        if self.problems.is_empty() {
            self.unused();
        }
        let names = std::mem::replace(&mut self.names, Names::new(self.protocol, HashSet::new()));
        let values =
            order.iter().filter_map(|name| Some((name.clone(), names.values.get(name)?.what.clone())));
        let values = values.collect();
        let connections = names.connections.values().filter(|entry| entry.used || entry.at > 0);
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

    /// Notes a control that the server must support.
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

    /// The tables of a section whose keys are names.
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

    /// Reports unused names.
    fn unused(&self) {
        let names = &self.names;
        let unused = |at: usize, what: &str| self.wrong(at, what.to_owned());
        names.data.values().filter(|entry| !entry.used).for_each(|entry| unused(entry.at, "nothing uses it"));
        names
            .values
            .values()
            .filter(|entry| !entry.used)
            .for_each(|entry| unused(entry.at, "nothing uses it"));
        let connections = names.connections.values().filter(|entry| !entry.used && entry.at > 0);
        connections.for_each(|entry| unused(entry.at, "no step uses it"));
    }
}
