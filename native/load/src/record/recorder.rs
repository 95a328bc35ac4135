//! What happened, per step: counts, bytes, failures by kind, and times in HDR histograms.
//!
//! Times are nanoseconds at three significant digits up to an hour (method rule 1). Each thread has
//! recorders of its own and nothing is shared: a drain swaps a thread's recorders for empty ones between
//! two operations, so each operation is in exactly one drain.
//!
//! # The clocks (method rule 2)
//!
//! ```text
//!   due        sent                  answered      next sent
//!    |--- lag ---|------ service ------|- processing -|
//!    |------------- latency -----------|
//! ```
//!
//! Processing is the engine's own share: from what let a lane go on (the answer before, the end of a
//! think time, an arrival due while the lane was idle) to the request. Being late shows there.
//!
//! Operations that were answered, rightly or wrongly, are in `service`. Those that never were (timeouts,
//! lost connections) are in `censored`, with the time that was waited in vain: a lower bound. Always
//! `count = service.len() + censored.len()`.

use std::ops::{Index, IndexMut};
use std::sync::Arc;

use hdrhistogram::{AdditionError, CreationError, Histogram};

use crate::record::clock::SECOND;
use crate::record::failure::Failure;

/// Longer times count as this long: an hour is beyond any timeout.
const LONGEST_NS: u64 = 3600 * SECOND;

/// Method rule 1.
const DIGITS: u8 = 3;

/// An empty histogram, bounded so that recording never allocates.
pub fn histogram() -> Result<Histogram<u64>, CreationError> {
    Histogram::new_with_bounds(1, LONGEST_NS, DIGITS)
}

/// The index of a recorder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Slot(pub(crate) u16);

/// What a recorder is for.
#[derive(Debug, Clone)]
pub struct Label {
    pub program: Arc<str>,
    /// Its step; `sequence` for the whole pass.
    pub step: Arc<str>,
    /// Whether its operations have intended starts.
    pub open: bool,
    /// Whether its time is that of other steps too.
    pub overlaps: bool,
}

/// One operation that ended.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// When it was to start; equal to `started` where nothing was intended.
    pub due_ns: u64,
    /// When it was sent.
    pub started_ns: u64,
    /// When it was answered or given up.
    pub ended_ns: u64,
    /// Our own share before it was sent.
    pub processing_ns: u64,
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// What it ended with.
    pub end: End,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// With the right answer.
    Right,
    /// With an answer that makes it a failure.
    Wrong(Failure),
    /// Without an answer.
    Unanswered(Failure),
}

impl End {
    /// The failure, if it is one.
    pub const fn failure(self) -> Option<Failure> {
        match self {
            Self::Right => None,
            Self::Wrong(failure) | Self::Unanswered(failure) => Some(failure),
        }
    }
}

/// One step's recorder.
#[derive(Debug)]
pub struct Recorder {
    /// Operations that ended.
    pub count: u64,
    /// Failed ones by kind.
    pub failures: Vec<(Failure, u64)>,
    pub bytes_out: u64,
    pub bytes_in: u64,
    /// Our own share before requests were sent, summed.
    pub processing_ns: u64,
    /// Sent to answered.
    pub service: Histogram<u64>,
    /// Sent to given up.
    pub censored: Histogram<u64>,
    /// The clocks that start at the intended start; `None` where that is the actual one.
    pub open: Option<OpenTimes>,
}

/// Times counted from the intended start of each operation of an open schedule.
#[derive(Debug)]
pub struct OpenTimes {
    /// Intended start to answered.
    pub latency: Histogram<u64>,
    /// Intended start to sent.
    pub lag: Histogram<u64>,
}

impl Recorder {
    fn new(open: bool) -> Result<Self, CreationError> {
        let open = if open { Some(OpenTimes { latency: histogram()?, lag: histogram()? }) } else { None };
        Ok(Self {
            count: 0,
            failures: Vec::new(),
            bytes_out: 0,
            bytes_in: 0,
            processing_ns: 0,
            service: histogram()?,
            censored: histogram()?,
            open,
        })
    }

