//! Verifies that an entry is the requested entry, complete and unchanged (method rule 3).
//!
//! A server that stores people as the population encodes them sends exactly these bytes, so bytes are
//! compared first. Only if they differ, the entry is parsed: servers may order attributes and values as they
//! like, write names in upper or lower case, and add operational attributes.

use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use foldhash::quality::RandomState;
use people::{Population, Profile};
use wire::ber::{BerError, element_size};
use wire::ldap::Attributes;
use wire::ldap::attributes::{Attribute, Values};

use super::names::{Person, is_same_name};

/// Attributes that servers maintain (RFC 4512 section 3.4, RFC 2589, RFC 4530, and additions of OpenLDAP),
/// and passwords. They are not compared.
const OPERATIONAL: [&str; 22] = [
    "createTimestamp",
    "modifyTimestamp",
    "creatorsName",
    "modifiersName",
    "structuralObjectClass",
    "governingStructureRule",
    "subschemaSubentry",
    "entryUUID",
    "entryCSN",
    "entryDN",
    "entryTTL",
    "sTTL",
    "dynamicSubtrees",
    "hasSubordinates",
    "numSubordinates",
    "collectiveAttributeSubentries",
    "memberOf",
    "pwdChangedTime",
    "entryExpireTimestamp",
    "nsUniqueId",
    // Passwords are visible to some clients only, and hashed by some servers.
    "userPassword",
    "unicodePwd",
];

/// Pairs of names of the same attribute. Servers answer with either name (RFC 4519, RFC 4524, and MS-TAIL for
/// online users).
const SYNONYMS: [(&str, &str); 17] = [
    ("cn", "commonName"),
    ("sn", "surname"),
    ("givenName", "gn"),
    ("mail", "rfc822Mailbox"),
    ("c", "countryName"),
    ("l", "localityName"),
    ("o", "organizationName"),
    ("ou", "organizationalUnitName"),
    ("sAppID", "applicationID"),
    ("sAppGUID", "guid"),
    ("sIPAddress", "ipAddress"),
    ("sPort", "port"),
    ("sProtID", "protocolID"),
    ("sProtMimeType", "protocolMimeType"),
    ("sMimeType", "mimeType"),
    ("sSecurity", "securityToken"),
    ("sTTL", "entryTTL"),
];

/// Object classes that a server may add to an entry or omit.
const UNSAID_CLASSES: [&[u8]; 2] = [b"top", b"dynamicObject"];

/// The end of a failure's text if an entry is not the whole person.
pub(super) const NOT_WHOLE: &str = ", but an entry is not the whole person: name what is compared in attributes, or \
    compare single values, as in expect.entry = { cn = \"{person.cn}\" }";

/// The attributes that an answer must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedAttributes {
    All,
    Listed(Vec<String>),
}

impl ExpectedAttributes {
    /// Interprets a search's attribute list (RFC 4511 section 4.5.1.8).
    pub fn new(attributes: &[String]) -> Self {
        if attributes.is_empty() || attributes.iter().any(|name| name == "*") {
            return Self::All;
        }
        let plain = attributes.iter().filter(|name| !matches!(name.as_str(), "+" | "1.1"));
        Self::Listed(plain.cloned().collect())
    }

    fn has(&self, name: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::Listed(names) => names.iter().any(|wanted| same_name(wanted.as_bytes(), name)),
        }
    }
}

/// The maximum number of digests (64 MiB). If there are more people, every answer is compared in full.
const MOST_DIGESTS: u64 = 8 << 20;

/// For each person the digest of the last right answer, shared by all threads.
///
/// The verdict depends on the person and the bytes only, so bytes that were right are right again. The hash
/// has a random key per process: a server cannot construct other bytes with the same digest.
pub(super) struct Digests {
    hash: RandomState,
    right: Box<[AtomicU64]>,
}

impl Digests {
    pub(super) fn new(people: u64) -> Self {
        let right = (0..people.min(MOST_DIGESTS)).map(|_| AtomicU64::new(0)).collect();
        Self { hash: RandomState::default(), right }
    }

    fn place(&self, person: Person) -> Option<&AtomicU64> {
        self.right.get(usize::try_from(person.number).ok()?)
    }

    /// The digest of a list's length and bytes.
    #[inline]
    fn digest(&self, list: &[u8]) -> u64 {
        let mut hasher = self.hash.build_hasher();
        hasher.write_usize(list.len());
        hasher.write(list);
        hasher.finish()
    }
}

/// Compares answers with the population.
pub(super) struct Verifier {
    digests: Arc<Digests>,
    profile: Profile,
    /// Attributes that the run changes. Their values are not compared.
    changed: Vec<String>,
    expected: Vec<u8>,
    given: Vec<u8>,
}

impl Verifier {
    pub(super) fn new(profile: Profile, changed: Vec<String>, digests: Arc<Digests>) -> Self {
        Self { digests, profile, changed, expected: Vec::with_capacity(4096), given: Vec::new() }
    }

