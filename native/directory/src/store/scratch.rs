//! Buffers that reads use over and over.

use super::slots::NONE;

/// One per thread, made with `default()`. Nothing in it outlives a call but its capacity, and a guess
/// where the next name will be.
#[derive(Debug)]
pub struct Scratch {
    /// A name or a value in normal form.
    pub(crate) normal: Vec<u8>,
    /// What that is compared with.
    pub(crate) other: Vec<u8>,
    /// A value on its way to another form.
    pub(crate) value: Vec<u8>,
    /// Entries to look at.
    pub(crate) candidates: Vec<u32>,
    /// The container that the last names were at or below. Believed only after a look at its name.
    pub(super) container: u32,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            normal: Vec::new(),
            other: Vec::new(),
            value: Vec::new(),
            candidates: Vec::new(),
            container: NONE,
        }
    }
}
