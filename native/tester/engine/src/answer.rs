//! The size of a lookup's answer as a directory encodes it.

use people::Population;
use wire::ber;
use wire::ldap::answer::{Verdict, write_entry, write_result};
use wire::ldap::op;

/// A message id of one byte, like the ids of a connection's first 127 requests.
const ID: i32 = 1;

/// Measures answers, and reuses its buffers.
#[derive(Default)]
pub struct Answers {
    body: Vec<u8>,
    dn: Vec<u8>,
    messages: Vec<u8>,
}

impl Answers {
    /// The bytes of person `i`'s SearchResultEntry and of the SearchResultDone after it.
    pub fn size(&mut self, people: &Population, i: u64) -> u64 {
        self.dn.clear();
        people.write_dn(i, &mut self.dn);
        self.body.clear();
        ber::write_octets(&mut self.body, &self.dn);
        people.write_shown(i, &mut self.body);
        self.messages.clear();
        write_entry(&mut self.messages, ID, &self.body);
        write_result(&mut self.messages, ID, op::SEARCH_DONE, &Verdict::SUCCESS);
        self.messages.len() as u64
    }
}
