//! Reused buffers of reads.

use std::time::Duration;

use super::prepared::Effort;
use super::slots::NONE;
use crate::index::MOST;

/// The most entries that one plan may list for all its terms. So a search holds at most half a mebibyte of
/// them, and listing takes at most a few milliseconds. The limit is twice the number of entries ([`MOST`])
/// beyond which a scan of all entries is no slower.
pub(crate) const LISTED: usize = 2 * MOST;

/// Bytes that are read in some ten microseconds; a lookup of a person reads a thousand.
const LOOKED_AT: usize = 8 << 10;

/// The largest reused buffer: a hundred times the size that a person needs.
pub(crate) const KEPT: usize = 256 << 10;

/// The buffers of one thread, created with `default()`. They keep their capacities, and the container of the
/// last name, from one call to the next.
#[derive(Debug)]
pub struct Scratch {
    /// A name or a value in normal form.
    pub(crate) normal: Vec<u8>,
    /// The name or value that `normal` is compared with.
    pub(crate) other: Vec<u8>,
    /// A value during a conversion.
    pub(crate) value: Vec<u8>,
    pub(crate) effort: Effort,
    /// The number of bytes that the last step of a search has read.
    pub(crate) looked_at: usize,
    /// Entries to evaluate.
    pub(crate) candidates: Vec<u32>,
    /// The number of entries that the last plan might still have listed.
    pub(crate) listable: usize,
    /// The container of the name that was looked up last: a guess at the container of the next name. A
    /// comparison of names verifies the guess.
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

/// Frees a buffer larger than [`KEPT`]. Its content is no longer needed.
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

    /// The estimated time of the last step of a search, at 2 ns per byte read.
    pub(crate) const fn spent(&self) -> Duration {
        Duration::from_nanos(2 * self.looked_at as u64)
    }

    /// Whether the last plan listed many entries, or the last step read many bytes.
    #[inline]
    pub(crate) const fn took_long(&self) -> bool {
        self.listable < LISTED || self.looked_at > LOOKED_AT
    }
}
