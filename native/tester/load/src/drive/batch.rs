//! Lanes served together.
//!
//! Sixteen answers are read, then checked, then sixteen requests are written. Read, check and write of
//! one lane after the other would throw the kernel's reading and writing and our own checking out of the
//! processor's nearest caches in turn; three warm stretches of code cost less than sixteen rounds of
//! cold ones. Each answer's time is taken when it was read and each request's right before it is
//! written, so a lane that waits for the others of its batch waits in our own share, not in the
//! target's.

/// Lanes served together at most.
pub(crate) const LANES: usize = 16;

/// Room for an answer; a longer one is read by itself.
pub(crate) const ANSWER_BYTES: usize = 4 << 10;

/// An answer that has been read and not looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) lane: usize,
    pub(crate) length: usize,
    pub(crate) read_ns: u64,
}

/// A request that has been encoded and not written: where it lies in the buffer of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Staged {
    pub(crate) lane: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// What has been read for a batch of lanes.
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

    /// The room for the next answer.
    pub(crate) fn space(&mut self) -> &mut [u8] {
        let start = self.answers.len() * ANSWER_BYTES;
        &mut self.room[start..start + ANSWER_BYTES]
    }

    /// The bytes of the `n`th answer.
    pub(crate) fn bytes(&self, n: usize) -> &[u8] {
        &self.room[n * ANSWER_BYTES..][..self.answers[n].length]
    }
}
