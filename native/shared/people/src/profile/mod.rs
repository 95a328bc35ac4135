//! One module per profile: the attributes of people and their encoding.

mod ils;
mod paper;
mod person;
mod small;

pub(crate) use ils::Ils;
pub(crate) use paper::Paper;
pub use person::domain_of;
pub(crate) use person::{LOGIN, Person};
pub(crate) use small::Small;

use crate::encoded::write_attribute;
use crate::pools::{Field, LocalePools};

/// The attribute `c` of people of a locale.
fn country(pools: &LocalePools) -> Vec<u8> {
    let mut attribute = Vec::new();
    for value in pools.values(Field::Country).iter().take(1) {
        write_attribute("c", value.as_bytes(), &mut attribute);
    }
    attribute
}
