//! The queue model of the planner.

use floor::queue::{Kind, Promise};
use pyo3::prelude::*;

/// The maximum utilisation of the cores by a mix of operations, if the share `late` of operations may take
/// longer than `within_s`. `kinds` are operations: weight, and seconds on an idle core. None if idle cores
/// are too slow.
#[pyfunction]
pub fn busy_limit(
    py: Python<'_>,
    kinds: Vec<(f64, f64)>,
    cores: usize,
    within_s: f64,
    late: f64,
) -> Option<f64> {
    let kinds: Vec<Kind> = kinds.into_iter().map(|(weight, service_s)| Kind { weight, service_s }).collect();
    py.detach(|| floor::queue::busy_limit(&kinds, cores, Promise { within_s, late }))
}
