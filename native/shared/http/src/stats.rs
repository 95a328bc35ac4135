//! What a server has served.

use net::Traffic;

/// The counters of a server, among them those that every HTTP server has.
pub trait Counters: Default {
    /// Requests answered, of every kind and with every status.
    fn requests(&mut self) -> &mut u64;

    /// Requests refused (statuses 400 to 499).
    fn rejected(&mut self) -> &mut u64;

    /// Requests that failed here (statuses 500 to 599).
    fn failed(&mut self) -> &mut u64;

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
