//! What the threads of a site share.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::image::{IMAGES, image};
use crate::stats::{Published, Stats};

/// The pictures, the bounds and the counts.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) images: [Picture; IMAGES],
    pub(super) stopping: AtomicBool,
    pub(super) published: Box<[Published]>,
    max_connections: usize,
    open: AtomicUsize,
}

/// A picture and the name of its bytes.
#[derive(Debug)]
pub(super) struct Picture {
    pub(super) bytes: Vec<u8>,
    pub(super) tag: String,
}

impl Shared {
    pub(super) fn new(threads: usize, max_connections: usize) -> Self {
        let picture = |n| {
            let bytes = image(n);
            let sum = bytes.iter().fold(0u32, |sum, &b| sum.wrapping_mul(31).wrapping_add(u32::from(b)));
            Picture { tag: format!("\"{sum:08x}\""), bytes }
        };
        Self {
            images: std::array::from_fn(picture),
            stopping: AtomicBool::new(false),
            published: (0..threads).map(|_| Published::default()).collect(),
            max_connections,
            open: AtomicUsize::new(0),
        }
    }

    /// Counts a new connection, unless there are as many as there may be.
    pub(super) fn enter(&self) -> bool {
        let within = self.open.fetch_add(1, Relaxed) < self.max_connections;
        if !within {
            self.open.fetch_sub(1, Relaxed);
        }
        within
    }

    /// Counts connections that have ended.
    pub(super) fn left(&self, count: &mut usize) {
        if *count > 0 {
            self.open.fetch_sub(*count, Relaxed);
            *count = 0;
        }
    }

    pub(super) fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        self.published.iter().for_each(|published| stats.add(published));
        stats
    }
}
