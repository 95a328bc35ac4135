//! What has been served, counted by each thread for itself and added up when somebody asks.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What one thread has counted since it last published.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: u64,)*
        }

        /// A thread's published counts. Aligned so that two threads do not write one cache line.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub(crate) struct Published {
            $($name: AtomicU64,)*
        }

        /// What a site has served since its start.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Stats {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Published {
            /// Adds what a thread has counted; only that thread writes here.
            pub(crate) fn take(&self, counted: &mut Counters) {
                $(if counted.$name != 0 {
                    let total = self.$name.load(Relaxed).wrapping_add(counted.$name);
                    self.$name.store(total, Relaxed);
                })*
                *counted = Counters::default();
            }
        }

        impl Stats {
            pub(crate) fn add(&mut self, published: &Published) {
                $(self.$name = self.$name.wrapping_add(published.$name.load(Relaxed));)*
            }

            /// The numbers with their names.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counters! {
    /// Connections accepted.
    connections,
    /// Connections ended; the difference is open now.
    disconnections,
    /// Connections turned away because there were too many.
    refused,
    /// Connections ended because what they sent was not HTTP or too long, or because they stalled; neither
    /// those that idled nor those on which TLS failed.
    aborted,
    /// TLS handshakes that succeeded.
    tls_handshakes,
    /// Those among them that went on with an earlier session.
    tls_resumed,
    /// Connections on which TLS failed.
    tls_failed,
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
    /// Bytes received.
    bytes_in,
    /// Bytes sent.
    bytes_out,
}
