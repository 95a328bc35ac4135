//! Counters of a site.

http::counters! {
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
}
