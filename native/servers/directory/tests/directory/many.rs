//! Many connections, concurrently and one after another.

use std::thread;

use crate::common::{Client, Search, eventually, lookup, serve_alone};
use directory::Running;
use wire::ldap::ResultCode;
use wire::ldap::request::{write_bind, write_unbind};

fn no_client_is_left(directory: &Running) -> bool {
    let stats = directory.stats();
    stats.traffic.connections == stats.traffic.disconnections
}

#[test]
fn a_thousand_connections_are_served_concurrently() {
    let directory = serve_alone(r#"{"threads": 2}"#);
    let mut clients: Vec<_> = (0..1000).map(|_| Client::connect(directory.addr())).collect();
    clients[0].add_person("Ann");
    for _ in 0..3 {
        let mut request = Vec::new();
        Search { filter: lookup("Ann"), ..Search::default() }.write(&mut request, 1);
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
    let directory = serve_alone("{}");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    let mut client = Client::connect(directory.addr());
                    let mut out = Vec::new();
                    write_bind(&mut out, 1, 3, b"", b"");
                    client.send(&out);
                    assert_eq!(client.done().code, ResultCode::SUCCESS);
                    out.clear();
                    write_unbind(&mut out, 2);
                    client.send(&out);
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
    let directory = serve_alone("{}");
    for i in 0..300_usize {
        let mut client = Client::connect(directory.addr());
        let mut out = Vec::new();
        Search::default().write(&mut out, 1);
        client.send(&out[..i % out.len()]);
    }
    assert!(eventually(|| no_client_is_left(&directory)), "{:?}", directory.stats());
}
