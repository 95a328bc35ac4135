//! The budget of a filter's work: evaluation is cut off when it is spent.

/// What evaluating a filter costs, in bytes looked at: about 2 ns each, 6 where names are compared.
#[derive(Debug)]
pub(crate) struct Effort {
    /// A value on its way to another form.
    pub(crate) buffer: Vec<u8>,
    /// What one entry may still cost.
    pub(crate) left: usize,
    /// How long the values of one attribute may be.
    pub(crate) longest: usize,
    /// Whether the budget was too small.
    pub(crate) cut: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { buffer: Vec::new(), left: usize::MAX, longest: usize::MAX, cut: false }
    }
}

impl Effort {
    /// What an attribute or a value costs in addition to its bytes.
    pub(crate) const EACH: usize = 16;

    /// Sets the budget for the next entry, and the longest that the values of an attribute may be.
    #[inline]
    pub(crate) const fn allow(&mut self, bytes: usize, longest: usize) {
        self.left = bytes;
        self.longest = longest;
        self.cut = false;
    }

    /// What is left of the budget.
    #[inline]
    pub(crate) const fn left(&self) -> usize {
        self.left
    }

    /// Whether evaluation was cut off.
    #[inline]
    pub(crate) const fn was_cut(&self) -> bool {
        self.cut
    }

    #[inline]
    pub(crate) const fn charge(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }
}
