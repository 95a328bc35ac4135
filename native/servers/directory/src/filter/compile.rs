//! Compiles decoded filters to nodes.

use std::cmp::Ordering;

use wire::ldap::Filter;
use wire::ldap::filter::{Assertion, Extensible, Kind, Piece, pieces};

use super::CompiledFilter;
use super::node::{Item, Node, PieceSpan, Span, Target, Test};
use crate::matching::{PieceKind, number};
use crate::schema::{IN_CHAIN, Matching, Role, Schema, rule};
use crate::store::Operational;

impl CompiledFilter {
    /// Compiles `filter`, and replaces the previous filter. Unknown types and rules compile to Undefined (RFC
    /// 4511 section 4.5.1.7), so compiling cannot fail.
    #[inline]
    pub fn compile(&mut self, schema: &Schema, filter: Filter<'_>) {
        self.nodes.clear();
        self.bytes.clear();
        self.known.start(schema);
        self.pieces.clear();
        self.add(schema, filter);
    }

    fn add(&mut self, schema: &Schema, filter: Filter<'_>) {
        match filter.kind() {
            Kind::And(filters) => self.add_nested(schema, filters.iter(), |end| Node::And { end }),
            Kind::Or(filters) => self.add_nested(schema, filters.iter(), |end| Node::Or { end }),
            Kind::Not(filter) => self.add_nested(schema, std::iter::once(filter), |end| Node::Not { end }),
            item => {
                let item = self.item(schema, item);
                self.nodes.push(item.map_or(Node::Undefined, Node::Item));
            }
        }
    }

