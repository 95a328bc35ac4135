//! The facts of a scenario that commands need before a run.

use serde_json::{Value, json};
use wire::ldap::oid::WHO_AM_I;

use crate::form::Protocol;
use crate::template::{Field, Template};
use crate::types::{
    Code, Data, Deal, Entry, Lifetime, Rows, Scenario, Step, Tls, Verb, flat, renamed, thinking_ns,
};

/// The result code of a wrong password (RFC 4511 appendix A).
const INVALID_CREDENTIALS: u32 = 49;

impl Scenario {
    pub fn facts(&self) -> Value {
        let operations = self.operations.iter().map(|operation| {
            let facts = json!({
                "name": operation.name,
                "weight": operation.weight,
                "counts": self.counted(operation),
                "objective": operation.objective,
                "page": operation.page,
                "is_step": operation.is_step,
                "thinks_s": thinking_ns(&operation.steps, false) as f64 / 1e9,
                "thinks_at_least_s": thinking_ns(&operation.steps, true) as f64 / 1e9,
            });
            self.effect(&operation.steps, facts)
        });
        json!({
            "protocol": if self.protocol == Protocol::Ldap { "ldap" } else { "http" },
            "title": self.title,
            "paper": self.paper,
            "note": self.note,
            "base": self.base.as_ref().map(Template::to_string),
            "uses_base": self.uses_base,
            "load": self.load,
            "files": self.files,
            "data": self.data.iter().map(|data| source(self, data)).collect::<Vec<_>>(),
            "connections": self.connections.iter().map(|connection| json!({
                "name": connection.name,
                "per_step": connection.lives == Lifetime::Step,
                "places": match connection.lives {
                    Lifetime::Pool(connections) => Some(u64::from(connections) * u64::from(connection.outstanding)),
                    _ => None,
                },
                "http_1_0": connection.http_1_0,
                "tls": connection.tls == Some(Tls::Always),
                "binds": connection.bind.as_ref().is_some_and(|name| !name.parts.is_empty())
                    || connection.sasl.is_some(),
                "accounts": self.accounts(connection.bind.as_ref(), connection.password.as_ref()),
            })).collect::<Vec<_>>(),
            "value_files": self.value_files().iter().map(|(path, secret)| {
                json!({"path": path, "secret": secret})
            }).collect::<Vec<_>>(),
            "needed": self.needed.iter().map(|needed| {
                let operation = needed.operation.and_then(|number| self.operations.get(number));
                json!({
                    "operation": operation.map(|operation| &operation.name),
                    "name": needed.name,
                    "oid": needed.oid,
                    "line": needed.line,
                })
            }).collect::<Vec<_>>(),
            "env": self.variables,
            "start": self.effect(&self.start, json!({})),
            "operations": operations.collect::<Vec<_>>(),
        })
    }

    /// Adds the requests of steps, and their changes to the target.
    fn effect(&self, steps: &[Step], mut facts: Value) -> Value {
        let steps = flat(steps);
        let overwritten = overwritten(&steps);
        let (changes, _) = self.data_in(overwritten.iter().copied().flatten());
        facts["steps"] = self.asking(&steps).into();
        facts["writes"] = steps.iter().any(|step| writes(&step.verb)).into();
        facts["overwrites"] = (!overwritten.is_empty()).into();
        facts["changes"] = changes.into();
        facts["pauses"] = steps.iter().any(|step| matches!(step.verb, Verb::Think { .. })).into();
        facts["keeps"] = steps.iter().filter_map(|step| kept_entry(&step.verb)).collect();
        facts
    }

    /// Steps that send requests to the target.
    fn asking(&self, steps: &[&Step]) -> Vec<Value> {
        let of = |step: &Step| {
            json!({
                "name": step.name,
                "verb": step.word,
                "on": step.on,
                "asks": self.asked_for(step),
                "accounts": match &step.verb {
                    Verb::Bind { bind, password, .. } => self.accounts(Some(bind), password.as_ref()),
                    _ => Vec::new(),
                },
                "sends_password": matches!(&step.verb, Verb::Bind { password: Some(_), .. }),
                "refused": step.expect.results.contains(&Code::Number(INVALID_CREDENTIALS)),
                "adds": self.adds_people(&step.verb),
                "removes": self.removes_people(&step.verb),
            })
        };
        steps.iter().filter(|step| is_asked(&step.verb)).map(|step| of(step)).collect()
    }

    /// Data whose rows a bind uses. A captured name may belong to any row.
    fn accounts(&self, name: Option<&Template>, password: Option<&Template>) -> Vec<&str> {
        match self.data_in(name.into_iter().chain(password)) {
            (accounts, true) if accounts.is_empty() => self.own_data().collect(),
            (accounts, _) => accounts,
        }
    }

    /// Data of the user's own: all data except people that sitebench makes.
    fn own_data(&self) -> impl Iterator<Item = &str> {
        let own = self.data.iter().filter(|data| !matches!(data.rows, Rows::Seeded | Rows::New));
        own.map(|data| data.name.as_str())
    }

