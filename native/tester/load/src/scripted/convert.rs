//! Converts a scenario to a program.

use std::collections::HashMap;
use std::sync::Arc;

use scenario::{
    Block, Connection, Data, Encoding, Field, Lifetime, Part, Problems, Protocol, Rows, Scenario, Step,
    Template, Times, Verb,
};

use super::Script;
use crate::choose::deal::Sharer;
use crate::choose::schedule::Think;
use crate::compile_error::{CompileError, Result};
use crate::config::KeysConfig;
use crate::fill::{DataSources, Draw, Inputs, People, Plan, Preparation, Tables};
use crate::program::{self, Branch, Connects, MAIN, Operation, PoolSpec, ProgramSpec, SEQUENCE};
use crate::scenario_spec::ScenarioSpec;

/// Compiles the steps of scenarios to requests of a protocol.
pub(crate) trait Lower {
    type Request;
    const PROTOCOL: Protocol;
    /// The name of the result row for closing a connection.
    const CLOSE: &'static str;
    /// Whether users may share connections.
    const SHARES: bool = false;

    /// The base of a file that names none.
    fn base(&self) -> &str {
        ""
    }

    /// `None` if a scenario is only checked: then any column of people is accepted.
    fn people(&self) -> Option<Arc<dyn People>>;

    fn connects(&self) -> Connects {
        Connects::Steps
    }

    fn endpoint(&self, connection: &Connection) -> Result<usize>;

    /// The endpoint of a request that opens its connection itself.
    fn endpoint_of(_request: &Self::Request) -> usize {
        MAIN
    }

    /// Whether the phases of requests are recorded.
    fn records_phases(&self) -> bool {
        false
    }

    /// Moves the draws into the request; returns them if the protocol does not support that.
    fn prepared(&self, preparation: Preparation, _request: &mut Self::Request) -> Option<Preparation> {
        Some(preparation)
    }

    /// A request that precedes a step, with the name of its result row.
    fn before(&self, _place: &Place<'_>, _step: &Step) -> Result<Option<(&'static str, Self::Request)>> {
        Ok(None)
    }

    /// The requests of a step. One of the requests is sent; all have the same probability.
    fn requests(&self, place: &Place<'_>, step: &Step) -> Result<Vec<Self::Request>>;

    /// The program of a scenario whose operations are classes of requests.
    fn whole(&self, _place: &Place<'_>) -> Result<Option<ProgramSpec<Self::Request>>> {
        Ok(None)
    }

    fn check(&self, _scenario: &Scenario) -> Result<()> {
        Ok(())
    }

    /// The first request on a new connection, with the name of its result row.
    fn greeting(
        &self,
        _place: &Place<'_>,
        _connection: &Connection,
    ) -> Result<Option<(&'static str, Self::Request)>> {
        Ok(None)
    }
}

/// The context of a step.
pub(crate) struct Place<'p> {
    /// The index of the scenario in the engine.
    pub(crate) script: usize,
    pub(crate) spec: &'p ScenarioSpec,
    pub(crate) scenario: &'p Scenario,
    pub(crate) plan: &'p Plan,
    pub(crate) block: &'p Block,
}

pub(crate) type Steps<S> = Vec<program::Step<S>>;

/// A year: sums of a few pauses and clock times do not overflow.
const LONGEST_PAUSE_NS: u64 = 366 * 86_400 * 1_000_000_000;

/// The most engines that share data.
const MOST_ENGINES: u64 = 1_000_000;

/// The name of the result row for opening a connection.
const CONNECT: &str = "connect";

/// The operation in the result rows of `[start]`.
const START: &str = "start";

/// Makes the program of the scenario with this number in the engine.
pub(crate) fn convert<L: Lower>(
    lower: &L,
    spec: &ScenarioSpec,
    number: usize,
    tables: &Tables,
    keys: KeysConfig,
    threads: usize,
) -> Result<(ProgramSpec<L::Request>, Script), Problems> {
    let owns = L::PROTOCOL == Protocol::Http;
    let sources = DataSources { tables: spec.own(tables), people: lower.people(), keys: keys.choice, owns };
    let columns = |data: &Data| sources.tables.get(&data.name).map(|table| table.columns().to_vec());
    let scenario = scenario::read_with(&spec.text, &columns)?;
    convert_scenario(lower, (spec, &scenario), number, &sources, (threads, keys.seed))
        .map_err(|error| error.in_file(&spec.text))
}

