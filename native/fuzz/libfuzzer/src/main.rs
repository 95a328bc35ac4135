//! Runs libFuzzer on the target that `$FUZZ_TARGET` names.

#![no_main]

use std::sync::OnceLock;

use fuzz::{TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static CHOSEN: OnceLock<Target> = OnceLock::new();

fn chosen() -> Target {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let known: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    match TARGETS.iter().find(|(known, _)| *known == name) {
        Some((_, target)) => *target,
        None => panic!("FUZZ_TARGET is {name:?}; use one of {}", known.join(", ")),
    }
}

fuzz_target!(|bytes: &[u8]| CHOSEN.get_or_init(chosen).run(bytes));
