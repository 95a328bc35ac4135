//! The columns of a row that a page shows, borrowed from the row.

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// Declares a person: the texts of a row in the order of the columns, then its numbers.
macro_rules! person {
    ($($(#[$doc:meta])* $text:ident)*) => {
        /// The properties that a page shows.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Person<'r> {
            /// The key of the row.
            pub id: u64,
            $($(#[$doc])* pub $text: &'r str,)*
            /// Whether the person wants the newsletter.
            pub newsletter: bool,
            pub visits: i64,
            /// In seconds since 1970.
            pub last_visit: i64,
        }

        /// The number of texts of a person.
        pub(crate) const TEXTS: usize = [$(stringify!($text)),*].len();

        /// Selects the columns of a person by its key.
        pub(super) const SELECT_PERSON: &str = concat!(
            "SELECT ", $(stringify!($text), ", ",)* "newsletter, visits, last_visit FROM people WHERE id = ?1"
        );

        impl<'r> Person<'r> {
            /// Makes a person from texts and numbers in the order of the columns.
            #[inline]
            pub(crate) const fn new(id: u64, texts: [&'r str; TEXTS], numbers: [i64; 3]) -> Self {
                let ([$($text),*], [newsletter, visits, last_visit]) = (texts, numbers);
                Self { id, $($text,)* newsletter: newsletter != 0, visits, last_visit }
            }

            /// The texts in the order of the columns.
            pub(crate) const fn texts(&self) -> [&'r str; TEXTS] {
                [$(self.$text),*]
            }
        }
    };
}

person! {
    name
    given
    city
    /// Two letters.
    country
    /// Two letters.
    language
    occupation
    company
    /// The page's background colour.
    background
    /// The colour of headings.
    accent
    /// A JSON array.
    sections
    /// A JSON array.
    interests
    /// Ticker symbols, a JSON array.
    stocks
}

impl<'r> Person<'r> {
    /// Reads the columns in the order of [`SELECT_PERSON`].
    pub(super) fn of(id: u64, row: &'r Row<'_>) -> Self {
        let texts = std::array::from_fn(|column| text(row, column));
        let numbers = std::array::from_fn(|column| number(row, TEXTS + column));
        Self::new(id, texts, numbers)
    }

    /// The numbers in the order of the columns.
    pub(crate) const fn numbers(&self) -> [i64; 3] {
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
