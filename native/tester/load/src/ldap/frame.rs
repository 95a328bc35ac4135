//! Encoded requests without their message id and their fields.
//!
//! A frame needs no knowledge of the request: it is cut out of three encodings, which the writers of `wire`
//! make. In the first encoding all fields are blank, in the second a field holds its own number, in the third
//! all fields are long. The first and the second differ in their fields only. The first and the third differ
//! in their fields and in the lengths around them. All other bytes are copied, whatever they mean.

use std::ops::Range;

use wire::ber::{self, Reader, tag};

/// Lengths up to this value take one byte (X.690 8.1.3.4).
const SHORT: usize = 0x7f;

/// At each of these lengths, the encoding of a length takes one more byte.
const WIDER: [usize; 4] = [0x80, 0x100, 0x1_0000, 0x100_0000];

/// Bytes of the message id with its header.
const ID_SIZE: usize = 3;

/// Requests with fewer fields are written without an allocation.
const FEW: usize = 16;

/// The content of fields in the first encoding; no field's number begins with these bytes.
const BLANK: [u8; 4] = [0xff; 4];

#[derive(Debug, Default, PartialEq)]
pub struct Frame {
    /// The bytes after the message id, with empty fields and one byte for each length around them.
    text: Vec<u8>,
    /// In the order of `text`.
    places: Vec<Place>,
    /// The lengths around fields, in the order of `text`: an element's length comes before the lengths inside
    /// the element.
    lengths: Vec<Length>,
}

#[derive(Debug, PartialEq)]
struct Place {
    field: usize,
    /// The index in the text.
    at: usize,
    /// The lengths between the previous place and this place.
    lengths: Range<usize>,
}

/// The length of an element that contains fields.
#[derive(Debug, PartialEq)]
struct Length {
    /// The index in the text.
    at: usize,
    /// The number of the text's bytes in the element.
    text: usize,
    places: Range<usize>,
    /// The end of the range of lengths inside the element, which begins after this length.
    end: usize,
}

impl Frame {
    /// The frame of the requests that `write` appends. `write` gets a message id and `fields` fields, and
    /// must copy fields unchanged, as often as it likes. `None` for requests of 16 MiB or more.
    pub(super) fn new(fields: usize, write: impl Fn(&mut Vec<u8>, i32, &[&[u8]])) -> Option<Self> {
        let written = |field: &dyn Fn(u32) -> Vec<u8>| {
            let fields: Vec<_> = (0..fields as u32).map(field).collect();
            let mut message = Vec::new();
            write(&mut message, 1, &fields.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let mut content = Reader::new(&message).sequence().ok()?;
            content.expect(tag::INTEGER).ok()?;
            Some(content.rest().to_vec())
        };
        let blank = written(&|_| BLANK.to_vec())?;
        // With fields of this size, every length around a field is wider than in `blank`: its first byte
        // differs.
        let size = *WIDER.iter().find(|size| **size > blank.len())?;
        let numbered = written(&|field| field.to_be_bytes().to_vec())?;
        let long = written(&|_| vec![0; size])?;
        let end = blank.len();
        let mut cut = Cut { blank, numbered, long, size, at: 0, long_at: 0, frame: Self::default() };
        cut.cut(end)?;
        Some(cut.frame)
    }

    /// Appends the request with this id and these fields.
    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>, id: u8, fields: &[&[u8]]) {
        let (mut ends, mut total) = ([0; FEW], 0);
        for (place, end) in self.places.iter().zip(&mut ends[1..]) {
            total += fields[place.field].len();
            *end = total as u8;
        }
        let size = ID_SIZE + self.text.len() + total;
        if size > SHORT || self.places.len() >= FEW {
            return self.write_long(out, id, fields);
        }
        out.extend_from_slice(&[tag::SEQUENCE, size as u8, tag::INTEGER, 1, id]);
        let (start, mut from) = (out.len(), 0);
        for place in &self.places {
            out.extend_from_slice(&self.text[from..place.at]);
            out.extend_from_slice(fields[place.field]);
            from = place.at;
        }
        out.extend_from_slice(&self.text[from..]);
        let content = &mut out[start..];
        for Length { at, text, places, .. } in &self.lengths {
            let before = ends[places.start];
            content[at + usize::from(before)] = *text as u8 + (ends[places.end] - before);
        }
    }

