//! Compiles the specifications of programs to the operations that lanes run.

use std::sync::Arc;

use super::spec::{Branch, MAIN, Operation, PoolSpec, ProgramSpec, Step};
use super::{NOT_BEGUN, SEQUENCE};
use crate::choose::schedule::Think;
use crate::fill::Preparation;
use crate::record::recorder::{Label, Slot};

#[derive(Debug)]
pub(crate) enum Op<R> {
    Connect {
        slot: Slot,
        endpoint: usize,
    },
    Close(Slot),
    Loop {
        counter: usize,
        times: u64,
    },
    /// A loop with one round per value of a list; `to` is the op after the loop.
    Each {
        counter: usize,
        list: usize,
        to: usize,
    },
    Again {
        counter: usize,
        first: usize,
    },
    Think(Think),
    /// Opens a connection, unless a connection to this endpoint is open.
    Ensure {
        slot: Slot,
        endpoint: usize,
    },
    /// Deals a card and jumps to its branch.
    Deal {
        deck: usize,
        firsts: Box<[usize]>,
    },
    Jump(usize),
    /// Makes another connection the current one.
    Switch(usize),
    /// Counts an operation over the connection, and closes the connection after `times` operations.
    Used {
        times: u64,
        slot: Slot,
    },
    /// Skips the steps that open the connection, if the connection is up.
    SkipIfUp(usize),
    /// Skips the steps that open the connection, unless this side has closed it.
    SkipUnlessClosed(usize),
    /// Skips the steps of a lane's first pass in later passes.
    SkipIfBegun(usize),
    /// Marks the end of the steps of a lane's first pass.
    Begun,
    /// Begins an operation, recorded in `slot`; `counted` is `slot` or the slot of one of its steps.
    Begin {
        slot: Slot,
        counted: Slot,
    },
    Done,
    /// Waits for an arrival of the open schedule.
    Await,
    /// Draws rows and values for the following steps.
    Prepare(Preparation),
    Exchange {
        slot: Slot,
        request: R,
    },
    /// A request over a shared connection.
    Share {
        share: Share,
        request: R,
    },
    /// Waits until a connection of the pool is open.
    AwaitPool(usize),
    /// Carries the requests of other lanes over this lane's connection.
    Serve,
}

/// The recorders of a request over a shared connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) pool: usize,
    pub(crate) slot: Slot,
    /// The recorder of the wait for a place.
    pub(crate) wait: Slot,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connects {
    Steps,
    /// Before each request, unless a connection is open.
    WhenDown,
    /// Each request opens its own connection.
    Always,
}

/// Names of result rows of shared connections: waits for a place, and unsolicited answers.
const WAIT: &str = "wait";
const UNASKED: &str = "unasked";

/// The recorder of connections that are opened without a step of their own.
const CONNECT: &str = "connect";

/// The names of that recorder in programs with operations, by endpoint.
const MAIN_CONNECT: &str = "main: connect";
const SECURE_CONNECT: &str = "secure: connect";

/// The recorders of the phases of requests, in the order of [`PHASES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Phases {
    /// From the start of connecting to the sending of the request.
    pub(crate) connecting: Slot,
    /// The TLS handshake of new connections.
    pub(crate) handshake: Slot,
    /// From sending a request to the first byte of its answer.
    pub(crate) first_byte: Slot,
    /// From the start of connecting, or of sending on a kept connection, to the last byte.
    pub(crate) request: Slot,
}

/// The names of the phases, which are reserved: no step may have one.
pub(crate) const PHASES: [&str; 4] = ["connecting", "handshake", "first byte", "request"];

#[derive(Debug)]
pub(crate) struct Program<R> {
    pub(crate) ops: Box<[Op<R>]>,
    /// The recorder of passes (in a program without operations), and of arrivals that no lane has taken.
    pub(crate) sequence: Slot,
    /// Whether a whole pass is one operation. Otherwise [`Op::Begin`] marks the beginning of operations.
    pub(crate) is_whole: bool,
    /// The number of connections of a lane.
    pub(crate) connections: usize,
    /// The pools that its lanes use.
    pub(crate) pools: Box<[usize]>,
    /// The pool of which this program opens and holds a connection.
    pub(crate) serves: Option<usize>,
    /// Connections that a pass leaves open for the next pass. The next pass first opens the connections that
    /// are down.
    pub(crate) kept: Box<[usize]>,
    /// The recorder of the counted step, or of `sequence` for a whole pass. In a program with operations each
    /// operation has its own.
    pub(crate) counted: Slot,
    /// On an open schedule, the recorder of arrivals that no lane has taken.
    pub(crate) arrives: Option<Slot>,
    /// The minimum think time of the rest of an operation, by program counter.
    pub(crate) pauses_ns: Box<[u64]>,
    pub(crate) counters: usize,
    pub(crate) phases: Option<Phases>,
}