fn convert_scenario<L: Lower>(
    lower: &L,
    (spec, scenario): (&ScenarioSpec, &Scenario),
    number: usize,
    sources: &DataSources,
    (threads, seed): (usize, u64),
) -> Result<(ProgramSpec<L::Request>, Script)> {
    if scenario.protocol != L::PROTOCOL {
        let (spoken, other) = match scenario.protocol {
            Protocol::Ldap => ("LDAP", "HTTP"),
            Protocol::Http => ("HTTP", "LDAP"),
        };
        return Err(format!("speaks {spoken}, and the target {other}").into());
    }
    lower.check(scenario)?;
    let sharer = Sharer { index: spec.worker, of: spec.of.max(1), threads: threads as u64 };
    // Rows are numbered over all threads of all engines.
    if sharer.index >= sharer.of
        || sharer.of > MOST_ENGINES
        || sharer.of.checked_mul(sharer.threads).is_none()
    {
        return Err(format!(
            "engine {} of {} has no share: number them from 0, 1,000,000 at most",
            spec.worker, spec.of
        )
        .into());
    }
    let hides_base = spec.base.is_none()
        && scenario
            .base
            .as_ref()
            .is_some_and(|base| base.fields().any(|field| matches!(field, Field::Env(_))));
    let base = match (&spec.base, &scenario.base) {
        (Some(base), _) => base.clone(),
        (None, Some(own)) => with_env(own, &spec.env)?,
        (None, None) => lower.base().to_owned(),
    };
    let decoded = |(path, text): (&String, &String)| {
        let bytes = Encoding::Base64.decode(text.as_bytes());
        bytes.map(|bytes| (path.clone(), bytes)).ok_or_else(|| format!("{path:?} is not in base64"))
    };
    let files = spec.files.iter().map(decoded).collect::<Result<_, _>>()?;
    let inputs = Inputs { base, hides_base, env: spec.env.clone(), files };
    let plan = Plan::new(scenario, inputs, sources, sharer, seed)?;
    let (shared, connections) =
        connections_of(scenario, spec).into_iter().partition(|connection| connection.is_shared());
    let mut converting =
        Converting { lower, spec, number, scenario, connections, shared, pass: None, plan: &plan };
    converting.pass = converting.as_pass();
    let program = match (lower.whole(&converting.place(&Block::default()))?, &converting.pass) {
        (Some(program), _) => program,
        (None, Some(pass)) => converting.pass(pass)?,
        (None, None) => {
            let pools = converting.pools(threads)?;
            let (name, steps) = (spec.name.clone(), converting.steps()?);
            ProgramSpec { name, counts: None, steps, arrives_whole: false, pools }
        }
    };
    Ok((program, Script { plan: Arc::new(plan), sharer }))
}

#[derive(Clone, Copy)]
struct Pass<'c> {
    number: usize,
    operation: &'c scenario::Operation,
    connection: &'c Connection,
}

impl Pass<'_> {
    /// The name of a step's result row. A step that is the whole operation has the operation's
    /// name.
    fn row<'s>(&'s self, step: &'s str) -> &'s str {
        if self.operation.is_step { &self.operation.name } else { step }
    }
}

struct Converting<'c, L> {
    lower: &'c L,
    spec: &'c ScenarioSpec,
    number: usize,
    scenario: &'c Scenario,
    /// The connections of one user, by place.
    connections: Vec<&'c Connection>,
    shared: Vec<&'c Connection>,
    pass: Option<Pass<'c>>,
    plan: &'c Plan,
}

