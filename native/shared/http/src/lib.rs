//! HTTP/1 of all servers here: request heads, refusals, the beginnings of answers, and the service that
//! handles a connection.
//!
//! `wire::http` parses heads and bodies, `net` provides the sockets. A server implements [`App`], with its
//! routes and bodies, and runs an [`HttpService`] of this `App` on each thread.

mod access_log;
mod answer;
mod app;
mod incoming;
mod limits;
mod lines;
mod request;
mod service;
mod stats;

pub use access_log::AccessLog;
pub use answer::{Answer, ResponseOptions};
pub use app::{App, HeaderLines, Now, Outgoing, Progress, Received, Request, Then, Turn};
pub use incoming::Incoming;
pub use limits::RequestLimits;
pub use lines::{Lines, value};
pub use request::origin_form;
pub use service::{HttpService, Session};
pub use stats::{Counters, Stats};
