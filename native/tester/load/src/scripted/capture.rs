//! Values that steps capture from answers.

use scenario::{Block, Source, Take};

use super::Memory;
use crate::compile_error::Result;
use crate::fill::Plan;

/// A value to capture from an answer; `from` is its place there.
#[derive(Debug, PartialEq)]
pub(crate) struct Capture<F> {
    pub(crate) place: usize,
    pub(crate) from: F,
    pub(crate) take: Take,
    default: Option<Vec<Vec<u8>>>,
}

/// Compiles the captures of a step.
pub(crate) fn captures<F>(
    plan: &Plan,
    block: &Block,
    captures: &[scenario::Capture],
    from: impl Fn(&Source) -> Result<F>,
) -> Result<Vec<Capture<F>>> {
    let texts = |texts: &Vec<String>| texts.iter().map(|text| text.clone().into_bytes()).collect();
    let capture = |capture: &scenario::Capture| {
        let (place, default) = (plan.captured(&capture.name, block)?, capture.default.as_ref().map(texts));
        Ok(Capture { place, from: from(&capture.from)?, take: capture.take, default })
    };
    captures.iter().map(capture).collect()
}

impl Memory {
    /// Begins the captures from the next answer.
    #[inline]
    pub(crate) fn begin_captures(&mut self, count: usize) {
        self.value_counts.clear();
        self.value_counts.resize(count, 0);
        self.too_many = false;
    }

    /// Keeps the first value, a random value, or all values.
    pub(crate) fn capture<F>(
        &mut self,
        number: usize,
        capture: &Capture<F>,
        values: impl Iterator<Item: AsRef<[u8]>>,
        rng: &mut fastrand::Rng,
    ) {
        for value in values {
            let (value, count) = (value.as_ref(), &mut self.value_counts[number]);
            *count += 1;
            match capture.take {
                Take::First => return self.data.keep(capture.place, value),
                // The nth value replaces the kept value with probability 1/n, so all values are equally likely.
                Take::Random if rng.u64(..*count) == 0 => self.data.keep(capture.place, value),
                Take::Random => {}
                Take::All => {
                    if *count == 1 {
                        self.data.empty(capture.place);
                    }
                    self.too_many |= !self.data.add(capture.place, value);
                }
            }
        }
    }

    /// Whether the answer had a value, or the file has a default, which is kept.
    pub(crate) fn has_captured<F>(&mut self, number: usize, capture: &Capture<F>) -> bool {
        let Capture { place, take, default, .. } = capture;
        if self.value_counts[number] > 0 {
            return true;
        }
        if *take == Take::All {
            self.data.empty(*place);
        }
        let Some(texts) = default else { return false };
        if *take == Take::All {
            self.data.list_is_known(*place);
            self.too_many |= !texts.iter().all(|text| self.data.add(*place, text));
        } else {
            self.data.keep(*place, texts.first().map_or(&b""[..], Vec::as_slice));
        }
        true
    }
}
