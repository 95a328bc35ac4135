//! Data of a scenario: their rows, and who gets which.

use std::collections::HashMap;
use std::sync::Arc;

use scenario::{Data, Rows};
use table::Table;

use crate::choose::deal::{Deal, Dealer, Sharer};
use crate::choose::keys::{Choice, Keys};

/// Rows of files, by the names of the data.
pub type Tables = HashMap<String, Arc<Table>>;

/// Data of a scenario.
#[derive(Debug)]
pub(crate) struct Source {
    pub(super) name: String,
    pub(super) columns: Vec<String>,
    rows: Cells,
    /// How many rows there are.
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
}

/// How rows are chosen.
#[derive(Debug)]
pub(super) enum Dealt {
    Each(Dealer),
    Drawn(Keys),
}

impl Source {
    pub(super) fn new(
        data: &Data,
        secret: &[String],
        tables: &Tables,
        sharer: Sharer,
        seed: u64,
    ) -> Result<Self, String> {
        let name = &data.name;
        let (rows, count) = match &data.rows {
            Rows::File { .. } => {
                let table = tables.get(name).ok_or_else(|| format!("data {name:?} has no table"))?;
                (Cells::Table(table.clone()), table.rows() as u64)
            }
            Rows::Values(values) => (Cells::Values(values.clone()), values.len() as u64),
            Rows::Range(first, last) => (Cells::From(*first), last.wrapping_sub(*first) as u64 + 1),
            Rows::Seeded | Rows::New => {
                return Err(format!("data {name:?}: people as data are read, but not run yet; use a file"));
            }
        };
        if count == 0 {
            return Err(format!("data {name:?} has no rows"));
        }
        // Neighbouring sources must not come in step.
        let seed =
            name.bytes().fold(seed, |seed, byte| (seed ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        let each = |deal| Dealt::Each(Dealer::new(deal, count, seed, sharer));
        let drawn = |choice| Dealt::Drawn(Keys::new(choice, count, seed));
        let dealt = match data.deal {
            _ if data.per_user => each(Deal::InOrder),
            None | Some(scenario::Deal::Shuffled) => each(Deal::Shuffled),
            Some(scenario::Deal::InOrder) => each(Deal::InOrder),
            Some(scenario::Deal::Uniform) => drawn(Choice::Uniform),
            Some(scenario::Deal::Zipfian) => drawn(Choice::Zipfian),
            Some(scenario::Deal::Hotspot) => drawn(Choice::Hotspot),
            Some(scenario::Deal::Latest) => drawn(Choice::Latest),
            Some(scenario::Deal::Once | scenario::Deal::Exclusive) => {
                return Err(format!(
                    "data {name:?}: the deals once and exclusive are read, but not run yet; use shuffled"
                ));
            }
        };
        let columns = match &rows {
            Cells::Table(table) => table.columns().to_vec(),
            Cells::Values(_) | Cells::From(_) => vec![name.clone()],
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

    /// The place of a column.
    pub(super) fn column(&self, name: &str) -> Result<usize, String> {
        let place = self.columns.iter().position(|column| column == name);
        place.ok_or_else(|| format!("data {:?} has no column {name:?}", self.name))
    }

    /// Whether what is in a column is for no eyes.
    pub(super) fn hides(&self, column: &str) -> bool {
        self.secret.iter().any(|name| name == column) || scenario::is_named_secret(column)
    }

    /// Says what is wrong with the first cell of a column that is not as it must be, and in which row.
    pub(super) fn check_column(
        &self,
        column: usize,
        is_right: impl Fn(&[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut cell = Vec::new();
        for row in 0..self.count {
            cell.clear();
            self.write_cell(row, column, &mut cell);
            is_right(&cell).map_err(|what| {
                let (name, column) = (&self.name, &self.columns[column]);
                format!("row {} of {name}, {column}: {:?}: {what}", row + 1, String::from_utf8_lossy(&cell))
            })?;
        }
        Ok(())
    }

    /// Appends a cell.
    #[inline]
    pub(super) fn write_cell(&self, row: u64, column: usize, out: &mut Vec<u8>) {
        match &self.rows {
            Cells::Table(table) => {
                out.extend_from_slice(table.cell(row as usize, column).unwrap_or_default());
            }
            Cells::Values(values) => {
                out.extend_from_slice(values.get(row as usize).map(String::as_bytes).unwrap_or_default());
            }
            // In as many bits as there are, as the last may be the largest.
            Cells::From(first) => {
                out.extend_from_slice(first.wrapping_add(row as i64).to_string().as_bytes());
            }
        }
    }
}
