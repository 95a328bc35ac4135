//! The account of a filter's work, by which it is cut off.

/// What holding a filter against entries takes, in bytes looked at: some 2 ns each, 6 where names are compared.
#[derive(Debug)]
pub(crate) struct Effort {
    /// A value on its way to another form.
    pub(crate) buffer: Vec<u8>,
    /// What one entry may still take.
    pub(crate) left: usize,
    /// How long the values of one attribute may be.
    pub(crate) longest: usize,
    /// Whether that was too little.
    pub(crate) cut: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { buffer: Vec::new(), left: usize::MAX, longest: usize::MAX, cut: false }
    }
}

impl Effort {
    /// What an attribute or a value takes beside its bytes.
    pub(crate) const EACH: usize = 16;

    /// For the next entry, of which no attribute may be longer than this.
    #[inline]
    pub(crate) const fn allow(&mut self, bytes: usize, longest: usize) {
        self.left = bytes;
        self.longest = longest;
        self.cut = false;
    }

    /// What is left of that.
    #[inline]
    pub(crate) const fn left(&self) -> usize {
        self.left
    }

    /// Whether the filter was not held against the entry to the end.
    #[inline]
    pub(crate) const fn was_cut(&self) -> bool {
        self.cut
    }

    #[inline]
    pub(crate) const fn charge(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
    }
}
