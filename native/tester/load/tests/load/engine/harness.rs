//! Steps of scenarios, and the results of engines.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use load::{Clock, Counter, Engine, Snapshot, StepSnapshot};

pub use crate::job::people;

/// A lookup whose answer must be right to the last value.
pub const LOOKUP: &str =
    "{ name = 'lookup', search = '(&(objectClass=RTPerson)(cn={person.cn}))', expect.entry = 'person' }";

/// Adds the next of the people that the run adds.
pub const ADD: &str = "{ add = '{newcomer.dn}', entry = 'newcomer' }";

/// Deletes the added person.
pub const DELETE: &str = "{ delete = '{newcomer.dn}' }";

/// Lists all people by name.
pub const RETRIEVE: &str = "{ name = 'retrieve', search = '(objectClass=RTPerson)',
    expect = { result = ['success', 'sizeLimitExceeded'], every = 'person', entries = 'all' } }";

/// Connect, bind, unbind.
pub const CYCLE: &str =
    "connection.main.per = 'step'\n[[operation]]\nname = 'mix'\nstep = [{ name = 'bind', bind = '' }]";

/// The data sets that steps refer to.
const PEOPLE: [(&str, &str); 2] = [("person", "people = 'seeded'"), ("newcomer", "people = 'new'")];

/// A file of one operation over an anonymous connection with the lifetime `per`.
fn anonymous(per: &str, steps: &str) -> String {
    // An inline table must be on one line.
    let steps = steps.replace('\n', " ");
    let named = PEOPLE.iter().filter(|(name, _)| steps.contains(name));
    let data: String = named.map(|(name, rows)| format!("data.{name}.{rows}\n")).collect();
    format!(
        "connection.main = {{ per = {per}, bind = '' }}\n{data}[[operation]]\nname = 'mix'\nstep = [{steps}]"
    )
}

/// Connect, bind, the given steps `times` times, unbind.
pub fn session(times: u64, steps: &[&str]) -> String {
    anonymous("'iteration'", &format!("{{ repeat = {times}, step = [{}] }}", steps.join(", ")))
}

/// A session of one repeated step, which is the counted step.
pub fn counted(times: u64, step: &str) -> String {
    anonymous(&times.to_string(), step)
}

pub fn lookups(times: u64) -> String {
    counted(times, LOOKUP)
}

/// Waits until the condition holds, at most half a minute.
pub fn eventually(mut happened: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !happened() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    happened()
}

/// Starts or stops a random number of lanes in each turn, and drains the engine; returns all results and the
/// number of running lanes.
pub fn start_and_stop(engine: &mut Engine, turns: u64, longest_turn: Duration) -> (Totals, u64) {
    let (mut totals, mut running, mut rng) = (Totals::default(), 0, fastrand::Rng::with_seed(3));
    for _ in 0..turns {
        if running == 0 || rng.bool() {
            let more = rng.u64(1..9);
            engine.start_lanes("mix", more).unwrap();
            running += more;
        } else {
            let fewer = rng.u64(1..=running);
            engine.stop_lanes("mix", fewer).unwrap();
            running -= fewer;
        }
        std::thread::sleep(longest_turn.mul_f64(rng.f64()));
        totals.add(engine.drain().unwrap());
    }
    (totals, running)
}

pub fn run_until(engine: &mut Engine, totals: &mut Totals, done: impl Fn(&Totals) -> bool) {
    let begun = Instant::now();
    while !done(totals) {
        assert!(begun.elapsed() < Duration::from_secs(30), "not done after half a minute: {totals:?}");
        std::thread::sleep(Duration::from_millis(5));
        totals.add(engine.drain().unwrap());
    }
}

/// The text that a function writes, such as the name of a person.
pub fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    String::from_utf8(out).unwrap()
}

