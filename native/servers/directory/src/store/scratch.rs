//! Buffers that reads use over and over.

use std::time::Duration;

use super::effort::Effort;
use super::slots::NONE;
use crate::index::MOST;

/// The most entries that one plan may list, for all its terms together. So a search holds at most half a
/// mebibyte of them, and listing takes a few milliseconds at most. It is twice the length from which going
/// through all entries is no slower.
pub(crate) const LISTED: usize = 2 * MOST;

/// Bytes that are looked at in some ten microseconds; a lookup of a person looks at a thousand.
const LOOKED_AT: usize = 8 << 10;

/// The most that a reused buffer keeps: a hundred times what a person takes.
pub(crate) const KEPT: usize = 256 << 10;

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
    /// The budget of evaluating filters.
    pub(crate) effort: Effort,
    /// Bytes that the last step of a search has looked at.
    pub(crate) looked_at: usize,
    /// Entries to look at.
    pub(crate) candidates: Vec<u32>,
    /// Entries that the last plan might still have listed.
    pub(crate) listable: usize,
    /// The container that the last names were at or below. A guess, to be checked against its name.
    pub(super) container: u32,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            normal: Vec::new(),
            other: Vec::new(),
            value: Vec::new(),
            effort: Effort::default(),
            looked_at: 0,
            candidates: Vec::new(),
            listable: LISTED,
            container: NONE,
        }
    }
}

/// Frees a buffer of more than [`KEPT`]. Its content is no longer needed.
#[inline]
pub(crate) fn trim<T>(buffer: &mut Vec<T>) {
    if buffer.capacity() > KEPT {
        *buffer = Vec::new();
    }
}

impl Scratch {
    /// Frees memory that few operations need.
    pub(crate) fn trim(&mut self) {
        for buffer in [&mut self.normal, &mut self.other, &mut self.value, &mut self.effort.buffer] {
            trim(buffer);
        }
        trim(&mut self.candidates);
        self.effort.lists.clear();
    }

    /// About how long the last step of a search took, at 2 ns for each byte looked at.
    pub(crate) const fn spent(&self) -> Duration {
        Duration::from_nanos(2 * self.looked_at as u64)
    }

    /// Whether the last plan listed many entries, or the last step looked at many bytes.
    #[inline]
    pub(crate) const fn took_long(&self) -> bool {
        self.listable < LISTED || self.looked_at > LOOKED_AT
    }
}
