//! The program of the papers' CGI workloads. It answers with the variables of its request, or with a number
//! of characters.
//!
//! | query | document |
//! |---|---|
//! | none | the variables, a line for each |
//! | `kind=simcgi` | the twenty variables of paper 000's program, filled up to its 670 bytes |
//! | `kind=constant&size=6250` | a page of HTML with so many bytes; 6,250 without `size` |
//! | `kind=random&size=6250` | so many random characters `?` to `X`, as WebStone's programs write them |
//!
//! A web server starts the program for each request (CGI/1.1). As `sitebench-cgi --fastcgi SOCKET` the
//! process stays and gives the same answers over FastCGI; `SOCKET` is a path, or an address such as
//! `127.0.0.1:9000`.
//!
//! The program needs no interpreter and no library, so the server's cost for a request is the cost of a
//! process.

mod document;
mod fastcgi;

use std::env;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::process::{ExitCode, id};

fn main() -> ExitCode {
    let arguments: Vec<_> = env::args_os().skip(1).collect();
    let ended = match arguments.as_slice() {
        // A server passes the words of a query without `=` as arguments (RFC 3875 section 4.4), but clients
        // must not control the program.
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
