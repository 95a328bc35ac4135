//! A request and its answer in words, to explain a failure.

use scenario::is_named_secret_on_sites;

use super::ask::{Ask, Status, Statuses};
use super::search::Missing;
use super::{Http, LaneState};
use crate::fill::Text;
use crate::record::report::Report;
use crate::scripted::hide;

/// The text that replaces a secret.
const HIDDEN: &str = "...";

impl Http {
    /// Describes the request in flight, and its answer.
    pub(super) fn describe_ask(&mut self, ask: &Ask, lane: &LaneState, answer: Option<&[u8]>) -> Report {
        let memory = &lane.visit.memory;
        let (script, texts) = (&self.scripts[ask.script], [&ask.shown, &ask.rest]);
        let mut report = script.report(memory, ask.operation, &ask.captures, texts, &mut self.rng);
        report.request = masked(&report.request) + &lane.visit.redirects.describe();
        // Any captured value may be as secret as a password.
        report.captured.iter_mut().for_each(|(_, value)| *value = None);
        if let Some(answer) = answer {
            report.answered(status_line(answer, lane.status), lane.status);
            if let Some(missing) = self.expected(ask, lane).or_else(|| self.missing_part(ask, lane)) {
                report.answer = format!("{}, {missing}", report.answer);
            }
        }
        let hide = |http: &mut Self, text: &str| http.without_secrets(ask, lane, text);
        report.request = hide(self, &report.request);
        report.rest = hide(self, &report.rest);
        report.answer = hide(self, &report.answer);
        report.diagnostic = report.diagnostic.as_deref().map(|text| hide(self, text));
        report
    }

    fn without_secrets<'a>(&mut self, ask: &'a Ask, lane: &LaneState, report: &str) -> String {
        let (plan, data) = (&self.scripts[ask.script].plan, &lane.visit.memory.data);
        let filled = |(name, text): &'a (String, Text)| (plan.written(text, data, &mut self.rng), &**name);
        let secrets: Vec<_> = ask.secrets.iter().map(filled).collect();
        hide(report, &secrets)
    }

    /// The expected statuses, if the status is none of them.
    fn expected(&mut self, ask: &Ask, lane: &LaneState) -> Option<String> {
        let Statuses::Any(statuses) = &ask.statuses else {
            return (!(200..300).contains(&lane.status)).then(|| "expected 2xx".to_owned());
        };
        let plan = &self.scripts[ask.script].plan;
        let mut texts = Vec::new();
        for status in statuses {
            texts.push(match status {
                Status::Code(code) => code.to_string(),
                Status::Named(text) => {
                    let text = plan.written(text, &lane.visit.memory.data, &mut self.rng);
                    String::from_utf8_lossy(&text).into_owned()
                }
            });
        }
        (!texts.contains(&lane.status.to_string())).then(|| format!("expected {}", texts.join(" or ")))
    }

    /// The missing text or length of an answer whose status is right.
    fn missing_part(&mut self, ask: &Ask, lane: &LaneState) -> Option<String> {
        let (missing, length) = (lane.visit.missing?, lane.visit.length);
        let (mut filler, mut text) = (self.filler(ask, &lane.visit.memory.data).0, Vec::new());
        match missing {
            Missing::Length => return Some(format!("{length} bytes, expected {}", ask.length?)),
            Missing::End => return Some(format!("more than the {length} bytes that its head says")),
            Missing::Capture(number) => {
                let name = filler.plan.capture_at(ask.captures[number].place)?;
                return Some(format!("nothing to capture as {name}"));
            }
            Missing::Header(number) => {
                let (name, value) = &ask.headers[number];
                text.extend_from_slice(format!("{name}: ").as_bytes());
                if is_named_secret_on_sites(name) {
                    text.extend_from_slice(HIDDEN.as_bytes());
                } else {
                    filler.write(value, &mut text);
                }
            }
            Missing::Text(number) => ask.contains[number].write(&mut filler, &mut text),
            Missing::Fresh(number) => ask.fresh[number].write(&mut filler, &mut text),
            Missing::Owner => ask.identity.as_ref()?.write(&mut filler, &mut text),
        }
        let place = if matches!(missing, Missing::Header(_)) {
            "the head".to_owned()
        } else {
            format!("{length} bytes")
        };
        Some(format!("no {:?} in {place}", String::from_utf8_lossy(&text)))
    }
}

