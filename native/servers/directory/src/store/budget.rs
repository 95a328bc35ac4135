//! The budget of evaluating a filter. Evaluation is cut off when the budget is exhausted.

/// Bytes that may still be read, about 2 ns each.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
    /// Whether the budget was too small, so that the result is meaningless.
    cut: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: usize::MAX, cut: false }
    }
}

impl Budget {
    #[inline]
    pub(crate) const fn new(bytes: usize) -> Self {
        Self { left: bytes, cut: false }
    }

    /// The cost of an attribute or a value in addition to its bytes.
    pub(crate) const EACH: usize = 16;

    /// The cost of a unit of [`super::work`]: preparing a value once takes 3 to 7 ns per unit.
    pub(crate) const UNIT: usize = 2;

    #[inline]
    pub(crate) const fn left(&self) -> usize {
        self.left
    }

    /// Whether evaluation was cut off.
    #[inline]
    pub(crate) const fn was_cut(&self) -> bool {
        self.cut
    }

    /// Whether the budget is exhausted. If so, evaluation is cut off.
    #[inline]
    pub(crate) const fn is_spent(&mut self) -> bool {
        !self.spend(if self.left == 0 { 1 } else { 0 })
    }

    /// Subtracts costs that have arisen already.
    #[inline]
    pub(crate) const fn charge(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }

    /// Subtracts the costs of the next step. If less is left, evaluation is cut off, and the result is false.
    #[inline]
    pub(crate) const fn spend(&mut self, bytes: usize) -> bool {
        self.cut |= bytes > self.left;
        self.charge(bytes);
        !self.cut
    }
}
