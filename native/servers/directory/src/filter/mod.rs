//! Filters, compiled once per search and evaluated on encoded entries.

mod compile;
mod evaluate;
mod known;
mod node;

pub(crate) use evaluate::{Computed, Subject};
pub(crate) use node::{Item, Node, Test};

use crate::matching::PieceKind;
use known::Known;
use node::{PieceSpan, Span};

/// A filter with its types resolved and its values normalised, in buffers that are reused.
#[derive(Debug, Clone, Default)]
pub struct CompiledFilter {
    nodes: Vec<Node>,
    bytes: Vec<u8>,
    known: Known,
    pieces: Vec<PieceSpan>,
}

impl CompiledFilter {
    /// The node at `at`; see [`Node`] for the order of nodes.
    #[inline]
    pub(crate) fn at(&self, at: usize) -> Option<&Node> {
        self.nodes.get(at)
    }

    /// The bytes of heap memory that the filter holds.
    pub(crate) fn bytes(&self) -> usize {
        let (nodes, pieces) = (size_of_val(self.nodes.as_slice()), size_of_val(self.pieces.as_slice()));
        nodes + pieces + self.bytes.len() + self.known.bytes()
    }

    /// Frees unused capacity.
    pub(crate) fn shrink(&mut self) {
        self.nodes.shrink_to_fit();
        self.bytes.shrink_to_fit();
        self.pieces.shrink_to_fit();
        self.known.shrink();
    }

    /// The number of terms, including composite terms and the pieces of substrings.
    #[inline]
    pub(crate) fn terms(&self) -> usize {
        self.nodes.len() + self.pieces.len()
    }

    /// The index of the node after the node at `at` and its operands.
    #[inline]
    pub(crate) fn after(&self, at: usize) -> usize {
        match self.nodes.get(at) {
            Some(Node::And { end } | Node::Or { end } | Node::Not { end }) => *end as usize,
            _ => at + 1,
        }
    }

    #[inline]
    pub(crate) fn text(&self, span: Span) -> &[u8] {
        span.of(&self.bytes)
    }

    /// The first piece of a substring test, if it is at the start of values.
    pub(crate) fn initial(&self, pieces: Span) -> Option<&[u8]> {
        match pieces.of(&self.pieces) {
            [PieceSpan { kind: PieceKind::Initial, text }, ..] => Some(text.of(&self.bytes)),
            _ => None,
        }
    }
}
