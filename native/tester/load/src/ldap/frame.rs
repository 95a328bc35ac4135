//! Messages that are encoded in advance.
//!
//! A bind or a search is always the same but for its message id. The usual lookup has a name, too:
//! `(&(objectClass=RTPerson)(cn=NAME))` for one name after the other is what most lanes ask most of the
//! time. All lengths of such a message fit into one byte, so they are sums, not nested writers.

use wire::ldap::Scope;
use wire::ldap::filter::write_and;
#[cfg(test)]
use wire::ldap::filter::write_equality;
use wire::ldap::request::{SearchOptions, write_search};

/// Lengths up to here take one byte (X.690 8.1.3.4).
const SHORT: usize = 0x7f;

/// `(objectClass=RTPerson)`, encoded.
pub(super) const CLASS_FILTER: &[u8] = b"\xa3\x17\x04\x0bobjectClass\x04\x08RTPerson";

/// Appends an AND of `(objectClass=RTPerson)` and what `more` appends: how people are searched for.
pub(super) fn write_person_filter(out: &mut Vec<u8>, more: impl FnOnce(&mut Vec<u8>)) {
    write_and(out, |out| {
        out.extend_from_slice(CLASS_FILTER);
        more(out);
    });
}

/// A search of that scope and size limit with nothing else special.
pub(super) const fn options(scope: Scope, size_limit: u32) -> SearchOptions {
    SearchOptions { scope, size_limit, time_limit_s: 0, types_only: false }
}

/// A message that is always the same but for its id.
#[derive(Debug)]
pub struct Fixed {
    bytes: Vec<u8>,
    /// Where its id stands, in one byte.
    id_at: usize,
}

impl Fixed {
    /// What `write` appends; it is given the id to write.
    pub(super) fn new(write: impl FnOnce(&mut Vec<u8>, i32)) -> Self {
        let mut bytes = Vec::new();
        write(&mut bytes, 1);
        // The message's header, then tag and length of the id. A long length says how many bytes it has.
        let more = bytes.get(1).filter(|length| **length > SHORT as u8).map_or(0, |length| length & 0x7f);
        Self { bytes, id_at: 4 + usize::from(more) }
    }

    /// Appends the message.
    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>, id: u8) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        if let Some(byte) = out.get_mut(start + self.id_at) {
            *byte = id;
        }
    }
}

/// A lookup without its message id and name.
#[derive(Debug)]
pub struct Frame {
    /// From the base to typesOnly.
    head: Vec<u8>,
    /// The attribute list.
    tail: Vec<u8>,
}

impl Frame {
    /// The frame of lookups under `base` for these attributes; `None` if such a lookup is always longer.
    pub(super) fn new(base: &[u8], options: &SearchOptions, attributes: &[Vec<u8>]) -> Option<Self> {
        let mut whole = Vec::new();
        // An empty And marks where the filter goes.
        let filter = |out: &mut Vec<u8>| out.extend_from_slice(b"\xa0\0");
        write_search(&mut whole, 1, base, options, filter, attributes.iter().map(Vec::as_slice));
        let tail_size = attributes.iter().map(|name| 2 + name.len()).sum::<usize>() + 2;
        if whole.len() > SHORT {
            return None;
        }
        let tail = whole.split_off(whole.len() - tail_size);
        // Before the head: the message's header, its id, the operation's header.
        let head = whole.get(7..whole.len() - 2)?.to_vec();
        Some(Self { head, tail })
    }

    /// Appends the lookup of `name`, or nothing if that would be too long.
    #[inline]
    pub(super) fn write(&self, out: &mut Vec<u8>, id: u8, name: &[u8]) -> bool {
        let equality = 6 + name.len();
        let and = CLASS_FILTER.len() + 2 + equality;
        let search = self.head.len() + 2 + and + self.tail.len();
        let message = 3 + 2 + search;
        if message > SHORT {
            return false;
        }
        out.extend_from_slice(&[0x30, message as u8, 0x02, 0x01, id, 0x63, search as u8]);
        out.extend_from_slice(&self.head);
        out.extend_from_slice(&[0xa0, and as u8]);
        out.extend_from_slice(CLASS_FILTER);
        out.extend_from_slice(&[0xa3, equality as u8, 0x04, 0x02, b'c', b'n', 0x04, name.len() as u8]);
        out.extend_from_slice(name);
        out.extend_from_slice(&self.tail);
        true
    }
}

/// What the frame stands for, written the long way.
#[cfg(test)]
fn write_long(
    out: &mut Vec<u8>,
    base: &[u8],
    options: &SearchOptions,
    id: u8,
    name: &[u8],
    attributes: &[Vec<u8>],
) {
    let filter = |out: &mut Vec<u8>| write_person_filter(out, |out| write_equality(out, b"cn", name));
    write_search(out, i32::from(id), base, options, filter, attributes.iter().map(Vec::as_slice));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_class_filter_is_what_the_filter_writer_makes_of_it() {
        let mut out = Vec::new();
        write_equality(&mut out, b"objectClass", b"RTPerson");
        assert_eq!(out, CLASS_FILTER);
    }

    proptest! {
        #[test]
        fn a_fixed_message_is_what_its_writer_makes_of_the_id(
            filter in prop::collection::vec(any::<u8>(), 0..70_000),
            id in 1u8..128,
        ) {
            let write = |out: &mut Vec<u8>, id: i32| {
                let filter = |out: &mut Vec<u8>| out.extend_from_slice(&filter);
                write_search(out, id, b"o=x", &options(Scope::Base, 0), filter, []);
            };
            let mut made = b"before".to_vec();
            write(&mut made, i32::from(id));
            let mut fixed = b"before".to_vec();
            Fixed::new(write).write(&mut fixed, id);
            prop_assert_eq!(fixed, made);
        }

        #[test]
        fn a_frame_writes_what_the_writer_of_searches_writes(
            base in "[a-z=,]{0,60}",
            name in ".{0,60}",
            id in 1u8..128,
            attributes in prop::collection::vec("[a-zA-Z]{1,9}".prop_map(String::into_bytes), 0..4),
        ) {
            let options = options(Scope::Subtree, 0);
            let mut long = Vec::new();
            write_long(&mut long, base.as_bytes(), &options, id, name.as_bytes(), &attributes);
            let mut short = Vec::new();
            let written = Frame::new(base.as_bytes(), &options, &attributes)
                .is_some_and(|frame| frame.write(&mut short, id, name.as_bytes()));
            prop_assert_eq!(written, long.len() <= 2 + SHORT);
            if written {
                prop_assert_eq!(short, long);
            } else {
                prop_assert!(short.is_empty());
            }
        }
    }
}
