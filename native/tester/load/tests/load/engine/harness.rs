//! Starting engines, and adding up their reports.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use load::{Clock, Counter, Engine, Snapshot, StartError, Tables};
use people::{DEFAULT_BASE, Passwords, Pools, Population, Profile, Spec};
use serde_json::{Value, json};

const POOLS: &str = include_str!("../../../../../shared/people/tests/data/three.pools");

pub fn people(profile: Profile, size: u64) -> Arc<Population> {
    let locales = ["en_US", "ru_RU", "ja_JP"].map(str::to_owned).to_vec();
    let spec = Spec {
        seed: 1997,
        size,
        profile,
        locales,
        base: DEFAULT_BASE.to_owned(),
        passwords: Passwords::default(),
    };
    Arc::new(Population::new(&Pools::parse(POOLS).unwrap(), spec).unwrap())
}

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
    "connection.main.per = 'step'\n[[operation]]\nname = 'p'\nstep = [{ name = 'bind', bind = '' }]";

/// The data sets that steps refer to.
const PEOPLE: [(&str, &str); 2] = [("person", "people = 'seeded'"), ("newcomer", "people = 'new'")];

/// A configuration for a target with one scenario called `p`.
pub fn config(target: SocketAddr, text: &str) -> Value {
    json!({
        "target": {"host": target.ip().to_string(), "port": target.port(), "base": DEFAULT_BASE},
        "scenarios": [{"name": "p", "text": text}]
    })
}

/// A configuration for a target with one scenario called `mix` without people of the population.
pub fn mix(target: SocketAddr, text: &str) -> Value {
    json!({
        "target": {"host": target.ip().to_string(), "port": target.port(), "base": "o=x"},
        "scenarios": [{"name": "mix", "text": text}]
    })
}

/// A file of one operation over an anonymous connection with the lifetime `per`.
fn anonymous(per: &str, steps: &str) -> String {
    // An inline table must be on one line.
    let steps = steps.replace('\n', " ");
    let named = PEOPLE.iter().filter(|(name, _)| steps.contains(name));
    let data: String = named.map(|(name, rows)| format!("data.{name}.{rows}\n")).collect();
    format!(
        "connection.main = {{ per = {per}, bind = '' }}\n{data}[[operation]]\nname = 'p'\nstep = [{steps}]"
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

pub fn start(config: &Value, people: Option<&Arc<Population>>) -> Engine {
    try_start(config, people).unwrap_or_else(|error| panic!("{error}"))
}

pub fn try_start(config: &Value, people: Option<&Arc<Population>>) -> Result<Engine, StartError> {
    Engine::start(serde_json::from_value(config.clone()).unwrap(), people.cloned(), None, &Tables::new())
}

/// Runs `lanes` lanes for `ms` milliseconds; on a busy machine until every lane could complete some steps, or
/// an opening step failed.
pub fn run(config: &Value, people: Option<&Arc<Population>>, lanes: u64, ms: u64) -> Totals {
    let mut engine = start(config, people);
    engine.start_lanes("p", lanes).unwrap();
    std::thread::sleep(Duration::from_millis(ms));
    let mut totals = Totals::default();
    totals.add(engine.drain().unwrap());
    let begun = Instant::now();
    let is_opening = |step: &str| ["connect", "bind"].contains(&step);
    while totals.steps.iter().all(|(step, total)| total.count < 5 * lanes || is_opening(step))
        && ["connect", "bind", "sequence"].iter().all(|step| totals.failed(step) == 0)
        && begun.elapsed() < Duration::from_secs(5)
    {
        std::thread::sleep(Duration::from_millis(5));
        totals.add(engine.drain().unwrap());
    }
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    totals
}

/// Waits until the condition holds, at most ten seconds.
pub fn eventually(mut happened: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while !happened() && begun.elapsed() < Duration::from_secs(30) {
        std::thread::sleep(Duration::from_millis(5));
    }
    happened()
}

pub fn run_until(engine: &mut Engine, totals: &mut Totals, done: impl Fn(&Totals) -> bool) {
    let begun = Instant::now();
    while !done(totals) {
        assert!(begun.elapsed() < Duration::from_secs(30), "not done after half a minute: {totals:?}");
        std::thread::sleep(Duration::from_millis(5));
        totals.add(engine.drain().unwrap());
    }
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

    /// Little's law holds to the rounding of histograms, at most a thousandth.
    pub fn assert_accounted(&self) {
        let share = self.accounted();
        assert!((share - 1.0).abs() < 0.001, "{share} of the lanes' time is accounted for: {self:?}");
    }

    /// The lane time that the clocks recorded, divided by the lane time that passed.
    fn accounted(&self) -> f64 {
        let steps = self.steps.iter().filter(|(_, total)| !total.overlaps);
        let clocks = steps.map(|(_, total)| {
            let counted = [Counter::Failed, Counter::Processing].map(|counter| total.counter(counter));
            sum_ns(total.clock(Clock::Service)) + counted.iter().sum::<u64>() as f64
        });
        let rest = (self.waiting_ns + self.underway_ns) as f64;
        (clocks.sum::<f64>() + rest) / self.lane_ns as f64
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
