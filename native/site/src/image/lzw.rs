//! The compression of GIF89a (its appendix F): variable-length codes, lowest bit first.

use std::collections::HashMap;

/// Codes have 12 bits at most; when they run out the table starts anew.
const MOST_CODES: u16 = 4_096;

/// Compresses `pixels`, each below 2 to the power of `bits`.
pub(super) fn compress(pixels: &[u8], bits: u8) -> Vec<u8> {
    let clear = 1u16 << bits;
    let mut table = Table::new(clear, bits);
    let mut out = Bits::default();
    out.push(clear, table.width);
    let mut pixels = pixels.iter();
    let Some(&first) = pixels.next() else {
        out.push(clear + 1, table.width);
        return out.finish();
    };
    let mut string = u16::from(first);
    for &pixel in pixels {
        if let Some(&longer) = table.codes.get(&(string, pixel)) {
            string = longer;
            continue;
        }
        out.push(string, table.width);
        if !table.add(string, pixel) {
            out.push(clear, table.width);
            table = Table::new(clear, bits);
        }
        string = u16::from(pixel);
    }
    out.push(string, table.width);
    // The decoder has one code more by now, which may have widened its codes.
    table.widen();
    out.push(clear + 1, table.width);
    out.finish()
}

/// Strings seen, as (prefix, last pixel) -> code.
struct Table {
    codes: HashMap<(u16, u8), u16>,
    next: u16,
    width: u8,
}

impl Table {
    fn new(clear: u16, bits: u8) -> Self {
        Self { codes: HashMap::new(), next: clear + 2, width: bits + 1 }
    }

    /// Says whether there was room.
    fn add(&mut self, prefix: u16, pixel: u8) -> bool {
        if self.next >= MOST_CODES {
            return false;
        }
        self.codes.insert((prefix, pixel), self.next);
        self.widen();
        true
    }

    /// Counts a code. The decoder learns each one step later than we do, hence after the test.
    fn widen(&mut self) {
        if self.next == 1 << self.width && self.width < 12 {
            self.width += 1;
        }
        self.next += 1;
    }
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    pending: u32,
    count: u8,
}

impl Bits {
    fn push(&mut self, code: u16, width: u8) {
        self.pending |= u32::from(code) << self.count;
        self.count += width;
        while self.count >= 8 {
            self.bytes.push(self.pending as u8);
            self.pending >>= 8;
            self.count -= 8;
        }
    }

    fn finish(mut self) -> Vec<u8> {
        if self.count > 0 {
            self.bytes.push(self.pending as u8);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A decoder written from the specification alone.
    fn expand(bytes: &[u8], bits: u8) -> Vec<u8> {
        let (clear, mut out, mut at) = (1usize << bits, Vec::new(), 0usize);
        let roots = || (0..clear + 2).map(|n| vec![n as u8]).collect::<Vec<_>>();
        let (mut table, mut width, mut before): (_, _, Option<Vec<u8>>) = (roots(), bits + 1, None);
        loop {
            let code = (0..usize::from(width)).fold(0, |code, n| {
                let bit = at + n;
                code | usize::from(bytes[bit / 8] >> (bit % 8) & 1) << n
            });
            at += usize::from(width);
            if code == clear {
                (table, width, before) = (roots(), bits + 1, None);
                continue;
            }
            if code == clear + 1 {
                assert_eq!(at.div_ceil(8), bytes.len());
                return out;
            }
            let string = match (table.get(code), &before) {
                (Some(known), _) => known.clone(),
                (None, Some(before)) => [&before[..], &before[..1]].concat(),
                (None, None) => panic!("code {code} out of nothing"),
            };
            if let Some(before) = before.filter(|_| table.len() < 4_096) {
                table.push([&before[..], &string[..1]].concat());
            }
            if table.len() == 1 << width && width < 12 {
                width += 1;
            }
            out.extend_from_slice(&string);
            before = Some(string);
        }
    }

    proptest! {
        #[test]
        fn a_decoder_gets_the_pixels_back(pixels in prop::collection::vec(0u8..4, 0..600)) {
            prop_assert_eq!(expand(&compress(&pixels, 2), 2), pixels);
        }

        #[test]
        fn a_table_that_runs_full_starts_anew(seed: u64) {
            let mut state = seed | 1;
            let pixels: Vec<u8> = (0..20_000).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 60) as u8
            }).collect();
            prop_assert_eq!(expand(&compress(&pixels, 4), 4), pixels);
        }
    }
}
