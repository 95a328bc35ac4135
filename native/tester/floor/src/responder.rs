//! The floor's server.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token, Waker};

use super::{EVENTS, FloorError, Sizes};

const LISTENER: Token = Token(usize::MAX);
const WAKER: Token = Token(usize::MAX - 1);

/// A server that sends one response per request. It counts received bytes and does not read their content.
#[derive(Debug)]
pub struct NullResponder {
    address: SocketAddr,
    shared: Arc<Shared>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stopping: AtomicBool,
    answered: AtomicU64,
}

impl NullResponder {
    /// Listens on 127.0.0.1 and answers on its own thread. With port 0 the kernel chooses a free port.
    pub fn start(sizes: Sizes, port: u16) -> Result<Self, FloorError> {
        let sizes = sizes.check()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listen = |source| FloorError::Listen { address, source };
        let mut listener = TcpListener::bind(address).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let poll = Poll::new().map_err(FloorError::io("cannot create an epoll instance"))?;
        let register = FloorError::io("cannot register with epoll");
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE).map_err(register)?;
        let waker = Waker::new(poll.registry(), WAKER).map_err(FloorError::io("cannot create an eventfd"))?;
        let shared = Arc::new(Shared::default());
        let server = Server {
            poll,
            listener,
            connections: Vec::new(),
            free: Vec::new(),
            request: sizes.request,
            // Several requests may arrive together: one write answers up to sixteen requests.
            responses: vec![b'.'; sizes.response * 16].into_boxed_slice(),
            response: sizes.response,
            space: vec![0; SPACE].into_boxed_slice(),
        };
        let thread = std::thread::Builder::new().name("null-responder".into()).spawn({
            let shared = Arc::clone(&shared);
            move || server.run(&shared)
        });
        let thread = Some(thread.map_err(FloorError::io("cannot start a thread"))?);
        Ok(Self { address, shared, waker, thread })
    }

    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of answered requests so far.
    pub fn answered(&self) -> u64 {
        // Relaxed: the number is for display, and lags by one turn of the loop at most.
        self.shared.answered.load(Ordering::Relaxed)
    }

    /// Closes all connections and ends the thread.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        // If the waker fails, the poll of the thread is gone, so the thread has ended.
        if let (Ok(()), Some(thread)) = (self.waker.wake(), self.thread.take()) {
            let _ = thread.join();
        }
    }
}

impl Drop for NullResponder {
    fn drop(&mut self) {
        self.end();
    }
}

/// Bytes per read: requests arrive singly or a few at a time.
const SPACE: usize = 16 << 10;

struct Server {
    poll: Poll,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    request: usize,
    responses: Box<[u8]>,
    response: usize,
    space: Box<[u8]>,
}

struct Connection {
    stream: TcpStream,
    /// Bytes of an incomplete request.
    begun: usize,
    /// Bytes of responses that the socket has not taken.
    pending: usize,
}

impl Server {
    fn run(mut self, shared: &Shared) {
        let mut events = Events::with_capacity(EVENTS);
        let mut answered = 0;
        while !shared.stopping.load(Ordering::Acquire) {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return,
                _ => {}
            }
            for event in &events {
                match event.token() {
                    LISTENER => self.accept(),
                    WAKER => {}
                    Token(place) => answered += self.turn(place, event),
                }
            }
            // Relaxed: no other memory depends on the number.
            shared.answered.store(answered, Ordering::Relaxed);
        }
    }

    fn accept(&mut self) {
        while let Ok((mut stream, _)) = self.listener.accept() {
            let place = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            let registered = self.poll.registry().register(&mut stream, Token(place), Interest::READABLE);
            match registered {
                Ok(()) => self.connections[place] = Some(Connection { stream, begun: 0, pending: 0 }),
                Err(_) => self.free.push(place),
            }
        }
    }

    /// Handles an event. Returns the number of answered requests.
    #[inline]
    fn turn(&mut self, place: usize, event: &Event) -> u64 {
        let Some(connection) = self.connections.get_mut(place).and_then(Option::as_mut) else {
            return 0;
        };
        let mut answered = 0;
        let mut open = connection.pending == 0 || connection.write_pending(&self.responses).is_ok();
        while open && connection.pending == 0 {
            let Ok(read) = connection.stream.read(&mut self.space) else {
                // The write would block or failed: the next event shows which.
                open = !event.is_read_closed() && !event.is_error();
                break;
            };
            connection.begun += read;
            let complete = connection.begun / self.request;
            connection.begun -= complete * self.request;
            connection.pending = complete * self.response;
            answered += complete as u64;
            open = read > 0 && connection.write_pending(&self.responses).is_ok();
            if read < self.space.len() {
                // The socket is empty. If the peer has closed the connection, nothing more will arrive.
                open = open && !event.is_read_closed();
                break;
            }
        }
        if open && connection.pending > 0 {
            let registry = self.poll.registry();
            let both = Interest::READABLE | Interest::WRITABLE;
            open = registry.reregister(&mut connection.stream, Token(place), both).is_ok();
        }
        if !open {
            // Dropping the socket closes it, which removes it from epoll.
            self.connections[place] = None;
            self.free.push(place);
        }
        answered
    }
}

impl Connection {
    /// Writes pending responses, as far as the socket takes them.
    #[inline]
    fn write_pending(&mut self, responses: &[u8]) -> io::Result<()> {
        while self.pending > 0 {
            match self.stream.write(&responses[..self.pending.min(responses.len())]) {
                Ok(written) => self.pending -= written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
