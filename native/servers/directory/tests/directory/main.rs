//! The directory, tested through real sockets, and its store.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod active_directory;
mod authenticating;
mod common;
mod concurrent;
mod costly_searches;
mod descriptors;
mod domain;
mod filter_memory;
mod filter_reference;
mod framing;
mod hostile;
mod ils;
mod limits;
mod many;
mod matching;
#[path = "../../../../shared/own_process.rs"]
mod own_process;
mod searching;
mod secured;
mod slow_binds;
mod slow_readers;
mod start_tls;
mod starting;
mod store_common;
mod store_model;
mod store_rules;
mod store_search;
mod streaming;
mod trickling;
mod writing;