    /// Whether the entry belongs to this person, with all expected attributes and no others.
    ///
    /// `expected_dn` is the person's DN if it is known, or empty.
    #[inline]
    pub(super) fn is_person(
        &mut self,
        people: &Population,
        person: Person,
        wanted: &ExpectedAttributes,
        (dn, attributes): (&[u8], Attributes<'_>),
        expected_dn: &[u8],
    ) -> bool {
        if dn != expected_dn && !self.is_name(people, person, dn) {
            return false;
        }
        let all = *wanted == ExpectedAttributes::All;
        let place = if all { self.digests.place(person) } else { None };
        let digest = place.map(|place| (place, self.digests.digest(attributes.0)));
        // Relaxed: no other memory depends on a digest.
        if digest.is_some_and(|(place, digest)| place.load(Ordering::Relaxed) == digest) {
            return true;
        }
        self.expected.clear();
        people.write_shown(person.number, &mut self.expected);
        let right = (all && is_list(&self.expected, attributes))
            || self.has_same_attributes(wanted, attributes).unwrap_or(false);
        if let (true, Some((place, digest))) = (right, digest) {
            place.store(digest, Ordering::Relaxed);
        }
        right
    }

    fn is_name(&mut self, people: &Population, person: Person, dn: &[u8]) -> bool {
        self.expected.clear();
        people.write_dn(person.number, &mut self.expected);
        if self.expected == dn || is_same_name(&self.expected, dn, &mut self.given) {
            return true;
        }
        if self.profile != Profile::Ils {
            return false;
        }
        self.expected.clear();
        people.write_ils_dn(person.number, &mut self.expected);
        is_same_name(&self.expected, dn, &mut self.given)
    }

    /// Compares attribute by attribute, in any order.
    #[cold]
    fn has_same_attributes(
        &self,
        wanted: &ExpectedAttributes,
        given: Attributes<'_>,
    ) -> Result<bool, BerError> {
        given.check()?;
        let mut reader = wire::ber::Reader::new(&self.expected);
        let expected = Attributes(reader.expect(wire::ber::tag::SEQUENCE)?);
        let mut count = 0;
        // Servers usually keep the order of the attributes.
        let mut in_order = given.iter();
        for attribute in expected.iter() {
            let attribute = attribute?;
            if !wanted.has(attribute.name) || self.is_ignored(attribute.name) {
                continue;
            }
            let next = in_order.next().transpose()?;
            let same = next.filter(|next| next.name.eq_ignore_ascii_case(attribute.name));
            match same.map_or_else(|| find(given, attribute.name), |same| Ok(Some(same)))? {
                Some(counterpart) if same_values(attribute, counterpart)? => count += 1,
                _ => return Ok(false),
            }
        }
        // Active Directory returns some twenty attributes of its own.
        if self.profile == Profile::Ad {
            return Ok(true);
        }
        // Expected attributes are distinct. So if both entries have the same number of attributes, no given
        // attribute is extra or repeated.
        let names = given.iter().filter_map(Result::ok).map(|attribute| attribute.name);
        Ok(names.filter(|name| !self.is_ignored(name)).count() == count)
    }

    fn is_ignored(&self, name: &[u8]) -> bool {
        let is = |operational: &str| operational.as_bytes().eq_ignore_ascii_case(name);
        // The name of an ILS entry contains the entry's class. Whether the server also sends the attribute
        // objectClass, and with which value, is left to the server.
        (self.profile == Profile::Ils && is("objectClass"))
            || OPERATIONAL.iter().any(|operational| is(operational))
            || self.changed.iter().any(|changed| same_name(changed.as_bytes(), name))
    }
}

/// Whether `element` is an element whose content is exactly this list.
fn is_list(element: &[u8], list: Attributes<'_>) -> bool {
    element_size(list.0.len()) == element.len() && element.ends_with(list.0)
}

fn find<'a>(attributes: Attributes<'a>, name: &[u8]) -> Result<Option<Attribute<'a>>, BerError> {
    let first = |is: &dyn Fn(&[u8]) -> bool| {
        attributes.iter().find(|attribute| attribute.is_ok_and(|attribute| is(attribute.name))).transpose()
    };
    // Nearly all names are equal, so synonyms are searched last.
    match first(&|other| other.eq_ignore_ascii_case(name))? {
        Some(attribute) => Ok(Some(attribute)),
        None => first(&|other| same_name(other, name)),
    }
}

fn same_name(one: &[u8], other: &[u8]) -> bool {
    one.eq_ignore_ascii_case(other) || first_name(one).eq_ignore_ascii_case(first_name(other))
}

fn first_name(name: &[u8]) -> &[u8] {
    let synonym = SYNONYMS.iter().find(|(_, second)| second.as_bytes().eq_ignore_ascii_case(name));
    synonym.map_or(name, |(first, _)| first.as_bytes())
}

/// Whether two attributes have the same values. A set has no value twice (RFC 4512 section 2.2), so sets of
/// the same size are equal if one contains the other.
fn same_values(expected: Attribute<'_>, given: Attribute<'_>) -> Result<bool, BerError> {
    let class = expected.name.eq_ignore_ascii_case(b"objectClass");
    let unsaid = |value: &[u8]| {
        class && UNSAID_CLASSES.iter().any(|class_name| class_name.eq_ignore_ascii_case(value))
    };
    let same = |one: &[u8], other: &[u8]| one == other || (class && one.eq_ignore_ascii_case(other));
    Ok(includes(given.values, expected.values, &unsaid, &same)?
        && includes(expected.values, given.values, &unsaid, &same)?
        && (class || given.values.iter().count() == expected.values.iter().count()))
}

/// Whether `whole` has every value of `part`, except values that are not compared.
fn includes(
    whole: Values<'_>,
    part: Values<'_>,
    ignored: &dyn Fn(&[u8]) -> bool,
    same: &dyn Fn(&[u8], &[u8]) -> bool,
) -> Result<bool, BerError> {
    for value in part.iter() {
        let value = value?;
        if !ignored(value) && !whole.iter().any(|other| other.is_ok_and(|other| same(value, other))) {
            return Ok(false);
        }
    }
    Ok(true)
}
