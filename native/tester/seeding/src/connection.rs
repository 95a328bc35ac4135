//! One connection and the requests outstanding on it.

use std::io::{self, Write};
use std::ops::Range;

use mio::net::TcpStream;
use tls::Stream;
use wire::ldap::{Outcome, Reply, Response};

use super::SeedingError;
use super::inbox::{Inbox, not_ldap};
use super::person::Work;

pub(super) struct Connection {
    pub(super) stream: Stream<TcpStream>,
    pub(super) out: Vec<u8>,
    pub(super) sent: usize,
    pub(super) inbox: Inbox,
    /// By slot the person of the outstanding request, whose message id is the slot plus 1.
    pub(super) slots: Vec<Option<u64>>,
    pub(super) free: Vec<usize>,
}

impl Connection {
    pub(super) fn new(stream: Stream<TcpStream>, window: usize) -> Self {
        Self {
            stream,
            out: Vec::new(),
            sent: 0,
            inbox: Inbox::default(),
            slots: vec![None; window],
            free: (0..window).rev().collect(),
        }
    }

    /// The first person with a request outstanding.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.slots.iter().flatten().copied().min()
    }

    /// Writes the request for the next person, unless the window is full or no person is left.
    pub(super) fn ask_one(&mut self, work: &mut Work<'_>, people: &mut Range<u64>) -> bool {
        let Some(&slot) = self.free.last() else { return false };
        let Some(person) = people.next() else { return false };
        self.free.pop();
        self.slots[slot] = Some(person);
        work.write(person, slot as i32 + 1, &mut self.out);
        true
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        while self.sent < self.out.len() {
            match self.stream.write(&self.out[self.sent..]) {
                Ok(written) => self.sent += written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.clear();
        self.sent = 0;
        Ok(())
    }
}

/// The outcome of an operation; `None` for an answer that is not the final answer.
pub(super) fn final_outcome<'a, 'r>(
    server: &str,
    tag: u8,
    response: &'a Response<'r>,
) -> Result<Option<&'a Outcome<'r>>, SeedingError> {
    match &response.reply {
        Reply::Done { tag: answer_tag, outcome } if *answer_tag == tag => Ok(Some(outcome)),
        Reply::Entry { .. } | Reply::Reference if tag == wire::ldap::op::SEARCH_DONE => Ok(None),
        _ => Err(not_ldap(server, "an answer of another kind than was asked for")),
    }
}
