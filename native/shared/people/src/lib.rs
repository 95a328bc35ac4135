//! People: entry `i` of a population is a pure function of (seed, `i`).
//!
//! Any entry can be computed from the [`Spec`] and the [`Pools`], in any order, on any machine, so there are
//! no key files. A population of 1,000 is the first thousand of a population of 1,000,000. Shards need no
//! coordination, and every answer of a directory can be verified byte by byte.
//!
//! # How an entry is computed
//!
//! 1. [`Pools`] hold the values of attributes: given names, family names, cities and so on, per locale, in
//!    the script of the locale.
//! 2. A hash of (seed, `i`, field) picks one value of each pool (see the `draw` module). The locale is
//!    drawn per person, so every range of `i` is a mixture.
//! 3. The pools hold each value as a whole attribute in BER, so that an entry is copied from slices of the
//!    pools.
//!
//! Every name contains the number `i` in decimal. So names are unique without a list of names, and
//! [`Population::index_of`] is possible.
//!
//! # Profiles
//!
//! | profile | name | description |
//! |---|---|---|
//! | [`Profile::Paper`] | `Anna Schmidt 42` | a lookup's answer has the 1,283 bytes of paper 002 |
//! | [`Profile::Small`] | `Anna Schmidt 42` | an add request has the 126 bytes of paper 002 |
//! | [`Profile::Ils`] | `aschmidt.42@example.com` | the fifteen attributes a NetMeeting client registers |
//! | [`Profile::Person`] | `user.42` | an inetOrgPerson that any directory takes, with a password |
//! | [`Profile::Posix`] | `user.42` | an inetOrgPerson with a password and a Unix account |
//! | [`Profile::Ad`] | `Anna Schmidt 42` | a user of Active Directory |
//!
//! [`Groups`] of people are computed in the same way.

mod containers;
pub mod contents;
mod draw;
mod encoded;
mod groups;
pub mod ldif;
mod name;
mod passwords;
mod pools;
mod population;
mod profile;
mod spec;
mod text;
pub mod visitor;

pub use containers::{Container, ContainersError, containers};
pub use groups::{GroupClass, GroupSpec, Groups, GroupsError, List};
pub use passwords::Passwords;
pub use pools::{Field, Pools, PoolsError};
pub use population::{Population, PopulationError};
pub use profile::domain_of;
pub use spec::{DEFAULT_BASE, OBJECT_CLASS, Profile, Spec};

/// The object class and the attribute types of all profiles, in the format of OpenLDAP's schema files.
///
/// Must be loaded after OpenLDAP's core, cosine and inetorgperson schemas.
pub const RTPERSON_SCHEMA: &str = include_str!("../schema/rtperson.schema");