impl<R> Program<R> {
    /// Whether recorded times include think times: only if the pass is the counted operation.
    pub(crate) fn times_pauses(&self) -> bool {
        self.is_whole && self.counted == self.sequence
    }

    /// The request at a place of the program, and its recorder.
    pub(crate) fn request_at(&self, pc: usize) -> Option<(Slot, &R)> {
        match self.ops.get(pc)? {
            Op::Exchange { slot, request } => Some((*slot, request)),
            Op::Share { share, request } => Some((share.slot, request)),
            _ => None,
        }
    }

    /// Whether a place of the program is within the steps that a user performs once.
    pub(crate) fn is_start(&self, pc: usize) -> bool {
        self.ops.iter().take(pc).any(|op| matches!(op, Op::SkipIfBegun(to) if *to > pc))
    }

    /// The innermost repeat around a place of the program: its counter, and the place of its [`Op::Again`].
    pub(crate) fn repeat_around(&self, pc: usize) -> Option<(usize, usize)> {
        let ends = self.ops.iter().enumerate().skip(pc);
        let mut around = ends.filter_map(|(end, op)| match op {
            Op::Again { counter, first } if *first <= pc => Some((*counter, end)),
            _ => None,
        });
        around.next()
    }
}

/// Connections that lanes share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolPlan {
    /// The program of the carriers, the lanes that hold the connections.
    pub(crate) program: usize,
    pub(crate) connections: Option<u32>,
    pub(crate) places: u8,
    /// The recorder of unsolicited answers.
    pub(crate) unsolicited: Slot,
}

/// The rules for compiling programs with requests `R`.
pub(crate) struct Rules<R> {
    pub(crate) open: bool,
    pub(crate) connects: Connects,
    pub(crate) endpoint: fn(&R) -> usize,
    pub(crate) phases: bool,
}

/// The compiled programs, with a label per recorder.
pub(crate) struct Compiled<R> {
    pub(crate) programs: Vec<Program<R>>,
    pub(crate) labels: Vec<Label>,
    /// For each deck, the number of cards of each branch.
    pub(crate) decks: Vec<Box<[u64]>>,
    pub(crate) pools: Vec<PoolPlan>,
}

impl<R> Compiled<R> {
    /// Whether any program takes people to add.
    pub(crate) fn takes_people(&self) -> bool {
        let mut ops = self.programs.iter().flat_map(|program| &program.ops);
        ops.any(|op| matches!(op, Op::Prepare(Preparation { takes: true, .. })))
    }

