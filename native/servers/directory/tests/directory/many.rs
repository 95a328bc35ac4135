//! Many connections, concurrently and one after another.

use std::thread;

use crate::common::{Client, Search, eventually, filter, lookup, search_for_all, serve};
use directory::Running;
use wire::ldap::ResultCode;
use wire::ldap::request::write_unbind;

fn no_client_is_left(directory: &Running) -> bool {
    let stats = directory.stats();
    stats.traffic.connections == stats.traffic.disconnections
}

#[test]
fn a_thousand_connections_are_served_concurrently() {
    let (directory, _) = serve(r#"{"threads": 2}"#);
    let mut clients: Vec<_> = (0..1000).map(|_| Client::connect(directory.addr())).collect();
    clients[0].add_person("Ann");
    for _ in 0..3 {
        let request = Search { filter: lookup("Ann"), ..Search::default() }.message(1);
        for client in &mut clients {
            client.send(&request);
        }
        for client in &mut clients {
            assert_eq!(client.collect().0.len(), 1);
        }
    }
    let open = || directory.stats().traffic.connections - directory.stats().traffic.disconnections;
    assert!(eventually(|| open() == 1000), "{}", open());
    drop(clients);
    assert!(eventually(|| no_client_is_left(&directory)), "{:?}", directory.stats());
}

#[test]
fn thousands_of_connections_open_and_close() {
    let (directory, _) = serve("{}");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let mut client = Client::connect(directory.addr());
                    assert_eq!(client.bind("", "").code, ResultCode::SUCCESS);
                    client.send(&filter(|out| write_unbind(out, 2)));
                    assert!(client.is_closed());
                }
            });
        }
    });
    let counts = || {
        let stats = directory.stats();
        (stats.traffic.connections, stats.served.unbinds, stats.served.binds)
    };
    assert!(eventually(|| counts() == (2001, 2000, 2000)), "{:?}", counts());
}

#[test]
fn clients_that_disconnect_within_a_request_leave_no_data_or_connection() {
    let (directory, _) = serve("{}");
    for i in 0..300_usize {
        let mut client = Client::connect(directory.addr());
        let out = search_for_all(1);
        client.send(&out[..i % out.len()]);
    }
    assert!(eventually(|| no_client_is_left(&directory)), "{:?}", directory.stats());
}
