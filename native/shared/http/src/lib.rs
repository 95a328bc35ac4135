//! HTTP/1 as every server here speaks it: what a request says, what refuses it, and how answers begin.
//!
//! Heads and bodies as bytes are `wire::http`'s. What is here is the server's side of them, without sockets
//! and without a word on what a server has to offer.

mod answer;
mod date;
mod escape;
mod incoming;
mod lines;
mod request;

pub use answer::{Answer, CLOSING, NOT_TLS, ResponseOptions, UNAVAILABLE};
pub use date::{MONTHS, WEEKDAYS, civil, http_date, parse_http_date};
pub use escape::unescape;
pub use incoming::Incoming;
pub use lines::{Lines, value};
pub use request::{HeadLimits, is_known_method, origin_form, problem, read, refusal};
