//! Written messages can be read back, and malformed messages are refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "only tests are in here")]

mod answers;
mod ber;
mod dn;
mod filter_text;
mod frame;
mod http;
mod ldif;
mod requests;
mod round_trips;
mod text;

fn written(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    fill(&mut out);
    out
}
