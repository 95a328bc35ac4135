//! Counters of a web server.

net::counters! {
    /// Requests served, by kind.
    pub struct Counters;
    /// Requests served, as one thread publishes them.
    pub struct Published;

    /// Requests answered, of every kind and with every status.
    requests,
    /// Files sent, completely or in part.
    files,
    /// Requests whose client had the current file already (status 304).
    not_modified,
    /// Answers generated in the process: constant and random text, variables.
    in_process,
    /// Parsed pages sent.
    pages,
    /// Pages filled in from templates.
    templates,
    /// Answers of CGI programs.
    cgi,
    /// CGI programs that hung, crashed or wrote an invalid answer (statuses 502 and 504).
    cgi_failed,
    /// Requests refused (statuses 400 to 499).
    rejected,
    /// Requests that failed (statuses 500 to 599), and files that became shorter while they were sent.
    failed,
}

pub type Stats = http::Stats<Counters>;

impl http::Counters for Counters {
    fn of_statuses(&mut self) -> [&mut u64; 3] {
        [&mut self.requests, &mut self.rejected, &mut self.failed]
    }

    fn named(&self) -> Vec<(&'static str, u64)> {
        self.named()
    }
}
