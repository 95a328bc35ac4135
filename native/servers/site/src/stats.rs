//! What a site has served.

pub use net::Traffic;

net::counters! {
    /// Requests served, by kind.
    pub struct Counters;
    /// The same, published by one thread.
    pub struct Published;

    /// Requests answered, of every kind and with every status.
    requests,
    /// Personalized pages sent.
    pages,
    /// Pictures sent.
    images,
    /// Requests that a program answered: pages, creates and updates (the paper's ASP requests).
    asp_requests,
    /// Rows read for pages; fewer than pages only with a row cache.
    upd_reads,
    /// People created.
    creates,
    /// Updates stored.
    updates,
    /// Requests refused (statuses 400 to 499).
    rejected,
    /// Requests that failed here (statuses 500 to 599).
    failed,
}

/// What a site has served since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Connections and bytes.
    pub traffic: Traffic,
    /// Requests.
    pub served: Counters,
}

impl Stats {
    /// The numbers with their names.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let mut named = self.traffic.named();
        named.extend(self.served.named());
        named
    }
}
