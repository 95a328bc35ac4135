//! Resolves the fields of a scenario once, before the run.

use std::collections::{BTreeSet, HashMap, HashSet};

use scenario::{Block, Drawn, Field, Part, Scenario, Template, characters};

use super::LaneData;
use super::source::{DataSources, Dealt, ENTRY, Source};
use super::text::{Generator, Piece, Text};
use crate::choose::deal::Sharer;
use crate::compile_error::Result;

/// Data, values and captures of a scenario.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) sources: Vec<Source>,
    /// The values that lanes keep, by place.
    pub(super) values: Vec<LaneValue>,
    names: Names,
    /// The draws at the beginning of blocks.
    draws: Vec<(Block, Draw)>,
}

/// The names of the scenario that are the same for all lanes.
#[derive(Debug, Default)]
struct Names {
    inputs: Inputs,
    worker: u64,
    /// Paths of files with secret contents.
    hidden: Vec<String>,
    /// Captures that are secret.
    captured: Vec<String>,
    /// Values in an order in which each value uses only earlier values.
    values: Vec<(String, Template)>,
    /// Names of values that contain a secret, also through another value.
    secret_values: HashSet<String>,
}

/// A value that a lane keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LaneValue {
    Value(String),
    /// The draw of a field such as `{uuid}`, made at the beginning of a block.
    Generated(Block, Field),
    /// A capture of an operation, or of `[start]` (`None`).
    Capture(Option<usize>, String),
    /// The current value of the list over which a block is repeated.
    Element(Block, String),
    /// Whether an operation has added the entry with this DN template.
    Added(Option<usize>, String),
}

/// A draw that is made before steps.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Draw {
    /// Gives the lane a user, if it has none.
    User,
    Iteration,
    /// A row. If `once` is set, the user has the row for its whole lifetime.
    Row {
        source: usize,
        once: bool,
    },
    Value {
        place: usize,
        text: Text,
    },
    Element {
        list: usize,
        place: usize,
    },
    Forget {
        place: usize,
    },
    /// Gives an exclusive row back, so that other lanes can draw it.
    GiveBack {
        source: usize,
    },
}

/// The draws before the following steps.
#[derive(Debug, PartialEq)]
pub struct Preparation {
    /// The index of the scenario in the engine.
    pub(crate) script: usize,
    /// Whether the next person to add is taken first.
    pub(crate) takes: bool,
    pub(crate) draws: Vec<Draw>,
}

/// The inputs of a scenario from outside its file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs {
    pub(crate) base: String,
    /// Whether the base contains a value of the environment, which must be hidden.
    pub(crate) hides_base: bool,
    pub(crate) env: HashMap<String, String>,
    /// The contents of files that fields read.
    pub(crate) files: HashMap<String, Vec<u8>>,
}

impl Plan {
    pub(crate) fn new(
        scenario: &Scenario,
        inputs: Inputs,
        data_sources: &DataSources,
        sharer: Sharer,
        seed: u64,
    ) -> Result<Self> {
        let sources = scenario
            .data
            .iter()
            .map(|data| Source::new(data, &scenario.secret_columns(data), data_sources, sharer, seed))
            .collect::<Result<_, _>>()?;
        let files = scenario.value_files().into_iter().filter(|(_, secret)| *secret);
        let hidden = files.map(|(path, _)| path.to_owned()).collect();
        let names = Names {
            inputs,
            worker: sharer.index + 1,
            hidden,
            captured: scenario.secret_captures(),
            values: scenario.values.clone(),
            secret_values: HashSet::new(),
        };
        let value = |draw: &scenario::Draw| match &draw.what {
            Drawn::Value(name) => Some(LaneValue::Value(name.clone())),
            Drawn::Generator(field) => Some(LaneValue::Generated(draw.block.clone(), field.clone())),
            Drawn::Row(_) => None,
        };
        let mut values: Vec<LaneValue> = Vec::new();
        let captures = scenario.captures().into_iter();
        let captures = captures.map(|(operation, name)| LaneValue::Capture(operation, name.to_owned()));
        let added = scenario.added().into_iter();
        let added = added.map(|(operation, name)| LaneValue::Added(operation, name));
        let elements = scenario.lists().into_iter().map(|(block, name)| LaneValue::Element(block, name));
        for value in scenario.draws.iter().filter_map(value).chain(captures).chain(added).chain(elements) {
            if !values.contains(&value) {
                values.push(value);
            }
        }
        let mut plan = Self { sources, values, names, draws: Vec::new() };
        for (name, template) in &scenario.values {
            if template.fields().any(|field| plan.is_secret(field)) {
                plan.names.secret_values.insert(name.clone());
            }
        }
        plan.draws = plan.resolve(&scenario.draws)?;
        Ok(plan)
    }

