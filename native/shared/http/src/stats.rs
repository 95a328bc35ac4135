//! What a server has served.

use net::Traffic;

/// The counters of a server, among them those that every HTTP server has.
pub trait Counters: Default {
    /// Those of all requests, of the refused ones (statuses 400 to 499), and of those that failed here (500 to 599).
    fn of_statuses(&mut self) -> [&mut u64; 3];

    /// The numbers with their names.
    fn named(&self) -> Vec<(&'static str, u64)>;
}

/// What a server has served since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats<C> {
    /// Connections and bytes.
    pub traffic: Traffic,
    /// Requests.
    pub served: C,
}

impl<C: Counters> Stats<C> {
    /// The numbers with their names.
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let mut named = self.traffic.named();
        named.extend(self.served.named());
        named
    }
}
