//! Checks the syntax of values (RFC 4517 section 3.3). Numbers, truth values and times are valid if their
//! matching rule has a normal form of the value.

use wire::dn::Dn;

use crate::schema::{Matching, Schema, Syntax};

impl Syntax {
    /// Whether `value` may be stored.
    #[inline]
    pub fn accepts(self, schema: &Schema, value: &[u8], buffer: &mut Vec<u8>) -> bool {
        let mut has_form = |matching: Matching| {
            buffer.clear();
            matching.normalise(schema, value, buffer)
        };
        match self {
            Self::Anything => true,
            Self::NotEmpty => !value.is_empty(),
            Self::Integer => has_form(Matching::Integer),
            Self::Boolean => has_form(Matching::Boolean),
            Self::GeneralizedTime => has_form(Matching::GeneralizedTime),
            Self::Name => Dn::parse(value).is_ok(),
            Self::NumericString => {
                !value.is_empty() && value.iter().all(|byte| byte.is_ascii_digit() || *byte == b' ')
            }
        }
    }
}
