//! Requests of one client at the limits: they are refused or done in pieces, and other clients are served
//! meanwhile.

mod memory;
mod reads;
mod stopping;
mod turns;
mod writes;

use crate::common::Client;
use directory::limits::Limits;
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

/// For each limit, the test that exceeds it.
const ROWS: [(&str, &str, &str); 29] = [
    ("message_bytes_before_bind", "limits.rs", "message_limits_differ_before_and_after_a_bind"),
    ("message_bytes_after_bind", "limits.rs", "message_limits_differ_before_and_after_a_bind"),
    ("name_bytes", "limits.rs", "the_length_of_a_name_is_limited"),
    ("filter_depth", "limits.rs", "the_depth_of_a_filter_is_limited"),
    ("filter_terms", "limits.rs", "the_number_of_terms_of_a_filter_is_limited"),
    ("filter_bytes", "hostile/reads.rs", "the_length_of_a_filter_is_limited"),
    ("filter_work", "hostile/reads.rs", "thousands_of_terms_over_thousands_of_values_are_refused"),
    ("requested_attributes", "hostile/reads.rs", "the_number_of_requested_attributes_is_limited"),
    ("attributes_per_entry", "limits.rs", "the_number_of_attributes_of_an_entry_is_limited_in_every_write"),
    ("values_per_entry", "limits.rs", "the_number_of_values_of_an_entry_is_limited_in_every_write"),
    ("entry_bytes", "hostile/memory.rs", "an_entry_cannot_grow_beyond_its_length_limit"),
    ("connection_bytes", "hostile/memory.rs", "a_search_beyond_the_memory_of_its_connection_is_refused"),
    ("changes_per_modify", "limits.rs", "the_number_of_changes_of_a_modify_is_limited"),
    ("values_per_modify", "limits.rs", "the_number_of_values_of_a_modify_is_limited"),
    ("write_work", "hostile/writes.rs", "values_that_take_long_to_normalise_are_refused"),
    ("rename_bytes", "hostile/writes.rs", "a_container_with_too_many_entries_is_not_renamed"),
    ("password_bytes", "hostile/writes.rs", "the_length_of_a_password_is_limited"),
    ("slow_hashes", "slow_binds.rs", "a_hash_beyond_the_limits_accepts_no_password"),
    ("slow_hash_ms", "slow_binds.rs", "a_hash_beyond_the_limits_accepts_no_password"),
    ("slow_hash_bytes", "slow_binds.rs", "a_hash_beyond_the_limits_accepts_no_password"),
    ("running_searches", "streaming.rs", "concurrent_searches_beyond_the_limit_are_answered_with_busy"),
    ("paged_searches", "limits.rs", "a_paged_search_beyond_the_limit_ends_the_oldest_paged_search"),
    ("search_entries", "limits.rs", "the_number_of_entries_returned_by_a_search_is_limited"),
    ("search_s", "limits.rs", "the_duration_of_a_search_is_limited"),
    ("idle_ms", "limits.rs", "an_idle_connection_is_closed_after_the_configured_time"),
    ("connections", "framing.rs", "a_connection_beyond_the_limit_gets_a_notice"),
    ("connections_per_address", "limits.rs", "the_number_of_connections_from_one_address_is_limited"),
    ("stall_ms", "framing.rs", "a_sender_that_stalls_within_a_message_is_cut_off_and_an_idle_client_is_not"),
    ("stall_bytes", "trickling.rs", "a_trickling_message_is_cut_off_and_a_slow_message_is_not"),
];

#[test]
fn every_limit_has_a_test_that_exceeds_it() {
    let limits = serde_json::to_value(Limits::default()).unwrap();
    let known: Vec<&str> = ROWS.iter().map(|(limit, ..)| *limit).collect();
    for limit in limits.as_object().unwrap().keys() {
        assert!(known.contains(&limit.as_str()), "no test goes beyond {limit}");
    }
    for (limit, file, test) in ROWS {
        assert!(limits.get(limit).is_some(), "{limit} is no limit any more");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/directory").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&format!("#[test]\nfn {test}() {{")), "{file} has no test {test}");
    }
}