/// The count and the failures of a row.
pub fn row(snapshots: &[Snapshot], program: &str, step: &str) -> (u64, Vec<(String, u64)>) {
    let rows = rows(snapshots).filter(|row| &*row.program == program && &*row.step == step);
    let count = rows.clone().map(|row| row.count).sum();
    (count, rows.flat_map(|row| row.failures.iter().cloned()).collect())
}

fn rows(snapshots: &[Snapshot]) -> impl Iterator<Item = &StepSnapshot> + Clone {
    snapshots.iter().flat_map(|snapshot| [&snapshot.steps, &snapshot.late, &snapshot.older]).flatten()
}

/// The failures of all rows.
pub fn failures(snapshots: &[Snapshot]) -> Vec<(String, u64)> {
    rows(snapshots).flat_map(|row| row.failures.iter().cloned()).collect()
}

/// The texts of all examples of failures.
pub fn examples(snapshots: &[Snapshot]) -> Vec<String> {
    let steps = snapshots.iter().flat_map(|snapshot| &snapshot.steps);
    steps.flat_map(|step| &step.examples).map(|(_, text)| text.clone()).collect()
}

/// The sum of snapshots.
#[derive(Debug, Default)]
pub struct Totals {
    pub steps: BTreeMap<String, Total>,
    pub backlog: u64,
    pub in_flight: u64,
    pub lanes: u64,
    pub lane_ns: u64,
    pub waiting_ns: u64,
    pub underway_ns: u64,
    pub lane_counts: Vec<u64>,
    /// The time of the last snapshot.
    pub end_ns: u64,
}

pub struct Total {
    pub overlaps: bool,
    pub count: u64,
    pub failures: BTreeMap<String, u64>,
    pub examples: BTreeMap<String, String>,
    /// Whether the step's operations have intended starts.
    pub open: bool,
    counters: [u64; Counter::COUNT],
    clocks: [Histogram<u64>; Clock::COUNT],
}

impl Total {
    pub fn clock(&self, clock: Clock) -> &Histogram<u64> {
        &self.clocks[clock.index()]
    }

    pub fn counter(&self, counter: Counter) -> u64 {
        self.counters[counter.index()]
    }
}

impl std::fmt::Debug for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} with {:?}", self.count, self.failures)
    }
}

impl Default for Total {
    fn default() -> Self {
        Self {
            overlaps: false,
            count: 0,
            failures: BTreeMap::new(),
            examples: BTreeMap::new(),
            open: false,
            counters: [0; Counter::COUNT],
            clocks: Clock::ALL.map(|_| load::histogram().unwrap()),
        }
    }
}

impl Totals {
    pub fn add(&mut self, snapshot: Snapshot) {
        assert!(snapshot.t0_ns <= snapshot.t1_ns);
        self.backlog = snapshot.backlog;
        self.in_flight = snapshot.in_flight;
        self.lanes = snapshot.lanes;
        self.lane_ns += snapshot.lane_ns;
        self.waiting_ns += snapshot.waiting_ns;
        self.underway_ns = snapshot.underway_ns;
        self.end_ns = snapshot.t1_ns;
        self.lane_counts.resize(self.lane_counts.len().max(snapshot.lane_counts.len()), 0);
        self.lane_counts.iter_mut().zip(snapshot.lane_counts).for_each(|(sum, n)| *sum += n);
        for step in [snapshot.steps, snapshot.late, snapshot.older].into_iter().flatten() {
            let total = self.steps.entry(step.step.to_string()).or_default();
            total.overlaps = step.overlaps;
            total.count += step.count;
            total.open = step.open;
            for counter in Counter::ALL {
                total.counters[counter.index()] += step.counter(counter);
            }
            step.failures.iter().for_each(|(kind, n)| *total.failures.entry(kind.clone()).or_default() += n);
            for (kind, text) in &step.examples {
                total.examples.entry(kind.clone()).or_insert_with(|| text.clone());
            }
            let ended = [Clock::Service, Clock::Wrong, Clock::Censored].map(|clock| step.clock(clock).len());
            assert_eq!(step.count, ended.iter().sum::<u64>(), "{}", step.step);
            for clock in Clock::ALL {
                total.clocks[clock.index()].add(step.clock(clock)).unwrap();
            }
        }
    }

