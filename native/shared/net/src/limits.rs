//! The limits of a server: those that every protocol has, and how a protocol declares its own.

use std::ops::RangeInclusive;

/// A limit was set beyond what the server can keep.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the limit {name} cannot be {value}; it takes {least} to {most}", least = range.start(), most = range.end())]
pub struct OutOfRange {
    pub name: &'static str,
    pub value: u64,
    pub range: RangeInclusive<u64>,
}

/// Checks that a limit is within what it takes.
pub fn within(name: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), OutOfRange> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = (*range.start() as u64, *range.end() as u64);
    Err(OutOfRange { name, value: value as u64, range: least..=most })
}

/// Connections of all clients together. Every idle one holds a file descriptor and under 1 KiB.
pub const CONNECTIONS: usize = 65_536;

/// A client that has begun a message and sends less than [`STALL_BYTES`] of it within this, or takes less
/// of its answers, is cut off; so is one whose TLS handshake takes longer (389-ds:
/// `nsslapd-ioblocktimeout`, 10 s).
pub const STALL_MS: u64 = 10_000;

/// What has to move within [`STALL_MS`]: 410 bytes a second (Apache's `mod_reqtimeout`: 500), which any
/// modem did. An HTTP head of the longest kind may take forty seconds at that pace and an LDAP message three
/// hours, but a client that sends a byte now and then is cut off.
pub const STALL_BYTES: usize = 4_096;

/// The limits that the socket layer keeps, whatever the protocol.
#[derive(Debug, Clone, Copy)]
pub struct SocketLimits {
    /// See [`CONNECTIONS`].
    pub connections: usize,
    /// Connections of one address.
    pub connections_per_address: usize,
    /// See [`STALL_MS`].
    pub stall_ms: u64,
    /// See [`STALL_BYTES`].
    pub stall_bytes: usize,
    /// A connection on which nothing moves for this long is closed; 0 for never.
    pub idle_ms: u64,
}

/// Declares a server's limits: its protocol's own, and behind them those of [`SocketLimits`], in one flat
/// struct, as a configuration names them. `idle_ms` is declared by the protocol because its default is: an
/// LDAP client keeps a connection for days, a browser for a minute.
///
/// One line says a limit's name, type, default and, where it has one, the range that [`within`] checks.
#[macro_export]
macro_rules! limits {
    (
        $(#[$limits_doc:meta])* pub struct $Limits:ident {
            $($(#[$doc:meta])* $name:ident: $type:ty = $default:expr $(, in $range:expr)?;)*
        }
    ) => {
        $(#[$limits_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $Limits {
            $($(#[$doc])* pub $name: $type,)*
            /// Connections of all clients together.
            pub connections: usize,
            /// Connections of one address. By default no fewer than in all, as a benchmark's clients share
            /// one address.
            pub connections_per_address: usize,
            /// Milliseconds within which `stall_bytes` have to move while a message is under way.
            pub stall_ms: u64,
            /// Bytes that have to move within `stall_ms`.
            pub stall_bytes: usize,
        }

        impl Default for $Limits {
            fn default() -> Self {
                Self {
                    $($name: $default,)*
                    connections: $crate::CONNECTIONS,
                    connections_per_address: $crate::CONNECTIONS,
                    stall_ms: $crate::STALL_MS,
                    stall_bytes: $crate::STALL_BYTES,
                }
            }
        }

        impl $Limits {
            /// Checks that each is within what the server can keep.
            pub(crate) fn check(&self) -> Result<(), $crate::OutOfRange> {
                $($($crate::within(stringify!($name), self.$name, $range)?;)?)*
                $crate::within("connections", self.connections, 1..=usize::MAX)?;
                $crate::within("connections_per_address", self.connections_per_address, 1..=usize::MAX)?;
                $crate::within("stall_bytes", self.stall_bytes, 1..=usize::MAX)
            }

            /// Those that the socket layer keeps.
            pub(crate) const fn socket(&self) -> $crate::SocketLimits {
                $crate::SocketLimits {
                    connections: self.connections,
                    connections_per_address: self.connections_per_address,
                    stall_ms: self.stall_ms,
                    stall_bytes: self.stall_bytes,
                    idle_ms: self.idle_ms,
                }
            }
        }
    };
}
