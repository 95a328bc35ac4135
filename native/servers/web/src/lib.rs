//! A web server for measurements: files of a folder, the dynamic answers of the papers on web servers, and
//! CGI programs.
//!
//! | request | answer |
//! |---|---|
//! | `GET /dynamic/constant?size=6250` | a page of HTML with this number of bytes, generated in the process; 6,250 without `size` |
//! | `GET /dynamic/random?size=6250` | so many random characters `?` to `X`, as WebStone's programs make them; the n-th such request of every thread gets the same text |
//! | `GET /dynamic/env` | the variables that a CGI program would get, a line each |
//! | `GET /dynamic/page.shtml` | a page of 6,250 bytes, parsed for each request, with today's date |
//! | `GET /dynamic/template/0` to `99` | the same page, one of a hundred copies, parsed at the start and filled in |
//! | `GET`, `POST /cgi-bin/<program>[/...]` | the output of a program in the CGI folder: a process for each request (RFC 3875) |
//! | `GET /...` | a file of the docroot, `index.html` for a folder; `.shtml` files are parsed |
//!
//! Every `GET` may also be a `HEAD`. Files support conditional requests and one range. No path leads out of
//! the docroot, even through links: such a file is not found. In parsed pages `<!--#echo var="DATE_LOCAL"
//! -->`, the same with `DATE_GMT` (the local time is UTC), and `<!--#config timefmt="..." -->` are replaced;
//! no other directive is known.
//!
//! # Limits
//!
//! For a folder its `index.html` is sent; folders are not listed. Nothing is compressed. The thread that
//! serves a client reads the file, so a cold disk delays that thread's other clients. A program that leaves
//! its process group (`setsid`) is not killed. Programs do not inherit descriptors that this process opens,
//! but do inherit descriptors that it was started with and that are not closed on exec.

mod cgi;
mod config;
mod dynamic;
mod files;
pub mod limits;
mod server;
mod stats;

pub use config::Config;
pub use server::{Running, StartError, start};
pub use stats::Stats;
