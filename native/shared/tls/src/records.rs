//! Where records begin and end, as far as their headers show (RFC 8446 section 5.1).

/// Type, version, length.
const HEADER_BYTES: usize = 5;

/// How far the records on a wire have come.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// Bytes of a header.
    header: usize,
    /// Bytes still to come of the record behind it.
    left: usize,
}

impl Records {
    /// Follows what the wire brings.
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
            // The length is all that the header's last two bytes leave here.
            self.left = (self.left << 8 | usize::from(byte)) & 0xffff;
        }
    }

    /// Whether a record has begun that is not all there.
    pub(crate) const fn is_within(&self) -> bool {
        self.header > 0
    }
}