impl<'c, L: Lower> Converting<'c, L> {
    /// The scenario's only operation, if its passes are its operations, with result rows under the
    /// scenario's name.
    ///
    /// The operation needs one connection that lasts for a pass, data that do not run out (people only), and
    /// no step that may be skipped. An operation without data on a connection that outlives passes is not a
    /// pass.
    fn as_pass(&self) -> Option<Pass<'c>> {
        let mut chosen = self.spec.chosen(self.scenario);
        let (Some((number, operation)), None) = (chosen.next(), chosen.next()) else { return None };
        let ([connection], []) = (&self.connections[..], &self.shared[..]) else { return None };
        let is_people = |data: &Data| matches!(data.rows, Rows::Seeded | Rows::New) && data.deal.is_none();
        let steps = scenario::flat(&operation.steps);
        let is_done = |step: &&Step| {
            step.captures.is_empty()
                && !matches!(step.verb, Verb::Unbind { .. } | Verb::Repeat { times: Times::Each(_), .. })
        };
        let pass = Pass { number, operation, connection };
        let lasts = connection.lives == Lifetime::Iteration || is_request(&operation.steps);
        let is_pass = L::PROTOCOL == Protocol::Ldap
            && self.scenario.start.is_empty()
            && self.scenario.data.iter().all(is_people)
            && (connection.lives != Lifetime::User || !self.scenario.data.is_empty())
            && steps.iter().all(is_done)
            // Result rows of steps must not have the names of the connection's result rows.
            && !steps.iter().any(|step| [CONNECT, L::CLOSE, SEQUENCE].contains(&pass.row(&step.name)))
            && lasts;
        is_pass.then_some(pass)
    }

    /// The program of an operation that is a pass.
    fn pass(&self, pass: &Pass<'c>) -> Result<ProgramSpec<L::Request>> {
        let Pass { number, operation, connection } = *pass;
        let block = Block { operation: Some(number), repeats: Vec::new() };
        let scale = self.spec.scale(self.scenario, operation);
        let mut draws = vec![Draw::Iteration];
        draws.extend(self.plan.draws(&block));
        let mut own = self.head(&block, draws);
        own.extend(self.iteration(&block, &operation.steps, scale)?);
        own = self.prepared(own);
        own.extend((self.spec.think_ms > 0.0).then(|| think(self.spec.think_ms / 1e3, false)));
        let arrives_whole = matches!(connection.lives, Lifetime::Iteration | Lifetime::Step);
        let mut steps = vec![self.prepare(false, self.plan.of_user())];
        match connection.lives {
            Lifetime::Operations(times) => {
                steps.extend(self.open(connection, &block)?);
                steps.push(program::Step::Repeat { times: u64::from(times), steps: own });
                steps.push(program::Step::Close { name: self.closing(connection) });
            }
            Lifetime::User => {
                steps.push(program::Step::WhenDown { steps: self.open(connection, &block)? });
                steps.extend(own);
            }
            _ => steps.extend(own),
        }
        let counts = self.scenario.counted(operation).map_or(SEQUENCE, |step| pass.row(step)).to_owned();
        let name = self.spec.name.clone();
        Ok(ProgramSpec { name, counts: Some(counts), steps, arrives_whole, pools: Vec::new() })
    }

    fn steps(&self) -> Result<Steps<L::Request>> {
        let mut branches = Vec::new();
        for (number, operation) in self.spec.chosen(self.scenario) {
            let block = Block { operation: Some(number), repeats: Vec::new() };
            let scale = self.spec.scale(self.scenario, operation);
            let mut steps = self.iteration(&block, &operation.steps, scale)?;
            let mut draws = vec![Draw::Iteration];
            draws.extend(self.plan.draws(&block));
            steps.splice(..0, self.head(&block, draws));
            let given_back = self.plan.given_back(block.operation);
            if !given_back.is_empty() {
                steps.push(self.prepare(false, given_back));
            }
            let counts = self.scenario.counted(operation).unwrap_or(SEQUENCE).to_owned();
            let operation_steps = Operation { name: operation.name.clone(), counts, steps };
            let mut steps = vec![program::Step::Operation(operation_steps)];
            if self.spec.think_ms > 0.0 {
                steps.push(think(self.spec.think_ms / 1e3, false));
            }
            for (connection, times) in self.counted(&operation.steps) {
                steps.extend(self.switch_to(connection));
                steps.push(program::Step::Used { name: self.closing(connection), times });
            }
            branches.push(Branch { weight: operation.weight, steps });
        }
        if branches.is_empty() {
            let named = self.spec.operation.as_deref().unwrap_or_default();
            return Err(format!("has no operation {named:?}").into());
        }
        let once = self.start()?;
        let deck = match &mut branches[..] {
            [only] => std::mem::take(&mut only.steps),
            _ => vec![program::Step::Deck { branches }],
        };
        let mut steps = vec![self.prepare(false, self.plan.of_user())];
        for connection in &self.connections {
            if matches!(connection.lives, Lifetime::User | Lifetime::Operations(_)) {
                steps.extend(self.switch_to(connection));
                steps.push(program::Step::WhenDown { steps: self.open(connection, &Block::default())? });
            }
        }
        steps.extend((0..self.shared.len()).map(program::Step::AwaitPool));
        steps.extend(once);
        steps.extend(deck);
        Ok(steps)
    }

    /// The connections that users share.
    fn pools(&self, threads: usize) -> Result<Vec<PoolSpec<L::Request>>> {
        let of = |connection: &&Connection| {
            let Connection { name, lives, outstanding, bind, password, .. } = connection;
            let wrong = |message: String| Err(CompileError::from(message).at(["connection", name]));
            if !L::SHARES {
                return wrong("a connection that users share (pool) is read, but not run yet".to_owned());
            }
            let connections = if let Lifetime::Pool(connections) = lives { Some(*connections) } else { None };
            if let Some(fewer) = connections.filter(|all| (*all as usize) < threads) {
                return wrong(format!(
                    "a pool of {fewer} cannot be divided among {threads} threads: \
                     make it larger, or run with --threads {fewer}"
                ));
            }
            let mut fields = [bind, password].into_iter().flatten().flat_map(Template::fields);
            if let Some(field) = fields.find(|field| matches!(field, Field::Name(_))) {
                return wrong(format!(
                    "{field} is a user's, and all users share this connection: write what it stands for"
                ));
            }
            // The preparation draws nothing, but it sets the scenario that the protocol needs to encode
            // requests.
            let mut steps = vec![self.prepare(false, Vec::new())];
            steps.extend(self.open(connection, &Block::default())?);
            Ok(PoolSpec { name: name.clone(), connections, places: *outstanding, steps })
        };
        self.shared.iter().map(of).collect()
    }

    /// The steps that a user performs once.
    fn start(&self) -> Result<Option<program::Step<L::Request>>> {
        if self.scenario.start.is_empty() {
            return Ok(None);
        }
        if self.scenario.operations.iter().any(|operation| operation.name == START) {
            return Err(
                format!("has an operation {START:?}, which is what [start] has its rows under").into()
            );
        }
        let block = Block::default();
        let mut steps = self.iteration(&block, &self.scenario.start, 1.0)?;
        steps.splice(..0, self.head(&block, self.plan.draws(&block)));
        Ok(Some(program::Step::Once { name: START.to_owned(), steps }))
    }

    /// Moves the draws into the request, if it is the only step after them.
    fn prepared(&self, mut steps: Steps<L::Request>) -> Steps<L::Request> {
        if let [program::Step::Prepare(_), program::Step::Request { .. }] = &steps[..]
            && let (Some(program::Step::Request { name, mut request }), Some(program::Step::Prepare(first))) =
                (steps.pop(), steps.pop())
        {
            let first = self.lower.prepared(first, &mut request);
            steps.extend(first.map(program::Step::Prepare));
            steps.push(program::Step::Request { name, request });
        }
        steps
    }

    fn prepare(&self, takes: bool, draws: Vec<Draw>) -> program::Step<L::Request> {
        program::Step::Prepare(Preparation { script: self.number, takes, draws })
    }

    /// The beginning of a block: takes a person to add if needed, and draws rows and values.
    fn head(&self, block: &Block, mut draws: Vec<Draw>) -> Steps<L::Request> {
        self.plan.wait_first(&mut draws);
        let takes = self.plan.takes(block);
        if draws.is_empty() && !takes { Vec::new() } else { vec![self.prepare(takes, draws)] }
    }

    /// All steps of an iteration, with the connections that are opened for it.
    fn iteration(&self, block: &Block, steps: &[Step], scale: f64) -> Result<Steps<L::Request>> {
        let mut out = Vec::new();
        let opened = self.connections.iter().filter(|connection| connection.lives == Lifetime::Iteration);
        // A connection is opened before the first step that uses it.
        let mut first: Vec<(usize, &Connection)> = opened
            .filter_map(|connection| {
                let first =
                    |is: fn(&Step, &str) -> bool| steps.iter().position(|step| is(step, &connection.name));
                // A connection that is closed and not used is opened before its close.
                Some((first(uses).or_else(|| first(closes))?, *connection))
            })
            .collect();
        first.sort_by_key(|(place, _)| *place);
        let mut rest = first.iter().peekable();
        for (number, step) in steps.iter().enumerate() {
            while let Some((_, connection)) = rest.next_if(|(place, _)| *place == number) {
                out.extend(self.switch_to(connection));
                out.extend(self.open(connection, block)?);
            }
            out.extend(self.step(block, number, step, scale)?);
        }
        for (_, connection) in first {
            out.extend(self.switch_to(connection));
            out.push(program::Step::Close { name: self.closing(connection) });
        }
        Ok(out)
    }

    /// Converts step `number` of a block. Think times are multiplied by `scale`.
    fn step(&self, block: &Block, number: usize, step: &Step, scale: f64) -> Result<Steps<L::Request>> {
        self.steps_of(block, number, step, scale).map_err(|error| error.at_step(block, number))
    }

    fn steps_of(&self, block: &Block, number: usize, step: &Step, scale: f64) -> Result<Steps<L::Request>> {
        let mut out = Vec::new();
        match &step.verb {
            Verb::Think { mean, constant } => {
                out.push(think(mean.as_secs_f64() * scale, *constant));
            }
            Verb::Unbind { connection: name } => {
                out.extend(self.switch_to(connection(self.scenario, name)?));
                out.push(program::Step::Close { name: step.name.clone() });
            }
            Verb::Repeat { times, steps: inner_steps } => {
                let mut inner = block.clone();
                inner.repeats.push(number);
                let list = match times {
                    Times::Each(name) => Some(self.plan.element(name, &inner)?),
                    Times::Number(_) => None,
                };
                let mut draws: Vec<_> =
                    list.iter().map(|&(list, place)| Draw::Element { list, place }).collect();
                draws.extend(self.plan.draws(&inner));
                draws.extend(self.plan.forgotten(scenario::captured(inner_steps), &inner));
                let mut steps = self.head(&inner, draws);
                for (number, step) in inner_steps.iter().enumerate() {
                    steps.extend(self.step(&inner, number, step, scale)?);
                }
                out.push(match (times, list) {
                    (Times::Number(times), _) => program::Step::Repeat { times: u64::from(*times), steps },
                    (_, list) => program::Step::Each { list: list.map_or(0, |(list, _)| list), steps },
                });
            }
            _ => {
                let requests = self.lower.requests(&self.place(block), step)?;
                let connection = connection(self.scenario, &step.on)?;
                out.extend(self.switch_to(connection));
                // If requests open connections, kept connections need no steps of their own.
                let connects = self.lower.connects();
                let is_kept = connects != Connects::Steps && self.spec.keepalive;
                let for_step = connection.lives == Lifetime::Step && connects != Connects::Always && !is_kept;
                if for_step {
                    out.extend(self.open(connection, block)?);
                } else if self.is_unbound(connection, block) {
                    out.push(program::Step::WhenClosed { steps: self.open(connection, block)? });
                }
                let row = self.pass.as_ref().map_or(step.name.as_str(), |pass| pass.row(&step.name));
                let before = self.lower.before(&self.place(block), step)?;
                out.extend(before.and_then(|(row, request)| one_of(row, vec![request])));
                out.extend(one_of(row, requests));
                if for_step {
                    out.push(program::Step::Close { name: self.closing(connection) });
                }
            }
        }
        Ok(out)
    }

    /// Switches to a connection, if there are several.
    fn switch_to(&self, connection: &Connection) -> Steps<L::Request> {
        let place = |all: &[&Connection]| all.iter().position(|other| other.name == connection.name);
        let over = (!self.shared.is_empty()).then(|| program::Step::Over(place(&self.shared)));
        let own = place(&self.connections).filter(|_| self.connections.len() > 1);
        over.into_iter().chain(own.map(program::Step::Switch)).collect()
    }

    /// The connections of these steps that are kept for a number of operations, with that number.
    fn counted(&self, steps: &[Step]) -> Vec<(&Connection, u64)> {
        let counted = |connection: &&'_ Connection| match connection.lives {
            Lifetime::Operations(times) => Some(u64::from(times)),
            _ => None,
        };
        let is_used = |connection: &&&Connection| steps.iter().any(|step| uses(step, &connection.name));
        let used = self.connections.iter().filter(is_used);
        used.filter_map(|connection| Some((*connection, counted(connection)?))).collect()
    }

    /// Whether other steps of the block close the connection.
    fn is_unbound(&self, connection: &Connection, block: &Block) -> bool {
        let operation = block.operation.map(|number| &self.scenario.operations[number].steps);
        let steps = operation.unwrap_or(&self.scenario.start);
        steps.iter().any(|step| closes(step, &connection.name))
    }

    /// The steps that open a connection, with its first requests.
    fn open(&self, connection: &Connection, block: &Block) -> Result<Steps<L::Request>> {
        if self.lower.connects() == Connects::Always {
            // Each request opens its own connection.
            return Ok(Vec::new());
        }
        let wrong = |error: CompileError| error.at(["connection", &connection.name]);
        let endpoint = self.lower.endpoint(connection).map_err(wrong)?;
        let mut steps = vec![program::Step::Connect { name: self.row(connection, CONNECT), endpoint }];
        if let Some((name, request)) = self.lower.greeting(&self.place(block), connection).map_err(wrong)? {
            steps.push(program::Step::Request { name: self.row(connection, name), request });
        }
        Ok(steps)
    }

    fn closing(&self, connection: &Connection) -> String {
        self.row(connection, L::CLOSE)
    }

    /// The result row of an action on a connection. Its name lacks the connection's name if there
    /// is only one connection.
    fn row(&self, connection: &Connection, does: &str) -> String {
        if self.pass.is_some() { does.to_owned() } else { format!("{}: {does}", connection.name) }
    }

    const fn place<'p>(&'p self, block: &'p Block) -> Place<'p> {
        Place { script: self.number, spec: self.spec, scenario: self.scenario, plan: self.plan, block }
    }
}