    /// Adds the results of the engine up to its stop.
    pub fn stop(mut self, engine: &mut Engine) -> Self {
        self.add(engine.stop(Duration::from_secs(5)).unwrap());
        self
    }

    /// Ends a window, whose later results count as late; returns its end and the number of owed results.
    pub fn cut(&mut self, engine: &mut Engine) -> (u64, u64) {
        let snapshot = engine.cut().unwrap();
        let (end_ns, owed) = (snapshot.t1_ns, snapshot.owed);
        self.add(Snapshot { late: Vec::new(), older: Vec::new(), ..snapshot });
        (end_ns, owed)
    }

    /// Adds the late results of a window.
    pub fn add_late(&mut self, snapshot: Snapshot) {
        self.add(Snapshot { steps: Vec::new(), older: Vec::new(), ..snapshot });
    }

    /// Adds late results of a window until none is owed, and stops the engine.
    pub fn finish(&mut self, engine: &mut Engine) {
        let mut owed = 1;
        assert!(eventually(|| {
            let snapshot = engine.drain().unwrap();
            owed = snapshot.owed;
            self.add_late(snapshot);
            owed == 0
        }));
        self.add_late(engine.stop(Duration::from_secs(5)).unwrap());
    }

    /// Runs a ramp and then a window of `ms` milliseconds; returns the window with its late results, and the
    /// number of arrivals that were due in it.
    pub fn of_window(engine: &mut Engine, ms: u64, is_ramped: impl Fn(&Self) -> bool) -> (Self, u64) {
        let (mut ramp, mut window) = (Self::default(), Self::default());
        run_until(engine, &mut ramp, is_ramped);
        let (start_ns, _) = ramp.cut(engine);
        std::thread::sleep(Duration::from_millis(ms));
        let (end_ns, _) = window.cut(engine);
        let due = engine.pace().map_or(0, |pace| pace.first_at(end_ns) - pace.first_at(start_ns));
        window.finish(engine);
        (window, due)
    }

    /// Little's law holds to the rounding of histograms, at most a thousandth.
    pub fn assert_accounted(&self) {
        let steps = self.steps.iter().filter(|(_, total)| !total.overlaps);
        let clocks = steps.map(|(_, total)| {
            let counted = [Counter::Failed, Counter::Processing].map(|counter| total.counter(counter));
            sum_ns(total.clock(Clock::Service)) + counted.iter().sum::<u64>() as f64
        });
        let rest = (self.waiting_ns + self.underway_ns) as f64;
        let share = (clocks.sum::<f64>() + rest) / self.lane_ns as f64;
        assert!((share - 1.0).abs() < 0.001, "{share} of the lanes' time is accounted for: {self:?}");
    }

    pub fn count(&self, step: &str) -> u64 {
        self.steps.get(step).map_or(0, |total| total.count)
    }

    pub fn failed(&self, step: &str) -> u64 {
        self.steps.get(step).map_or(0, |total| total.failures.values().sum())
    }

    /// All failures of all steps, by kind.
    pub fn kinds(&self) -> Vec<&str> {
        let steps = self.steps.iter().filter(|(step, _)| *step != "sequence");
        let mut kinds: Vec<_> =
            steps.flat_map(|(_, total)| total.failures.keys().map(String::as_str)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds
    }

    pub fn of(&self, step: &str) -> &Total {
        self.steps.get(step).unwrap_or_else(|| panic!("no step {step} in {self:?}"))
    }
}

pub fn sum_ns(histogram: &Histogram<u64>) -> f64 {
    histogram.mean() * histogram.len() as f64
}