    /// Appends a request with lengths of any width.
    fn write_long(&self, out: &mut Vec<u8>, id: u8, fields: &[&[u8]]) {
        let (places, lengths) = (self.places.len(), self.lengths.len());
        let needed = (places + 1) + (lengths + 1) + lengths;
        let (mut few, mut many) = ([0; 3 * FEW], Vec::new());
        let room = few.get_mut(..needed).unwrap_or_else(|| {
            many.resize(needed, 0);
            &mut many
        });
        // The total size of the fields before each place.
        let (ends, room) = room.split_at_mut(places + 1);
        // `wider` has the bytes that a length and all later lengths take in excess of one byte each, `sizes`
        // the values of the lengths.
        let (wider, sizes) = room.split_at_mut(lengths + 1);
        for (at, place) in self.places.iter().enumerate() {
            ends[at + 1] = ends[at] + fields[place.field].len();
        }
        for (at, Length { text, places, end, .. }) in self.lengths.iter().enumerate().rev() {
            sizes[at] = text + ends[places.end] - ends[places.start] + wider[at + 1] - wider[*end];
            wider[at] = wider[at + 1] + ber::length_width(sizes[at]) - 1;
        }
        ber::write_header(out, tag::SEQUENCE, ID_SIZE + self.text.len() + ends[places] + wider[0]);
        out.extend_from_slice(&[tag::INTEGER, 1, id]);
        let mut from = 0;
        for place in &self.places {
            let start = out.len() - from;
            out.extend_from_slice(&self.text[from..place.at]);
            // The last length is written first, because a wide length moves the bytes behind it.
            for length in place.lengths.clone().rev() {
                let at = start + self.lengths[length].at;
                match sizes[length] {
                    size @ ..=SHORT => out[at] = size as u8,
                    size => write_wide(out, at, size),
                }
            }
            out.extend_from_slice(fields[place.field]);
            from = place.at;
        }
        out.extend_from_slice(&self.text[from..]);
    }
}

/// Replaces a length of one byte by a wider length.
fn write_wide(out: &mut Vec<u8>, at: usize, length: usize) {
    let (more, end) = (ber::length_width(length) - 1, out.len());
    out.extend_from_slice(&[0; 4][..more]);
    out.copy_within(at + 1..end, at + 1 + more);
    out[at] = 0x80 | more as u8;
    out[at + 1..=at + more].copy_from_slice(&(length as u64).to_be_bytes()[8 - more..]);
}

/// The three encodings of a request while a frame is cut out of them.
struct Cut {
    blank: Vec<u8>,
    numbered: Vec<u8>,
    long: Vec<u8>,
    /// The size of a field in `long`.
    size: usize,
    /// The number of bytes of `blank` and `numbered` that are cut.
    at: usize,
    /// The number of bytes of `long` that are cut.
    long_at: usize,
    frame: Frame,
}

