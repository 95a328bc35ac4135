//! Passes outcomes of other threads to the threads that serve clients.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use mio::Waker;

use crate::worker::Reactor;

/// One mailbox per serving thread.
#[derive(Debug)]
pub struct Mailboxes<T>(Vec<(Sender<T>, Arc<Waker>)>);

impl<T> Mailboxes<T> {
    /// The mailboxes of the reactors' threads, and for each thread the receiver of its mailbox.
    pub fn new(reactors: &[Reactor]) -> (Self, Vec<Receiver<T>>) {
        let (mut mailboxes, mut receivers) = (Vec::new(), Vec::new());
        for reactor in reactors {
            let (sender, receiver) = channel();
            mailboxes.push((sender, reactor.waker()));
            receivers.push(receiver);
        }
        (Self(mailboxes), receivers)
    }

    pub fn threads(&self) -> usize {
        self.0.len()
    }

    /// Sends to a thread ([`ConnectionId::thread`](crate::ConnectionId::thread)) and wakes it.
    pub fn send(&self, thread: usize, outcome: T) {
        // A thread that has ended has no clients. A thread whose waker fails wakes by its timer.
        if let Some((sender, waker)) = self.0.get(thread)
            && sender.send(outcome).is_ok()
        {
            let _ = waker.wake();
        }
    }
}
