//! Boundaries of TLS records, from their headers (RFC 8446 section 5.1).

/// Type, version, length.
const HEADER_BYTES: usize = 5;

/// The position in a stream of records.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// The number of received bytes of the current header.
    header: usize,
    /// Missing bytes of the current record after its header.
    left: usize,
}

impl Records {
    /// Advances by these bytes.
    pub(crate) fn pass(&mut self, mut bytes: &[u8]) {
        loop {
            let known = if self.header == HEADER_BYTES { self.left.min(bytes.len()) } else { 0 };
            self.left -= known;
            bytes = bytes.get(known..).unwrap_or_default();
            if self.header == HEADER_BYTES && self.left == 0 {
                self.header = 0;
            }
            let Some((&byte, rest)) = bytes.split_first() else { return };
            bytes = rest;
            self.header += 1;
            // The mask keeps the last two of the header's five bytes, which are the length.
            self.left = (self.left << 8 | usize::from(byte)) & 0xffff;
        }
    }

    /// Whether the current record is incomplete.
    pub(crate) const fn is_within(&self) -> bool {
        self.header > 0
    }
}
