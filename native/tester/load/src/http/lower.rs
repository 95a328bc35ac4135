//! Compiles steps of scenarios to requests of HTTP.

use std::cell::Cell;
use std::sync::Arc;

use files::FileSet;
use scenario::{
    Code, Connection, Escaped, Expect, Lifetime, Named, Operation, Part, Problems, Protocol, Scenario, Step,
    Template, Tls, Verb,
};

use super::ask::{Ask, Host, check_header, is_path};
use super::file::FileRequest;
use super::fill::Site;
use super::fresh;
use super::request::Request;
use super::target::{SECURE, Target};
use super::visitors::VisitorColumns;
use crate::compile_error::{CompileError, Result};
use crate::config::KeysConfig;
use crate::fill::{People, Tables};
use crate::program::{self, Branch, Connects, MAIN, PHASES, ProgramSpec, SEQUENCE};
use crate::scenario_spec::ScenarioSpec;
use crate::scripted::{self, Lower, Place, one_of, think};

/// Compiles requests of HTTP for a target.
pub(crate) struct Requests<'t> {
    pub(super) target: &'t Target,
    /// The target's files; `None` also if `is_any`.
    pub(super) files: Option<&'t FileSet>,
    pub(super) people: Arc<VisitorColumns>,
    pub(super) has_visitors: bool,
    /// Whether the scenario is only checked: then `target` may have any programs and classes of
    /// files.
    pub(super) is_any: bool,
    /// The number of the next request among all requests of the engine.
    pub(super) next: Cell<usize>,
}

/// Checks that a lane could run the scenario against some target. Returns the step that counts as an
/// operation; `None` if the scenario's operations have counted steps of their own.
pub fn check(spec: &ScenarioSpec, tables: &Tables) -> Result<Option<String>, Problems> {
    let target = Target { phases: spec.classes, ..Target::any() };
    let people = Arc::new(VisitorColumns::new(None, 1));
    let next = Cell::default();
    let lower = Requests { target: &target, files: None, people, has_visitors: true, is_any: true, next };
    Ok(scripted::convert(&lower, spec, 0, tables, KeysConfig::default(), 1)?.0.counts)
}

/// The number of values of `{copy}` in a program's path: paper 001's "one of 100 identical pages".
const COPIES: usize = 100;

/// Names of result rows that are not names of request classes.
const RECORDED: [&str; 6] = ["sequence", "connect", "connecting", "handshake", "first byte", "request"];

impl Requests<'_> {
    /// The host of steps on a connection.
    fn host(&self, connection: &Connection) -> Result<Host> {
        let Target { host, tls, secure, .. } = self.target;
        let Connection { name, tls: wanted, .. } = connection;
        let main = Host { name: host.as_str().into(), number: 0, secure: false, encrypted: tls.is_some() };
        let wrong = |message: &str| Err(CompileError::from(message).at(["connection", name]));
        match (*wanted, tls, secure) {
            (Some(Tls::StartTls), ..) => wrong("a site has no StartTLS: write tls = true"),
            (Some(Tls::Always), None, Some(endpoint)) => {
                let name = endpoint.host.as_deref().unwrap_or(host);
                let number = usize::from(!name.eq_ignore_ascii_case(host));
                Ok(Host { name: name.into(), number, secure: true, encrypted: true })
            }
            (Some(Tls::Always), None, None) => wrong("has tls = true, but the target has no address for it"),
            (Some(Tls::Never), Some(_), _) => wrong("has tls = false, but the target's address has TLS"),
            _ => Ok(main),
        }
    }
}

impl Lower for Requests<'_> {
    type Request = Request;
    const PROTOCOL: Protocol = Protocol::Http;
    const CLOSE: &'static str = "close";

    fn endpoint(&self, connection: &Connection) -> Result<usize> {
        Ok(if self.host(connection)?.secure { SECURE } else { MAIN })
    }

    fn people(&self) -> Option<Arc<dyn People>> {
        Some(self.people.clone())
    }

    fn connects(&self) -> Connects {
        if self.target.keepalive { Connects::WhenDown } else { Connects::Always }
    }

    fn endpoint_of(request: &Request) -> usize {
        if request.is_secure() { SECURE } else { MAIN }
    }

    fn records_phases(&self) -> bool {
        self.target.phases
    }

    fn check(&self, scenario: &Scenario) -> Result<()> {
        fresh::check(scenario)
    }

    fn requests(&self, place: &Place<'_>, step: &Step) -> Result<Vec<Request>> {
        if self.target.phases && PHASES.contains(&&*step.name) {
            let what = "is the name of a phase of every request: call the step otherwise";
            return Err(format!("{:?} {what}", step.name).into());
        }
        self.ask(place, step, place.scenario.cookies)
    }

    /// A program whose operations, all classes of requests, are dealt from one deck. Each class has
    /// a row of the scenario.
    fn whole(&self, place: &Place<'_>) -> Result<Option<ProgramSpec<Request>>> {
        let Place { spec, scenario, .. } = place;
        if !spec.classes
            || !scenario.start.is_empty()
            || !spec.chosen(scenario).all(|(_, operation)| is_kind_of_request(scenario, operation))
        {
            return Ok(None);
        }
        let mut branches = Vec::new();
        for (number, operation) in spec.chosen(scenario) {
            let block = scenario::Block { operation: Some(number), repeats: Vec::new() };
            let place = Place { block: &block, ..*place };
            let mut steps = Vec::new();
            for step in &operation.steps {
                // Cookies of an answer are never sent: each request is a visit of its own.
                let requests = self.ask(&place, step, false).map_err(|error| error.at_step(&block, 0))?;
                steps.extend(one_of(&operation.name, requests));
            }
            branches.push(Branch { weight: operation.weight, steps });
        }
        if branches.is_empty() {
            return Ok(None);
        }
        let mut steps = vec![program::Step::Deck { branches }];
        steps.extend((spec.think_ms > 0.0).then(|| think(spec.think_ms / 1e3, false)));
        let (name, counts) = (spec.name.clone(), Some(SEQUENCE.to_owned()));
        Ok(Some(ProgramSpec { name, counts, steps, arrives_whole: true, pools: Vec::new() }))
    }
}

