//! The answers to requests.

/// The size of the constant answer of paper 001.
const DEFAULT_BYTES: usize = 6_250;

/// A page of HTML (paper 001 on servlets and CGI): this text, then letters `x`, then the end.
const PAGE: &[u8] = b"<!DOCTYPE html>\n<title>sitebench</title>\n<p>";
const PAGE_END: &[u8] = b"</p>\n";

/// Longer documents are refused, as a document is built in memory. WebStone's longest has 5 MB.
const MOST_BYTES: usize = 16 << 20;

/// The variables that simcgi shows (paper 000, Appendix B), in its order. A missing variable is shown empty.
const SHOWN: [&str; 20] = [
    "SERVER_SOFTWARE",
    "SERVER_NAME",
    "GATEWAY_INTERFACE",
    "SERVER_PROTOCOL",
    "SERVER_PORT",
    "REQUEST_METHOD",
    "HTTP_ACCEPT",
    "HTTP_USER_AGENT",
    "HTTP_REFERER",
    "PATH_INFO",
    "PATH_TRANSLATED",
    "SCRIPT_NAME",
    "QUERY_STRING",
    "REMOTE_HOST",
    "REMOTE_ADDR",
    "REMOTE_USER",
    "AUTH_TYPE",
    "CONTENT_TYPE",
    "CONTENT_LENGTH",
    "ANNOTATION_SERVER",
];

/// The length of simcgi's page in the paper. On some servers today's variables are shorter, and blanks fill
/// the page.
const SHOWN_BYTES: usize = 670;

/// Names and values that describe a request (RFC 3875 section 4.1).
pub(crate) type Variables = [(Vec<u8>, Vec<u8>)];

/// The header and the document. `number` has to differ between requests, because random characters depend on
/// it.
pub(crate) fn answer(variables: &Variables, number: u64) -> Vec<u8> {
    let query = String::from_utf8_lossy(value(variables, b"QUERY_STRING"));
    let mut out = document(&query, variables, number).unwrap_or_else(|| {
        let problem = format!("kind takes simcgi, constant or random, size 0 to {MOST_BYTES}\n");
        [b"Status: 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n", problem.as_bytes()].concat()
    });
    // A HEAD request gets no document; the server would drop it (RFC 3875 section 4.3.3).
    if value(variables, b"REQUEST_METHOD") == b"HEAD" {
        let end = out.windows(4).position(|four| four == b"\r\n\r\n").map_or(out.len(), |at| at + 4);
        out.truncate(end);
    }
    out
}

fn value<'a>(variables: &'a Variables, name: &[u8]) -> &'a [u8] {
    variables.iter().find(|(known, _)| known == name).map_or(b"", |(_, value)| value)
}

/// The header and the document; `None` if the query is invalid.
fn document(query: &str, variables: &Variables, number: u64) -> Option<Vec<u8>> {
    let mut out = b"Content-Type: text/plain\r\n\r\n".to_vec();
    let field = |name: &str| {
        query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(known, _)| *known == name))
            .map(|pair| pair.1)
    };
    let Some(kind) = field("kind") else {
        for (name, value) in variables {
            for part in [name, b"=".as_slice(), value, b"\n"] {
                out.extend_from_slice(part);
            }
        }
        return Some(out);
    };
    let size = field("size").map_or(Some(DEFAULT_BYTES), |size| size.parse().ok())?;
    if size > MOST_BYTES {
        return None;
    }
    match kind {
        "simcgi" => {
            let head = out.len();
            for name in SHOWN {
                for part in [name.as_bytes(), b" = ", value(variables, name.as_bytes()), b"\n"] {
                    out.extend_from_slice(part);
                }
            }
            out.resize(out.len().max(head + SHOWN_BYTES), b' ');
        }
        "constant" => return Some(page(size)),
        "random" => {
            // Xorshift (Marsaglia, 2003); the state must not be zero.
            let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            out.extend(
                std::iter::repeat_with(|| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    b'?' + ((state >> 40) % 26) as u8
                })
                .take(size),
            );
        }
        _ => return None,
    }
    Some(out)
}

/// A page of `size` bytes; the letters without HTML if `size` is too small for a page.
fn page(size: usize) -> Vec<u8> {
    let mut out = b"Content-Type: text/html\r\n\r\n".to_vec();
    match size.checked_sub(PAGE.len() + PAGE_END.len()) {
        Some(letters) => {
            out.extend_from_slice(PAGE);
            out.resize(out.len() + letters, b'x');
            out.extend_from_slice(PAGE_END);
        }
        None => out.resize(out.len() + size, b'x'),
    }
    out
}
