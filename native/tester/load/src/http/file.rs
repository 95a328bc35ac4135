//! Files of a set: drawn for each request, and compared byte by byte as they are received.
//!
//! A file's path, size and content are a function of the set and of the file's number, so a set may be larger
//! than memory. Small files are compared with copies that all threads share, larger files with content that
//! is generated during the comparison.

use std::ops::Range;

use files::{Checker, Copies};

use super::describe::status_line;
use super::target::Target;
use super::{Http, LaneState, Stage};
use crate::record::failure::Failure;
use crate::record::report::Report;

/// A request for a file of a class. Each request draws one of the class's files; all files have the same
/// probability.
#[derive(Debug)]
pub struct FileRequest {
    /// Numbers of the class's files in the set.
    pub(super) files: Range<u64>,
    /// Whether the request goes to the target's secure endpoint.
    pub(super) secure: bool,
    before_path: Vec<u8>,
    after_path: Vec<u8>,
}

/// The file that a lane has requested.
#[derive(Debug, Default)]
pub(super) struct AskedFile {
    number: u64,
    /// Compares the content.
    checker: Option<Checker>,
}

impl FileRequest {
    /// A request for one of these files; `lines` are a scenario's header lines.
    pub(super) fn new(files: Range<u64>, secure: bool, lines: &str, target: &Target) -> Self {
        Self {
            files,
            secure,
            before_path: format!("GET {}", target.base_path).into_bytes(),
            after_path: format!("{}{lines}\r\n", target.head_lines(secure)).into_bytes(),
        }
    }
}

impl AskedFile {
    #[inline]
    pub(super) fn feed(&mut self, bytes: &[u8], copies: Option<&Copies>) {
        if let Some(checker) = &mut self.checker {
            checker.feed_beside(bytes, copies.and_then(|copies| copies.get(self.number)));
        }
    }
}

impl Http {
    #[inline]
    pub(super) fn encode_file(&mut self, request: &FileRequest, lane: &mut LaneState, out: &mut Vec<u8>) {
        lane.stage = Stage::Head;
        let number = self.rng.u64(request.files.clone());
        // The compiler has checked that the set has this file.
        let Some(file) = self.shared.files.as_deref().and_then(|set| set.file(number)) else { return };
        out.extend_from_slice(&request.before_path);
        file.write_path(out);
        out.extend_from_slice(&request.after_path);
        if let Some(copies) = self.shared.copies.as_deref() {
            copies.keep(number, &file);
        }
        lane.file = AskedFile { number, checker: Some(file.checker()) };
    }

    /// The failure of an answer whose bytes have been compared.
    #[inline]
    pub(super) fn judge_file(&self, lane: &LaneState, length: u64) -> Option<Failure> {
        if lane.status != 200 {
            return Some(Failure::Status(lane.status));
        }
        let checker = lane.file.checker.as_ref()?;
        if length != checker.size() {
            return Some(Failure::WrongLength);
        }
        (self.shared.verify && checker.finish().is_some()).then_some(Failure::WrongAnswer)
    }

    /// Describes the request in flight by its method and path, and its answer.
    pub(super) fn report_file(&self, file: &FileRequest, lane: &LaneState, answer: Option<&[u8]>) -> Report {
        let mut line = file.before_path.clone();
        if let Some(file) = self.shared.files.as_deref().and_then(|set| set.file(lane.file.number)) {
            file.write_path(&mut line);
        }
        let mut report = Report { request: String::from_utf8_lossy(&line).into_owned(), ..Report::default() };
        (report.user, report.iteration) = lane.visit.memory.data.user_and_iteration();
        if let Some(answer) = answer {
            report.answered(status_line(answer, lane.status), lane.status);
            if lane.status != 200 {
                report.answer.push_str(", expected 200");
            } else if let Some(checker) = lane.file.checker.as_ref().filter(|_| self.shared.verify) {
                let (length, size) = (lane.visit.length, checker.size());
                if length != size {
                    report.answer.push_str(&format!(", {length} bytes, expected {size}"));
                } else if let Some(place) = checker.finish() {
                    report.answer.push_str(&format!(", byte {place} is not that of the file"));
                }
            }
        }
        report
    }
}
