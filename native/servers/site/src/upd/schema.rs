//! Tables and columns of a UPD, and the mark of its file.

/// Files of another version are refused.
pub const SCHEMA_VERSION: u32 = 1;

/// `PRAGMA application_id`: "sbUP". It distinguishes a UPD from other SQLite files.
pub(super) const APPLICATION_ID: i32 = 0x7362_5550;

/// One row per person. All columns are NOT NULL: a page shows every value.
pub(super) const CREATE_TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE people (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  given TEXT NOT NULL,
  family TEXT NOT NULL,
  mail TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL,
  language TEXT NOT NULL,
  occupation TEXT NOT NULL,
  company TEXT NOT NULL,
  birth_year INTEGER NOT NULL,
  background TEXT NOT NULL,
  accent TEXT NOT NULL,
  sections TEXT NOT NULL,
  interests TEXT NOT NULL,
  stocks TEXT NOT NULL,
  newsletter INTEGER NOT NULL,
  visits INTEGER NOT NULL,
  last_visit INTEGER NOT NULL
);";

pub(super) const INSERT_PERSON: &str =
    "INSERT INTO people VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)";

/// A new person gets the number after the highest, but at least the seeded size (?1).
pub(super) const CREATE_PERSON: &str = "INSERT INTO people VALUES (
  max(?1, (SELECT coalesce(max(id), -1) + 1 FROM people)),
  ?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)";

/// Changes the given columns and keeps the others.
pub(super) const UPDATE_PERSON: &str = "UPDATE people SET
  background = coalesce(?2, background), accent = coalesce(?3, accent), city = coalesce(?4, city),
  language = coalesce(?5, language), sections = coalesce(?6, sections),
  interests = coalesce(?7, interests), stocks = coalesce(?8, stocks),
  newsletter = coalesce(?9, newsletter)
  WHERE id = ?1";
