//! The user-property database (UPD): one SQLite file for each (seed, size).
//!
//! Table `people` has one row per person, whose key is the person's number. Table `meta` describes the file:
//! schema version, seed, size and digests. The site reads one row for every page, and writes in one thread
//! that commits all waiting writes together.
//!
//! # Durability
//!
//! The site answers a create or an update after its transaction has been committed to the
//! write-ahead log (WAL), and every page requested after the answer shows it.
//!
//! | durability | SQLite's setting | an answered write survives |
//! |---|---|---|
//! | [`Durability::Normal`] | `synchronous=NORMAL` | the end of the site's process, however it ends (`kill -9`) |
//! | [`Durability::Full`] | `synchronous=FULL` | the end of the process, and a crash of the system or loss of power, if the disk keeps confirmed writes |
//!
//! Under `normal` the log is synced only before a checkpoint: after a loss of power the database is
//! consistent, but later transactions may be lost. Under `full` every transaction is synced before it is
//! answered; one sync serves all waiting writes.

mod build;
mod commits;
mod copy;
mod json;
mod manifest;
mod open;
mod person;
mod reader;
mod schema;
mod temporary;
mod writer;

pub use build::{BuildError, build};
pub(crate) use commits::Commits;
pub use copy::{CopyError, copy};
pub use json::{strings, write_strings};
pub use manifest::Manifest;
pub(crate) use open::reading;
pub use open::{Durability, Expected, OpenError, inspect};
pub use person::Person;
pub(crate) use person::TEXTS;
pub(crate) use reader::Reader;
pub use schema::SCHEMA_VERSION;
pub(crate) use writer::{Changes, Job, Outcome, Write, Writer};
