//! The names of an Active Directory domain, and the attributes that follow from an entry's class or number.

use std::hash::{DefaultHasher, Hash, Hasher};

/// These capabilities tell clients that the server is a domain controller of Windows Server 2003 or later
/// (MS-ADTS section 3.1.1.3.4.3).
pub(crate) const CAPABILITIES: [&[u8]; 2] = [b"1.2.840.113556.1.4.800", b"1.2.840.113556.1.4.1670"];

/// A domain: the entries below a suffix.
#[derive(Debug)]
pub(crate) struct Domain {
    pub(crate) suffix: String,
    /// The DNS name, such as `example.com`.
    dns: String,
    /// Three numbers that are unique to the domain.
    identity: [u32; 3],
}

impl Domain {
    pub(crate) fn new(suffix: &str) -> Self {
        let dns = people::domain_of(suffix);
        let part = |n: u32| {
            let mut hasher = DefaultHasher::new();
            (n, &dns).hash(&mut hasher);
            hasher.finish() as u32
        };
        Self { suffix: suffix.to_owned(), identity: [0, 1, 2].map(part), dns }
    }

    /// Whether `name` is the domain's DNS name.
    pub(crate) fn is_dns(&self, name: &[u8]) -> bool {
        self.dns.as_bytes().eq_ignore_ascii_case(name)
    }

    /// Whether `name` is the domain's NetBIOS name, usually the first label of the DNS name.
    pub(crate) fn is_netbios(&self, name: &[u8]) -> bool {
        self.dns.split('.').next().is_some_and(|label| label.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Appends a SID (MS-DTYP section 2.4.2.2): S-1-5-21, the domain's numbers, and the entry's number.
    pub(crate) fn write_sid(&self, entry: Option<u32>, out: &mut Vec<u8>) {
        let relative = entry.map(|number| FIRST_RELATIVE.wrapping_add(number));
        out.extend([1, 4 + u8::from(relative.is_some()), 0, 0, 0, 0, 0, 5]);
        out.extend([21].into_iter().chain(self.identity).chain(relative).flat_map(u32::to_le_bytes));
    }

    /// Appends the DN of a class's category.
    pub(crate) fn write_category(&self, class: &str, out: &mut Vec<u8>) {
        let category = category(class.as_bytes()).unwrap_or(class.as_bytes());
        [b"CN=", category, b",CN=Schema,CN=Configuration,", self.suffix.as_bytes()]
            .iter()
            .for_each(|part| out.extend_from_slice(part));
    }
}

/// Appends a SID as bytes; false for a text that is no SID.
pub(crate) fn normalise_sid(value: &[u8], out: &mut Vec<u8>) -> bool {
    if !value.starts_with(b"S-") {
        out.extend_from_slice(value);
        return true;
    }
    let numbers = std::str::from_utf8(value).unwrap_or_default().split('-').skip(1);
    let Ok(numbers) = numbers.map(str::parse).collect::<Result<Vec<u32>, _>>() else { return false };
    let [1, authority, relative @ ..] = numbers.as_slice() else { return false };
    out.extend([1, relative.len() as u8, 0, 0]);
    out.extend(authority.to_be_bytes());
    out.extend(relative.iter().flat_map(|number| number.to_le_bytes()));
    true
}

/// The first number of users and groups that are not part of Windows.
const FIRST_RELATIVE: u32 = 1_000;

/// Classes whose category does not have the name of the class (defaultObjectCategory, MS-ADSC).
const CATEGORIES: [(&str, &str); 10] = [
    ("user", "Person"),
    ("inetOrgPerson", "Person"),
    ("organizationalPerson", "Person"),
    ("contact", "Person"),
    ("person", "Person"),
    ("group", "Group"),
    ("computer", "Computer"),
    ("organizationalUnit", "Organizational-Unit"),
    ("domain", "Domain-DNS"),
    ("domainDNS", "Domain-DNS"),
];

/// The category of a class, if the category and the class have different names.
pub(crate) fn category(class: &[u8]) -> Option<&'static [u8]> {
    let mut categories = CATEGORIES.iter().filter(|(name, _)| class.eq_ignore_ascii_case(name.as_bytes()));
    categories.next().map(|(_, category)| category.as_bytes())
}

/// The sAMAccountType (MS-ADTS section 2.2.11) and the primaryGroupID of a class with accounts. The primary
/// group is the group of all users or of all computers in a domain. Groups have no primary group.
pub(crate) fn account(class: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match class {
        "user" | "inetOrgPerson" => ("805306368", Some("513")),
        "computer" => ("805306369", Some("515")),
        "group" => ("268435456", None),
        _ => return None,
    })
}

/// Appends a UUID as a GUID: the first three fields are little-endian (MS-DTYP section 2.3.4.2).
pub(crate) fn write_guid(mut uuid: [u8; 16], out: &mut Vec<u8>) {
    for field in [0..4, 4..6, 6..8] {
        uuid[field].reverse();
    }
    out.extend_from_slice(&uuid);
}
