//! What one client can send at the limits, and everybody else is served meanwhile: refused, or done in pieces.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "this is a test")]

#[path = "../common/mod.rs"]
mod common;
mod reads;
mod turns;
mod writes;

use common::Client;
use wire::ldap::ResultCode;

const GROUP: &str = "cn=Group,ou=Dynamic,o=Intranet";

/// Adds an entry whose attribute has these values.
fn add_group(client: &mut Client, attribute: &str, values: &[String]) {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let attributes: &[(&str, &[&str])] =
        &[("objectClass", &["RTPerson"]), ("cn", &["Group"]), (attribute, &values)];
    assert_eq!(client.add(GROUP, attributes).code, ResultCode::SUCCESS);
}

fn members(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("cn=Member {i},ou=Dynamic,o=Intranet")).collect()
}
