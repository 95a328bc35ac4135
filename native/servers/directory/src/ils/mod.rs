//! The behaviour of an Internet Locator Server on top of LDAP, as NetMeeting and similar clients expect it
//! (MS-TAIL, GnomeMeeting, PTLib).
//!
//! Clients name a user `c=-,o=Microsoft,cn=<email>,objectClass=rtPerson`, in any order and with missing
//! parts; the store has the user as `cn=<email>,ou=Dynamic,o=Intranet`. A search with `(sttl=10)` in its
//! filter sets the time to live of the users that it finds to ten minutes from now.

mod filter;
mod modify;
mod register;
mod search;

pub(crate) use modify::modify;
pub(crate) use register::register;
pub(crate) use search::search;

/// Seconds in a minute: ILS clients count a time to live in minutes.
const MINUTE_S: u32 = 60;

/// The time to live in minutes under its ILS name.
const STTL: &[u8] = b"sttl";

/// The time to live in seconds (RFC 2589 section 3.2).
const ENTRY_TTL: &[u8] = b"entryTtl";

/// The seconds of a time to live in minutes, at least one minute; `None` unless it is a number.
fn seconds(minutes: &[u8]) -> Option<u32> {
    let minutes: u32 = std::str::from_utf8(minutes).ok()?.trim().parse().ok()?;
    Some(minutes.max(1).saturating_mul(MINUTE_S))
}
