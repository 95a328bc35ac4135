//! The redirects of a request so far.

use super::describe::masked;
use crate::record::failure::Failure;

/// Longer redirects are cut to this number of characters for output.
const LONGEST_SHOWN: usize = 200;

/// The state of a request that follows redirects.
#[derive(Debug, Default)]
pub(super) struct Redirects {
    /// Redirects so far.
    pub(super) hops: u32,
    /// Path and query of the next request.
    pub(super) target: Vec<u8>,
    /// Whether the next request is a GET, whatever the method before.
    pub(super) is_get: bool,
    /// The failure of the last redirect.
    pub(super) failure: Option<Failure>,
    /// The status and the Location of each redirect.
    locations: Vec<(u16, String)>,
}

impl Redirects {
    /// Begins with the first redirect of the request for `target`.
    pub(super) fn begin(&mut self, target: &[u8]) {
        target.clone_into(&mut self.target);
        self.is_get = false;
        self.locations.clear();
    }

    /// Keeps a redirect's Location for output. A long Location is cut, and loses its parameters.
    pub(super) fn note(&mut self, status: u16, location: &[u8]) {
        let mut shown = String::from_utf8_lossy(location).into_owned();
        if location.len() > LONGEST_SHOWN {
            let path = shown.split(['?', ';', '#']).next().unwrap_or_default();
            shown = path.chars().take(LONGEST_SHOWN).chain("...".chars()).collect();
        }
        self.locations.push((status, shown));
    }

    /// The redirects so far, as a text for readers.
    pub(super) fn describe(&self) -> String {
        if self.hops == 0 {
            return String::new();
        }
        let locations: Vec<_> =
            self.locations.iter().map(|(status, to)| format!("{status} to {}", masked(to))).collect();
        format!(" ({})", locations.join(", "))
    }
}
