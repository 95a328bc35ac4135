//! Compiles steps of scenarios to requests of LDAP.

use scenario::{
    Code, Connection, Control, Data, Drawn, Entry, Expect, Part, Problems, Protocol, Rows, Scenario, Step,
    Template, Verb, flat,
};

use wire::ldap::ResultCode;

use super::ask::{Ask, Bind};
use super::{Request, Target};
use crate::compile_error::{CompileError, Result};
use crate::fill::{Preparation, Tables};
use crate::program::{Connects, MAIN};
use crate::scenario_spec::ScenarioSpec;
use crate::scripted::{self, Lower, Place};

/// The step that removes a person before the person is added again.
const REMOVE: &str = "remove";

/// Compiles requests of LDAP; the target is `None` if a scenario is only checked.
pub(crate) struct Requests<'t>(pub(crate) Option<&'t Target>);

/// Checks that a lane could run the scenario against some target. Returns the step that counts as an
/// operation; `None` if the scenario's operations have counted steps of their own.
pub fn check(spec: &ScenarioSpec, tables: &Tables) -> Result<Option<String>, Problems> {
    scripted::check(&Requests(None), spec, None, tables)
}

impl Lower for Requests<'_> {
    type Request = Request;
    const PROTOCOL: Protocol = Protocol::Ldap;
    const CONNECTS: Connects = Connects::Steps;
    const CLOSE: &'static str = "unbind";
    const SHARES: bool = true;

    fn endpoint(&self, connection: &Connection) -> Result<usize> {
        Ok(self.0.map_or(Ok(MAIN), |target| target.endpoint(connection.tls))?)
    }

    /// Once the ring of added people starts again, a person is removed before being added.
    fn before(&self, place: &Place<'_>, step: &Step) -> Result<Option<(&'static str, Request)>> {
        let Place { script, plan, block, .. } = place;
        match &step.verb {
            Verb::Add { entry: Entry::Row(data), dn, .. } if plan.is_taken(data) => {
                let step = Step {
                    name: REMOVE.to_owned(),
                    word: "delete",
                    on: step.on.clone(),
                    verb: Verb::Delete { dn: dn.clone() },
                    // The previous lane with this person may have removed the entry already.
                    expect: Expect {
                        results: [ResultCode::SUCCESS, ResultCode::NO_SUCH_OBJECT]
                            .map(|code| Code::Number(code.0))
                            .into(),
                        ..Expect::default()
                    },
                    captures: Vec::new(),
                    controls: Vec::new(),
                };
                let ask = Ask::new(*script, plan, block, &step)?.removing_taken();
                Ok(Some((REMOVE, Box::new(ask))))
            }
            _ => Ok(None),
        }
    }

    fn requests(&self, place: &Place<'_>, step: &Step) -> Result<Vec<Request>> {
        let Place { script, plan, block, .. } = place;
        let ask = match &step.verb {
            Verb::Bind { bind, password: None, sasl: None, version } if bind.parts.is_empty() => {
                own_bind(place, &step.controls, *version)?.counted(plan, block, step)
            }
            _ => Ask::new(*script, plan, block, step),
        };
        Ok(vec![Box::new(ask?)])
    }

    fn check(&self, scenario: &Scenario) -> Result<()> {
        let new = |data: &&Data| data.rows == Rows::New;
        if let Some(data) = scenario.data.iter().filter(new).find(|data| data.per_user) {
            let message = "new people come one after the other: leave per out";
            return Err(CompileError::from(message).at(["data", &data.name]));
        }
        for (number, operation) in scenario.operations.iter().enumerate() {
            let wrong = |message: String| CompileError::from(message).at(["operation", &number.to_string()]);
            let mut drawn: Vec<&str> = Vec::new();
            for draw in scenario.draws.iter().filter(|draw| draw.block.operation == Some(number)) {
                match &draw.what {
                    Drawn::Row(name)
                        if !drawn.contains(&name.as_str())
                            && scenario.data.iter().filter(new).any(|data| data.name == *name) =>
                    {
                        drawn.push(name);
                    }
                    _ => {}
                }
            }
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
        let bind = match &connection.bind {
            Some(name) if name.parts.is_empty() && own => own_bind(place, &[], connection.version)?,
            Some(name) => {
                let bind = Bind {
                    name,
                    password: connection.password.as_ref(),
                    sasl: connection.sasl,
                    version: connection.version,
                    controls: &[],
                };
                Ask::bind(place.script, place.plan, place.block, &bind)?
            }
            None if place.scenario.steps().any(binds) => return Ok(None),
            None if given.dn.is_empty() && given.sasl.is_none() => return Ok(None),
            None => own_bind(place, &[], connection.version)?,
        };
        Ok(Some(("bind", Box::new(bind))))
    }
}

/// The bind of the identity that the command line names.
fn own_bind(place: &Place<'_>, controls: &[Control], version: u8) -> Result<Ask> {
    let given = &place.spec.bind;
    let text = |text: &str| Template {
        parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] },
    };
    let (name, password) = (text(&given.dn), text(&given.password));
    // LDAPv2 has no SASL.
    let version = if given.sasl.is_some() { 3 } else { version };
    let bind = Bind { name: &name, password: Some(&password), sasl: given.sasl, version, controls };
    Ask::bind(place.script, place.plan, place.block, &bind)
}
