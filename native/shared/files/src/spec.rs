//! The specification of a file set, as Python and manifests write it.

use serde::{Deserialize, Serialize};

/// A file set. Two sets are the same if their specs are equal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The first folder of the paths.
    pub name: String,
    /// Sets with different seeds have different contents.
    pub seed: u64,
    /// The number of files of each size, for classes without `files`.
    #[serde(default = "one")]
    pub files_per_class: u64,
    /// The classes, in the order in which files are numbered.
    pub classes: Vec<Class>,
}

/// Files that are requested with the same weight. For example, each row of a paper's table of file sizes is a
/// class.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// The second folder of the paths.
    pub name: String,
    /// Sizes in bytes, used in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<u64>,
    /// Instead of `sizes`: the smallest and the largest size. Sizes between them grow by a constant factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<[u64; 2]>,
    /// The number of files. By default the set's `files_per_class` for each size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<u64>,
}

const fn one() -> u64 {
    1
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The name is too long, needs an escape in a URL, or does not begin with a letter or a digit.
    #[error(
        "{0:?} is no name for a file set or a class; use up to 64 letters, digits, '-', '_' and '.', \
        and begin with a letter or a digit"
    )]
    Name(String),
    /// The manifest would have the path of another set's folder.
    #[error("file set {0:?} ends as the file name of a manifest does; choose another name")]
    ManifestName(String),
    #[error("file set {0:?} has no class; give it one at least")]
    NoClass(String),
    /// The files of both classes would have the same paths.
    #[error("file set {set:?} has two classes {class:?}; give each a name of its own")]
    TwoClasses { set: String, class: String },
    #[error("class {0:?} needs either sizes or a spread; give one of them")]
    Sizes(String),
    #[error(
        "class {class:?} cannot spread from {smallest} to {largest} bytes; begin at 1 or more and \
        end where it begins, or higher"
    )]
    Spread { class: String, smallest: u64, largest: u64 },
    /// The sizes of a spread have to be added up one by one.
    #[error(
        "class {class:?} has {files} files, more than the {most} that a spread may have; give it \
        sizes instead"
    )]
    WideSpread { class: String, files: u64, most: u64 },
    #[error("class {0:?} has no files; give it one at least")]
    NoFiles(String),
    #[error("file set {0:?} has more bytes than a file system can hold; make fewer or smaller files")]
    TooLarge(String),
}
