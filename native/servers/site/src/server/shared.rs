//! What the threads of a site share.

use tls::Acceptor;

use crate::image::{IMAGE_BYTES, IMAGES};
use crate::limits::Limits;
use crate::stats::Published;

/// The pictures, the limits and the counts.
#[derive(Debug)]
pub(super) struct Shared {
    /// Present where TLS is spoken.
    pub(super) tls: Option<Acceptor>,
    pub(super) images: [Picture; IMAGES.len()],
    /// One for each thread.
    pub(super) published: Box<[Published]>,
    pub(super) limits: Limits,
}

/// A picture and the name of its bytes.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) bytes: &'static [u8; IMAGE_BYTES],
    pub(super) tag: String,
}

impl Shared {
    pub(super) fn new(threads: usize, limits: Limits, tls: Option<Acceptor>) -> Self {
        let picture = |bytes: &'static [u8; IMAGE_BYTES]| {
            let sum = bytes.iter().fold(0u32, |sum, &b| sum.wrapping_mul(31).wrapping_add(u32::from(b)));
            Picture { tag: format!("\"{sum:08x}\""), bytes }
        };
        Self {
            tls,
            images: IMAGES.map(picture),
            published: (0..threads).map(|_| Published::default()).collect(),
            limits,
        }
    }
}