    /// Resolves the draws of all blocks. Values may use rows and earlier values, so rows are drawn first.
    fn resolve(&self, draws: &[scenario::Draw]) -> Result<Vec<(Block, Draw)>> {
        let mut resolved = Vec::new();
        for scenario::Draw { block, what } in draws {
            let (rank, draw) = match what {
                Drawn::Row(name) => (0, Draw::Row { source: self.source(name)?, once: false }),
                Drawn::Generator(field) => {
                    let place = self.place(&LaneValue::Generated(block.clone(), field.clone()))?;
                    (1, Draw::Value { place, text: Text { pieces: vec![Piece::Fresh(generator(field)?)] } })
                }
                Drawn::Value(name) => {
                    let mut values = self.names.values.iter().zip(2..);
                    let Some(((_, template), rank)) = values.find(|((key, _), _)| key == name) else {
                        continue;
                    };
                    // A field such as `{uuid}` within a value is drawn together with the value.
                    let text = self.text(template, &Block { operation: None, repeats: vec![usize::MAX] })?;
                    (rank, Draw::Value { place: self.place(&LaneValue::Value(name.clone()))?, text })
                }
            };
            resolved.push((rank, (block.clone(), draw)));
        }
        resolved.sort_by_key(|(rank, _)| *rank);
        Ok(resolved.into_iter().map(|(_, draw)| draw).collect())
    }

    /// The sources of the rows that some blocks draw.
    fn drawn_rows(&self, is_in: impl Fn(&Block) -> bool) -> impl Iterator<Item = usize> {
        let draws = self.draws.iter().filter(move |(block, _)| is_in(block));
        draws.filter_map(|(_, draw)| if let Draw::Row { source, .. } = draw { Some(*source) } else { None })
    }

    /// The draws at the beginning of a block.
    pub(crate) fn draws(&self, block: &Block) -> Vec<Draw> {
        let here = self.draws.iter().filter(|(within, _)| within == block);
        let mut draws: Vec<_> = here.map(|(_, draw)| draw.clone()).collect();
        if block.repeats.is_empty() {
            let captured = self.values.iter().enumerate().filter(
                |(_, value)| matches!(value, LaneValue::Capture(operation, _) if *operation == block.operation),
            );
            draws.extend(captured.map(|(place, _)| Draw::Forget { place }));
        }
        draws
    }

    /// Draws that give rows back to other lanes at the end of an operation.
    pub(crate) fn given_back(&self, operation: Option<usize>) -> Vec<Draw> {
        let rows = self.drawn_rows(|block| block.operation == operation);
        let alone = rows.filter(|source| self.is_owned(*source) || self.is_held(*source));
        alone.map(|source| Draw::GiveBack { source }).collect()
    }

    /// Clears a block's captures at the beginning of its next round.
    pub(crate) fn forgotten(&self, captured: Vec<&str>, block: &Block) -> Vec<Draw> {
        let places = captured.into_iter().filter_map(|name| self.captured(name, block).ok());
        places.map(|place| Draw::Forget { place }).collect()
    }

