//! The people in a directory, site or file, as a count and a digest that is equal for the same people.
//!
//! A directory does not preserve bytes: it returns attributes in another order, under the first name of
//! their type, together with operational attributes, below another base. So each person is hashed separately in a
//! canonical spelling, and the digest is the sum of the hashes, which does not depend on their order.
//!
//! ```text
//! person   = SHA-256 of (name 00 length value)...  names lower-case, pairs sorted, length 32 bits big-endian
//! contents = sum of persons modulo 2^256, big-endian
//! ```
//!
//! The hash covers the attributes of people under the first name of their type. `objectClass` decides whether
//! an entry is a person. Its values are excluded, because servers add superclasses. Also excluded are `sTTL`,
//! which servers count down; passwords, which servers hide or hash anew; `userAccountControl`, which servers
//! may change; and `userPrincipalName`, which contains the domain of the base.

use std::fmt;
use std::sync::LazyLock;

use sha2::{Digest, Sha256};
use wire::ldap::attributes::{Attribute, Attributes};
use wire::ldif::{LdifError, Parser, Record};

use crate::population::{Population, decode};
use crate::spec::Profile;

/// The first name of each type, sorted, and its other names (RFC 4519, RFC 4524, RTPerson's schema).
const TYPES: [(&str, &str); 36] = [
    ("c", "countryname"),
    ("cn", "commonname"),
    ("comment", ""),
    ("company", ""),
    ("description", ""),
    ("displayname", ""),
    ("employeenumber", ""),
    ("gecos", ""),
    ("gidnumber", ""),
    ("givenname", "gn"),
    ("homedirectory", ""),
    ("ilsa26214430", ""),
    ("ilsa26279966", ""),
    ("ilsa32833566", ""),
    ("ilsa32964638", ""),
    ("ilsa39321630", ""),
    ("l", "localityname"),
    ("location", ""),
    ("loginshell", ""),
    ("mail", "rfc822mailbox"),
    ("o", "organizationname"),
    ("samaccountname", ""),
    ("sappguid", "guid"),
    ("sappid", "applicationid"),
    ("sflags", ""),
    ("sipaddress", "ipaddress"),
    ("smimetype", "mimetype"),
    ("sn", "surname"),
    ("sport", "port"),
    ("sprotid", "protocolid"),
    ("sprotmimetype", "protocolmimetype"),
    ("ssecurity", "securitytoken"),
    ("telephonenumber", ""),
    ("title", ""),
    ("uid", "userid"),
    ("uidnumber", ""),
];

/// A hash table of all names. [`place`] is the hash function.
static NAMES: LazyLock<Vec<Vec<(&str, usize)>>> = LazyLock::new(|| {
    let names = TYPES.iter().enumerate().flat_map(|(kind, &(first, other))| [(first, kind), (other, kind)]);
    let mut places = Vec::new();
    for (name, kind) in names {
        if let Some(place) = place(name.as_bytes()) {
            places.resize_with(places.len().max(place + 1), Vec::new);
            places[place].push((name, kind));
        }
    }
    places
});

/// The place of a name, from its length and its first letter. The case of the letter does not matter.
fn place(name: &[u8]) -> Option<usize> {
    name.first().map(|&letter| name.len() << 5 | usize::from(letter & 31))
}

/// The number of people and the sum of their hashes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    pub people: u64,
    /// The sum of the people's hashes, least significant part first.
    sum: [u64; 4],
}

impl Contents {
    /// People [start, stop) of a population.
    pub fn of(population: &Population, range: std::ops::Range<u64>) -> Self {
        let (mut contents, mut hasher, mut buffer) = (Self::default(), Hasher::default(), Vec::new());
        for i in range {
            buffer.clear();
            population.write_shown(i, &mut buffer);
            contents.add(hasher.hash(pairs(decode(&buffer))));
        }
        contents
    }

    /// Adds the people of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.people += other.people;
        self.plus(other.sum);
    }

    fn add(&mut self, hash: [u8; 32]) {
        let mut parts = [0; 4];
        for (part, bytes) in parts.iter_mut().zip(hash.rchunks_exact(8)) {
            *part = bytes.iter().fold(0, |part, &byte| part << 8 | u64::from(byte));
        }
        self.people += 1;
        self.plus(parts);
    }

    fn plus(&mut self, parts: [u64; 4]) {
        let mut carry = false;
        for (mine, part) in self.sum.iter_mut().zip(parts) {
            let (sum, first) = mine.overflowing_add(part);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*mine, carry) = (sum, first || second);
        }
    }
}

