//! Passes outcomes of other threads to the threads that serve clients.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use mio::Waker;

use crate::service::{ConnectionId, Outcomes};
use crate::worker::Reactor;

/// The sender of a thread's outcomes, and the handle that wakes the thread.
type Mailbox<T> = (Sender<(ConnectionId, T)>, Arc<Waker>);

/// One mailbox per serving thread.
#[derive(Debug)]
pub struct Mailboxes<T>(Vec<Mailbox<T>>);

impl<T> Mailboxes<T> {
    /// The mailboxes of the reactors' threads, and for each thread the receiver of its mailbox.
    pub fn new(reactors: &[Reactor]) -> (Self, Vec<Outcomes<T>>) {
        let (mut mailboxes, mut receivers) = (Vec::new(), Vec::new());
        for reactor in reactors {
            let (sender, receiver) = channel();
            mailboxes.push((sender, reactor.waker()));
            receivers.push(receiver);
        }
        (Self(mailboxes), receivers)
    }

    /// Sends the outcomes of waiting requests to their threads, and wakes each of these threads once.
    pub fn send(&self, outcomes: impl IntoIterator<Item = (ConnectionId, T)>) {
        let mut threads = Vec::new();
        for (id, outcome) in outcomes {
            // A thread that has ended has no clients.
            if let Some((sender, _)) = self.0.get(id.thread)
                && sender.send((id, outcome)).is_ok()
                && !threads.contains(&id.thread)
            {
                threads.push(id.thread);
            }
        }
        for (_, waker) in threads.into_iter().filter_map(|thread| self.0.get(thread)) {
            // A thread whose waker fails wakes by its timer.
            let _ = waker.wake();
        }
    }
}
