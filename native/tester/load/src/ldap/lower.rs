//! Compiles steps of scenarios to requests of LDAP.

use std::sync::Arc;

use scenario::{
    Code, Connection, Data, Drawn, Entry, Expect, Part, Problems, Protocol, Rows, Scenario, Step, Template,
    Verb, flat,
};

use wire::ldap::ResultCode;

use super::ask::Ask;
use super::{Request, Target};
use crate::compile_error::{CompileError, Result};
use crate::config::KeysConfig;
use crate::fill::{People, Preparation, Tables};
use crate::program::MAIN;
use crate::scenario_spec::{Identity, ScenarioSpec};
use crate::scripted::{self, Lower, Place};

/// The step that removes a person before the person is added again.
const REMOVE: &str = "remove";

/// Compiles requests of LDAP; target and people are `None` if a scenario is only checked.
pub(crate) struct Requests<'t> {
    pub(super) target: Option<&'t Target>,
    pub(super) people: Option<Arc<dyn People>>,
}

/// Checks that a lane could run the scenario against some target. Returns the step that counts as an
/// operation; `None` if the scenario's operations have counted steps of their own.
pub fn check(spec: &ScenarioSpec, tables: &Tables) -> Result<Option<String>, Problems> {
    let lower = Requests { target: None, people: None };
    Ok(scripted::convert(&lower, spec, 0, tables, KeysConfig::default(), 1)?.0.counts)
}

impl Lower for Requests<'_> {
    type Request = Request;
    const PROTOCOL: Protocol = Protocol::Ldap;
    const CLOSE: &'static str = "unbind";
    const SHARES: bool = true;

    fn base(&self) -> &str {
        self.target.map_or("", |target| &target.base)
    }

    fn people(&self) -> Option<Arc<dyn People>> {
        self.people.clone()
    }

    fn endpoint(&self, connection: &Connection) -> Result<usize> {
        Ok(self.target.map_or(Ok(MAIN), |target| target.endpoint(connection.tls))?)
    }

    /// Once the ring of added people starts again, a person is removed before being added.
    fn before(&self, place: &Place<'_>, step: &Step) -> Result<Option<(&'static str, Request)>> {
        let Place { script, plan, block, .. } = place;
        match &step.verb {
            Verb::Add { entry: Entry::Row(data), dn, .. } if plan.is_taken(data) => {
                let mut step = implied(Verb::Delete { dn: dn.clone() });
                // The previous lane with this person may have removed the entry already.
                let results = [ResultCode::SUCCESS, ResultCode::NO_SUCH_OBJECT];
                step.expect.results = results.map(|code| Code::Number(code.0)).into();
                let ask = Ask::new(*script, plan, block, &step)?;
                // The request needs no mark of an added entry: the operation has not added the
                // entry yet.
                let needs = Vec::new();
                let ask = Ask { removes_taken: true, changes: false, needs, fatal: false, ..ask };
                Ok(Some((REMOVE, Box::new(ask))))
            }
            _ => Ok(None),
        }
    }

    fn requests(&self, place: &Place<'_>, step: &Step) -> Result<Vec<Request>> {
        let Place { script, plan, block, .. } = place;
        let ask = match &step.verb {
            Verb::Bind { bind, password: None, sasl: None, version } if bind.parts.is_empty() => {
                let verb = own_bind(&place.spec.bind, *version);
                Ask::new(*script, plan, block, &Step { verb, ..step.clone() })
            }
            _ => Ask::new(*script, plan, block, step),
        };
        Ok(vec![Box::new(ask?)])
    }

    fn check(&self, scenario: &Scenario) -> Result<()> {
        let new = || scenario.data.iter().filter(|data| data.rows == Rows::New);
        if let Some(data) = new().find(|data| data.per_user) {
            let message = "new people come one after the other: leave per out";
            return Err(CompileError::from(message).at(["data", &data.name]));
        }
        for (number, operation) in scenario.operations.iter().enumerate() {
            let wrong = |message: String| CompileError::from(message).at(["operation", &number.to_string()]);
            let is_drawn = |data: &&Data| {
                let mut draws = scenario.draws.iter().filter(|draw| draw.block.operation == Some(number));
                draws.any(|draw| draw.what == Drawn::Row(data.name.clone()))
            };
            let drawn: Vec<_> = new().filter(is_drawn).map(|data| data.name.as_str()).collect();
            if let [one, other, ..] = &drawn[..] {
                return Err(wrong(format!("adds people of {one} and of {other}: one at a time")));
            }
            let steps = flat(&operation.steps);
            let adds = |name: &str| {
                let mut verbs = steps.iter().map(|step| &step.verb);
                verbs.any(|verb| matches!(verb, Verb::Add { entry: Entry::Row(data), .. } if data == name))
            };
            if let Some(name) = drawn.iter().find(|name| !adds(name)) {
                let add = format!("add = \"{{{name}.dn}}\"");
                return Err(wrong(format!("has people of {name}, and no step with {add}")));
            }
        }
        Ok(())
    }

    fn prepared(&self, preparation: Preparation, request: &mut Request) -> Option<Preparation> {
        request.first = Some(preparation);
        None
    }

    fn greeting(
        &self,
        place: &Place<'_>,
        connection: &Connection,
    ) -> Result<Option<(&'static str, Request)>> {
        let given = &place.spec.bind;
        let own = connection.password.is_none() && connection.sasl.is_none();
        let binds = |step: &Step| matches!(step.verb, Verb::Bind { .. }) && step.on == connection.name;
        let verb = match &connection.bind {
            Some(bind) if !(bind.parts.is_empty() && own) => Verb::Bind {
                bind: bind.clone(),
                password: connection.password.clone(),
                sasl: connection.sasl,
                version: connection.version,
            },
            None if place.scenario.steps().any(binds) => return Ok(None),
            None if given.dn.is_empty() && given.sasl.is_none() => return Ok(None),
            _ => own_bind(given, connection.version),
        };
        let ask = Ask::new(place.script, place.plan, place.block, &implied(verb))?;
        // The steps on the connection depend on its bind.
        Ok(Some(("bind", Box::new(Ask { fatal: true, ..ask }))))
    }
}

/// A step that the file implies.
fn implied(verb: Verb) -> Step {
    let (name, on) = (String::new(), String::new());
    let (expect, captures, controls) = (Expect::default(), Vec::new(), Vec::new());
    Step { name, word: "", on, verb, expect, captures, controls }
}

/// The bind of the identity that the command line names.
fn own_bind(identity: &Identity, version: u8) -> Verb {
    let text = |text: &str| Template {
        parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] },
    };
    // LDAPv2 has no SASL.
    let version = if identity.sasl.is_some() { 3 } else { version };
    let (bind, password) = (text(&identity.dn), Some(text(&identity.password)));
    Verb::Bind { bind, password, sasl: identity.sasl, version }
}
