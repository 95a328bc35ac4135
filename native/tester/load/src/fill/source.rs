//! Data of a scenario: their rows, and how rows are dealt.

use std::collections::HashMap;
use std::fmt;
use std::io::Write as _;
use std::sync::Arc;

use scenario::{Data, Rows};
use table::Table;

use crate::choose::deal::{Deal, Dealer, Sharer};
use crate::choose::keys::{Choice, Keys};
use crate::compile_error::{CompileError, Result};

/// Tables of files, by the names of the data.
pub type Tables = HashMap<String, Arc<Table>>;

pub(crate) trait People: fmt::Debug + Send + Sync {
    /// The columns of seeded people, or of people that the run adds.
    fn columns(&self, added: bool) -> &[String];
    /// The number of people at the start of a run.
    fn count(&self) -> u64;
    /// Appends a person's value in a column.
    fn write(&self, number: u64, added: bool, column: usize, out: &mut Vec<u8>);
    /// Whether people are looked up by this column, which is part of their DN.
    fn is_name(&self, _added: bool, _column: usize) -> bool {
        false
    }
    fn have_entries(&self) -> bool {
        false
    }
    /// Appends the attributes of a person's entry, encoded (RFC 4511 section 4.7).
    fn write_entry(&self, _number: u64, _out: &mut Vec<u8>) {}
}

/// The pseudo-column of people that holds all attributes of an entry, encoded.
pub(super) const ENTRY: usize = usize::MAX;

/// The sources of data outside the scenario.
#[derive(Debug, Clone)]
pub(crate) struct DataSources {
    pub(crate) tables: Tables,
    /// `None` if a scenario is only checked: then any column of people is accepted.
    pub(crate) people: Option<Arc<dyn People>>,
    /// The default distribution of people.
    pub(crate) keys: Choice,
    /// Whether a deal of people can be exclusive, so that one lane at a time uses a person.
    pub(crate) owns: bool,
}

/// Data of a scenario.
#[derive(Debug)]
pub(crate) struct Source {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    rows: Cells,
    pub(super) count: u64,
    pub(super) dealt: Dealt,
    pub(super) per_user: bool,
    secret: Vec<String>,
}

#[derive(Debug)]
enum Cells {
    Table(Arc<Table>),
    Values(Vec<String>),
    From(i64),
    People { people: Option<Arc<dyn People>>, added: bool },
}

/// How rows are chosen.
#[derive(Debug)]
pub(super) enum Dealt {
    Each(Dealer),
    Drawn(Keys),
    /// A row is used by one lane at a time. If no row is free, lanes share a row.
    Owned(Keys),
    /// A row is used by one lane at a time. If no row is free, lanes wait.
    Held(Dealer),
    /// The person that the lane has taken to add.
    Taken,
}

