//! The CGI program, started alone and by the embedded server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

#[path = "../../../site/tests/site/client.rs"]
#[allow(dead_code, reason = "the site's tests use the rest")]
mod client;
mod fastcgi;
mod page;
mod served;
