//! What a directory has served.

pub use net::Traffic;

net::counters! {
    /// Operations served, by kind.
    pub struct Counters;
    /// The same, published by one thread.
    pub struct Published;

    /// Binds.
    binds,
    /// Unbinds.
    unbinds,
    /// Searches.
    searches,
    /// Entries that searches returned.
    entries_sent,
    /// Adds.
    adds,
    /// Deletes.
    deletes,
    /// Modifies.
    modifies,
    /// Renames and moves.
    modify_dns,
    /// Compares.
    compares,
    /// Abandons.
    abandons,
    /// Extended operations.
    extended,
    /// Entries that have expired.
    expired,
}

/// What a directory has served since its start, and what it holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Connections and bytes.
    pub traffic: Traffic,
    /// Operations.
    pub served: Counters,
    /// Entries in the directory now.
    pub entries: u64,
    /// Bytes of these entries as answers.
    pub answer_bytes: u64,
}

impl Stats {
    /// The numbers with their names.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let mut named = self.traffic.named();
        named.extend(self.served.named());
        named.extend([("entries", self.entries), ("answer_bytes", self.answer_bytes)]);
        named
    }
}
