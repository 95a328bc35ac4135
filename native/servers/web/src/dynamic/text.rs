//! Text of any length, generated while it is sent.

/// A text that has not been generated completely.
#[derive(Debug)]
pub(crate) struct Text {
    /// The state of the random generator; `None` for a constant page.
    state: Option<u64>,
    length: usize,
    left: usize,
}

/// The beginning and the end of a constant page, around its letters (paper 001: a servlet's HTML).
const PAGE: &[u8] = b"<!DOCTYPE html>\n<title>sitebench</title>\n<p>";
const PAGE_END: &[u8] = b"</p>\n";

impl Text {
    /// A page of HTML that repeats one character. If `length` is too small for a page, the repeated
    /// character alone.
    pub(crate) const fn constant(length: usize) -> Self {
        Self { state: None, length, left: length }
    }

    /// Random characters as WebStone's programs write them, `rand() % 26 + 63`: `?` to `X`. The same number
    /// gives the same text.
    pub(crate) const fn random(length: usize, number: u64) -> Self {
        // Mixing puts consecutive numbers far apart in the generator's sequence.
        Self { state: Some(mix(number)), length, left: length }
    }

    /// Appends up to `most` characters. Returns whether the text is complete.
    pub(crate) fn push(&mut self, out: &mut Vec<u8>, most: usize) -> bool {
        // Random characters are generated eight at a time.
        let length = self.left.min(most & !7);
        let (start, before) = (out.len(), self.length - self.left);
        out.resize(start + length, b'x');
        self.left -= length;
        if let Some(state) = &mut self.state {
            for characters in out.get_mut(start..).unwrap_or_default().chunks_mut(8) {
                *state = state.wrapping_add(INCREMENT);
                for (character, byte) in characters.iter_mut().zip(mix(*state).to_le_bytes()) {
                    // One of 26 characters; each replaces 9 or 10 of the 256 values of a byte.
                    *character = b'?' + ((u16::from(byte) * 26) >> 8) as u8;
                }
            }
        } else if let Some(end) = self.length.checked_sub(PAGE_END.len()).filter(|end| *end >= PAGE.len()) {
            let piece = out.get_mut(start..).unwrap_or_default();
            write_at(piece, before, 0, PAGE);
            write_at(piece, before, end, PAGE_END);
        }
        self.left == 0
    }
}

/// Writes the part of `text` that falls into a piece of the page; `at` and `before` are the offsets of the
/// text and of the piece in the page.
fn write_at(piece: &mut [u8], before: usize, at: usize, text: &[u8]) {
    for (place, byte) in (at..).zip(text) {
        if let Some(slot) = place.checked_sub(before).and_then(|place| piece.get_mut(place)) {
            *slot = *byte;
        }
    }
}

/// SplitMix64 (Steele, Lea and Flood, 2014) adds this increment to its state, and mixes the bits of the sum.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

const fn mix(state: u64) -> u64 {
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(mut text: Text, piece: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while !text.push(&mut out, piece) {}
        out
    }

    #[test]
    fn a_text_is_the_same_whatever_the_pieces_in_which_it_is_sent() {
        let whole = text(Text::random(10_001, 7), 1 << 20);
        assert_eq!(whole.len(), 10_001);
        assert_eq!(text(Text::random(10_001, 7), 24), whole);
        assert_ne!(text(Text::random(10_001, 8), 24), whole);
        let page = text(Text::constant(10_001), 1 << 20);
        assert!(page.starts_with(b"<!DOCTYPE html>") && page.ends_with(b"xx</p>\n"));
        assert_eq!(page.len(), 10_001);
        assert_eq!(text(Text::constant(10_001), 24), page);
        assert_eq!(text(Text::constant(3), 64), b"xxx");
        assert_eq!(text(Text::constant(0), 64), b"");
    }

    #[test]
    fn random_characters_are_those_of_webstone_and_about_evenly_distributed() {
        let mut counts = [0; 256];
        text(Text::random(260_000, 1), 1 << 20).iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        for (byte, count) in (0..=255u8).zip(counts) {
            let expected = if (b'?'..=b'X').contains(&byte) { 9_000..11_000 } else { 0..1 };
            assert!(expected.contains(&count), "{byte}: {count}");
        }
    }
}
