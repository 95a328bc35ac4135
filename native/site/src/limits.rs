//! Every bound the site keeps, each with its reason. At a limit the client hears an HTTP status;
//! nothing here ends the process.
//!
//! Heads are bounded by [`wire::http::MAX_HEAD_BYTES`] and [`wire::http::MAX_HEADERS`] (431).

/// A request target longer than this is refused (414). The longest here has 30 bytes; RFC 9110
/// section 4.1 recommends to support 8,000.
pub const TARGET_BYTES: usize = 8_000;

/// A body longer than this is refused (413): all properties at their longest, percent-encoded, take
/// less than half.
pub const BODY_BYTES: usize = 16 << 10;

/// A chunked body with its framing: room for chunks of two bytes.
pub const CHUNKED_BYTES: usize = 4 * BODY_BYTES;

/// Fields of a form: every property, and each of the multi-valued ones many times.
pub const FORM_FIELDS: usize = 128;

/// A name, an occupation and the like. Pools have values of up to 256 bytes, a page shows 128.
pub const TEXT_BYTES: usize = 256;

/// Connections of all clients together. Every idle one holds a file descriptor and under 1 KiB.
pub const CONNECTIONS: usize = 65_536;

/// A client that has begun a request and sends nothing, or leaves its answer unread, is cut off
/// after this long.
pub const STALL_MS: u64 = 10_000;

/// A connection without a request is closed after this long (nginx: `keepalive_timeout 75s`).
pub const IDLE_MS: u64 = 75_000;

/// A client that has been refused gets this long to read why.
pub const LINGER_MS: u64 = 1_000;
