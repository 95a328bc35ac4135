//! The socket layer of all servers here: listeners that share a port, threads with a poll each, connections
//! with or without TLS, admission, and limits for clients that stall or do not read.
//!
//! A server implements [`Service`], which turns bytes into answers, and runs it on the [`Reactor`] of each
//! thread of a [`Server`]. It declares its counters, limits and configuration with [`counters!`],
//! [`limits!`] and [`config!`].

mod config;
mod connection;
mod gate;
mod limits;
mod listener;
mod long;
mod mailbox;
mod pace;
mod server;
mod service;
mod shared;
mod slab;
mod slice;
mod stats;
mod worker;

pub use connection::FLUSH_BYTES;
pub use gate::Full;
pub use limits::{CONNECTIONS, OutOfRange, STALL_BYTES, STALL_MS, SocketLimits, within};
pub use listener::{ListenError, listen};
pub use mailbox::Mailboxes;
pub use server::Server;
pub use service::{ConnectionId, FilePiece, Outcomes, Rejection, Service, Step};
pub use slice::TimeSlice;
pub use stats::{PublishedTraffic, Traffic};
pub use worker::{OUT_BYTES, Reactor};
