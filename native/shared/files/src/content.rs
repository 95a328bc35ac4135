//! The bytes of a file: a counter-based generator, so that any piece is generated without the pieces before
//! it.

use sha2::{Digest, Sha256};

/// SplitMix64's increment.
pub(crate) const G: u64 = 0x9e37_79b9_7f4a_7c15;

const WORD: usize = size_of::<u64>();
/// The number of bytes compared at once: enough for pipelining, and few enough for a quick search for the
/// first difference.
const BLOCK: usize = 16 * WORD;
/// A piece of this size stays in a core's cache between generation and writing.
const PIECE: usize = 64 << 10;

/// The finaliser of SplitMix64.
#[inline]
pub(crate) const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Generates the words of a file in order.
struct Words(u64);

impl Words {
    #[inline]
    const fn from(key: u64, word: u64) -> Self {
        Self(key.wrapping_add(word).wrapping_mul(G))
    }

    #[inline]
    const fn next(&mut self) -> u64 {
        let word = (mix(self.0) & 0x1f1f_1f1f_1f1f_1f1f) | 0x4040_4040_4040_4040;
        self.0 = self.0.wrapping_add(G);
        word
    }
}

/// How many of the `length` bytes from `offset` on precede the first whole word.
const fn before_words(offset: u64, length: usize) -> usize {
    let ahead = (offset.wrapping_neg() % WORD as u64) as usize;
    if ahead < length { ahead } else { length }
}

/// Writes the bytes of the file with this key, from `offset` on.
pub fn fill(key: u64, offset: u64, out: &mut [u8]) {
    let mut words = Words::from(key, offset / WORD as u64);
    let (head, body) = out.split_at_mut(before_words(offset, out.len()));
    if !head.is_empty() {
        let within = (offset % WORD as u64) as usize;
        head.copy_from_slice(&words.next().to_le_bytes()[within..within + head.len()]);
    }
    let mut whole = body.chunks_exact_mut(WORD);
    for word in &mut whole {
        word.copy_from_slice(&words.next().to_le_bytes());
    }
    let tail = whole.into_remainder();
    if !tail.is_empty() {
        tail.copy_from_slice(&words.next().to_le_bytes()[..tail.len()]);
    }
}

/// The index in `piece`, which begins at `offset`, of the first byte that differs from the file.
pub(crate) fn first_difference(key: u64, offset: u64, piece: &[u8]) -> Option<usize> {
    let head = before_words(offset, piece.len());
    let body = piece.len() - (piece.len() - head) % BLOCK;
    let mut words = Words::from(key, offset.div_ceil(WORD as u64));
    let mut at = head;
    if let Some(wrong) = bytewise(key, offset, &piece[..head]) {
        return Some(wrong);
    }
    for block in piece[head..body].chunks_exact(BLOCK) {
        let difference = block.chunks_exact(WORD).fold(0, |found, word| {
            let mut bytes = [0; WORD];
            bytes.copy_from_slice(word);
            found | (u64::from_le_bytes(bytes) ^ words.next())
        });
        if difference != 0 {
            break;
        }
        at += BLOCK;
    }
    // The rest is a block with a difference, or less than a block.
    let rest = &piece[at..piece.len().min(at + BLOCK)];
    bytewise(key, offset + at as u64, rest).map(|wrong| at + wrong)
}

/// Like [`first_difference`], but byte by byte, for at most one block.
fn bytewise(key: u64, offset: u64, piece: &[u8]) -> Option<usize> {
    let mut right = [0; BLOCK];
    fill(key, offset, &mut right[..piece.len()]);
    piece.iter().zip(right).position(|(&found, right)| found != right)
}

/// SHA-256 of the first `size` bytes; `each` gets every generated piece.
pub(crate) fn digest<E>(
    key: u64,
    size: u64,
    mut each: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<[u8; 32], E> {
    let mut piece = [0; PIECE];
    let mut sha = Sha256::new();
    let mut at = 0;
    while at < size {
        let part = &mut piece[..PIECE.min(usize::try_from(size - at).unwrap_or(PIECE))];
        fill(key, at, part);
        sha.update(&*part);
        each(part)?;
        at += part.len() as u64;
    }
    Ok(sha.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mix_function_is_splitmix64() {
        // The first outputs of SplitMix64 seeded with 1234567, as published with its reference code.
        let outputs = [1, 2, 3].map(|n: u64| mix(1_234_567u64.wrapping_add(n.wrapping_mul(G))));
        assert_eq!(
            outputs,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn each_of_the_32_characters_is_about_equally_frequent_at_every_place() {
        let mut text = vec![0; 32 * 8 * 1_000];
        fill(7, 0, &mut text);
        for place in 0..WORD {
            let mut counts = [0u32; 256];
            text.iter().skip(place).step_by(WORD).for_each(|&byte| counts[usize::from(byte)] += 1);
            for (byte, n) in counts.into_iter().enumerate() {
                let expected = if (0x40..0x60).contains(&byte) { 850..1_150 } else { 0..1 };
                assert!(expected.contains(&n), "byte {byte} {n} times in place {place}");
            }
        }
    }
}
