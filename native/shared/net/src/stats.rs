//! Counters: each thread counts for itself, and a reader adds the counts of all threads.

/// Declares the counters of one layer: the struct in which a thread counts, and the struct to which it
/// publishes.
///
/// A thread counts in plain integers, which cost an instruction each, and publishes once per turn of its
/// loop. With atomic additions, counting would be the largest cost of a lookup.
#[macro_export]
macro_rules! counters {
    (
        $(#[$counters_doc:meta])* pub struct $Counters:ident;
        $(#[$published_doc:meta])* pub struct $Published:ident;
        $($(#[$doc:meta])* $name:ident,)*
    ) => {
        $(#[$counters_doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        $(#[$published_doc])*
        // Aligned so that two threads never write to one cache line.
        #[derive(Debug, Default)]
        #[repr(align(128))]
        pub struct $Published {
            $($name: ::std::sync::atomic::AtomicU64,)*
        }

        impl $Published {
            /// Adds the counts of a thread, and resets them. Only that thread may call this function, which
            /// loads and stores instead of adding atomically.
            pub fn take(&self, counted: &mut $Counters) {
                // Relaxed: no other memory depends on a counter.
                use ::std::sync::atomic::Ordering::Relaxed;
                $(if counted.$name != 0 {
                    let total = self.$name.load(Relaxed).wrapping_add(counted.$name);
                    self.$name.store(total, Relaxed);
                })*
                *counted = $Counters::default();
            }
        }

        impl $Counters {
            /// The sum over threads.
            pub fn sum<'p>(published: impl IntoIterator<Item = &'p $Published>) -> Self {
                // Relaxed: every counter of a sum may lag by up to one turn.
                use ::std::sync::atomic::Ordering::Relaxed;
                let mut sum = Self::default();
                for published in published {
                    $(sum.$name = sum.$name.wrapping_add(published.$name.load(Relaxed));)*
                }
                sum
            }

            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counters! {
    /// The counters of the socket layer, for every protocol.
    pub struct Traffic;
    /// The counters of the socket layer as one thread publishes them.
    pub struct PublishedTraffic;

    /// Connections accepted.
    connections,
    /// Connections ended. The difference to `connections` is the number of open connections.
    disconnections,
    /// Connections refused because there were too many.
    refused,
    /// Connections ended because the client violated the protocol, sent too much, or stalled. Idle
    /// connections and connections with failed TLS do not count.
    aborted,
    /// TLS handshakes that succeeded.
    tls_handshakes,
    /// TLS handshakes that resumed an earlier session.
    tls_resumed,
    /// Connections on which TLS failed.
    tls_failed,
    bytes_in,
    bytes_out,
}
