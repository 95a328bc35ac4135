//! The output of a program, or the reason why there is none.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::header::{Header, HeaderError};

/// A failed request for a program; the server answers with a status.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("there is no such program")]
    NotFound,
    #[error("the file is not an executable program")]
    NotExecutable,
    #[error("the program cannot be started: {0}")]
    NotStarted(io::Error),
    #[error("the program ran for longer than {0} ms (cgi_ms) and was killed")]
    Hung(u64),
    #[error("the program wrote more than {0} bytes (cgi_output_bytes) and was killed")]
    TooMuch(usize),
    #[error("the program died of signal {0}")]
    Died(i32),
    #[error("the program wrote {0}")]
    BadHeader(#[from] HeaderError),
    #[error("the program wrote {written} bytes behind a Content-Length of {declared}")]
    OtherLength { declared: usize, written: usize },
    #[error("the server lost track of the program: {0}")]
    System(#[from] io::Error),
    #[error("too many requests wait for programs, try again later")]
    Busy,
    #[error("the client had gone before the program's turn came")]
    Abandoned,
}

impl Fault {
    pub(crate) const fn status(&self) -> &'static str {
        match self {
            Self::NotFound => "404 Not Found",
            Self::NotExecutable => "403 Forbidden",
            Self::Hung(_) => "504 Gateway Timeout",
            Self::TooMuch(_)
            | Self::Died(_)
            | Self::BadHeader(_)
            | Self::OtherLength { .. }
            | Self::NotStarted(_) => "502 Bad Gateway",
            Self::System(_) => "500 Internal Server Error",
            Self::Busy | Self::Abandoned => "503 Service Unavailable",
        }
    }
}

/// The limit of the buffered output of all programs together.
#[derive(Debug)]
pub(super) struct Budget {
    held: AtomicUsize,
    most: usize,
}

impl Budget {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { held: AtomicUsize::new(0), most })
    }
}

/// The buffered output of a program, which counts against the budget.
#[derive(Debug)]
pub(super) struct Written {
    bytes: Vec<u8>,
    most: usize,
    budget: Arc<Budget>,
}

impl Written {
    /// Empty output, of at most `most` bytes.
    pub(super) const fn new(most: usize, budget: Arc<Budget>) -> Self {
        Self { bytes: Vec::new(), most, budget }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(Fault::TooMuch(self.most));
        }
        // Relaxed: no other data depends on the sum. Bytes are added before the test, so that the limit is
        // never exceeded.
        if self.budget.held.fetch_add(bytes.len(), Relaxed) + bytes.len() > self.budget.most {
            self.budget.held.fetch_sub(bytes.len(), Relaxed);
            return Err(Fault::Busy);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        // Relaxed: no other data depends on the sum.
        self.budget.held.fetch_sub(self.bytes.len(), Relaxed);
    }
}

#[derive(Debug)]
pub(crate) struct Output {
    header: Header,
    written: Written,
}

impl Output {
    /// Parses the header in the output of a program that has ended.
    pub(super) fn read(written: Written) -> Result<Self, Fault> {
        let header = Header::read(&written.bytes)?;
        let output = Self { header, written };
        let written = output.written.bytes.len() - output.header.bytes;
        match output.header.length {
            Some(declared) if declared != written => Err(Fault::OtherLength { declared, written }),
            _ => Ok(output),
        }
    }

    pub(crate) fn status(&self) -> &str {
        &self.header.status
    }

    /// Header lines, each with its line ending.
    pub(crate) fn lines(&self) -> &[u8] {
        &self.header.lines
    }

    /// The document; `None` if the status allows none.
    pub(crate) fn document(&self) -> Option<&[u8]> {
        let document = self.written.bytes.get(self.header.bytes..).unwrap_or_default();
        (!self.header.is_bodiless()).then_some(document)
    }
}
