//! Checks of `fresh`: a page after an update proves nothing about rows that other users may change meanwhile.

use crate::compile_error::{CompileError, Result};
use scenario::{Body, Data, Deal, Field, Json, Request, Rows, Scenario, Step, Template, Verb, flat};

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
            .flat_map(|(step, request)| named(scenario, step, request))
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
fn named<'s>(scenario: &'s Scenario, step: &'s Step, request: &'s Request) -> Vec<&'s Data> {
    let replaced = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let common = scenario.headers.iter().filter(|(name, _)| !replaced(name));
    let headers = common.chain(&request.headers).map(|(_, value)| value);
    let identity = step.expect.identity.iter().map(|identity| &identity.value);
    let mut body = Vec::new();
    match &request.body {
        Some(Body::Form(fields)) => body.extend(fields.iter().map(|(_, value)| value)),
        Some(Body::Json(json)) => texts_of(json, &mut body),
        Some(Body::Text(text, _)) => body.push(text),
        None => {}
    }
    let people = body.into_iter().flat_map(|text| data_of(scenario, text));
    let people = people.filter(|data| data.rows == Rows::Seeded);
    let about = [&request.path].into_iter().chain(headers).chain(identity);
    about.flat_map(|text| data_of(scenario, text)).chain(people).collect()
}

fn texts_of<'s>(json: &'s Json, texts: &mut Vec<&'s Template>) {
    match json {
        Json::Text(text) => texts.push(text),
        Json::Literal(_) => {}
        Json::List(list) => list.iter().for_each(|item| texts_of(item, texts)),
        Json::Object(fields) => fields.iter().for_each(|(_, item)| texts_of(item, texts)),
    }
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
