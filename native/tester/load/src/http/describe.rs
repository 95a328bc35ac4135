//! A request and its answer in words, for people who look into a failure.

use super::request::Described;
use super::{Http, LaneState};

/// Parts of the names of parameters whose values are not shown.
const SECRETS: [&str; 11] =
    ["pass", "pwd", "token", "secret", "key", "auth", "sig", "session", "sid", "code", "jwt"];

/// What is written for a secret.
const HIDDEN: &str = "...";

impl Http {
    /// The request in flight as its method and path, and what was answered.
    pub(super) fn describe_request(
        &mut self,
        request: &Described,
        lane: &LaneState,
        answer: Option<&[u8]>,
    ) -> String {
        let mut sent = Vec::new();
        match (&request.file, self.files.as_deref().and_then(|set| set.file(lane.file_number))) {
            (Some(wanted), Some(file)) => {
                sent.extend_from_slice(&wanted.before_path);
                file.write_path(&mut sent);
            }
            _ => {
                // What an answer gave to a lane, a cookie or a token, may be as good as a password.
                let hidden = HIDDEN.as_bytes();
                let values = self.people_view.values(request.asks, lane.asked, lane.draw, hidden);
                request.line.head.write(&values, &mut sent);
            }
        }
        let line = first_line(&sent);
        let asked =
            masked(line.strip_suffix(" HTTP/1.1").or(line.strip_suffix(" HTTP/1.0")).unwrap_or(&line));
        let Some(answer) = answer else { return asked };
        let said = status_line(answer, lane.status);
        if request.accepts(lane.status) {
            return format!("{asked}: {said}");
        }
        let expected = request.statuses.iter().map(u16::to_string).collect::<Vec<_>>().join(" or ");
        format!("{asked}: {said}, expected {expected}")
    }
}

/// The status as the answer has it. An interim answer may come before, and the head may have been read before.
pub(super) fn status_line(answer: &[u8], status: u16) -> String {
    let status = status.to_string();
    let said = answer.split(|&byte| byte == b'\n').find_map(|line| {
        let line = first_line(line);
        let (version, said) = line.split_once(' ')?;
        (version.starts_with("HTTP/") && said.starts_with(&status)).then(|| said.trim_end().to_owned())
    });
    said.unwrap_or(status)
}

pub(super) fn first_line(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == b'\r' || byte == b'\n').unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

/// A request's line without the values of parameters that may be secret.
pub(super) fn masked(line: &str) -> String {
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
