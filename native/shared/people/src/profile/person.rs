//! Contemporary profiles: inetOrgPerson, inetOrgPerson with a Unix account, and Active Directory users.
//!
//! slapd, 389-DS, OpenDJ, ApacheDS and Samba all accept the values: logins in ASCII, telephone numbers as in
//! E.123, no country, no emoji. The login `user.<i>` is unique; names of people may repeat.

use wire::ber::{self, tag};

use crate::draw::{Chance, Draw};
use crate::encoded::{Picked, Pool, write_attribute, write_attribute_header, write_multi_attribute};
use crate::name::FullName;
use crate::passwords::Logins;
use crate::pools::{Field, LocalePools};
use crate::spec::{Profile, Spec};
use wire::decimal::Decimal;

/// The prefix of logins, before the number.
pub(crate) const LOGIN: &[u8] = b"user.";
const MAIL_DOMAIN: &[u8] = b"@example.com";
/// The domain for a base without dc RDNs.
const DOMAIN: &str = "example.com";

/// Debian's first user id is 1,000; lower ids than `FIRST_UID` are left to the system.
const FIRST_UID: u64 = 10_000;
/// User ids have 31 bits. Added people have far larger numbers, which wrap around.
const UIDS: u64 = (1 << 31) - FIRST_UID;
/// The group `users` of Debian and Red Hat.
const GID: &[u8] = b"100";

/// Active Directory's limit of a `cn`, in characters.
const LONGEST_CN: usize = 64;
/// The number of digits in an added person's number.
const DIGITS: usize = 10;

#[derive(Debug)]
pub(crate) struct Person {
    /// The object classes and other attributes that are equal for all people.
    constant: Vec<u8>,
    locales: Vec<Locale>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Inet,
    Posix,
    /// The part of `userPrincipalName` after the login.
    Ad(Vec<u8>),
}

#[derive(Debug)]
struct Locale {
    given: Pool,
    family: Pool,
    phone: Pool,
    city: Pool,
    company: Pool,
    job: Pool,
    text: Pool,
}

impl Person {
    /// Encodes the pools. Fails with the name of a locale whose names are too long for Active Directory.
    pub(crate) fn new(pools: &[&LocalePools], spec: &Spec) -> Result<Self, String> {
        let mut constant = Vec::new();
        let mut classes = vec!["top", "person", "organizationalPerson"];
        let kind = match spec.profile {
            Profile::Ad => {
                classes.push("user");
                Kind::Ad(format!("@{}", domain_of(&spec.base)).into_bytes())
            }
            Profile::Posix => {
                classes.extend(["inetOrgPerson", "posixAccount"]);
                Kind::Posix
            }
            _ => {
                classes.push("inetOrgPerson");
                Kind::Inet
            }
        };
        write_multi_attribute("objectClass", &classes, &mut constant);
        match kind {
            // RFC 2307: loginShell is the path of a shell.
            Kind::Posix => {
                write_attribute("gidNumber", GID, &mut constant);
                write_attribute("loginShell", b"/bin/bash", &mut constant);
            }
            // NORMAL_ACCOUNT: without this flag a user is disabled.
            Kind::Ad(_) => write_attribute("userAccountControl", b"512", &mut constant),
            Kind::Inet => {}
        }
        let company = if matches!(kind, Kind::Ad(_)) { "company" } else { "o" };
        let longest = |field, pools: &LocalePools| {
            pools.values(field).iter().map(|value| value.chars().count()).max().unwrap_or(0)
        };
        for pools in pools {
            let name = longest(Field::Given, pools) + longest(Field::Family, pools) + 2 + DIGITS;
            if matches!(kind, Kind::Ad(_)) && name > LONGEST_CN {
                return Err(pools.name.clone());
            }
        }
        Ok(Self { constant, locales: pools.iter().map(|pools| Locale::new(pools, company)).collect(), kind })
    }

    /// The value of the RDN.
    #[inline]
    pub(crate) fn write_name(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let number = Decimal::new(i);
        if let Kind::Ad(_) = self.kind {
            let locale = chance.choose(Draw::Locale, &self.locales);
            let given = locale.given.pick(chance, Draw::Given).value;
            let family = locale.family.pick(chance, Draw::Family).value;
            return FullName { given, family, number }.write(out);
        }
        out.extend_from_slice(LOGIN);
        out.extend_from_slice(number.as_bytes());
    }

