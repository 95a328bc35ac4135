//! A file set: computes any of its files in constant time from numbers stored per class.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io::Write;
use std::ops::Range;

use crate::checker::Checker;
use crate::content::{self, G, mix};
use crate::spec::{self, Spec, SpecError};

/// Listing a folder with more files takes long.
pub(crate) const FILES_PER_FOLDER: u64 = 1_000;
/// Summing up this many sizes takes some 20 ms.
const LARGEST_SPREAD: u64 = 1_000_000;
/// The largest signed file offset.
const MOST_BYTES: u64 = i64::MAX as u64;
const LONGEST_NAME: usize = 64;

/// A file set; the documentation of the crate describes the files.
#[derive(Debug, Clone)]
pub struct FileSet {
    spec: Spec,
    classes: Vec<Class>,
    by_name: HashMap<Vec<u8>, usize>,
    bytes: u64,
}

#[derive(Debug, Clone)]
struct Class {
    /// The numbers of the class's files in the set.
    files: Range<u64>,
    sizes: Sizes,
    state: u64,
}

#[derive(Debug, Clone)]
enum Sizes {
    InTurn(Vec<u64>),
    Spread { smallest: u64, largest: u64, files: u64 },
}

impl Sizes {
    fn of(&self, k: u64) -> u64 {
        match self {
            Self::InTurn(sizes) => sizes[(k % sizes.len() as u64) as usize],
            Self::Spread { smallest, files: 1, .. } => *smallest,
            Self::Spread { smallest, largest, files } => {
                let factor = *largest as f64 / *smallest as f64;
                (*smallest as f64 * factor.powf(k as f64 / (files - 1) as f64)).round() as u64
            }
        }
    }

    /// The total size of the first `files` files; `None` on overflow.
    fn sum(&self, files: u64) -> Option<u64> {
        let sum = |files: Range<u64>| files.map(|k| self.of(k)).try_fold(0u64, u64::checked_add);
        match self {
            Self::InTurn(sizes) => {
                let (round, rounds) = (sizes.len() as u64, files / sizes.len() as u64);
                let whole = if rounds == 0 { 0 } else { sum(0..round)?.checked_mul(rounds)? };
                whole.checked_add(sum(0..files % round)?)
            }
            Self::Spread { .. } => sum(0..files),
        }
    }
}

impl FileSet {
    pub fn new(spec: Spec) -> Result<Self, SpecError> {
        check_name(&spec.name)?;
        if spec.name.ends_with(".manifest") {
            return Err(SpecError::ManifestName(spec.name));
        }
        if spec.classes.is_empty() {
            return Err(SpecError::NoClass(spec.name));
        }
        let too_large = || SpecError::TooLarge(spec.name.clone());
        let state = state_of(&spec);
        let mut by_name = HashMap::new();
        let mut classes = Vec::with_capacity(spec.classes.len());
        let (mut first, mut bytes) = (0u64, 0u64);
        for (c, class) in spec.classes.iter().enumerate() {
            check_name(&class.name)?;
            if by_name.insert(class.name.clone().into_bytes(), c).is_some() {
                return Err(SpecError::TwoClasses { set: spec.name.clone(), class: class.name.clone() });
            }
            let files = files_of(&spec, class).ok_or_else(too_large)?;
            let sizes = sizes_of(class, files)?;
            let end = first.checked_add(files).ok_or_else(too_large)?;
            bytes = sizes.sum(files).and_then(|sum| sum.checked_add(bytes)).ok_or_else(too_large)?;
            let state = mix(state.wrapping_add((c as u64 + 1).wrapping_mul(G)));
            classes.push(Class { files: first..end, sizes, state });
            first = end;
        }
        if bytes > MOST_BYTES {
            return Err(too_large());
        }
        Ok(Self { spec, classes, by_name, bytes })
    }

    pub const fn spec(&self) -> &Spec {
        &self.spec
    }

