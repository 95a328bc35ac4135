//! What makes two sets of visitors the same people.

use super::Visitors;
use super::choices::{ACCENTS, BACKGROUNDS, INTERESTS, SECTIONS, STOCKS};
use crate::pools::hex_digest;

/// Raise it when a visitor's properties are drawn otherwise than before.
const RECIPE: u32 = 1;

impl Visitors {
    /// SHA-256 over seed, locales, pools, lists and recipe: equal digests, equal properties of every
    /// person. Not the size: how many of them a database holds leaves them who they are.
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
