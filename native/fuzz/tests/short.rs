//! Runs every fuzz target for a few seconds on its corpus: unchanged, mutated at random, and with repeated
//! pieces. Any compiler can build these tests.
//!
//! Unlike in `make fuzz`, no coverage guides the mutations. The seed is fixed, so every failure repeats.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is a test")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fuzz::{TARGETS, Target};

/// The number of mutated inputs for a target. After `PATIENCE` no further input is tried.
const CHANGES: usize = 200_000;
const PATIENCE: Duration = Duration::from_secs(3);

/// The length of an input with a repeated piece.
const GROWN: usize = 32 << 10;

/// A generator of random numbers: xorshift64*.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides.max(1)
    }
}

fn corpus(name: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Runs a target; on failure panics with the input bytes.
fn hold(name: &str, target: Target, bytes: &[u8], of: &Path) {
    if catch_unwind(AssertUnwindSafe(|| target.run(bytes))).is_err() {
        panic!("{name} fails with {bytes:?}, made from {}", of.display());
    }
}

/// Bytes with a meaning in the grammars of the targets.
const TELLING: &[u8] = b"\x00\x01\x02\x04\x30\x31\x7f\x80\x81\x84\xa0\xa2\xff\r\n :;,=+\\\"#*()&|!0aZ?%<>";

fn changed(bytes: &[u8], others: &[(PathBuf, Vec<u8>)], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=dice.roll(6) {
        let at = dice.roll(bytes.len());
        match dice.roll(7) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << dice.roll(8),
            1 if !bytes.is_empty() => bytes[at] = TELLING[dice.roll(TELLING.len())],
            2 => bytes.insert(at, TELLING[dice.roll(TELLING.len())]),
            3 if !bytes.is_empty() => drop(bytes.remove(at)),
            4 => bytes.truncate(at),
            5 => {
                let end = (at + 1 + dice.roll(40)).min(bytes.len());
                let again = bytes[at.min(end)..end].to_vec();
                bytes.splice(at..at, again);
            }
            _ => {
                let other = &others[dice.roll(others.len())].1;
                bytes.truncate(at);
                bytes.extend_from_slice(&other[dice.roll(other.len())..]);
            }
        }
    }
    bytes
}

/// Repeats a piece of the input, so that cost quadratic in the number of equal pieces becomes visible.
fn grown(bytes: &[u8], dice: &mut Dice) -> Vec<u8> {
    let at = dice.roll(bytes.len());
    let end = (at + 1 + dice.roll(12)).min(bytes.len());
    let times = GROWN / (end - at).max(1);
    [&bytes[..at], &bytes[at..end].repeat(times), &bytes[end..]].concat()
}

fn short(name: &str) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let files = corpus(name);
    assert!(!files.is_empty(), "{name} has no corpus");
    for (path, bytes) in &files {
        hold(name, *target, bytes, path);
    }
    let (mut dice, begun) = (Dice(0x5eed_1997), Instant::now());
    for number in 0..CHANGES {
        let (path, bytes) = &files[dice.roll(files.len())];
        let mut bytes = changed(bytes, &files, &mut dice);
        // A long input takes as much time as many short inputs, so few inputs are long.
        if number % 100 == 0 {
            bytes = grown(&bytes, &mut dice);
        }
        hold(name, *target, &bytes, path);
        if begun.elapsed() > PATIENCE {
            break;
        }
    }
}

macro_rules! short {
    ($($test:ident $name:literal,)*) => {
        $(#[test]
        fn $test() {
            short($name);
        })*

        #[test]
        fn every_fuzz_target_has_a_test_in_this_file() {
            let tested = [$($name),*];
            assert!(TARGETS.iter().map(|(name, _)| *name).eq(tested));
        }
    };
}

short! {
    ber "ber",
    messages "messages",
    ldap_made "ldap-made",
    filters "filters",
    names "names",
    ldif "ldif",
    table "table",
    http_requests "http-requests",
    http_answers "http-answers",
    http_locations "http-locations",
    http_made "http-made",
    scenarios "scenarios",
    templates "templates",
}
