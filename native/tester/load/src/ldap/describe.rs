//! A request and its answer in words, to explain a failure.

use wire::ldap::frame::message_length;
use wire::ldap::{Controls, Reply, Response, ResultCode, op};

use super::receive::MESSAGE_BYTES;
use super::{Ask, LaneState, Ldap};
use crate::record::report::Report;

impl Ldap {
    /// Describes the request in flight and its answer, without passwords.
    pub(super) fn describe_request(&mut self, ask: &Ask, lane: &LaneState, answer: Option<&[u8]>) -> Report {
        let (script, texts) = (&self.scripts[ask.script], [&ask.shown, &ask.rest]);
        let mut report = script.report(&lane.memory, ask.operation, &ask.captures, texts, &mut self.rng);
        report.request = format!("{} {:?}", ask.verb, report.request);
        let Some((code, diagnostic, controls)) = answer.and_then(result) else { return report };
        let diagnostic = self.without_secrets(ask, lane, diagnostic);
        let result = if diagnostic.is_empty() { code.clone() } else { format!("{code}, {diagnostic:?}") };
        report.answer = match lane.entries {
            0 if ask.response == op::SEARCH_DONE && result == ResultCode::SUCCESS.name() => {
                "no entry".to_owned()
            }
            0 => result,
            entries => format!("{entries} entries, {result}"),
        };
        report.answer += &match ask.expects.missing_control(controls).filter(|_| self.shared.verify) {
            Some(oid) => format!(", but control {oid} is missing"),
            None => self.describe_difference(ask, lane),
        };
        report.code = Some(code);
        report.diagnostic = (!diagnostic.is_empty()).then_some(diagnostic);
        report
    }
}

/// The result in the last message of an answer: its code, the server's diagnostic message, and its controls.
fn result(mut bytes: &[u8]) -> Option<(String, String, Controls<'_>)> {
    loop {
        let length = message_length(bytes, MESSAGE_BYTES).ok()??;
        let response = Response::decode(bytes.get(..length)?).ok()?;
        if let Reply::Done { outcome, .. } = response.reply {
            let answer = String::from_utf8_lossy(outcome.diagnostic).into_owned();
            let code = match outcome.code {
                ResultCode::OTHER => outcome.code.name().to_owned(),
                ResultCode(number) if outcome.code.name() == ResultCode::OTHER.name() => {
                    format!("result {number}")
                }
                code => code.name().to_owned(),
            };
            return Some((code, answer, response.controls));
        }
        bytes = &bytes[length..];
    }
}
