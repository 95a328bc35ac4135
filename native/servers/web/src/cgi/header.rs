//! The header of a CGI response (RFC 3875 section 6.3).

/// A parsed CGI header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Status code and phrase.
    pub(super) status: String,
    /// The lines to pass on, each with its line ending.
    pub(super) lines: Vec<u8>,
    /// The Content-Length of the document.
    pub(super) length: Option<usize>,
    /// The length of the header, including the empty line.
    pub(super) bytes: usize,
}

/// The reason for refusing a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum HeaderError {
    #[error("no header that ends in an empty line within its first {MOST_BYTES} bytes")]
    NoEnd,
    #[error("a header line that is no name, colon and value")]
    Malformed,
    #[error("over {MOST_LINES} header lines")]
    TooMany,
    #[error("a status that is not three digits from 200 to 599 and a phrase")]
    BadStatus,
    #[error("a Location that is no path on this server")]
    Elsewhere,
    #[error("a Content-Length that is not one number")]
    BadLength,
    #[error("none of Content-Type, Location and Status")]
    Nothing,
}

/// The same limits as for the head of a request.
const MOST_BYTES: usize = 16 << 10;
const MOST_LINES: usize = 100;

/// Header lines that only the server may send: the lines about the connection (RFC 9110 section 7.6.1), and
/// the date.
const WITHHELD: [&str; 9] = [
    "connection",
    "transfer-encoding",
    "keep-alive",
    "upgrade",
    "trailer",
    "te",
    "date",
    "proxy-authenticate",
    "proxy-connection",
];

impl Header {
    /// Parses the header at the start of a program's output.
    pub(super) fn read(output: &[u8]) -> Result<Self, HeaderError> {
        let mut header = Self { status: String::new(), lines: Vec::new(), length: None, bytes: 0 };
        let (mut location, mut says_something, mut count) = (false, false, 0);
        let start = output.get(..MOST_BYTES).unwrap_or(output);
        loop {
            let rest = start.get(header.bytes..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).ok_or(HeaderError::NoEnd)?;
            header.bytes += end + 1;
            let line = rest.get(..end).unwrap_or_default();
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                break;
            }
            count += 1;
            if count > MOST_LINES {
                return Err(HeaderError::TooMany);
            }
            let (name, value) = split(line).ok_or(HeaderError::Malformed)?;
            says_something |= ["content-type", "location", "status"].iter().any(|one| is(name, one));
            if is(name, "status") {
                header.status = status(value).ok_or(HeaderError::BadStatus)?.to_owned();
            } else if is(name, "content-length") {
                header.length =
                    Some(length(value).filter(|_| header.length.is_none()).ok_or(HeaderError::BadLength)?);
            } else if !WITHHELD.iter().any(|one| is(name, one)) {
                if is(name, "location") {
                    location = true;
                    // Two slashes begin a network-path reference to another server (RFC 3986 section 4.2).
                    if !value.starts_with('/') || value.starts_with("//") || value.starts_with("/\\") {
                        return Err(HeaderError::Elsewhere);
                    }
                }
                for part in [name, ": ", value, "\r\n"] {
                    header.lines.extend_from_slice(part.as_bytes());
                }
            }
        }
        if !says_something {
            return Err(HeaderError::Nothing);
        }
        if header.status.is_empty() {
            header.status = if location { "302 Found" } else { "200 OK" }.to_owned();
        }
        Ok(header)
    }

    /// Whether an answer with this status never has a body.
    pub(super) fn is_bodiless(&self) -> bool {
        self.status.starts_with("204") || self.status.starts_with("304")
    }
}

fn is(name: &str, other: &str) -> bool {
    name.eq_ignore_ascii_case(other)
}

/// Name and value of a line, if it can be passed on unchanged.
fn split(line: &[u8]) -> Option<(&str, &str)> {
    let (name, value) = std::str::from_utf8(line).ok()?.split_once(':')?;
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let value = value.trim_matches([' ', '\t']);
    let fits = !name.is_empty()
        && name.bytes().all(in_name)
        && !value.chars().any(|character| character.is_control() && character != '\t');
    fits.then_some((name, value))
}

/// The value of a Status line, such as `404 Not Found` or `404`. Only the server may send interim responses
/// (1xx).
fn status(value: &str) -> Option<&str> {
    let (code, phrase) = value.split_at_checked(3)?;
    let fits =
        code.bytes().all(|byte| byte.is_ascii_digit()) && (phrase.is_empty() || phrase.starts_with(' '));
    (fits && matches!(code.as_bytes().first(), Some(b'2'..=b'5'))).then_some(value)
}

fn length(value: &str) -> Option<usize> {
    let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    value.parse().ok().filter(|_| digits)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use super::*;

    #[test]
    fn a_cgi_header_sets_status_content_type_and_other_header_lines() {
        let output = b"content-type: text/plain\nX-A:  b \r\nStatus: 404 Not here\nConnection: close\n\
            Content-Length: 4\n\nbody";
        let header = Header::read(output).unwrap();
        assert_eq!((header.status.as_str(), header.length), ("404 Not here", Some(4)));
        assert_eq!(header.lines, b"content-type: text/plain\r\nX-A: b\r\n");
        assert_eq!(&output[header.bytes..], b"body");
        assert_eq!(Header::read(b"Content-Type: a/b\r\n\r\n").unwrap().status, "200 OK");
        assert_eq!(Header::read(b"Location: /a?b\n\n").unwrap().status, "302 Found");
    }

    #[test]
    fn an_invalid_cgi_header_is_refused() {
        let many = format!("Content-Type: a/b\n{}\n", "A: b\n".repeat(100));
        let long = format!("Content-Type: a/b\nX: {}\n\n", "x".repeat(MOST_BYTES));
        for (output, expected) in [
            ("", HeaderError::NoEnd),
            ("Content-Type: a/b\n", HeaderError::NoEnd),
            (&long, HeaderError::NoEnd),
            (&many, HeaderError::TooMany),
            ("hello\n\n", HeaderError::Malformed),
            (": a\n\n", HeaderError::Malformed),
            ("Content-Type : a/b\n\n", HeaderError::Malformed),
            ("Content-Type: a/b\n X: folded\n\n", HeaderError::Malformed),
            ("Content-Type: a/b\rX: y\n\n", HeaderError::Malformed),
            ("Status: 100 Continue\n\n", HeaderError::BadStatus),
            ("Status: 600 x\n\n", HeaderError::BadStatus),
            ("Status: 2000\n\n", HeaderError::BadStatus),
            ("Location: http://elsewhere/\n\n", HeaderError::Elsewhere),
            ("Location: //elsewhere/\n\n", HeaderError::Elsewhere),
            ("Content-Type: a/b\nContent-Length: -1\n\n", HeaderError::BadLength),
            ("Content-Type: a/b\nContent-Length: 1\nContent-Length: 1\n\n", HeaderError::BadLength),
            ("X: y\n\n", HeaderError::Nothing),
            ("\nbody", HeaderError::Nothing),
        ] {
            assert_eq!(Header::read(output.as_bytes()).unwrap_err(), expected, "{output:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_output_of_a_program_adds_a_header_line(output: Vec<u8>) {
            if let Ok(header) = Header::read(&output) {
                let text = String::from_utf8(header.lines).unwrap();
                proptest::prop_assert!(text.split_terminator("\r\n").all(|line| !line.contains(['\r', '\n'])));
            }
        }
    }
}
