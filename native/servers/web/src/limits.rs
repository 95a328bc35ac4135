//! Every bound the server keeps, each with its reason and each settable; those on sockets are in `net`. At a
//! limit the client receives an HTTP status; nothing here ends the process.

use http::RequestLimits;
use wire::http::{MAX_HEAD_BYTES, MAX_HEADERS};

net::limits! {
    /// The limits in force; what a configuration does not name keeps its default.
    pub struct Limits {
        /// A head longer than this is refused (431), the longest that the reader of heads takes.
        head_bytes: usize = MAX_HEAD_BYTES, in 1..=MAX_HEAD_BYTES;
        /// More header lines than this are refused (431), the most that the reader of heads takes.
        headers: usize = MAX_HEADERS, in 1..=MAX_HEADERS;
        /// A request target longer than this is refused (414). RFC 9110 section 4.1 recommends to support
        /// 8,000; a path in a file system has 4,095 at most.
        target_bytes: usize = 8_000;
        /// A body longer than this is refused (413); only CGI programs get bodies, held in memory until they
        /// are written to the program.
        body_bytes: usize = 64 << 10, in 1..=MAX_BODY_BYTES;
        /// Files that each thread keeps open for the requests to come; 0 opens a file for every request.
        open_files: usize = 256;
        /// `?size=` of the in-process kinds (400). They are written in pieces, so that it costs no memory.
        dynamic_bytes: usize = 1 << 30;
        /// A longer parsed page is refused (500): it is read as a whole.
        page_bytes: usize = 1 << 20, in 1..=MAX_PAGE_BYTES;
        /// CGI programs that run at the same time, each awaited by a thread.
        cgi_processes: usize = 8, in 1..=1_024;
        /// Requests that wait for one of them to end (503): several times the most clients of the papers'
        /// sweeps, 600, which have a request under way each.
        cgi_waiting: usize = 4_096, in 1..=65_536;
        /// A program that runs for longer is killed (504).
        cgi_ms: u64 = 30_000;
        /// A program that writes more is killed (502); WebStone's largest answer has 5 MB.
        cgi_output_bytes: usize = 16 << 20, in 1..=1 << 30;
        /// The output of all programs together, until the clients have read it (503).
        cgi_held_bytes: usize = 256 << 20;
        /// A connection without a request is closed after this long (nginx: `keepalive_timeout 75s`); 0 for
        /// never.
        idle_ms: u64 = 75_000;
    }
}

const MAX_BODY_BYTES: usize = 16 << 20;
const MAX_PAGE_BYTES: usize = 16 << 20;

impl Limits {
    pub(crate) const fn request(&self) -> RequestLimits {
        RequestLimits {
            head_bytes: self.head_bytes,
            headers: self.headers,
            target_bytes: self.target_bytes,
            body_bytes: self.body_bytes,
        }
    }
}