    pub fn count(&self) -> u64 {
        self.classes.last().map_or(0, |class| class.files.end)
    }

    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The numbers of a class's files.
    pub fn class(&self, name: &str) -> Option<Range<u64>> {
        self.by_name.get(name.as_bytes()).map(|&c| self.classes[c].files.clone())
    }

    pub fn file(&self, i: u64) -> Option<File<'_>> {
        let c = self.classes.partition_point(|class| class.files.end <= i);
        let class = self.classes.get(c)?;
        let k = i - class.files.start;
        Some(File { set: self, c, k, size: class.sizes.of(k), key: mix(class.state ^ k) })
    }
}

/// A file of a set.
#[derive(Debug, Clone, Copy)]
pub struct File<'a> {
    set: &'a FileSet,
    c: usize,
    k: u64,
    size: u64,
    key: u64,
}

impl File<'_> {
    /// In bytes.
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The key from which [`fill`](crate::fill) generates the content.
    pub const fn key(&self) -> u64 {
        self.key
    }

    /// Appends the path, which begins with a slash.
    pub fn write_path(&self, out: &mut Vec<u8>) {
        let (set, class) = (&self.set.spec.name, self.class());
        // Writing to a vector does not fail.
        let _ = write!(out, "/{set}/{class}/{}/{}.html", self.folder(), self.k);
    }

    /// The path, which begins with a slash.
    pub fn path(&self) -> String {
        format!("/{}/{}/{}/{}.html", self.set.spec.name, self.class(), self.folder(), self.k)
    }

    /// A checker that compares a body with the file's content.
    pub const fn checker(&self) -> Checker {
        Checker::new(self.key, self.size)
    }

    /// SHA-256 of the content, which is generated piece by piece.
    pub fn digest(&self) -> [u8; 32] {
        let Ok(digest) = content::digest(self.key, self.size, |_| Ok::<(), Infallible>(()));
        digest
    }

    pub(crate) fn class(&self) -> &str {
        &self.set.spec.classes[self.c].name
    }

    pub(crate) const fn folder(&self) -> u64 {
        self.k / FILES_PER_FOLDER
    }

    pub(crate) fn name(&self) -> String {
        format!("{}.html", self.k)
    }
}

/// The generator's state, derived from the set's name and seed.
fn state_of(spec: &Spec) -> u64 {
    let name = spec.name.as_bytes();
    let words = name.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    let state = words.fold(mix(spec.seed.wrapping_add(G)), |state, word| mix(state ^ word));
    mix(state ^ name.len() as u64)
}

fn files_of(spec: &Spec, class: &spec::Class) -> Option<u64> {
    let sizes = class.sizes.len().max(1) as u64;
    class.files.map_or_else(|| spec.files_per_class.checked_mul(sizes), Some)
}

fn sizes_of(class: &spec::Class, files: u64) -> Result<Sizes, SpecError> {
    let name = || class.name.clone();
    if files == 0 {
        return Err(SpecError::NoFiles(name()));
    }
    match (class.sizes.as_slice(), class.spread) {
        ([_, ..], None) => Ok(Sizes::InTurn(class.sizes.clone())),
        ([], Some([smallest, largest])) => {
            if smallest == 0 || smallest > largest {
                return Err(SpecError::Spread { class: name(), smallest, largest });
            }
            if files > LARGEST_SPREAD {
                return Err(SpecError::WideSpread { class: name(), files, most: LARGEST_SPREAD });
            }
            Ok(Sizes::Spread { smallest, largest, files })
        }
        _ => Err(SpecError::Sizes(name())),
    }
}

/// Checks that a name is short, needs no escape in a URL, and begins with a letter or a digit: servers hide
/// names that begin with a dot.
fn check_name(name: &str) -> Result<(), SpecError> {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    match letters && begins && name.len() <= LONGEST_NAME {
        true => Ok(()),
        false => Err(SpecError::Name(name.to_owned())),
    }
}
