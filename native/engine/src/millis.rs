//! Locust's buckets of response time, for its screens only (method rule 1).

/// Nanoseconds in a millisecond.
const MS: u64 = 1_000_000;

/// Rounds a duration to the milliseconds of the bucket that Locust would put it in.
///
/// As its `bucket_response_time` (locust.stats) does: whole milliseconds below 100 ms, then two
/// significant digits up to 10 s and whole seconds above. Halves go up, not to the even neighbour
/// as in Python: no bucket of three digits has its middle there.
pub fn locust_millis(ns: u64) -> u64 {
    let unit = match ns {
        _ if ns < 100 * MS => 1,
        _ if ns < 1_000 * MS => 10,
        _ if ns < 10_000 * MS => 100,
        _ => 1_000,
    };
    (ns + unit * MS / 2) / (unit * MS) * unit
}
