//! Errors of LDIF files.

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LdifError {
    /// The number of the line, from 1. For a folded line, the number of its first line.
    pub line: u64,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("starts with a space, which continues a line, but there is none to continue")]
    ContinuesNothing,
    #[error("the record is longer than {max} bytes; is this LDIF?", max = super::MAX_RECORD_BYTES)]
    TooLong,
    #[error("version {0:?}; only version 1 is defined (RFC 2849)")]
    Version(String),
    #[error("{0:?} is not 'attribute: value'")]
    NotAttributeValue(String),
    #[error("the value of {0} is not base64, as its '::' says; write ':' for plain text")]
    NotBase64(String),
    #[error("{0}:< would read another file, which is refused; put the value here, in base64 after '::'")]
    Url(String),
    #[error("a record starts with 'dn:', not with {0:?} (ldapsearch -LLL leaves its own lines out)")]
    NoName(String),
    #[error("controls are not supported; take the 'control:' line out")]
    Control,
    #[error("no attributes follow the name")]
    Empty,
    /// A line after the complete content of its record.
    #[error("{0:?} has no place in this record; an empty line ends a record")]
    Unexpected(String),
}

impl Problem {
    pub(super) const fn at(self, line: u64) -> LdifError {
        LdifError { line, problem: self }
    }
}