    pub(crate) fn requests(&self) -> impl Iterator<Item = &R> {
        self.programs.iter().flat_map(|program| &program.ops).filter_map(|op| match op {
            Op::Exchange { request, .. } | Op::Share { request, .. } => Some(request),
            _ => None,
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    #[error("no scenario: give at least one under \"scenarios\"")]
    NoPrograms,
    #[error("two programs are called {0:?}: give each a name of its own")]
    DuplicateProgram(String),
    #[error("more than 65,536 steps in all programs together: use \"repeat\"")]
    TooManySteps,
}

pub(crate) fn compile<R>(specs: Vec<ProgramSpec<R>>, rules: Rules<R>) -> Result<Compiled<R>, ProgramError> {
    if specs.is_empty() {
        return Err(ProgramError::NoPrograms);
    }
    let names: Vec<_> = specs.iter().map(|spec| spec.name.clone()).collect();
    let (programs, labels, decks, pools) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut compiled = Compiled { programs, labels, decks, pools };
    let mut carriers = Vec::new();
    for (spec, name) in specs.into_iter().zip(&names) {
        if names[..compiled.programs.len()].contains(name) {
            return Err(ProgramError::DuplicateProgram(name.clone()));
        }
        let program = Compiler::new(&spec, &rules, &mut compiled, &mut carriers).compile(spec);
        compiled.programs.push(program);
    }
    // The programs of shared connections come after the programs of users.
    let Compiled { programs, pools, .. } = &mut compiled;
    pools.iter_mut().for_each(|pool| pool.program += programs.len());
    programs.append(&mut carriers);
    if compiled.labels.len() > usize::from(u16::MAX) {
        return Err(ProgramError::TooManySteps);
    }
    Ok(compiled)
}

#[derive(Debug, Clone)]
struct Scope {
    name: Arc<str>,
    counts: Option<String>,
}

struct Compiler<'a, R> {
    program: Arc<str>,
    rules: &'a Rules<R>,
    /// The output so far, including earlier programs.
    compiled: &'a mut Compiled<R>,
    /// The programs of shared connections.
    carriers: &'a mut Vec<Program<R>>,
    ops: Vec<Op<R>>,
    /// The label of new recorders, and the counted step.
    scope: Scope,
    /// Whether the program already waits for the next operation's arrival.
    awaited: bool,
    has_operations: bool,
    first_slot: usize,
    counters: usize,
    connections: usize,
    active: usize,
    kept: Vec<usize>,
    first_pool: usize,
    pools: Vec<String>,
    /// The pool that carries the requests; `None` for requests over the lane's own connection.
    over: Option<usize>,
}

impl<'a, R> Compiler<'a, R> {
    fn new(
        spec: &ProgramSpec<R>,
        rules: &'a Rules<R>,
        compiled: &'a mut Compiled<R>,
        carriers: &'a mut Vec<Program<R>>,
    ) -> Self {
        let program: Arc<str> = spec.name.as_str().into();
        Self {
            rules,
            ops: Vec::new(),
            // In a program with operations each operation names its counted step.
            scope: Scope {
                name: program.clone(),
                counts: spec.counts.clone().or_else(|| Some(NOT_BEGUN.to_owned())),
            },
            program,
            awaited: false,
            has_operations: spec.counts.is_none(),
            first_slot: compiled.labels.len(),
            counters: 0,
            connections: 1,
            active: 0,
            kept: Vec::new(),
            first_pool: compiled.pools.len(),
            compiled,
            carriers,
            pools: spec.pools.iter().map(|pool| pool.name.clone()).collect(),
            over: None,
        }
    }

    fn compile(mut self, spec: ProgramSpec<R>) -> Program<R> {
        let ProgramSpec { counts, steps: mut kept, arrives_whole, pools: pool_specs, .. } = spec;
        let sequence = self.recorder(if self.has_operations { NOT_BEGUN } else { SEQUENCE });
        self.scope.counts.clone_from(&counts);
        // If a step is counted, opening a kept connection is not part of the pass.
        let is_first = |step: &&Step<R>| matches!(step, Step::Prepare(_) | Step::WhenDown { .. });
        let first = kept.iter().take_while(is_first).count();
        let counts_step = counts.as_deref().is_some_and(|counts| counts != SEQUENCE);
        let opens = |step: &Step<R>| counts_step && matches!(step, Step::WhenDown { .. });
        let own = kept.split_off(kept[..first].iter().rposition(opens).map_or(0, |at| at + 1));
        self.steps(kept, 0);
        if counts.as_ref().is_some_and(|step| arrives_whole || step == SEQUENCE || has_step(&own, step)) {
            self.await_arrival();
        }
        self.steps(own, 0);
        let counted = counts.map_or(sequence, |step| self.recorder(&step));
        let ops = std::mem::take(&mut self.ops);
        pool_specs.into_iter().for_each(|pool| self.pool(pool, sequence));
        self.ops = ops;
        let program = self.scope.name.clone();
        let phases = self.rules.phases.then(|| {
            let [connecting, handshake, first_byte, request] = PHASES.map(|name| {
                let (program, step) = (program.clone(), name.into());
                self.compiled.labels.push(Label { program, step, open: false, overlaps: true });
                slot(self.compiled.labels.len() - 1)
            });
            Phases { connecting, handshake, first_byte, request }
        });
        Program {
            connections: self.connections,
            pools: (self.first_pool..self.compiled.pools.len()).collect(),
            serves: None,
            kept: self.kept.into(),
            pauses_ns: pauses_ns(&self.ops),
            ops: self.ops.into(),
            sequence,
            is_whole: !self.has_operations,
            counted,
            arrives: self.rules.open.then_some(counted),
            counters: self.counters,
            phases,
        }
    }

    /// Adds a pool, and the program of its carriers.
    fn pool(&mut self, pool: PoolSpec<R>, sequence: Slot) {
        self.over = None;
        self.steps(pool.steps, 0);
        self.ops.push(Op::Serve);
        let unsolicited = self.recorder(&format!("{}: {UNASKED}", pool.name));
        let (connections, places) = (pool.connections, pool.places);
        self.compiled.pools.push(PoolPlan { program: self.carriers.len(), connections, places, unsolicited });
        self.carriers.push(Program {
            ops: std::mem::take(&mut self.ops).into(),
            sequence,
            is_whole: false,
            connections: 1,
            pools: Box::default(),
            serves: Some(self.compiled.pools.len() - 1),
            kept: Box::default(),
            counted: sequence,
            arrives: None,
            pauses_ns: Box::default(),
            counters: 0,
            phases: None,
        });
    }

    fn steps(&mut self, steps: Vec<Step<R>>, depth: usize) {
        self.counters = self.counters.max(depth);
        steps.into_iter().for_each(|step| self.step(step, depth));
    }

    fn step(&mut self, step: Step<R>, depth: usize) {
        match step {
            Step::Connect { name, endpoint } => {
                let slot = self.counted(&name);
                self.ops.push(Op::Connect { slot, endpoint });
            }
            Step::Switch(to) => {
                self.connections = self.connections.max(to + 1);
                self.active = to;
                self.ops.push(Op::Switch(to));
            }
            Step::Over(pool) => self.over = pool,
            Step::AwaitPool(pool) => self.ops.push(Op::AwaitPool(self.first_pool + pool)),
            Step::Used { name, times } => {
                let slot = self.recorder(&name);
                self.ops.push(Op::Used { times, slot });
            }
            Step::Close { name } => {
                let slot = self.counted(&name);
                self.ops.push(Op::Close(slot));
            }
            Step::Repeat { times, steps } => self.repeat(times, steps, depth),
            Step::Each { list, steps } => self.each(list, steps, depth),
            Step::Deck { branches } => self.deck(branches, depth),
            Step::Think(think) => self.ops.push(Op::Think(think)),
            Step::WhenDown { steps } => {
                if !self.kept.contains(&self.active) {
                    self.kept.push(self.active);
                }
                let skip = self.skip();
                self.steps(steps, depth);
                self.ops[skip] = Op::SkipIfUp(self.ops.len());
            }
            Step::WhenClosed { steps } => {
                let skip = self.skip();
                self.steps(steps, depth);
                self.ops[skip] = Op::SkipUnlessClosed(self.ops.len());
            }
            Step::Once { name, steps } => {
                let skip = self.skip();
                let outer = self.enter(name.as_str().into(), None);
                self.steps(steps, depth);
                self.scope = outer;
                self.ops.push(Op::Begun);
                self.ops[skip] = Op::SkipIfBegun(self.ops.len());
            }
            Step::Prepare(preparation) => self.ops.push(Op::Prepare(preparation)),
            Step::Operation(operation) => self.operation(operation, depth),
            Step::Request { name, request } => {
                let slot = self.counted(&name);
                if let Some(pool) = self.over {
                    let wait = self.recorder(&format!("{}: {WAIT}", self.pools[pool]));
                    let share = Share { pool: self.first_pool + pool, slot, wait };
                    self.ops.push(Op::Share { share, request });
                } else {
                    self.connect_for_request((self.rules.endpoint)(&request));
                    self.ops.push(Op::Exchange { slot, request });
                }
            }
        }
    }

    /// Reserves the place of a skip, whose target is known once the skipped steps are compiled.
    fn skip(&mut self) -> usize {
        self.ops.push(Op::Begun);
        self.ops.len() - 1
    }

    fn enter(&mut self, name: Arc<str>, counts: Option<String>) -> Scope {
        std::mem::replace(&mut self.scope, Scope { name, counts })
    }

    fn operation(&mut self, operation: Operation<R>, depth: usize) {
        let Operation { name, counts, steps } = operation;
        let outer = self.enter(name.as_str().into(), Some(counts.clone()));
        let slot = self.recorder(SEQUENCE);
        let awaited = self.awaited;
        self.await_arrival();
        let begin = self.ops.len();
        self.ops.push(Op::Begin { slot, counted: slot });
        self.steps(steps, depth);
        self.awaited = awaited;
        self.ops.push(Op::Done);
        // The op is replaced after the steps are compiled, so that recorders are in the order of the steps.
        self.ops[begin] = Op::Begin { slot, counted: self.recorder(&counts) };
        self.scope = outer;
    }

    fn repeat(&mut self, times: u64, steps: Vec<Step<R>>, depth: usize) {
        // Loops on the same level never run at the same time and share their counter.
        self.ops.push(Op::Loop { counter: depth, times });
        let first = self.ops.len();
        let awaited = self.awaited;
        if self.scope.counts.as_ref().is_some_and(|counts| has_step(&steps, counts)) {
            self.await_arrival();
        }
        self.steps(steps, depth + 1);
        self.awaited = awaited;
        self.ops.push(Op::Again { counter: depth, first });
    }

    fn each(&mut self, list: usize, steps: Vec<Step<R>>, depth: usize) {
        let skip = self.skip();
        let first = self.ops.len();
        self.steps(steps, depth + 1);
        self.ops.push(Op::Again { counter: depth, first });
        self.ops[skip] = Op::Each { counter: depth, list, to: self.ops.len() };
    }

    fn connect_for_request(&mut self, endpoint: usize) {
        if self.rules.connects != Connects::Steps {
            let slot = if self.has_operations {
                // A connection belongs to the user, so its opening is recorded under the program's
                // name, not the operation's.
                let name = if endpoint == MAIN { MAIN_CONNECT } else { SECURE_CONNECT };
                let outer = self.enter(self.program.clone(), None);
                let slot = self.recorder(name);
                self.scope = outer;
                slot
            } else {
                self.counted(CONNECT)
            };
            let always = self.rules.connects == Connects::Always;
            self.ops.push(if always {
                Op::Connect { slot, endpoint }
            } else {
                Op::Ensure { slot, endpoint }
            });
        }
    }

    fn deck(&mut self, branches: Vec<Branch<R>>, depth: usize) {
        let awaited = self.awaited;
        // The lane waits for the arrival before a card is dealt, so no lane waits with a dealt card.
        if branches.iter().all(|branch| matches!(branch.steps.first(), Some(Step::Operation(_)))) {
            self.await_arrival();
        }
        let weights = branches.iter().map(|branch| branch.weight).collect();
        let deck = self.compiled.decks.len();
        self.compiled.decks.push(weights);
        let deal = self.ops.len();
        self.ops.push(Op::Deal { deck, firsts: Box::default() });
        let (mut firsts, mut jumps) = (Vec::new(), Vec::new());
        for branch in branches {
            firsts.push(self.ops.len());
            self.steps(branch.steps, depth);
            jumps.push(self.ops.len());
            self.ops.push(Op::Jump(0));
        }
        self.awaited = awaited;
        let to = self.ops.len();
        jumps.into_iter().for_each(|jump| self.ops[jump] = Op::Jump(to));
        self.ops[deal] = Op::Deal { deck, firsts: firsts.into() };
    }

    /// Adds [`Op::Await`], unless the program already waits for the arrival.
    fn await_arrival(&mut self) {
        if self.rules.open && !self.awaited {
            self.ops.push(Op::Await);
            self.awaited = true;
        }
    }

    /// The recorder of the step `name`. The counted step is preceded by [`Op::Await`].
    fn counted(&mut self, name: &str) -> Slot {
        if self.rules.open && self.scope.counts.as_deref() == Some(name) && !self.awaited {
            self.ops.push(Op::Await);
        }
        self.recorder(name)
    }

    /// The recorder of a step of the current operation.
    fn recorder(&mut self, step: &str) -> Slot {
        let Scope { name, counts } = &self.scope;
        let open = self.rules.open && counts.as_deref() == Some(step);
        let labels = &mut self.compiled.labels;
        let same = |label: &Label| label.program == *name && *label.step == *step;
        let place = labels[self.first_slot..].iter().position(same).unwrap_or_else(|| {
            let (program, overlaps) = (name.clone(), step == SEQUENCE);
            labels.push(Label { program, step: step.into(), open, overlaps });
            labels.len() - 1 - self.first_slot
        });
        // An operation may have the same name as its program. Then operation and program share this recorder.
        labels[self.first_slot + place].open |= open;
        slot(self.first_slot + place)
    }
}

/// Whether one of these steps has this name. Steps of repeats do not count: each repeat awaits its arrivals itself.
fn has_step<R>(steps: &[Step<R>], name: &str) -> bool {
    steps.iter().any(|step| match step {
        Step::Deck { branches } => branches.iter().any(|branch| has_step(&branch.steps, name)),
        Step::Connect { name: own, .. }
        | Step::Close { name: own }
        | Step::Used { name: own, .. }
        | Step::Request { name: own, .. } => own == name,
        _ => false,
    })
}

/// The minimum think time of the rest of an operation, by place: the sum of constant think times, without repeats.
fn pauses_ns<R>(ops: &[Op<R>]) -> Box<[u64]> {
    let mut rest_ns = 0_u64;
    let mut pauses_ns = vec![0; ops.len()];
    for (pause_ns, op) in pauses_ns.iter_mut().zip(ops).rev() {
        match op {
            Op::Done => rest_ns = 0,
            Op::Think(Think::Constant { ns }) => rest_ns = rest_ns.saturating_add(*ns),
            _ => {}
        }
        *pause_ns = rest_ns;
    }
    pauses_ns.into()
}

/// Saturates: [`compile`] refuses programs with too many recorders.
fn slot(place: usize) -> Slot {
    Slot(u16::try_from(place).unwrap_or(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    type TestStep = Step<&'static str>;

    fn rules(open: bool, connects: Connects) -> Rules<&'static str> {
        Rules { open, connects, endpoint: |_| MAIN, phases: false }
    }

    fn spec(counts: Option<&str>, steps: Vec<TestStep>) -> ProgramSpec<&'static str> {
        let (name, counts) = ("p".to_owned(), counts.map(str::to_owned));
        ProgramSpec { name, counts, steps, arrives_whole: false, pools: Vec::new() }
    }

    fn compile_one(
        counts: Option<&str>,
        steps: Vec<TestStep>,
        open: bool,
    ) -> Result<Compiled<&'static str>, ProgramError> {
        compile(vec![spec(counts, steps)], rules(open, Connects::Steps))
    }

    fn shape(program: &Program<&'static str>) -> String {
        let op = |op: &Op<&str>| match op {
            Op::Connect { slot, .. } => format!("connect{}", slot.0),
            Op::Close(slot) => format!("close{}", slot.0),
            Op::Loop { counter, times } => format!("loop{counter}x{times}"),
            Op::Each { counter, list, to } => format!("each{counter}{list}->{to}"),
            Op::Again { counter, first } => format!("again{counter}->{first}"),
            Op::Think(_) => "think".into(),
            Op::Switch(to) => format!("switch{to}"),
            Op::Used { times, slot } => format!("used{times}x{}", slot.0),
            Op::SkipIfUp(to) => format!("up->{to}"),
            Op::Share { share, request } => format!("share{}{request}{}", share.pool, share.slot.0),
            Op::AwaitPool(pool) => format!("pool{pool}"),
            Op::Serve => "serve".into(),
            Op::SkipUnlessClosed(to) => format!("closed->{to}"),
            Op::SkipIfBegun(to) => format!("begun->{to}"),
            Op::Begun => "begun".into(),
            Op::Begin { slot, .. } => format!("begin{}", slot.0),
            Op::Done => "done".into(),
            Op::Await => "await".into(),
            Op::Ensure { slot, .. } => format!("ensure{}", slot.0),
            Op::Deal { deck, firsts } => format!("deal{deck}{firsts:?}"),
            Op::Jump(to) => format!("jump{to}"),
            Op::Prepare(_) => "draw".into(),
            Op::Exchange { slot, request } => format!("{request}{}", slot.0),
        };
        program.ops.iter().map(op).collect::<Vec<_>>().join(" ")
    }

    fn connect() -> TestStep {
        Step::Connect { name: "connect".into(), endpoint: MAIN }
    }

    fn draw() -> TestStep {
        Step::Prepare(Preparation { script: 0, takes: false, draws: Vec::new() })
    }

    fn ask(name: &str) -> TestStep {
        Step::Request { name: name.into(), request: "r" }
    }

    fn repeat(times: u64, steps: Vec<TestStep>) -> TestStep {
        Step::Repeat { times, steps }
    }

    #[test]
    fn repeats_compile_to_nested_jumps() {
        let rounds = repeat(2, vec![ask("ask"), repeat(3, vec![ask("ask")])]);
        let close = Step::Close { name: "unbind".into() };
        let compiled = compile_one(Some("ask"), vec![connect(), rounds, close], false).unwrap();
        let expected = "connect1 loop0x2 r2 loop1x3 r2 again1->4 again0->2 close3";
        assert_eq!(shape(&compiled.programs[0]), expected);
        assert_eq!(compiled.programs[0].counters, 2);
        let names: Vec<_> = compiled.labels.iter().map(|label| &*label.step).collect();
        assert_eq!(names, ["sequence", "connect", "ask", "unbind"]);
    }

    #[test]
    fn no_step_is_sent_before_the_arrival() {
        let compiled = compile_one(Some("b"), vec![connect(), ask("a"), ask("b")], true).unwrap();
        assert_eq!(shape(&compiled.programs[0]), "await connect1 r2 r3");
        let open: Vec<_> = compiled.labels.iter().map(|label| label.open).collect();
        assert_eq!(open, [false, false, false, true]);
        let compiled = compile_one(Some("sequence"), vec![connect(), ask("a")], true).unwrap();
        assert_eq!(shape(&compiled.programs[0]), "await connect1 r2");
        assert!(compiled.labels[0].open);
        // A connection for several operations is opened before the first of their arrivals.
        let steps = || vec![connect(), repeat(9, vec![ask("a"), ask("b")])];
        let compiled = compile_one(Some("b"), steps(), true).unwrap();
        assert_eq!(shape(&compiled.programs[0]), "connect1 loop0x9 await r2 r3 again0->2");
        let whole = ProgramSpec { arrives_whole: true, ..spec(Some("b"), steps()) };
        let compiled = compile(vec![whole], rules(true, Connects::Steps)).unwrap();
        assert_eq!(shape(&compiled.programs[0]), "await connect1 loop0x9 r2 r3 again0->3");
    }

    #[test]
    fn decks_compile_to_jumps_and_their_steps_share_recorders() {
        let deck = |branches: Vec<(u64, Vec<_>)>| {
            let branches = branches.into_iter().map(|(weight, steps)| Branch { weight, steps }).collect();
            vec![connect(), Step::Deck { branches }]
        };
        let steps = deck(vec![(9, vec![ask("ask")]), (1, vec![draw(), ask("ask")])]);
        let compiled = compile_one(None, steps, false).unwrap();
        assert_eq!(shape(&compiled.programs[0]), "connect1 deal0[2, 4] r2 jump7 draw r2 jump7");
        assert_eq!(&compiled.decks[0][..], [9, 1]);
    }

    fn operation(name: &str, counts: &str) -> TestStep {
        let steps = vec![draw(), ask("ask")];
        Step::Operation(Operation { name: name.into(), counts: counts.into(), steps })
    }

    #[test]
    fn each_operation_has_its_own_recorders() {
        let open_link = || Step::WhenDown { steps: vec![connect()] };
        let branch = |operation| Branch { weight: 1, steps: vec![operation] };
        let deck = |a, b| Step::Deck { branches: vec![branch(operation("a", a)), branch(operation("b", b))] };
        // An arrival begins one operation, whatever card is dealt. The lane waits for the arrival before the
        // deal.
        for counts in ["sequence", "ask"] {
            let compiled = compile_one(None, vec![open_link(), deck(counts, "sequence")], true).unwrap();
            let shape = shape(&compiled.programs[0]);
            let expected =
                "up->2 connect1 await deal0[4, 9] begin2 draw r3 done jump14 begin4 draw r5 done jump14";
            assert_eq!(shape, expected, "{counts}");
            assert!(!compiled.programs[0].is_whole);
        }
        let compiled = compile_one(None, vec![open_link(), operation("p", "ask")], true).unwrap();
        assert_eq!(shape(&compiled.programs[0]), "up->2 connect1 await begin2 draw r3 done");
        let names: Vec<_> = compiled.labels.iter().map(|label| (&*label.step, label.open)).collect();
        // Arrivals that no lane takes have their own row, even if an operation has the name of the program.
        assert_eq!(names, [("not begun", true), ("connect", false), ("sequence", false), ("ask", true)]);
        let once = Step::Once { name: "start".into(), steps: vec![draw()] };
        let compiled = compile_one(None, vec![open_link(), once, operation("a", "sequence")], false).unwrap();
        assert_eq!(shape(&compiled.programs[0]), "up->2 connect1 begun->5 draw begun begin2 draw r3 done");
    }

    #[test]
    fn an_operation_awaits_one_arrival_whichever_step_it_counts() {
        let think = |ns| Step::Think(Think::Constant { ns });
        let rounds = Step::Repeat { times: 4, steps: vec![ask("ask"), think(10)] };
        let steps = vec![ask("find"), think(300), rounds, ask("ask")];
        let steps =
            vec![Step::Operation(Operation { name: "a".into(), counts: "ask".into(), steps }), think(5)];
        let compiled = compile_one(None, steps, true).unwrap();
        let program = &compiled.programs[0];
        assert_eq!(shape(program), "await begin1 r2 think loop0x4 r3 think again0->5 r3 done think");
        assert!(matches!(program.ops[1], Op::Begin { slot: Slot(1), counted: Slot(3) }));
        assert_eq!(&program.pauses_ns[..], [310, 310, 310, 310, 10, 10, 10, 0, 0, 0, 5]);
    }

    #[test]
    fn a_program_may_have_several_connections() {
        let open_link =
            || Step::WhenDown { steps: vec![Step::Connect { name: "connect".into(), endpoint: 2 }] };
        let used = Step::Used { name: "close".into(), times: 3 };
        let steps = vec![open_link(), Step::Switch(1), open_link(), operation("a", "sequence"), used];
        let program = &compile_one(None, steps, false).unwrap().programs[0];
        assert_eq!(shape(program), "up->2 connect1 switch1 up->5 connect1 begin2 draw r3 done used3x4");
        assert_eq!((program.connections, &program.kept[..]), (2, &[0, 1][..]));
        let alone =
            &compile_one(None, vec![open_link(), operation("a", "sequence")], false).unwrap().programs[0];
        assert_eq!((alone.connections, &alone.kept[..]), (1, &[0][..]));
    }

    #[test]
    fn requests_can_open_their_own_connections() {
        let shape_with = |connects| {
            let specs = vec![spec(Some("ask"), vec![ask("ask")])];
            shape(&compile(specs, rules(true, connects)).unwrap().programs[0])
        };
        assert_eq!(shape_with(Connects::WhenDown), "await ensure2 r1");
        assert_eq!(shape_with(Connects::Always), "await connect2 r1");
    }

    #[test]
    fn programs_do_not_share_recorders() {
        let first = spec(Some("ask"), vec![connect(), ask("ask")]);
        let second = ProgramSpec { name: "q".into(), ..spec(Some("ask"), vec![connect(), ask("ask")]) };
        let compiled = compile(vec![first, second], rules(false, Connects::Steps)).unwrap();
        assert_eq!(shape(&compiled.programs[1]), "connect4 r5");
        assert_eq!(compiled.programs[1].sequence, Slot(3));
        assert_eq!(&*compiled.labels[4].program, "q");
    }

    #[test]
    fn programs_that_cannot_run_are_refused_with_the_reason() {
        let twice = vec![spec(None, vec![connect()]), spec(None, vec![connect()])];
        assert!(matches!(
            compile(twice, rules(false, Connects::Steps)),
            Err(ProgramError::DuplicateProgram(_))
        ));
        let none = compile::<&str>(Vec::new(), rules(false, Connects::Steps));
        assert!(matches!(none, Err(ProgramError::NoPrograms)));
    }
}
