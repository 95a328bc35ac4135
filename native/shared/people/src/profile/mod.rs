//! One module per kind of people: which attributes a person has, and how they are written.

mod ils;
mod paper;
mod person;
mod small;

pub(crate) use ils::Ils;
pub(crate) use paper::Paper;
pub use person::domain_of;
pub(crate) use person::{LOGIN, Person};
pub(crate) use small::Small;
