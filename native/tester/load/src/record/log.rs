//! The log of requests and answers, to explain failures.
//!
//! Each thread keeps the first requests of a window until the next drain; later requests are not logged.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::{Map, Value, json};
use wire::calendar::date_of;

use crate::record::failure::Failure;
use crate::record::recorder::{Label, Slot};
use crate::record::report::Report;

/// The configuration of the log.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogSpec {
    /// The most requests per thread and window.
    most: usize,
    /// Whether all requests are logged, not only the first failure of each operation.
    #[serde(default)]
    all: bool,
}

/// A request that ended.
#[derive(Debug)]
pub(crate) struct Entry {
    slot: Slot,
    pub(crate) unix_ms: u128,
    took_ns: u64,
    failure: Option<Failure>,
    report: Report,
}

#[derive(Debug, Default)]
pub(crate) struct Log {
    spec: LogSpec,
    left: usize,
    entries: Vec<Entry>,
}

impl Log {
    pub(crate) const fn new(spec: LogSpec) -> Self {
        Self { spec, left: spec.most, entries: Vec::new() }
    }

    /// Whether right answers are logged, too.
    pub(crate) const fn takes_all(&self) -> bool {
        self.spec.all
    }

    /// Whether the end of a request is to be logged; `has_failed` is set after an earlier failure in its
    /// operation.
    pub(crate) const fn takes(&self, failure: Option<Failure>, has_failed: bool) -> bool {
        self.left > 0 && (self.spec.all || failure.is_some() && !has_failed)
    }

    pub(crate) fn keep(&mut self, slot: Slot, failure: Option<Failure>, took_ns: u64, report: Report) {
        self.left = self.left.saturating_sub(1);
        let unix_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        self.entries.push(Entry { slot, unix_ms, took_ns, failure, report });
    }

    /// Begins another window.
    pub(crate) const fn cut(&mut self) {
        self.left = self.spec.most;
    }

    /// Removes and returns the entries since the last drain.
    pub(crate) fn take(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }
}

impl Entry {
    /// The entry as a line of JSON.
    pub(crate) fn line(self, labels: &[Label]) -> String {
        let label = &labels[usize::from(self.slot.0)];
        let Report { request, rest, answer, code, diagnostic, user, iteration, rows, captured } = self.report;
        let named = |pairs: Vec<(String, Value)>| Value::Object(pairs.into_iter().collect::<Map<_, _>>());
        json!({
            "time": time(self.unix_ms),
            "user": user,
            "iteration": iteration,
            "operation": &*label.program,
            "step": &*label.step,
            "kind": self.failure.map(Failure::label),
            "code": code,
            "diagnostic": diagnostic,
            "asked": request,
            "rest": rest,
            "said": answer,
            "rows": named(rows.into_iter().map(|(name, row)| (name, json!(row))).collect()),
            "captured": named(captured.into_iter().map(|(name, value)| (name, json!(value))).collect()),
            "ms": self.took_ns as f64 / 1e6,
        })
        .to_string()
    }
}

/// Formats a time by RFC 3339, in UTC, to the millisecond.
fn time(unix_ms: u128) -> String {
    let (seconds, ms) = ((unix_ms / 1_000) as i64, unix_ms % 1_000);
    let (year, month, day) = date_of(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: Option<Failure> = Some(Failure::Timeout);

    #[test]
    fn the_first_failure_of_each_operation_is_logged_up_to_a_maximum() {
        let mut log = Log::new(LogSpec { most: 2, all: false });
        assert!(!log.takes(None, false) && !log.takes(FAILED, true));
        for _ in 0..2 {
            assert!(log.takes(FAILED, false));
            log.keep(Slot(0), FAILED, 1, Report::default());
        }
        assert!(!log.takes(FAILED, false));
        assert_eq!((log.take().len(), log.take().len()), (2, 0));
        // Taking entries makes no room for further entries in the same window. A new window has room.
        assert!(!log.takes(FAILED, false));
        log.cut();
        assert!(log.takes(FAILED, false));
        assert!(!Log::default().takes(FAILED, false));
    }

    #[test]
    fn a_line_of_the_failure_log_shows_operation_step_rows_and_time() {
        let label = Label { program: "mix".into(), step: "search".into(), open: false, overlaps: false };
        let report = Report { rows: vec![("person".into(), 7)], user: Some(3), ..Report::default() };
        // `date -u -d @1709210096` prints this time.
        let entry =
            Entry { slot: Slot(0), unix_ms: 1_709_210_096_012, took_ns: 1_500_000, failure: FAILED, report };
        let line: Value = serde_json::from_str(&entry.line(&[label])).unwrap();
        assert_eq!(line["time"], "2024-02-29T12:34:56.012Z");
        assert_eq!(
            (&line["operation"], &line["step"], &line["kind"]),
            (&json!("mix"), &json!("search"), &json!("timeout"))
        );
        assert_eq!(
            (&line["rows"], &line["user"], &line["ms"]),
            (&json!({"person": 7}), &json!(3), &json!(1.5))
        );
    }
}
