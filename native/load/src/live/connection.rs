//! One connection: what is outstanding on it, and what is asked next.

use std::io::{self, Write};
use std::ops::Range;

use mio::net::TcpStream;
use wire::ldap::{Outcome, Reply, Response};

use super::LiveError;
use super::inbox::{Inbox, not_ldap};
use super::person::Work;
use super::transaction::Transaction;

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) out: Vec<u8>,
    pub(super) sent: usize,
    pub(super) inbox: Inbox,
    /// Whom the request with the id one higher is about; the ids after these are a transaction's.
    pub(super) slots: Vec<Option<u64>>,
    pub(super) free: Vec<usize>,
    pub(super) transaction: Option<Transaction>,
    /// Whose transaction failed: each is asked for alone.
    pub(super) alone: Range<u64>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream, window: usize) -> Self {
        Self {
            stream,
            out: Vec::new(),
            sent: 0,
            inbox: Inbox::default(),
            slots: vec![None; window],
            free: (0..window).rev().collect(),
            transaction: None,
            alone: 0..0,
        }
    }

    /// The first person who is this connection's business and not done.
    pub(super) fn oldest(&self) -> Option<u64> {
        let asked = self.slots.iter().flatten().copied();
        let together = self.transaction.as_ref().map(|transaction| transaction.people.start);
        let alone = (!self.alone.is_empty()).then_some(self.alone.start);
        asked.chain(together).chain(alone).min()
    }

    /// Whether nobody is its business.
    pub(super) fn is_idle(&self) -> bool {
        self.transaction.is_none() && self.alone.is_empty() && self.free.len() == self.slots.len()
    }

    /// Starts to add these people in a transaction.
    pub(super) fn begin(&mut self, people: Range<u64>) {
        self.transaction = Some(Transaction::open(people, self.message(1), &mut self.out));
    }

    /// Asks for one more person: of the transaction, of those to be asked for alone, or of the `others`.
    /// Says whether there was anybody.
    pub(super) fn ask_one(&mut self, work: &mut Work<'_>, others: &mut Range<u64>) -> bool {
        let Some(&slot) = self.free.last() else { return false };
        let id = slot as i32 + 1;
        let person = match &mut self.transaction {
            Some(transaction) => transaction.take().inspect(|&person| {
                work.write_add_with(person, id, &transaction.control(), &mut self.out);
            }),
            None => self.alone.next().or_else(|| others.next()).inspect(|&person| {
                work.write(person, id, &mut self.out);
            }),
        };
        if person.is_some() {
            self.free.pop();
            self.slots[slot] = person;
        }
        person.is_some()
    }

    /// Ends the transaction, if everybody in it has been answered for.
    pub(super) fn close_transaction(&mut self) {
        let message = self.message(2);
        let answered = self.free.len() == self.slots.len();
        if let Some(transaction) = self.transaction.as_mut().filter(|one| answered && one.is_full()) {
            transaction.close(message, &mut self.out);
        }
    }

    /// An id beyond the slots'.
    fn message(&self, beyond: usize) -> i32 {
        (self.slots.len() + beyond) as i32
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

/// How an operation ended; nothing, if a search has found something and goes on.
pub(super) fn final_outcome<'a, 'r>(
    server: &str,
    tag: u8,
    response: &'a Response<'r>,
) -> Result<Option<&'a Outcome<'r>>, LiveError> {
    match &response.reply {
        Reply::Done { tag: found, outcome } if *found == tag => Ok(Some(outcome)),
        Reply::Entry { .. } | Reply::Reference if tag == wire::ldap::op::SEARCH_DONE => Ok(None),
        _ => Err(not_ldap(server, "an answer of another kind than was asked for")),
    }
}
