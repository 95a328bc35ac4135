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

/// Declares the counters of a server: of every HTTP server, and the server's own in between.
#[macro_export]
macro_rules! counters {
    ($($rows:tt)*) => {
        ::net::counters! {
            /// Requests served, by kind.
            pub struct Counters;
            /// Requests served, as one thread publishes them.
            pub struct Published;

            /// Requests answered, of every kind and with every status.
            requests,
            $($rows)*
            /// Requests refused (statuses 400 to 499).
            rejected,
            /// Requests that failed (statuses 500 to 599), and bodies that could not be sent completely.
            failed,
        }

        pub type Stats = $crate::Stats<Counters>;

        impl $crate::Counters for Counters {
            fn of_statuses(&mut self) -> [&mut u64; 3] {
                [&mut self.requests, &mut self.rejected, &mut self.failed]
            }

            fn named(&self) -> Vec<(&'static str, u64)> {
                self.named()
            }
        }
    };
}
