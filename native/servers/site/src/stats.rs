//! Counters of a site.

net::counters! {
    /// Requests served, by kind.
    pub struct Counters;
    /// Requests served, as one thread publishes them.
    pub struct Published;

    /// Requests answered, of every kind and with every status.
    requests,
    /// Personalized pages sent.
    pages,
    /// Pictures sent.
    images,
    /// Requests that a program answered: pages, creates and updates (the paper's ASP requests).
    asp_requests,
    /// Rows read for pages. The number is lower than `pages` only with a row cache.
    upd_reads,
    /// People created.
    creates,
    /// Updates stored.
    updates,
    /// Requests refused (statuses 400 to 499).
    rejected,
    /// Requests that failed (statuses 500 to 599).
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
