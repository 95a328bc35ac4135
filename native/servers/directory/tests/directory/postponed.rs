//! Requests wait in the kernel while the searches before them are costly; afterwards the server is idle.
//!
//! The test measures the processor time of the whole process, so it runs in its own process.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Client, Search, filter, matching_none, people_of_many_names, used_ms};
use crate::own_process::in_own_process;
use wire::ldap::filter::{write_equality, write_or};

const SEARCHES: i32 = 80;
/// Lengthens the search requests without making their evaluation more expensive.
static PADDING: [u8; 20_000] = [b'x'; 20_000];
/// The most bytes of requests that the server may have read without beginning the requests: one read, one
/// message, and the delay of the counts.
const BACKLOG: u64 = 640 << 10;

#[test]
fn pending_requests_of_a_fast_client_stay_in_the_kernel_without_using_cpu() {
    if in_own_process(pending_requests_of_a_fast_client_stay_in_the_kernel_without_using_cpu) {
        return;
    }
    let directory = people_of_many_names();
    let mut client = Client::connect(directory.addr());
    let costly = filter(|out| {
        write_or(out, |out| {
            out.extend(matching_none(32));
            write_equality(out, b"name", &PADDING);
        });
    });
    let mut out = Vec::new();
    (1..=SEARCHES).for_each(|id| Search { filter: costly.clone(), ..Search::default() }.write(&mut out, id));
    let each = out.len() as u64 / SEARCHES as u64;
    let before = directory.stats();
    let mut stream = client.stream.try_clone().unwrap();
    let sender = thread::spawn(move || stream.write_all(&out).unwrap());
    let give_up = Instant::now() + Duration::from_secs(60);
    loop {
        // `read` is taken first, so searches that begin in between only make the backlog look shorter.
        let read = directory.stats().traffic.bytes_in - before.traffic.bytes_in;
        let begun = directory.stats().served.searches - before.served.searches;
        let backlog = read.saturating_sub(begun * each);
        assert!(backlog < BACKLOG, "{backlog} bytes wait with {begun} searches begun");
        if begun == SEARCHES as u64 {
            break;
        }
        assert!(Instant::now() < give_up, "{begun} searches were begun");
    }
    sender.join().unwrap();
    (0..SEARCHES).for_each(|_| drop(client.done()));
    // The last of several requests in one read can use up the turn.
    let mut out = Vec::new();
    (1..=3).for_each(|id| Search { filter: matching_none(32), ..Search::default() }.write(&mut out, id));
    client.send(&out);
    (0..3).for_each(|_| drop(client.done()));
    let (before, began) = (used_ms(), Instant::now());
    thread::sleep(Duration::from_millis(500));
    let (used, lasted) = (used_ms() - before, began.elapsed().as_millis());
    assert!(used < lasted / 5, "{used} ms of CPU for nothing in {lasted} ms");
}
