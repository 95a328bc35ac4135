//! What a population is.

use serde::{Deserialize, Serialize};

/// Where Internet Locator Servers keep their users; sizes are balanced for a base of this length.
pub const DEFAULT_BASE: &str = "ou=Dynamic,o=Intranet";

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
}

impl Profile {
    /// The name in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Small => "small",
            Self::Ils => "ils",
        }
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
    /// Which attributes people have.
    pub profile: Profile,
    /// Where people come from, in equal shares; the order matters.
    pub locales: Vec<String>,
    /// The entry they are put under.
    pub base: String,
}
