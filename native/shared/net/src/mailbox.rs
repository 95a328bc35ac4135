//! How other threads hand their outcomes to those that serve clients.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use mio::Waker;

use crate::worker::Reactor;

/// One for each thread that serves.
#[derive(Debug)]
pub struct Mailboxes<T>(Vec<(Sender<T>, Arc<Waker>)>);

impl<T> Mailboxes<T> {
    /// Those of the threads of these reactors, and where each thread finds what was sent to it.
    pub fn new(reactors: &[Reactor]) -> (Self, Vec<Receiver<T>>) {
        let (mut mailboxes, mut receivers) = (Vec::new(), Vec::new());
        for reactor in reactors {
            let (sender, receiver) = channel();
            mailboxes.push((sender, reactor.waker()));
            receivers.push(receiver);
        }
        (Self(mailboxes), receivers)
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.0.len()
    }

    /// Sends to a thread ([`ConnectionId::thread`](crate::ConnectionId::thread)) and wakes it.
    pub fn send(&self, thread: usize, outcome: T) {
        // A thread that is gone has no clients left either; one that cannot be woken wakes by its timer.
        if let Some((sender, waker)) = self.0.get(thread)
            && sender.send(outcome).is_ok()
        {
            let _ = waker.wake();
        }
    }
}