impl Cut {
    /// Cuts up to the end of an element.
    fn cut(&mut self, end: usize) -> Option<()> {
        while self.at < end {
            let byte = *self.blank.get(self.at)?;
            let Frame { text, places, lengths } = &mut self.frame;
            if *self.numbered.get(self.at)? != byte {
                let field = u32::from_be_bytes(*self.numbered[self.at..].first_chunk()?) as usize;
                let before = places.last().map_or(0, |place| place.lengths.end);
                places.push(Place { field, at: text.len(), lengths: before..lengths.len() });
                self.at += BLANK.len();
                self.long_at += self.size;
            } else if *self.long.get(self.long_at)? != byte {
                let (at, place, length) = (text.len(), places.len(), lengths.len());
                lengths.push(Length { at, text: 0, places: 0..0, end: 0 });
                text.push(0);
                // The byte before a length is the tag.
                let (header, size) = ber::header(self.blank.get(self.at.checked_sub(1)?..)?).ok()??;
                let (long_header, _) = ber::header(self.long.get(self.long_at.checked_sub(1)?..)?).ok()??;
                self.at += header - 1;
                self.long_at += long_header - 1;
                self.cut(self.at + size)?;
                let Frame { text, places, lengths } = &mut self.frame;
                let (text, places) = (text.len() - at - 1, place..places.len());
                lengths[length] = Length { at, text, places, end: lengths.len() };
            } else {
                text.push(byte);
                self.at += 1;
                self.long_at += 1;
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;
    use wire::ldap::filter::{self, Extensible, Piece};
    use wire::ldap::request::{self, SearchOptions};
    use wire::ldap::{Scope, oid};

    use super::*;

    const FIELDS: usize = 5;

    /// A string of a request: a sequence of texts and of fields, which have numbers.
    type Mixed = Vec<Result<Vec<u8>, usize>>;

    fn mixed() -> impl Strategy<Value = Mixed> {
        let looks_like_our_own = select(vec![
            BLANK.to_vec(),
            0u32.to_be_bytes().to_vec(),
            1u32.to_be_bytes().to_vec(),
            b"\x04\x04".to_vec(),
            b"\x04\x80\x30\x82\x01\x00".to_vec(),
            [0x30; 7].to_vec(),
        ]);
        let text = prop_oneof![
            4 => vec(any::<u8>(), 0..20),
            2 => looks_like_our_own,
            1 => vec(any::<u8>(), 120..260),
        ];
        vec(prop_oneof![text.prop_map(Ok), (0..FIELDS).prop_map(Err)], 0..4)
    }

    fn field() -> impl Strategy<Value = Vec<u8>> {
        let near_a_width = select(vec![127, 255, 65_535]).prop_flat_map(|width| width - 3..width + 3usize);
        let length = prop_oneof![8 => 0..60usize, 2 => near_a_width, 1 => 0..70_000usize];
        (length, any::<u8>()).prop_map(|(length, byte)| vec![byte; length])
    }

    fn filled(mixed: &Mixed, fields: &[&[u8]]) -> Vec<u8> {
        mixed
            .iter()
            .map(|part| part.as_deref().unwrap_or_else(|field| fields[*field]))
            .collect::<Vec<_>>()
            .concat()
    }

    #[derive(Debug, Clone)]
    enum Filter {
        Of(usize, Mixed, Mixed),
        Not(Box<Filter>),
        And(Vec<Filter>),
        Or(Vec<Filter>),
    }

    impl Filter {
        fn write(&self, out: &mut Vec<u8>, fields: &[&[u8]]) {
            let (kind, name, value) = match self {
                Self::Of(kind, name, value) => (kind, filled(name, fields), filled(value, fields)),
                Self::Not(filter) => return filter::write_not(out, |out| filter.write(out, fields)),
                Self::And(all) => {
                    return filter::write_and(out, |out| all.iter().for_each(|each| each.write(out, fields)));
                }
                Self::Or(all) => {
                    return filter::write_or(out, |out| all.iter().for_each(|each| each.write(out, fields)));
                }
            };
            match kind {
                0 => filter::write_equality(out, &name, &value),
                1 => filter::write_present(out, &name),
                2 => filter::write_substrings(out, &name, [Piece::Initial(&value), Piece::Final(&name)]),
                _ => {
                    let (rule, attribute) = (None, Some(name.as_slice()));
                    let filter = Extensible { rule, attribute, value: &value, dn_attributes: true };
                    filter::write_extensible(out, &filter);
                }
            }
        }
    }

    fn filter() -> impl Strategy<Value = Filter> {
        let of = (0..4usize, mixed(), mixed()).prop_map(|(kind, name, value)| Filter::Of(kind, name, value));
        of.prop_recursive(4, 8, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|filter| Filter::Not(Box::new(filter))),
                vec(inner.clone(), 0..4).prop_map(Filter::And),
                vec(inner, 0..4).prop_map(Filter::Or),
            ]
        })
    }

    /// A request of any kind, made of strings.
    fn write(
        out: &mut Vec<u8>,
        id: i32,
        (kind, filter, strings): &(usize, Filter, Vec<Mixed>),
        fields: &[&[u8]],
    ) {
        let strings: Vec<_> = strings.iter().map(|string| filled(string, fields)).collect();
        let [a, b, rest @ ..] = &strings[..] else { panic!("two strings at least") };
        let rest = || rest.iter().map(Vec::as_slice);
        match kind {
            0 => request::write_bind(out, id, 3, a, b),
            1 => request::write_sasl_bind(out, id, a, b),
            2 => request::write_delete(out, id, a),
            3 => request::write_compare(out, id, a, b, &rest().collect::<Vec<_>>().concat()),
            4 => request::write_extended(out, id, a, rest().next()),
            5 => {
                let mut value = Vec::new();
                request::write_refresh_value(&mut value, a, 600);
                request::write_extended(out, id, oid::REFRESH, Some(&value));
            }
            6 => request::write_modify_dn(out, id, a, b, true, rest().next()),
            7 | 8 => request::write_modify(out, id, a, |out| {
                request::write_change(out, 2, b, rest());
                rest().for_each(|name| request::write_change(out, 0, name, [&a[..], b]));
            }),
            9 => request::write_add(out, id, a, |out| {
                ber::write_nested(out, tag::SEQUENCE, |out| request::write_attribute(out, b, rest()));
            }),
            _ => {
                let options = SearchOptions {
                    scope: Scope::One,
                    size_limit: 1000,
                    time_limit_s: 0,
                    types_only: false,
                    dereference: 0,
                };
                request::write_search(out, id, a, &options, |out| filter.write(out, fields), rest());
            }
        }
    }

