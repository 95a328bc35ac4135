//! A hash function and its cost parameters, written `NAME[:PARAMETERS]`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// SHA-crypt's default number of rounds. A stored value that contains no number of rounds has this number.
pub const CRYPT_ROUNDS: u32 = 5_000;
/// SHA-crypt silently raises a smaller number to this minimum.
const LEAST_CRYPT_ROUNDS: u32 = 1_000;
/// The limit is sixteen times today's recommendation for PBKDF2 with SHA-256. With so many rounds a login
/// takes a second and a half.
pub const MOST_ROUNDS: u32 = 10_000_000;
/// The default passes of argon2 (RFC 9106 section 4).
pub const PASSES: u32 = 3;
/// More passes are not needed, because more memory also makes argon2 more expensive.
pub const MOST_PASSES: u32 = 100;
/// argon2 divides its memory into four parts of two blocks each, and a block has 1 KiB (RFC 9106 section
/// 3.1).
const LEAST_KIB: u32 = 8;

/// The CPU time of a round, or of a pass over a KiB, in nanoseconds. The time was measured on a slow machine
/// of today; few machines take far longer.
const CRYPT_NS: u64 = 700;
const PBKDF2_SHA256_NS: u64 = 500;
const PBKDF2_SHA512_NS: u64 = 1_000;
const ARGON2_NS: u64 = 2_000;

/// Suffixes of an amount of memory, in KiB.
const UNITS: [(char, u32); 3] = [('g', 1 << 20), ('m', 1 << 10), ('k', 1)];

/// The form in which a directory receives passwords.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Hash {
    /// Plaintext; many directories then hash passwords themselves.
    Clear,
    /// SHA-1 with a salt, which every directory supports.
    #[default]
    Ssha,
    /// SHA-512 with a salt.
    Ssha512,
    /// SHA-crypt with SHA-512, as in `/etc/shadow`.
    Crypt { rounds: u32 },
    /// PBKDF2 with HMAC and SHA-256 (RFC 8018).
    Pbkdf2Sha256 { rounds: u32 },
    /// PBKDF2 with HMAC and SHA-512.
    Pbkdf2Sha512 { rounds: u32 },
    /// argon2id with one lane (RFC 9106).
    Argon2 { kib: u32, passes: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HashError {
    #[error(
        "there is no hash {0:?}; use clear, ssha, ssha512, crypt:ROUNDS, pbkdf2-sha256:ROUNDS, pbkdf2-sha512:ROUNDS or argon2:MEMORY:PASSES"
    )]
    Unknown(String),
    #[error("{name:?} has nothing behind its name, and {given:?} is there; write {name}")]
    Bare { name: &'static str, given: String },
    #[error("{name:?} does not say {what}; write it like {example}")]
    Missing { name: &'static str, what: &'static str, example: &'static str },
    #[error("{given:?} is no number of {what} that {name} can have; write {least} to {most}")]
    Number { name: &'static str, what: &'static str, given: String, least: u32, most: u32 },
    #[error(
        "{given:?} is no memory of argon2; write kibibytes, mebibytes or gibibytes, 8k or more: argon2:64m"
    )]
    Memory { given: String },
}

