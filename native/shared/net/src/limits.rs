//! The limits of a server: the limits of every protocol, and the declaration of a protocol's own limits.

use std::ops::RangeInclusive;

/// A limit was set to a value that the server cannot support.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the limit {name} cannot be {value}; it takes {least} to {most}", least = range.start(), most = range.end())]
pub struct OutOfRange {
    pub name: &'static str,
    pub value: u64,
    pub range: RangeInclusive<u64>,
}

/// Checks that a limit is within its range.
pub fn within(name: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), OutOfRange> {
    if range.contains(&value) {
        return Ok(());
    }
    let (least, most) = (*range.start() as u64, *range.end() as u64);
    Err(OutOfRange { name, value: value as u64, range: least..=most })
}

/// Connections of all clients together. An idle connection takes a file descriptor and less than 1 KiB.
pub const CONNECTIONS: usize = 65_536;

/// While a client sends a message or receives answers, it has to move at least [`STALL_BYTES`] bytes within
/// this time; otherwise it is disconnected. A client whose TLS handshake takes longer than this time is
/// disconnected, too (389-ds: `nsslapd-ioblocktimeout`, 10 s).
pub const STALL_MS: u64 = 10_000;

/// The bytes that have to move within [`STALL_MS`]. This is a rate of 410 bytes a second, which any modem
/// reached (Apache's `mod_reqtimeout` requires 500). At that rate the longest HTTP head takes forty seconds
/// and the longest LDAP message takes three hours, but a client that sends single bytes is disconnected.
pub const STALL_BYTES: usize = 4_096;

/// The limits of the socket layer, for every protocol.
#[derive(Debug, Clone, Copy)]
pub struct SocketLimits {
    /// See [`CONNECTIONS`].
    pub connections: usize,
    pub connections_per_address: usize,
    /// See [`STALL_MS`].
    pub stall_ms: u64,
    /// See [`STALL_BYTES`].
    pub stall_bytes: usize,
    /// A connection without traffic is closed after this time; 0 for never.
    pub idle_ms: u64,
}

/// Declares a server's limits in one flat struct, as configurations name them: the protocol's own limits,
/// followed by the limits of [`SocketLimits`]. The protocol declares `idle_ms` because defaults differ: an
/// LDAP client keeps a connection for days, and a browser keeps it for a minute.
///
/// A line has a limit's name, type and default, and optionally the range that [`within`] checks.
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
            /// Connections of one address. The default is the limit of all connections, as a benchmark's
            /// clients share one address.
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
            /// The limits of the socket layer, if every limit is within its range.
            pub(crate) fn socket(&self) -> Result<$crate::SocketLimits, $crate::OutOfRange> {
                $($($crate::within(stringify!($name), self.$name, $range)?;)?)*
                $crate::within("connections", self.connections, 1..=usize::MAX)?;
                $crate::within("connections_per_address", self.connections_per_address, 1..=usize::MAX)?;
                $crate::within("stall_bytes", self.stall_bytes, 1..=usize::MAX)?;
                Ok($crate::SocketLimits {
                    connections: self.connections,
                    connections_per_address: self.connections_per_address,
                    stall_ms: self.stall_ms,
                    stall_bytes: self.stall_bytes,
                    idle_ms: self.idle_ms,
                })
            }
        }
    };
}