    /// A request as its frame encodes it, and as its writer encodes it.
    fn both(fields: &[&[u8]], write: impl Fn(&mut Vec<u8>, i32, &[&[u8]])) -> (Vec<u8>, Vec<u8>) {
        let (mut framed, mut written) = (b"before".to_vec(), b"before".to_vec());
        Frame::new(fields.len(), &write).unwrap().write(&mut framed, 127, fields);
        write(&mut written, 127, fields);
        (framed, written)
    }

    fn lookup(out: &mut Vec<u8>, id: i32, fields: &[&[u8]]) {
        let options = SearchOptions {
            scope: Scope::Subtree,
            size_limit: 0,
            time_limit_s: 0,
            types_only: false,
            dereference: 0,
        };
        let filter = |out: &mut Vec<u8>| {
            filter::write_and(out, |out| {
                filter::write_equality(out, b"objectClass", b"RTPerson");
                fields.iter().for_each(|field| filter::write_equality(out, b"cn", field));
            });
        };
        request::write_search(out, id, b"o=x", &options, filter, [b"cn".as_slice()]);
    }

    proptest! {
        #[test]
        fn a_frame_writes_the_same_bytes_as_the_message_writers(
            request in (0..16usize, filter(), vec(mixed(), 2..6)),
            fields in vec(field(), FIELDS),
        ) {
            let fields: Vec<_> = fields.iter().map(Vec::as_slice).collect();
            let (framed, written) = both(&fields, |out, id, fields| write(out, id, &request, fields));
            prop_assert!(framed == written, "{} bytes, not {}", framed.len(), written.len());
        }
    }

    #[test]
    fn each_ber_length_has_its_minimal_width() {
        // The name is inside five elements. The length of each element becomes wider at another size of the
        // name.
        let frame = Frame::new(1, lookup).unwrap();
        for size in (0..300).chain(65_400..65_600) {
            let (mut framed, mut written) = (Vec::new(), Vec::new());
            let name = vec![b'x'; size];
            frame.write(&mut framed, 1, &[&name]);
            lookup(&mut written, 1, &[&name]);
            assert!(framed == written, "a name of {size} bytes");
        }
    }

    #[test]
    fn a_request_template_may_have_any_number_of_fields() {
        let dn = |out: &mut Vec<u8>, id: i32, fields: &[&[u8]]| {
            request::write_compare(out, id, &fields.concat(), b"cn", fields.last().unwrap());
        };
        for (count, size) in [(14, 1), (15, 1), (16, 1), (17, 1), (20, 0), (100, 1), (700, 3)] {
            let numbers: Vec<_> = (0..count).map(u32::to_be_bytes).collect();
            let fields: Vec<_> = numbers.iter().map(|number| &number[4 - size..]).collect();
            for (framed, written) in [both(&fields, dn), both(&fields, lookup)] {
                assert!(framed == written, "{count} fields of {size} bytes");
            }
        }
    }

    #[test]
    fn text_of_a_template_may_look_like_a_placeholder_or_a_length() {
        let around = |out: &mut Vec<u8>, id: i32, fields: &[&[u8]]| {
            let dn = [&BLANK[..], &[0; 4], b"\x04\x04", fields[0], &[0; 4], b"\x30\x08", fields[1], &BLANK]
                .concat();
            request::write_compare(out, id, &dn, &BLANK, &[0, 0, 0, 1]);
        };
        for sizes in [[4, 4], [0, 4], [3, 8], [200, 4]] {
            let fields = sizes.map(|size| vec![0xff; size]);
            let (framed, written) = both(&[&fields[0], &fields[1]], around);
            assert_eq!(framed, written);
        }
    }

    #[test]
    fn text_of_a_template_may_be_as_long_as_the_largest_readable_message() {
        let photo = |size| {
            move |out: &mut Vec<u8>, id: i32, fields: &[&[u8]]| {
                request::write_compare(out, id, fields[0], b"jpegPhoto", &vec![0; size]);
            }
        };
        for size in [100, 118, 119, 300, 70_000] {
            let (framed, written) = both(&[b"cn=x"], photo(size));
            assert!(framed == written, "{size}");
        }
        assert!(Frame::new(1, photo(16 << 20)).is_none());
    }
}
