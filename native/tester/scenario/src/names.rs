//! Resolves the names of fields: their meanings, their lifetimes, and the blocks in which they are drawn.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::form::Protocol;
use crate::problem::{did_you_mean, listed, nearest, quoted};
use crate::template::{BRACES, BUILT_IN, Field, Template, is_column};
use crate::types::{Block, Connection, Data, Draw, Drawn, Rows};

/// The most columns that a message lists.
const MOST_LISTED: usize = 20;

/// The lifetime of the connection or step that uses a field. A value of the field must live as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Run,
    /// The run's lifetime: a connection that all users share.
    Shared,
    /// The user's lifetime: a connection that is kept.
    User,
    /// The user's lifetime, from `[start]` on.
    Start,
    /// The lifetime is an iteration or shorter.
    Iteration,
}

/// A definition, its position, and whether it is used.
#[derive(Debug)]
pub(crate) struct Known<T> {
    pub(crate) what: T,
    pub(crate) at: usize,
    pub(crate) used: bool,
    /// Draws that the definition uses.
    pub(crate) uses: BTreeSet<Drawn>,
}

impl<T> Known<T> {
    pub(crate) const fn new(what: T, at: usize) -> Self {
        Self { what, at, used: false, uses: BTreeSet::new() }
    }
}

/// The names of a file, and the current place of the reader.
#[derive(Debug)]
pub(crate) struct Names {
    protocol: Protocol,
    pub(crate) data: BTreeMap<String, Known<Data>>,
    pub(crate) values: BTreeMap<String, Known<Template>>,
    pub(crate) connections: BTreeMap<String, Known<Connection>>,
    /// All captures of the file, for messages.
    pub(crate) captures: HashSet<String>,
    /// The captures of each block in scope, the outermost block first. The flag is set for lists.
    pub(crate) scopes: Vec<HashMap<String, bool>>,
    pub(crate) base: bool,
    /// Environment variables that are used.
    pub(crate) variables: BTreeSet<String>,
    pub(crate) life: Life,
    pub(crate) block: Block,
    /// While the reader is in the definition of a value: the draws that the definition uses. They
    /// count as used only where the value is used.
    pub(crate) described: Option<BTreeSet<Drawn>>,
    /// Drawn names by operation, with the innermost repeats that contain all uses.
    named: BTreeMap<(Option<usize>, Drawn), Vec<usize>>,
    /// Generators, each with the block for which it is drawn.
    generators: BTreeSet<Draw>,
}

impl Names {
    pub(crate) fn new(protocol: Protocol, captures: HashSet<String>) -> Self {
        Self {
            protocol,
            data: BTreeMap::new(),
            values: BTreeMap::new(),
            connections: BTreeMap::new(),
            captures,
            scopes: Vec::new(),
            base: false,
            variables: BTreeSet::new(),
            life: Life::Iteration,
            block: Block::default(),
            described: None,
            named: BTreeMap::new(),
            generators: BTreeSet::new(),
        }
    }

