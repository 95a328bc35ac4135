//! The limits of every HTTP server, each with its reason and each configurable. The limits on sockets are in `net`.

/// Limits of a request, from the server's limits of the same names.
#[derive(Debug, Clone, Copy)]
pub struct RequestLimits {
    pub head_bytes: usize,
    pub headers: usize,
    pub target_bytes: usize,
    pub body_bytes: usize,
}

/// Declares a server's limits: of every HTTP server, and the server's own. `body_bytes` is the server's own, as
/// servers do different things with bodies.
#[macro_export]
macro_rules! limits {
    ($(#[$doc:meta])* pub struct $Limits:ident { $($rows:tt)* }) => {
        ::net::limits! {
            $(#[$doc])*
            pub struct $Limits {
                /// Longer heads are refused (431). The parser of heads has this limit; browsers send about 1 KiB.
                head_bytes: usize = ::wire::http::MAX_HEAD_BYTES, in 1..=::wire::http::MAX_HEAD_BYTES;
                /// Heads with more header lines are refused (431). The parser of heads has this limit; browsers
                /// send about 20 lines.
                headers: usize = ::wire::http::MAX_HEADERS, in 1..=::wire::http::MAX_HEADERS;
                /// Longer request targets are refused (414). RFC 9110 section 4.1 recommends to support 8,000
                /// bytes; a path in a file system has at most 4,095 bytes.
                target_bytes: usize = 8_000;
                $($rows)*
                /// A connection is closed after this time without a request (nginx: `keepalive_timeout 75s`); 0
                /// for never.
                idle_ms: u64 = 75_000;
            }
        }

        impl $Limits {
            pub(crate) const fn request(&self) -> $crate::RequestLimits {
                $crate::RequestLimits {
                    head_bytes: self.head_bytes,
                    headers: self.headers,
                    target_bytes: self.target_bytes,
                    body_bytes: self.body_bytes,
                }
            }
        }
    };
}