    /// Whether a person to add is taken at the beginning of a block.
    pub(crate) fn takes(&self, block: &Block) -> bool {
        let mut rows = self.drawn_rows(|within| within == block);
        rows.any(|source| matches!(self.sources[source].dealt, Dealt::Taken))
    }

    pub(crate) fn is_people(&self, name: &str) -> bool {
        self.source(name).is_ok_and(|source| self.sources[source].is_people())
    }

    /// Whether data are people that a run adds.
    pub(crate) fn is_taken(&self, name: &str) -> bool {
        self.source(name).is_ok_and(|source| matches!(self.sources[source].dealt, Dealt::Taken))
    }

    /// The draws at a user's start, for its whole lifetime.
    pub(crate) fn of_user(&self) -> Vec<Draw> {
        let rows = self.sources.iter().enumerate().filter(|(_, source)| source.per_user);
        let rows = rows.map(|(source, _)| Draw::Row { source, once: true });
        // An aborted operation may still hold rows for which other lanes wait.
        let left = self.drawn_rows(|block| block.operation.is_some());
        let left: BTreeSet<_> = left.filter(|source| self.is_held(*source)).collect();
        let given_back = left.into_iter().map(|source| Draw::GiveBack { source });
        [Draw::User].into_iter().chain(rows).chain(given_back).collect()
    }

    /// Sorts draws of exclusive rows first, so that a lane that has to wait for a row has drawn nothing yet.
    pub(crate) fn wait_first(&self, draws: &mut [Draw]) {
        draws.sort_by_key(|draw| !matches!(draw, Draw::Row { source, .. } if self.is_held(*source)));
    }

    /// Compiles a template of a block.
    pub(crate) fn text(&self, template: &Template, block: &Block) -> Result<Text> {
        let mut text = Text::default();
        for part in &template.parts {
            text.push(match part {
                Part::Text(text) => Piece::Text(text.as_bytes().to_vec()),
                Part::Field(field) => self.piece(field, block).map_err(|error| error.of(template))?,
            });
        }
        Ok(text)
    }

