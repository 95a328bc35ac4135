//! The profile of the paper's add: an AddRequest message of 126 bytes, within 10 % in every script.
//!
//! The message contains the name twice, in the DN and in cn, and a letter takes up to three bytes. So names
//! are drawn among the names that fit, and the largest filler that fits takes the remaining space: a
//! description, or the country, or nothing.

use wire::ber::{self, element_size, tag};

use super::country;
use crate::draw::{Chance, Draw};
use crate::encoded::{Pool, attribute_size, write_attribute, write_attribute_header};
use crate::name::{FullName, dn_element_size};
use crate::pools::{Field, LocalePools};
use crate::spec::{DEFAULT_BASE, OBJECT_CLASS};
use crate::text::Text;
use wire::decimal::Decimal;

/// The AddRequest with its LDAPMessage and a message id of one byte (paper 002: 1,300 adds a second arrive as
/// 161 to 171 KB/s, Tables 5 and 8).
pub(crate) const ADD_BYTES: usize = 126;
/// The longest name with its two spaces and its number. A message without a filler then has 137 bytes.
const LONGEST_NAME: usize = 31;
/// Numbers with up to this many digits keep the size of 126 bytes; longer numbers get the shortest names.
const DIGITS: usize = 10;

const TEXT: &str = "description";
const TEXT_OVERHEAD: usize = attribute_size(TEXT, 1) - 1;
/// Room for at least one character of any script after spaces are trimmed.
const SHORTEST_TEXT: usize = 6;

#[derive(Debug)]
pub(crate) struct Small {
    object_class: Vec<u8>,
    locales: Vec<Locale>,
}

#[derive(Debug)]
struct Locale {
    given: ByLength,
    family: ByLength,
    country: Vec<u8>,
    text: Text,
}

impl Small {
    /// Encodes the pools. Fails with the name of a locale whose names are all too long.
    pub(crate) fn new(pools: &[&LocalePools]) -> Result<Self, String> {
        let mut object_class = Vec::new();
        write_attribute("objectClass", OBJECT_CLASS.as_bytes(), &mut object_class);
        let locales = pools.iter().map(|&pools| {
            let locale = Locale::new(pools);
            let shortest = locale.given.shortest() + locale.family.shortest() + 2 + DIGITS;
            if shortest <= LONGEST_NAME { Ok(locale) } else { Err(pools.name.clone()) }
        });
        Ok(Self { locales: locales.collect::<Result<_, _>>()?, object_class })
    }

    #[inline]
    pub(crate) fn write_name(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        chance.choose(Draw::Locale, &self.locales).name(chance, i).write(out);
    }

    #[inline]
    pub(crate) fn write_attributes(&self, chance: Chance, i: u64, out: &mut Vec<u8>) {
        let locale = chance.choose(Draw::Locale, &self.locales);
        let name = locale.name(chance, i);
        let before = self.object_class.len() + attribute_size("cn", name.len());
        let filler = locale.filler(chance, before, name.len());
        let length = before + filler.size();

        out.reserve(element_size(length));
        ber::write_header(out, tag::SEQUENCE, length);
        out.extend_from_slice(&self.object_class);
        name.write_attribute(out);
        filler.write(out);
    }
}

enum Filler<'a> {
    Description(&'a [u8]),
    Country(&'a [u8]),
    Nothing,
}

impl Filler<'_> {
    fn size(&self) -> usize {
        match self {
            Self::Description(text) => attribute_size(TEXT, text.len()),
            Self::Country(attribute) => attribute.len(),
            Self::Nothing => 0,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Description(text) => {
                write_attribute_header(TEXT, text.len(), out);
                out.extend_from_slice(text);
            }
            Self::Country(attribute) => out.extend_from_slice(attribute),
            Self::Nothing => {}
        }
    }
}

/// The size of the AddRequest message around an attribute list of `list` bytes.
const fn add_size(list: usize, name: usize) -> usize {
    element_size(3 + element_size(dn_element_size(name, DEFAULT_BASE.len()) + element_size(list)))
}

impl Locale {
    fn new(pools: &LocalePools) -> Self {
        Self {
            given: ByLength::new(pools.values(Field::Given)),
            family: ByLength::new(pools.values(Field::Family)),
            country: country(pools),
            text: Text::new(pools.values(Field::Text), ADD_BYTES),
        }
    }

    #[inline]
    fn name(&self, chance: Chance, i: u64) -> FullName<'_> {
        let number = Decimal::new(i);
        let room = LONGEST_NAME - 2 - number.length();
        let given = self.given.pick(chance, Draw::Given, room.saturating_sub(self.family.shortest()));
        let family = self.family.pick(chance, Draw::Family, room.saturating_sub(given.len()));
        FullName { given, family, number }
    }

    fn filler(&self, chance: Chance, before: usize, name: usize) -> Filler<'_> {
        let slack = ADD_BYTES.saturating_sub(add_size(before, name));
        if slack >= TEXT_OVERHEAD + SHORTEST_TEXT {
            Filler::Description(self.text.slice(chance, slack - TEXT_OVERHEAD))
        } else if add_size(before + self.country.len(), name) <= ADD_BYTES + ADD_BYTES / 10 {
            Filler::Country(&self.country)
        } else {
            Filler::Nothing
        }
    }
}

/// Values in the order of their length, so that the values that fit are the first.
#[derive(Debug)]
struct ByLength {
    values: Pool,
    /// The index is a number of bytes. The element is the number of values that have at most so many bytes.
    up_to: [u32; LONGEST_NAME],
}

impl ByLength {
    fn new(values: &[String]) -> Self {
        let mut sorted: Vec<&str> = values.iter().map(String::as_str).collect();
        sorted.sort_by_key(|value| value.len());
        let mut up_to = [0; LONGEST_NAME];
        for (length, count) in up_to.iter_mut().enumerate() {
            *count = sorted.partition_point(|value| value.len() <= length) as u32;
        }
        Self { values: Pool::raw(&sorted), up_to }
    }

    fn shortest(&self) -> usize {
        self.values.get(0).value.len()
    }

    /// A value of at most `longest` bytes, or the shortest of all.
    #[inline]
    fn pick(&self, chance: Chance, what: Draw, longest: usize) -> &[u8] {
        let fitting = self.up_to[longest.min(LONGEST_NAME - 1)] as usize;
        self.values.get(chance.below(what, fitting)).value
    }
}
