//! Splitting a stream into messages: an incomplete message waits for more bytes, a malformed message ends the
//! connection.

use wire::ber::BerError;
use wire::ldap::frame::{FrameError, message_length};
use wire::ldap::request::{write_bind, write_unbind};

const LIMIT: usize = 256 << 10;

#[test]
fn a_message_ends_where_the_next_message_begins() {
    let mut bytes = Vec::new();
    write_bind(&mut bytes, 1, 3, b"", b"");
    let first = bytes.len();
    write_unbind(&mut bytes, 2);
    assert_eq!(message_length(&bytes, LIMIT), Ok(Some(first)));
    assert_eq!(message_length(&bytes[first..], LIMIT), Ok(Some(7)));
}

#[test]
fn every_prefix_of_a_message_is_incomplete() {
    let mut bytes = Vec::new();
    write_bind(&mut bytes, 1, 3, &[b'x'; 300], b"secret");
    for end in 0..bytes.len() {
        assert_eq!(message_length(&bytes[..end], LIMIT), Ok(None), "{end} of {} bytes", bytes.len());
    }
}

#[test]
fn the_first_bytes_of_other_protocols_are_not_ldap() {
    for (bytes, first) in [
        (&b"GET / HTTP/1.1\r\n"[..], b'G'),
        (b"\x16\x03\x01\x02\x00\x01", 0x16), // TLS
        (b"\x03\x00\x00\x13\x0e", 0x03),     // RDP
        (b"SSH-2.0-", b'S'),
        (b"\0", 0),
    ] {
        assert_eq!(message_length(bytes, LIMIT), Err(FrameError::NotLdap(first)));
    }
}

#[test]
fn a_message_over_the_limit_is_refused_before_its_content_arrives() {
    assert_eq!(
        message_length(b"\x30\x84\x7f\xff\xff\xff", LIMIT),
        Err(FrameError::TooLarge { claimed: 0x7fff_ffff + 6, limit: LIMIT })
    );
    assert_eq!(message_length(b"\x30\x03", 5), Ok(None));
    assert_eq!(message_length(b"\x30\x04", 5), Err(FrameError::TooLarge { claimed: 6, limit: 5 }));
}

#[test]
fn a_malformed_header_is_not_reported_as_incomplete() {
    assert_eq!(message_length(b"\x30\x80", LIMIT), Err(FrameError::Ber(BerError::IndefiniteLength)));
    assert_eq!(message_length(b"\x30\x88", LIMIT), Err(FrameError::Ber(BerError::LengthTooWide(8))));
}
