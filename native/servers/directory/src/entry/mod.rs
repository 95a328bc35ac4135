//! The selection of attributes for an answer, and the names of these attributes in the answer.

mod write;

use wire::ldap::Selection;

use crate::ad::{Range, without_range};
use crate::schema::{AttributeId, Schema, base};
use crate::store::{Operational, has_options};

/// The spelling and order of attributes in answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Naming {
    /// Attributes are spelled as in the schema and ordered as in the entry, like in answers of LDAP servers.
    #[default]
    Canonical,
    /// Attributes are spelled and ordered as in the request, like in answers of ILS servers.
    AsRequested,
}

/// The attributes that a search selects (RFC 4511 section 4.5.1.8), resolved, in reused buffers.
#[derive(Debug, Clone, Default)]
pub struct Projection {
    /// Whether the list has `*` or is empty.
    all_user: bool,
    /// Whether the list has `+` (RFC 3673).
    all_operational: bool,
    types_only: bool,
    naming: Naming,
    wanted: Vec<Wanted>,
    names: Vec<u8>,
    /// Requested ranges of values.
    pub(crate) ranges: Vec<Range>,
}

/// An attribute description that a search lists.
#[derive(Debug, Clone)]
struct Wanted {
    /// The range of the requested spelling in `names`.
    asked: (usize, usize),
    /// The type as a number, because the names of its subtypes are many times as long.
    id: AttributeId,
    computed: Option<Operational>,
}

impl Projection {
    /// Compiles a selection, and replaces the previous selection.
    ///
    /// With `ranged`, `member;range=0-99` requests a part of the values.
    #[inline]
    pub fn compile(
        &mut self,
        schema: &Schema,
        selection: Selection<'_>,
        types_only: bool,
        naming: Naming,
        ranged: bool,
    ) {
        self.wanted.clear();
        self.names.clear();
        self.ranges.clear();
        self.all_user = selection.is_empty();
        self.all_operational = false;
        self.types_only = types_only;
        self.naming = naming;
        for asked in selection.iter() {
            match asked {
                b"*" => self.all_user = true,
                b"+" => self.all_operational = true,
                // `1.1` requests no attributes, and is ignored beside other descriptions (RFC 4511 section
                // 4.5.1.8).
                b"1.1" => {}
                _ => match without_range(asked).filter(|_| ranged) {
                    Some((name, range)) => {
                        self.ranges.push(range);
                        self.add(schema, name);
                    }
                    None => self.add(schema, asked),
                },
            }
        }
        // All user attributes are selected already, so listing a user attribute changes nothing.
        if self.all_user && naming == Naming::Canonical {
            self.wanted.retain(|wanted| wanted.computed.is_some());
        }
    }

    /// The bytes of heap memory that the selection holds.
    pub(crate) fn bytes(&self) -> usize {
        // The name of a range is not longer than its wanted description.
        size_of_val(self.wanted.as_slice()) + 2 * self.names.len() + size_of_val(self.ranges.as_slice())
    }

    /// Frees unused capacity.
    pub(crate) fn shrink(&mut self) {
        self.wanted.shrink_to_fit();
        self.names.shrink_to_fit();
        self.ranges.shrink_to_fit();
    }

    /// The number of listed descriptions.
    #[inline]
    pub(crate) fn listed(&self) -> usize {
        self.wanted.len()
    }

    /// Whether exactly all user attributes are selected, with values, so that the body can be sent unchanged.
    #[inline]
    pub fn is_verbatim(&self) -> bool {
        self.all_user && !self.types_only && !self.all_operational && self.wanted.is_empty()
    }

    fn add(&mut self, schema: &Schema, asked: &[u8]) {
        let Some(id) = schema.resolve(asked) else {
            return;
        };
        let computed = Operational::of(schema, id);
        let asked = self.keep(asked);
        self.wanted.push(Wanted { asked, id, computed });
    }

    fn keep(&mut self, name: &[u8]) -> (usize, usize) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        (start, self.names.len())
    }

    fn name(&self, (start, end): (usize, usize)) -> &[u8] {
        self.names.get(start..end).unwrap_or_default()
    }

    /// Whether a stored description matches a wanted description: the same type or a subtype, with at least
    /// the wanted options.
    fn is_wanted(&self, schema: &Schema, wanted: &Wanted, description: &[u8]) -> bool {
        let name = base(description);
        schema.subtypes(wanted.id).iter().any(|id| schema.canonical_name(*id).as_bytes() == name)
            && has_options(description, self.name(wanted.asked))
    }
}
