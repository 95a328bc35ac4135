//! A request and its answer in words, for people who look into a failure.

use wire::ldap::frame::message_length;
use wire::ldap::{Reply, Response, ResultCode};

use super::receive::MESSAGE_BYTES;
use super::request::Request;
use super::{LaneState, Ldap};

impl Ldap {
    /// The request in flight with the entry it is about, and what was answered. Passwords are in neither.
    pub(super) fn describe_request(
        &mut self,
        request: &Request,
        lane: &LaneState,
        answer: Option<&[u8]>,
    ) -> String {
        let asked = match request {
            Request::Bind { dn, .. } => format!("bind as {:?}", text(dn)),
            Request::Lookup { .. } => format!("look up {}", self.sought(lane)),
            Request::Retrieve { .. } => format!("search {:?} for people", text(&self.shared.base)),
            Request::Search { base, .. } => format!("search {:?}", text(base)),
            Request::Remove { .. } => format!("delete {:?}", self.name_of(lane)),
            Request::Add { .. } => format!("add {:?}", self.name_of(lane)),
            Request::Change { verb, .. } => format!("{verb} {:?}", self.name_of(lane)),
            Request::Compare { .. } => format!("compare {:?}", self.name_of(lane)),
            Request::Ask(ask) => self.describe_ask(ask, lane),
            Request::Take | Request::Prepare(_) => String::new(),
        };
        let said = answer.and_then(result);
        let said = match (said, request) {
            (Some(said), Request::Ask(ask)) => Some(self.without_secrets(ask, lane, said)),
            (said, _) => said,
        };
        match said {
            // What was found is not there to be described: an answer without it is.
            Some(result) if found_nothing(request, lane, &result) => format!("{asked}: no entry"),
            Some(result) if lane.entries > 0 => format!("{asked}: {} entries, {result}", lane.entries),
            Some(result) => format!("{asked}: {result}"),
            None => asked,
        }
    }

    /// A person as they were looked for: by DN where people are ours, else by what was searched.
    fn sought(&self, lane: &LaneState) -> String {
        let names = &self.shared.names;
        match lane.current {
            Some(person) if names.known(person).is_none() => {
                let mut value = Vec::new();
                names.write_value(person, &mut value);
                let (attribute, base) = (text(names.attribute(person)), text(&self.shared.base));
                format!("({attribute}={}) below {base:?}", text(&value))
            }
            _ => format!("{:?}", self.name_of(lane)),
        }
    }

    fn name_of(&self, lane: &LaneState) -> String {
        let mut dn = Vec::new();
        if let Some(person) = lane.current {
            self.shared.names.write_dn(person, &mut dn);
        }
        text(&dn)
    }
}

fn found_nothing(request: &Request, lane: &LaneState, result: &str) -> bool {
    let searched = match request {
        Request::Lookup { .. } | Request::Search { .. } => true,
        Request::Ask(ask) => ask.is_search(),
        _ => false,
    };
    searched && lane.entries == 0 && result == ResultCode::SUCCESS.name()
}

/// The result in the last of the messages that came.
fn result(mut bytes: &[u8]) -> Option<String> {
    loop {
        let length = message_length(bytes, MESSAGE_BYTES).ok()??;
        let response = Response::decode(bytes.get(..length)?).ok()?;
        if let Reply::Done { outcome, .. } = response.reply {
            let said = text(outcome.diagnostic);
            let code = match outcome.code {
                ResultCode::OTHER => outcome.code.name().to_owned(),
                ResultCode(number) if outcome.code.name() == ResultCode::OTHER.name() => {
                    format!("result {number}")
                }
                code => code.name().to_owned(),
            };
            return Some(if said.is_empty() { code } else { format!("{code}, {said:?}") });
        }
        bytes = &bytes[length..];
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
