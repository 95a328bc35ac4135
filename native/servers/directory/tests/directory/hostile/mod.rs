//! Requests of one client at the limits: they are refused or done in pieces, and other clients are served
//! meanwhile.

mod memory;
mod reads;
mod turns;
mod writes;

use std::collections::BTreeSet;

use crate::common::Client;
use directory::limits::Limits;
use wire::ldap::ResultCode;

const GROUP: &str = "cn=Group,ou=Dynamic,o=Intranet";

/// Adds an entry whose attribute has these values.
fn add_group(client: &mut Client, attribute: &str, values: &[String]) {
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    assert_eq!(client.add_person_with("Group", &[(attribute, &values)]).code, ResultCode::SUCCESS);
}

fn members(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("cn=Member {i},ou=Dynamic,o=Intranet")).collect()
}

/// Tests, and the limits that they exceed.
const ROWS: [(&str, &str, &[&str]); 21] = [
    (
        "framing.rs",
        "a_sender_that_stalls_within_a_message_is_cut_off_and_an_idle_client_is_not",
        &["stall_ms"],
    ),
    ("hostile/memory.rs", "an_entry_cannot_grow_beyond_its_length_limit", &["entry_bytes"]),
    ("hostile/memory.rs", "a_search_beyond_the_memory_of_its_connection_is_refused", &["connection_bytes"]),
    ("hostile/reads.rs", "thousands_of_terms_over_thousands_of_values_are_refused", &["filter_work"]),
    ("hostile/reads.rs", "the_number_of_requested_attributes_is_limited", &["requested_attributes"]),
    ("hostile/writes.rs", "a_container_with_too_many_entries_is_not_renamed", &["rename_bytes"]),
    ("hostile/writes.rs", "the_length_of_a_password_is_limited", &["password_bytes"]),
    ("hostile/writes.rs", "values_that_take_long_to_normalise_are_refused", &["write_work"]),
    ("limits.rs", "a_connection_beyond_a_limit_gets_a_notice", &["connections", "connections_per_address"]),
    ("limits.rs", "a_filter_beyond_a_limit_is_refused", &["filter_depth", "filter_terms", "filter_bytes"]),
    ("limits.rs", "a_paged_search_beyond_the_limit_ends_the_oldest_paged_search", &["paged_searches"]),
    ("limits.rs", "an_idle_connection_is_closed_after_the_configured_time", &["idle_ms"]),
    (
        "limits.rs",
        "message_limits_differ_before_and_after_a_bind_with_a_name",
        &["message_bytes_before_bind", "message_bytes_after_bind"],
    ),
    ("limits.rs", "the_length_of_a_name_is_limited", &["name_bytes"]),
    ("limits.rs", "an_entry_beyond_a_limit_is_refused", &["attributes_per_entry", "values_per_entry"]),
    ("limits.rs", "a_modify_beyond_a_limit_is_refused", &["changes_per_modify", "values_per_modify"]),
    ("searching.rs", "a_search_ends_at_the_smaller_size_limit", &["search_entries"]),
    (
        "slow_binds.rs",
        "a_hash_beyond_the_limits_accepts_no_password",
        &["slow_hashes", "slow_hash_ms", "slow_hash_bytes"],
    ),
    ("streaming.rs", "concurrent_searches_beyond_the_limit_are_answered_with_busy", &["running_searches"]),
    ("streaming.rs", "a_time_limit_ends_a_search_whose_client_does_not_read", &["search_s"]),
    ("trickling.rs", "a_trickling_message_is_cut_off_and_a_slow_message_is_not", &["stall_bytes"]),
];

#[test]
fn every_limit_has_a_test_that_exceeds_it() {
    let limits = serde_json::to_value(Limits::default()).unwrap();
    let exceeded: BTreeSet<&str> = ROWS.iter().flat_map(|(_, _, limits)| limits.iter().copied()).collect();
    let names: BTreeSet<&str> = limits.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(exceeded, names);
    for (file, test, _) in ROWS {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/directory").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("#[test]\nfn {test}() {{")), "{file} has no test {test}");
    }
}
