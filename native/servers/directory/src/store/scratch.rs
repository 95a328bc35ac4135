//! Buffers that reads use over and over.

use std::time::Duration;

use super::effort::Effort;
use super::slots::NONE;
use crate::index::MOST;

/// Entries that one plan may list, in all and however many terms ask for it: a search holds no more
/// than half a mebibyte of them, and the thread lists for some milliseconds at most. Two lists of the
/// length from which going through all entries is no slower.
pub(crate) const LISTED: usize = 2 * MOST;

/// Bytes that are looked at in some ten microseconds; a lookup of a person looks at a thousand.
const LOOKED_AT: usize = 8 << 10;

/// What a buffer keeps that is used over and over: a hundred times what a person takes.
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
    /// What holding filters against entries takes.
    pub(crate) effort: Effort,
    /// Bytes that the last step of a search has looked at.
    pub(crate) looked_at: usize,
    /// Entries to look at.
    pub(crate) candidates: Vec<u32>,
    /// Entries that the last plan might still have listed.
    pub(crate) listable: usize,
    /// The container that the last names were at or below. Believed only after a look at its name.
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

/// Gives back what a buffer has beyond [`KEPT`]; what is in it is of no more use.
#[inline]
pub(crate) fn trim<T>(buffer: &mut Vec<T>) {
    if buffer.capacity() > KEPT {
        *buffer = Vec::new();
    }
}

impl Scratch {
    /// Gives back what few operations need.
    pub(crate) fn trim(&mut self) {
        for buffer in [&mut self.normal, &mut self.other, &mut self.value, &mut self.effort.buffer] {
            trim(buffer);
        }
        trim(&mut self.candidates);
    }

    /// About how long the last step of a search has looked at bytes: 2 ns at each, or more.
    pub(crate) const fn spent(&self) -> Duration {
        Duration::from_nanos(2 * self.looked_at as u64)
    }

    /// Whether the last plan took looking at many entries, or the last step looking at many bytes.
    #[inline]
    pub(crate) const fn took_long(&self) -> bool {
        self.listable < LISTED || self.looked_at > LOOKED_AT
    }
}
