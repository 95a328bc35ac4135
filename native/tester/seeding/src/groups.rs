//! Adds, checks and removes groups, one at a time.
//!
//! Groups are few compared with people, and a group may exceed a server's maximum message size. So a group is
//! first added in one message. If the server closes the connection or reports a limit, the members are added
//! in pieces. Their size is the largest size that the server accepts. Many small pieces would take quadratic
//! time, as a server reads and writes the whole entry for each piece.
//!
//! Until all its members are added, a group's description says that it is incomplete. So after an interruption,
//! the next run finds the group and adds it again. An entry with any other description is foreign, and is left
//! unchanged.

use std::collections::HashSet;

use people::{GroupClass, Groups, List};
use wire::ber::{self, tag};
use wire::dn::{Dn, Plain};
use wire::ldap::request::{write_add, write_change, write_delete, write_modify, write_search};
use wire::ldap::{Attributes, ResultCode, filter};

use super::session::{Answer, ENTRIES_BELOW, ENTRY_ITSELF, Session};
use super::{Config, Progress, SeedingError};

/// Bytes of members in one message, if a whole group is too large: sizes below the default limits of servers.
/// slapd takes 16 MiB from bound users and 256 KiB from others (`SLAP_SB_MAX_INCOMING_AUTH`), 389-DS 2 MiB
/// (`nsslapd-maxbersize`), ApacheDS 2,000,000 (`ads-maxPDUSize`), the embedded directory 4 MiB and 256 KiB.
const PIECES: [usize; 5] = [16_000_000, 4_100_000, 1_900_000, 250_000, SMALLEST];
const SMALLEST: usize = 60_000;

/// A server that maintains `memberOf` writes each member's entry: 32 ms per member in 389-DS.
const MEMBER_MS: u64 = 50;

/// Modify's operations (RFC 4511 section 4.6).
const ADD: i64 = 0;
const REPLACE: u8 = 2;

/// The result of [`seed`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seeded {
    /// Groups that this call has added; the others existed before.
    pub added: u64,
    /// Bytes of members per message, if the server refused a whole group in one message.
    pub piece: Option<usize>,
}

/// The result of [`check`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checked {
    pub groups: u64,
    /// The members of all groups.
    pub members: u64,
    /// Whether the server maintains `memberOf`.
    pub member_of: bool,
}

/// Adds missing groups; nested groups before the groups that contain them, as some servers require.
pub fn seed(config: &Config, groups: &Groups, progress: Progress<'_>) -> Result<Seeded, SeedingError> {
    let mut work = Work::open(config, groups)?;
    let mut most = usize::MAX;
    let count = groups.spec().count;
    let mut added = 0;
    for (done, g) in (0..count).rev().enumerate() {
        if progress(done as u64).is_break() {
            return Err(SeedingError::Interrupted);
        }
        if !work.is_there(g)? {
            while let Some(too_much) = work.add(g, most)? {
                // The next attempt uses smaller pieces and a new connection.
                most = PIECES.into_iter().find(|piece| *piece < too_much).unwrap_or(SMALLEST);
                work.session = Session::open(&work.config)?;
                if work.is_there(g)? {
                    break;
                }
            }
            added += 1;
        }
    }
    let _ = progress(count);
    Ok(Seeded { added, piece: (most < usize::MAX).then_some(most) })
}

/// Deletes the existing groups, and returns their number.
pub fn remove(config: &Config, groups: &Groups, progress: Progress<'_>) -> Result<u64, SeedingError> {
    let mut work = Work::open(config, groups)?;
    let mut removed = 0;
    for g in 0..groups.spec().count {
        if progress(g).is_break() {
            return Err(SeedingError::Interrupted);
        }
        match work.description(g)? {
            Some(description) if Groups::is_ours(g, &description) => {
                work.delete(g)?;
                removed += 1;
            }
            _ => {}
        }
    }
    Ok(removed)
}

/// Compares all groups with their expected contents.
pub fn check(config: &Config, groups: &Groups, progress: Progress<'_>) -> Result<Checked, SeedingError> {
    let mut work = Work::open(config, groups)?;
    let count = groups.spec().count;
    let mut members = 0;
    for g in 0..count {
        if progress(g).is_break() {
            return Err(SeedingError::Interrupted);
        }
        members += work.compare(g)?;
    }
    let there = work.count()?;
    if there != count {
        let what = format!("is one of {count}, and {there} are there");
        return Err(work.wrong(count - 1, what));
    }
    let mut member_of = false;
    for g in [0, count / 2, count - 1] {
        member_of |= work.shows_member_of(g)?;
    }
    Ok(Checked { groups: there, members, member_of })
}

