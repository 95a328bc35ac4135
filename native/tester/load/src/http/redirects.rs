//! The redirects of a request so far.

use super::describe::masked;

/// The number of characters of a long redirect that are kept for output.
const MOST_TOLD: usize = 200;

/// The state of a request that follows redirects.
#[derive(Debug, Default)]
pub(super) struct Way {
    /// Redirects so far.
    pub(super) hops: u32,
    /// Path and query of the next request.
    pub(super) target: Vec<u8>,
    /// Whether the next request is a GET, whatever the method before.
    pub(super) gets: bool,
    /// The status and the Location of each redirect.
    told: Vec<(u16, String)>,
}

impl Way {
    /// Begins with the first redirect of the request for `target`.
    pub(super) fn begin(&mut self, target: &[u8]) {
        target.clone_into(&mut self.target);
        self.gets = false;
        self.told.clear();
    }

    /// Keeps a redirect's Location for output. A long one is cut, and loses its parameters.
    pub(super) fn tell(&mut self, status: u16, location: &[u8]) {
        let mut told = String::from_utf8_lossy(location).into_owned();
        if location.len() > MOST_TOLD {
            let path = told.split(['?', ';', '#']).next().unwrap_or_default();
            told = path.chars().take(MOST_TOLD).chain("...".chars()).collect();
        }
        self.told.push((status, told));
    }

    /// The redirects so far, as a text for readers.
    pub(super) fn told(&self) -> String {
        if self.hops == 0 {
            return String::new();
        }
        let told: Vec<_> =
            self.told.iter().map(|(status, to)| format!("{status} to {}", masked(to))).collect();
        format!(" ({})", told.join(", "))
    }
}
