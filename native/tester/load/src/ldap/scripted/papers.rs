//! Steps that ask for people as the papers do.
//!
//! How a person is named, and which answer is right, is then known in advance, and nothing is filled in by templates.
//! What counts is what steps say, not what they are called: a file that says the same as a built-in one is the same
//! program.

use people::Profile;
use scenario::{
    ChangeKind, Code, Count, Data, Deref, Encoding, Entry, Expect, Field, Lifetime, Operation, Part, Rows,
    Scenario, Scope, Search, Step, Template, Times, Value, Verb,
};
use wire::ldap::ResultCode;

use super::super::step::{Change, ChangeOp, PersonSelector, Step as LdapStep};
use crate::program::{self, MAIN, ProgramSpec, SEQUENCE};
use crate::scenario_spec::ScenarioSpec;
use crate::scripted::{Steps, think};

/// The program of a scenario that is one of the papers' operations and nothing else: what it counts is its only
/// request, or all of it from connecting to the farewell.
///
/// For people of a profile; without one, for those of any.
pub(super) fn program(
    spec: &ScenarioSpec,
    scenario: &Scenario,
    profile: Option<Profile>,
) -> Option<ProgramSpec<LdapStep>> {
    let is_chosen =
        |operation: &&Operation| spec.operation.as_ref().is_none_or(|name| *name == operation.name);
    let chosen: Vec<_> = scenario.operations.iter().filter(is_chosen).collect();
    let ([operation], [connection]) = (&chosen[..], &scenario.connections[..]) else { return None };
    let is_plain = scenario.start.is_empty() && connection.tls.is_none();
    let own = connection.bind.as_ref().is_none_or(|name| name.parts.is_empty());
    if !is_plain
        || !own
        || connection.is_shared()
        || connection.password.is_some()
        || connection.sasl.is_some()
    {
        return None;
    }
    let own_bind = || {
        let given = &spec.bind;
        let (dn, password, sasl) = (given.dn.clone(), given.password.clone(), given.sasl);
        let request = LdapStep::Bind { dn, password, version: 3, sasl };
        program::Step::Request { name: "bind".to_owned(), request }
    };
    let mut open: Steps<LdapStep> =
        vec![program::Step::Connect { name: "connect".to_owned(), endpoint: MAIN }];
    if connection.bind.is_some() || !spec.bind.dn.is_empty() || spec.bind.sasl.is_some() {
        open.push(own_bind());
    }
    let close = program::Step::Close { name: "unbind".to_owned() };
    let pause = (spec.think_ms > 0.0).then(|| think(spec.think_ms / 1e3, false));
    if let [
        Step { verb: Verb::Bind { bind, password: None, sasl: None, version: 3 }, expect, controls, .. },
    ] = &operation.steps[..]
    {
        let alone = matches!(connection.lives, Lifetime::Iteration | Lifetime::Step)
            && bind.parts.is_empty()
            && connection.bind.is_none()
            && *expect == Expect::default()
            && controls.is_empty();
        let mut steps = vec![open.swap_remove(0), own_bind(), close];
        steps.extend(pause);
        return alone.then(|| ProgramSpec {
            name: spec.name.clone(),
            counts: SEQUENCE.to_owned(),
            steps,
            arrives_whole: true,
            pools: Vec::new(),
        });
    }
    let mut requests = requests(scenario, &operation.steps, profile, true)?.into_iter();
    let scale = spec.scale(scenario, operation);
    let only = match &operation.steps[..] {
        [step] => !matches!(step.verb, Verb::Think { .. } | Verb::Repeat { .. }),
        _ => false,
    };
    let mut steps = named(&operation.steps, only.then_some(&operation.name), scale, &mut requests)?;
    let (counts, arrives_whole, steps) = match (connection.lives, only) {
        (Lifetime::Iteration | Lifetime::Step, _) if only || connection.lives == Lifetime::Iteration => {
            open.extend(steps);
            open.push(close);
            open.extend(pause);
            let counts = operation.counts.as_deref().map(|step| if only { &operation.name } else { step });
            (counts.unwrap_or(SEQUENCE), true, open)
        }
        (Lifetime::Operations(times), true) => {
            steps.extend(pause);
            open.push(program::Step::Repeat { times: u64::from(times), steps });
            open.push(close);
            (operation.name.as_str(), false, open)
        }
        (Lifetime::User, true) => {
            let mut whole = vec![program::Step::WhenDown { steps: open }];
            whole.extend(steps);
            whole.extend(pause);
            (operation.name.as_str(), false, whole)
        }
        _ => return None,
    };
    let (name, counts) = (spec.name.clone(), counts.to_owned());
    Some(ProgramSpec { name, counts, steps, arrives_whole, pools: Vec::new() })
}

