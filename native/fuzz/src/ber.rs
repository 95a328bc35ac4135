//! Decoded BER elements can be encoded again, and the reader never reads beyond its input.

use wire::ber::{self, Reader, header, tag};

pub(crate) fn target(bytes: &[u8]) {
    if let Ok(Some((start, length))) = header(bytes) {
        assert!((2..=6).contains(&start));
        assert!(length <= u32::MAX as usize);
    }
    walk(Reader::new(bytes), 0);
    if let Ok(value) = ber::integer(bytes) {
        let mut out = Vec::new();
        ber::write_integer(&mut out, tag::INTEGER, value);
        assert_eq!(Reader::new(&out).integer(tag::INTEGER), Ok(value));
        assert_eq!(out.len(), 2 + ber::integer_width(value));
    }
}

/// Reads all elements, nested elements too, up to the end or the first error.
fn walk(mut reader: Reader<'_>, depth: usize) {
    while !reader.is_empty() {
        let before = reader.rest().len();
        let mut peeked = reader;
        let Ok(element) = reader.element() else {
            assert_eq!(reader.rest().len(), before, "an element that is refused is not consumed");
            return;
        };
        let raw = peeked.raw().expect("what could be read once can be again");
        assert_eq!(raw.len() + reader.rest().len(), before);
        let mut out = Vec::new();
        ber::write_element(&mut out, element.tag, element.value);
        assert_eq!(out.len(), ber::element_size(element.value.len()));
        assert!(out.len() <= raw.len(), "what is written is minimal");
        assert_eq!(Reader::new(&out).expect(element.tag), Ok(element.value));
        if element.tag & 0x20 != 0 && depth < 50 {
            walk(Reader::new(element.value), depth + 1);
        }
    }
    assert_eq!(reader.finish(), Ok(()));
}
