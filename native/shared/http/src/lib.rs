//! HTTP/1 as every server here speaks it: what a request says, what refuses it, how answers begin, and the
//! service that goes through all this for each connection.
//!
//! Heads and bodies as bytes are `wire::http`'s, sockets are `net`'s. A server implements [`App`], which says
//! what it has to offer, and runs an [`HttpService`] of it on each thread.

mod access_log;
mod answer;
mod app;
mod incoming;
mod lines;
mod request;
mod service;
mod stats;

pub use access_log::AccessLog;
pub use answer::{Answer, ResponseOptions};
pub use app::{App, Now, Outgoing, Progress, Received, Request, Then, Turn};
pub use incoming::Incoming;
pub use lines::{Lines, value};
pub use request::{RequestLimits, origin_form};
pub use service::{HttpService, Session};
pub use stats::{Counters, Stats};
