//! Filters of ILS clients, rewritten to the filters of RFC 4511.

use wire::ldap::filter::{self, Filter, Kind};

use super::{STTL, seconds};

/// Appends the filter with `%` as the wildcard and without the time to live. Returns the time to live in
/// seconds that the filter asks for.
pub(super) fn rewrite(filter: Filter<'_>, out: &mut Vec<u8>) -> Option<u32> {
    let mut ttl_s = None;
    write(filter, &mut ttl_s, out);
    ttl_s
}

fn write(filter: Filter<'_>, ttl_s: &mut Option<u32>, out: &mut Vec<u8>) {
    match filter.kind() {
        Kind::And(filters) => filter::write_and(out, |out| {
            filters.iter().for_each(|filter| write(filter, ttl_s, out));
        }),
        Kind::Or(filters) => filter::write_or(out, |out| {
            filters.iter().for_each(|filter| write(filter, ttl_s, out));
        }),
        Kind::Not(filter) => filter::write_not(out, |out| write(filter, ttl_s, out)),
        // This term is a command and not a condition: it becomes an And without operands, which is true (RFC
        // 4526).
        Kind::Equality(assertion) if assertion.attribute.eq_ignore_ascii_case(STTL) => {
            *ttl_s = seconds(assertion.value).or(*ttl_s);
            filter::write_and(out, |_| {});
        }
        Kind::Equality(assertion) if assertion.value.contains(&b'%') => {
            write_wildcard(assertion.attribute, assertion.value, out);
        }
        _ => {
            let element = filter.element();
            wire::ber::write_element(out, element.tag, element.value);
        }
    }
}

/// `a%b` becomes `a*b`; `%` alone becomes a test for presence.
fn write_wildcard(attribute: &[u8], value: &[u8], out: &mut Vec<u8>) {
    if value.iter().all(|byte| *byte == b'%') {
        filter::write_present(out, attribute);
        return;
    }
    filter::write_substrings(out, attribute, filter::pieces(value.split(|byte| *byte == b'%')));
}

/// Whether a filter contains the complete name of a user, so that it matches at most one user.
pub(super) fn names_one(filter: Filter<'_>) -> bool {
    match filter.kind() {
        Kind::And(filters) => filters.iter().any(names_one),
        Kind::Equality(assertion) => assertion.attribute.eq_ignore_ascii_case(b"cn"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::ber::Reader;
    use wire::ldap::filter::Piece;

    fn rewritten(write: impl FnOnce(&mut Vec<u8>)) -> (Option<u32>, Vec<u8>) {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        write(&mut before);
        let filter = Filter::decode(&mut Reader::new(&before)).unwrap();
        let ttl_s = rewrite(filter, &mut after);
        Filter::decode(&mut Reader::new(&after)).unwrap();
        (ttl_s, after)
    }

    fn bytes(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    #[test]
    fn the_sttl_term_is_removed_from_the_filter_and_returned_in_seconds() {
        let (ttl_s, after) = rewritten(|out| {
            filter::write_and(out, |out| {
                filter::write_equality(out, b"cn", b"ann");
                filter::write_equality(out, b"sTTL", b"10");
            });
        });
        assert_eq!(ttl_s, Some(600));
        let expected = bytes(|out| {
            filter::write_and(out, |out| {
                filter::write_equality(out, b"cn", b"ann");
                filter::write_and(out, |_| {});
            });
        });
        assert_eq!(after, expected);
    }

    #[test]
    fn a_percent_sign_in_a_filter_is_a_wildcard() {
        let wild = |value: &[u8]| rewritten(|out| filter::write_equality(out, b"cn", value)).1;
        assert_eq!(wild(b"%"), bytes(|out| filter::write_present(out, b"cn")));
        let pieces =
            |pieces: &[Piece<'_>]| bytes(|out| filter::write_substrings(out, b"cn", pieces.iter().copied()));
        assert_eq!(wild(b"a%"), pieces(&[Piece::Initial(b"a")]));
        assert_eq!(wild(b"%a"), pieces(&[Piece::Final(b"a")]));
        assert_eq!(wild(b"a%b%%c"), pieces(&[Piece::Initial(b"a"), Piece::Any(b"b"), Piece::Final(b"c")]));
    }

    #[test]
    fn a_filter_without_sttl_and_percent_is_unchanged() {
        let plain = bytes(|out| filter::write_not(out, |out| filter::write_equality(out, b"sn", b"x")));
        assert_eq!(rewritten(|out| out.extend_from_slice(&plain)), (None, plain.clone()));
    }
}
