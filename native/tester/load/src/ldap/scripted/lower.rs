//! From steps of scenarios to those of LDAP programs.

use std::sync::Arc;

use people::Profile;
use scenario::{
    Connection, Control, Data, Drawn, Entry, Field, Part, Protocol, Rows, Sasl, Scenario, Step, Template,
    Verb,
};

use serde_json::Value;

use super::super::Target;
use super::super::step::Step as LdapStep;
use super::ask::{Ask, Bind};
use super::papers;
use crate::connection::sasl::Mechanism;
use crate::program::{Connects, MAIN, ProgramSpec};
use crate::scenario_spec::ScenarioSpec;
use crate::scripted::{self, Lower, Place, Preparation};
use crate::values::Tables;

/// Steps of LDAP, for a target if that is known.
pub(crate) struct Requests<'t>(pub(crate) Option<&'t Target>);

/// Says what of a scenario no lane could run, whatever its target.
///
/// Of one that is one of the papers' operations, returns the step that it counts and, where it has one, the
/// description of its program.
pub fn check(spec: &ScenarioSpec, tables: &Tables) -> Result<Option<(String, Option<Value>)>, String> {
    let whole = scripted::check(&Requests(None), spec, None, tables)?;
    Ok(whole.map(|program| (program.counts.clone(), program.describe())))
}

impl Requests<'_> {
    fn profile(&self) -> Option<Profile> {
        self.0.map(|target| target.profile)
    }
}

impl Lower for Requests<'_> {
    type Step = LdapStep;
    const PROTOCOL: Protocol = Protocol::Ldap;
    const CONNECTS: Connects = Connects::Steps;
    const CLOSE: &'static str = "unbind";
    const SHARES: bool = true;

    fn endpoint(&self, connection: &Connection) -> Result<usize, String> {
        let found = self.0.map_or(Ok(MAIN), |target| target.endpoint(connection.tls));
        found.map_err(|problem| format!("connection {:?}: {problem}", connection.name))
    }

    fn prepare(&self, preparation: Arc<Preparation>) -> LdapStep {
        LdapStep::Prepare(preparation)
    }

    fn requests(&self, place: &Place<'_>, step: &Step) -> Result<Vec<LdapStep>, String> {
        let Place { script, plan, block, .. } = place;
        let ask = match &step.verb {
            Verb::Add { dn, entry: Entry::Row(data), .. } if plan.is_taken(data) => {
                if dn.only_field() != Some(&Field::Column(data.clone(), "dn".to_owned())) {
                    return Err(format!("people whom the run adds have their own names: {{{data}.dn}}"));
                }
                return Ok(vec![LdapStep::AddTaken]);
            }
            Verb::Add { entry: Entry::Row(data), .. } if plan.is_people(data) => {
                return Err(format!("only people whom the run adds are entered whole: {data} is of others"));
            }
            Verb::Bind { bind, password: None, sasl: None, .. } if bind.parts.is_empty() => {
                own_bind(place, &step.controls)?.counted(plan, block, step)
            }
            _ => Ask::new(*script, plan, block, step),
        };
        Ok(vec![LdapStep::Ask(Arc::new(ask?))])
    }

    fn check(&self, scenario: &Scenario) -> Result<(), String> {
        let new = |data: &&Data| data.rows == Rows::New;
        if let Some(data) = scenario.data.iter().filter(new).find(|data| data.per_user) {
            return Err(format!("data {:?}: new people come one after the other: leave per out", data.name));
        }
        for (number, operation) in scenario.operations.iter().enumerate() {
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
                let name = &operation.name;
                return Err(format!("operation {name:?} adds people of {one} and of {other}: one at a time"));
            }
            if let Some(name) = drawn.iter().find(|name| !adds(&operation.steps, name)) {
                let (operation, add) = (&operation.name, format!("add = \"{{{name}.dn}}\""));
                return Err(format!("operation {operation:?} has people of {name}, and no step with {add}"));
            }
        }
        Ok(())
    }

    fn whole(&self, place: &Place<'_>) -> Result<Option<ProgramSpec<LdapStep>>, String> {
        Ok(papers::program(place.spec, place.scenario, self.profile()))
    }

    fn known(&self, scenario: &Scenario, steps: &[Step]) -> Option<Vec<LdapStep>> {
        papers::requests(scenario, steps, self.profile(), false)
    }

    fn take(&self) -> Result<LdapStep, String> {
        Ok(LdapStep::Take)
    }

    /// The bind of a connection, if it has one.
    fn greeting(
        &self,
        place: &Place<'_>,
        connection: &Connection,
    ) -> Result<Option<(&'static str, LdapStep)>, String> {
        let given = &place.spec.bind;
        let bind = match &connection.bind {
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
            None if binds(&place.scenario.start, &connection.name) => return Ok(None),
            None if place
                .scenario
                .operations
                .iter()
                .any(|operation| binds(&operation.steps, &connection.name)) =>
            {
                return Ok(None);
            }
            None if given.dn.is_empty() && given.sasl.is_none() => return Ok(None),
            None => own_bind(place, &[])?,
        };
        Ok(Some(("bind", LdapStep::Ask(Arc::new(bind)))))
    }
}

/// The bind of the identity that the command line names.
fn own_bind(place: &Place<'_>, controls: &[Control]) -> Result<Ask, String> {
    let given = &place.spec.bind;
    let text = |text: &str| Template {
        parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text.to_owned())] },
    };
    let (name, password) = (text(&given.dn), text(&given.password));
    let sasl = given.sasl.map(|mechanism| match mechanism {
        Mechanism::External => Sasl::External,
        Mechanism::Plain => Sasl::Plain,
    });
    let bind = Bind { name: &name, password: Some(&password), sasl, version: 3, controls };
    Ask::bind(place.script, place.plan, place.block, &bind)
}

/// Whether a step binds on a connection.
/// Whether any of the steps enters people of these data.
fn adds(steps: &[Step], name: &str) -> bool {
    steps.iter().any(|step| match &step.verb {
        Verb::Add { entry: Entry::Row(data), .. } => data == name,
        Verb::Repeat { steps, .. } => adds(steps, name),
        _ => false,
    })
}

fn binds(steps: &[Step], on: &str) -> bool {
    steps.iter().any(|step| match &step.verb {
        Verb::Bind { .. } => step.on == on,
        Verb::Repeat { steps, .. } => binds(steps, on),
        _ => false,
    })
}
