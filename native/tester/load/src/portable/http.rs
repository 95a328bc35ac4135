//! Requests of HTTP in parts, and answers put together from theirs.

use std::sync::Arc;

use people::visitor::Visitors;

use super::{Judged, TurnError, User, Users, cannot};
use crate::engine::{self, StartError};
use crate::http::{Http, HttpConfig};
use crate::values::Tables;

/// Users of a site.
pub type SiteUsers = Users<Http>;

/// One of them.
pub type SiteUser = User<Http>;

/// A request as HTTP's clients take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// GET, POST, ...
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Header lines but `Host` and `Content-Length`, which are the client's; each byte is one character.
    pub headers: Vec<(String, String)>,
    /// Empty where there is none.
    pub body: Vec<u8>,
}

/// Header lines that a client writes itself.
const CLIENT_S: [&str; 2] = ["host", "content-length"];

impl Users<Http> {
    /// Makes the users of an engine's configuration.
    pub fn new_http(
        mut config: HttpConfig,
        visitors: Option<Arc<Visitors>>,
        tables: &Tables,
    ) -> Result<Self, StartError> {
        // All of them are one thread's.
        config.threads = 1;
        refuse(&config)?;
        let (names, compiled, speaks) = engine::site(&mut config, visitors, tables)?;
        if let (true, Some(spec)) = (config.target.http10, config.scenarios.first()) {
            // The scenario says so.
            return Err(cannot(&spec.name, "HTTP/1.0"));
        }
        let (seed, rng) = config.seeds(0);
        Ok(Self::new(names, compiled, speaks.protocol(seed, 0), rng, false))
    }
}

fn refuse(config: &HttpConfig) -> Result<(), StartError> {
    match config.scenarios.first() {
        Some(spec) if config.is_open() => Err(cannot(&spec.name, "schedules of a rate")),
        Some(spec) if config.target.secure.is_some() => Err(cannot(&spec.name, "a second address with TLS")),
        _ => Ok(()),
    }
}

impl User<Http> {
    /// Judges an answer whose body has been put together, and unpacked if it was packed.
    pub fn answered_http(
        &mut self,
        users: &mut Users<Http>,
        status: u16,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Judged, TurnError> {
        let has = |wanted: &str| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        // Where the length still is that of the body, it tells a body that was cut short.
        let is_whole = has("Content-Length") && !has("Content-Encoding") && !has("Transfer-Encoding");
        let mut answer = format!("HTTP/1.1 {status} \r\n").into_bytes();
        for (name, value) in headers {
            let is_length = name.eq_ignore_ascii_case("Content-Length");
            if !(name.eq_ignore_ascii_case("Transfer-Encoding") || is_length && !is_whole) {
                push_characters(name, &mut answer);
                answer.extend_from_slice(b": ");
                push_characters(value, &mut answer);
                answer.extend_from_slice(b"\r\n");
            }
        }
        if !is_whole {
            answer.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        answer.extend_from_slice(b"\r\n");
        answer.extend_from_slice(body);
        self.answered(users, &answer)
    }
}

impl HttpRequest {
    /// Takes a request apart.
    pub fn of(request: &[u8]) -> Self {
        let end = memchr::memmem::find(request, b"\r\n\r\n").unwrap_or(request.len());
        let (head, rest) = request.split_at(end);
        let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        let mut line = lines.next().unwrap_or_default().split(|&byte| byte == b' ').map(characters);
        let (method, path) = (line.next().unwrap_or_default(), line.next().unwrap_or_default());
        let header = |line: &[u8]| {
            let (name, value) = line.split_at(line.iter().position(|&byte| byte == b':')?);
            Some((characters(name), characters(value[1..].trim_ascii())))
        };
        let is_client_s =
            |(name, _): &(String, String)| CLIENT_S.iter().any(|own| name.eq_ignore_ascii_case(own));
        let headers = lines.filter_map(header).filter(|line| !is_client_s(line)).collect();
        Self { method, path, headers, body: rest.get(4..).unwrap_or_default().to_vec() }
    }
}

/// Each byte as a character (latin-1), as HTTP's clients in Python have header lines.
fn characters(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn push_characters(text: &str, out: &mut Vec<u8>) {
    out.extend(text.chars().filter_map(|character| u8::try_from(character).ok()));
}
