//! The threads of a server, from the first listener to the last join.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, JoinHandle};

use mio::Waker;
use tls::Acceptor;

use crate::limits::SocketLimits;
use crate::listener::{ListenError, listen};
use crate::shared::Shared;
use crate::stats::Traffic;
use crate::worker::Reactor;

/// A larger number of threads is probably a typing error.
const MAX_THREADS: usize = 1024;

/// The threads that serve one port. Dropping it stops them.
#[derive(Debug)]
pub struct Server {
    addr: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<(JoinHandle<()>, Arc<Waker>)>,
}

impl Server {
    /// Listens, with one listener for each future thread. Clients that connect now wait in the backlog, so a
    /// server can listen before it loads its content, and a port in use is reported at once.
    pub fn listen(
        host: &str,
        port: u16,
        threads: usize,
        limits: SocketLimits,
        tls: Option<Acceptor>,
        upgrades: bool,
    ) -> Result<(Self, Vec<Reactor>), ListenError> {
        if threads > MAX_THREADS {
            return Err(ListenError::Threads(threads));
        }
        let listeners = listen(host, port, threads)?;
        let failed = |source| ListenError::listening(host, port, source);
        let first = listeners.first().ok_or(ListenError::Threads(threads))?;
        let addr = first.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared::new(limits, tls, upgrades, threads));
        let mut reactors = Vec::with_capacity(threads);
        for (thread, listener) in listeners.into_iter().enumerate() {
            reactors.push(Reactor::new(listener, Arc::clone(&shared), thread).map_err(failed)?);
        }
        Ok((Self { addr, shared, threads: Vec::with_capacity(threads) }, reactors))
    }

    /// Starts a thread that calls `serve`. `serve` creates the service in that thread, because a service may
    /// borrow from values of the thread, and runs the reactor with it.
    pub fn spawn(
        &mut self,
        name: &str,
        reactor: Reactor,
        serve: impl FnOnce(Reactor) -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let (waker, name) = (reactor.waker(), format!("{name}-{}", self.threads.len()));
        let thread = thread::Builder::new().name(name.clone()).spawn(move || {
            // A failing poll cannot be repaired; the other threads continue.
            if let Err(error) = serve(reactor) {
                eprintln!("{name}: the thread stopped: {error}");
            }
        })?;
        self.threads.push((thread, waker));
        Ok(())
    }

    pub const fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// The certificate authority in PEM, if it was generated at the start.
    pub fn made_ca(&self) -> Option<&str> {
        self.shared.tls.as_ref()?.made_ca()
    }

    /// The sum of all threads' counters.
    pub fn traffic(&self) -> Traffic {
        Traffic::sum(&self.shared.traffic)
    }

    /// Closes every connection and waits for the threads to end.
    pub fn stop(&mut self) {
        // Relaxed: no other memory depends on the flag, and the joins order the threads' work.
        self.shared.stopping.store(true, Relaxed);
        for (_, waker) in &self.threads {
            // A thread whose waker fails wakes by its timer.
            let _ = waker.wake();
        }
        for (thread, _) in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}
