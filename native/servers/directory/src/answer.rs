//! The final answers of operations.

use wire::ldap::answer::{Verdict, write_extended, write_result};
use wire::ldap::{ResultCode, oid, op};

use crate::store::Refusal;

/// Appends a success without a matched DN or a diagnostic.
#[inline]
pub(crate) fn success(out: &mut Vec<u8>, id: i32, tag: u8) {
    // A fast path: most clients number their messages from one, and every lookup ends with this answer.
    if let Ok(id @ 0..=0x7f) = u8::try_from(id) {
        out.extend_from_slice(&[0x30, 0x0c, 0x02, 0x01, id, tag, 0x07, 0x0a, 0x01, 0, 0x04, 0, 0x04, 0]);
    } else {
        write_result(out, id, tag, &Verdict::SUCCESS);
    }
}

/// Appends a result with an explanation.
pub(crate) fn result(out: &mut Vec<u8>, id: i32, tag: u8, code: ResultCode, diagnostic: &str) {
    write_result(out, id, tag, &verdict(code, diagnostic));
}

/// Appends the store's refusal.
pub(crate) fn refusal(out: &mut Vec<u8>, id: i32, tag: u8, refusal: &Refusal) {
    write_result(out, id, tag, &refused(refusal));
}

/// Appends a success, or the refusal.
pub(crate) fn outcome<T>(out: &mut Vec<u8>, id: i32, tag: u8, outcome: Result<T, Refusal>) {
    match outcome {
        Ok(_) => success(out, id, tag),
        Err(error) => refusal(out, id, tag, &error),
    }
}

/// A result without a matched DN.
pub(crate) fn verdict(code: ResultCode, diagnostic: &str) -> Verdict<'_> {
    Verdict { code, matched_dn: b"", diagnostic: shortened(diagnostic).as_bytes() }
}

/// The result for a refusal.
pub(crate) fn refused(refusal: &Refusal) -> Verdict<'_> {
    Verdict { matched_dn: &refusal.matched_dn, ..verdict(refusal.code, &refusal.diagnostic) }
}

/// The most bytes of a diagnostic. A diagnostic may repeat bytes of the request, so its length needs a bound.
const DIAGNOSTIC_BYTES: usize = 256;

/// The beginning of a text, short enough for a diagnostic.
fn shortened(text: &str) -> &str {
    let end = (0..=DIAGNOSTIC_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}

/// Appends the notice of disconnection (RFC 4511 section 4.4.1).
pub(crate) fn notice(out: &mut Vec<u8>, code: ResultCode, why: &str) {
    write_extended(out, 0, &verdict(code, why), Some(oid::NOTICE_OF_DISCONNECTION), None);
}

/// The tag of the answer to the request with this tag; `None` for a request that is not answered.
pub(crate) const fn tag_for(request: u8) -> Option<u8> {
    Some(match request {
        op::BIND_REQUEST => op::BIND_RESPONSE,
        op::SEARCH_REQUEST => op::SEARCH_DONE,
        op::MODIFY_REQUEST => op::MODIFY_RESPONSE,
        op::ADD_REQUEST => op::ADD_RESPONSE,
        op::DELETE_REQUEST => op::DELETE_RESPONSE,
        op::MODIFY_DN_REQUEST => op::MODIFY_DN_RESPONSE,
        op::COMPARE_REQUEST => op::COMPARE_RESPONSE,
        op::EXTENDED_REQUEST => op::EXTENDED_RESPONSE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_path_for_success_writes_the_same_bytes_as_the_general_writer() {
        for id in [1, 127, 128, 70_000] {
            let (mut short, mut long) = (Vec::new(), Vec::new());
            success(&mut short, id, op::SEARCH_DONE);
            write_result(&mut long, id, op::SEARCH_DONE, &Verdict::SUCCESS);
            assert_eq!(short, long, "{id}");
        }
    }
}