/// Steps with their requests, under the name of the only one of them.
fn named(
    steps: &[Step],
    only: Option<&String>,
    scale: f64,
    requests: &mut impl Iterator<Item = LdapStep>,
) -> Option<Steps<LdapStep>> {
    let of = |step: &Step| {
        Some(match &step.verb {
            Verb::Think { mean, constant } => think(mean.as_secs_f64() * scale, *constant),
            Verb::Repeat { times: Times::Number(times), steps } => program::Step::Repeat {
                times: u64::from(*times),
                steps: named(steps, None, scale, requests)?,
            },
            _ => {
                let name = only.unwrap_or(&step.name).clone();
                program::Step::Request { name, request: requests.next()? }
            }
        })
    };
    steps.iter().map(of).collect()
}

/// The requests of steps, in their order, if they are all of the papers' kind.
///
/// In a `whole` program nothing else asks who a user is: they may then be drawn.
pub(super) fn requests(
    scenario: &Scenario,
    steps: &[Step],
    profile: Option<Profile>,
    whole: bool,
) -> Option<Vec<LdapStep>> {
    let mut papers = Papers { scenario, profile, whole, met: Vec::new(), last: None, found: Vec::new() };
    papers.steps(steps)?;
    Some(papers.found)
}

struct Papers<'s> {
    scenario: &'s Scenario,
    profile: Option<Profile>,
    whole: bool,
    /// Data whose row was asked for.
    met: Vec<&'s str>,
    /// The data that the step before was about.
    last: Option<&'s str>,
    found: Vec<LdapStep>,
}

