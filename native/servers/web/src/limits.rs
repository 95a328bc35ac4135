//! The limits of the server, each with its reason and each configurable; the limits on sockets are in `net`.
//! At a limit the client receives an HTTP status; no limit ends the process.

http::limits! {
    /// The configured limits; missing keys have their defaults.
    pub struct Limits {
        /// Longer bodies are refused (413). Only CGI programs get bodies, which are held in memory until they
        /// are written to the program.
        body_bytes: usize = 64 << 10, in 1..=MAX_BODY_BYTES;
        /// Files that each thread keeps open; with 0 every request opens its file.
        open_files: usize = 256;
        /// A larger `?size=` of a generated answer is refused (400). Answers are generated in pieces, so a
        /// large size takes no memory.
        dynamic_bytes: usize = 1 << 30;
        /// Longer parsed pages are refused (500), as a page is read into memory.
        page_bytes: usize = 1 << 20, in 1..=MAX_PAGE_BYTES;
        /// CGI programs that run at the same time. Each has a thread that waits for it.
        cgi_processes: usize = 8, in 1..=1_024;
        /// Requests that wait for a program; further requests are refused (503). The default is several times
        /// the 600 clients of the papers' largest sweep, which have one request each.
        cgi_waiting: usize = 4_096, in 1..=65_536;
        /// Programs that run longer are killed (504).
        cgi_ms: u64 = 30_000;
        /// Programs that write more are killed (502); WebStone's largest answer has 5 MB.
        cgi_output_bytes: usize = 16 << 20, in 1..=1 << 30;
        /// The bytes of output of all programs together that clients have not read yet; further output is
        /// refused (503).
        cgi_held_bytes: usize = 256 << 20;
    }
}

const MAX_BODY_BYTES: usize = 16 << 20;
const MAX_PAGE_BYTES: usize = 16 << 20;
