//! Compares a body with its file while the body's bytes come in.

use crate::content::first_difference;

/// Takes the bytes of a body in pieces, however they were cut, and tells whether they are the file's.
#[derive(Debug, Clone)]
pub struct Checker {
    key: u64,
    size: u64,
    fed: u64,
    differs: Option<u64>,
}

impl Checker {
    /// For a file of this key and size.
    pub const fn new(key: u64, size: u64) -> Self {
        Self { key, size, fed: 0, differs: None }
    }

    /// How many bytes the file has.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Takes the next bytes; returns whether all so far are the file's.
    #[inline]
    pub fn feed(&mut self, piece: &[u8]) -> bool {
        if self.differs.is_none() {
            let left = usize::try_from(self.size - self.fed).unwrap_or(usize::MAX);
            let within = &piece[..piece.len().min(left)];
            let wrong = first_difference(self.key, self.fed, within);
            let too_many = (piece.len() > left).then_some(left);
            self.differs = wrong.or(too_many).map(|at| self.fed + at as u64);
        }
        self.fed += piece.len() as u64;
        self.differs.is_none()
    }

    /// [`feed`](Self::feed), faster where there is a `copy` of the content: one that differs is compared anew.
    #[inline]
    pub fn feed_beside(&mut self, piece: &[u8], copy: Option<&[u8]>) -> bool {
        let same = copy.zip(usize::try_from(self.fed).ok()).is_some_and(|(copy, from)| {
            from.checked_add(piece.len()).and_then(|to| copy.get(from..to)) == Some(piece)
        });
        if same && self.differs.is_none() {
            self.fed += piece.len() as u64;
            return true;
        }
        self.feed(piece)
    }

    /// How many bytes came.
    pub const fn fed(&self) -> u64 {
        self.fed
    }

    /// Now that the body has ended: its first byte that differs from the file. This is the length of
    /// a body that only lacks the file's end, and the size of the file for one that goes on after it.
    pub fn finish(&self) -> Option<u64> {
        self.differs.or((self.fed < self.size).then_some(self.fed))
    }
}
