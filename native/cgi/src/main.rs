//! The CGI program of the papers' workloads: the variables of its environment, or so many characters.
//!
//! | query | document |
//! |---|---|
//! | none | the environment, a line for each variable |
//! | `kind=constant&size=6250` | so many times the letter `x`; 6,250 without `size` |
//! | `kind=random&size=6250` | so many random characters `?` to `X`, as WebStone's programs write them |
//!
//! It starts no interpreter and depends on no library, so that what a server spends on it is what a process
//! costs.

use std::env;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{ExitCode, id};

/// The constant answer of paper 001.
const DEFAULT_BYTES: usize = 6_250;

/// Longer documents are refused: it is made as a whole. WebStone's longest has 5 MB.
const MOST_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    let query = env::var_os("QUERY_STRING").unwrap_or_default();
    let mut out = document(&query.to_string_lossy()).unwrap_or_else(|| {
        let problem = format!("kind takes constant or random, size 0 to {MOST_BYTES}\n");
        [b"Status: 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n", problem.as_bytes()].concat()
    });
    // A HEAD request wants no document; the server would drop it (RFC 3875 section 4.3.3).
    if env::var_os("REQUEST_METHOD").is_some_and(|method| method == "HEAD") {
        let end = out.windows(4).position(|four| four == b"\r\n\r\n").map_or(out.len(), |at| at + 4);
        out.truncate(end);
    }
    // A server that has gone gets nothing.
    match io::stdout().write_all(&out) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Header and document; `None` where the query makes no sense.
fn document(query: &str) -> Option<Vec<u8>> {
    let mut out = b"Content-Type: text/plain\r\n\r\n".to_vec();
    let field = |name: &str| {
        query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(known, _)| *known == name))
            .map(|pair| pair.1)
    };
    let Some(kind) = field("kind") else {
        for (name, value) in env::vars_os() {
            for part in [name.as_bytes(), b"=", value.as_bytes(), b"\n"] {
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
        "constant" => out.resize(out.len() + size, b'x'),
        "random" => {
            // Xorshift (Marsaglia, 2003), begun by the number of the process: never at zero.
            let mut state = u64::from(id()).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
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