    /// Data that texts use, and whether the texts use captures.
    fn data_in<'t>(&self, texts: impl Iterator<Item = &'t Template>) -> (Vec<&str>, bool) {
        let (mut names, mut is_captured) = (Vec::new(), false);
        let mut fields: Vec<&Field> = texts.flat_map(Template::fields).collect();
        while let Some(field) = fields.pop() {
            let (Field::Name(name) | Field::Column(name, _)) = field else { continue };
            if let Some((_, value)) = self.values.iter().find(|(key, _)| key == name) {
                fields.extend(value.fields());
            } else if !self.data.iter().any(|data| data.name == *name) {
                is_captured = true;
            } else if let Some(data) = self.own_data().find(|data| data == name)
                && !names.contains(&data)
            {
                names.push(data);
            }
        }
        (names, is_captured)
    }

    /// Whether a step adds a new person.
    fn adds_people(&self, verb: &Verb) -> bool {
        matches!(verb, Verb::Add { entry: Entry::Row(data), .. } if self.is_new(data))
    }

    /// A step's request to a web server.
    fn asked_for(&self, step: &Step) -> Option<Value> {
        Some(match &step.verb {
            Verb::File { class } => json!({"file": class}),
            Verb::Program { program, size, size_about, .. } => {
                json!({"program": program, "size": size, "size_about": size_about})
            }
            Verb::Request(request) => json!({
                "method": request.method,
                "path": request.path.to_string(),
                "size": step.expect.length,
                // Header lines may request a part of the file.
                "whole": request.method == "GET" && request.headers.is_empty() && self.headers.is_empty(),
            }),
            _ => return None,
        })
    }

    /// Whether a step deletes a new person.
    fn removes_people(&self, verb: &Verb) -> bool {
        let Verb::Delete { dn } = verb else { return false };
        matches!(dn.only_field(), Some(Field::Column(data, column)) if column == "dn" && self.is_new(data))
    }
}

/// Whether a verb sends a request to the target.
const fn is_asked(verb: &Verb) -> bool {
    !matches!(verb, Verb::Think { .. } | Verb::Repeat { .. })
}

/// Whether a verb changes the target's data, or their lifetime.
fn writes(verb: &Verb) -> bool {
    match verb {
        Verb::Bind { .. }
        | Verb::Compare { .. }
        | Verb::Unbind { .. }
        | Verb::File { .. }
        | Verb::Program { .. }
        | Verb::Think { .. }
        | Verb::Repeat { .. } => false,
        // An ILS refreshes the entries of people that such a filter matches.
        Verb::Search(search) => search.filter.to_string().to_lowercase().contains("sttl"),
        Verb::Request(request) => !matches!(request.method, "GET" | "HEAD"),
        Verb::Extended { oid, value: _ } => oid.as_bytes() != WHO_AM_I,
        _ => true,
    }
}

/// The DNs of changed entries that the operation has not added; `None` for an extended operation.
fn overwritten<'s>(steps: &[&'s Step]) -> Vec<Option<&'s Template>> {
    let (mut added, mut overwritten) = (Vec::new(), Vec::new());
    for step in steps {
        match &step.verb {
            Verb::Add { dn, .. } => added.push(dn.to_string()),
            Verb::Modify { dn, .. }
            | Verb::Delete { dn }
            | Verb::Refresh { dn, .. }
            | Verb::PasswordModify { dn, .. }
            | Verb::ModifyDn { dn, .. }
                if !added.contains(&dn.to_string()) =>
            {
                overwritten.push(Some(dn));
            }
            // The entry has another DN after this step.
            Verb::ModifyDn { dn, new_rdn, new_superior, .. } => {
                added.push(renamed(dn, new_rdn, new_superior.as_ref()));
            }
            Verb::Extended { .. } if writes(&step.verb) => overwritten.push(None),
            _ => {}
        }
    }
    overwritten
}

/// The DN of an entry that stays in the target.
fn kept_entry(verb: &Verb) -> Option<String> {
    match verb {
        Verb::Add { dn, keep: true, .. } => Some(dn.to_string()),
        _ => None,
    }
}

fn source(scenario: &Scenario, data: &Data) -> Value {
    let (kind, path, separator, header) = match &data.rows {
        Rows::File { path, separator, header } => ("file", Some(path), Some(separator), Some(header)),
        Rows::Values(_) => ("values", None, None, None),
        Rows::Range(..) => ("range", None, None, None),
        Rows::Seeded => ("seeded", None, None, None),
        Rows::New => ("new", None, None, None),
    };
    json!({
        "name": data.name,
        "rows": kind,
        "file": path,
        "separator": separator,
        "header": header,
        "columns": data.columns,
        "per_user": data.per_user,
        "count": match &data.rows {
            Rows::Values(values) => Some(values.len() as u64),
            Rows::Range(first, last) => Some(last.wrapping_sub(*first) as u64 + 1),
            _ => None,
        },
        "once": data.deal == Some(Deal::Once),
        "deal": data.deal,
        "secret": scenario.secret_columns(data),
    })
}