    /// Takes an operation in.
    #[inline]
    pub fn record(&mut self, sample: &Sample) {
        self.count += 1;
        self.bytes_out += sample.bytes_out;
        self.bytes_in += sample.bytes_in;
        self.processing_ns += sample.processing_ns;
        let took = sample.ended_ns.saturating_sub(sample.started_ns);
        match sample.end {
            End::Unanswered(_) => self.censored.saturating_record(took),
            End::Right | End::Wrong(_) => self.record_answered(sample, took),
        }
        if let Some(failure) = sample.end.failure() {
            self.fail(failure, 1);
        }
    }

    #[inline]
    fn record_answered(&mut self, sample: &Sample, took: u64) {
        self.service.saturating_record(took);
        if let Some(open) = &mut self.open {
            open.latency.saturating_record(sample.ended_ns.saturating_sub(sample.due_ns));
            open.lag.saturating_record(sample.started_ns.saturating_sub(sample.due_ns));
        }
    }

    fn fail(&mut self, failure: Failure, n: u64) {
        // Kinds are few, and failures rarer than answers.
        match self.failures.iter_mut().find(|(kind, _)| *kind == failure) {
            Some((_, count)) => *count += n,
            None => self.failures.push((failure, n)),
        }
    }

    fn merge(&mut self, other: &Self) -> Result<(), AdditionError> {
        self.count += other.count;
        self.bytes_out += other.bytes_out;
        self.bytes_in += other.bytes_in;
        self.processing_ns += other.processing_ns;
        other.failures.iter().for_each(|&(failure, n)| self.fail(failure, n));
        self.service.add(&other.service)?;
        self.censored.add(&other.censored)?;
        if let (Some(mine), Some(theirs)) = (&mut self.open, &other.open) {
            mine.latency.add(&theirs.latency)?;
            mine.lag.add(&theirs.lag)?;
        }
        Ok(())
    }
}

/// A thread's recorders, one per slot.
#[derive(Debug)]
pub struct Recorders(Vec<Recorder>);

impl Recorders {
    /// Empty recorders for all labels.
    pub fn new(labels: &[Label]) -> Result<Self, CreationError> {
        labels.iter().map(|label| Recorder::new(label.open)).collect::<Result<_, _>>().map(Self)
    }

    /// No recorders, for a thread that records no more.
    pub(crate) const fn none() -> Self {
        Self(Vec::new())
    }

    /// Adds another thread's, slot by slot and exactly.
    pub fn merge(&mut self, other: &Self) -> Result<(), AdditionError> {
        self.0.iter_mut().zip(&other.0).try_for_each(|(mine, theirs)| mine.merge(theirs))
    }

    /// The recorders in the order of their labels.
    pub fn into_vec(self) -> Vec<Recorder> {
        self.0
    }
}

impl Index<Slot> for Recorders {
    type Output = Recorder;

    #[inline]
    fn index(&self, slot: Slot) -> &Recorder {
        &self.0[usize::from(slot.0)]
    }
}

