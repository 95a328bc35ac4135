//! HTTP/1.1 heads and bodies, byte by byte.

use wire::http::{
    Astray, Body, BodyError, Framing, HeadError, MAX_HEAD_BYTES, MAX_TARGET_BYTES, Origin, RequestHead,
    ResponseHead, cookie, locate, query,
};

const GET: &[u8] = b"GET /page?user=7&x=1 HTTP/1.1\r\nHost: a\r\nCookie: a=b; user=42\r\n\r\nrest";

/// Feeds `bytes` in pieces of `step`; returns the content, the number of bytes consumed, and whether the body
/// ended.
fn receive(framing: Framing, bytes: &[u8], step: usize) -> Result<(Vec<u8>, usize, bool), BodyError> {
    let (mut body, mut content, mut used) = (Body::new(framing), Vec::new(), 0);
    for piece in bytes.chunks(step) {
        let mut piece = piece;
        while !piece.is_empty() && !body.is_done() {
            let progress = body.feed(piece)?;
            content.extend_from_slice(&piece[progress.content.0..progress.content.1]);
            piece = &piece[progress.consumed..];
            used += progress.consumed;
        }
    }
    Ok((content, used, body.is_done()))
}

#[test]
fn a_request_is_read_in_place() {
    let head = RequestHead::decode(GET).unwrap().unwrap();
    assert_eq!((head.method, head.path, head.query), ("GET", "/page", "user=7&x=1"));
    assert_eq!(cookie(head.cookies, b"user"), Some(&b"42"[..]));
    assert_eq!(cookie(head.cookies, b"use"), None);
    assert_eq!(query(head.query.as_bytes(), b"x"), Some(&b"1"[..]));
    assert!(head.keep_alive);
    assert_eq!(head.framing, Framing::Length(0));
    assert_eq!(&GET[head.length..], b"rest");
}

#[test]
fn every_prefix_of_a_head_is_incomplete_not_malformed() {
    for end in 0..GET.len() - 4 {
        assert!(RequestHead::decode(&GET[..end]).unwrap().is_none(), "{end} bytes");
    }
}

#[test]
fn http_1_0_connections_close_without_keep_alive() {
    let closes = RequestHead::decode(b"GET / HTTP/1.0\r\n\r\n").unwrap().unwrap();
    let stays = RequestHead::decode(b"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n").unwrap().unwrap();
    assert_eq!((closes.keep_alive, stays.keep_alive), (false, true));
}

#[test]
fn connection_close_takes_precedence_over_keep_alive() {
    for lines in ["Connection: close, keep-alive", "Connection: close\r\nConnection: keep-alive"] {
        for version in ["1.0", "1.1"] {
            let bytes = format!("GET / HTTP/{version}\r\n{lines}\r\n\r\n");
            assert!(!RequestHead::decode(bytes.as_bytes()).unwrap().unwrap().keep_alive, "{bytes:?}");
        }
    }
}

#[test]
fn a_response_without_a_length_lasts_until_the_connection_closes() {
    let head = ResponseHead::decode(b"HTTP/1.1 200 OK\r\n\r\n", false).unwrap().unwrap();
    assert_eq!((head.framing, head.keep_alive), (Framing::UntilClose, false));
    for lines in ["304 Not Modified", "304 Not Modified\r\nContent-Length: 5", "204 \r\nContent-Length: 5"] {
        let empty = format!("HTTP/1.1 {lines}\r\n\r\n");
        let head = ResponseHead::decode(empty.as_bytes(), false).unwrap().unwrap();
        assert_eq!((head.framing, head.keep_alive), (Framing::Length(0), true), "{lines}");
    }
    let to_head = ResponseHead::decode(b"HTTP/1.1 200 OK\r\n\r\n", true).unwrap().unwrap();
    assert_eq!((to_head.framing, to_head.keep_alive), (Framing::Length(0), true), "no body after HEAD");
}

#[test]
fn a_response_head_exposes_cookie_and_location() {
    let bytes =
        b"HTTP/1.1 302 Found\r\nSet-Cookie: user=9; Path=/\r\nLocation: /page\r\nContent-Length: 0\r\n\r\n";
    let head = ResponseHead::decode(bytes, false).unwrap().unwrap();
    assert_eq!(
        (head.status, head.set_cookie, head.location),
        (302, Some(&b"user=9; Path=/"[..]), Some(&b"/page"[..]))
    );
}

