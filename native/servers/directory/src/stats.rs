//! Counters of a directory.

pub use net::Traffic;

net::counters! {
    /// Operations served, by kind.
    pub struct Counters;
    /// Operations served, as one thread publishes them.
    pub struct Published;

    binds,
    unbinds,
    searches,
    /// Entries in answers to searches.
    entries_sent,
    adds,
    deletes,
    modifies,
    /// Renames and moves.
    modify_dns,
    compares,
    abandons,
    extended,
    /// Entries that have expired.
    expired,
}

/// The counters since the start, and the present size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    pub traffic: Traffic,
    pub served: Counters,
    /// The number of entries now.
    pub entries: u64,
    /// The bytes of these entries as answers.
    pub answer_bytes: u64,
}

impl Stats {
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let mut named = self.traffic.named();
        named.extend(self.served.named());
        named.extend([("entries", self.entries), ("answer_bytes", self.answer_bytes)]);
        named
    }
}