impl Source {
    pub(super) fn new(
        data: &Data,
        secret: &[String],
        data_sources: &DataSources,
        sharer: Sharer,
        seed: u64,
    ) -> Result<Self> {
        let name = &data.name;
        let wrong = |message: String| CompileError::from(message).at(["data", name]);
        let (rows, count) = match &data.rows {
            Rows::File { .. } => {
                let table = data_sources.tables.get(name).ok_or_else(|| wrong("has no table".to_owned()))?;
                (Cells::Table(table.clone()), table.rows() as u64)
            }
            Rows::Values(values) => (Cells::Values(values.clone()), values.len() as u64),
            Rows::Range(first, last) => {
                (Cells::From(*first), (last.wrapping_sub(*first) as u64).saturating_add(1))
            }
            Rows::Seeded | Rows::New => {
                let people = data_sources.people.clone();
                let count = people.as_ref().map_or(1, |people| people.count());
                let added = data.rows == Rows::New;
                // The count excludes people that the run adds.
                (Cells::People { people, added }, if added { 1 } else { count })
            }
        };
        if count == 0 && data.rows == Rows::Seeded {
            let remedy = "give the engine a population, or \"target\" \"names\" with a template and a count";
            return Err(wrong(format!("there are no people to pick from for data {name:?}: {remedy}")));
        }
        if count == 0 {
            return Err(wrong("has no rows".to_owned()));
        }
        // Sources with consecutive seeds must not be correlated.
        let seed =
            name.bytes().fold(seed, |seed, byte| (seed ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let each = |deal| Dealt::Each(Dealer::new(deal, count, seed, sharer));
        let drawn = |choice| Dealt::Drawn(Keys::new(choice, count, seed));
        let threads = sharer.threads * sharer.of;
        if data.deal == Some(scenario::Deal::Exclusive) && count < threads {
            return Err(wrong(format!(
                "has {count} rows for {threads} threads, each of which needs one of its own: \
                 use fewer threads, or more rows"
            )));
        }
        let dealt = match data.deal {
            _ if data.rows == Rows::New => Dealt::Taken,
            None if data.rows == Rows::Seeded && !data.per_user => drawn(data_sources.keys),
            Some(scenario::Deal::Exclusive) if data_sources.owns && data.rows == Rows::Seeded => {
                Dealt::Owned(Keys::new(data_sources.keys, count, seed))
            }
            _ if data.per_user => each(Deal::InOrder),
            None | Some(scenario::Deal::Shuffled) => each(Deal::Shuffled),
            Some(scenario::Deal::InOrder) => each(Deal::InOrder),
            Some(scenario::Deal::Uniform) => drawn(Choice::Uniform),
            Some(scenario::Deal::Zipfian) => drawn(Choice::Zipfian),
            Some(scenario::Deal::Hotspot) => drawn(Choice::Hotspot),
            Some(scenario::Deal::Latest) => drawn(Choice::Latest),
            Some(scenario::Deal::Once) => each(Deal::Once),
            Some(scenario::Deal::Exclusive) => Dealt::Held(Dealer::new(Deal::Exclusive, count, seed, sharer)),
        };
        let columns = match &rows {
            Cells::Table(table) => table.columns().to_vec(),
            Cells::Values(_) | Cells::From(_) => vec![name.clone()],
            Cells::People { people, added } => {
                people.as_ref().map(|people| people.columns(*added).to_vec()).unwrap_or_default()
            }
        };
        Ok(Self {
            name: name.clone(),
            columns,
            count,
            rows,
            dealt,
            per_user: data.per_user,
            secret: secret.to_vec(),
        })
    }

    pub(super) fn column(&self, name: &str) -> Result<usize> {
        let place = match &self.rows {
            Cells::People { people: None, .. } => return Ok(0),
            // Case-insensitively, like attribute names.
            Cells::People { .. } => self.columns.iter().position(|column| column.eq_ignore_ascii_case(name)),
            _ => self.columns.iter().position(|column| column == name),
        };
        let known = if self.is_people() {
            format!(": people have {}", self.columns.join(", "))
        } else {
            String::new()
        };
        Ok(place.ok_or_else(|| format!("data {:?} has no column {name:?}{known}", self.name))?)
    }

    pub(super) const fn is_people(&self) -> bool {
        matches!(self.rows, Cells::People { .. })
    }

    /// Whether people are looked up by this column.
    pub(super) fn is_name(&self, column: usize) -> bool {
        matches!(&self.rows, Cells::People { people: Some(people), added } if people.is_name(*added, column))
    }

    /// Whether the rows are people with directory entries.
    pub(super) fn have_entries(&self) -> bool {
        let known =
            |people: &Option<Arc<dyn People>>| people.as_ref().is_none_or(|people| people.have_entries());
        matches!(&self.rows, Cells::People { people, .. } if known(people))
    }

    pub(super) fn hides(&self, column: &str) -> bool {
        self.secret.iter().any(|name| name == column) || scenario::is_named_secret(column)
    }

    /// Checks the cells of a column; the error names the row of the first invalid cell.
    pub(super) fn check_column(
        &self,
        column: usize,
        is_right: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<()> {
        if self.is_people() {
            // Generated rows need no check.
            return Ok(());
        }
        let mut cell = Vec::new();
        // The first and the last number of a range are enough.
        let step = if matches!(self.rows, Cells::From(_)) { self.count.saturating_sub(1).max(1) } else { 1 };
        let mut next = Some(0);
        while let Some(row) = next.filter(|row| *row < self.count) {
            next = row.checked_add(step);
            cell.clear();
            self.write_cell(row, column, &mut cell);
            is_right(&cell).map_err(|what| {
                let (name, column) = (&self.name, &self.columns[column]);
                format!("row {} of {name}, {column}: {:?}: {what}", row + 1, String::from_utf8_lossy(&cell))
            })?;
        }
        Ok(())
    }

    #[inline]
    pub(super) fn write_cell(&self, row: u64, column: usize, out: &mut Vec<u8>) {
        match &self.rows {
            Cells::Table(table) => {
                out.extend_from_slice(table.cell(row as usize, column).unwrap_or_default());
            }
            Cells::Values(values) => {
                out.extend_from_slice(values.get(row as usize).map(String::as_bytes).unwrap_or_default());
            }
            Cells::People { people: Some(people), .. } if column == ENTRY => people.write_entry(row, out),
            Cells::People { people, added } => {
                if let Some(people) = people {
                    people.write(row, *added, column, out);
                }
            }
            // The addition wraps, because the last number may be the largest of its type.
            Cells::From(first) => {
                // Writing to a vector cannot fail.
                let _ = write!(out, "{}", first.wrapping_add(row as i64));
            }
        }
    }
}
