//! The budget of a filter's work: evaluation is cut off when it is spent.

/// Bytes that may still be looked at, about 2 ns each.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
    /// Whether it was too small, so that the result means nothing.
    cut: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: usize::MAX, cut: false }
    }
}

impl Budget {
    /// A budget of this many bytes.
    #[inline]
    pub(crate) const fn new(bytes: usize) -> Self {
        Self { left: bytes, cut: false }
    }

    /// What an attribute or a value costs in addition to its bytes.
    pub(crate) const EACH: usize = 16;

    /// What a unit of [`super::work`] costs: it takes 3 to 7 ns to prepare a value once.
    pub(crate) const UNIT: usize = 2;

    /// What is left.
    #[inline]
    pub(crate) const fn left(&self) -> usize {
        self.left
    }

    /// Whether evaluation was cut off.
    #[inline]
    pub(crate) const fn was_cut(&self) -> bool {
        self.cut
    }

    /// Whether nothing is left for what has still to be evaluated.
    #[inline]
    pub(crate) const fn is_spent(&mut self) -> bool {
        !self.spend(if self.left == 0 { 1 } else { 0 })
    }

    /// Takes what has been spent already.
    #[inline]
    pub(crate) const fn charge(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Takes what is about to be spent; false, and evaluation is cut off, if less is left.
    #[inline]
    pub(crate) const fn spend(&mut self, bytes: usize) -> bool {
        self.cut |= bytes > self.left;
        self.charge(bytes);
        !self.cut
    }
}
