//! The fields that templates may use.

use people::visitor::Visitor;

use super::escape::{Escape, push, push_number};

/// A field of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// The person's number, or what the site calls a person this run created.
    Id,
    /// A property of the person.
    Property(Property),
    /// What was captured last.
    Captured,
    /// A value drawn for the last update.
    Drawn(Drawn),
}

/// A property of a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Property {
    Name,
    Given,
    Family,
    Mail,
    City,
    Country,
    Language,
    Occupation,
    Company,
    BirthYear,
    Background,
    Accent,
    Sections,
    Interests,
    Stocks,
    Newsletter,
}

/// A value drawn for an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Drawn {
    Colour,
    Accent,
    City,
    Number,
}

const NAMES: [(&str, Field); 22] = {
    use Property as P;
    const fn of(property: Property) -> Field {
        Field::Property(property)
    }
    [
        ("id", Field::Id),
        ("name", of(P::Name)),
        ("given", of(P::Given)),
        ("family", of(P::Family)),
        ("mail", of(P::Mail)),
        ("city", of(P::City)),
        ("country", of(P::Country)),
        ("language", of(P::Language)),
        ("occupation", of(P::Occupation)),
        ("company", of(P::Company)),
        ("birth_year", of(P::BirthYear)),
        ("background", of(P::Background)),
        ("accent", of(P::Accent)),
        ("sections", of(P::Sections)),
        ("interests", of(P::Interests)),
        ("stocks", of(P::Stocks)),
        ("newsletter", of(P::Newsletter)),
        ("captured", Field::Captured),
        ("draw.colour", Field::Drawn(Drawn::Colour)),
        ("draw.accent", Field::Drawn(Drawn::Accent)),
        ("draw.city", Field::Drawn(Drawn::City)),
        ("draw.number", Field::Drawn(Drawn::Number)),
    ]
};

/// The values of all fields for one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldValues<'a> {
    pub(super) id: u64,
    /// The person, if the template asked for one.
    pub(super) visitor: &'a Visitor,
    pub(super) captured: &'a [u8],
    pub(super) draw: u64,
    /// The visitor whose city an update moves to, if the template asks for it.
    pub(super) moved_to: &'a Visitor,
}

impl Field {
    /// The properties of people, as columns are called.
    pub(super) fn columns() -> impl Iterator<Item = (&'static str, Self)> {
        let is_of_person = |(_, field): &(&str, Self)| matches!(field, Self::Id | Self::Property(_));
        NAMES.into_iter().filter(is_of_person)
    }

    pub(super) fn named(name: &str) -> Result<Self, String> {
        let known = NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, field)| field).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(name, _)| *name).collect();
            format!("there is no field {{{name}}}: use one of {}", names.join(", "))
        })
    }

    pub(super) const fn needs_visitor(self) -> bool {
        matches!(self, Self::Property(_))
    }

    pub(super) const fn needs_move(self) -> bool {
        matches!(self, Self::Drawn(Drawn::City))
    }

    #[inline]
    pub(super) fn write(self, values: &FieldValues<'_>, how: Escape, out: &mut Vec<u8>) {
        match self {
            Self::Id => push_number(out, values.id),
            Self::Property(property) => property.write(values.visitor, how, out),
            Self::Captured => push(out, values.captured, how),
            Self::Drawn(Drawn::Colour) => push_colour(out, values.draw, how),
            Self::Drawn(Drawn::Accent) => push_colour(out, values.draw >> 24, how),
            Self::Drawn(Drawn::City) => push(out, values.moved_to.city.as_bytes(), how),
            Self::Drawn(Drawn::Number) => push_number(out, values.draw >> 34),
        }
    }
}

impl Property {
    fn write(self, visitor: &Visitor, how: Escape, out: &mut Vec<u8>) {
        let text = match self {
            Self::Name => &visitor.name,
            Self::Given => &visitor.given,
            Self::Family => &visitor.family,
            Self::Mail => &visitor.mail,
            Self::City => &visitor.city,
            Self::Country => &visitor.country,
            Self::Language => &visitor.language,
            Self::Occupation => &visitor.occupation,
            Self::Company => &visitor.company,
            Self::Background => &visitor.background,
            Self::Accent => &visitor.accent,
            Self::BirthYear => return push_number(out, visitor.birth_year.unsigned_abs()),
            Self::Newsletter => return push_number(out, u64::from(visitor.newsletter)),
            Self::Sections => return push_list(out, &visitor.sections, how),
            Self::Interests => return push_list(out, &visitor.interests, how),
            Self::Stocks => return push_list(out, &visitor.stocks, how),
        };
        push(out, text.as_bytes(), how);
    }
}

/// The items with commas between them. They are words: nothing in them is escaped in JSON.
fn push_list(out: &mut Vec<u8>, json: &str, how: Escape) {
    let items = json.trim_start_matches('[').trim_end_matches(']').split(',');
    for (n, item) in items.enumerate() {
        if n > 0 {
            push(out, b",", how);
        }
        push(out, item.trim_matches('"').as_bytes(), how);
    }
}

fn push_colour(out: &mut Vec<u8>, bits: u64, how: Escape) {
    push(out, b"#", how);
    for shift in [20, 16, 12, 8, 4, 0] {
        out.push(b"0123456789abcdef"[(bits >> shift & 15) as usize]);
    }
}
