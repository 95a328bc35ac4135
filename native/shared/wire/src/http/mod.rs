//! HTTP/1.1 messages (RFC 9112): heads and body framing, in both directions.
//!
//! `httparse` parses heads. This module adds the parts that a server and a load generator need, with the
//! framing rules of RFC 9112 section 6 in one place.

mod body;
pub mod date;
mod escape;
mod head;
mod location;
mod request;
mod response;

pub use body::{Body, BodyError, Framing, Progress};
pub use escape::unescape;
pub use head::{HeadError, MAX_HEAD_BYTES, MAX_HEADERS, cookie, query};
pub use location::{Astray, MAX_TARGET_BYTES, Origin, locate};
pub use request::RequestHead;
pub use response::ResponseHead;
