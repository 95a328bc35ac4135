//! The population: all attributes of person `i` are computed from `i`.

use std::ops::ControlFlow;

use hashes::MadeError;
use wire::ber::{Reader, tag};
use wire::decimal;
use wire::dn::{Dn, DnError, escape_value};
use wire::ldap::attributes::{Attribute, Attributes};

use crate::draw::{Chance, Root};
use crate::passwords::{Logins, Passwords};
use crate::pools::{Field, LocalePools, Pools, hex_digest};
use crate::profile::{Ils, LOGIN, Paper, Person, Small};
use crate::spec::{Profile, Spec};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PopulationError {
    #[error("the population has no locales; name at least one, for example en_US")]
    NoLocales,
    #[error("there are no name pools for locale {locale:?}, only for {known}; harvest them again with it")]
    UnknownLocale { locale: String, known: String },
    #[error("the base {base:?} is no distinguished name: {why}; write it like ou=Dynamic,o=Intranet")]
    BadBase { base: String, why: DnError },
    /// RFC 4513 section 5.1.2: a bind with an empty password is unauthenticated.
    #[error("the password of all people is empty; give it at least one character")]
    NoPassword,
    #[error("the values of locale {locale} are too long for the {profile} profile; leave the locale out")]
    ValuesTooLong { locale: String, profile: &'static str },
}

/// An unbounded sequence of people, each a pure function of (seed, i). The first `size` people are seeded; further
/// people are for additions.
///
/// `Send` and `Sync`: share it in an `Arc`.
#[derive(Debug)]
pub struct Population {
    spec: Spec,
    root: Root,
    recipe: Recipe,
    logins: Logins,
    pools_digest: String,
    /// Whether any name has characters that are escaped in a DN.
    escapes: bool,
}

#[derive(Debug)]
enum Recipe {
    Paper(Paper),
    Small(Small),
    Ils(Ils),
    Person(Person),
}

impl Population {
    pub fn new(pools: &Pools, spec: Spec) -> Result<Self, PopulationError> {
        let locales = find_locales(pools, &spec.locales)?;
        let too_long = |locale| PopulationError::ValuesTooLong { locale, profile: spec.profile.as_str() };
        let recipe = match spec.profile {
            Profile::Paper => Recipe::Paper(Paper::new(&locales).map_err(too_long)?),
            Profile::Small => Recipe::Small(Small::new(&locales).map_err(too_long)?),
            Profile::Ils => Recipe::Ils(Ils::new(&locales)),
            Profile::Person | Profile::Posix | Profile::Ad => {
                Recipe::Person(Person::new(&locales, &spec).map_err(too_long)?)
            }
        };
        if spec.passwords.one.as_deref() == Some("") {
            return Err(PopulationError::NoPassword);
        }
        let bad_base = |why| PopulationError::BadBase { base: spec.base.clone(), why };
        Dn::parse(spec.base.as_bytes()).map_err(bad_base)?;
        let names_people = spec.profile.naming() == "cn";
        let root = Root::new(spec.seed);
        // A profile without passwords needs no slow hashes.
        let passwords =
            if spec.profile.has_passwords() { spec.passwords.clone() } else { Passwords::default() };
        Ok(Self {
            root,
            recipe,
            logins: Logins::new(passwords, root, spec.size),
            spec,
            pools_digest: pools.digest().to_owned(),
            escapes: names_people && locales.iter().any(|locale| escapes(locale)),
        })
    }

    pub const fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Appends the name of person `i` in UTF-8: the value of the RDN, by which people are looked up.
    #[inline]
    pub fn write_name(&self, i: u64, out: &mut Vec<u8>) {
        let chance = Chance::new(self.root, i);
        match &self.recipe {
            Recipe::Paper(paper) => paper.write_name(chance, i, out),
            Recipe::Small(small) => small.write_name(chance, i, out),
            Recipe::Ils(ils) => ils.write_name(chance, i, out),
            Recipe::Person(person) => person.write_name(chance, i, out),
        }
    }

    /// Appends the DN of person `i`, `<naming attribute>=<name>,<base>`, escaped per RFC 4514.
    #[inline]
    pub fn write_dn(&self, i: u64, out: &mut Vec<u8>) {
        self.write_relative_dn(i, out);
        if !self.spec.base.is_empty() {
            out.push(b',');
            out.extend_from_slice(self.spec.base.as_bytes());
        }
    }

    /// Appends the DN of person `i` in requests of ILS clients:
    /// `c=-,o=Microsoft,cn=<name>,objectClass=rtPerson`, most significant part first (MS-TAIL).
    pub fn write_ils_dn(&self, i: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"c=-,o=Microsoft,");
        self.write_relative_dn(i, out);
        out.extend_from_slice(b",objectClass=rtPerson");
    }

    /// Appends the attributes of person `i` as an AttributeList (RFC 4511 section 4.7), which is also a
    /// SearchResultEntry's PartialAttributeList: one element with its header and minimal lengths.
    ///
    /// Allocates nothing if `out` has enough capacity.
    #[inline]
    pub fn write_attributes(&self, i: u64, out: &mut Vec<u8>) {
        let chance = Chance::new(self.root, i);
        match &self.recipe {
            Recipe::Paper(paper) => paper.write_attributes(chance, i, out),
            Recipe::Small(small) => small.write_attributes(chance, i, out),
            Recipe::Ils(ils) => ils.write_attributes(chance, i, out),
            Recipe::Person(person) => person.write_attributes(chance, i, Some(&self.logins), out),
        }
    }

    /// Appends the attributes of person `i` as directories return them: without the password, which directories
    /// hide or hash anew.
    #[inline]
    pub fn write_shown(&self, i: u64, out: &mut Vec<u8>) {
        match &self.recipe {
            Recipe::Person(person) => person.write_attributes(Chance::new(self.root, i), i, None, out),
            _ => self.write_attributes(i, out),
        }
    }

    /// Appends the password of person `i`; nothing if the profile has none.
    pub fn write_password(&self, i: u64, out: &mut Vec<u8>) {
        if self.spec.profile.has_passwords() {
            self.logins.write(i, out);
        }
    }

    /// The number of slow hashes, to be computed before people are written to a directory.
    pub const fn slow_hashes(&self) -> u64 {
        self.logins.slow_hashes()
    }

    /// The slow hashes computed so far, from the first on.
    pub fn hashes(&self) -> impl Iterator<Item = &[u8]> {
        self.logins.ready()
    }

    /// Adopts slow hashes of an earlier run.
    pub fn take_hashes<'v>(&self, values: impl Iterator<Item = &'v [u8]>) {
        self.logins.take(values);
    }

    /// Computes the missing slow hashes on several threads. Reports the number of hashes ten times a second; a break
    /// from the callback stops the work.
    pub fn make_hashes(
        &self,
        threads: usize,
        tell: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), MadeError> {
        self.logins.make(threads, tell)
    }

    /// The number `i` of the person with exactly this name.
    pub fn index_of(&self, name: &[u8]) -> Option<u64> {
        let digits = match self.spec.profile {
            Profile::Paper | Profile::Small | Profile::Ad => name.rsplit(|&byte| byte == b' ').next()?,
            Profile::Person | Profile::Posix => name.strip_prefix(LOGIN)?,
            Profile::Ils => {
                let (local, _domain) = name.split_at(name.iter().rposition(|&byte| byte == b'@')?);
                local.rsplit(|&byte| byte == b'.').next()?
            }
        };
        let i = decimal::parse(digits)?;
        let mut regenerated = Vec::with_capacity(name.len());
        self.write_name(i, &mut regenerated);
        (regenerated == name).then_some(i)
    }

    /// The attributes of person `i`, decoded, for LDIF and for display.
    pub fn attributes(&self, i: u64) -> Vec<(String, Vec<Vec<u8>>)> {
        let mut encoded = Vec::new();
        self.write_attributes(i, &mut encoded);
        decode(&encoded)
            .map(|attribute| {
                let name = String::from_utf8_lossy(attribute.name).into_owned();
                (name, attribute.values.iter().flatten().map(<[u8]>::to_vec).collect())
            })
            .collect()
    }

    /// A digest of seed, profile, locales, pools and passwords, which is equal for populations of the same
    /// people. Size and base are excluded: they do not change any person.
    pub fn digest(&self) -> String {
        let Spec { seed, profile, locales, passwords, .. } = &self.spec;
        let mut identity = format!(
            "sitebench-population 1\nseed {seed}\nprofile {}\nlocales {}\npools {}\n",
            profile.as_str(),
            locales.join(" "),
            self.pools_digest
        );
        if profile.has_passwords() {
            let one = passwords.one.as_deref().unwrap_or_default();
            identity += &format!("hash {}\npassword {one:?}\n", passwords.hash);
            if let Some(pool) = passwords.pool {
                identity += &format!("pool {pool}\n");
            }
        }
        hex_digest(identity.as_bytes())
    }

    #[inline]
    fn write_relative_dn(&self, i: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.spec.profile.rdn());
        let start = out.len();
        self.write_name(i, out);
        if self.escapes {
            let name = out.split_off(start);
            escape_value(&name, out);
        }
    }
}

