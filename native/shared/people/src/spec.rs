//! The parameters of a population.

use serde::{Deserialize, Serialize};

use crate::passwords::Passwords;

/// The base of users of Internet Locator Servers. Sizes of messages are chosen for a base of this length.
pub const DEFAULT_BASE: &str = "ou=Dynamic,o=Intranet";

/// The structural class of the papers' people.
pub const OBJECT_CLASS: &str = "RTPerson";

/// The attributes of people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Twenty attributes that any LDAP server can hold; a lookup's answer is 1,283 bytes.
    Paper,
    /// Three or four attributes; an add request is 126 bytes.
    Small,
    /// The attributes that NetMeeting registers at an Internet Locator Server, under their names on the wire.
    Ils,
    /// An inetOrgPerson with a password (RFC 2798).
    Person,
    /// An inetOrgPerson with a password and a Unix account (RFC 2307).
    Posix,
    /// A user of Active Directory.
    Ad,
}

impl Profile {
    pub const ALL: [Self; 6] = [Self::Paper, Self::Small, Self::Ils, Self::Person, Self::Posix, Self::Ad];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Small => "small",
            Self::Ils => "ils",
            Self::Person => "person",
            Self::Posix => "posix",
            Self::Ad => "ad",
        }
    }

    /// The class in the filter of searches for people.
    pub const fn object_class(self) -> &'static str {
        match self {
            Self::Paper | Self::Small | Self::Ils => OBJECT_CLASS,
            Self::Person => "inetOrgPerson",
            Self::Posix => "posixAccount",
            Self::Ad => "user",
        }
    }

    /// The attribute in a person's RDN, by which people are looked up.
    pub const fn naming(self) -> &'static str {
        match self {
            Self::Paper | Self::Small | Self::Ils | Self::Ad => "cn",
            Self::Person | Self::Posix => "uid",
        }
    }

    /// The beginning of a person's DN. Active Directory writes the attribute in capital letters.
    pub(crate) const fn rdn(self) -> &'static [u8] {
        match self {
            Self::Paper | Self::Small | Self::Ils => b"cn=",
            Self::Person | Self::Posix => b"uid=",
            Self::Ad => b"CN=",
        }
    }

    pub const fn has_passwords(self) -> bool {
        matches!(self, Self::Person | Self::Posix | Self::Ad)
    }
}

/// All parameters of a population except its pools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    pub seed: u64,
    /// The number of seeded people. The population has no end: adds use people with higher numbers.
    pub size: u64,
    pub profile: Profile,
    /// Locales with equal shares of the people. Their order matters.
    pub locales: Vec<String>,
    /// The DN of the entry above the people.
    pub base: String,
    /// The passwords, if the profile has passwords.
    #[serde(default, skip_serializing_if = "Passwords::are_usual")]
    pub passwords: Passwords,
}
