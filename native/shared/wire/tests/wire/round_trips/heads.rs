//! HTTP heads built from parts decode to the same parts, and are incomplete before the last byte.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::http::{Framing, RequestHead, ResponseHead};

/// Header lines without a meaning for the decoder.
fn others() -> impl Strategy<Value = Vec<String>> {
    vec("X-[A-Za-z0-9-]{1,8}: ?[!-~]([ -~]{0,10}[!-~])?", 0..4)
}

fn head(first: &str, some: &[Option<String>], others: &[String]) -> String {
    let lines: Vec<&str> = some.iter().flatten().chain(others).map(String::as_str).collect();
    format!("{first}\r\n{}\r\n", lines.iter().map(|line| format!("{line}\r\n")).collect::<String>())
}

proptest! {
    #[test]
    fn a_request_head_decodes_to_its_parts(
        method in "[A-Z]{1,7}", path in "/[a-z0-9/.%-]{0,20}", query in option::of("[a-z0-9=&%?]{0,20}"),
        cookies in option::of("[a-z]{1,5}=[a-z0-9]{1,9}"), length in option::of(any::<u32>()), close: bool,
        others in others(), body in vec(any::<u8>(), 0..20),
    ) {
        let target = query.as_ref().map_or(path.clone(), |query| format!("{path}?{query}"));
        let some = [
            cookies.as_ref().map(|cookies| format!("Cookie: {cookies}")),
            length.map(|length| format!("content-length: {length}")),
            close.then(|| "Connection: close".to_owned()),
        ];
        let head = head(&format!("{method} {target} HTTP/1.1"), &some, &others);
        let bytes = [head.as_bytes(), &body].concat();
        let read = RequestHead::decode(&bytes).unwrap().unwrap();
        prop_assert_eq!((read.method, read.path, read.query), (&*method, &*path, query.as_deref().unwrap_or_default()));
        prop_assert_eq!(read.cookies, cookies.as_deref().unwrap_or_default().as_bytes());
        prop_assert_eq!((read.keep_alive, read.length), (!close, head.len()));
        prop_assert_eq!(read.framing, Framing::Length(length.unwrap_or(0).into()));
        for end in 0..head.len() {
            prop_assert!(RequestHead::decode(&bytes[..end]).unwrap().is_none(), "{} of {}", end, head.len());
        }
    }

    #[test]
    fn a_response_head_decodes_to_its_parts(
        status in 200u16..600, reason in "[A-Za-z ]{0,12}", cookie in option::of("[a-z]{1,5}=[a-z0-9]{1,9}"),
        location in option::of("/[a-z/]{0,9}"), length: u32, others in others(),
    ) {
        let some = [
            cookie.as_ref().map(|cookie| format!("Set-Cookie: {cookie}")),
            location.as_ref().map(|location| format!("Location: {location}")),
            Some(format!("Content-Length: {length}")),
        ];
        let head = head(&format!("HTTP/1.1 {status} {reason}"), &some, &others);
        let read = ResponseHead::decode(head.as_bytes(), false).unwrap().unwrap();
        prop_assert_eq!((read.status, read.length, read.keep_alive), (status, head.len(), true));
        prop_assert_eq!(read.set_cookie, cookie.as_deref().map(str::as_bytes));
        prop_assert_eq!(read.location, location.as_deref().map(str::as_bytes));
        let bodiless = matches!(status, 204 | 304);
        prop_assert_eq!(read.framing, Framing::Length(if bodiless { 0 } else { length.into() }));
        for end in 0..head.len() {
            prop_assert!(ResponseHead::decode(&head.as_bytes()[..end], false).unwrap().is_none());
        }
    }
}
