//! Many adds that take effect at once (RFC 5805).
//!
//! A server that flushes each change to disk answers some hundred adds a second, however many are
//! outstanding. In a transaction it flushes once for all of them. Servers say in their root DSE whether
//! they have transactions; OpenLDAP has since 2.5.
//!
//! A transaction fails as a whole. Its people are then added one by one, which finds those who are there
//! already and gives every refusal its own reason.

use std::ops::Range;

use wire::ber::{self, tag};
use wire::ldap::control::Control;
use wire::ldap::request::write_extended;
use wire::ldap::{Outcome, Response, ResultCode, op};

use super::LiveError;
use super::connection::final_outcome;
use super::inbox::not_ldap;

/// Start, specification and end of a transaction (RFC 5805 section 2).
pub(super) const START: &[u8] = b"1.3.6.1.1.21.1";
const SPECIFICATION: &[u8] = b"1.3.6.1.1.21.2";
const END: &[u8] = b"1.3.6.1.1.21.3";

/// People in one: a flush is cheap compared with so many adds, and a failure soon made up for.
pub(super) const PEOPLE: u64 = 512;

/// A transaction on a connection.
#[derive(Debug)]
pub(super) struct Transaction {
    /// Whom it is about.
    pub(super) people: Range<u64>,
    /// Who is asked for next.
    next: u64,
    stage: Stage,
    /// How an add in it was refused, if one was.
    refused: Option<ResultCode>,
    id: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The server has been asked for one.
    Opening,
    /// Adds are sent and answered.
    Filling,
    /// The server has been asked to make it so, or to forget it.
    Closing,
}

impl Transaction {
    /// Asks for a transaction.
    pub(super) fn open(people: Range<u64>, message: i32, out: &mut Vec<u8>) -> Self {
        write_extended(out, message, START, None);
        Self { next: people.start, people, stage: Stage::Opening, refused: None, id: Vec::new() }
    }

    /// Takes the answer to an add.
    pub(super) fn answered(&mut self, outcome: Option<&Outcome<'_>>) {
        let code = outcome.map(|outcome| outcome.code).filter(|&code| code != ResultCode::SUCCESS);
        self.refused = self.refused.or(code);
    }

    /// The control that makes an add part of it.
    pub(super) fn control(&self) -> Control<'_> {
        Control { oid: SPECIFICATION, critical: true, value: Some(&self.id) }
    }

    /// Whom to ask for now, if anybody.
    pub(super) fn take(&mut self) -> Option<u64> {
        let person = self.next;
        (self.stage == Stage::Filling && self.refused.is_none() && person < self.people.end).then(|| {
            self.next += 1;
            person
        })
    }

    /// Whether it can be closed once nothing is outstanding.
    pub(super) fn is_full(&self) -> bool {
        self.stage == Stage::Filling && (self.refused.is_some() || self.next == self.people.end)
    }

    /// Asks the server to make it so, unless an add was refused.
    pub(super) fn close(&mut self, message: i32, out: &mut Vec<u8>) {
        let mut value = Vec::new();
        ber::write_nested(&mut value, tag::SEQUENCE, |out| {
            if self.refused.is_some() {
                // The default is true (RFC 5805 section 2.3).
                ber::write_boolean(out, false);
            }
            ber::write_octets(out, &self.id);
        });
        write_extended(out, message, END, Some(&value));
        self.stage = Stage::Closing;
    }
}

/// What an answer about a transaction itself means for its people.
#[derive(Debug)]
pub(super) enum Settled {
    /// They can be asked for.
    Open,
    /// They are all there now.
    Done(Range<u64>),
    /// None of them is there now; `for_good` means that no transaction will do.
    Failed { people: Range<u64>, for_good: bool },
}

/// Takes an answer to what was asked beyond the slots: 0 for opening, 1 for closing.
pub(super) fn settle(
    server: &str,
    slot: &mut Option<Transaction>,
    beyond: usize,
    response: &Response<'_>,
) -> Result<Settled, LiveError> {
    let expected = [Stage::Opening, Stage::Closing].get(beyond);
    let Some(mut transaction) = slot.take_if(|one| Some(&one.stage) == expected) else {
        return Err(not_ldap(server, "an answer to nothing that was asked"));
    };
    let Some(outcome) = final_outcome(server, op::EXTENDED_RESPONSE, response)? else {
        return Ok(Settled::Open);
    };
    let people = transaction.people.clone();
    match (transaction.stage, transaction.refused.unwrap_or(outcome.code)) {
        (Stage::Opening, ResultCode::SUCCESS) => {
            transaction.id.extend_from_slice(outcome.value.unwrap_or_default());
            transaction.stage = Stage::Filling;
            *slot = Some(transaction);
            Ok(Settled::Open)
        }
        (_, ResultCode::SUCCESS) => Ok(Settled::Done(people)),
        (_, code) => Ok(Settled::Failed { people, for_good: code != ResultCode::ENTRY_ALREADY_EXISTS }),
    }
}