pub(crate) fn connection<'s>(scenario: &'s Scenario, name: &str) -> Result<&'s Connection> {
    let named = scenario.connections.iter().find(|connection| connection.name == name);
    Ok(named.ok_or_else(|| format!("no connection is called {name:?}"))?)
}

fn is_request(steps: &[Step]) -> bool {
    matches!(steps, [step] if !matches!(step.verb, Verb::Think { .. } | Verb::Repeat { .. } | Verb::Unbind { .. }))
}

/// Whether a step, or a step that it repeats, uses a connection.
fn uses(step: &Step, name: &str) -> bool {
    match &step.verb {
        Verb::Think { .. } | Verb::Unbind { .. } => false,
        Verb::Repeat { steps, .. } => steps.iter().any(|step| uses(step, name)),
        _ => step.on == name,
    }
}

/// The connections that the operations to run use, by place.
fn connections_of<'s>(scenario: &'s Scenario, spec: &ScenarioSpec) -> Vec<&'s Connection> {
    let chosen = spec.chosen(scenario).flat_map(|(_, operation)| &operation.steps);
    let steps: Vec<_> = chosen.chain(&scenario.start).collect();
    let is_used = |connection: &&Connection| {
        steps.iter().any(|step| uses(step, &connection.name) || closes(step, &connection.name))
    };
    scenario.connections.iter().filter(is_used).collect()
}

