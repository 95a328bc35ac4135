//! The syntaxes (RFC 4517 section 3.3).

/// The common prefix of the identifiers in [`SYNTAXES`].
pub const ARC: &str = "1.3.6.1.4.1.1466.115.121.1.";

/// The syntax whose values are UUIDs (RFC 4530), outside [`ARC`].
pub const UUID: &str = "1.3.6.1.1.16.1";

/// The check of values. Text is not checked: old clients send ISO-8859-1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    Anything,
    NotEmpty,
    /// A whole number of any size.
    Integer,
    /// TRUE or FALSE.
    Boolean,
    Name,
    GeneralizedTime,
    /// Digits and spaces.
    NumericString,
}

/// The last number of each identifier, and the description of RFC 4517 appendix A or RFC 2252.
pub const SYNTAXES: &[(u32, &str)] = &[
    (3, "Attribute Type Description"),
    (4, "Audio"),
    (5, "Binary"),
    (6, "Bit String"),
    (7, "Boolean"),
    (8, "Certificate"),
    (9, "Certificate List"),
    (10, "Certificate Pair"),
    (11, "Country String"),
    (12, "DN"),
    (14, "Delivery Method"),
    (15, "Directory String"),
    (16, "DIT Content Rule Description"),
    (17, "DIT Structure Rule Description"),
    (21, "Enhanced Guide"),
    (22, "Facsimile Telephone Number"),
    (23, "Fax"),
    (24, "Generalized Time"),
    (25, "Guide"),
    (26, "IA5 String"),
    (27, "INTEGER"),
    (28, "JPEG"),
    (30, "Matching Rule Description"),
    (31, "Matching Rule Use Description"),
    (34, "Name And Optional UID"),
    (35, "Name Form Description"),
    (36, "Numeric String"),
    (37, "Object Class Description"),
    (38, "OID"),
    (39, "Other Mailbox"),
    (40, "Octet String"),
    (41, "Postal Address"),
    (44, "Printable String"),
    (45, "Subtree Specification"),
    (50, "Telephone Number"),
    (51, "Teletex Terminal Identifier"),
    (52, "Telex Number"),
    (53, "UTC Time"),
    (54, "LDAP Syntax Description"),
    (58, "Substring Assertion"),
];

impl Syntax {
    /// The check for a syntax's identifier.
    pub fn of(oid: &str) -> Self {
        match oid.strip_prefix(ARC).and_then(|last| last.parse().ok()) {
            Some(7) => Self::Boolean,
            Some(12) => Self::Name,
            Some(24) => Self::GeneralizedTime,
            Some(27) => Self::Integer,
            Some(36) => Self::NumericString,
            Some(11 | 15 | 38 | 44 | 50) => Self::NotEmpty,
            _ => Self::Anything,
        }
    }
}
