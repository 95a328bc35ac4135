//! All spellings of a message or a name are read as they were written.

mod answers;
mod names;
