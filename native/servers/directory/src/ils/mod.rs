//! The behaviour of an Internet Locator Server on top of LDAP, as NetMeeting and its likes expect it
//! (MS-TAIL, GnomeMeeting, PTLib).
//!
//! Clients name a user `c=-,o=Microsoft,cn=<email>,objectClass=rtPerson`, in any order of the parts
//! and with parts missing; the store has it as `cn=<email>,ou=Dynamic,o=Intranet`. A search with
//! `(sttl=10)` in its filter keeps the users that it finds for ten more minutes.

mod filter;
mod modify;
mod register;
mod search;

pub(crate) use modify::modify;
pub(crate) use register::register;
pub(crate) use search::search;

/// Seconds in the unit that ILS clients count an entry's life in.
const MINUTE_S: u32 = 60;

/// The life in minutes under its ILS name.
const STTL: &[u8] = b"sttl";

/// The life in seconds (RFC 2589 section 3.2).
const ENTRY_TTL: &[u8] = b"entryTtl";

/// The seconds of a life in minutes, at least one minute; `None` unless it is a number.
fn seconds(minutes: &[u8]) -> Option<u32> {
    let minutes: u32 = std::str::from_utf8(minutes).ok()?.trim().parse().ok()?;
    Some(minutes.max(1).saturating_mul(MINUTE_S))
}