/// The digest: 64 hexadecimal digits.
impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sum.iter().rev().try_for_each(|part| write!(f, "{part:016x}"))
    }
}

/// Adds up the hashes of entries. The buffers are reused for every entry.
#[derive(Debug)]
pub struct Count {
    /// The people so far.
    pub contents: Contents,
    class: &'static str,
    hasher: Hasher,
}

impl Count {
    /// Counts people of a profile.
    pub fn of(profile: Profile) -> Self {
        Self { contents: Contents::default(), class: profile.object_class(), hasher: Hasher::default() }
    }

    /// Counts an entry of a directory, if the entry is a person.
    pub fn take(&mut self, attributes: Attributes<'_>) {
        let read = || pairs(attributes.iter().flatten());
        if self.is_person(read()) {
            self.contents.add(self.hasher.hash(read()));
        }
    }

    /// Counts a record of a file, if the record is a person.
    fn take_record(&mut self, record: &Record<'_>) {
        if let Some(lines) = record.entry.filter(|lines| self.is_person(lines.iter())) {
            self.contents.add(self.hasher.hash(lines.iter()));
        }
    }

    fn is_person<'a>(&self, mut pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> bool {
        pairs.any(|(name, value)| {
            name.eq_ignore_ascii_case(b"objectClass") && value.eq_ignore_ascii_case(self.class.as_bytes())
        })
    }
}

/// Counts the people of an LDIF file that arrives in pieces.
#[derive(Debug)]
pub struct LdifCount {
    count: Count,
    parser: Parser,
    /// The beginning of an incomplete line.
    rest: Vec<u8>,
}

impl LdifCount {
    /// Counts people of a profile.
    pub fn of(profile: Profile) -> Self {
        Self { count: Count::of(profile), parser: Parser::default(), rest: Vec::new() }
    }

    /// Reads the next piece, which may end anywhere.
    pub fn feed(&mut self, mut piece: &[u8]) -> Result<(), LdifError> {
        while let Some(end) = piece.iter().position(|&byte| byte == b'\n') {
            let (line, after) = piece.split_at(end + 1);
            piece = after;
            let record = if self.rest.is_empty() {
                self.parser.feed(line)?
            } else {
                self.rest.extend_from_slice(line);
                self.parser.feed(&self.rest)?
            };
            if let Some(record) = record {
                self.count.take_record(&record);
            }
            self.rest.clear();
        }
        self.rest.extend_from_slice(piece);
        Ok(())
    }

    /// The number of people so far.
    pub const fn people(&self) -> u64 {
        self.count.contents.people
    }

    /// The people of the whole file. Must be called at the file's end.
    pub fn finish(&mut self) -> Result<Contents, LdifError> {
        for line in [std::mem::take(&mut self.rest), Vec::new()] {
            if let Some(record) = self.parser.feed(&line)? {
                self.count.take_record(&record);
            }
        }
        Ok(self.count.contents)
    }
}

/// Hashes people. The buffers are reused for every person.
#[derive(Debug, Default)]
struct Hasher {
    bytes: Vec<u8>,
    /// For each value the index of its type, its start and its length.
    found: Vec<(usize, usize, usize)>,
    spelled: Vec<u8>,
}

impl Hasher {
    fn hash<'a>(&mut self, pairs: impl Iterator<Item = (&'a [u8], &'a [u8])>) -> [u8; 32] {
        let Self { bytes, found, spelled } = self;
        bytes.clear();
        found.clear();
        spelled.clear();
        for (name, value) in pairs {
            if let Some(kind) = kind(name) {
                found.push((kind, bytes.len(), value.len()));
                bytes.extend_from_slice(value);
            }
        }
        found.sort_unstable_by_key(|&(kind, start, length)| (kind, &bytes[start..start + length]));
        for &(kind, start, length) in &*found {
            spelled.extend_from_slice(TYPES[kind].0.as_bytes());
            spelled.push(0);
            spelled.extend_from_slice(&(length as u32).to_be_bytes());
            spelled.extend_from_slice(&bytes[start..start + length]);
        }
        Sha256::digest(spelled).into()
    }
}

/// The index of a name in `TYPES`.
fn kind(name: &[u8]) -> Option<usize> {
    let here = NAMES.get(place(name)?)?;
    here.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes())).map(|&(_, kind)| kind)
}

/// The attribute description and the value, one pair per value.
pub(crate) fn pairs<'a>(
    attributes: impl Iterator<Item = Attribute<'a>>,
) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    attributes
        .flat_map(|attribute| attribute.values.iter().flatten().map(move |value| (attribute.name, value)))
}
