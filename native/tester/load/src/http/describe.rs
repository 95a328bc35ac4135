//! A request and its answer in words, for people who look into a failure.

use super::ask::{Ask, Status, Statuses};
use super::escape::{Escape, push};
use super::{Http, LaneState};

/// Parts of the names of parameters whose values are not shown.
const SECRETS: [&str; 11] =
    ["pass", "pwd", "token", "secret", "key", "auth", "sig", "session", "sid", "code", "jwt"];

/// What is written for a secret.
const HIDDEN: &str = "...";

impl Http {
    /// The request in flight as its method and path, and what was answered, without secrets.
    pub(super) fn describe_ask(&mut self, ask: &Ask, lane: &LaneState, answer: Option<&[u8]>) -> String {
        let (plan, kept) = (&self.scripts[ask.script].plan, &lane.visit.memory.kept);
        let mut asked = Vec::new();
        plan.write(&ask.shown, kept, &mut self.rng, &mut asked);
        let mut told = masked(&String::from_utf8_lossy(&asked));
        if let Some(answer) = answer {
            let said = status_line(answer, lane.status);
            told = format!("{told}: {said}");
            if let Some(expected) = self.expected(ask, lane) {
                told = format!("{told}, expected {expected}");
            }
        }
        let plan = &self.scripts[ask.script].plan;
        for (name, text) in &ask.secrets {
            let mut secret = Vec::new();
            plan.write(text, kept, &mut self.rng, &mut secret);
            for how in [Escape::Plain, Escape::Percent, Escape::Html, Escape::HtmlNumeric, Escape::Json] {
                let mut form = Vec::new();
                push(&mut form, &secret, how);
                let form = String::from_utf8_lossy(&form);
                if !form.is_empty() {
                    told = told.replace(&*form, name);
                }
            }
        }
        told
    }

    /// What the status should have been, where it is another.
    fn expected(&mut self, ask: &Ask, lane: &LaneState) -> Option<String> {
        let Statuses::Any(statuses) = &ask.statuses else {
            return (!(200..300).contains(&lane.status)).then(|| "2xx".to_owned());
        };
        let plan = &self.scripts[ask.script].plan;
        let mut texts = Vec::new();
        for status in statuses {
            texts.push(match status {
                Status::Code(code) => code.to_string(),
                Status::Named(text) => {
                    let mut out = Vec::new();
                    plan.write(text, &lane.visit.memory.kept, &mut self.rng, &mut out);
                    String::from_utf8_lossy(&out).into_owned()
                }
            });
        }
        (!texts.contains(&lane.status.to_string())).then(|| texts.join(" or "))
    }
}

/// The status as the answer has it. An interim answer may come before, and the head may have been read before.
pub(super) fn status_line(answer: &[u8], status: u16) -> String {
    let status = status.to_string();
    let said = answer.split(|&byte| byte == b'\n').find_map(|line| {
        let line = String::from_utf8_lossy(line.trim_ascii_end());
        let (version, said) = line.split_once(' ')?;
        (version.starts_with("HTTP/") && said.starts_with(&status)).then(|| said.to_owned())
    });
    said.unwrap_or(status)
}

/// A request's line without the values of parameters that may be secret.
fn masked(line: &str) -> String {
    let Some((path, query)) = line.split_once('?') else { return line.to_owned() };
    let show = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if SECRETS.iter().any(|secret| name.to_ascii_lowercase().contains(secret)) => {
            format!("{name}={HIDDEN}")
        }
        _ => parameter.to_owned(),
    };
    format!("{path}?{}", query.split('&').map(show).collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn secrets_in_a_query_are_not_shown() {
        assert_eq!(masked("GET /a?user=7&Token=abc&x"), "GET /a?user=7&Token=...&x");
        assert_eq!(masked("GET /a"), "GET /a");
    }
}
