//! One module per profile: which attributes a person has, and how they are written.

mod ils;
mod paper;
mod small;

pub(crate) use ils::Ils;
pub(crate) use paper::Paper;
pub(crate) use small::Small;

/// The structural class of everyone here.
pub const OBJECT_CLASS: &str = "RTPerson";
