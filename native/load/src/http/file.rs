//! Files of a set: drawn anew for each request, compared byte by byte as they come.
//!
//! Nothing is kept of a file. Its path, size and content are a function of the set and of its number, so
//! a set may be larger than memory, and comparing costs less than copying would.

use std::ops::Range;

use files::FileSet;

use super::request::Request;
use super::spec::FileSpec;
use super::target::Target;
use super::{Http, LaneState};
use crate::record::failure::Failure;

/// A compiled request for a file of a class.
#[derive(Debug)]
pub(super) struct FileRequest {
    /// The class's files, by their numbers in the set.
    files: Range<u64>,
    before_path: Vec<u8>,
    after_path: Vec<u8>,
}

impl FileRequest {
    pub(super) fn new(spec: &FileSpec, target: &Target, set: Option<&FileSet>) -> Result<Self, String> {
        let set = set.ok_or("the target has no \"files\" to ask for")?;
        let files = set.class(&spec.class);
        Ok(Self {
            files: files.ok_or_else(|| format!("the target's files have no class {:?}", spec.class))?,
            before_path: format!("GET {}", target.base_path).into_bytes(),
            after_path: format!("{}\r\n", target.head_lines()).into_bytes(),
        })
    }
}

impl Http {
    #[inline]
    pub(super) fn encode_file(&mut self, request: &FileRequest, lane: &mut LaneState, out: &mut Vec<u8>) {
        let number = self.rng.u64(request.files.clone());
        // Compiling has seen to it that there is a set, and that it has this file.
        let Some(file) = self.files.as_deref().and_then(|set| set.file(number)) else { return };
        out.extend_from_slice(&request.before_path);
        file.write_path(out);
        out.extend_from_slice(&request.after_path);
        lane.file = Some(file.checker());
    }

    /// The failure of an answer to a request for a file.
    #[inline]
    pub(super) fn judge_file(&self, request: &Request, lane: &LaneState, length: u64) -> Option<Failure> {
        if !request.accepts(lane.status) {
            return Some(Failure::Status(lane.status));
        }
        let checker = lane.file.as_ref()?;
        if length != checker.size() {
            return Some(Failure::WrongLength);
        }
        (self.verify && checker.finish().is_some()).then_some(Failure::WrongAnswer)
    }
}
