//! A client that does not read its answers costs the kernel little memory.
#![allow(clippy::unwrap_used, reason = "this is a test")]

use std::io::{ErrorKind, Write};

use socket2::{Domain, Socket, Type};

/// The bytes that the kernel may accept: its limit on unsent bytes, one further segment, and the client's
/// window.
const MOST: usize = 256 << 10;

#[test]
fn the_kernel_accepts_at_most_one_answer_for_a_client_that_does_not_read() {
    for threads in [1, 2] {
        let listeners = net::listen("127.0.0.1", 0, threads).unwrap();
        let client = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        client.set_recv_buffer_size(4096).unwrap();
        client.connect(&listeners[0].local_addr().unwrap().into()).unwrap();
        let (mut stream, _) = listeners.iter().cycle().find_map(|listener| listener.accept().ok()).unwrap();
        let mut taken = 0;
        loop {
            match stream.write(&[0; 64 << 10]) {
                Ok(count) => taken += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
            assert!(taken < 4 << 20, "the kernel takes everything");
            // The socket's buffers grow with the acknowledgements of the client.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert!(taken < MOST, "{taken} bytes");
    }
}
