//! Bounds for histograms, computed from the times at which the target read requests and wrote answers.
//!
//! A lane has one request in flight. It reads an answer after the target began to write it and before it
//! sends the next request; it sends a request after it has read the previous answer and before the target has
//! read the request. So the target's log bounds each of a lane's clocks from below and above, however the
//! machine schedules lane and target. For consecutive requests the bounds differ by a round trip, which is
//! less than the histogram's three digits for the latencies of a stall.

use hdrhistogram::Histogram;
use load::Pace;
use load::histogram;

use super::gate::Exchange;

/// The lower and the upper bound of each sample of a clock.
#[derive(Debug, Default)]
pub struct Bounds {
    least: Vec<u64>,
    most: Vec<u64>,
}

/// Bounds of a lane's clocks.
#[derive(Debug, Default)]
pub struct Clocks {
    pub service: Bounds,
    pub latency: Bounds,
    pub lag: Bounds,
}

/// The clocks of lanes that send a request as soon as the previous request is answered.
pub fn closed(log: &[Exchange], end_ns: u64) -> Bounds {
    let mut service = Bounds::default();
    for (n, exchange) in log.iter().enumerate().filter(|(_, exchange)| exchange.counted) {
        let (sent, read) = (sent_after(log, n), read_before(log, n, end_ns));
        service.push(exchange.answered_ns - exchange.asked_ns, read - sent);
    }
    service
}

/// The clocks of one lane that takes every arrival of a schedule from arrival `first` on.
pub fn open(log: &[Exchange], end_ns: u64, pace: &Pace, first: u64) -> Clocks {
    let mut clocks = Clocks::default();
    let counted = log.iter().enumerate().filter(|(_, exchange)| exchange.counted);
    for (arrival, (n, exchange)) in (first..).zip(counted) {
        let due = pace.due_ns(arrival).unwrap();
        let (sent, read) = (sent_after(log, n).max(due), read_before(log, n, end_ns));
        let since_due = |time: u64| time.saturating_sub(due);
        clocks.service.push(exchange.answered_ns - exchange.asked_ns, read.saturating_sub(sent));
        clocks.latency.push(since_due(exchange.answered_ns), since_due(read));
        clocks.lag.push(since_due(sent), since_due(exchange.asked_ns));
    }
    clocks
}

/// Latencies that follow from the schedule and the stall alone: arrivals due during the stall wait at least
/// until its end.
pub fn stalled(pace: &Pace, first: u64, arrivals: u64, (shut_ns, opens_ns): (u64, u64)) -> Bounds {
    let mut bounds = Bounds::default();
    for arrival in first..first + arrivals {
        let due = pace.due_ns(arrival).unwrap();
        let least = if due >= shut_ns { opens_ns.saturating_sub(due) } else { 0 };
        bounds.push(least, u64::MAX);
    }
    bounds
}

fn sent_after(log: &[Exchange], n: usize) -> u64 {
    let before = n.checked_sub(1).map(|before| log[before]);
    before.filter(|before| before.connection == log[n].connection).map_or(0, |before| before.answered_ns)
}

fn read_before(log: &[Exchange], n: usize, end_ns: u64) -> u64 {
    let next = log.get(n + 1).filter(|next| next.connection == log[n].connection);
    next.map_or(end_ns, |next| next.asked_ns)
}

impl Bounds {
    fn push(&mut self, least: u64, most: u64) {
        self.least.push(least);
        self.most.push(most);
    }

    /// Checks that each sample lies between its lower and its upper bound, within the precision of a
    /// histogram.
    ///
    /// A histogram does not keep the order of samples, so samples, lower bounds and upper bounds are
    /// sorted: if each sample lies between its bounds, then the `n`th smallest sample lies between the
    /// `n`th smallest lower bound and the `n`th smallest upper bound.
    pub fn hold(&self, measured: &Histogram<u64>) -> Result<(), String> {
        let scale = histogram().unwrap();
        let bucket = |value: &u64| scale.highest_equivalent((*value).min(scale.high()));
        let ordered = |values: &[u64]| {
            let mut buckets: Vec<u64> = values.iter().map(bucket).collect();
            buckets.sort_unstable();
            buckets
        };
        let (least, most) = (ordered(&self.least), ordered(&self.most));
        let samples: Vec<u64> = measured
            .iter_recorded()
            .flat_map(|step| {
                std::iter::repeat_n(bucket(&step.value_iterated_to()), step.count_at_value() as usize)
            })
            .collect();
        if samples.len() != least.len() {
            return Err(format!("{} samples, not {}", samples.len(), least.len()));
        }
        let wrong = (0..samples.len()).find(|&n| samples[n] < least[n] || samples[n] > most[n]);
        wrong.map_or(Ok(()), |n| {
            Err(format!("sample {n} is {} ns, not {} to {} ns", samples[n], least[n], most[n]))
        })
    }

    /// The number of samples that certainly exceed `ns`.
    pub fn longer_than(&self, ns: u64) -> u64 {
        self.least.iter().filter(|&&least| least > ns).count() as u64
    }
}
