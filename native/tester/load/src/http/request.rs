//! Requests of lanes to a site.

use super::ask::Ask;
use super::file::FileRequest;

/// A compiled step, with its number among all requests of the engine.
#[derive(Debug)]
pub enum Request {
    Ask(usize, Box<Ask>),
    /// A file of the target's set. Every byte is compared.
    File(usize, FileRequest),
}

impl Request {
    pub(super) const fn id(&self) -> usize {
        match self {
            Self::Ask(id, _) | Self::File(id, _) => *id,
        }
    }

    /// Whether the request goes to the target's secure endpoint.
    pub(super) fn is_secure(&self) -> bool {
        match self {
            Self::Ask(_, ask) => ask.host.secure,
            Self::File(_, file) => file.secure,
        }
    }

    /// Whether the answer has no body, even if its head announces a body.
    pub(super) fn head_only(&self) -> bool {
        matches!(self, Self::Ask(_, ask) if ask.method == "HEAD")
    }

    /// Whether the answer's body is needed as a whole.
    pub(super) fn reads_body(&self, verify: bool) -> bool {
        matches!(self, Self::Ask(_, ask) if ask.reads_body(verify))
    }

    pub(super) const fn is_for_file(&self) -> bool {
        matches!(self, Self::File(..))
    }
}
