//! `Table`: rows of a CSV file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use ::table::{Form, Head};
use load::{NameList, Tables};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::errors::{engine_error, error_of};
use crate::kind::Kind;

/// Rows of a CSV file (RFC 4180, UTF-8), checked once. They take one buffer, and four bytes per cell.
///
/// Lines end with CR LF or LF; empty lines are skipped. An `EngineError` names the file, line and column of a
/// fault.
#[pyclass(frozen, module = "sitebench._engine")]
pub struct Table(Arc<::table::Table>);

impl Table {
    /// The column as a list of names.
    pub fn names(&self, column: usize) -> PyResult<Arc<NameList>> {
        self.column(column)?;
        Ok(Arc::new(NameList::new(self.0.clone(), column)))
    }

    fn column(&self, column: usize) -> PyResult<()> {
        let columns = self.0.columns().len();
        if column < columns {
            return Ok(());
        }
        Err(PyIndexError::new_err(format!("the table has {columns} columns, and no column {column}")))
    }
}

/// The tables of a load.
pub fn tables(tables: Option<HashMap<String, PyRef<'_, Table>>>) -> Tables {
    tables.into_iter().flatten().map(|(name, table)| (name, table.0.clone())).collect()
}

fn ascii(separator: char) -> PyResult<u8> {
    u8::try_from(separator).ok().filter(u8::is_ascii).ok_or_else(|| {
        error_of(Kind::BadInput, format!("{separator:?} cannot separate cells; take one of ASCII"))
    })
}

#[pymethods]
impl Table {
    /// The first line that is not empty: its number and its fields.
    #[staticmethod]
    #[pyo3(signature = (path, separator=','))]
    fn head(py: Python<'_>, path: PathBuf, separator: char) -> PyResult<Option<(u64, Vec<String>)>> {
        let separator = ascii(separator)?;
        let head = py.detach(|| Head::read(&path, separator)).map_err(engine_error)?;
        Ok(head.map(|head| (head.line, head.fields)))
    }

    /// Reads a file. Its first line names the columns, unless `columns` does. `names` is the index of a
    /// column with names of people, whose cells are checked.
    #[staticmethod]
    #[pyo3(signature = (path, separator=',', columns=None, names=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        separator: char,
        columns: Option<Vec<String>>,
        names: Option<usize>,
    ) -> PyResult<Self> {
        let form = Form { separator: ascii(separator)?, columns };
        let check = |column, cell: &[u8]| {
            if Some(column) == names { NameList::check(cell) } else { Ok(()) }
        };
        let table = py.detach(|| ::table::Table::read(&path, &form, check)).map_err(engine_error)?;
        Ok(Self(Arc::new(table)))
    }

    /// The number of rows, at least 1.
    #[getter]
    fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<&str> {
        self.0.columns().iter().map(String::as_str).collect()
    }

    /// A cell, counted from 0. Raises IndexError if there is no such cell.
    fn cell(&self, row: usize, column: usize) -> PyResult<Cow<'_, str>> {
        self.column(column)?;
        let cell = self.0.cell(row, column).ok_or_else(|| {
            PyIndexError::new_err(format!("the table has {} rows, and no row {row}", self.0.rows()))
        })?;
        Ok(String::from_utf8_lossy(cell))
    }

    /// SHA-256 of a name for a column and the column's cells, with a line feed before each cell.
    fn digest(&self, py: Python<'_>, name: &str, column: usize) -> PyResult<String> {
        self.column(column)?;
        Ok(py.detach(|| self.0.digest(name, column)))
    }
}
