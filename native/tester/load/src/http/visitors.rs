//! The people of a site: rows of data, whose columns are their properties.

use std::sync::Arc;

use people::visitor::{Visitor, Visitors};

use super::escape::{Escape, push};
use crate::fill::{People, write_number};

/// A property of a person.
#[derive(Debug, Clone, Copy)]
pub(super) enum Property {
    Id,
    Text(fn(&Visitor) -> &str),
    Number(fn(&Visitor) -> u64),
    List(fn(&Visitor) -> &str),
}

const PROPERTIES: [(&str, Property); 17] = [
    ("id", Property::Id),
    ("name", Property::Text(|visitor| &visitor.name)),
    ("given", Property::Text(|visitor| &visitor.given)),
    ("family", Property::Text(|visitor| &visitor.family)),
    ("mail", Property::Text(|visitor| &visitor.mail)),
    ("city", Property::Text(|visitor| &visitor.city)),
    ("country", Property::Text(|visitor| &visitor.country)),
    ("language", Property::Text(|visitor| &visitor.language)),
    ("occupation", Property::Text(|visitor| &visitor.occupation)),
    ("company", Property::Text(|visitor| &visitor.company)),
    ("birth_year", Property::Number(|visitor| visitor.birth_year.unsigned_abs())),
    ("background", Property::Text(|visitor| &visitor.background)),
    ("accent", Property::Text(|visitor| &visitor.accent)),
    ("sections", Property::List(|visitor| &visitor.sections)),
    ("interests", Property::List(|visitor| &visitor.interests)),
    ("stocks", Property::List(|visitor| &visitor.stocks)),
    ("newsletter", Property::Number(|visitor| u64::from(visitor.newsletter))),
];

impl Property {
    pub(super) fn named(name: &str) -> Option<Self> {
        PROPERTIES.iter().find(|(key, _)| *key == name).map(|&(_, property)| property)
    }

    /// Whether the property has to be derived from the person's number.
    pub(super) const fn is_derived(self) -> bool {
        !matches!(self, Self::Id)
    }

    fn write(self, number: u64, visitor: &Visitor, how: Escape, out: &mut Vec<u8>) {
        match self {
            Self::Id => write_number(number, out),
            Self::Text(of) => push(out, of(visitor).as_bytes(), how),
            Self::Number(of) => write_number(of(visitor), out),
            Self::List(of) => push_list(out, of(visitor), how),
        }
    }
}

/// Joins the items with commas. Items are words, so no item needs an escape in JSON.
fn push_list(out: &mut Vec<u8>, json: &str, how: Escape) {
    let items = json.trim_start_matches('[').trim_end_matches(']').split(',');
    for (n, item) in items.enumerate() {
        if n > 0 {
            push(out, b",", how);
        }
        push(out, item.trim_matches('"').as_bytes(), how);
    }
}

/// One thread's view of the people. It keeps the last derived visitor.
pub(super) struct PeopleView {
    visitors: Option<Arc<Visitors>>,
    last: Option<u64>,
    visitor: Visitor,
}

impl PeopleView {
    pub(super) fn new(visitors: Option<Arc<Visitors>>) -> Self {
        Self { visitors, last: None, visitor: Visitor::default() }
    }

    /// Appends a property of a person.
    #[inline]
    pub(super) fn write(&mut self, number: u64, property: Property, how: Escape, out: &mut Vec<u8>) {
        if property.is_derived()
            && self.last != Some(number)
            && let Some(visitors) = &self.visitors
        {
            visitors.fill(number, &mut self.visitor);
            self.last = Some(number);
        }
        property.write(number, &self.visitor, how, out);
    }
}

/// The people as rows of a scenario's data.
#[derive(Debug)]
pub(crate) struct VisitorColumns {
    visitors: Option<Arc<Visitors>>,
    count: u64,
    columns: Vec<String>,
}

impl VisitorColumns {
    pub(crate) fn new(visitors: Option<Arc<Visitors>>, count: u64) -> Self {
        Self { visitors, count, columns: PROPERTIES.map(|(name, _)| name.to_owned()).into() }
    }
}

impl People for VisitorColumns {
    fn columns(&self, _added: bool) -> &[String] {
        &self.columns
    }

    fn count(&self) -> u64 {
        self.count
    }

    /// Derives the person with a new [`PeopleView`]. The callers, which compute values that use
    /// people and texts for output, have no access to the view of a thread.
    fn write(&self, number: u64, _added: bool, column: usize, out: &mut Vec<u8>) {
        if let Some(&(_, property)) = PROPERTIES.get(column) {
            PeopleView::new(self.visitors.clone()).write(number, property, Escape::Plain, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visitor_properties_are_inserted_into_their_places() {
        let visitor = Visitor {
            given: "Ann & Li".into(),
            sections: r#"["news","local"]"#.into(),
            city: "Köln".into(),
            birth_year: 1970,
            ..Visitor::default()
        };
        for (property, how, expected) in [
            ("id", Escape::Percent, "42"),
            ("given", Escape::Percent, "Ann%20%26%20Li"),
            ("given", Escape::Html, "Ann &amp; Li"),
            ("city", Escape::Percent, "K%C3%B6ln"),
            ("sections", Escape::Plain, "news,local"),
            ("sections", Escape::Percent, "news%2Clocal"),
            ("birth_year", Escape::Json, "1970"),
            ("newsletter", Escape::Plain, "0"),
        ] {
            let mut out = Vec::new();
            Property::named(property).unwrap().write(42, &visitor, how, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{property}");
        }
        assert!(Property::named("shoe_size").is_none());
    }
}
