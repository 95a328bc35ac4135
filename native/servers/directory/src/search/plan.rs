//! Chooses the source of a search's candidates.

use std::ops::Range;

use wire::ldap::Scope;

use super::source::Source;
use super::{Cursor, Reach};
use crate::filter::{CompiledFilter, Item, Node, Test};
use crate::index::{Hits, Key, MOST, OBJECT_CLASS};
use crate::schema::Matching;
use crate::store::{EntryId, LISTED, NONE, Operational, Scratch, Store, UnixSeconds};

/// For this few candidates, no better source is searched.
const FEW: u64 = 8;

/// Below a base with more containers than this, all entries are scanned.
const MANY_CONTAINERS: usize = 64;

/// A source and the most candidates that it yields.
type Plan = (Source, u64);

impl Store {
    /// Starts a search. The base `None` is the root above all suffixes. The cursor holds positions, not
    /// references: it outlives the store's lock.
    #[inline]
    pub fn search(
        &self,
        base: Option<EntryId>,
        scope: Scope,
        filter: &CompiledFilter,
        scratch: &mut Scratch,
    ) -> Cursor {
        let base = base.map(|id| id.0);
        let slot = base.and_then(|id| self.slots.get(id));
        let added = slot.map_or((0, 0), |slot| (slot.created, slot.sequence));
        let reach = Reach { base, added, scope };
        scratch.listable = LISTED;
        let source = match (scope, base) {
            (Scope::Base, Some(id)) => Source::one(id),
            (Scope::Base, None) => Source::Nothing,
            _ => Planner { store: self, filter, scratch }.plan(reach),
        };
        Cursor { reach, source, next: 0 }
    }

    /// The source of all entries that the scope of the search contains, and the number of these entries.
    fn plan_reach(&self, reach: Reach) -> Plan {
        let everything = (Source::Everything, u64::from(self.slots.end()));
        let children = |id: u32| self.children.get(&id).map_or(0, roaring::RoaringBitmap::len);
        match (reach.scope, reach.base) {
            (Scope::Base, Some(id)) => (Source::one(id), 1),
            (Scope::Base, None) => (Source::Nothing, 0),
            (Scope::One, Some(id)) => (Source::Children(id), children(id)),
            (Scope::One, None) => {
                let mut roots = self.roots.clone();
                roots.sort_unstable();
                let count = roots.len() as u64;
                (Source::Sorted(roots.into()), count)
            }
            (Scope::Subtree | Scope::Children, None) => everything,
            (Scope::Subtree | Scope::Children, Some(base)) if self.children.len() <= MANY_CONTAINERS => {
                let below = self.children.keys().filter(|id| self.is_at_or_below(**id, base));
                let containers: Vec<u32> = below.copied().collect();
                let count: u64 = containers.iter().map(|id| children(*id)).sum();
                if count + 1 >= everything.1 / 2 {
                    return everything;
                }
                let lists = containers.into_iter().map(Source::Children);
                (Source::Union(lists.chain([Source::one(base)]).collect()), count + 1)
            }
            (Scope::Subtree | Scope::Children, Some(base)) if !self.children.contains_key(&base) => {
                (Source::one(base), 1)
            }
            (Scope::Subtree | Scope::Children, Some(_)) => everything,
        }
    }

    #[inline]
    fn plan_key(&self, key: Key) -> Option<Plan> {
        Some(match self.indexes.get(key)? {
            Hits::Few(mut few, count) => {
                few[..count].sort_unstable();
                (Source::Few(few, count), count as u64)
            }
            Hits::Many(list) => (Source::Listed(key), list.len()),
        })
    }

    /// Whether an entry is within the scope of a search.
    #[inline]
    pub(super) fn reaches(&self, reach: &Reach, id: u32, parent: u32) -> bool {
        match (reach.scope, reach.base) {
            (Scope::Base, base) => base == Some(id),
            (Scope::One, base) => parent == base.unwrap_or(NONE),
            (Scope::Subtree | Scope::Children, None) => true,
            (Scope::Subtree, Some(base)) => parent == base || self.is_at_or_below(id, base),
            (Scope::Children, Some(base)) => parent == base || id != base && self.is_at_or_below(id, base),
        }
    }
}

/// Plans one search.
struct Planner<'p> {
    store: &'p Store,
    filter: &'p CompiledFilter,
    scratch: &'p mut Scratch,
}

