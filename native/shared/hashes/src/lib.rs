//! Hashes of passwords as directories store them in `userPassword`: made and checked, with what each costs.
//!
//! | name | value |
//! |---|---|
//! | `clear` | the password |
//! | `ssha`, `ssha512` | `{SSHA}base64(digest salt)` |
//! | `crypt:ROUNDS` | `{CRYPT}$6$rounds=N$salt$digest`, SHA-crypt with SHA-512 |
//! | `pbkdf2-sha256:ROUNDS`, `pbkdf2-sha512:ROUNDS` | `{PBKDF2-SHA256}rounds$ab64(salt)$ab64(key)` |
//! | `argon2:MEMORY:PASSES` | `{ARGON2}$argon2id$v=19$m=KIB,t=PASSES,p=1$base64(salt)$base64(key)` |
//!
//! This spelling is what OpenLDAP's modules take, and 389-DS but for argon2. ab64 is base64 with `.` for `+` and
//! without padding.
//!
//! [`Hash`] makes values of the last three, the *slow* ones. The others are one digest: [`Quick`] makes them, and [`is_of`]
//! checks them. [`Slow`] checks a stored value, and says beforehand how much memory and time
//! that takes: a client may store any.

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