/// Decodes the output of [`Population::write_attributes`]. The output is well-formed, so no error can occur; tests
/// check that.
pub(crate) fn decode(encoded: &[u8]) -> impl Iterator<Item = Attribute<'_>> {
    let list = Reader::new(encoded).expect(tag::SEQUENCE).unwrap_or_default();
    Attributes(list).iter().flatten()
}

/// Whether any part of a name has to be escaped in a DN.
fn escapes(locale: &LocalePools) -> bool {
    let parts = [Field::Given, Field::Family, Field::User];
    let mut values = parts.iter().flat_map(|&field| locale.values(field));
    values.any(|value| {
        let mut escaped = Vec::new();
        escape_value(value.as_bytes(), &mut escaped);
        escaped != value.as_bytes()
    })
}

pub(crate) fn find_locales<'p>(
    pools: &'p Pools,
    names: &[String],
) -> Result<Vec<&'p LocalePools>, PopulationError> {
    if names.is_empty() {
        return Err(PopulationError::NoLocales);
    }
    let unknown = |name: &str| PopulationError::UnknownLocale {
        locale: name.to_owned(),
        known: pools.locales().collect::<Vec<_>>().join(", "),
    };
    names.iter().map(|name| pools.locale(name).ok_or_else(|| unknown(name))).collect()
}
