//! Files of a set: drawn anew for each request, compared byte by byte as they come.
//!
//! Nothing is kept of a file. Its path, size and content are a function of the set and of its number, so
//! a set may be larger than memory, and comparing costs less than copying would.

use std::ops::Range;

use files::FileSet;

use super::spec::FileSpec;
use super::target::Target;

/// A compiled request for a file of a class.
#[derive(Debug)]
pub(super) struct FileRequest {
    /// The class's files, by their numbers in the set.
    pub(super) files: Range<u64>,
    pub(super) before_path: Vec<u8>,
    pub(super) after_path: Vec<u8>,
}

impl FileRequest {
    pub(super) fn new(spec: &FileSpec, target: &Target, set: Option<&FileSet>) -> Result<Self, String> {
        let set = set.ok_or("the target has no \"files\" to ask for")?;
        let files = set.class(&spec.class);
        Ok(Self {
            files: files.ok_or_else(|| format!("the target's files have no class {:?}", spec.class))?,
            before_path: format!("GET {}", target.base_path).into_bytes(),
            after_path: format!("{}{}\r\n", target.head_lines(spec.tls), spec.lines).into_bytes(),
        })
    }
}
