//! Attribute types and object classes as a schema holds them.

use super::AttributeId;
use super::matching_rule::MatchingRule;
use super::syntax::Syntax;

/// What an attribute is for (RFC 4512 section 4.1.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    UserApplications,
    DirectoryOperation,
    DistributedOperation,
    DsaOperation,
}

/// An attribute type; what it inherits is filled in.
#[derive(Debug, Clone)]
pub struct AttributeType {
    /// Its object identifier; undeclared types have none but their name.
    pub oid: String,
    /// Its names, the canonical one first.
    pub names: Vec<String>,
    pub description: Option<String>,
    /// The type it is a subtype of.
    pub superior: Option<AttributeId>,
    /// When two values are equal; without it equality filters are undefined.
    pub equality: Option<&'static MatchingRule>,
    /// Which value comes first.
    pub ordering: Option<&'static MatchingRule>,
    pub substrings: Option<&'static MatchingRule>,
    /// The identifier of its syntax.
    pub syntax_oid: String,
    /// What is checked of its values.
    pub syntax: Syntax,
    /// Whether an entry has one value at most.
    pub single_valued: bool,
    /// Whether only the server writes it.
    pub read_only: bool,
    /// Whether it is computed when it is asked for and never stored.
    pub computed: bool,
    pub usage: Usage,
    /// Whether a schema names it; otherwise an entry brought it along.
    pub declared: bool,
}

impl AttributeType {
    /// The spelling that entries are stored with.
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }
}

/// The kinds of object classes (RFC 4512 section 2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassKind {
    Abstract,
    Structural,
    Auxiliary,
}

/// An object class.
#[derive(Debug, Clone)]
pub struct ObjectClass {
    pub oid: String,
    /// Its names, the canonical one first.
    pub names: Vec<String>,
    pub description: Option<String>,
    /// The classes it derives from, as the definition spells them.
    pub superiors: Vec<String>,
    pub kind: ClassKind,
    /// Attributes that its entries have.
    pub must: Vec<String>,
    /// Attributes that its entries may have.
    pub may: Vec<String>,
}

impl ObjectClass {
    /// The canonical name.
    pub fn name(&self) -> &str {
        self.names.first().unwrap_or(&self.oid)
    }
}
