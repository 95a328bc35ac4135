//! HTTP as the site reads requests and lanes read answers: a head, then a body in pieces.

use wire::http::{
    Body, Framing, HeadError, MAX_HEAD_BYTES, MAX_TARGET_BYTES, Origin, RequestHead, ResponseHead, cookie,
    locate, query,
};

pub(crate) fn requests(bytes: &[u8]) {
    let whole = RequestHead::decode(bytes);
    no_head_in_less(bytes, |part| RequestHead::decode(part).map(|head| head.map(|head| head.length)));
    let Ok(Some(head)) = whole else { return };
    assert!(!head.method.is_empty() && head.length <= bytes.len());
    assert!(!head.path.contains(['\r', '\n', ' ', '?']) && !head.query.contains(['\r', '\n', ' ']));
    if let Some(value) = cookie(head.cookies, b"user") {
        assert!(!value.contains(&b';') && !value.contains(&b'\n'));
    }
    if let Some(value) = query(head.query.as_bytes(), b"user") {
        assert!(!value.contains(&b'&'));
    }
    assert!(!matches!(head.framing, Framing::UntilClose), "a request has an end of its own");
    body(head.framing, bytes.get(head.length..).unwrap_or_default());
}

pub(crate) fn answers(bytes: &[u8]) {
    let whole = ResponseHead::decode(bytes, false);
    no_head_in_less(bytes, |part| ResponseHead::decode(part, false).map(|head| head.map(|head| head.length)));
    let Ok(Some(head)) = whole else { return };
    assert!(head.length <= bytes.len());
    assert!(!head.keep_alive || head.framing != Framing::UntilClose);
    for value in [head.set_cookie, head.location].into_iter().flatten() {
        assert!(!value.contains(&b'\n'));
    }
    body(head.framing, bytes.get(head.length..).unwrap_or_default());
}

/// Asserts that a head is complete with its last byte and incomplete before. `decode` returns its length.
fn no_head_in_less(bytes: &[u8], decode: impl Fn(&[u8]) -> Result<Option<usize>, HeadError>) {
    let Ok(Some(length @ ..=MAX_HEAD_BYTES)) = decode(bytes) else { return };
    let head = bytes.get(..length).unwrap_or_default();
    assert_eq!(decode(head), Ok(Some(length)));
    let before = length.saturating_sub(1);
    assert_eq!(decode(head.get(..before).unwrap_or_default()), Ok(None));
    assert_eq!(decode(head.get(..length / 2).unwrap_or_default()), Ok(None));
}

/// Asserts that the body's content does not depend on how its bytes are split.
fn body(framing: Framing, bytes: &[u8]) {
    let whole = fed(framing, [bytes]);
    let bytewise = fed(framing, bytes.chunks(1));
    let mixed = fed(framing, bytes.chunks(7));
    assert_eq!(whole, bytewise);
    assert_eq!(whole, mixed);
}

/// Returns the body's content up to its end or error, whether the body ended, and whether it has an error.
fn fed<'b>(framing: Framing, pieces: impl IntoIterator<Item = &'b [u8]>) -> (Vec<u8>, bool, bool) {
    let mut body = Body::new(framing);
    let mut content = Vec::new();
    for mut piece in pieces {
        while !piece.is_empty() && !body.is_done() {
            let Ok(progress) = body.feed(piece) else { return (content, false, true) };
            let (start, end) = progress.content;
            assert!(start <= end && end <= progress.consumed && progress.consumed <= piece.len());
            assert!(progress.consumed > 0, "bytes that make no progress");
            content.extend_from_slice(piece.get(start..end).unwrap_or_default());
            piece = piece.get(progress.consumed..).unwrap_or_default();
        }
    }
    (content, body.is_done(), false)
}

/// Follows a chain of redirects: each line is a Location that is resolved against the target before it.
pub(crate) fn locations(bytes: &[u8]) {
    let origin = Origin { secure: bytes.len() % 2 == 1, authority: b"a.example:80" };
    let mut at = b"/".to_vec();
    for location in bytes.split(|&byte| byte == b'\n') {
        let Ok(target) = locate(&at, location, origin) else { continue };
        assert!(target.starts_with(b"/") && target.len() <= MAX_TARGET_BYTES);
        assert!(target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#'), "{target:?}");
        at = target;
    }
}
