//! Counters: each thread counts for itself, and a reading adds them up.

/// Declares the counters of one layer: the struct a thread counts in, and the one it publishes to.
///
/// A thread counts in plain integers, which cost an instruction each, and publishes once per turn of its
/// loop. Atomic additions in place would cost a lookup more than everything else that is counted.
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
            /// Adds what its thread has counted and sets that to zero. Only one thread may call it: it
            /// loads and stores instead of adding atomically.
            pub fn take(&self, counted: &mut $Counters) {
                // Each counter stands for itself: nothing else is read because of its value.
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
                // A sum may lag by a turn, and its counters by different amounts.
                use ::std::sync::atomic::Ordering::Relaxed;
                let mut sum = Self::default();
                for published in published {
                    $(sum.$name = sum.$name.wrapping_add(published.$name.load(Relaxed));)*
                }
                sum
            }

            /// The numbers with their names.
            pub fn named(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name),)*]
            }
        }
    };
}

counters! {
    /// What the socket layer has counted, whatever the protocol.
    pub struct Traffic;
    /// The same, published by one thread.
    pub struct PublishedTraffic;

    /// Connections accepted.
    connections,
    /// Connections ended; the difference is open now.
    disconnections,
    /// Connections turned away because there were too many.
    refused,
    /// Connections ended because what they sent was not the protocol or too long, or because they stalled;
    /// neither those that idled nor those on which TLS failed.
    aborted,
    /// TLS handshakes that succeeded.
    tls_handshakes,
    /// Those among them that resumed an earlier session.
    tls_resumed,
    /// Connections on which TLS failed.
    tls_failed,
    /// Bytes received.
    bytes_in,
    /// Bytes sent.
    bytes_out,
}