impl<'s> Papers<'s> {
    fn steps(&mut self, steps: &'s [Step]) -> Option<()> {
        for step in steps {
            let plain = step.captures.is_empty() && step.controls.is_empty();
            match &step.verb {
                Verb::Think { .. } => {}
                Verb::Repeat { times: Times::Number(_), steps } => {
                    // Its people are its own in each round.
                    let outer = std::mem::take(&mut self.met);
                    self.last = None;
                    self.steps(steps)?;
                    if self.met.iter().any(|data| outer.contains(data)) {
                        return None;
                    }
                    self.met.extend(outer);
                    self.last = None;
                }
                _ if plain => {
                    let request = self.request(step)?;
                    self.found.push(request);
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn request(&mut self, step: &'s Step) -> Option<LdapStep> {
        match &step.verb {
            Verb::Search(search) => self.search(search, &step.expect),
            _ if step.expect != Expect::default() => None,
            Verb::Add { dn, entry: Entry::Row(data), .. } if is_column(dn, data, "dn") => {
                let source = self.data(data)?;
                let is_next = source.rows == Rows::New && !self.met.contains(&source.name.as_str());
                self.meet(&source.name);
                is_next.then_some(LdapStep::Add { person: PersonSelector::New })
            }
            Verb::Delete { dn } => Some(LdapStep::Delete { person: self.named(dn)? }),
            Verb::Modify { dn, changes } => {
                let changes = changes.iter().map(change).collect::<Option<Vec<_>>>()?;
                Some(LdapStep::Modify { person: self.named(dn)?, changes })
            }
            Verb::Refresh { dn, ttl } => {
                let ttl_s = u32::try_from(ttl.as_millis().div_ceil(1_000)).ok()?;
                Some(LdapStep::Refresh { person: self.named(dn)?, ttl_s })
            }
            Verb::Compare { dn, entry: Entry::Attributes(attributes) } => {
                let (Some(Field::Column(data, _)), [(attribute, values)]) =
                    (dn.only_field(), &attributes[..])
                else {
                    return None;
                };
                let [Value { text, encoding: Encoding::Text }] = &values[..] else { return None };
                if !is_column(text, data, attribute) {
                    return None;
                }
                Some(LdapStep::Compare { person: self.named(dn)?, attribute: attribute.clone() })
            }
            _ => None,
        }
    }

    fn search(&mut self, search: &'s Search, expect: &'s Expect) -> Option<LdapStep> {
        let is_plain = search.base.only_field() == Some(&Field::Base)
            && search.scope == Scope::Sub
            && search.time_limit.is_zero()
            && !search.types_only
            && search.deref == Deref::Never
            && search.page_size.is_none();
        if !is_plain || self.scenario.base.is_some() {
            return None;
        }
        let attributes = search.attributes.clone();
        let class = |profile: &Profile| format!("(objectClass={})", profile.object_class());
        let literal = search.filter.literal();
        if self.profiles().any(|profile| literal == Some(&class(profile))) {
            let Expect { results, every, .. } = expect.clone();
            let everybody = Expect { results, every, entries: Some(Count::All), ..Expect::default() };
            let is_list =
                expect.every.is_some() && *expect == everybody && is_as_far_as_it_goes(&expect.results);
            return is_list.then_some(LdapStep::Retrieve { attributes, size_limit: search.size_limit });
        }
        let Some(Entry::Row(data)) = &expect.entry else { return None };
        let row = Expect { entry: expect.entry.clone(), ..Expect::default() };
        if search.size_limit != 0 || *expect != row {
            return None;
        }
        let mut profiles = self.profiles();
        let refresh_minutes = profiles.find_map(|profile| kept_online(&search.filter, data, *profile))?;
        let person = self.person(data)?;
        Some(LdapStep::Lookup { person, attributes, refresh_minutes })
    }

    /// Those that a file may ask for.
    fn profiles(&self) -> impl Iterator<Item = &'static Profile> + use<> {
        let profile = self.profile;
        Profile::ALL.iter().filter(move |known| profile.is_none_or(|profile| profile == **known))
    }

    fn data(&self, name: &str) -> Option<&'s Data> {
        self.scenario.data.iter().find(|data| data.name == name)
    }

    fn meet(&mut self, name: &'s str) {
        if !self.met.contains(&name) {
            self.met.push(name);
        }
        self.last = Some(name);
    }

    /// The person whom a DN names.
    fn named(&mut self, dn: &Template) -> Option<PersonSelector> {
        match dn.only_field()? {
            Field::Column(data, column) if column == "dn" => self.person(data),
            _ => None,
        }
    }

    /// The person of data that are people.
    fn person(&mut self, name: &str) -> Option<PersonSelector> {
        let source = self.data(name)?;
        let is_met = self.met.contains(&source.name.as_str());
        let is_last = self.last == Some(&source.name);
        let person = match source.rows {
            Rows::Seeded if source.per_user => self.whole.then_some(PersonSelector::Own)?,
            Rows::Seeded if source.deal.is_none() && !is_met => PersonSelector::Random,
            Rows::Seeded if source.deal.is_none() && is_last => PersonSelector::Current,
            Rows::New if is_last => PersonSelector::Current,
            Rows::New if is_met => PersonSelector::New,
            _ => return None,
        };
        self.meet(&source.name);
        Some(person)
    }
}

/// Whether a text is a column, and nothing else.
fn is_column(text: &Template, data: &str, column: &str) -> bool {
    let named = |field: &Field| matches!(field, Field::Column(name, other) if name == data && other.eq_ignore_ascii_case(column));
    text.only_field().is_some_and(named)
}

/// Whether a list may be cut off by the server.
fn is_as_far_as_it_goes(results: &[Code]) -> bool {
    let either = [ResultCode::SUCCESS, ResultCode::SIZE_LIMIT_EXCEEDED].map(|code| Code::Number(code.0));
    results.len() == 2 && either.iter().all(|code| results.contains(code))
}

/// Whether a filter finds a person by name: for how many minutes that keeps them online, if at all.
fn kept_online(filter: &Template, data: &str, profile: Profile) -> Option<Option<u32>> {
    let [Part::Text(before), Part::Field(field), Part::Text(after)] = &filter.parts[..] else { return None };
    let (class, naming) = (profile.object_class(), profile.naming());
    let is_named = *field == Field::Column(data.to_owned(), naming.to_owned());
    if !is_named || *before != format!("(&(objectClass={class})({naming}=") {
        return None;
    }
    match after.strip_prefix("))") {
        Some("") => return Some(None),
        Some(_) => return None,
        None => {}
    }
    let minutes = after.strip_prefix(")(sttl=")?.strip_suffix("))")?;
    minutes.parse().ok().map(Some)
}

fn change(change: &scenario::Change) -> Option<Change> {
    let text = |value: &Value| match value.encoding {
        Encoding::Text if value.text.parts.is_empty() => Some(String::new()),
        Encoding::Text => value.text.literal().map(str::to_owned),
        _ => None,
    };
    let op = match change.kind {
        ChangeKind::Add => ChangeOp::Add,
        ChangeKind::Delete => ChangeOp::Delete,
        ChangeKind::Replace => ChangeOp::Replace,
        ChangeKind::Increment => ChangeOp::Increment,
    };
    let values = change.values.iter().map(text).collect::<Option<_>>()?;
    Some(Change { op, attribute: change.attribute.clone(), values })
}
