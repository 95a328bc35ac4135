//! Files below a folder: names from paths, conditions of requests, and contents.

mod conditions;
mod kind;
mod open_files;
mod path;
mod root;

pub(crate) use conditions::{Conditions, Verdict};
pub(crate) use open_files::{Missing, OpenFiles, OpenedFile};
pub(crate) use path::beneath;
pub(crate) use root::Root;