impl IndexMut<Slot> for Recorders {
    #[inline]
    fn index_mut(&mut self, slot: Slot) -> &mut Recorder {
        &mut self.0[usize::from(slot.0)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SAMPLE: Sample = Sample {
        due_ns: 100,
        started_ns: 150,
        ended_ns: 400,
        processing_ns: 20,
        bytes_out: 3,
        bytes_in: 5,
        end: End::Right,
    };

    fn labels(open: bool) -> Vec<Label> {
        vec![Label { program: "p".into(), step: "s".into(), open, overlaps: false }]
    }

    fn recorders(open: bool) -> Recorders {
        Recorders::new(&labels(open)).unwrap()
    }

    #[test]
    fn the_three_clocks_start_where_they_should() {
        let mut recorders = recorders(true);
        recorders[Slot(0)].record(&SAMPLE);
        let recorder = &recorders[Slot(0)];
        let open = recorder.open.as_ref().unwrap();
        assert_eq!((recorder.service.max(), open.latency.max(), open.lag.max()), (250, 300, 50));
    }

    #[test]
    fn wrong_answers_are_timed_and_missing_ones_censored() {
        let mut recorders = recorders(false);
        let recorder = &mut recorders[Slot(0)];
        recorder.record(&SAMPLE);
        recorder.record(&Sample { end: End::Wrong(Failure::WrongAnswer), ..SAMPLE });
        recorder.record(&Sample { end: End::Unanswered(Failure::Timeout), ..SAMPLE });
        assert_eq!((recorder.count, recorder.service.len(), recorder.censored.len()), (3, 2, 1));
        assert_eq!(recorder.failures, [(Failure::WrongAnswer, 1), (Failure::Timeout, 1)]);
        assert_eq!((recorder.bytes_out, recorder.bytes_in, recorder.processing_ns), (9, 15, 60));
    }

    #[test]
    fn three_digits_up_to_an_hour_and_longer_counts_as_an_hour() {
        let mut recorders = recorders(false);
        let recorder = &mut recorders[Slot(0)];
        for took in [1, 999, 123_456, 59_999_999_999, LONGEST_NS * 2] {
            recorder.record(&Sample { started_ns: 0, ended_ns: took, ..SAMPLE });
        }
        assert_eq!(recorder.service.len(), 5);
        let max = recorder.service.max() as f64 / LONGEST_NS as f64;
        assert!((0.999..1.001).contains(&max), "{max}");
        let second = recorder.service.value_at_quantile(0.6) as f64;
        assert!((second / 123_456.0 - 1.0).abs() < 0.001, "{second}");
    }

    proptest! {
        /// However samples are spread over threads, their recorders' sum is one recorder's, to the bucket.
        #[test]
        fn threads_together_hold_what_one_recorder_would(
            samples in prop::collection::vec((0usize..4, 0..LONGEST_NS * 2, 0..SECOND, 0u8..3), 0..100)
        ) {
            let (mut threads, mut one) = ([(); 4].map(|()| recorders(true)), recorders(true));
            for (thread, took, late, end) in samples {
                let end = [End::Right, End::Wrong(Failure::WrongAnswer), End::Unanswered(Failure::Timeout)]
                    [usize::from(end)];
                let sample = Sample { due_ns: 0, started_ns: late, ended_ns: late + took, end, ..SAMPLE };
                threads[thread][Slot(0)].record(&sample);
                one[Slot(0)].record(&sample);
            }
            let mut merged = recorders(true);
            for thread in &threads {
                merged.merge(thread).unwrap();
            }
            let (merged, one) = (&mut merged[Slot(0)], &mut one[Slot(0)]);
            prop_assert_eq!(&merged.service, &one.service);
            prop_assert_eq!(&merged.censored, &one.censored);
            let (all, alone) = (merged.open.as_ref().unwrap(), one.open.as_ref().unwrap());
            prop_assert_eq!(&all.latency, &alone.latency);
            prop_assert_eq!(&all.lag, &alone.lag);
            merged.failures.sort_by_key(|&(failure, _)| failure.label());
            one.failures.sort_by_key(|&(failure, _)| failure.label());
            prop_assert_eq!(&merged.failures, &one.failures);
            prop_assert_eq!((merged.count, merged.processing_ns), (one.count, one.processing_ns));
        }
    }

    #[test]
    fn merging_adds_everything_up() {
        let (mut one, mut two) = (recorders(true), recorders(true));
        one[Slot(0)].record(&SAMPLE);
        one[Slot(0)].record(&Sample { end: End::Wrong(Failure::Result("busy")), ..SAMPLE });
        two[Slot(0)].record(&Sample { end: End::Wrong(Failure::Result("busy")), ..SAMPLE });
        two[Slot(0)].record(&Sample { end: End::Unanswered(Failure::Reset), ..SAMPLE });
        one.merge(&two).unwrap();
        let merged = &one[Slot(0)];
        assert_eq!((merged.count, merged.service.len(), merged.censored.len()), (4, 3, 1));
        assert_eq!(merged.failures, [(Failure::Result("busy"), 2), (Failure::Reset, 1)]);
        assert_eq!(merged.open.as_ref().unwrap().lag.len(), 3);
    }
}
