//! Attribute types and object classes of a schema.

use super::AttributeId;
use super::matching_rule::{Matching, MatchingRule};
use super::syntax::Syntax;

/// The usage of an attribute (RFC 4512 section 4.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    UserApplications,
    DirectoryOperation,
    DistributedOperation,
    DsaOperation,
}

/// An attribute type; inherited properties are filled in.
#[derive(Debug, Clone)]
pub struct AttributeType {
    /// The object identifier. Undeclared types have a name only.
    pub oid: String,
    /// The canonical name first.
    pub names: Vec<String>,
    pub description: Option<String>,
    /// The supertype.
    pub superior: Option<AttributeId>,
    /// Without a rule, equality filters are undefined.
    pub equality: Option<&'static MatchingRule>,
    pub ordering: Option<&'static MatchingRule>,
    pub substrings: Option<&'static MatchingRule>,
    pub syntax_oid: String,
    /// The check of values.
    pub syntax: Syntax,
    /// Whether an entry has at most one value.
    pub single_valued: bool,
    /// Whether only the server writes the attribute.
    pub read_only: bool,
    /// Whether the attribute is computed on request and never stored.
    pub computed: bool,
    pub usage: Usage,
    /// Whether a schema defines the type; otherwise an entry has declared it.
    pub declared: bool,
}

impl AttributeType {
    /// The spelling in stored entries.
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }

    /// The rule by which values of an entry are equal.
    pub(crate) fn matching(&self) -> Matching {
        self.equality.map_or(Matching::OctetString, |rule| rule.matching)
    }
}

/// The kinds of object classes (RFC 4512 section 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    Abstract,
    Structural,
    Auxiliary,
}

#[derive(Debug, Clone)]
pub struct ObjectClass {
    pub oid: String,
    /// The canonical name first.
    pub names: Vec<String>,
    pub description: Option<String>,
    /// The superclasses, as the definition spells them.
    pub superiors: Vec<String>,
    pub kind: ClassKind,
    /// Attributes that entries of the class must have.
    pub must: Vec<String>,
    /// Attributes that entries of the class may have.
    pub may: Vec<String>,
}

impl ObjectClass {
    /// The canonical name.
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }
}
