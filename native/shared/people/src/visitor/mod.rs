//! People as visitors of a personalized site: the properties of person `i`, computed from (seed, `i`) alone.
//!
//! Visitor `i` is the same person as entry `i` in the paper profile: name, mail, city, country, company and
//! occupation are drawn by the same draws from the same pools. Colours, sections, interests and further
//! properties are drawn in addition.

mod choices;
mod identity;
mod subset;

pub use self::choices::{
    ACCENTS, BACKGROUNDS, INTEREST_COUNTS, INTERESTS, SECTION_COUNTS, SECTIONS, STOCK_COUNTS, STOCKS,
};
use self::choices::{BIRTH_YEARS, FIRST_BIRTH_YEAR, VISIT_SPAN_S, VISITED_BEFORE_UNIX_S, VISITS};
use self::subset::Selections;
use crate::draw::{Chance, Draw, Root};
use crate::name::DOMAINS;
use crate::pools::{Field, LocalePools, Pools};
use crate::population::{PopulationError, find_locales};
use wire::decimal::Decimal;

/// The properties of one person. The buffers are reused from person to person.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Visitor {
    /// The number of the person, which is the key in the user-property database.
    pub id: u64,
    /// The whole name, unique: the cn of the paper profile.
    pub name: String,
    pub given: String,
    pub family: String,
    pub mail: String,
    pub city: String,
    /// ISO 3166 code, two letters.
    pub country: String,
    /// ISO 639 code, two letters.
    pub language: String,
    pub occupation: String,
    pub company: String,
    pub birth_year: i64,
    /// The page's background colour, `#rrggbb`.
    pub background: String,
    /// Colour of headings and links, `#rrggbb`.
    pub accent: String,
    /// Chosen sections in the chosen order, a JSON array.
    pub sections: String,
    /// Interests, a JSON array.
    pub interests: String,
    /// Ticker symbols, a JSON array.
    pub stocks: String,
    /// Whether the person wants the newsletter.
    pub newsletter: bool,
    pub visits: i64,
    /// In seconds since 1970.
    pub last_visit: i64,
}

/// Visitors, each a pure function of (seed, i). Their number is unlimited.
///
/// `Send` and `Sync`: share it in an `Arc`.
#[derive(Debug)]
pub struct Visitors {
    seed: u64,
    root: Root,
    pools_digest: String,
    locales: Vec<Locale>,
    sections: Selections,
    interests: Selections,
    stocks: Selections,
}

#[derive(Debug)]
struct Locale {
    language: String,
    pools: LocalePools,
}

impl Visitors {
    /// Visitors from these locales, in equal shares. The order of locales matters.
    pub fn new(pools: &Pools, seed: u64, locales: &[String]) -> Result<Self, PopulationError> {
        let locales = find_locales(pools, locales)?.into_iter().map(|pools| Locale {
            // The name of a locale is its ISO 639 language, an underscore, and its ISO 3166 country.
            language: pools.name.split('_').next().unwrap_or("en").to_owned(),
            pools: pools.clone(),
        });
        let root = Root::new(seed);
        Ok(Self {
            seed,
            root,
            pools_digest: pools.digest().to_owned(),
            locales: locales.collect(),
            sections: Selections::new(root, Draw::Sections, &SECTIONS, SECTION_COUNTS),
            interests: Selections::new(root, Draw::Interests, &INTERESTS, INTEREST_COUNTS),
            stocks: Selections::new(root, Draw::Stocks, &STOCKS, STOCK_COUNTS),
        })
    }

    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// SHA-256 of the pools file.
    pub fn pools_digest(&self) -> &str {
        &self.pools_digest
    }

    /// Replaces the properties in `visitor` by the properties of person `i`.
    ///
    /// Allocates nothing once the buffers have grown to the longest values.
    pub fn fill(&self, i: u64, visitor: &mut Visitor) {
        let chance = Chance::new(self.root, i);
        let locale = chance.choose(Draw::Locale, &self.locales);
        visitor.id = i;
        locale.fill(chance, i, visitor);
        set(&mut visitor.background, chance.choose::<&str>(Draw::Background, &BACKGROUNDS));
        set(&mut visitor.accent, chance.choose::<&str>(Draw::Accent, &ACCENTS));
        set(&mut visitor.sections, self.sections.pick(chance, Draw::Sections));
        set(&mut visitor.interests, self.interests.pick(chance, Draw::Interests));
        set(&mut visitor.stocks, self.stocks.pick(chance, Draw::Stocks));
        visitor.birth_year = FIRST_BIRTH_YEAR + chance.below(Draw::BirthYear, BIRTH_YEARS) as i64;
        visitor.newsletter = chance.below(Draw::Newsletter, 2) == 1;
        visitor.visits = chance.below(Draw::Visits, VISITS) as i64;
        visitor.last_visit = VISITED_BEFORE_UNIX_S - 1 - chance.below(Draw::LastVisit, VISIT_SPAN_S) as i64;
    }

    /// The properties of person `i` in new buffers.
    pub fn visitor(&self, i: u64) -> Visitor {
        let mut visitor = Visitor::default();
        self.fill(i, &mut visitor);
        visitor
    }
}

impl Locale {
    /// Sets the properties that come from the pools, as in the paper profile.
    fn fill(&self, chance: Chance, i: u64, visitor: &mut Visitor) {
        let number = Decimal::new(i);
        // Decimal digits are ASCII.
        let number = std::str::from_utf8(number.as_bytes()).unwrap_or_default();
        set(&mut visitor.given, self.pick(chance, Draw::Given, Field::Given));
        set(&mut visitor.family, self.pick(chance, Draw::Family, Field::Family));
        join(&mut visitor.name, &[&visitor.given, " ", &visitor.family, " ", number]);
        let domain = chance.choose(Draw::Domain, &DOMAINS);
        let user = self.pick(chance, Draw::User, Field::User);
        join(&mut visitor.mail, &[user, ".", number, "@", domain]);
        set(&mut visitor.city, self.pick(chance, Draw::City, Field::City));
        set(&mut visitor.company, self.pick(chance, Draw::Company, Field::Company));
        set(&mut visitor.occupation, self.pick(chance, Draw::Job, Field::Job));
        set(&mut visitor.country, self.pools.values(Field::Country).first().map_or("", String::as_str));
        set(&mut visitor.language, &self.language);
    }

    fn pick(&self, chance: Chance, what: Draw, field: Field) -> &str {
        chance.choose(what, self.pools.values(field)).as_str()
    }
}

fn set(buffer: &mut String, value: &str) {
    buffer.clear();
    buffer.push_str(value);
}

fn join(buffer: &mut String, parts: &[&str]) {
    buffer.clear();
    parts.iter().for_each(|part| buffer.push_str(part));
}
