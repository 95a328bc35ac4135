//! An allocator for encoded entries.
//!
//! A million bodies in pages of 4 KiB miss the TLB at every lookup. So bodies are stored in large mappings
//! with the advice to use huge pages. The place of a body is its offset in units of 16 bytes. This number
//! takes four bytes, where a pointer and a length would take sixteen; bodies have no header.
//!
//! The kernel clears a huge page in 0.4 ms, or in 5 ms on a virtual machine whose host has to allocate the
//! memory first. All clients would wait meanwhile, for a third of the time that additions take. So a separate
//! thread clears the next mapping of a growing directory.
//!
//! Freed places are kept in free lists by size and reused for bodies of the same size: a directory of people
//! mostly adds and removes entries of the same sizes. If much memory is free, larger places are split.

use std::thread::{self, JoinHandle};

use memmap2::MmapMut;

/// Bodies start at multiples of this size.
const UNIT: usize = 16;

/// The size of one mapping, a multiple of a huge page's 2 MiB.
const SEGMENT: usize = 4 << 20;
const SEGMENT_UNITS: u32 = (SEGMENT / UNIT) as u32;

/// The smallest page size.
const PAGE: usize = 4 << 10;

/// Larger bodies get an allocation of their own; photos are rare.
const LARGE: usize = 16 << 10;

/// A longer body may have so many values that work on it takes long.
pub(super) const LONG: usize = 4 << 10;

/// The bit that marks the index of a large body.
const OWN: u32 = 1 << 31;

/// The most segments that can be numbered, 32 GiB in total. Beyond that, every body gets its own allocation.
const MAX_SEGMENTS: usize = (OWN / SEGMENT_UNITS) as usize - 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Place {
    unit: u32,
    length: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Bodies {
    segments: Vec<Segment>,
    /// The next segment, which a thread is clearing.
    cleared: Option<JoinHandle<Segment>>,
    /// The first unit of the last segment that was never allocated.
    next: u32,
    /// Free places by their number of units.
    free: Vec<Vec<u32>>,
    free_units: u32,
    large: Vec<Box<[u8]>>,
    large_free: Vec<u32>,
    pub(crate) bytes: u64,
    /// The number of bodies longer than [`LONG`].
    long: usize,
}

#[derive(Debug)]
enum Segment {
    Mapped(MmapMut),
    /// Heap memory, if the kernel refuses the mapping.
    Allocated(Vec<u8>),
}

impl Segment {
    fn new() -> Self {
        let Ok(map) = MmapMut::map_anon(SEGMENT) else {
            return Self::Allocated(vec![0; SEGMENT]);
        };
        // Advice (madvise(2)): without huge pages everything works, only slower.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Self::Mapped(map)
    }

    /// A segment whose pages the kernel has cleared already.
    fn cleared() -> Self {
        let mut segment = Self::new();
        // One madvise(2) could clear all pages, but would block memory allocation of the whole process
        // meanwhile.
        segment.bytes_mut().chunks_mut(PAGE).for_each(|page| page[0] = 0);
        segment
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Allocated(bytes) => bytes,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Allocated(bytes) => bytes,
        }
    }
}

impl Place {
    pub(crate) const fn len(self) -> usize {
        self.length as usize
    }

    const fn units(self) -> usize {
        (self.length as usize).div_ceil(UNIT)
    }
}

impl Bodies {
    /// The body at a place.
    #[inline]
    pub(crate) fn get(&self, place: Place) -> &[u8] {
        if place.unit & OWN != 0 {
            return self.large.get((place.unit & !OWN) as usize).map_or(&[], |body| body);
        }
        let start = (place.unit % SEGMENT_UNITS) as usize * UNIT;
        match self.segments.get((place.unit / SEGMENT_UNITS) as usize) {
            Some(segment) => segment.bytes().get(start..start + place.len()).unwrap_or_default(),
            None => &[],
        }
    }

    pub(crate) fn insert(&mut self, body: &[u8]) -> Place {
        self.bytes += body.len() as u64;
        self.long += usize::from(body.len() > LONG);
        let length = body.len() as u32;
        if body.len() > LARGE || self.segments.len() >= MAX_SEGMENTS {
            return Place { unit: OWN | self.insert_large(body), length };
        }
        let units = Place { unit: 0, length }.units();
        let unit = self.reuse(units).unwrap_or_else(|| self.fresh(units as u32));
        let start = (unit % SEGMENT_UNITS) as usize * UNIT;
        if let Some(segment) = self.segments.get_mut((unit / SEGMENT_UNITS) as usize) {
            segment.bytes_mut()[start..start + body.len()].copy_from_slice(body);
        }
        Place { unit, length }
    }

    pub(crate) fn remove(&mut self, place: Place) {
        self.bytes -= u64::from(place.length);
        self.long -= usize::from(place.len() > LONG);
        if place.unit & OWN != 0 {
            let number = place.unit & !OWN;
            if let Some(body) = self.large.get_mut(number as usize) {
                *body = Box::default();
            }
            self.large_free.push(number);
        } else if place.length > 0 {
            self.put_back(place.unit, place.units());
        }
    }

    /// Whether any body is longer than [`LONG`].
    pub(crate) const fn any_long(&self) -> bool {
        self.long > 0
    }

    fn insert_large(&mut self, body: &[u8]) -> u32 {
        if let Some(number) = self.large_free.pop() {
            if let Some(place) = self.large.get_mut(number as usize) {
                *place = body.into();
            }
            return number;
        }
        self.large.push(body.into());
        self.large.len() as u32 - 1
    }

