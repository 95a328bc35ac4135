//! `Histogram`: durations in nanoseconds at three significant digits.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Method rule 1: native recorders keep nanoseconds at 3 significant digits.
const DIGITS: u8 = 3;

/// The first bytes of a histogram, and of a compressed histogram (HdrHistogram, version 2).
const COOKIE: u32 = 0x1c84_9313;
const COMPRESSED_COOKIE: u32 = 0x1c84_9314;
/// The bytes before a compressed histogram: its cookie and its length.
const COMPRESSED_HEAD: usize = 8;
/// The bytes before the counts of a histogram: cookie, length, offset, digits, bounds and a ratio.
const HEAD: usize = 40;
/// The longest histogram of these digits: 54 powers of two above 2,048 with 1,024 counts each, and 2,048
/// counts below, in at most 9 bytes per count. Data of a foreign run file may inflate to a thousand times
/// their size.
const MOST_BYTES: usize = HEAD + 9 * 56 * 1024;

/// Durations in nanoseconds at three significant digits (HdrHistogram).
#[pyclass(module = "sitebench._engine")]
pub struct Histogram(Hdr<u64>);

impl From<Hdr<u64>> for Histogram {
    fn from(mut hdr: Hdr<u64>) -> Self {
        // Recorders have fixed bounds, but a merged histogram must take the values of all recorders.
        hdr.auto(true);
        Histogram(hdr)
    }
}

impl Histogram {
    /// A histogram without samples.
    pub fn empty() -> PyResult<Self> {
        Hdr::new(DIGITS).map(Histogram::from).map_err(value_error)
    }
}

fn value_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> PyResult<Self> {
        Histogram::empty()
    }

    /// The number of samples.
    #[getter]
    fn count(&self) -> u64 {
        self.0.len()
    }

    /// The smallest value; 0 when empty.
    #[getter]
    fn min(&self) -> u64 {
        self.0.min()
    }

    /// The largest value; 0 when empty.
    #[getter]
    fn max(&self) -> u64 {
        self.0.max()
    }

    /// The mean value; 0.0 when empty.
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    /// The sum of all values, each at three digits.
    #[getter]
    fn sum(&self) -> u128 {
        let middle = |value| u128::from(self.0.median_equivalent(value));
        self.0
            .iter_recorded()
            .map(|step| middle(step.value_iterated_to()) * u128::from(step.count_at_value()))
            .sum()
    }

    /// The value that `q` percent of the samples do not exceed; 0 when empty.
    ///
    /// Raises ValueError unless 0 <= q <= 100.
    fn percentile(&self, q: f64) -> PyResult<u64> {
        if !(0.0..=100.0).contains(&q) {
            return Err(PyValueError::new_err(format!("percentile {q} is not between 0 and 100")));
        }
        Ok(self.0.value_at_percentile(q))
    }

    /// Merges `other` into this histogram, exactly: bucket by bucket.
    fn add(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<()> {
        if slf.is(other) {
            let twin = slf.try_borrow()?.0.clone();
            return slf.try_borrow_mut()?.0.add(twin).map_err(value_error);
        }
        let (mut into, from) = (slf.try_borrow_mut()?, other.try_borrow()?);
        if into.0.is_empty() {
            // Histograms with different bounds are added value by value, which takes thirty times as long.
            *into = from.copy();
            return Ok(());
        }
        into.0.add(&from.0).map_err(value_error)
    }

    /// Counts `ns` `n` times.
    #[pyo3(signature = (ns, n=1))]
    fn record(&mut self, ns: u64, n: u64) -> PyResult<()> {
        self.0.record_n(ns, n).map_err(value_error)
    }

    /// (Highest value of the bucket, number of samples), ascending, without empty buckets.
    fn buckets(&self) -> Vec<(u64, u64)> {
        self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    }

    /// Samples by rounded milliseconds, as Locust keeps them: whole milliseconds below 100 ms, two
    /// significant digits below 10 s, and whole seconds above.
    fn millis(&self) -> BTreeMap<u64, u64> {
        let mut samples = BTreeMap::new();
        for step in self.0.iter_recorded() {
            let middle = self.0.median_equivalent(step.value_iterated_to());
            *samples.entry(locust_millis(middle)).or_insert(0) += step.count_at_value();
        }
        samples
    }

    /// The HdrHistogram V2 encoding, deflated, which other tools of HdrHistogram read.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.0, &mut bytes).map_err(value_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Reads the result of `to_bytes`. Raises ValueError for other data.
    #[staticmethod]
    fn from_bytes(data: &[u8]) -> PyResult<Self> {
        inflated(data)
            .and_then(|plain| {
                Deserializer::new().deserialize(&mut Cursor::new(plain)).map_err(|error| error.to_string())
            })
            .map(Histogram::from)
            .map_err(|error| PyValueError::new_err(format!("not a histogram: {error}")))
    }

    /// An independent copy.
    fn copy(&self) -> Self {
        Histogram(self.0.clone())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __repr__(&self) -> String {
        format!(
            "<Histogram n={} p50={} p99={} max={}>",
            self.0.len(),
            self.0.value_at_quantile(0.5),
            self.0.value_at_quantile(0.99),
            self.0.max()
        )
    }
}

/// Inflates a histogram up to the maximum length, and checks the size in its header.
fn inflated(data: &[u8]) -> Result<Vec<u8>, String> {
    if number(data, 0) != Some(COMPRESSED_COOKIE) {
        return Err("it does not begin as one".into());
    }
    let compressed = data.get(COMPRESSED_HEAD..).ok_or("it is too short")?;
    let mut plain = Vec::new();
    let limit = MOST_BYTES as u64 + 1;
    ZlibDecoder::new(compressed).take(limit).read_to_end(&mut plain).map_err(|error| error.to_string())?;
    if plain.len() > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    if number(&plain, 0) != Some(COOKIE) {
        return Err("it does not begin as one".into());
    }
    let (length, digits) = number(&plain, 4).zip(number(&plain, 12)).ok_or("it is too short")?;
    if length as usize > plain.len().saturating_sub(HEAD) || digits > u32::from(DIGITS) {
        return Err(format!("it claims {length} bytes of counts, at {digits} digits"));
    }
    Ok(plain)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

const MS: u64 = 1_000_000;

/// Rounds a duration to the milliseconds of its bucket in Locust, for Locust's tables only (method rule 1).
///
/// Its `bucket_response_time` (locust.stats) has whole milliseconds below 100 ms, then two significant digits
/// up to 10 s and whole seconds above. Halves are rounded up, not to the even neighbour as in Python: no
/// bucket of three digits has its middle there.
fn locust_millis(ns: u64) -> u64 {
    let unit = match ns {
        _ if ns < 100 * MS => 1,
        _ if ns < 1_000 * MS => 10,
        _ if ns < 10_000 * MS => 100,
        _ => 1_000,
    };
    (ns + unit * MS / 2) / (unit * MS) * unit
}
