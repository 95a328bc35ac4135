//! The columns of a row that a page shows, borrowed from the row.

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// The properties that a page shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Person<'r> {
    /// The key of the row.
    pub id: u64,
    pub name: &'r str,
    pub given: &'r str,
    pub city: &'r str,
    /// Two letters.
    pub country: &'r str,
    /// Two letters.
    pub language: &'r str,
    pub occupation: &'r str,
    pub company: &'r str,
    /// The page's background colour.
    pub background: &'r str,
    /// The colour of headings.
    pub accent: &'r str,
    /// A JSON array.
    pub sections: &'r str,
    /// A JSON array.
    pub interests: &'r str,
    /// Ticker symbols, a JSON array.
    pub stocks: &'r str,
    /// Whether the person wants the newsletter.
    pub newsletter: bool,
    pub visits: i64,
    /// In seconds since 1970.
    pub last_visit: i64,
}

/// The number of texts of a person.
pub(super) const TEXTS: usize = 12;

impl<'r> Person<'r> {
    /// Reads the columns in the order of [`super::schema::SELECT_PERSON`].
    pub(super) fn of(id: u64, row: &'r Row<'_>) -> Self {
        let texts = std::array::from_fn(|column| text(row, column));
        let numbers = std::array::from_fn(|column| number(row, TEXTS + column));
        Self::new(id, texts, numbers)
    }

    /// Makes a person from texts and numbers in the order of the columns.
    #[inline]
    pub(super) const fn new(id: u64, texts: [&'r str; TEXTS], numbers: [i64; 3]) -> Self {
        let [name, given, city, country, language, occupation, company, rest @ ..] = texts;
        let [background, accent, sections, interests, stocks] = rest;
        let [newsletter, visits, last_visit] = numbers;
        let newsletter = newsletter != 0;
        Self {
            id,
            name,
            given,
            city,
            country,
            language,
            occupation,
            company,
            background,
            accent,
            sections,
            interests,
            stocks,
            newsletter,
            visits,
            last_visit,
        }
    }

    /// The texts in the order of the columns.
    pub(super) const fn texts(&self) -> [&'r str; TEXTS] {
        [
            self.name,
            self.given,
            self.city,
            self.country,
            self.language,
            self.occupation,
            self.company,
            self.background,
            self.accent,
            self.sections,
            self.interests,
            self.stocks,
        ]
    }

    /// The numbers in the order of the columns.
    pub(super) const fn numbers(&self) -> [i64; 3] {
        [self.newsletter as i64, self.visits, self.last_visit]
    }
}

/// SQLite stores any bytes as text. A text is shown up to its first byte that is not UTF-8.
fn text<'r>(row: &'r Row<'_>, column: usize) -> &'r str {
    let Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = row.get_ref(column) else { return "" };
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            bytes.get(..error.valid_up_to()).and_then(|b| std::str::from_utf8(b).ok()).unwrap_or("")
        }
    }
}

fn number(row: &Row<'_>, column: usize) -> i64 {
    row.get_ref(column).ok().and_then(|value| value.as_i64().ok()).unwrap_or(0)
}