impl Report {
    /// Takes the status of an answer from its status line.
    pub(super) fn answered(&mut self, line: String, status: u16) {
        let code = status.to_string();
        let reason = line.strip_prefix(&code).map(str::trim).filter(|reason| !reason.is_empty());
        self.diagnostic = reason.map(str::to_owned);
        (self.answer, self.code) = (line, Some(code));
    }
}

/// The status with its reason, from the head of the answer; the status alone if `answer` lacks the head. An
/// interim answer may precede the head.
pub(super) fn status_line(answer: &[u8], status: u16) -> String {
    let status = status.to_string();
    let answer = answer.split(|&byte| byte == b'\n').find_map(|line| {
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        let (version, answer) = line.split_once(' ')?;
        (version.starts_with("HTTP/") && answer.starts_with(&status)).then(|| answer.to_owned())
    });
    answer.unwrap_or(status)
}

/// A request's line without values that may be secret: parameters of the query, the fragment and the path
/// (`;jsessionid=`), and the name and password in front of a host.
pub(super) fn masked(line: &str) -> String {
    let (mut shown, mut rest, mut in_path) = (String::new(), line, true);
    if let Some((scheme, after)) = line.split_once("//") {
        let authority = &after[..after.find(['/', '?', '#']).unwrap_or(after.len())];
        if (scheme.is_empty() || scheme.ends_with(':'))
            && let Some((_, host)) = authority.rsplit_once('@')
        {
            shown = format!("{scheme}//{HIDDEN}@{host}");
            rest = &after[authority.len()..];
        }
    }
    while let Some(at) = rest.find(['?', '&', ';', '#']) {
        let (before, after) = rest.split_at(at + 1);
        shown.push_str(before);
        in_path &= before.ends_with([';', '&']);
        let ends: &[char] = if in_path { &['/', '?', '#'] } else { &['&', '#'] };
        let (parameter, remainder) = after.split_at(after.find(ends).unwrap_or(after.len()));
        rest = match parameter.split_once('=') {
            Some((name, _)) if is_named_secret_on_sites(name) => {
                shown.push_str(&format!("{name}={HIDDEN}"));
                remainder
            }
            _ => after,
        };
    }
    shown + rest
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn secrets_in_a_query_are_not_shown() {
        assert_eq!(masked("GET /a?user=7&Token=abc&x"), "GET /a?user=7&Token=...&x");
        assert_eq!(masked("GET /a"), "GET /a");
        assert_eq!(masked("GET /a?token=b/c;d&x=1/2;sid=3"), "GET /a?token=...&x=1/2;sid=...");
    }

    #[test]
    fn name_and_password_in_front_of_a_host_are_not_shown() {
        assert_eq!(masked("http://ann:hunter2@host/a?sid=1"), "http://...@host/a?sid=...");
        assert_eq!(masked("//ann@host"), "//...@host");
        assert_eq!(masked("http://host/a//b@c"), "http://host/a//b@c");
        assert_eq!(masked("GET /a//b@c"), "GET /a//b@c");
    }

    #[test]
    fn secrets_outside_the_query_are_not_shown() {
        assert_eq!(masked("/a;v=1;jsessionid=b;c/d;x=e?f"), "/a;v=1;jsessionid=.../d;x=e?f");
        assert_eq!(masked("/a?b=c#access_token=d&state=e"), "/a?b=c#access_token=...&state=e");
    }
}
