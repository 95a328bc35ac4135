//! How far a request is on its way, where it follows redirects.

use super::describe::masked;

/// Of a longer redirect so many characters are kept for people.
const MOST_TOLD: usize = 200;

/// How far a lane is on its way.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Redirects that the request at hand has met.
    pub(super) hops: u32,
    /// Path and query of what is asked for after them.
    pub(super) target: Vec<u8>,
    /// Whether that is asked for with GET, whatever was before.
    pub(super) gets: bool,
    /// Statuses of redirects and what they named.
    told: Vec<(u16, String)>,
}

impl Way {
    /// The request for `target` has met its first redirect.
    pub(super) fn begin(&mut self, target: &[u8]) {
        target.clone_into(&mut self.target);
        self.gets = false;
        self.told.clear();
    }

    /// Keeps what a redirect names; of what is long the beginning, and no part of a parameter.
    pub(super) fn tell(&mut self, status: u16, location: &[u8]) {
        let mut told = String::from_utf8_lossy(location).into_owned();
        if location.len() > MOST_TOLD {
            let path = told.split(['?', ';', '#']).next().unwrap_or_default();
            told = path.chars().take(MOST_TOLD).chain("...".chars()).collect();
        }
        self.told.push((status, told));
    }

    /// The redirects that the request at hand has met, for people.
    pub(super) fn told(&self) -> String {
        if self.hops == 0 {
            return String::new();
        }
        let told: Vec<_> =
            self.told.iter().map(|(status, to)| format!("{status} to {}", masked(to))).collect();
        format!(" ({})", told.join(", "))
    }
}
