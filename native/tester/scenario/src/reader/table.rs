//! A table of the document, whose kinds the first reading has checked.

use std::time::Duration;

use serde::Deserialize;
use serde::de::value::{Error as ValueError, StrDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::grammar;
use crate::shape::{in_order, int};

pub(super) type Item<'t> = Spanned<DeValue<'t>>;

#[derive(Clone, Copy)]
pub(super) struct Table<'d, 't> {
    pub(super) table: &'d DeTable<'t>,
    pub(super) at: usize,
}

impl<'d, 't> Table<'d, 't> {
    pub(super) fn get(self, key: &str) -> Option<&'d Item<'t>> {
        self.table.get(key)
    }

    pub(super) fn has(self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// The position of a key's value, or of the table without that key.
    pub(super) fn at(self, key: &str) -> usize {
        self.get(key).map_or(self.at, |value| value.span().start)
    }

    pub(super) fn table(self, key: &str) -> Option<Self> {
        let value = self.get(key)?;
        Some(Self { table: value.get_ref().as_table()?, at: value.span().start })
    }

    /// The entries of a table whose keys are names, in the order of the file.
    pub(super) fn entries(self, key: &str) -> Vec<(&'d str, usize, &'d Item<'t>)> {
        self.table(key).map(|table| in_order(table.table)).unwrap_or_default()
    }

    pub(super) fn list(self, key: &str) -> &'d [Item<'t>] {
        self.get(key).and_then(|value| value.get_ref().as_array()).map_or(&[], |list| &list[..])
    }

    pub(super) fn tables(self, key: &str) -> impl Iterator<Item = Self> {
        let tables = self.list(key).iter();
        tables.filter_map(|item| Some(Self { table: item.get_ref().as_table()?, at: item.span().start }))
    }

    pub(super) fn str(self, key: &str) -> Option<&'d str> {
        self.get(key)?.get_ref().as_str()
    }

    pub(super) fn text(self, key: &str) -> Option<String> {
        self.str(key).map(str::to_owned)
    }

    pub(super) fn texts(self, key: &str) -> Vec<String> {
        self.list(key).iter().filter_map(|item| item.get_ref().as_str()).map(str::to_owned).collect()
    }

    pub(super) fn ints(self, key: &str) -> Vec<i64> {
        self.list(key).iter().filter_map(|item| int(item.get_ref())).collect()
    }

    pub(super) fn flag(self, key: &str, default: bool) -> bool {
        self.get(key).and_then(|value| value.get_ref().as_bool()).unwrap_or(default)
    }

    pub(super) fn int<N: TryFrom<i64>>(self, key: &str) -> Option<N> {
        N::try_from(int(self.get(key)?.get_ref())?).ok()
    }

    pub(super) fn duration(self, key: &str) -> Option<Duration> {
        grammar::duration(self.str(key)?)
    }

    pub(super) fn seconds(self, key: &str) -> Option<f64> {
        self.duration(key).map(|duration| duration.as_secs_f64())
    }

    pub(super) fn word<T: Deserialize<'d>>(self, key: &str) -> Option<T> {
        variant(self.str(key)?)
    }
}

/// The variant of an enum with this word.
pub(super) fn variant<'d, T: Deserialize<'d>>(word: &'d str) -> Option<T> {
    T::deserialize(StrDeserializer::<'_, ValueError>::new(word)).ok()
}
