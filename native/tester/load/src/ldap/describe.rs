//! A request and its answer in words, to explain a failure.

use wire::ldap::frame::message_length;
use wire::ldap::{Controls, Reply, Response, ResultCode};

use super::receive::MESSAGE_BYTES;
use super::{Ask, LaneState, Ldap};
use crate::record::told::Told;

impl Ldap {
    /// Describes the request in flight and its answer, without passwords.
    pub(super) fn tell_request(&mut self, ask: &Ask, lane: &LaneState, answer: Option<&[u8]>) -> Told {
        let mut told = Told { asked: self.describe_ask(ask, lane), ..Told::default() };
        if let Some(memory) = lane.memory.as_deref() {
            self.tell_ask(ask, memory, &mut told);
        }
        let Some((code, diagnostic, controls)) = answer.and_then(result) else { return told };
        let diagnostic = self.without_secrets(ask, lane, diagnostic);
        let result = if diagnostic.is_empty() { code.clone() } else { format!("{code}, {diagnostic:?}") };
        told.said = match lane.entries {
            0 if ask.is_search() && result == ResultCode::SUCCESS.name() => "no entry".to_owned(),
            0 => result,
            entries => format!("{entries} entries, {result}"),
        };
        told.said += &match ask.expects.missing_control(controls).filter(|_| self.shared.verify) {
            Some(oid) => format!(", but control {oid} is missing"),
            None => self.tell_differs(ask, lane),
        };
        told.code = Some(code);
        told.diagnostic = (!diagnostic.is_empty()).then_some(diagnostic);
        told
    }
}

/// The result in the last message of an answer: its code, the server's diagnostic message, and its controls.
fn result(mut bytes: &[u8]) -> Option<(String, String, Controls<'_>)> {
    loop {
        let length = message_length(bytes, MESSAGE_BYTES).ok()??;
        let response = Response::decode(bytes.get(..length)?).ok()?;
        if let Reply::Done { outcome, .. } = response.reply {
            let said = String::from_utf8_lossy(outcome.diagnostic).into_owned();
            let code = match outcome.code {
                ResultCode::OTHER => outcome.code.name().to_owned(),
                ResultCode(number) if outcome.code.name() == ResultCode::OTHER.name() => {
                    format!("result {number}")
                }
                code => code.name().to_owned(),
            };
            return Some((code, said, response.controls));
        }
        bytes = &bytes[length..];
    }
}
