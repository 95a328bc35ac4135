//! The nodes of compiled filters.

use std::cmp::Ordering;

use crate::matching::PieceKind;
use crate::schema::{AttributeId, Matching};
use crate::store::Operational;

/// A range of one of the compiled filter's buffers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The range of what was appended to a buffer after its length was `start`.
    #[inline]
    pub(super) const fn since<T>(start: usize, buffer: &[T]) -> Self {
        Self { start: start as u32, end: buffer.len() as u32 }
    }

    /// Appends to a buffer.
    #[inline]
    pub(super) fn push(bytes: &[u8], buffer: &mut Vec<u8>) -> Self {
        let start = buffer.len();
        buffer.extend_from_slice(bytes);
        Self::since(start, buffer)
    }

    #[inline]
    pub(super) const fn is_empty(self) -> bool {
        self.start == self.end
    }

    #[inline]
    pub(super) fn of<T>(self, buffer: &[T]) -> &[T] {
        buffer.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// Nodes are in the order of the filter. The operands of a node follow it, up to `end`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    And {
        end: u32,
    },
    Or {
        end: u32,
    },
    Not {
        end: u32,
    },
    Item(Item),
    /// Undefined for every entry (RFC 4511 section 4.5.1.7).
    Undefined,
}

/// A test on the values of an attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub(crate) target: Target,
    pub(crate) test: Test,
}

/// The attribute whose values are tested.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Target {
    /// The asserted type; with `None`, every type to which the matching rule applies is tested.
    pub(crate) attribute: Option<AttributeId>,
    /// `None` unless the attribute is computed.
    pub(crate) computed: Option<Operational>,
    /// The canonical name of the type.
    pub(super) name: Span,
    /// The canonical names of the type's subtypes.
    pub(super) subtypes: Span,
    /// The asserted description if it has options, otherwise empty.
    pub(super) options: Span,
    /// Whether the parts of the entry's name are tested, too.
    pub(crate) dn_attributes: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Test {
    Present,
    /// The asserted bytes and their normal form.
    Equal {
        matching: Matching,
        raw: Span,
        normal: Span,
    },
    /// An object class, whose subclasses match as well. Unknown classes have no number.
    Class {
        raw: Span,
        class: Option<u16>,
    },
    /// The order of the value and the assertion, such as [`Ordering::is_ge`] for values that are equal to the
    /// assertion or after it.
    Ordered {
        matching: Matching,
        normal: Span,
        accepts: fn(Ordering) -> bool,
    },
    Pieces {
        matching: Matching,
        pieces: Span,
    },
    /// The value is a number that has all bits of `mask`, or any of these bits.
    Bits {
        mask: i64,
        all: bool,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct PieceSpan {
    pub(super) kind: PieceKind,
    pub(super) text: Span,
}
