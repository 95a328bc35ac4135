//! A request and its answer in words, for people who look into a failure.

use wire::ldap::frame::message_length;
use wire::ldap::{Reply, Response, ResultCode};

use super::receive::MESSAGE_BYTES;
use super::request::Request;
use super::verify::NOT_WHOLE;
use super::{LaneState, Ldap};
use crate::record::told::Told;

impl Ldap {
    /// The request in flight with the entry it is about, and what was answered. Passwords are in neither.
    pub(super) fn tell_request(
        &mut self,
        request: &Request,
        lane: &LaneState,
        answer: Option<&[u8]>,
    ) -> Told {
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
            Request::Prepare(_) => String::new(),
        };
        let mut told = Told { asked, ..Told::default() };
        if let Some(memory) = lane.memory.as_deref() {
            if let Request::Ask(ask) = request {
                self.tell_ask(ask, memory, &mut told);
            } else {
                (told.user, told.iteration) = memory.kept.whose();
            }
        }
        let Some((code, mut diagnostic)) = answer.and_then(result) else { return told };
        if let Request::Ask(ask) = request {
            diagnostic = self.without_secrets(ask, lane, diagnostic);
        }
        let result = if diagnostic.is_empty() { code.clone() } else { format!("{code}, {diagnostic:?}") };
        told.said = match lane.entries {
            // What was found is not there to be described: an answer without it is.
            0 if searches(request) && result == ResultCode::SUCCESS.name() => "no entry".to_owned(),
            0 => result,
            entries => format!("{entries} entries, {result}"),
        };
        match request {
            Request::Ask(ask) => told.said += &self.tell_differs(ask, lane),
            Request::Lookup { .. } if lane.wrong && lane.entries == 1 => told.said += NOT_WHOLE,
            _ => {}
        }
        told.code = Some(code);
        told.diagnostic = (!diagnostic.is_empty()).then_some(diagnostic);
        told
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

fn searches(request: &Request) -> bool {
    match request {
        Request::Lookup { .. } | Request::Search { .. } => true,
        Request::Ask(ask) => ask.is_search(),
        _ => false,
    }
}

/// The result in the last of the messages that came: its code, and what the server says to it.
fn result(mut bytes: &[u8]) -> Option<(String, String)> {
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
            return Some((code, said));
        }
        bytes = &bytes[length..];
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
