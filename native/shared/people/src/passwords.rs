//! Passwords of people, and the values of `userPassword` that directories check passwords against.
//!
//! ```text
//! password = Pw1- and 12 letters, each from four bits of the draw
//! {SSHA}   = base64(SHA-1(password salt) salt), {SSHA512} with SHA-512; the salt is 8 bytes of another draw
//! ```
//!
//! Slow hashes are computed by the crate `hashes`, with a salt of 16 bytes, for a pool of K passwords: person `i` has
//! the password and the salt of person `i` mod K.
//!
//! Passwords and hashes are functions of (seed, i): any process can compute them, and a resumed seeding writes the
//! same values as an uninterrupted one. Passwords are no secrets: the seed is in every run file.
//!
//! Active Directory requires a capital letter, a small letter, a digit and a sign. It also refuses passwords that
//! contain a part of the person's name; letters without vowels do not form such parts.

use std::num::NonZeroU64;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use hashes::{Hash, MadeError, Quick, Slow};
use serde::{Deserialize, Serialize};

use crate::draw::{Chance, Draw, Root};
use crate::encoded::{write_attribute, write_attribute_header};

const START: &[u8] = b"Pw1-";
const LETTERS: &[u8; 16] = b"bcdfghjkmnpqrstv";
const DRAWN: usize = 12;
/// The number of bytes of a salt. Salts of slappasswd have the same length.
const SALT: usize = 8;
/// Interval between progress reports while slow hashes are computed.
const TELL: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Passwords {
    /// The form in which directories receive passwords.
    #[serde(default)]
    pub hash: Hash,
    /// One password for all people, in place of individual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one: Option<String>,
    /// The number of different passwords: person `i` has the password and salt of person `i` mod `pool`. Default: all
    /// passwords differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<NonZeroU64>,
}

impl Passwords {
    pub(crate) fn are_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The passwords of a population.
#[derive(Debug)]
pub(crate) struct Logins {
    passwords: Passwords,
    root: Root,
    /// The number of different passwords, if there is a limit. The limit is at most the number of seeded
    /// people, so that added people have the slow hashes of seeded people.
    pool: Option<NonZeroU64>,
    /// The values of slow hashes, each computed on first use.
    slow: Box<[OnceLock<Box<[u8]>>]>,
}

impl Logins {
    pub(crate) fn new(passwords: Passwords, root: Root, seeded: u64) -> Self {
        let seeded = NonZeroU64::new(seeded).unwrap_or(NonZeroU64::MIN);
        let slow = passwords.hash.is_slow();
        let pool = match passwords.pool {
            Some(pool) => Some(pool.min(seeded)),
            None => slow.then_some(seeded),
        };
        let values = pool.filter(|_| slow).map_or(0, NonZeroU64::get);
        let slow = (0..values).map(|_| OnceLock::new()).collect();
        Self { passwords, root, pool, slow }
    }

    /// Appends the password of person `i`.
    #[inline]
    pub(crate) fn write(&self, i: u64, out: &mut Vec<u8>) {
        match &self.passwords.one {
            Some(one) => out.extend_from_slice(one.as_bytes()),
            None => out.extend_from_slice(&drawn(Chance::new(self.root, self.like(i)))),
        }
    }

    /// The number of the person whose password person `i` has.
    #[inline]
    fn like(&self, i: u64) -> u64 {
        self.pool.map_or(i, |pool| i % pool)
    }

    /// Appends the password attribute of person `i`; `own` is the person's random source.
    #[inline]
    pub(crate) fn write_attribute(&self, own: Chance, i: u64, out: &mut Vec<u8>) {
        let chance = if self.pool.is_some() { Chance::new(self.root, self.like(i)) } else { own };
        let drawn = drawn(chance);
        let password = self.passwords.one.as_ref().map_or(&drawn[..], |one| one.as_bytes());
        match self.passwords.hash {
            Hash::Clear => write_attribute(USER_PASSWORD, password, out),
            Hash::Ssha => write_hashed(Quick::Sha1, password, chance, out),
            Hash::Ssha512 => write_hashed(Quick::Sha512, password, chance, out),
            _ => write_attribute(USER_PASSWORD, self.slow(self.like(i)), out),
        }
    }

