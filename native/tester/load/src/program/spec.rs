//! Programs as they are described, in JSON: `{"name": ..., "counts": ..., "steps": [{"op": ...}, ...]}`.

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::choose::schedule::Think;
use crate::record::clock::MILLI;

/// The endpoint of steps that do not say otherwise.
pub(crate) const MAIN: usize = 0;

/// A program as it is described.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: DeserializeOwned"))]
pub struct ProgramSpec<R> {
    /// What it is called.
    pub name: String,
    /// The step that is "an operation", or `sequence`: what an open schedule's rate is the rate of.
    pub counts: String,
    pub steps: Vec<Step<R>>,
    /// Whether an arrival starts a whole pass, also where the counted step is in a repeat.
    #[serde(skip)]
    pub arrives_whole: bool,
    /// Connections that its lanes share.
    #[serde(skip)]
    pub pools: Vec<PoolSpec<R>>,
}

/// Connections that lanes share.
#[derive(Debug, Clone)]
pub struct PoolSpec<R> {
    /// What their rows are called after.
    pub name: String,
    /// How many there are, of all threads together; else as many as give each lane a place.
    pub connections: Option<u32>,
    /// Requests in flight on one at a time.
    pub places: u8,
    /// How one is opened.
    pub steps: Vec<Step<R>>,
}

/// A step as it is described.
#[derive(Debug, Clone)]
pub enum Step<R> {
    /// Open a connection, after closing the one there is.
    Connect {
        /// The step's name.
        name: String,
        /// Where to.
        endpoint: usize,
    },
    /// Go on with this one of the lane's connections.
    Switch(usize),
    /// Ask over one of these shared connections from here on; over the lane's own without.
    Over(Option<usize>),
    /// Wait until one of these shared connections stands.
    AwaitPool(usize),
    /// Count an operation that the connection was used for, and close it after so many.
    Used {
        /// The name of closing.
        name: String,
        times: u64,
    },
    /// Send the farewell and close.
    Close {
        /// The step's name.
        name: String,
    },
    /// Do some steps over and over.
    Repeat { times: u64, steps: Vec<Step<R>> },
    /// Do some steps once for each value of a list, of which the protocol knows how many there are.
    Each { list: R, steps: Vec<Step<R>> },
    /// Wait as a person would.
    Think(Think),
    /// Do one of several things, as often as its weight says.
    Deck { branches: Vec<Branch<R>> },
    /// Ask the target something.
    Request {
        /// The step's name.
        name: String,
        request: R,
    },
    /// Do some steps where there is no connection, for it to be there from then on.
    WhenDown { steps: Vec<Step<R>> },
    /// Do some steps where this side has closed the connection.
    WhenClosed { steps: Vec<Step<R>> },
    /// Do some steps in a lane's first pass alone, with rows under a name of their own.
    Once { name: String, steps: Vec<Step<R>> },
    /// Choose what the steps after it are about; nothing is sent.
    Prepare(R),
    /// Do some steps that are an operation of their own, with rows under its name.
    Operation(Operation<R>),
}

/// One of the operations of a program that has several.
#[derive(Debug, Clone)]
pub struct Operation<R> {
    /// What its rows are under.
    pub name: String,
    /// The step that is counted, or `sequence`.
    pub counts: String,
    pub steps: Vec<Step<R>>,
}

/// One of several things to do.
#[derive(Debug, Clone)]
pub struct Branch<R> {
    /// How many cards of the deck it has.
    pub weight: u32,
    pub steps: Vec<Step<R>>,
}

impl<R> ProgramSpec<R> {
    /// Whether parts of it are operations of their own.
    pub(crate) fn has_operations(&self) -> bool {
        any_operation(&self.steps)
    }
}

/// Whether any step is an operation of its own.
fn any_operation<R>(steps: &[Step<R>]) -> bool {
    steps.iter().any(|step| match step {
        Step::Operation(_) => true,
        Step::Repeat { steps, .. } | Step::Each { steps, .. } | Step::WhenDown { steps } => {
            any_operation(steps)
        }
        Step::Deck { branches } => branches.iter().any(|branch| any_operation(&branch.steps)),
        _ => false,
    })
}

impl<R> Step<R> {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Connect { name, .. }
            | Self::Close { name }
            | Self::Used { name, .. }
            | Self::Request { name, .. } => name,
            Self::Switch(_) | Self::Over(_) => "switch",
            Self::AwaitPool(_) => "wait",
            Self::Repeat { .. } | Self::Each { .. } => "repeat",
            Self::Think(_) => "think",
            Self::Deck { .. } => "deck",
            Self::WhenDown { .. } | Self::WhenClosed { .. } => "when down",
            Self::Once { name, .. } => name,
            Self::Prepare(_) => "prepare",
            Self::Operation(operation) => &operation.name,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "R: DeserializeOwned"))]
