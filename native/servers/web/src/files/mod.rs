//! Files beneath a folder: what a path names, what a request wants of it, and its bytes.

mod conditions;
mod kind;
mod open_files;
mod path;
mod root;

pub(crate) use conditions::{Conditions, Verdict};
pub(crate) use open_files::{Found, Missing, OpenFiles, OpenedFile};
pub(crate) use path::{PathError, beneath};
pub(crate) use root::Root;