    /// Appends the attributes. Without `logins` there is no password, as in a directory's answers.
    #[inline]
    pub(crate) fn write_attributes(
        &self,
        chance: Chance,
        i: u64,
        logins: Option<&Logins>,
        out: &mut Vec<u8>,
    ) {
        ber::write_nested(out, tag::SEQUENCE, |out| self.write(chance, i, logins, out));
    }

    fn write(&self, chance: Chance, i: u64, logins: Option<&Logins>, out: &mut Vec<u8>) {
        let (locale, number) = (chance.choose(Draw::Locale, &self.locales), Decimal::new(i));
        let number = number.as_bytes();
        let given = locale.given.pick(chance, Draw::Given);
        let family = locale.family.pick(chance, Draw::Family);
        let full_name = [given.value, b" ", family.value];
        out.extend_from_slice(&self.constant);
        match &self.kind {
            Kind::Inet | Kind::Posix => {
                write_parts("uid", &[LOGIN, number], out);
                write_parts("cn", &full_name, out);
            }
            Kind::Ad(domain) => {
                write_parts("cn", &[given.value, b" ", family.value, b" ", number], out);
                write_parts("sAMAccountName", &[LOGIN, number], out);
                write_parts("userPrincipalName", &[LOGIN, number, domain], out);
            }
        }
        let copy = |picked: Picked<'_>, out: &mut Vec<u8>| out.extend_from_slice(picked.attribute);
        copy(family, out);
        copy(given, out);
        write_parts("displayName", &full_name, out);
        write_parts("mail", &[LOGIN, number, MAIL_DOMAIN], out);
        copy(locale.phone.pick(chance, Draw::Phone), out);
        write_parts("employeeNumber", &[number], out);
        copy(locale.company.pick(chance, Draw::Company), out);
        copy(locale.city.pick(chance, Draw::City), out);
        copy(locale.job.pick(chance, Draw::Job), out);
        copy(locale.text.pick(chance, Draw::Text), out);
        if let Kind::Posix = self.kind {
            write_parts("uidNumber", &[Decimal::new(FIRST_UID + i % UIDS).as_bytes()], out);
            write_parts("homeDirectory", &[b"/home/", LOGIN, number], out);
            // The syntax of `gecos` allows only ASCII, so the value does not contain the person's name.
            write_parts("gecos", &[b"User ", number], out);
        }
        match (logins, &self.kind) {
            (Some(logins), Kind::Ad(_)) => logins.write_unicode(i, out),
            (Some(logins), _) => logins.write_attribute(chance, i, out),
            (None, _) => {}
        }
    }
}

impl Locale {
    fn new(pools: &LocalePools, company: &str) -> Self {
        let attribute = |name, field| Pool::encode(name, pools.values(field));
        Self {
            given: attribute("givenName", Field::Given),
            family: attribute("sn", Field::Family),
            phone: attribute("telephoneNumber", Field::Phone),
            city: attribute("l", Field::City),
            company: attribute(company, Field::Company),
            job: attribute("title", Field::Job),
            text: attribute("description", Field::Text),
        }
    }
}

/// The DNS domain of the dc RDNs of a base, as in Active Directory.
pub fn domain_of(base: &str) -> String {
    let parts = base.split(',').filter_map(|part| part.trim().split_once('='));
    let labels: Vec<_> = parts
        .filter(|(name, _)| name.trim().eq_ignore_ascii_case("dc"))
        .map(|(_, value)| value.trim())
        .collect();
    if labels.is_empty() { DOMAIN.to_owned() } else { labels.join(".") }
}

/// Appends an attribute whose value is the concatenation of parts.
#[inline(always)]
fn write_parts(name: &str, parts: &[&[u8]], out: &mut Vec<u8>) {
    write_attribute_header(name, parts.iter().map(|part| part.len()).sum(), out);
    parts.iter().for_each(|part| out.extend_from_slice(part));
}
