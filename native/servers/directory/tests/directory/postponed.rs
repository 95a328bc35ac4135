//! What is put off because the searches before it are costly: it waits in the kernel, and once it has been
//! done nothing is left to do.
//!
//! The processor's time is that of a whole process, so this test has one of its own.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Client, Search, filter, matching_none, people_of_many_names, used_ms};
use crate::own_process::in_own_process;
use wire::ldap::filter::{write_equality, write_or};

const SEARCHES: i32 = 80;
/// Makes the searches long, and no dearer.
static PADDING: [u8; 20_000] = [b'x'; 20_000];
/// What may have been read and not begun: one read, one message, and what the counts are behind.
const BACKLOG: u64 = 640 << 10;

#[test]
fn a_client_that_sends_faster_than_it_is_served_waits_in_the_kernel_and_then_costs_nothing() {
    if in_own_process(a_client_that_sends_faster_than_it_is_served_waits_in_the_kernel_and_then_costs_nothing)
    {
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
        // In this order: what is read meanwhile makes the backlog look shorter, never longer.
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
    // The last of several that come at once may be what uses the turn up.
    let mut out = Vec::new();
    (1..=3).for_each(|id| Search { filter: matching_none(32), ..Search::default() }.write(&mut out, id));
    client.send(&out);
    (0..3).for_each(|_| drop(client.done()));
    let (before, began) = (used_ms(), Instant::now());
    thread::sleep(Duration::from_millis(500));
    let (used, lasted) = (used_ms() - before, began.elapsed().as_millis());
    assert!(used < lasted / 5, "{used} ms of CPU for nothing in {lasted} ms");
}
