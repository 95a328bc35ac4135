//! The program of the papers' CGI workloads: the variables of its request, or so many characters.
//!
//! | query | document |
//! |---|---|
//! | none | the variables, a line for each |
//! | `kind=simcgi` | the twenty variables of paper 000's program, filled up to its 670 bytes |
//! | `kind=constant&size=6250` | a page of HTML with so many bytes; 6,250 without `size` |
//! | `kind=random&size=6250` | so many random characters `?` to `X`, as WebStone's programs write them |
//!
//! A web server starts it for each request (CGI/1.1). As `sitebench-cgi --fastcgi SOCKET` it stays and answers
//! the same over FastCGI; `SOCKET` is a path, or an address such as `127.0.0.1:9000`.
//!
//! It starts no interpreter and depends on no library, so that what a server spends on it is what a process
//! costs.

mod document;
mod fastcgi;

use std::env;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::{ExitCode, id};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let ended = match arguments.as_slice() {
        // A server passes the words of a query without `=` as arguments (RFC 3875 section 4.4): no client
        // decides what this program does.
        [option, socket] if option == "--fastcgi" && env::var_os("GATEWAY_INTERFACE").is_none() => {
            fastcgi::serve(&socket.to_string_lossy())
        }
        _ => answer(),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sitebench-cgi: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers the request that the environment describes.
fn answer() -> io::Result<()> {
    let variables: Vec<_> = env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec())).collect();
    io::stdout().write_all(&document::answer(&variables, u64::from(id())))
}