impl Planner<'_> {
    #[inline]
    fn plan(&mut self, reach: Reach) -> Source {
        // If half of all entries are candidates, a scan of all entries is no slower.
        let most = u64::from(self.store.slots.end() / 2).max(FEW);
        match self.node(0, most) {
            Some((source, count)) if count <= FEW => source,
            Some((source, count)) => match self.store.plan_reach(reach) {
                (better, fewer) if fewer < count => better,
                _ => source,
            },
            None => self.store.plan_reach(reach).0,
        }
    }

    /// Candidates for the node at `at`; `None` without an index. A source of more than `most` candidates is
    /// useless and need not be listed.
    fn node(&mut self, at: usize, most: u64) -> Option<Plan> {
        match self.filter.at(at)? {
            Node::And { end } => self.smallest(at + 1..*end as usize, most),
            Node::Or { end } => self.union(at + 1..*end as usize, most),
            Node::Not { .. } => None,
            // An Undefined node is never true: an And with this node matches nothing, and an Or gains nothing
            // from it.
            Node::Undefined => Some((Source::Nothing, 0)),
            Node::Item(item) => self.item(item, most),
        }
    }

    /// The smallest source among the sources of an And's operands; the operands that are cheapest to plan are
    /// planned first.
    fn smallest(&mut self, nodes: Range<usize>, most: u64) -> Option<Plan> {
        let mut best: Option<Plan> = None;
        for cost in [PlanCost::Lookup, PlanCost::Listing, PlanCost::EveryEntry] {
            let mut at = nodes.start;
            while at < nodes.end {
                if PlanCost::of(self.filter.at(at)) == cost {
                    let most = best.as_ref().map_or(most, |best| best.1);
                    if let Some(plan) = self.node(at, most)
                        && best.as_ref().is_none_or(|best| plan.1 < best.1)
                    {
                        best = Some(plan);
                    }
                    if best.as_ref().is_some_and(|best| best.1 <= FEW) {
                        return best;
                    }
                }
                at = self.filter.after(at);
            }
        }
        best
    }

    /// The union of an Or's sources, if each operand has a source and the sum of their candidates is not too
    /// large.
    fn union(&mut self, nodes: Range<usize>, most: u64) -> Option<Plan> {
        let mut sources = Vec::new();
        let mut sum = 0;
        let mut at = nodes.start;
        while at < nodes.end {
            let (source, count) = self.node(at, most - sum)?;
            sources.push(source);
            sum += count;
            if sum > most {
                return None;
            }
            at = self.filter.after(at);
        }
        Some((Source::Union(sources.into()), sum))
    }

    /// The groups that contain a name, the groups that contain these groups, and so on. All terms together
    /// have the budget of one entry's evaluation.
    fn groups(&mut self, test: Test) -> Option<Plan> {
        let Test::Equal { raw, .. } = test else { return None };
        let Self { store, filter, scratch } = self;
        let work = store.limits.filter_work;
        let most = work / LISTED * scratch.listable;
        scratch.effort.begin(most);
        let mut groups = store.groups_of(filter.text(raw), true, UnixSeconds(0), &mut scratch.effort);
        groups.sort_unstable();
        let spent = (most - scratch.effort.budget.left()) * LISTED / work.max(1);
        scratch.listable = scratch.listable.saturating_sub(1 + spent);
        let count = groups.len() as u64;
        (!scratch.effort.budget.was_cut()).then(|| (Source::Sorted(groups.into()), count))
    }

    #[inline]
    fn item(&mut self, item: &Item, most: u64) -> Option<Plan> {
        if item.target.dn_attributes {
            return None;
        }
        if item.target.computed == Some(Operational::MemberInChain) {
            return self.groups(item.test);
        }
        let Self { store, filter, scratch } = self;
        let index = store.indexes.of_assertions(item.target.attribute?)?;
        match item.test {
            Test::Equal { matching, normal, .. } if matching == store.indexes.matching(index) => {
                let hash = store.indexes.hash(filter.text(normal));
                store.plan_key(Key { index, hash })
            }
            Test::Class { raw, class } => {
                let name = class.map_or(filter.text(raw), |class| store.schema.class_name(class));
                scratch.normal.clear();
                Matching::ObjectIdentifier.normalise(&store.schema, name, &mut scratch.normal);
                let hash = store.indexes.hash(&scratch.normal);
                store.plan_key(Key { index: OBJECT_CLASS, hash })
            }
            Test::Pieces { matching, pieces } if matching == store.indexes.matching(index) => {
                compact(filter.initial(pieces)?, &mut scratch.normal);
                let prefix = Some(&scratch.normal).filter(|prefix| !prefix.is_empty())?;
                let most = usize::try_from(most).map_or(MOST, |most| most.min(MOST));
                let ids = store.indexes.starting_with(index, prefix, most, &mut scratch.listable)?;
                let count = ids.len() as u64;
                Some((Source::Sorted(ids.into()), count))
            }
            _ => None,
        }
    }
}

/// The cost of planning a node, in the order in which the nodes of an And are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlanCost {
    /// The cost of a lookup in an index, or of planning the operands.
    Lookup,
    /// The cost of listing the candidates.
    Listing,
    /// A lookup that is useless, because nearly every entry has the class.
    EveryEntry,
}

impl PlanCost {
    #[inline]
    const fn of(node: Option<&Node>) -> Self {
        match node {
            Some(Node::Item(Item { test: Test::Class { .. }, .. })) => Self::EveryEntry,
            Some(Node::Item(Item { test: Test::Pieces { .. }, .. })) => Self::Listing,
            _ => Self::Lookup,
        }
    }
}

/// The prefix of the normal forms of values with this initial piece: the piece without the spaces that
/// preparation adds at its edges and between words.
fn compact(piece: &[u8], out: &mut Vec<u8>) {
    out.clear();
    for &byte in piece.trim_ascii() {
        if byte != b' ' || out.last() != Some(&b' ') {
            out.push(byte);
        }
    }
}
