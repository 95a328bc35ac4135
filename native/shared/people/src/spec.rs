//! What a population is.

use serde::{Deserialize, Serialize};

use crate::passwords::Passwords;

/// Where Internet Locator Servers keep their users; sizes are balanced for a base of this length.
pub const DEFAULT_BASE: &str = "ou=Dynamic,o=Intranet";

/// The structural class of the papers' people.
pub const OBJECT_CLASS: &str = "RTPerson";

/// Which attributes people have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Twenty attributes any LDAP server can hold; a lookup's answer is 1,283 bytes.
    Paper,
    /// Three or four attributes; an add request is 126 bytes.
    Small,
    /// What NetMeeting registers with an Internet Locator Server, under its names.
    Ils,
    /// An inetOrgPerson who can log in (RFC 2798).
    Person,
    /// The same with a Unix account (RFC 2307).
    Posix,
    /// A user of Active Directory.
    Ad,
}

impl Profile {
    /// Every profile there is.
    pub const ALL: [Self; 6] = [Self::Paper, Self::Small, Self::Ils, Self::Person, Self::Posix, Self::Ad];

    /// The name in configurations.
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

    /// The class that searches for people ask for.
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

    /// What a person's DN begins with. Active Directory answers in capital letters.
    pub(crate) const fn rdn(self) -> &'static [u8] {
        match self {
            Self::Paper | Self::Small | Self::Ils => b"cn=",
            Self::Person | Self::Posix => b"uid=",
            Self::Ad => b"CN=",
        }
    }

    /// Whether people can log in.
    pub const fn has_passwords(self) -> bool {
        matches!(self, Self::Person | Self::Posix | Self::Ad)
    }
}

/// Everything but the pools that determines a population.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Seed of every draw.
    pub seed: u64,
    /// How many people are seeded. The population itself has no end: adds take people from beyond.
    pub size: u64,
    pub profile: Profile,
    /// Where people come from, in equal shares; the order matters.
    pub locales: Vec<String>,
    /// The entry they are put under.
    pub base: String,
    /// How they log in, if the profile has that.
    #[serde(default, skip_serializing_if = "Passwords::are_usual")]
    pub passwords: Passwords,
}