impl Requests<'_> {
    fn number(&self) -> usize {
        self.next.replace(self.next.get() + 1)
    }

    /// The requests of a step. One of the requests is drawn; all have the same probability.
    fn ask(&self, place: &Place<'_>, step: &Step, cookies: bool) -> Result<Vec<Request>> {
        let Place { script, plan, block, scenario, spec } = place;
        let host = self.host(scripted::connection(scenario, &step.on)?)?;
        let site = Site { plan, block, has_visitors: self.has_visitors };
        let ask = |step: &Step, request: &scenario::Request| {
            let route = (self.target, host.clone(), cookies);
            let ask = Ask::new(*script, site, (step, request), &scenario.headers, route)?;
            Ok(Request::Ask(self.number(), Box::new(ask)))
        };
        match &step.verb {
            Verb::Request(request) => Ok(vec![ask(step, request)?]),
            Verb::File { class } => {
                if step.expect != Expect::default() || !step.captures.is_empty() {
                    return Err("every byte of a file is compared: leave expect and capture out".into());
                }
                let files = match self.files {
                    Some(set) => set
                        .class(class)
                        .ok_or_else(|| format!("the target's files have no class {class:?}"))?,
                    None if self.is_any => 0..0,
                    None => return Err("the target has no \"files\" to ask for".into()),
                };
                let lines = lines(&scenario.headers)?;
                let file = FileRequest::new(files, host.secure, &lines, self.target);
                Ok(vec![Request::File(self.number(), file)])
            }
            Verb::Program { program, size, size_about, random } => {
                let path = match spec.programs.get(program) {
                    Some(path) => path,
                    None if self.is_any => "/",
                    None => {
                        return Err(format!("the target has no program {program:?}: say where it is").into());
                    }
                };
                let bytes = size.or(*size_about).unwrap_or_default();
                let content = if *random { "random" } else { "constant" };
                let path = path.replace("{size}", &bytes.to_string()).replace("{content}", content);
                is_path(path.replace("{copy}", "0").as_bytes())
                    .map_err(|problem| format!("the path {path:?} of the program {program:?} {problem}"))?;
                let mut step = step.clone();
                // Answers with another status may have another length.
                if step.expect.statuses.iter().all(|code| *code == Code::Number(200)) {
                    step.expect.length = step.expect.length.or(*size);
                }
                let request = |path: String| {
                    let request = scenario::Request {
                        method: "GET",
                        path: Template { parts: vec![Part::Text(path)] },
                        headers: Vec::new(),
                        body: None,
                        escaped: Escaped::Plain,
                        follow: false,
                    };
                    ask(&step, &request)
                };
                if !path.contains("{copy}") {
                    return Ok(vec![request(path)?]);
                }
                (0..COPIES).map(|copy| request(path.replace("{copy}", &copy.to_string()))).collect()
            }
            _ => Err("is no request of HTTP".into()),
        }
    }
}

/// Whether an operation is one request without fields, over a connection of its own or the scenario's only
/// connection.
fn is_kind_of_request(scenario: &Scenario, operation: &Operation) -> bool {
    let [step] = &operation.steps[..] else { return false };
    let Some(connection) = scenario.connections.iter().find(|connection| connection.name == step.on) else {
        return false;
    };
    let is_plain = operation.counts.is_none()
        && operation.objective.is_none()
        && !RECORDED.contains(&operation.name.as_str())
        && step.captures.is_empty()
        && scenario.headers.iter().all(is_fixed);
    let lives = match connection.lives {
        Lifetime::Step => true,
        Lifetime::User => scenario.connections.len() == 1,
        _ => false,
    };
    let Expect { statuses, contains, headers, identity, fresh, .. } = &step.expect;
    let expects = statuses.iter().all(|code| matches!(code, Code::Number(_)))
        && contains.iter().all(|text| text.literal().is_some())
        && headers.iter().all(is_fixed)
        && identity.is_none()
        && fresh.is_empty();
    let asks = match &step.verb {
        Verb::File { .. } | Verb::Program { .. } => true,
        Verb::Request(request) => {
            // The cookies of a redirect would be lost: no later request belongs to the same visit.
            !request.follow
                && request.path.literal().is_some()
                && request.body.is_none()
                && request.headers.iter().all(is_fixed)
        }
        _ => false,
    };
    is_plain && lives && expects && asks
}

fn is_fixed((_, value): &Named) -> bool {
    value.literal().is_some()
}

/// Header lines as they are sent. A value with a template field, such as `{user}`, is refused.
fn lines(headers: &[Named]) -> Result<String> {
    let line = |(name, value): &Named| {
        check_header(name)?;
        let value = value.literal();
        let value =
            value.ok_or_else(|| format!("the header {name} has fields, and files are asked for without"));
        Ok(format!("{name}: {}\r\n", value?))
    };
    headers.iter().map(line).collect()
}
