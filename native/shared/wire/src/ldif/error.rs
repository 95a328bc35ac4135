//! What can be wrong with LDIF.

/// Something wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LdifError {
    /// The line, counted from 1; of a folded line the first.
    pub line: u64,
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A line that starts with a space and follows none.
    #[error("starts with a space, which continues a line, but there is none to continue")]
    ContinuesNothing,
    #[error("the record is longer than {max} bytes; is this LDIF?", max = super::MAX_RECORD_BYTES)]
    TooLong,
    #[error("version {0:?}; only version 1 is defined (RFC 2849)")]
    Version(String),
    /// No colon after an attribute description.
    #[error("{0:?} is not 'attribute: value'")]
    NotAttributeValue(String),
    /// The text after `::` is not base64.
    #[error("the value of {0} is not base64, as its '::' says; write ':' for plain text")]
    NotBase64(String),
    #[error("{0}:< would read another file, which is refused; put the value here, in base64 after '::'")]
    Url(String),
    /// A record that does not start with its name.
    #[error("a record starts with 'dn:', not with {0:?} (ldapsearch -LLL leaves its own lines out)")]
    NoName(String),
    #[error("controls are not supported; take the 'control:' line out")]
    Control,
    #[error("no attributes follow the name")]
    Empty,
    /// Something after all that the record can have.
    #[error("{0:?} has no place in this record; an empty line ends a record")]
    Unexpected(String),
}

impl Problem {
    pub(super) const fn at(self, line: u64) -> LdifError {
        LdifError { line, problem: self }
    }
}
