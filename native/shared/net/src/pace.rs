//! Recognises stalled clients: they move too few bytes while a message or an answer is under way.

/// The number of bytes that a client has recently moved of its message or its answer.
///
/// While a message or an answer is under way, moving fewer than a number of bytes within a period is a stall.
/// So the time of a message of a given length is bounded, however slowly its bytes arrive. A slow link has to
/// move no more than that number of bytes per period. The server checks each connection now and then, so
/// messages need no timers.
#[derive(Debug, Default)]
pub struct Pace {
    /// Bytes since the period began.
    moved: usize,
    /// When the period began; `None` while nothing is under way.
    since_ms: Option<u64>,
}

impl Pace {
    /// Counts bytes that have moved in either direction.
    #[inline]
    pub const fn moved(&mut self, bytes: usize) {
        self.moved = self.moved.saturating_add(bytes);
    }

    /// Whether fewer than `least` bytes have moved within a period of `within_ms`, and `under_way` was true
    /// at every call in that period.
    pub fn has_stalled(&mut self, under_way: bool, now_ms: u64, within_ms: u64, least: usize) -> bool {
        match self.since_ms {
            Some(since) if under_way && self.moved < least => now_ms.saturating_sub(since) >= within_ms,
            _ => {
                self.moved = 0;
                self.since_ms = under_way.then_some(now_ms);
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a client stalls that moves these numbers of bytes: one number before each check. The checks
    /// are 250 ms apart.
    fn stalls(bytes: impl IntoIterator<Item = usize>) -> bool {
        let mut pace = Pace::default();
        bytes.into_iter().zip(0u64..).any(|(bytes, look)| {
            pace.moved(bytes);
            pace.has_stalled(true, look * 250, 1_000, 100)
        })
    }

    #[test]
    fn a_trickling_client_counts_as_stalled_and_a_slow_client_does_not() {
        assert!(stalls([0; 5]));
        assert!(stalls([24; 5]));
        assert!(!stalls([0; 4]));
        assert!(!stalls([26; 1_000]));
        // A fast client that becomes slow stalls: bytes of earlier periods do not count.
        assert!(stalls([1_000_000, 1_000_000, 1, 1, 1, 1]));
        assert!(!stalls([0, 0, 0, 100, 0, 0, 0, 100, 0, 0, 0, 100]));
    }

    #[test]
    fn no_client_counts_as_stalled_between_two_messages() {
        let mut pace = Pace::default();
        assert!(!(0..100).any(|look| pace.has_stalled(look % 4 != 0, look * 250, 1_000, 100)));
    }
}