impl Hash {
    /// The name without parameters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Ssha => "ssha",
            Self::Ssha512 => "ssha512",
            Self::Crypt { .. } => "crypt",
            Self::Pbkdf2Sha256 { .. } => "pbkdf2-sha256",
            Self::Pbkdf2Sha512 { .. } => "pbkdf2-sha512",
            Self::Argon2 { .. } => "argon2",
        }
    }

    /// The prefix of stored values; empty for plaintext.
    pub const fn scheme(self) -> &'static str {
        match self {
            Self::Clear => "",
            Self::Ssha => "{SSHA}",
            Self::Ssha512 => "{SSHA512}",
            Self::Crypt { .. } => "{CRYPT}",
            Self::Pbkdf2Sha256 { .. } => "{PBKDF2-SHA256}",
            Self::Pbkdf2Sha512 { .. } => "{PBKDF2-SHA512}",
            Self::Argon2 { .. } => "{ARGON2}",
        }
    }

    /// Whether the hash is slow by design, so that its check costs far more than the rest of a login.
    pub const fn is_slow(self) -> bool {
        !matches!(self, Self::Clear | Self::Ssha | Self::Ssha512)
    }

    /// The memory for computing or checking a value.
    pub const fn memory_bytes(self) -> u64 {
        match self {
            Self::Argon2 { kib, .. } => kib as u64 * 1024,
            _ => 0,
        }
    }

    /// The estimated CPU time of a check in nanoseconds, for a password of this many bytes; 0 if the hash is
    /// not slow.
    pub const fn nanoseconds(self, password: usize) -> u64 {
        match self {
            Self::Clear | Self::Ssha | Self::Ssha512 => 0,
            // Every round hashes the password up to twice, in blocks of 128 bytes.
            Self::Crypt { rounds } => rounds as u64 * CRYPT_NS * (1 + password as u64 / 64),
            Self::Pbkdf2Sha256 { rounds } => rounds as u64 * PBKDF2_SHA256_NS,
            Self::Pbkdf2Sha512 { rounds } => rounds as u64 * PBKDF2_SHA512_NS,
            Self::Argon2 { kib, passes } => (kib as u64 * passes as u64).saturating_mul(ARGON2_NS),
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())?;
        match *self {
            Self::Clear | Self::Ssha | Self::Ssha512 => Ok(()),
            Self::Crypt { rounds: CRYPT_ROUNDS } => Ok(()),
            Self::Crypt { rounds } | Self::Pbkdf2Sha256 { rounds } | Self::Pbkdf2Sha512 { rounds } => {
                write!(out, ":{rounds}")
            }
            Self::Argon2 { kib, passes } => {
                let (unit, size) = UNITS.into_iter().find(|(_, size)| kib % size == 0).unwrap_or(('k', 1));
                write!(out, ":{}{unit}", kib / size)?;
                if passes == PASSES { Ok(()) } else { write!(out, ":{passes}") }
            }
        }
    }
}

impl FromStr for Hash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let split = text.split_once(':');
        let (name, parameters) = split.map_or((text, None), |(name, parameters)| (name, Some(parameters)));
        let bare = |hash: Self| match parameters {
            None => Ok(hash),
            Some(given) => Err(HashError::Bare { name: hash.name(), given: given.to_owned() }),
        };
        let rounds = |name, least, example| match parameters {
            None => Err(HashError::Missing { name, what: "its rounds", example }),
            Some(given) => number(name, "rounds", given, least, MOST_ROUNDS),
        };
        match name {
            "clear" => bare(Self::Clear),
            "ssha" => bare(Self::Ssha),
            "ssha512" => bare(Self::Ssha512),
            "crypt" if parameters.is_none() => Ok(Self::Crypt { rounds: CRYPT_ROUNDS }),
            "crypt" => Ok(Self::Crypt { rounds: rounds("crypt", LEAST_CRYPT_ROUNDS, "crypt:5000")? }),
            "pbkdf2-sha256" => {
                let rounds = rounds("pbkdf2-sha256", 1, "pbkdf2-sha256:600000")?;
                Ok(Self::Pbkdf2Sha256 { rounds })
            }
            "pbkdf2-sha512" => {
                let rounds = rounds("pbkdf2-sha512", 1, "pbkdf2-sha512:210000")?;
                Ok(Self::Pbkdf2Sha512 { rounds })
            }
            "argon2" => {
                let (name, what, example) = ("argon2", "its memory", "argon2:64m");
                let given = parameters.ok_or(HashError::Missing { name, what, example })?;
                let (memory, passes) = match given.split_once(':') {
                    Some((memory, passes)) => (memory, number("argon2", "passes", passes, 1, MOST_PASSES)?),
                    None => (given, PASSES),
                };
                Ok(Self::Argon2 { kib: kib(memory)?, passes })
            }
            _ => Err(HashError::Unknown(text.to_owned())),
        }
    }
}

fn number(
    name: &'static str,
    what: &'static str,
    given: &str,
    least: u32,
    most: u32,
) -> Result<u32, HashError> {
    let found = digits(given).filter(|number| (least..=most).contains(number));
    found.ok_or_else(|| HashError::Number { name, what, given: given.to_owned(), least, most })
}

fn kib(given: &str) -> Result<u32, HashError> {
    let known = |&(unit, size): &(char, u32)| Some((given.strip_suffix(unit)?, size));
    let (number, size) = UNITS.iter().find_map(known).unwrap_or(("", 1));
    let found = digits(number).and_then(|number| number.checked_mul(size)).filter(|kib| *kib >= LEAST_KIB);
    found.ok_or_else(|| HashError::Memory { given: given.to_owned() })
}

/// A number that is written with digits only. `parse` would also accept a sign.
pub(crate) fn digits(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl TryFrom<String> for Hash {
    type Error = HashError;

    fn try_from(text: String) -> Result<Self, HashError> {
        text.parse()
    }
}

impl From<Hash> for String {
    fn from(hash: Hash) -> Self {
        hash.to_string()
    }
}
