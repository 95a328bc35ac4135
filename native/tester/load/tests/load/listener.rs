//! A listener on a thread of its own, and a thread for each of its connections.

use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The listener; it stops when dropped.
pub struct Listener {
    pub address: SocketAddr,
    accepted: Arc<AtomicU64>,
    is_stopping: Arc<AtomicBool>,
}

impl Listener {
    /// Calls `serve` with each connection and its number, from 0.
    pub fn new(address: impl ToSocketAddrs, serve: impl Fn(TcpStream, u64) + Clone + Send + 'static) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let (accepted, is_stopping) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, stopping) = (accepted.clone(), is_stopping.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopping.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(stream) = stream else { continue };
                let (serve, number) = (serve.clone(), count.fetch_add(1, Ordering::SeqCst));
                // Without this, an answer in several parts waits for acknowledgements.
                stream.set_nodelay(true).unwrap();
                std::thread::spawn(move || serve(stream, number));
            }
        });
        Self { address, accepted, is_stopping }
    }

    /// The number of accepted connections.
    pub fn accepted(&self) -> u64 {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        // Wakes the acceptor.
        let _ = TcpStream::connect(self.address);
    }
}