    /// Whether a name is reserved, or names data or a value.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        BUILT_IN.contains(&name) || self.data.contains_key(name) || self.values.contains_key(name)
    }

    /// Records the use of a field; fails if the field is not allowed here.
    pub(crate) fn field(&mut self, field: &Field) -> Result<(), String> {
        self.base |= *field == Field::Base;
        let lives = match field {
            Field::Env(name) => {
                self.variables.insert(name.clone());
                true
            }
            Field::Base if self.protocol == Protocol::Http => {
                return Err("{base} is for LDAP".to_owned());
            }
            Field::Base | Field::Worker => self.life != Life::Run,
            Field::User => !matches!(self.life, Life::Run | Life::Shared),
            Field::Iteration => self.life == Life::Iteration,
            Field::Now(_) => matches!(self.life, Life::Start | Life::Iteration),
            Field::Uuid | Field::RandomText { .. } | Field::RandomNumber { .. } | Field::Choice(_) => {
                let lives = matches!(self.life, Life::Start | Life::Iteration);
                if lives {
                    self.note(Drawn::Generator(field.clone()));
                }
                lives
            }
            Field::Column(data, column) => return self.column(data, column),
            Field::Name(name) => return self.name(name),
        };
        if lives { Ok(()) } else { Err(self.too_short(&field.to_string())) }
    }

    fn too_short(&self, field: &str) -> String {
        match self.life {
            Life::Run => format!("{field} lives shorter than the base: only {{env.NAME}} can be part of it"),
            Life::Shared => format!("lives longer than {field}: all users share this connection"),
            Life::User => format!(
                "lives longer than {field}: the connection is kept, unless it has per = \"iteration\""
            ),
            _ => format!("{field} lives for an iteration only, and [start] is before the first"),
        }
    }

    fn column(&mut self, data: &str, column: &str) -> Result<(), String> {
        let Some(source) = self.data.get(data) else {
            let is_one = self.values.contains_key(data) || self.captures.contains(data);
            if is_one {
                return Err(format!(
                    "{{{data}.{column}}}: {data:?} is not data and has no columns: write {{{data}}}"
                ));
            }
            let near = nearest(data, self.data.keys().map(String::as_str));
            let near =
                near.map_or_else(|| BRACES.to_owned(), |near| format!("; did you mean {{{near}.{column}}}?"));
            return Err(format!("{{{data}.{column}}}: no data is called {data:?}{near}"));
        };
        let columns = source.what.columns.as_ref();
        if let Some(columns) = columns.filter(|columns| !columns.iter().any(|other| other == column)) {
            // Other columns cannot be fields, and a terminal may be unable to show their names.
            let known = || columns.iter().map(String::as_str).filter(|name| is_column(name));
            if let [only] = &columns[..]
                && let Some(separator) = only.chars().find(|c| ";\t|".contains(*c))
            {
                return Err(format!(
                    "{{{data}.{column}}}: no such column; {data} has one: say separator = {separator:?}, if that is \
                     what stands between them"
                ));
            }
            let (near, known) = (did_you_mean(column, known()), listed(known().take(MOST_LISTED)));
            return Err(format!("{{{data}.{column}}}: no such column{near}; {data} has {known}"));
        }
        self.row(data)
    }

    /// Records the use of a row, or of a part of the row.
    pub(crate) fn row(&mut self, data: &str) -> Result<(), String> {
        let Some(source) = self.data.get_mut(data) else {
            let near = did_you_mean(data, self.data.keys().map(String::as_str));
            return Err(format!("no data is called {}{near}", quoted(data)));
        };
        source.used = true;
        let per_user = source.what.per_user;
        match self.life {
            Life::Iteration | Life::Start | Life::User if per_user => Ok(()),
            Life::Iteration => {
                self.note(Drawn::Row(data.to_owned()));
                Ok(())
            }
            life => {
                let message = self.too_short(&format!("{{{data}}}"));
                let remedy = "; with per = \"user\" a row lives as long as its user";
                Err(format!("{message}{}", if life == Life::Start { remedy } else { "" }))
            }
        }
    }

    fn name(&mut self, name: &str) -> Result<(), String> {
        if let Some(source) = self.data.get(name) {
            return match (&source.what.columns, &source.what.rows) {
                (Some(columns), _) if columns.len() == 1 => self.row(name),
                (None, Rows::File { .. }) => self.row(name),
                (columns, _) => {
                    let mut columns = columns.iter().flatten().map(String::as_str);
                    let column = columns.find(|name| is_column(name)).unwrap_or("dn");
                    Err(format!(
                        "{{{name}}} has several columns: write {{{name}.{column}}}, or another of them"
                    ))
                }
            };
        }
        if self.values.contains_key(name) {
            if self.life != Life::Iteration {
                return Err(self.too_short(&format!("{{{name}}}")));
            }
            if let Some(value) = self.values.get_mut(name) {
                value.used = true;
            }
            self.note(Drawn::Value(name.to_owned()));
            return Ok(());
        }
        match self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            Some(false) => Ok(()),
            Some(true) => {
                Err(format!("{{{name}}} is a list: write repeat = {name:?}, and use it in its steps"))
            }
            None if self.captures.contains(name) => Err(format!(
                "{{{name}}} is not known here: it is captured by a later step, or in a block that has ended"
            )),
            None => {
                let known =
                    self.values.keys().chain(self.data.keys()).chain(&self.captures).map(String::as_str);
                let near = nearest(name, known.chain(BUILT_IN).filter(|word| *word != "env"));
                let near =
                    near.map_or_else(|| BRACES.to_owned(), |near| format!("; did you mean {{{near}}}?"));
                Err(format!("{{{name}}} is unknown{near}"))
            }
        }
    }

    /// Whether a captured name is a list, for `repeat`; `None` if it was not captured before.
    pub(crate) fn list(&self, name: &str) -> Option<bool> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).copied()
    }

    fn note(&mut self, what: Drawn) {
        if let Some(described) = &mut self.described {
            described.insert(what);
        } else if let Drawn::Generator(_) = what {
            self.generators.insert(Draw { block: self.block.clone(), what });
        } else {
            let (operation, repeats) = (self.block.operation, self.block.repeats.clone());
            self.draw_at(operation, &repeats, what);
        }
    }

    fn draw_at(&mut self, operation: Option<usize>, repeats: &[usize], what: Drawn) {
        let known = self.named.entry((operation, what)).or_insert_with(|| repeats.to_vec());
        let common = known.iter().zip(repeats).take_while(|(a, b)| a == b).count();
        known.truncate(common);
    }

    /// Records the uses of a definition when the definition itself is used.
    pub(crate) fn note_all(&mut self, uses: &BTreeSet<Drawn>) -> Result<(), String> {
        for what in uses {
            if let (Life::Start, Drawn::Row(name) | Drawn::Value(name)) = (self.life, what) {
                return Err(self.too_short(&format!("{{{name}}}")));
            }
            self.note(what.clone());
        }
        Ok(())
    }

    /// All draws with their blocks. In `order` every value follows the values that it uses.
    pub(crate) fn draws(mut self, order: &[String]) -> Vec<Draw> {
        for name in order.iter().rev() {
            let Some(uses) = self.values.get(name).map(|value| value.uses.clone()) else { continue };
            let key = Drawn::Value(name.clone());
            let places = self.named.iter().filter(|((_, what), _)| *what == key);
            let places: Vec<_> =
                places.map(|((operation, _), repeats)| (*operation, repeats.clone())).collect();
            for (operation, repeats) in places {
                // A field such as `{uuid}` within a value is drawn together with the value.
                for what in uses.iter().filter(|what| !matches!(what, Drawn::Generator(_))) {
                    self.draw_at(operation, &repeats, what.clone());
                }
            }
        }
        let named = self.named.into_iter().map(|((operation, what), repeats)| {
            let block = Block { operation, repeats };
            Draw { block, what }
        });
        let mut draws: Vec<Draw> = named.chain(self.generators).collect();
        draws.sort();
        draws
    }

    /// Whether a text is constant, whatever is drawn. A constant secret would be readable in the file.
    pub(crate) fn is_literal(&self, template: &Template) -> bool {
        template.fields().all(|field| match field {
            Field::Base | Field::Choice(_) => true,
            Field::Name(name) => {
                // Another check reports a circular value.
                let value = self.values.get(name).map(|value| &value.what);
                value.is_some_and(|value| value != template && value.fields().next().is_none())
            }
            _ => false,
        })
    }

    /// The reason why a field cannot be a whole name.
    pub(crate) fn no_name(&self, field: &Field) -> Option<String> {
        match field {
            Field::Base | Field::Env(_) | Field::Column(..) => None,
            Field::Name(name) => {
                let from_outside = |field: &Field| {
                    matches!(field, Field::Env(_) | Field::Column(..) | Field::Name(_) | Field::Choice(_))
                };
                let value = self.values.get(name)?;
                value.what.fields().any(from_outside).then(|| {
                    format!(
                        "{{{name}}} cannot stand for a name: what is drawn in it would have to be escaped; \
                             write the name out here"
                    )
                })
            }
            _ => Some(format!("{field} is a value and no name: write attribute={field}")),
        }
    }

    /// The reason why a field cannot be a whole filter or path.
    pub(crate) fn no_whole(&self, field: &Field, what: &str) -> Option<String> {
        let column = match field {
            Field::Column(..) | Field::Env(_) => true,
            Field::Name(name) => self.data.contains_key(name),
            _ => false,
        };
        (!column).then(|| format!("only a column can be a whole {what}, and {field} is none"))
    }
}