    /// Like [`Self::text`], but first checks every cell that the text may consist of.
    pub(crate) fn checked(
        &self,
        template: &Template,
        block: &Block,
        is_right: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<Text> {
        let text = self.text(template, block)?;
        self.check_cells(&text, is_right).map_err(|error| error.of(template))?;
        Ok(text)
    }

    /// Compiles one field of a template.
    pub(crate) fn field(&self, field: &Field, block: &Block) -> Result<Text> {
        Ok(Text { pieces: vec![self.piece(field, block)?] })
    }

    /// The place of the mark that the operation has added an entry; `None` if the operation does not add it.
    pub(crate) fn added(&self, name: &str, block: &Block) -> Option<usize> {
        self.place(&LaneValue::Added(block.operation, name.to_owned())).ok()
    }

    /// The list over which a block is repeated, and the place of its current value.
    pub(crate) fn element(&self, name: &str, block: &Block) -> Result<(usize, usize)> {
        let mut outside = block.clone();
        outside.repeats.pop();
        let Piece::Value(list) = self.named(name, &outside)? else {
            return Err(format!("{name} is no list").into());
        };
        Ok((list, self.place(&LaneValue::Element(block.clone(), name.to_owned()))?))
    }

    pub(crate) fn file(&self, path: &str) -> Result<&[u8]> {
        let contents = self.names.inputs.files.get(path);
        Ok(contents.map(Vec::as_slice).ok_or_else(|| format!("the file {path:?} was not read"))?)
    }

    pub(crate) fn captured(&self, name: &str, block: &Block) -> Result<usize> {
        self.place(&LaneValue::Capture(block.operation, name.to_owned()))
    }

    fn piece(&self, field: &Field, block: &Block) -> Result<Piece> {
        Ok(match field {
            Field::Base => Piece::Text(self.names.inputs.base.as_bytes().to_vec()),
            Field::Worker => Piece::Text(self.names.worker.to_string().into_bytes()),
            Field::Env(name) => match self.names.inputs.env.get(name) {
                Some(value) => Piece::Text(value.as_bytes().to_vec()),
                None => return Err(format!("{{env.{name}}} is not set").into()),
            },
            Field::User => Piece::User,
            Field::Iteration => Piece::Iteration,
            Field::Now(clock) => Piece::Now(*clock),
            Field::Column(data, column) => {
                let source = self.source(data)?;
                Piece::Cell { source, column: self.sources[source].column(column)? }
            }
            Field::Name(name) => match self.source(name) {
                Ok(source) => Piece::Cell { source, column: 0 },
                Err(_) => self.named(name, block)?,
            },
            Field::Uuid | Field::RandomText { .. } | Field::RandomNumber { .. } | Field::Choice(_) => {
                match self.place(&LaneValue::Generated(block.clone(), field.clone())) {
                    Ok(place) => Piece::Value(place),
                    Err(_) => Piece::Fresh(generator(field)?),
                }
            }
        })
    }

    fn named(&self, name: &str, block: &Block) -> Result<Piece> {
        // Within the repeated block, a list's name means its current value.
        let mut within = block.clone();
        while !within.repeats.is_empty() {
            if let Ok(place) = self.place(&LaneValue::Element(within.clone(), name.to_owned())) {
                return Ok(Piece::Value(place));
            }
            within.repeats.pop();
        }
        let value = [
            LaneValue::Value(name.to_owned()),
            LaneValue::Capture(block.operation, name.to_owned()),
            LaneValue::Capture(None, name.to_owned()),
        ];
        let place = value.iter().find_map(|value| self.place(value).ok());
        Ok(place.map(Piece::Value).ok_or_else(|| format!("{{{name}}} is unknown"))?)
    }

    fn place(&self, value: &LaneValue) -> Result<usize> {
        let place = self.values.iter().position(|listed| listed == value);
        Ok(place.ok_or_else(|| format!("{value:?} is drawn nowhere"))?)
    }

    pub(crate) fn source(&self, name: &str) -> Result<usize> {
        let place = self.sources.iter().position(|source| source.name == name);
        Ok(place.ok_or_else(|| format!("no data is called {name:?}"))?)
    }

    /// All attributes of a person's entry, encoded.
    pub(crate) fn entry(&self, data: &str) -> Result<Text> {
        let source = self.source(data)?;
        if !self.sources[source].have_entries() {
            return Err("adding people needs a population: start the engine with one".into());
        }
        Ok(Text { pieces: vec![Piece::Cell { source, column: ENTRY }] })
    }

    /// The columns of data, each with the text of its cell.
    pub(crate) fn columns(&self, source: usize) -> impl Iterator<Item = (&str, Text)> {
        let columns = self.sources[source].columns.iter().enumerate();
        columns
            .map(move |(column, name)| (name.as_str(), Text { pieces: vec![Piece::Cell { source, column }] }))
    }

    /// If a text is a single cell, checks all cells of the column.
    pub(crate) fn check_cells(
        &self,
        text: &Text,
        is_right: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<()> {
        match &text.pieces[..] {
            [Piece::Cell { source, column }] => self.sources[*source].check_column(*column, is_right),
            _ => Ok(()),
        }
    }

    /// Appends a text with its fields filled in.
    pub(crate) fn write(&self, text: &Text, data: &LaneData, rng: &mut fastrand::Rng, out: &mut Vec<u8>) {
        text.write(&self.sources, data, rng, out);
    }

    /// A text with its fields filled in.
    pub(crate) fn written(&self, text: &Text, data: &LaneData, rng: &mut fastrand::Rng) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(text, data, rng, &mut out);
        out
    }

    /// A template for readers: filled in, with secrets replaced by their names. With `hides_captures` captures are
    /// replaced, too: a capture may be as secret as a password.
    pub(crate) fn shown(&self, template: &Template, block: &Block, hides_captures: bool) -> Result<Text> {
        let mut text = Text::default();
        for part in &template.parts {
            text.push(match part {
                Part::Text(text) => Piece::Text(text.as_bytes().to_vec()),
                Part::Field(field) if self.is_secret(field) => Piece::Text(field.to_string().into_bytes()),
                Part::Field(field) => match self.piece(field, block)? {
                    Piece::Value(place) if hides_captures && self.is_capture(place) => {
                        Piece::Text(field.to_string().into_bytes())
                    }
                    piece => piece,
                },
            });
        }
        Ok(text)
    }

    /// Whether a text is the column of names by which people are identified.
    pub(crate) fn is_name(&self, text: &Text, source: usize) -> bool {
        matches!(text.pieces[..], [Piece::Cell { source: of, column }] if of == source && self.sources[of].is_name(column))
    }

    /// The source and the column's name, if a text is a single cell of people.
    pub(crate) fn person_column(&self, text: &Text) -> Option<(usize, &str)> {
        let [Piece::Cell { source, column }] = text.pieces[..] else { return None };
        let people = self.sources.get(source).filter(|source| source.is_people())?;
        Some((source, people.columns.get(column)?))
    }

    /// The sources whose cells a text contains, directly or through values.
    pub(crate) fn sources_of(&self, text: &Text) -> Vec<usize> {
        let of = |piece: &Piece| match piece {
            Piece::Cell { source, .. } => vec![*source],
            Piece::Value(place) => match self.values.get(*place) {
                Some(LaneValue::Value(name)) => self.sources_of_value(name),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        text.pieces.iter().flat_map(of).collect()
    }

    fn sources_of_value(&self, name: &str) -> Vec<usize> {
        let (mut sources, mut names) = (BTreeSet::new(), BTreeSet::from([name]));
        // The values are visited in reverse order, because each value uses only earlier values.
        for (name, template) in self.names.values.iter().rev() {
            if !names.contains(name.as_str()) {
                continue;
            }
            for field in template.fields() {
                if let Field::Column(used, _) | Field::Name(used) = field {
                    match self.source(used) {
                        Ok(source) => {
                            sources.insert(source);
                        }
                        Err(_) => {
                            names.insert(used);
                        }
                    }
                }
            }
        }
        sources.into_iter().collect()
    }

    /// Whether a row is owned by one lane at a time. If no row is free, lanes share a row.
    pub(crate) fn is_owned(&self, source: usize) -> bool {
        self.sources.get(source).is_some_and(|source| matches!(source.dealt, Dealt::Owned(_)))
    }

    /// Whether a row is held by one lane at a time. If no row is free, lanes wait.
    fn is_held(&self, source: usize) -> bool {
        self.sources.get(source).is_some_and(|source| matches!(source.dealt, Dealt::Held(_)))
    }

    /// The rows of the operation and of `[start]`, counted from 1, with the names of their data.
    pub(crate) fn rows_of(&self, operation: Option<usize>, data: &LaneData) -> Vec<(String, u64)> {
        let drawn = || self.drawn_rows(|block| block.operation.is_none() || block.operation == operation);
        let of = |number: usize, source: &Source| {
            let row = data.drawn_row(number)?;
            let counts = source.per_user || drawn().any(|source| source == number);
            counts.then(|| (source.name.clone(), row + 1))
        };
        self.sources.iter().enumerate().filter_map(|(number, source)| of(number, source)).collect()
    }

    /// The name and the value of a capture; a secret capture has no value.
    pub(crate) fn captured_into(&self, place: usize, data: &LaneData) -> Option<(String, Option<String>)> {
        let (name, shown) = (self.capture_at(place)?, data.shown(place)?);
        Some((name.clone(), (!self.names.captured.contains(name)).then_some(shown)))
    }

    /// The name of the capture at a place.
    pub(crate) fn capture_at(&self, place: usize) -> Option<&String> {
        if let LaneValue::Capture(_, name) = self.values.get(place)? { Some(name) } else { None }
    }

    /// The places of captures that texts use, which may be missing.
    pub(crate) fn needs<'t>(&self, texts: impl Iterator<Item = &'t Text>) -> Vec<usize> {
        let places = texts.flat_map(Text::needs).filter(|place| self.is_capture(*place));
        places.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Whether a place holds a capture, which may be missing.
    pub(crate) fn is_capture(&self, place: usize) -> bool {
        matches!(self.values.get(place), Some(LaneValue::Capture(..) | LaneValue::Element(..)))
    }

    /// The secret parts of a text, with their names; all captures are secret if `hides_captures` is set.
    pub(crate) fn secrets_in(&self, text: &Text, hides_captures: bool) -> Vec<(String, Text)> {
        let named = |piece: &Piece| match piece {
            Piece::Cell { source, column } => {
                let source = &self.sources[*source];
                let name = source.columns.get(*column).filter(|name| source.hides(name))?;
                Some(format!("{{{}.{name}}}", source.name))
            }
            Piece::Value(place) => match self.values.get(*place) {
                Some(LaneValue::Value(name)) if self.is_secret(&Field::Name(name.clone())) => {
                    Some(format!("{{{name}}}"))
                }
                Some(LaneValue::Capture(_, name)) if hides_captures => Some(format!("{{{name}}}")),
                Some(LaneValue::Capture(_, name) | LaneValue::Element(_, name))
                    if self.names.captured.contains(name) =>
                {
                    Some(format!("{{{name}}}"))
                }
                _ => None,
            },
            _ => None,
        };
        let pieces = text.pieces.iter();
        pieces.filter_map(|piece| Some((named(piece)?, Text { pieces: vec![piece.clone()] }))).collect()
    }

    /// Values of the environment, and contents of secret files, with their names.
    pub(crate) fn environment(&self) -> impl Iterator<Item = (String, Text)> {
        let variables = self
            .names
            .inputs
            .env
            .iter()
            .map(|(name, value)| (format!("{{env.{name}}}"), Text::fixed(value.as_bytes().to_vec())));
        let files = self.names.hidden.iter().filter_map(|path| {
            // A server that repeats the contents may omit the line break at their end.
            let bytes = self.names.inputs.files.get(path)?.trim_ascii();
            Some((format!("{{file {path}}}"), Text::fixed(bytes.to_vec())))
        });
        variables.chain(files)
    }

    /// Whether the value of a field must never be shown.
    pub(crate) fn is_secret(&self, field: &Field) -> bool {
        match field {
            Field::Env(_) => true,
            Field::Base => self.names.inputs.hides_base,
            Field::Column(data, column) => {
                let source = self.sources.iter().find(|source| source.name == *data);
                source.is_some_and(|source| source.hides(column))
            }
            Field::Name(name) => {
                if self.names.captured.contains(name) {
                    return true;
                }
                let source = self.sources.iter().find(|source| source.name == *name);
                if source.is_some_and(|source| source.columns.iter().any(|column| source.hides(column))) {
                    return true;
                }
                self.names.secret_values.contains(name)
            }
            _ => false,
        }
    }
}

fn generator(field: &Field) -> Result<Generator> {
    Ok(match field {
        Field::Uuid => Generator::Uuid,
        Field::RandomText { length, set } => {
            Generator::Characters { length: *length, of: characters(set.as_deref())? }
        }
        Field::RandomNumber { first, last } => Generator::Number { first: *first, last: *last },
        Field::Choice(texts) => Generator::Choice(texts.clone()),
        other => return Err(format!("{other} is not drawn").into()),
    })
}
