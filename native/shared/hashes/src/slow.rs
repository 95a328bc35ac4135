//! Stored values of slow hashes: read, weighed, checked.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use pbkdf2::pbkdf2_hmac;
use sha_crypt::{Sha512Params, sha512_crypt_b64};
use sha2::{Sha256, Sha512};

use crate::hash::{CRYPT_ROUNDS, Hash, digits};
use crate::same;

/// Bytes of a stored value that is read: those made here have at most 160.
const LONGEST: usize = 512;
/// SHA-crypt's longest salt.
const LONGEST_CRYPT_SALT: usize = 16;
/// Lanes are gone through one after the other; stored values have 1 to 8.
const MOST_LANES: u32 = 64;

/// A stored value of a slow hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slow {
    work: Work,
    key: Vec<u8>,
}

/// What is computed of a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Work {
    Crypt { rounds: u32, salt: Vec<u8> },
    Pbkdf2Sha256 { rounds: u32, salt: Vec<u8> },
    Pbkdf2Sha512 { rounds: u32, salt: Vec<u8> },
    Argon2 { kind: Argon2Kind, kib: u32, passes: u32, lanes: u32, salt: Vec<u8> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argon2Kind {
    I,
    Id,
}

/// There is no memory for it, or its parameters are none.
#[derive(Debug)]
pub(crate) struct Failed;

impl Slow {
    /// Reads a stored value; `None` where it is of no slow scheme, or not as that writes it.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value.get(..value.len().min(LONGEST + 1))?).ok()?;
        let (scheme, rest) = text.strip_prefix('{')?.split_once('}')?;
        if value.len() > LONGEST {
            return None;
        }
        match scheme.to_ascii_uppercase().as_str() {
            "CRYPT" => crypt(rest),
            "PBKDF2-SHA256" => {
                let (rounds, salt, key) = pbkdf2(rest, 32)?;
                Some(Self { work: Work::Pbkdf2Sha256 { rounds, salt }, key })
            }
            "PBKDF2-SHA512" => {
                let (rounds, salt, key) = pbkdf2(rest, 64)?;
                Some(Self { work: Work::Pbkdf2Sha512 { rounds, salt }, key })
            }
            "ARGON2" => argon2(rest),
            _ => None,
        }
    }

    /// Memory that a check takes.
    pub const fn memory_bytes(&self) -> u64 {
        self.hash().memory_bytes()
    }

    /// CPU that a check of a password takes at most, roughly.
    pub const fn nanoseconds(&self, password: &[u8]) -> u64 {
        self.hash().nanoseconds(password.len())
    }

    const fn hash(&self) -> Hash {
        match self.work {
            Work::Crypt { rounds, .. } => Hash::Crypt { rounds },
            Work::Pbkdf2Sha256 { rounds, .. } => Hash::Pbkdf2Sha256 { rounds },
            Work::Pbkdf2Sha512 { rounds, .. } => Hash::Pbkdf2Sha512 { rounds },
            Work::Argon2 { kib, passes, .. } => Hash::Argon2 { kib, passes },
        }
    }

    /// Whether it was made of this password; `None` where there is no memory to tell.
    pub fn is_of(&self, password: &[u8]) -> Option<bool> {
        self.work.key(self.key.len(), password).ok().map(|key| same(&key, &self.key))
    }
}

impl Work {
    pub(crate) fn key(&self, length: usize, password: &[u8]) -> Result<Vec<u8>, Failed> {
        let mut key = vec![0; length];
        match self {
            Self::Crypt { rounds, salt } => {
                let params = Sha512Params::new(*rounds as usize).map_err(|_| Failed)?;
                return sha512_crypt_b64(password, salt, &params).map(String::into_bytes).map_err(|_| Failed);
            }
            Self::Pbkdf2Sha256 { rounds, salt } => {
                pbkdf2_hmac::<Sha256>(password, salt, *rounds, &mut key);
            }
            Self::Pbkdf2Sha512 { rounds, salt } => {
                pbkdf2_hmac::<Sha512>(password, salt, *rounds, &mut key);
            }
            Self::Argon2 { kind, kib, passes, lanes, salt } => {
                let params = Params::new(*kib, *passes, *lanes, Some(length)).map_err(|_| Failed)?;
                let mut memory = Vec::new();
                memory.try_reserve_exact(params.block_count()).map_err(|_| Failed)?;
                memory.resize(params.block_count(), Block::default());
                let algorithm = match kind {
                    Argon2Kind::I => Algorithm::Argon2i,
                    Argon2Kind::Id => Algorithm::Argon2id,
                };
                Argon2::new(algorithm, Version::V0x13, params)
                    .hash_password_into_with_memory(password, salt, &mut key, &mut memory)
                    .map_err(|_| Failed)?;
            }
        }
        Ok(key)
    }
}

/// `$6$salt$digest` or `$6$rounds=N$salt$digest`.
fn crypt(text: &str) -> Option<Slow> {
    let rest = text.strip_prefix("$6$")?;
    let (rounds, rest) = match rest.strip_prefix("rounds=") {
        Some(rest) => {
            let (rounds, rest) = rest.split_once('$')?;
            (digits(rounds)?, rest)
        }
        None => (CRYPT_ROUNDS, rest),
    };
    let (salt, digest) = rest.split_once('$')?;
    let fits = salt.len() <= LONGEST_CRYPT_SALT && digest.len() == 86 && rounds >= 1_000;
    fits.then(|| Slow { work: Work::Crypt { rounds, salt: salt.into() }, key: digest.into() })
}

/// `rounds$ab64(salt)$ab64(key)`.
fn pbkdf2(text: &str, length: usize) -> Option<(u32, Vec<u8>, Vec<u8>)> {
    let mut parts = text.split('$');
    let rounds = digits(parts.next()?).filter(|rounds| *rounds > 0)?;
    // 389-DS's own values have '+' and padding.
    let decode = |part: &str| STANDARD_NO_PAD.decode(part.replace('.', "+").trim_end_matches('=')).ok();
    let (salt, key) = (decode(parts.next()?)?, decode(parts.next()?)?);
    (parts.next().is_none() && key.len() == length).then_some((rounds, salt, key))
}

/// `$argon2id$v=19$m=KIB,t=PASSES,p=LANES$base64(salt)$base64(key)`.
fn argon2(text: &str) -> Option<Slow> {
    let mut parts = text.strip_prefix('$')?.split('$');
    let kind = match parts.next()? {
        "argon2i" => Argon2Kind::I,
        "argon2id" => Argon2Kind::Id,
        _ => return None,
    };
    if parts.next()? != "v=19" {
        return None;
    }
    let mut numbers = parts.next()?.split(',');
    let mut number = |name| digits(numbers.next()?.strip_prefix(name)?);
    let (kib, passes, lanes) = (number("m=")?, number("t=")?, number("p=")?);
    let (salt, key) =
        (STANDARD_NO_PAD.decode(parts.next()?).ok()?, STANDARD_NO_PAD.decode(parts.next()?).ok()?);
    let fits = numbers.next().is_none()
        && parts.next().is_none()
        && (1..=MOST_LANES).contains(&lanes)
        && kib >= 8 * lanes
        && passes > 0
        && salt.len() >= 8
        && key.len() >= 16;
    fits.then_some(Slow { work: Work::Argon2 { kind, kib, passes, lanes, salt }, key })
}