    /// Appends Active Directory's password attribute: the password in quotes, as UTF-16.
    pub(crate) fn write_unicode(&self, i: u64, out: &mut Vec<u8>) {
        let mut password = Vec::new();
        self.write(i, &mut password);
        let password = String::from_utf8_lossy(&password);
        let units =
            || std::iter::once(u16::from(b'"')).chain(password.encode_utf16()).chain([u16::from(b'"')]);
        write_attribute_header(UNICODE_PASSWORD, 2 * units().count(), out);
        units().for_each(|unit| out.extend_from_slice(&unit.to_le_bytes()));
    }

    /// Slow hash `n` of the pool; empty if there is no memory to compute the hash. Directories refuse an
    /// empty value, and [`Self::make`] reports the error.
    fn slow(&self, n: u64) -> &[u8] {
        let Some(place) = self.slow.get(n as usize) else { return &[] };
        if place.get().is_none()
            && let Ok(value) = self.made(n)
        {
            // If another thread has set the value meanwhile, the value is the same.
            let _ = place.set(value.into());
        }
        place.get().map_or(&[], |value| value)
    }

    fn made(&self, n: u64) -> Result<Vec<u8>, MadeError> {
        let chance = Chance::new(self.root, n);
        let mut password = Vec::new();
        self.write(n, &mut password);
        let salt = u128::from(chance.bits(Draw::Salt)) << 64 | u128::from(chance.bits(Draw::MoreSalt));
        self.passwords.hash.value(&password, salt.to_be_bytes())
    }

    /// The number of slow hashes.
    pub(crate) const fn slow_hashes(&self) -> u64 {
        self.slow.len() as u64
    }

    /// The slow hashes computed so far, from the first on.
    pub(crate) fn ready(&self) -> impl Iterator<Item = &[u8]> {
        self.slow.iter().map_while(|value| value.get().map(|value| &**value))
    }

    /// Adopts slow hashes of an earlier run, up to the first value of another scheme or form.
    pub(crate) fn take<'v>(&self, values: impl Iterator<Item = &'v [u8]>) {
        let scheme = self.passwords.hash.scheme().as_bytes();
        let of_it = |value: &&[u8]| value.starts_with(scheme) && Slow::parse(value).is_some();
        for (place, value) in self.slow.iter().zip(values.take_while(of_it)) {
            // If the value is already set, the value is the same.
            let _ = place.set(value.into());
        }
    }

    /// Computes the missing hashes on several threads. Reports the number of hashes ten times a second; after a break
    /// from the callback, each thread finishes its current hash.
    pub(crate) fn make(
        &self,
        threads: usize,
        mut tell: impl FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(), MadeError> {
        let next = AtomicUsize::new(0);
        let (failed, ready) = (Mutex::new(None), AtomicUsize::new(0));
        let work = || {
            loop {
                let n = next.fetch_add(1, Relaxed);
                let Some(place) = self.slow.get(n) else { return };
                if place.get().is_none() {
                    match self.made(n as u64) {
                        Ok(value) => drop(place.set(value.into())),
                        Err(error) => {
                            next.store(self.slow.len(), Relaxed);
                            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                            return;
                        }
                    }
                }
                ready.fetch_add(1, Relaxed);
            }
        };
        // The channel is closed when the last thread has ended.
        let (working, ended) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            for working in vec![working; threads.max(1)] {
                scope.spawn(|| {
                    let _working = working;
                    work();
                });
            }
            while ended.recv_timeout(TELL) == Err(RecvTimeoutError::Timeout) {
                if tell(ready.load(Relaxed) as u64).is_break() {
                    next.store(self.slow.len(), Relaxed);
                    break;
                }
            }
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}

const USER_PASSWORD: &str = "userPassword";
/// Active Directory's password attribute, which is write-only (MS-ADTS 3.1.1.3.1.5).
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

fn write_hashed(hash: Quick, password: &[u8], chance: Chance, out: &mut Vec<u8>) {
    write_attribute_header(USER_PASSWORD, hash.value_bytes(SALT), out);
    hash.write_value(password, &chance.bits(Draw::Salt).to_be_bytes(), out);
}
