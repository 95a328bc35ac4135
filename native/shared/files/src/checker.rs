//! Compares a body with its file while the body is received.

use crate::content::first_difference;

/// Compares the bytes of a body with its file. The pieces of the body have any length.
#[derive(Debug, Clone)]
pub struct Checker {
    key: u64,
    size: u64,
    fed: u64,
    differs: Option<u64>,
}

impl Checker {
    pub const fn new(key: u64, size: u64) -> Self {
        Self { key, size, fed: 0, differs: None }
    }

    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Compares the next bytes. Returns whether all bytes so far match the file.
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

    /// Like [`feed`](Self::feed), but faster if there is a `copy` of the content. A piece that differs from
    /// the copy is compared with the generated content.
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

    /// The number of the body's bytes so far.
    pub const fn fed(&self) -> u64 {
        self.fed
    }

    /// The index at which the ended body first differs from the file, or `None`. If the body is a beginning
    /// of the file, the index is the body's length. If the body continues after the end of the file, the
    /// index is the file's size.
    pub fn finish(&self) -> Option<u64> {
        self.differs.or((self.fed < self.size).then_some(self.fed))
    }
}
