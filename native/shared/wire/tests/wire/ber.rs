//! BER: valid and refused encodings, and minimal output.

use proptest::prelude::*;
use wire::ber::{
    BerError, Reader, element_size, header, integer_width, tag, write_boolean, write_element, write_integer,
    write_nested, write_octets,
};

use crate::written;

#[test]
fn integers_of_x690_8_3_are_minimal_twos_complement() {
    for (value, bytes) in [
        (0, &b"\x02\x01\x00"[..]),
        (127, b"\x02\x01\x7f"),
        (128, b"\x02\x02\x00\x80"),
        (256, b"\x02\x02\x01\x00"),
        (-1, b"\x02\x01\xff"),
        (-128, b"\x02\x01\x80"),
        (-129, b"\x02\x02\xff\x7f"),
        (i64::from(i32::MAX), b"\x02\x04\x7f\xff\xff\xff"),
        (i64::MIN, b"\x02\x08\x80\0\0\0\0\0\0\0"),
    ] {
        assert_eq!(written(|out| write_integer(out, tag::INTEGER, value)), bytes, "{value}");
        assert_eq!(Reader::new(bytes).integer(tag::INTEGER), Ok(value));
    }
}

#[test]
fn an_integer_has_at_least_one_byte_and_at_most_64_bits() {
    assert_eq!(Reader::new(b"\x02\x00").integer(tag::INTEGER), Err(BerError::BadInteger(0)));
    assert_eq!(
        Reader::new(b"\x02\x09\0\0\0\0\0\0\0\0\x01").integer(tag::INTEGER),
        Err(BerError::BadInteger(9))
    );
    // Some servers write more bytes than needed.
    assert_eq!(Reader::new(b"\x02\x04\0\0\0\x05").integer(tag::INTEGER), Ok(5));
}

#[test]
fn written_lengths_are_minimal() {
    for (length, start) in [
        (0, &b"\x04\x00"[..]),
        (127, b"\x04\x7f"),
        (128, b"\x04\x81\x80"),
        (255, b"\x04\x81\xff"),
        (256, b"\x04\x82\x01\x00"),
        (65_535, b"\x04\x82\xff\xff"),
        (65_536, b"\x04\x83\x01\x00\x00"),
        (1 << 24, b"\x04\x84\x01\x00\x00\x00"),
    ] {
        let content = vec![b'x'; length];
        let bytes = written(|out| write_octets(out, &content));
        assert!(bytes.starts_with(start), "{length}");
        assert_eq!(bytes.len(), element_size(length));
        assert_eq!(Reader::new(&bytes).octets().unwrap().len(), length);
    }
}

#[test]
fn longer_lengths_than_needed_are_read() {
    for bytes in [&b"\x04\x81\x02hi"[..], b"\x04\x82\x00\x02hi", b"\x04\x84\x00\x00\x00\x02hi"] {
        assert_eq!(Reader::new(bytes).octets(), Ok(&b"hi"[..]));
    }
}

#[test]
fn the_indefinite_form_is_refused_as_rfc_4511_section_5_1_requires() {
    assert_eq!(Reader::new(b"\x30\x80\x02\x01\x01\0\0").sequence().unwrap_err(), BerError::IndefiniteLength);
    // Even if 128 bytes follow, the byte 0x80 is not read as a length of 128.
    let long = [&[tag::SEQUENCE, 0x80][..], &[0; 128]].concat();
    assert_eq!(Reader::new(&long).element().unwrap_err(), BerError::IndefiniteLength);
}

#[test]
fn a_length_wider_than_four_bytes_is_refused_before_its_bytes_arrive() {
    assert_eq!(header(b"\x30\x85"), Err(BerError::LengthTooWide(5)));
    assert_eq!(header(b"\x30\xff"), Err(BerError::LengthTooWide(127)));
}

#[test]
fn an_incomplete_header_is_reported_as_incomplete() {
    for incomplete in [&b""[..], b"\x30", b"\x30\x82", b"\x30\x82\x01"] {
        assert_eq!(header(incomplete), Ok(None));
    }
    assert_eq!(header(b"\x30\x82\x01\x02"), Ok(Some((4, 258))));
}

#[test]
fn an_element_never_exceeds_its_enclosing_element() {
    let child = b"\x30\x04\x04\x03hi!";
    assert_eq!(
        Reader::new(child).sequence().unwrap().octets(),
        Err(BerError::Truncated { needed: 5, available: 4 })
    );
    assert_eq!(
        Reader::new(b"\x04\x84\xff\xff\xff\xffx").octets(),
        Err(BerError::Truncated { needed: 0xffff_ffff + 6, available: 7 })
    );
}

#[test]
fn an_unexpected_tag_is_named() {
    let error = Reader::new(b"\x04\x00").sequence().unwrap_err();
    assert_eq!(error.to_string(), "tag 0x04 where 0x30 belongs");
}

#[test]
fn a_boolean_is_one_byte_and_true_is_ff() {
    assert_eq!(written(|out| write_boolean(out, true)), b"\x01\x01\xff");
    assert_eq!(written(|out| write_boolean(out, false)), b"\x01\x01\x00");
    assert_eq!(Reader::new(b"\x01\x01\x01").boolean(), Ok(true));
    assert_eq!(Reader::new(b"\x01\x00").boolean(), Err(BerError::BadBoolean(0)));
    assert_eq!(Reader::new(b"\x01\x02\0\0").boolean(), Err(BerError::BadBoolean(2)));
}

#[test]
fn an_optional_element_with_another_tag_is_not_consumed() {
    let mut reader = Reader::new(b"\x80\x01a\x04\x01b");
    assert_eq!(reader.optional(0x81), Ok(None));
    assert_eq!(reader.optional(0x80), Ok(Some(&b"a"[..])));
    assert_eq!(reader.finish(), Err(BerError::Trailing(3)));
    assert_eq!(reader.raw(), Ok(&b"\x04\x01b"[..]));
    assert_eq!(reader.finish(), Ok(()));
}

proptest! {
    #[test]
    fn written_integers_read_back_and_have_the_announced_width(value: i64) {
        let bytes = written(|out| write_integer(out, tag::ENUMERATED, value));
        prop_assert_eq!(Reader::new(&bytes).integer(tag::ENUMERATED), Ok(value));
        prop_assert_eq!(bytes.len(), 2 + integer_width(value));
        // X.690 8.3.2: the first nine bits are neither all zero nor all one.
        if let [_, _, first, second, ..] = bytes[..] {
            prop_assert!(!matches!((first, second), (0, ..0x80) | (0xff, 0x80..)));
        }
    }

    #[test]
    fn a_nested_element_equals_an_element_written_at_once(
        before in any::<Vec<u8>>(), length in prop_oneof![0..300usize, 65_000..66_000usize], outer in 0..4usize
    ) {
        let content = vec![7; length];
        let mut out = before.clone();
        fn nest(out: &mut Vec<u8>, depth: usize, content: &[u8]) {
            if depth == 0 {
                write_octets(out, content);
            } else {
                write_nested(out, tag::SEQUENCE, |out| nest(out, depth - 1, content));
            }
        }
        nest(&mut out, outer, &content);
        let mut expected = written(|out| write_octets(out, &content));
        for _ in 0..outer {
            expected = written(|out| write_element(out, tag::SEQUENCE, &expected));
        }
        prop_assert_eq!(&out[..before.len()], &before[..]);
        prop_assert_eq!(&out[before.len()..], &expected[..]);
    }
}
