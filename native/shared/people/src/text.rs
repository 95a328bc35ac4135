//! Prose of a given length, cut from one text per locale.

use crate::draw::{Chance, Draw};

/// A locale's sentences one after the other, long enough to cut from the start of any sentence.
#[derive(Debug)]
pub(crate) struct Text {
    bytes: Vec<u8>,
    starts: Vec<u32>,
}

impl Text {
    /// Joins `sentences` and repeats them until `longest` bytes follow every start.
    pub(crate) fn new<S: AsRef<str>>(sentences: &[S], longest: usize) -> Self {
        let mut bytes = Vec::new();
        let mut starts = Vec::with_capacity(sentences.len());
        for sentence in sentences {
            starts.push(bytes.len() as u32);
            bytes.extend_from_slice(sentence.as_ref().as_bytes());
            bytes.push(b' ');
        }
        let once = bytes.len();
        while once > 0 && bytes.len() < once + longest {
            bytes.extend_from_within(..once);
        }
        Self { bytes, starts }
    }

    /// Between `room` - 4 and `room` bytes, from the start of some sentence.
    ///
    /// The text is cut between characters, and not after a space: a value with a trailing space would have to
    /// be base64 in LDIF (RFC 2849, note 8) and would look like a mistake.
    #[inline]
    pub(crate) fn slice(&self, chance: Chance, room: usize) -> &[u8] {
        let start = self.starts[chance.below(Draw::Text, self.starts.len())] as usize;
        let mut end = start + room;
        while end > start && self.bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end -= 1;
        }
        if end > start && self.bytes.get(end - 1) == Some(&b' ') {
            end -= 1;
        }
        &self.bytes[start..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Root;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_text_slice_has_whole_characters_and_almost_the_requested_length(i: u64, room in 4usize..900) {
            let text = Text::new(&["Эпоха крыса шлем.", "極端な血まみれの屋根裏状況。", "Plain words here."], 900);
            let slice = text.slice(Chance::new(Root::new(1), i), room);
            prop_assert!(str::from_utf8(slice).is_ok());
            prop_assert!(slice.len() <= room && slice.len() + 4 >= room, "{} of {room}", slice.len());
            prop_assert!(!slice.starts_with(b" ") && !slice.ends_with(b" "));
        }
    }
}
