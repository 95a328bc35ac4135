//! Computes and checks hashes of passwords as directories store them in `userPassword`, and estimates the
//! costs.
//!
//! | name | value |
//! |---|---|
//! | `clear` | the password |
//! | `ssha`, `ssha512` | `{SSHA}base64(digest salt)` |
//! | `crypt:ROUNDS` | `{CRYPT}$6$rounds=N$salt$digest`, SHA-crypt with SHA-512 |
//! | `pbkdf2-sha256:ROUNDS`, `pbkdf2-sha512:ROUNDS` | `{PBKDF2-SHA256}rounds$ab64(salt)$ab64(key)` |
//! | `argon2:MEMORY:PASSES` | `{ARGON2}$argon2id$v=19$m=KIB,t=PASSES,p=1$base64(salt)$base64(key)` |
//!
//! OpenLDAP's modules accept these values, and so does 389-DS except argon2. ab64 is base64 with `.` for `+`
//! and without padding.
//!
//! [`Hash`] computes values of the last three rows, the *slow* hashes. The other values are plaintext or one
//! digest. [`Quick`] computes the digests, and [`is_of`] checks plaintext and digests. [`Slow`] checks a
//! stored value, and estimates the memory and time of the check beforehand, as a client may store any value.

mod hash;
mod make;
mod quick;
mod slow;

pub use hash::{CRYPT_ROUNDS, Hash, HashError, MOST_PASSES, MOST_ROUNDS, PASSES};
pub use make::{MadeError, SALT};
pub use quick::{Quick, is_of};
pub use slow::Slow;

/// Whether two byte strings are equal, in a time that depends on their lengths only.
pub fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y)) == 0
}
