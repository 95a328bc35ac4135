//! Checks of `fresh`, the texts that a page must have after an update. Such a page proves nothing
//! about rows that other users may change meanwhile.

use crate::compile_error::{CompileError, Result};
use crate::scripted::texts_of;
use scenario::{Data, Deal, Field, Place, Request, Rows, Scenario, Step, Template, Verb, flat};

/// Refuses `fresh` if the changed or requested rows may be another user's, too.
pub(super) fn check(scenario: &Scenario) -> Result<()> {
    let operations = scenario.operations.iter().map(|operation| &operation.steps);
    for steps in [&scenario.start].into_iter().chain(operations) {
        let requests = flat(steps).into_iter().filter_map(|step| match &step.verb {
            Verb::Request(request) => Some((step, &**request)),
            _ => None,
        });
        let requests: Vec<_> = requests.collect();
        let Some(text) = requests.iter().find_map(|(step, _)| step.expect.fresh.first()) else { continue };
        let is_about = |step: &Step, request: &Request| {
            !matches!(request.method, "GET" | "HEAD") || !step.expect.fresh.is_empty()
        };
        let shared = requests
            .iter()
            .filter(|(step, request)| is_about(step, request))
            .flat_map(|(step, _)| named(scenario, step))
            .find(|data| !is_own(data));
        if let Some(data) = shared {
            let message = format!(
                "fresh proves nothing of data {:?}, whose rows other users may change meanwhile: \
                 give it deal = \"exclusive\"",
                data.name
            );
            return Err(CompileError::from(message).of(text));
        }
    }
    Ok(())
}

/// Whether no other user can have the row at the same time.
fn is_own(data: &Data) -> bool {
    data.per_user || data.rows == Rows::New || data.deal == Some(Deal::Exclusive)
}

/// The data that a request is about. Rows in its body may be new content, unless they are people.
fn named<'s>(scenario: &'s Scenario, step: &Step) -> Vec<&'s Data> {
    let identity = step.expect.identity.iter().flat_map(|identity| data_of(scenario, &identity.value));
    let texts = texts_of(step, &scenario.headers);
    let about = texts.iter().filter(|text| matches!(text.place, Place::Subject | Place::Sent));
    let about = about.flat_map(|text| {
        let is_body = text.place == Place::Sent && !text.key.starts_with("headers.");
        let data = data_of(scenario, &text.text).into_iter();
        data.filter(move |data| !is_body || data.rows == Rows::Seeded)
    });
    about.chain(identity).collect()
}

/// The data whose cells a text contains, directly or through values.
fn data_of<'s>(scenario: &'s Scenario, text: &Template) -> Vec<&'s Data> {
    let of = |field: &Field| match field {
        Field::Column(name, _) | Field::Name(name) => {
            let data: Vec<_> = scenario.data.iter().filter(|data| data.name == *name).collect();
            let value = scenario.values.iter().find(|(key, _)| key == name);
            match value {
                Some((_, text)) if data.is_empty() => data_of(scenario, text),
                _ => data,
            }
        }
        _ => Vec::new(),
    };
    text.fields().flat_map(of).collect()
}