#[test]
fn ambiguous_lengths_that_enable_smuggling_are_refused() {
    let refused = |lines: &str| {
        RequestHead::decode(format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n").as_bytes()).unwrap_err()
    };
    assert_eq!(refused("Content-Length: 3\r\nContent-Length: 4"), HeadError::BadLength);
    assert_eq!(refused("Content-Length: +3"), HeadError::BadLength);
    // RFC 9110 section 8.6 allows accepting or refusing a repeated length. A proxy may read only one of the
    // two numbers as the length.
    assert_eq!(refused("Content-Length: 3, 3"), HeadError::BadLength);
    assert_eq!(refused("Content-Length: 3\r\nContent-Length: 3"), HeadError::Repeated);
    assert_eq!(refused("Content-Length: 3\r\nTransfer-Encoding: chunked"), HeadError::LengthAndCoding);
    assert_eq!(refused("Transfer-Encoding: gzip, chunked"), HeadError::BadCoding);
}

#[test]
fn a_fold_in_a_header_line_of_a_response_is_read_as_spaces() {
    // RFC 9112 section 5.2: a user agent replaces each fold by spaces.
    let folded = b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nConnection:\r\n\tkeep-alive,\r\n close\r\nContent-Length:\r\n 5\r\n\r\n";
    let head = ResponseHead::decode(folded, false).unwrap().unwrap();
    assert_eq!((head.framing, head.keep_alive, head.length), (Framing::Length(5), false, folded.len()));
    // Values that may be sent back contain no line end.
    let folded = b"HTTP/1.1 302 Found\r\nLocation: /a\r\n /b\r\nSet-Cookie: a=1\r\n\tX: y\r\n\r\n";
    let head = ResponseHead::decode(folded, false).unwrap().unwrap();
    assert_eq!((head.location, head.set_cookie), (Some(&b"/a"[..]), Some(&b"a=1"[..])));
    // Two numbers are not one length.
    assert!(ResponseHead::decode(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 6\r\n\r\n", false).is_err());
    // A server refuses folded lines in a request.
    assert!(RequestHead::decode(b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n").is_err());
}

#[test]
fn an_endless_head_is_refused() {
    let mut bytes = b"GET / HTTP/1.1\r\nX: ".to_vec();
    bytes.resize(MAX_HEAD_BYTES + 1, b'a');
    assert_eq!(RequestHead::decode(&bytes).unwrap_err(), HeadError::TooLong);
}

#[test]
fn chunks_are_joined_whatever_the_pieces_in_which_they_arrive() {
    let bytes = b"4\r\nWiki\r\n5;ext=1\r\npedia\r\n0\r\nTrailer: x\r\n\r\nnext";
    for step in 1..bytes.len() {
        let (content, used, done) = receive(Framing::Chunked, bytes, step).unwrap();
        assert_eq!(
            (content.as_slice(), used, done),
            (&b"Wikipedia"[..], bytes.len() - 4, true),
            "pieces of {step}"
        );
    }
}

#[test]
fn a_chunk_longer_than_its_announced_size_is_an_error() {
    assert_eq!(receive(Framing::Chunked, b"2\r\nabc\r\n", 64), Err(BodyError::BadChunkEnd));
    assert_eq!(receive(Framing::Chunked, b"zz\r\n", 64), Err(BodyError::BadChunkSize));
    assert_eq!(receive(Framing::Chunked, b"\r\n", 64), Err(BodyError::BadChunkSize));
    assert_eq!(receive(Framing::Chunked, b"2\r\nab\n", 64), Err(BodyError::BadChunkEnd));
}

#[test]
fn a_chunk_line_ends_only_in_cr_lf() {
    for bytes in [
        &b"2\nab\r\n"[..],
        b"2\rx\r\nab\r\n",
        b"2;a\nb\r\nab\r\n",
        b"2;a\rb\r\nab\r\n",
        b"0\n\r\n",
        b"0\r\n\n",
        b"0\r\nA: b\n\r\n",
        b"0\r\nA: b\rc\r\n\r\n",
    ] {
        for step in [1, 64] {
            let refused = receive(Framing::Chunked, bytes, step);
            assert_eq!(refused, Err(BodyError::BadLineEnd), "{:?}", String::from_utf8_lossy(bytes));
        }
    }
}

#[test]
fn only_an_extension_may_follow_the_size_of_a_chunk() {
    for bytes in [&b"2 x\r\nab\r\n0\r\n\r\n"[..], b"2\tx;y\r\nab\r\n0\r\n\r\n", b"2 2\r\nab\r\n"] {
        assert_eq!(receive(Framing::Chunked, bytes, 64), Err(BodyError::BadChunkSize), "{bytes:?}");
    }
    for bytes in [&b"2 \t\r\nab\r\n0\r\n\r\n"[..], b"2 ;x=y z\r\nab\r\n0\r\n\r\n"] {
        assert_eq!(receive(Framing::Chunked, bytes, 1).unwrap().0, b"ab");
    }
}

#[test]
fn a_truncated_body_with_content_length_is_not_complete() {
    let (content, _, done) = receive(Framing::Length(5), b"abc", 2).unwrap();
    assert_eq!((content.as_slice(), done), (&b"abc"[..], false));
    assert!(!Body::new(Framing::Length(5)).ends_at_close());
    assert!(Body::new(Framing::UntilClose).ends_at_close());
}

const SHOP: Origin<'_> = Origin { secure: false, authority: b"shop.example" };

fn led(location: &str) -> Result<String, Astray> {
    let found = locate(b"/a/b/c?x=/1", location.as_bytes(), SHOP);
    found.map(|target| String::from_utf8_lossy(&target).into_owned())
}

#[test]
fn a_location_is_resolved_by_the_rules_of_rfc_3986() {
    // Mostly the examples of RFC 3986 section 5.4.
    for (location, expected) in [
        ("/", "/"),
        ("g", "/a/b/g"),
        ("./g/", "/a/b/g/"),
        ("g?y=../x", "/a/b/g?y=../x"),
        ("?y", "/a/b/c?y"),
        ("#s", "/a/b/c?x=/1"),
        ("g#s/../x", "/a/b/g"),
        ("..", "/a/"),
        ("../../../../g", "/g"),
        ("/./g/../h/.", "/h/"),
        ("/g:1", "/g:1"),
        ("http://shop.example", "/"),
        ("HTTP://Shop.Example:80/g?y", "/g?y"),
        ("http://shop.example:?y", "/?y"),
        ("//shop.example/../g", "/g"),
        ("/\u{e4} b", "/%C3%A4%20b"),
        ("/.//evil.example/", "//evil.example/"),
    ] {
        assert_eq!(led(location).as_deref(), Ok(expected), "{location}");
    }
    let secure = Origin { secure: true, authority: b"[::1]:443" };
    assert_eq!(locate(b"/", b"https://[::1]/g", secure), Ok(b"/g".to_vec()));
    assert_eq!(locate(b"/", b"http://[::1]/g", secure), Err(Astray::Elsewhere));
}

#[test]
fn a_redirect_to_another_host_or_to_an_invalid_address_is_an_error() {
    for location in [
        "http://evil.example/",
        "http://shop.example.evil.example/",
        "http://shop.example:8080/",
        "http://shop.example@evil.example/",
        "http://user@shop.example/",
        "//evil.example",
        "https://shop.example/",
        "file:///etc/passwd",
        "javascript:alert(1)",
    ] {
        assert_eq!(led(location), Err(Astray::Elsewhere), "{location}");
    }
    let long = format!("/{}", "a".repeat(MAX_TARGET_BYTES));
    for location in ["", "/a\rX: y", "/a\nX: y", "/\0", "/\u{7f}", "http:g", "http:", &long] {
        assert_eq!(led(location), Err(Astray::Broken), "{location:?}");
    }
    assert_eq!(led(&long[1..]).map(|target| target.len()), Err(Astray::Broken));
    assert_eq!(led(&long[..MAX_TARGET_BYTES]).map(|target| target.len()), Ok(MAX_TARGET_BYTES));
}