fn closes(step: &Step, name: &str) -> bool {
    match &step.verb {
        Verb::Unbind { connection } => connection == name,
        Verb::Repeat { steps, .. } => steps.iter().any(|step| closes(step, name)),
        _ => false,
    }
}

/// A pause of at most a year: scaling to a session could make longer pauses.
pub(crate) fn think<S>(mean_s: f64, constant: bool) -> program::Step<S> {
    // The cast saturates, and maps NaN to 0.
    let ns = ((mean_s * 1e9).round() as u64).min(LONGEST_PAUSE_NS);
    program::Step::Think(if constant { Think::Constant { ns } } else { Think::Exponential { mean_ns: ns } })
}

/// A step that sends one of several requests; all have the same probability.
pub(crate) fn one_of<S>(name: &str, requests: Vec<S>) -> Option<program::Step<S>> {
    let ask = |request| program::Step::Request { name: name.to_owned(), request };
    if requests.len() > 1 {
        let branch = |request| Branch { weight: 1, steps: vec![ask(request)] };
        return Some(program::Step::Deck { branches: requests.into_iter().map(branch).collect() });
    }
    requests.into_iter().next().map(ask)
}

/// A text whose only fields are environment variables, filled in.
fn with_env(template: &Template, env: &HashMap<String, String>) -> Result<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => Ok(text.clone()),
        Part::Field(Field::Env(name)) => {
            let value = env.get(name).cloned();
            Ok(value.ok_or_else(|| CompileError::from(format!("{{env.{name}}} is not set")).of(template))?)
        }
        Part::Field(field) => Err(CompileError::from(format!("{field} in a base")).of(template)),
    };
    template.parts.iter().map(part).collect()
}
