//! The matching rules (RFC 4517 section 4) by name and identifier, as the subschema lists them.
//! [`crate::matching`] implements them.

use super::syntax::UUID;

macro_rules! syntax {
    (uuid) => {
        UUID
    };
    ($last:literal) => {
        concat!("1.3.6.1.4.1.1466.115.121.1.", $last)
    };
}

/// The normalisations of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Matching {
    CaseIgnore,
    CaseExact,
    NumericString,
    TelephoneNumber,
    Integer,
    DistinguishedName,
    Boolean,
    GeneralizedTime,
    OctetString,
    ObjectIdentifier,
    Uuid,
    /// objectCategory is compared by the name of the category, or of a class in the category (MS-ADTS section
    /// 3.1.1.3.1.3.5).
    Category,
    /// objectSid is compared as bytes. A filter may also have the form `S-1-5-21-1-2-3-1000` (MS-ADTS section
    /// 3.1.1.3.1.3.5).
    Sid,
}

/// The use of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `(attribute=value)`
    Equality,
    /// `(attribute>=value)`. In an extensible match, true for values that are less than the assertion (RFC
    /// 4517 section 4.1).
    Ordering,
    /// `(attribute=initial*any*final)`
    Substrings,
    /// True for numbers that have all bits of the asserted number.
    BitAnd,
    /// True for numbers that have any bit of the asserted number.
    BitOr,
}

/// Active Directory's rule for members of nested groups (MS-ADTS section 3.1.1.3.4.4.3).
pub(crate) const IN_CHAIN: &[u8] = b"1.2.840.113556.1.4.1941";

/// The rule of objectCategory. No client names this rule.
pub(super) static CATEGORY_RULE: MatchingRule = MatchingRule {
    oid: "2.5.13.1",
    name: "distinguishedNameMatch",
    syntax: syntax!(12),
    matching: Matching::Category,
    role: Role::Equality,
};

/// The rule of objectSid. No client names this rule.
pub(super) static SID_RULE: MatchingRule = MatchingRule {
    oid: "2.5.13.17",
    name: "octetStringMatch",
    syntax: syntax!(40),
    matching: Matching::Sid,
    role: Role::Equality,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MatchingRule {
    pub oid: &'static str,
    pub name: &'static str,
    /// The identifier of the assertion's syntax.
    pub syntax: &'static str,
    pub matching: Matching,
    pub role: Role,
}

/// The rule with this name (ignoring case) or identifier.
pub fn rule(name: &[u8]) -> Option<&'static MatchingRule> {
    MATCHING_RULES
        .iter()
        .find(|rule| name.eq_ignore_ascii_case(rule.name.as_bytes()) || name == rule.oid.as_bytes())
}

macro_rules! rules {
    ($($oid:literal $name:ident $syntax:tt $role:ident $matching:ident;)*) => {
        &[$(MatchingRule {
            oid: $oid,
            name: stringify!($name),
            syntax: syntax!($syntax),
            matching: Matching::$matching,
            role: Role::$role,
        },)*]
    };
}

/// RFC 4517 section 4.2, RFC 4530, and Active Directory's bit rules under OpenLDAP's names. Lists and first
/// components are compared as the strings in which they are written.
pub const MATCHING_RULES: &[MatchingRule] = rules! {
    "2.5.13.0" objectIdentifierMatch 38 Equality ObjectIdentifier;
    "2.5.13.1" distinguishedNameMatch 12 Equality DistinguishedName;
    "2.5.13.2" caseIgnoreMatch 15 Equality CaseIgnore;
    "2.5.13.3" caseIgnoreOrderingMatch 15 Ordering CaseIgnore;
    "2.5.13.4" caseIgnoreSubstringsMatch 58 Substrings CaseIgnore;
    "2.5.13.5" caseExactMatch 15 Equality CaseExact;
    "2.5.13.6" caseExactOrderingMatch 15 Ordering CaseExact;
    "2.5.13.7" caseExactSubstringsMatch 58 Substrings CaseExact;
    "2.5.13.8" numericStringMatch 36 Equality NumericString;
    "2.5.13.9" numericStringOrderingMatch 36 Ordering NumericString;
    "2.5.13.10" numericStringSubstringsMatch 58 Substrings NumericString;
    "2.5.13.11" caseIgnoreListMatch 41 Equality CaseIgnore;
    "2.5.13.12" caseIgnoreListSubstringsMatch 58 Substrings CaseIgnore;
    "2.5.13.13" booleanMatch 7 Equality Boolean;
    "2.5.13.14" integerMatch 27 Equality Integer;
    "2.5.13.15" integerOrderingMatch 27 Ordering Integer;
    "2.5.13.16" bitStringMatch 6 Equality OctetString;
    "2.5.13.17" octetStringMatch 40 Equality OctetString;
    "2.5.13.18" octetStringOrderingMatch 40 Ordering OctetString;
    "2.5.13.20" telephoneNumberMatch 50 Equality TelephoneNumber;
    "2.5.13.21" telephoneNumberSubstringsMatch 58 Substrings TelephoneNumber;
    "2.5.13.23" uniqueMemberMatch 34 Equality DistinguishedName;
    "2.5.13.27" generalizedTimeMatch 24 Equality GeneralizedTime;
    "2.5.13.28" generalizedTimeOrderingMatch 24 Ordering GeneralizedTime;
    "2.5.13.29" integerFirstComponentMatch 27 Equality OctetString;
    "2.5.13.30" objectIdentifierFirstComponentMatch 38 Equality OctetString;
    "1.3.6.1.4.1.1466.109.114.1" caseExactIA5Match 26 Equality CaseExact;
    "1.3.6.1.4.1.1466.109.114.2" caseIgnoreIA5Match 26 Equality CaseIgnore;
    "1.3.6.1.4.1.1466.109.114.3" caseIgnoreIA5SubstringsMatch 58 Substrings CaseIgnore;
    "1.3.6.1.1.16.2" UUIDMatch uuid Equality Uuid;
    "1.3.6.1.1.16.3" UUIDOrderingMatch uuid Ordering Uuid;
    "1.2.840.113556.1.4.803" integerBitAndMatch 27 BitAnd Integer;
    "1.2.840.113556.1.4.804" integerBitOrMatch 27 BitOr Integer;
};
