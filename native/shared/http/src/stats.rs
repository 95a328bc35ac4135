//! Counters of a server.

use net::Traffic;

/// The counters of a server, including the counters that every HTTP server has.
pub trait Counters: Default {
    /// The counters of all requests, of refused requests (statuses 400 to 499), and of failed requests (500 to 599).
    fn of_statuses(&mut self) -> [&mut u64; 3];

    fn named(&self) -> Vec<(&'static str, u64)>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats<C> {
    pub traffic: Traffic,
    pub served: C,
}

impl<C: Counters> Stats<C> {
    pub fn named(&self) -> Vec<(&'static str, u64)> {
        let mut named = self.traffic.named();
        named.extend(self.served.named());
        named
    }
}
