//! Reads operations and their steps.

use std::collections::{HashMap, HashSet};

use super::table::Table;
use super::{Done, MAIN, MOST_STEPS, Reader};
use crate::problem::{did_you_mean, quoted};
use crate::shape::verb;
use crate::types::{Block, Expect, Lifetime, Operation, Step, Take};

/// The most captures of one step: lanes note the captures of an answer in the bits of a number.
const MOST_CAPTURES: usize = 64;

/// The result row of a whole operation.
const WHOLE: &str = "sequence";

/// The most cards of a deck, after weights are divided by their common divisor.
const MOST_CARDS: u64 = 10_000;

impl<'d, 't> Reader<'_, 'd, 't> {
    pub(super) fn start(&mut self, start: Table<'d, 't>) -> Vec<Step> {
        let steps = self.steps(start);
        self.left_behind();
        steps
    }

    pub(super) fn operations(&mut self, root: Table<'d, 't>) -> Vec<Operation> {
        let mut operations: Vec<Operation> = Vec::new();
        let mut names = HashSet::new();
        for (number, table) in root.tables("operation").enumerate() {
            if self.problems.is_full() || self.steps > MOST_STEPS {
                break;
            }
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
        let divisor = operations.iter().fold(0, |divisor, operation| gcd(divisor, operation.weight)).max(1);
        operations.iter_mut().for_each(|operation| operation.weight /= divisor);
        let cards: u64 = operations.iter().map(|operation| operation.weight).sum();
        if cards > MOST_CARDS {
            let at = root.tables("operation").next().map_or(0, |table| table.at("weight"));
            self.wrong(
                at,
                format!("the weights make a deck of {cards} cards, over {MOST_CARDS}: round them"),
            );
        }
        operations
    }

    pub(super) fn operation(&mut self, table: Table<'d, 't>) -> Operation {
        self.done = Done::default();
        self.on = MAIN.to_owned();
        let single = verb(table.table).map(|(verb, _)| verb);
        let (steps, called) = match single {
            Some(verb) => {
                let (step, _) = self.step(table, 0, verb, true);
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
            is_step: single.is_some(),
            steps,
        }
    }

    /// Reports entries that would stay in the target although their add has no `keep`.
    pub(super) fn left_behind(&mut self) {
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

    pub(super) fn steps(&mut self, table: Table<'d, 't>) -> Vec<Step> {
        let mut steps = Vec::new();
        for (number, step) in table.tables("step").enumerate() {
            if self.problems.is_full() || self.steps > MOST_STEPS {
                break;
            }
            let Some((verb, _)) = verb(step.table) else { continue };
            let (step, captures) = self.step(step, number, verb, false);
            if let Some(scope) = self.names.scopes.last_mut() {
                scope.extend(captures);
            }
            steps.push(step);
        }
        steps
    }

    /// Reads a step. Also returns its captures, each with whether it is a list. `number` is its index;
    /// `single` marks a step that is written as an operation.
    pub(super) fn step(
        &mut self,
        step: Table<'d, 't>,
        number: usize,
        verb: &'static str,
        single: bool,
    ) -> (Step, Vec<(String, bool)>) {
        self.steps += 1;
        if self.steps == MOST_STEPS + 1 {
            self.wrong(step.at, format!("is one of more than {MOST_STEPS} steps"));
        }
        let asks = !matches!(verb, "think" | "repeat");
        let name = if asks { self.row(step, verb, single) } else { step.text("name").unwrap_or_default() };
        let on = step.text("on").unwrap_or_else(|| self.on.clone());
        if asks && verb != "unbind" {
            self.uses_connection(&on, step.at("on"), verb);
        }
        let action = if verb == "repeat" { self.repeat(step, number) } else { self.verb(step, verb) };
        let controls = self.controls(step, verb);
        let expect = step.table("expect").map_or_else(Expect::default, |table| self.expect(table, verb));
        if step.flag("types_only", false) && (expect.entry.is_some() || expect.every.is_some()) {
            self.wrong(
                step.at("types_only"),
                "returns no values, and expect compares them: leave one of them out",
            );
        }
        let captures: Vec<_> = step
            .entries("capture")
            .into_iter()
            .map(|(name, at, value)| self.capture(name, at, value, verb))
            .collect();
        if captures.len() > MOST_CAPTURES {
            self.wrong(step.at("capture"), format!("has more than {MOST_CAPTURES} captures"));
        }
        let scope =
            captures.iter().map(|capture| (capture.name.clone(), capture.take == Take::All)).collect();
        (Step { name, word: verb, on, verb: action, expect, captures, controls }, scope)
    }

    pub(super) fn row(&mut self, step: Table<'d, 't>, verb: &'static str, single: bool) -> String {
        let given = step.text("name").filter(|_| !single);
        let name = given.unwrap_or_else(|| {
            let number = self.done.unnamed.entry(verb).or_insert(0);
            *number += 1;
            if *number == 1 { verb.to_owned() } else { format!("{verb} {number}") }
        });
        if name == WHOLE {
            self.wrong(
                step.at("name"),
                format!("{WHOLE:?} is the name of the whole operation: call it otherwise"),
            );
        }
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

    pub(super) fn uses_connection(&mut self, name: &str, at: usize, verb: &str) {
        let Some(connection) = self.names.connections.get_mut(name) else {
            let near = did_you_mean(name, self.names.connections.keys().map(String::as_str));
            return self.wrong(at, format!("no connection is called {}{near}", quoted(name)));
        };
        connection.used = true;
        if verb == "bind" && connection.what.is_shared() {
            let what = "a step cannot bind on a connection that users share (RFC 4511 4.2.1)";
            return self.wrong(at, what);
        }
        let (uses, per_iteration) = (connection.uses.clone(), connection.what.lives == Lifetime::Iteration);
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
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