    fn reuse(&mut self, units: usize) -> Option<u32> {
        if let Some(unit) = self.free.get_mut(units).and_then(Vec::pop) {
            self.free_units -= units as u32;
            return Some(unit);
        }
        // If less than a quarter of the memory is free, a split is not worth the fragments.
        if self.free_units < self.next / 4 {
            return None;
        }
        let larger = (units + 1..self.free.len()).find(|&larger| !self.free[larger].is_empty())?;
        let unit = self.free[larger].pop()?;
        self.free_units -= larger as u32;
        self.put_back(unit + units as u32, larger - units);
        Some(unit)
    }

    fn fresh(&mut self, units: u32) -> u32 {
        let end = self.segments.len() as u32 * SEGMENT_UNITS;
        if self.next + units > end {
            // The rest of the segment goes to the free list of its size.
            if end > self.next {
                self.put_back(self.next, (end - self.next) as usize);
            }
            let cleared = self.cleared.take_if(|thread| thread.is_finished());
            self.segments.push(cleared.and_then(|thread| thread.join().ok()).unwrap_or_else(Segment::new));
            // A directory that fits into one segment needs no further segment.
            if self.segments.len() > 1 && self.cleared.is_none() {
                self.cleared = thread::Builder::new().name("clearing".into()).spawn(Segment::cleared).ok();
            }
            self.next = end;
        }
        let unit = self.next;
        self.next += units;
        unit
    }

    fn put_back(&mut self, unit: u32, units: usize) {
        if self.free.len() <= units {
            self.free.resize_with(units + 1, Vec::new);
        }
        self.free[units].push(unit);
        self.free_units += units as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #[test]
        fn stored_bodies_are_returned_as_inserted(steps in prop::collection::vec((any::<bool>(), 0usize..20_000, any::<u8>()), 1..200)) {
            let mut bodies = Bodies::default();
            let mut kept: Vec<(Place, Vec<u8>)> = Vec::new();
            for (insert, number, byte) in steps {
                if insert {
                    let body = vec![byte; 1 + number];
                    kept.push((bodies.insert(&body), body));
                } else if !kept.is_empty() {
                    bodies.remove(kept.swap_remove(number % kept.len()).0);
                }
                for (place, body) in &kept {
                    prop_assert_eq!(bodies.get(*place), body.as_slice());
                }
            }
            prop_assert_eq!(bodies.bytes, kept.iter().map(|(_, body)| body.len() as u64).sum::<u64>());
        }
    }

    /// Inserts bodies until there are `segments` segments; returns whether all bodies can be read back.
    fn fill(bodies: &mut Bodies, segments: usize) -> bool {
        let mut kept = Vec::new();
        while bodies.segments.len() < segments {
            let body = vec![kept.len() as u8; 10_000];
            kept.push((bodies.insert(&body), body));
        }
        kept.iter().all(|(place, body)| bodies.get(*place) == body.as_slice())
    }

    #[test]
    fn a_growing_directory_clears_the_next_mapping_before_the_first_use() {
        let mut bodies = Bodies::default();
        assert!(fill(&mut bodies, 1) && bodies.cleared.is_none());
        assert!(fill(&mut bodies, 2));
        let next = bodies.cleared.take().unwrap().join().unwrap();
        let at = next.bytes().as_ptr();
        let handed_over = thread::spawn(move || next);
        while !handed_over.is_finished() {
            thread::yield_now();
        }
        bodies.cleared = Some(handed_over);
        assert!(fill(&mut bodies, 3));
        assert_eq!(bodies.segments[2].bytes().as_ptr(), at);
    }

    #[test]
    fn an_insert_does_not_wait_for_a_mapping_to_be_cleared() {
        let mut bodies = Bodies::default();
        assert!(fill(&mut bodies, 2));
        let (go_on, wait) = std::sync::mpsc::channel::<()>();
        let slow = thread::spawn(move || {
            let _ = wait.recv_timeout(Duration::from_secs(10));
            Segment::new()
        });
        let id = slow.thread().id();
        bodies.cleared = Some(slow);
        assert!(fill(&mut bodies, 5));
        assert_eq!(bodies.cleared.map(|still| still.thread().id()), Some(id));
        go_on.send(()).unwrap();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn writing_to_a_cleared_segment_causes_no_page_fault() {
        let faults = |mut segment: Segment| {
            let so_far = || -> u64 {
                let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
                stat.rsplit(')').next().unwrap().split(' ').nth(8).unwrap().parse().unwrap()
            };
            let before = so_far();
            segment.bytes_mut().fill(7);
            so_far() - before
        };
        let (cleared, new) = (faults(Segment::cleared()), faults(Segment::new()));
        // The first write to a huge page is one page fault; reading the count may cause another page fault.
        assert!(cleared < 2 && new >= 2, "{cleared} and {new}");
    }

    #[test]
    fn the_space_of_removed_bodies_is_reused() {
        let mut bodies = Bodies::default();
        let places: Vec<Place> = (0..1000).map(|_| bodies.insert(&[7; 1000])).collect();
        let next = bodies.next;
        places.into_iter().for_each(|place| bodies.remove(place));
        let places: Vec<Place> = (0..1000).map(|_| bodies.insert(&[8; 995])).collect();
        assert_eq!(bodies.next, next);
        places.into_iter().for_each(|place| bodies.remove(place));
        (0..2000).for_each(|_| assert_eq!(bodies.insert(&[9; 490]).len(), 490));
        assert!(bodies.next < next + next / 4, "{} {next}", bodies.next);
    }
}
