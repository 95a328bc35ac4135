//! Passwords of people, and the values of `userPassword` that directories check them by.
//!
//! ```text
//! password = Pw1- and 12 letters, four bits each of the draw
//! {SSHA}   = base64(SHA-1(password salt) salt), {SSHA512} with SHA-512; the salt is 8 bytes of another draw
//! ```
//!
//! Both are functions of (seed, i), so that any process knows them and a seeding that goes on writes what the
//! one before would have written. They are no secrets: the seed is in every run file.
//!
//! Capital, small letter, digit and sign are what Active Directory asks for. It also refuses a password with
//! a part of the person's name in it, which letters without vowels do not make.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest, Sha512};

use crate::draw::{Chance, Draw};
use crate::encoded::write_attribute_header;

const START: &[u8] = b"Pw1-";
const LETTERS: &[u8; 16] = b"bcdfghjkmnpqrstv";
const DRAWN: usize = 12;
/// Eight bytes, as slappasswd has.
const SALT: usize = 8;

/// How a directory is given passwords.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hash {
    /// As they are; many directories hash them then.
    Clear,
    /// SHA-1 with a salt: what every directory knows.
    #[default]
    Ssha,
    /// SHA-512 with a salt.
    Ssha512,
}

impl Hash {
    /// The name in configurations.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Ssha => "ssha",
            Self::Ssha512 => "ssha512",
        }
    }
}

/// Which passwords people have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passwords {
    /// How directories are given them.
    #[serde(default)]
    pub hash: Hash,
    /// One for all, in place of each person's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one: Option<String>,
}

impl Passwords {
    pub(crate) fn are_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Appends a person's password.
    #[inline]
    pub(crate) fn write(&self, chance: Chance, out: &mut Vec<u8>) {
        match &self.one {
            Some(one) => out.extend_from_slice(one.as_bytes()),
            None => out.extend_from_slice(&drawn(chance)),
        }
    }

    /// Appends the attribute that a directory is given.
    #[inline]
    pub(crate) fn write_attribute(&self, chance: Chance, out: &mut Vec<u8>) {
        let drawn = drawn(chance);
        let password = self.one.as_ref().map_or(&drawn[..], |one| one.as_bytes());
        match self.hash {
            Hash::Clear => {
                write_attribute_header(USER_PASSWORD, password.len(), out);
                out.extend_from_slice(password);
            }
            Hash::Ssha => write_hashed::<Sha1>(b"{SSHA}", password, chance, out),
            Hash::Ssha512 => write_hashed::<Sha512>(b"{SSHA512}", password, chance, out),
        }
    }

    /// Appends the attribute that Active Directory is given: in quotes, as UTF-16.
    pub(crate) fn write_unicode(&self, chance: Chance, out: &mut Vec<u8>) {
        let drawn = drawn(chance);
        let password = match &self.one {
            Some(one) => one.as_str(),
            None => std::str::from_utf8(&drawn).unwrap_or_default(),
        };
        let units =
            || std::iter::once(u16::from(b'"')).chain(password.encode_utf16()).chain([u16::from(b'"')]);
        write_attribute_header(UNICODE_PASSWORD, 2 * units().count(), out);
        units().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes()));
    }
}

const USER_PASSWORD: &str = "userPassword";
/// Active Directory's, which is only ever written (MS-ADTS 3.1.1.3.1.5).
const UNICODE_PASSWORD: &str = "unicodePwd";

fn drawn(chance: Chance) -> [u8; START.len() + DRAWN] {
    let mut password = [0; START.len() + DRAWN];
    let (start, letters) = password.split_at_mut(START.len());
    start.copy_from_slice(START);
    let mut bits = chance.bits(Draw::Password);
    for letter in letters {
        *letter = LETTERS[(bits & 15) as usize];
        bits >>= 4;
    }
    password
}

fn write_hashed<D: Digest>(scheme: &[u8], password: &[u8], chance: Chance, out: &mut Vec<u8>) {
    let salt = chance.bits(Draw::Salt).to_be_bytes();
    let digest = D::new().chain_update(password).chain_update(salt).finalize();
    let mut both = [0; 64 + SALT];
    let both = &mut both[..digest.len() + SALT];
    both[..digest.len()].copy_from_slice(&digest);
    both[digest.len()..].copy_from_slice(&salt);
    let encoded = both.len().div_ceil(3) * 4;
    write_attribute_header(USER_PASSWORD, scheme.len() + encoded, out);
    out.extend_from_slice(scheme);
    let start = out.len();
    out.resize(start + encoded, 0);
    // There is room for exactly this: base64 makes four bytes of each begun three.
    let _ = STANDARD.encode_slice(both, &mut out[start..]);
}
