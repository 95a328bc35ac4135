//! The web server, tested through real sockets, files and programs.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail the test they help")]

#[path = "../../../site/tests/site/client.rs"]
#[allow(dead_code, reason = "the site's tests use the rest")]
mod client;
mod common;
mod descriptors;
mod dynamic;
mod escapes;
mod files;
#[path = "../../../../shared/own_process.rs"]
mod own_process;
#[path = "../../../cgi/tests/cgi/page.rs"]
mod page;
mod programs;
mod protocol;
mod readers;
mod slow_readers;
#[path = "../../../site/tests/site/usage.rs"]
mod usage;
