//! People: entry `i` of a population is a pure function of (seed, `i`).
//!
//! There are no key files to ship: any entry is regenerated from the [`Spec`] and the [`Pools`], in any
//! order, on any machine. A population of 1,000 is the first 1,000 of one of 1,000,000; shards need
//! no coordination; every answer of a directory can be checked byte by byte.
//!
//! # How an entry is made
//!
//! 1. [`Pools`] hold what people are made of: given names, family names, cities and so on, per locale,
//!    in the script of the locale.
//! 2. A hash of (seed, `i`, field) picks one value of each pool (see the `draw` module). The locale is
//!    drawn per person, so every range of `i` is a mixture.
//! 3. The values lie in the pools as BER already, attribute type included, so that an entry is a
//!    number of slices copied one after the other.
//!
//! The number `i` stands in decimal in every name, which makes names unique without remembering any,
//! and [`Population::index_of`] possible.
//!
//! # Profiles
//!
//! | profile | name | what it is; sized after paper 002 |
//! |---|---|---|
//! | [`Profile::Paper`] | `Anna Schmidt 42` | a lookup's answer is 1,283 bytes |
//! | [`Profile::Small`] | `Anna Schmidt 42` | an add request is 126 bytes |
//! | [`Profile::Ils`] | `aschmidt.42@example.com` | the fifteen attributes a NetMeeting client registers |
//! | [`Profile::Person`] | `user.42` | an inetOrgPerson that any directory takes, with a password |
//! | [`Profile::Posix`] | `user.42` | the same with a Unix account |
//! | [`Profile::Ad`] | `Anna Schmidt 42` | a user of Active Directory |
//!
//! [`Groups`] of them are made in the same way.

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
/// Loads after OpenLDAP's core, cosine and inetorgperson schemas.
pub const RTPERSON_SCHEMA: &str = include_str!("../schema/rtperson.schema");