struct RepeatSpec<R> {
    times: u64,
    steps: Vec<Step<R>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ThinkSpec {
    mean_ms: f64,
    #[serde(default)]
    distribution: Distribution,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Distribution {
    #[default]
    Constant,
    Exponential,
}

impl TryFrom<ThinkSpec> for Think {
    type Error = String;

    fn try_from(spec: ThinkSpec) -> Result<Self, String> {
        let day_ms = 86_400_000.0;
        if !(0.0..=day_ms).contains(&spec.mean_ms) {
            return Err(format!("\"mean_ms\" is {}: give 0 to {day_ms}", spec.mean_ms));
        }
        let ns = (spec.mean_ms * MILLI as f64) as u64;
        Ok(match spec.distribution {
            Distribution::Constant => Self::Constant { ns },
            Distribution::Exponential => Self::Exponential { mean_ns: ns },
        })
    }
}

impl<'de, R: DeserializeOwned> Deserialize<'de> for Step<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::deserialize(deserializer)?;
        let op = take_text(&mut fields, "op")?.ok_or_else(|| D::Error::missing_field("op"))?;
        let name = take_text(&mut fields, "name")?;
        read_step(&op, name, fields).map_err(|problem| D::Error::custom(format!("step {op:?}: {problem}")))
    }
}

fn read_step<R: DeserializeOwned>(
    op: &str,
    name: Option<String>,
    fields: Map<String, Value>,
) -> Result<Step<R>, String> {
    let text = |error: serde_json::Error| error.to_string();
    let name = name.unwrap_or_else(|| op.to_owned());
    Ok(match op {
        "connect" => {
            parse::<Nothing>(fields)?;
            Step::Connect { name, endpoint: MAIN }
        }
        "unbind" => {
            parse::<Nothing>(fields)?;
            Step::Close { name }
        }
        "repeat" => {
            let RepeatSpec { times, steps } = parse(fields)?;
            Step::Repeat { times, steps }
        }
        "think" => Step::Think(parse::<ThinkSpec>(fields)?.try_into()?),
        _ => {
            let tagged = Map::from_iter([(op.to_owned(), Value::Object(fields))]);
            let request = serde_json::from_value(Value::Object(tagged)).map_err(text)?;
            Step::Request { name, request }
        }
    })
}

fn parse<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, String> {
    serde_json::from_value(Value::Object(fields)).map_err(|error| error.to_string())
}

fn take_text<E: serde::de::Error>(fields: &mut Map<String, Value>, key: &str) -> Result<Option<String>, E> {
    match fields.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(E::custom(format_args!("{key:?} is {other}, not a text"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case", deny_unknown_fields)]
    enum Ask {
        Get { path: String },
    }

    fn read(text: &str) -> Result<ProgramSpec<Ask>, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn read_one(step: &str) -> Result<Step<Ask>, String> {
        serde_json::from_str(step).map_err(|error| error.to_string())
    }

    #[test]
    fn steps_are_called_after_their_op_unless_they_have_a_name() {
        let Step::Request { name, request } = read_one(r#"{"op": "get", "path": "/"}"#).unwrap() else {
            panic!("a request");
        };
        assert_eq!((name.as_str(), request), ("get", Ask::Get { path: "/".into() }));
        let step = read_one(r#"{"op": "get", "path": "/", "name": "front"}"#).unwrap();
        assert_eq!(step.name(), "front");
    }

    #[test]
    fn a_whole_program_reads() {
        let text = r#"{"name": "p", "counts": "get", "steps": [
            {"op": "connect"},
            {"op": "repeat", "times": 3, "steps": [
                {"op": "get", "path": "/"}, {"op": "think", "mean_ms": 2.5, "distribution": "exponential"}]},
            {"op": "unbind"}]}"#;
        let program = read(text).unwrap();
        assert_eq!(program.steps.len(), 3);
        let Step::Repeat { times: 3, steps } = &program.steps[1] else { panic!("a repeat") };
        assert!(matches!(steps[1], Step::Think(Think::Exponential { mean_ns: 2_500_000 })));
    }

    #[test]
    fn what_is_wrong_is_said_with_the_step_it_is_wrong_in() {
        for (step, expected) in [
            (r#"{"path": "/"}"#, "missing field `op`"),
            (r#"{"op": 7}"#, "\"op\" is 7, not a text"),
            (r#"{"op": "gte", "path": "/"}"#, "step \"gte\": unknown variant `gte`"),
            (r#"{"op": "get", "pth": "/"}"#, "step \"get\": unknown field `pth`"),
            (r#"{"op": "get"}"#, "step \"get\": missing field `path`"),
            (r#"{"op": "connect", "to": 1}"#, "step \"connect\": unknown field `to`"),
            (r#"{"op": "think", "mean_ms": -1}"#, "step \"think\": \"mean_ms\" is -1"),
            (
                r#"{"op": "repeat", "times": 2, "steps": [{"op": "get"}]}"#,
                "step \"repeat\": step \"get\": missing",
            ),
        ] {
            let error = read_one(step).unwrap_err();
            assert!(error.contains(expected), "{step}: {error}");
        }
    }
}
