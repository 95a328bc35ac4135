//! Lanes served together.
//!
//! Sixteen answers are read, then checked, then sixteen requests are written. If a lane were read, checked
//! and written before the next lane, the kernel's reading, its writing and the checks would evict each other
//! from the processor's nearest caches. Three loops over cached code cost less than sixteen rounds over
//! uncached code. An answer's time is taken right after its read and a request's time right before its write,
//! so the wait for other lanes of the batch counts as the load generator's time, not the target's.

/// The most lanes served together.
pub(crate) const LANES: usize = 16;

/// Room for an answer; a longer answer is read outside the batch.
pub(crate) const ANSWER_BYTES: usize = 4 << 10;

/// An answer that has been read and not checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) lane: usize,
    pub(crate) length: usize,
    pub(crate) read_ns: u64,
}

/// A request that has been encoded and not written: its place in the buffer of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staged {
    pub(crate) lane: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// The answers read for a batch of lanes.
pub(crate) struct Batch {
    pub(crate) answers: Vec<Answer>,
    room: Box<[u8]>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self { answers: Vec::with_capacity(LANES), room: vec![0; LANES * ANSWER_BYTES].into() }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.answers.len() == LANES
    }

    pub(crate) fn space(&mut self) -> &mut [u8] {
        let start = self.answers.len() * ANSWER_BYTES;
        &mut self.room[start..start + ANSWER_BYTES]
    }

    pub(crate) fn bytes(&self, n: usize) -> &[u8] {
        &self.room[n * ANSWER_BYTES..][..self.answers[n].length]
    }
}
