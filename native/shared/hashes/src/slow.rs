//! Parses and checks stored values of slow hashes, and estimates the costs of a check.

use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use pbkdf2::pbkdf2_hmac;
use sha_crypt::{Sha512Params, sha512_crypt_b64};
use sha2::{Sha256, Sha512};

use crate::hash::{CRYPT_ROUNDS, Hash, digits};
use crate::same;

/// The longest stored value that is parsed. Values of this crate have at most 160 bytes.
const LONGEST: usize = 512;
const LONGEST_CRYPT_SALT: usize = 16;
/// Usual values have 1 to 8 lanes. This crate computes lanes one after the other.
const MOST_LANES: u32 = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slow {
    work: Work,
    key: Vec<u8>,
}

/// The computation of a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Work {
    hash: Hash,
    salt: Vec<u8>,
    /// The algorithm and the lanes of argon2.
    algorithm: Algorithm,
    lanes: u32,
}

/// There is no memory for the computation, or its parameters are invalid.
#[derive(Debug)]
pub(crate) struct Failed;

impl Slow {
    /// Parses a stored value; `None` if its scheme is not slow, or its form is invalid.
    pub fn parse(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value.get(..value.len().min(LONGEST + 1))?).ok()?;
        let (scheme, rest) = text.strip_prefix('{')?.split_once('}')?;
        if value.len() > LONGEST {
            return None;
        }
        match scheme.to_ascii_uppercase().as_str() {
            "CRYPT" => crypt(rest),
            "PBKDF2-SHA256" => pbkdf2(rest, 32, |rounds| Hash::Pbkdf2Sha256 { rounds }),
            "PBKDF2-SHA512" => pbkdf2(rest, 64, |rounds| Hash::Pbkdf2Sha512 { rounds }),
            "ARGON2" => argon2(rest),
            _ => None,
        }
    }

    /// The memory for a check.
    pub const fn memory_bytes(&self) -> u64 {
        self.work.hash.memory_bytes()
    }

    /// An estimated upper bound of the CPU time for checking a password.
    pub const fn nanoseconds(&self, password: &[u8]) -> u64 {
        self.work.hash.nanoseconds(password.len())
    }

    /// Whether this is the hash of the password; `None` if there is no memory to check it.
    pub fn is_of(&self, password: &[u8]) -> Option<bool> {
        self.work.key(self.key.len(), password).ok().map(|key| same(&key, &self.key))
    }
}

impl Work {
    /// The computation of `hash` with the algorithm and the lanes that this crate uses for new values.
    pub(crate) const fn new(hash: Hash, salt: Vec<u8>) -> Self {
        Self { hash, salt, algorithm: Algorithm::Argon2id, lanes: 1 }
    }

    pub(crate) fn key(&self, length: usize, password: &[u8]) -> Result<Vec<u8>, Failed> {
        let (salt, mut key) = (self.salt.as_slice(), vec![0; length]);
        match self.hash {
            Hash::Clear | Hash::Ssha | Hash::Ssha512 => return Err(Failed),
            Hash::Crypt { rounds } => {
                let params = Sha512Params::new(rounds as usize).map_err(|_| Failed)?;
                return sha512_crypt_b64(password, salt, &params).map(String::into_bytes).map_err(|_| Failed);
            }
            Hash::Pbkdf2Sha256 { rounds } => pbkdf2_hmac::<Sha256>(password, salt, rounds, &mut key),
            Hash::Pbkdf2Sha512 { rounds } => pbkdf2_hmac::<Sha512>(password, salt, rounds, &mut key),
            Hash::Argon2 { kib, passes } => {
                let params = Params::new(kib, passes, self.lanes, Some(length)).map_err(|_| Failed)?;
                let mut memory = Vec::new();
                memory.try_reserve_exact(params.block_count()).map_err(|_| Failed)?;
                memory.resize(params.block_count(), Block::default());
                Argon2::new(self.algorithm, Version::V0x13, params)
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
    fits.then(|| Slow { work: Work::new(Hash::Crypt { rounds }, salt.into()), key: digest.into() })
}

/// `rounds$ab64(salt)$ab64(key)`.
fn pbkdf2(text: &str, length: usize, hash: impl Fn(u32) -> Hash) -> Option<Slow> {
    let mut parts = text.split('$');
    let rounds = digits(parts.next()?).filter(|rounds| *rounds > 0)?;
    // Values of 389-DS have '+' and padding.
    let decode = |part: &str| STANDARD_NO_PAD.decode(part.replace('.', "+").trim_end_matches('=')).ok();
    let (salt, key) = (decode(parts.next()?)?, decode(parts.next()?)?);
    (parts.next().is_none() && key.len() == length).then(|| Slow { work: Work::new(hash(rounds), salt), key })
}

/// `$argon2id$v=19$m=KIB,t=PASSES,p=LANES$base64(salt)$base64(key)`.
fn argon2(text: &str) -> Option<Slow> {
    let mut parts = text.strip_prefix('$')?.split('$');
    let algorithm = match parts.next()? {
        "argon2i" => Algorithm::Argon2i,
        "argon2id" => Algorithm::Argon2id,
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
    let hash = Hash::Argon2 { kib, passes };
    fits.then_some(Slow { work: Work { hash, salt, algorithm, lanes }, key })
}