struct Work<'g> {
    config: Config,
    session: Session,
    groups: &'g Groups,
}

impl<'g> Work<'g> {
    fn open(config: &Config, groups: &'g Groups) -> Result<Self, SeedingError> {
        config.check(groups.people())?;
        let mut config = config.clone();
        config.timeout_ms = config.timeout_ms.saturating_add(MEMBER_MS.saturating_mul(groups.largest()));
        Ok(Self { session: Session::open(&config)?, config, groups })
    }

    fn dn(&self, g: u64) -> Vec<u8> {
        let mut dn = Vec::new();
        self.groups.write_dn(g, &mut dn);
        dn
    }

    fn name(&self, g: u64) -> String {
        String::from_utf8_lossy(&self.dn(g)).into_owned()
    }

    fn wrong(&self, g: u64, what: impl Into<String>) -> SeedingError {
        SeedingError::WrongGroup { server: self.config.server(), dn: self.name(g), what: what.into() }
    }

    fn refused(&self, verb: &'static str, dn: &[u8], Answer { code, text, .. }: Answer) -> SeedingError {
        let dn = String::from_utf8_lossy(dn).into_owned();
        SeedingError::Refused { server: self.config.server(), verb, dn, code, answer: text }
    }

    /// Passes the attributes of an entry to `visit`, if the entry exists.
    fn read(
        &mut self,
        dn: &[u8],
        names: &[&[u8]],
        visit: &mut dyn FnMut(Attributes<'_>),
    ) -> Result<(), SeedingError> {
        let any = |out: &mut Vec<u8>| filter::write_present(out, b"objectClass");
        let answer = self.session.ask_each(
            |out, id| write_search(out, id, dn, &ENTRY_ITSELF, any, names.iter().copied()),
            &mut |attributes| {
                visit(attributes);
                Ok(())
            },
        )?;
        match answer.code {
            ResultCode::SUCCESS | ResultCode::NO_SUCH_OBJECT => Ok(()),
            // An entry that cannot be read may still exist.
            _ => Err(self.refused("show", dn, answer)),
        }
    }

    /// The description of group `g`'s entry, empty if it is not readable; `None` without an entry.
    fn description(&mut self, g: u64) -> Result<Option<Vec<u8>>, SeedingError> {
        let (dn, mut description) = (self.dn(g), None);
        self.read(&dn, &[b"description"], &mut |attributes| {
            let first =
                attributes.iter().flatten().flat_map(|attribute| attribute.values.iter().flatten()).next();
            description = Some(first.unwrap_or_default().to_vec());
        })?;
        Ok(description)
    }

    /// Whether group `g` exists and is complete. An incomplete group is removed.
    fn is_there(&mut self, g: u64) -> Result<bool, SeedingError> {
        let Some(description) = self.description(g)? else { return Ok(false) };
        if !Groups::is_ours(g, &description) {
            return Err(SeedingError::Foreign { server: self.config.server(), dn: self.name(g) });
        }
        if Groups::is_incomplete(&description) {
            self.delete(g)?;
            return Ok(false);
        }
        let expected = self.groups.description(g, true);
        if description != expected {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (server, dn) = (self.config.server(), self.name(g));
            return Err(SeedingError::OtherGroup {
                server,
                dn,
                found: text(&description),
                expected: text(&expected),
            });
        }
        Ok(true)
    }

    fn delete(&mut self, g: u64) -> Result<(), SeedingError> {
        let dn = self.dn(g);
        let answer = self.session.ask(|out, id| write_delete(out, id, &dn))?;
        match answer.code {
            ResultCode::SUCCESS | ResultCode::NO_SUCH_OBJECT => Ok(()),
            _ => Err(self.refused("delete", &dn, answer)),
        }
    }

    /// Adds group `g` with at most `most` bytes of members per message. Returns the number of bytes of a
    /// message that was too large.
    fn add(&mut self, g: u64, most: usize) -> Result<Option<usize>, SeedingError> {
        let mut pieces = Pieces { groups: self.groups, g, most, list: 0, next: 0 };
        let mut first = true;
        loop {
            let piece = pieces.take();
            let last = pieces.ended();
            let sent = if first { self.send_first(g, &piece, last) } else { self.send_more(g, &piece, last) };
            let bytes = piece.iter().map(|(_, values)| values.len()).sum();
            match sent {
                Ok(answer) if answer.code == ResultCode::SUCCESS => {}
                // A message with more bytes than the smallest piece may have been too long.
                Ok(Answer { code: ResultCode::ADMIN_LIMIT_EXCEEDED, .. })
                | Err(SeedingError::Closed { .. } | SeedingError::Broken { .. })
                    if bytes > SMALLEST && most > SMALLEST =>
                {
                    return Ok(Some(bytes));
                }
                Ok(answer) => return Err(self.refused("add", &self.dn(g), answer)),
                Err(error) => return Err(error),
            }
            if last {
                return Ok(None);
            }
            first = false;
        }
    }

    fn send_first(&mut self, g: u64, piece: &[(List, Vec<u8>)], last: bool) -> Result<Answer, SeedingError> {
        let (dn, groups) = (self.dn(g), self.groups);
        self.session.ask(|out, id| {
            write_add(out, id, &dn, |out| {
                ber::write_nested(out, tag::SEQUENCE, |out| {
                    groups.write_head(g, last, out);
                    piece.iter().for_each(|(list, values)| write_list(*list, values, out));
                });
            });
        })
    }

    fn send_more(&mut self, g: u64, piece: &[(List, Vec<u8>)], last: bool) -> Result<Answer, SeedingError> {
        let (dn, description) = (self.dn(g), self.groups.description(g, true));
        self.session.ask(|out, id| {
            write_modify(out, id, &dn, |out| {
                for (list, values) in piece {
                    ber::write_nested(out, tag::SEQUENCE, |out| {
                        ber::write_integer(out, tag::ENUMERATED, ADD);
                        write_list(*list, values, out);
                    });
                }
                if last {
                    write_change(out, REPLACE, b"description", [&description[..]]);
                }
            });
        })
    }

    /// Compares group `g`; returns the number of its members.
    fn compare(&mut self, g: u64) -> Result<u64, SeedingError> {
        match self.description(g)? {
            None => return Err(self.wrong(g, "is not there")),
            Some(description) if !Groups::is_ours(g, &description) => {
                return Err(self.wrong(g, "is no group of sitebench"));
            }
            Some(description) if Groups::is_incomplete(&description) => {
                return Err(self.wrong(g, "is incomplete"));
            }
            // The description is compared first: a larger group would be read in full, or exceed the maximum
            // size of an answer.
            Some(description) if description != self.groups.description(g, true) => {
                return Err(self.wrong(g, format!("is {:?}", String::from_utf8_lossy(&description))));
            }
            Some(_) => {}
        }
        for &list in self.groups.spec().class.lists() {
            let (groups, mut expected, mut bytes) = (self.groups, HashSet::new(), 0);
            groups.each(g, list, 0, |value| {
                bytes += 2 * value.len() + 16;
                expected.insert(spelled(list, value))
            });
            self.session.expect(bytes);
            let (wanted, values) = (expected.len(), self.values(g, list)?);
            if values.len() != wanted {
                let what = format!("has {} values of {}, not {wanted}", values.len(), list.name());
                return Err(self.wrong(g, what));
            }
            if let Some(other) = values.iter().find(|value| !expected.contains(&spelled(list, value))) {
                let what = format!("has the {} {:?} of another", list.name(), String::from_utf8_lossy(other));
                return Err(self.wrong(g, what));
            }
        }
        Ok(self.groups.count(g, self.groups.spec().class.lists()[0]))
    }

    /// The values of a list of group `g`, in as many answers as the server needs. Active Directory returns
    /// 1,500 values in one answer, and marks that in the attribute's name, as in `member;range=0-1499`
    /// (MS-ADTS 3.1.1.3.1.3.3).
    fn values(&mut self, g: u64, list: List) -> Result<Vec<Vec<u8>>, SeedingError> {
        let (dn, mut values, mut attribute) = (self.dn(g), Vec::new(), list.name().to_owned());
        loop {
            let (before, mut more) = (values.len(), false);
            self.read(&dn, &[attribute.as_bytes()], &mut |attributes| {
                for returned in attributes.iter().flatten() {
                    if let Some(part) = part_of(list, returned.name) {
                        more |= part;
                        values.extend(returned.values.iter().flatten().map(<[u8]>::to_vec));
                    }
                }
            })?;
            if !more || values.len() == before {
                return Ok(values);
            }
            attribute = format!("{};range={}-*", list.name(), values.len());
        }
    }

    /// The number of seeded groups below the base.
    fn count(&mut self) -> Result<u64, SeedingError> {
        let base = self.groups.people().spec().base.clone();
        let class = self.groups.spec().class.object_class().as_bytes();
        let group = |out: &mut Vec<u8>| filter::write_equality(out, b"objectClass", class);
        let search = |out: &mut Vec<u8>, id| {
            write_search(out, id, base.as_bytes(), &ENTRIES_BELOW, group, [&b"description"[..]]);
        };
        let mut count = 0;
        self.session.ask_all(
            &base,
            self.groups.spec().class == GroupClass::Ad,
            &search,
            &mut |attributes| {
                let mut values =
                    attributes.iter().flatten().flat_map(|attribute| attribute.values.iter().flatten());
                count += u64::from(values.any(Groups::has_mark));
                Ok(())
            },
        )?;
        Ok(count)
    }

    /// Whether the first person of group `g` has the group in `memberOf`; an error if `memberOf` has only
    /// other groups.
    fn shows_member_of(&mut self, g: u64) -> Result<bool, SeedingError> {
        let mut person = Vec::new();
        if self.groups.spec().class.lists().contains(&List::Member) {
            self.groups.each(g, List::Member, 0, |value| {
                person.extend_from_slice(value);
                false
            });
        }
        if person.is_empty() {
            return Ok(false);
        }
        let wanted = spelled(List::Member, &self.dn(g));
        let (mut any, mut this, mut part) = (false, false, false);
        self.read(&person, &[b"memberOf", b"isMemberOf"], &mut |attributes| {
            for attribute in attributes.iter().flatten() {
                // For a member of very many groups Active Directory returns 1,500 groups, which may lack this
                // group.
                part |= attribute.name.windows(7).any(|option| option == b";range=");
                for value in attribute.values.iter().flatten() {
                    any = true;
                    this |= spelled(List::Member, value) == wanted;
                }
            }
        })?;
        if any && !this && !part {
            let person = String::from_utf8_lossy(&person).into_owned();
            return Err(self.wrong(g, format!("is not in the memberOf of its member {person:?}")));
        }
        Ok(this || part)
    }
}

/// The members of a group, in pieces that fit a message.
struct Pieces<'g> {
    groups: &'g Groups,
    g: u64,
    most: usize,
    /// The current list, and the index of its next value.
    list: usize,
    next: u64,
}