    fn add_nested<'f>(
        &mut self,
        schema: &Schema,
        filters: impl Iterator<Item = Filter<'f>>,
        node: impl Fn(u32) -> Node,
    ) {
        let at = self.nodes.len();
        self.nodes.push(Node::Undefined);
        filters.for_each(|filter| self.add(schema, filter));
        self.nodes[at] = node(self.nodes.len() as u32);
    }

    fn item(&mut self, schema: &Schema, kind: Kind<'_>) -> Option<Item> {
        match kind {
            Kind::Equality(assertion) => self.equality(schema, assertion),
            // RFC 4511 section 4.5.1.7.6 leaves approximate matching to the server. Here it means equality.
            Kind::Approx(assertion) => self.equality(schema, assertion),
            Kind::Present(attribute) => {
                let target = self.known.target(schema, attribute)?.1;
                Some(Item { target, test: Test::Present })
            }
            Kind::GreaterOrEqual(assertion) => self.ordering(schema, assertion, Ordering::is_ge),
            Kind::LessOrEqual(assertion) => self.ordering(schema, assertion, Ordering::is_le),
            Kind::Substrings(attribute, pieces) => {
                let (id, target) = self.known.target(schema, attribute)?;
                let matching = schema.attribute(id).substrings?.matching;
                let pieces = self.pieces(matching, pieces.iter())?;
                Some(Item { target, test: Test::Pieces { matching, pieces } })
            }
            Kind::Extensible(extensible) => self.extensible(schema, &extensible),
            Kind::And(_) | Kind::Or(_) | Kind::Not(_) => None,
        }
    }

    #[inline]
    fn equality(&mut self, schema: &Schema, assertion: Assertion<'_>) -> Option<Item> {
        let (id, target) = self.known.target(schema, assertion.attribute)?;
        let matching = schema.attribute(id).equality?.matching;
        let test = if schema.is_object_class(id) {
            let class = self.known.class(schema, assertion.value.trim_ascii());
            Test::Class { raw: Span::push(assertion.value, &mut self.bytes), class }
        } else {
            self.equal(schema, matching, assertion.value)?
        };
        Some(Item { target, test })
    }

    #[inline]
    fn equal(&mut self, schema: &Schema, matching: Matching, value: &[u8]) -> Option<Test> {
        let raw = Span::push(value, &mut self.bytes);
        let normal = self.normal(schema, matching, value)?;
        Some(Test::Equal { matching, raw, normal })
    }

    fn ordering(
        &mut self,
        schema: &Schema,
        assertion: Assertion<'_>,
        accepts: fn(Ordering) -> bool,
    ) -> Option<Item> {
        let (id, target) = self.known.target(schema, assertion.attribute)?;
        let matching = schema.attribute(id).ordering?.matching;
        let normal = self.normal(schema, matching, assertion.value)?;
        Some(Item { target, test: Test::Ordered { matching, normal, accepts } })
    }

    /// RFC 4511 section 4.5.1.7.7.
    fn extensible(&mut self, schema: &Schema, filter: &Extensible<'_>) -> Option<Item> {
        if let (Some(IN_CHAIN), Some(attribute)) = (filter.rule, filter.attribute) {
            return self.in_chain(schema, attribute, filter.value);
        }
        let (id, mut target) = match filter.attribute {
            Some(attribute) => self.known.target(schema, attribute).map(|(id, target)| (Some(id), target))?,
            None => (None, Target::default()),
        };
        target.dn_attributes = filter.dn_attributes;
        let rule = match (filter.rule, id) {
            (Some(name), _) => rule(name)?,
            (None, Some(id)) => schema.attribute(id).equality?,
            (None, None) => return None,
        };
        let matching = rule.matching;
        let test = match rule.role {
            Role::Equality => self.equal(schema, matching, filter.value)?,
            Role::Ordering => {
                let normal = self.normal(schema, matching, filter.value)?;
                Test::Ordered { matching, normal, accepts: Ordering::is_lt }
            }
            Role::Substrings => {
                // RFC 4517 section 3.3.30: asterisks separate the pieces.
                let pieces = self.pieces(matching, pieces(filter.value.split(|&byte| byte == b'*')))?;
                Test::Pieces { matching, pieces }
            }
            Role::BitAnd | Role::BitOr => {
                Test::Bits { mask: number(filter.value)?, all: rule.role == Role::BitAnd }
            }
        };
        Some(Item { target, test })
    }

    /// Compiles a test for direct or indirect membership in a group, if the server constructs memberOf.
    fn in_chain(&mut self, schema: &Schema, attribute: &[u8], value: &[u8]) -> Option<Item> {
        let (id, target) = self.known.target(schema, attribute)?;
        let computed = match schema.canonical_name(id) {
            "memberOf" => Operational::MemberOfInChain,
            "member" => Operational::MemberInChain,
            _ => return None,
        };
        let test =
            self.equal(schema, Matching::DistinguishedName, value).filter(|_| schema.has_member_of())?;
        // An empty name and no subtypes keep the test from stored values: only the computed value is tested.
        let (name, subtypes) = (Span::default(), Span::default());
        Some(Item { target: Target { computed: Some(computed), name, subtypes, ..target }, test })
    }

    fn pieces<'p>(&mut self, matching: Matching, pieces: impl Iterator<Item = Piece<'p>>) -> Option<Span> {
        let start = self.pieces.len();
        for piece in pieces {
            let (kind, text) = match piece {
                Piece::Initial(text) => (PieceKind::Initial, text),
                Piece::Any(text) => (PieceKind::Any, text),
                Piece::Final(text) => (PieceKind::Final, text),
            };
            let before = self.bytes.len();
            if !matching.prepare_piece(kind, text, &mut self.bytes) {
                return None;
            }
            self.pieces.push(PieceSpan { kind, text: Span::since(before, &self.bytes) });
        }
        Some(Span::since(start, &self.pieces))
    }

    #[inline]
    fn normal(&mut self, schema: &Schema, matching: Matching, value: &[u8]) -> Option<Span> {
        let start = self.bytes.len();
        matching.normalise(schema, value, &mut self.bytes).then(|| Span::since(start, &self.bytes))
    }
}
