//! The identity of a set of visitors.

use super::Visitors;
use super::choices::{ACCENTS, BACKGROUNDS, INTERESTS, SECTIONS, STOCKS};
use crate::pools::hex_digest;

/// Must be raised when a visitor's properties are drawn in another way.
const RECIPE: u32 = 1;

impl Visitors {
    /// SHA-256 over seed, locales, pools, lists and recipe: equal digests mean equal properties of every
    /// person. The size is excluded: the number of people in a database does not change any person.
    pub fn digest(&self) -> String {
        let locales: Vec<&str> = self.locales.iter().map(|locale| locale.pools.name.as_str()).collect();
        let lists = [&BACKGROUNDS[..], &ACCENTS, &SECTIONS, &INTERESTS, &STOCKS].map(|list| list.join(" "));
        let identity = format!(
            "sitebench-visitors {RECIPE}\nseed {}\nlocales {}\npools {}\n{}\n",
            self.seed,
            locales.join(" "),
            self.pools_digest,
            lists.join("\n")
        );
        hex_digest(identity.as_bytes())
    }
}
