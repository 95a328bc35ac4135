//! The CGI variables of a request (RFC 3875 section 4.1). `PATH_TRANSLATED` is left out: CGI programs do not
//! need the docroot.

use http::{Request, origin_form};

/// Names and values, in the order of display.
pub(crate) struct Variables(pub(crate) Vec<(String, Vec<u8>)>);

/// The PATH of programs; no variable of this process's environment is passed on.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Header lines that become no `HTTP_` variable. `Proxy` would set `HTTP_PROXY` for the program's own
/// requests (CVE-2016-5385, "httpoxy"); credentials are for the server only (RFC 3875 section 4.1.18); the
/// other lines have variables of their own or concern the connection only.
const WITHHELD: [&str; 8] = [
    "proxy",
    "authorization",
    "proxy-authorization",
    "content-length",
    "content-type",
    "connection",
    "transfer-encoding",
    "keep-alive",
];

impl Variables {
    /// The variables of a request for the program `script`. `path_info` is the decoded rest of the path, or
    /// empty. `host` is the address of the server, and its name if the client sends no name.
    pub(crate) fn new<L>(
        request: &Request<'_, L>,
        script: &str,
        path_info: &[u8],
        (host, port, tls): (&str, u16, bool),
    ) -> Self {
        let line = &request.head;
        let head = request.bytes.get(..line.length).unwrap_or_default();
        let mut variables = Self(Vec::with_capacity(32));
        variables.add("GATEWAY_INTERFACE", "CGI/1.1");
        variables.add("SERVER_SOFTWARE", concat!("sitebench/", env!("CARGO_PKG_VERSION")));
        variables.add("SERVER_PROTOCOL", if request.common.http10 { "HTTP/1.0" } else { "HTTP/1.1" });
        variables.add("SERVER_NAME", named_host(head).unwrap_or(host));
        variables.add("SERVER_PORT", port.to_string());
        if tls {
            variables.add("HTTPS", "on");
        }
        variables.add("REQUEST_METHOD", line.method);
        let question = if line.query.is_empty() { "" } else { "?" };
        variables.add("REQUEST_URI", [origin_form(line.path), question, line.query].concat());
        variables.add("SCRIPT_NAME", script);
        if !path_info.is_empty() {
            variables.add("PATH_INFO", path_info);
        }
        variables.add("QUERY_STRING", line.query);
        variables.add("REMOTE_ADDR", request.from.to_string());
        variables.add("REMOTE_HOST", request.from.to_string());
        variables.add("PATH", PATH);
        for (name, value) in lines(head) {
            variables.line(name, value, request.has_body);
        }
        variables
    }

    fn add(&mut self, name: impl Into<String>, value: impl Into<Vec<u8>>) {
        self.0.push((name.into(), value.into()));
    }

    /// A header line. Only names of letters, digits and hyphens become variables: `Content_Type` would
    /// otherwise pass for `Content-Type`, as both become `HTTP_CONTENT_TYPE`.
    fn line(&mut self, name: &str, value: &[u8], has_body: bool) {
        if has_body && name.eq_ignore_ascii_case("content-type") {
            self.add("CONTENT_TYPE", value);
        }
        let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_plain || value.contains(&0) || WITHHELD.iter().any(|one| name.eq_ignore_ascii_case(one)) {
            return;
        }
        let name = format!("HTTP_{}", name.to_ascii_uppercase().replace('-', "_"));
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            // RFC 3875 section 4.1.18: repeated header lines become one variable.
            Some((_, before)) => {
                let separator: &[u8] = if name == "HTTP_COOKIE" { b"; " } else { b", " };
                before.extend_from_slice(separator);
                before.extend_from_slice(value);
            }
            None => self.add(name, value),
        }
    }

    /// Adds the length of the body, once the body is complete.
    pub(crate) fn add_length(&mut self, length: usize) {
        self.add("CONTENT_LENGTH", length.to_string());
    }

    /// Appends the variables as lines of text, like a program that prints its environment.
    pub(crate) fn push(&self, out: &mut Vec<u8>) {
        for (name, value) in &self.0 {
            out.extend_from_slice(name.as_bytes());
            out.push(b'=');
            out.extend_from_slice(value);
            out.push(b'\n');
        }
    }
}

/// The header lines of a validated head.
fn lines(head: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    let lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
    // Empty lines before the request line are allowed (RFC 9112 section 2.2).
    lines.skip_while(|line| line.is_empty()).skip(1).filter_map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let (name, value) = line.split_at(colon);
        Some((std::str::from_utf8(name).ok()?, value.get(1..)?.trim_ascii()))
    })
}

/// The server's name in the client's request, if valid.
fn named_host(head: &[u8]) -> Option<&str> {
    let (_, value) = lines(head).find(|(name, _)| name.eq_ignore_ascii_case("host"))?;
    let value = std::str::from_utf8(value).ok()?;
    let is_address = value.starts_with('[');
    let end = if is_address { value.find(']')? + 1 } else { value.find(':').unwrap_or(value.len()) };
    let host = value.get(..end)?;
    let may_be = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b':' | b'[' | b']');
    (!host.is_empty() && host.bytes().all(may_be)).then_some(host)
}

/// Splits the path after `/cgi-bin/` into the program's name and PATH_INFO. Names have letters, digits, `.`,
/// `_` and `-`, and do not begin with a dot.
pub(crate) fn program(path: &str) -> Option<(&str, &str)> {
    let end = path.find('/').unwrap_or(path.len());
    let (name, path_info) = path.split_at(end);
    let may_be = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (!name.is_empty() && !name.starts_with('.') && name.bytes().all(may_be)).then_some((name, path_info))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_name_is_the_host_of_the_request_if_valid() {
        for (value, name) in [
            ("a.example:80", Some("a.example")),
            ("[::1]:80", Some("[::1]")),
            ("a b", None),
            ("$(id)", None),
            ("", None),
        ] {
            assert_eq!(
                named_host(format!("GET / HTTP/1.1\r\nHost: {value}\r\n\r\n").as_bytes()),
                name,
                "{value}"
            );
        }
    }

    #[test]
    fn the_name_of_a_program_has_no_leading_dot_escape_or_special_character() {
        assert_eq!(program("env"), Some(("env", "")));
        assert_eq!(program("env.sh/a/b"), Some(("env.sh", "/a/b")));
        for path in ["", "/", "..", "../env", ".env", "%65nv", "a b", "a;id", "a\\b"] {
            assert_eq!(program(path), None, "{path}");
        }
    }
}
