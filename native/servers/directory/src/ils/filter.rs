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
    use wire::ldap::filter_text::parse;

    fn encoded(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        parse(text, &mut out).unwrap();
        out
    }

    #[test]
    fn the_sttl_term_is_removed_and_a_percent_sign_is_a_wildcard() {
        for (text, ttl_s, after) in [
            ("(&(cn=ann)(sTTL=10))", Some(600), "(&(cn=ann)(&))"),
            ("(cn=%)", None, "(cn=*)"),
            ("(cn=a%)", None, "(cn=a*)"),
            ("(cn=%a)", None, "(cn=*a)"),
            ("(cn=a%b%%c)", None, "(cn=a*b*c)"),
            ("(!(sn=x))", None, "(!(sn=x))"),
        ] {
            let (before, mut out) = (encoded(text), Vec::new());
            assert_eq!(
                rewrite(Filter::decode(&mut Reader::new(&before)).unwrap(), &mut out),
                ttl_s,
                "{text}"
            );
            assert_eq!(out, encoded(after), "{text}");
        }
    }
}
