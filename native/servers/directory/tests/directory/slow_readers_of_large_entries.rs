//! Clients that request large entries and never read. The test runs in its own process, because it measures
//! the memory of the whole process.

use crate::common::{Client, Search, lookup, search_for_all, serve_alone};
use crate::own_process::in_own_process;
use wire::ldap::ResultCode;

const CLIENTS: usize = 40;
const ENTRIES: usize = 10;
const ENTRY: usize = 1 << 20;

fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() << 10
}

#[test]
fn a_client_that_never_reads_holds_memory_for_one_large_entry() {
    if in_own_process(a_client_that_never_reads_holds_memory_for_one_large_entry) {
        return;
    }
    let directory = serve_alone(r#"{"limits": {"message_bytes_before_bind": 4194304}}"#);
    let mut other = Client::connect(directory.addr());
    let photo = "x".repeat(ENTRY);
    for i in 0..ENTRIES {
        let (dn, name) = (format!("cn=Large {i},ou=Dynamic,o=Intranet"), format!("Large {i}"));
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["RTPerson"]), ("cn", &[&name]), ("photo", &[&photo])];
        assert_eq!(other.add(&dn, attributes).code, ResultCode::SUCCESS);
    }
    let before = resident();
    let mut silent: Vec<Client> = (0..CLIENTS).map(|_| Client::connect(directory.addr())).collect();
    silent.iter_mut().for_each(|client| client.send(&search_for_all(1)));
    // The answer to a lookup shows that all requests before it were handled.
    for _ in 0..100 {
        assert_eq!(other.search(&Search { filter: lookup("nobody"), ..Search::default() }).0.len(), 0);
    }
    let each = resident().saturating_sub(before) / CLIENTS;
    assert!(each < 2 * ENTRY, "{each} bytes for each client that never reads");
}