impl Pieces<'_> {
    /// The next values of each list, encoded one after the other.
    fn take(&mut self) -> Vec<(List, Vec<u8>)> {
        let (mut pieces, mut left) = (Vec::new(), self.most);
        while let Some(&list) = self.groups.spec().class.lists().get(self.list) {
            let mut values = Vec::new();
            self.groups.each(self.g, list, self.next, |value| {
                let before = values.len();
                ber::write_octets(&mut values, value);
                // A message has at least one value. Further values stay within the limit, because otherwise a
                // lower limit would not make pieces smaller.
                if values.len() > left && (before > 0 || !pieces.is_empty()) {
                    values.truncate(before);
                    return false;
                }
                self.next += 1;
                true
            });
            left = left.saturating_sub(values.len());
            pieces.push((list, values));
            if self.next < self.groups.count(self.g, list) {
                break;
            }
            (self.list, self.next) = (self.list + 1, 0);
            if left == 0 {
                break;
            }
        }
        pieces.retain(|(_, values)| !values.is_empty());
        pieces
    }

    fn ended(&self) -> bool {
        self.list == self.groups.spec().class.lists().len()
    }
}

/// Whether an attribute has values of a list; `Some(true)` if the server holds further values back.
fn part_of(list: List, description: &[u8]) -> Option<bool> {
    let (name, options) = match description.iter().position(|&byte| byte == b';') {
        Some(end) => description.split_at(end),
        None => (description, &b""[..]),
    };
    let named = name.eq_ignore_ascii_case(list.name().as_bytes());
    named.then_some(options.starts_with(b";range=") && !options.ends_with(b"*"))
}

/// Appends `SEQUENCE { type, SET { values } }` with encoded values.
fn write_list(list: List, values: &[u8], out: &mut Vec<u8>) {
    ber::write_nested(out, tag::SEQUENCE, |out| {
        ber::write_octets(out, list.name().as_bytes());
        ber::write_element(out, tag::SET, values);
    });
}

/// The normal form of a value: names by RFC 4514, logins unchanged.
fn spelled(list: List, value: &[u8]) -> Vec<u8> {
    match (list, Dn::parse(value)) {
        (List::Member, Ok(dn)) => {
            let mut out = Vec::new();
            dn.write_normal(&Plain, &mut out);
            out
        }
        _ => value.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_option_of_active_directory_announces_more_values() {
        let part = |name: &[u8]| part_of(List::Member, name);
        assert_eq!(part(b"member"), Some(false));
        assert_eq!(part(b"MEMBER;range=0-1499"), Some(true));
        assert_eq!(part(b"member;range=1500-*"), Some(false));
        assert_eq!(part(b"memberUid"), None);
        assert_eq!(part(b"description"), None);
    }
}
