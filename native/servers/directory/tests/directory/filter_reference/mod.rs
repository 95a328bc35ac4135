//! Filters on every syntax return the same entries as a naive evaluation by RFC 4511 section 4.5.1.7, with
//! and without indexes.

mod kinds;

use std::fmt::{self, Display, Formatter, Write};

use crate::store_common::{add, all_hold, search};
use directory::schema::Schema;
use directory::store::Store;
use kinds::{KINDS, Kind};
use proptest::collection::vec;
use proptest::prelude::*;

/// A value of a kind: its rank, and the number of its spelling.
#[derive(Debug, Clone, Copy)]
struct Value {
    kind: usize,
    rank: usize,
    spelling: usize,
}

impl Value {
    fn kind(self) -> &'static Kind {
        &KINDS[self.kind]
    }

    fn spelled(self) -> &'static str {
        let spellings = self.kind().ranks[self.rank];
        spellings[self.spelling % spellings.len()]
    }

    fn form(self) -> String {
        self.kind().pieces.expect("only asserted where there are pieces")(self.kind().ranks[self.rank][0])
    }
}

/// A person's values; values of the same kind have different ranks.
type Person = Vec<Value>;

#[derive(Debug, Clone)]
enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Present(usize),
    Equal(Value),
    Approx(Value),
    AtLeast(Value),
    AtMost(Value),
    /// An extensible match by the kind's equality rule, named explicitly.
    Rule(Value),
    /// An extensible match by the kind's ordering rule, which is true for smaller values (RFC 4517 section
    /// 4.1).
    Before(Value),
    /// The letters of a value's form between these places, with or without a wildcard before and behind.
    Pieces {
        value: Value,
        cut: (usize, usize),
        open: (bool, bool),
    },
    Broken(usize),
    Unheard,
}

fn value() -> impl Strategy<Value = Value> {
    (0..KINDS.len()).prop_flat_map(|kind| {
        (0..KINDS[kind].ranks.len(), 0..3usize).prop_map(move |(rank, spelling)| Value {
            kind,
            rank,
            spelling,
        })
    })
}

fn people() -> impl Strategy<Value = Vec<Person>> {
    let person = vec(value(), 0..8).prop_map(|mut values| {
        values.sort_by_key(|value| (value.kind, value.rank));
        values.dedup_by_key(|value| (value.kind, value.rank));
        values
    });
    vec(person, 1..24)
}

fn filter() -> impl Strategy<Value = Filter> {
    let leaf = prop_oneof![
        1 => (0..KINDS.len()).prop_map(Filter::Present),
        4 => value().prop_map(Filter::Equal),
        1 => value().prop_map(Filter::Approx),
        3 => value().prop_map(Filter::AtLeast),
        3 => value().prop_map(Filter::AtMost),
        1 => value().prop_map(Filter::Rule),
        1 => value().prop_map(Filter::Before),
        4 => (value(), (0..12usize, 0..12usize), any::<(bool, bool)>()).prop_map(|(value, cut, open)| {
            Filter::Pieces { value, cut, open }
        }),
        1 => (0..KINDS.len()).prop_map(Filter::Broken),
        1 => Just(Filter::Unheard),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Filter::And),
            vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

/// The letters of a form between two places, without spaces at the ends;
/// `native/servers/directory/tests/directory/matching.rs` tests spaces. The result is never empty.
fn piece(form: &str, (from, to): (usize, usize)) -> String {
    let letters: Vec<char> = form.chars().collect();
    let from = from.min(letters.len() - 1);
    let to = to.clamp(from + 1, letters.len().max(from + 1));
    let cut: String = letters[from..to].iter().collect();
    if cut.trim().is_empty() { form.to_owned() } else { cut.trim().to_owned() }
}

fn escaped(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        match byte {
            b'(' | b')' | b'*' | b'\\' | 0x80.. => write!(text, "\\{byte:02x}").unwrap(),
            _ => text.push(char::from(byte)),
        }
    }
    text
}

/// Formats the filter by RFC 4515.
impl Display for Filter {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let all = |sign: char, filters: &[Self], out: &mut Formatter<'_>| {
            write!(out, "({sign}")?;
            filters.iter().try_for_each(|filter| write!(out, "{filter}"))?;
            write!(out, ")")
        };
        let item = |value: &Value, sign: &str, out: &mut Formatter<'_>| {
            write!(out, "({}{sign}{})", value.kind().name, escaped(value.spelled()))
        };
        let by = |value: &Value, rule: Option<&str>, out: &mut Formatter<'_>| {
            item(value, &format!(":{}:=", rule.unwrap_or("noSuchRule")), out)
        };
        match self {
            Self::And(filters) => all('&', filters, out),
            Self::Or(filters) => all('|', filters, out),
            Self::Not(filter) => write!(out, "(!{filter})"),
            Self::Present(kind) => write!(out, "({}=*)", KINDS[*kind].name),
            Self::Equal(value) => item(value, "=", out),
            Self::Approx(value) => item(value, "~=", out),
            Self::AtLeast(value) => item(value, ">=", out),
            Self::AtMost(value) => item(value, "<=", out),
            Self::Rule(value) => by(value, value.kind().equality, out),
            Self::Before(value) => by(value, value.kind().ordering, out),
            Self::Pieces { value, cut, open } => {
                let text = value.kind().pieces.map_or("x".to_owned(), |_| piece(&value.form(), *cut));
                let star = |is: bool| if is { "*" } else { "" };
                // Without an asterisk the filter would be an equality match.
                let (before, behind) =
                    if *open == (false, false) { ("", "*") } else { (star(open.0), star(open.1)) };
                write!(out, "({}={before}{}{behind})", value.kind().name, escaped(&text))
            }
            Self::Broken(kind) => {
                let kind = &KINDS[*kind];
                write!(out, "({}={})", kind.name, kind.broken.unwrap_or_else(|| kind.ranks[0][0]))
            }
            Self::Unheard => write!(out, "(unheardOf=x)"),
        }
    }
}

/// The values that a kind's name covers, with the values of its subtypes.
fn of(person: &Person, kind: &'static Kind) -> impl Iterator<Item = Value> {
    let is = move |other: &Kind| other.name == kind.name || other.supertype == Some(kind.name);
    person.iter().copied().filter(move |value| is(value.kind()))
}

/// Evaluates a filter by RFC 4511 section 4.5.1.7; `None` is Undefined.
fn holds(filter: &Filter, person: &Person) -> Option<bool> {
    let any = |asserted: &Value, rule: Option<&str>, is: fn(usize, usize) -> bool| {
        rule.map(|_| of(person, asserted.kind()).any(|value| is(value.rank, asserted.rank)))
    };
    match filter {
        Filter::And(filters) => {
            let truths: Vec<_> = filters.iter().map(|filter| holds(filter, person)).collect();
            all_hold(&truths)
        }
        Filter::Or(filters) => {
            let truths = filters.iter().map(|filter| holds(filter, person));
            let denied: Vec<_> = truths.map(|truth| truth.map(|truth| !truth)).collect();
            all_hold(&denied).map(|truth| !truth)
        }
        Filter::Not(filter) => holds(filter, person).map(|truth| !truth),
        Filter::Present(kind) => Some(of(person, &KINDS[*kind]).next().is_some()),
        Filter::Equal(asserted) | Filter::Approx(asserted) | Filter::Rule(asserted) => {
            any(asserted, asserted.kind().equality, |value, asserted| value == asserted)
        }
        Filter::AtLeast(asserted) => {
            any(asserted, asserted.kind().ordering, |value, asserted| value >= asserted)
        }
        Filter::AtMost(asserted) => {
            any(asserted, asserted.kind().ordering, |value, asserted| value <= asserted)
        }
        Filter::Before(asserted) => {
            any(asserted, asserted.kind().ordering, |value, asserted| value < asserted)
        }
        Filter::Pieces { value, cut, open } => {
            let asserted = value.kind().pieces.map(|_| piece(&value.form(), *cut))?;
            let has = |form: String| match open {
                (true, true) => form.contains(&asserted),
                (true, false) => form.ends_with(&asserted),
                _ => form.starts_with(&asserted),
            };
            Some(of(person, value.kind()).any(|value| has(value.form())))
        }
        Filter::Broken(kind) => match KINDS[*kind].broken {
            Some(_) => None,
            None => holds(&Filter::Equal(Value { kind: *kind, rank: 0, spelling: 0 }), person),
        },
        Filter::Unheard => None,
    }
}

fn dn(number: usize) -> String {
    format!("roomNumber={number},o=Intranet")
}

fn store(people: &[Person]) -> Store {
    let mut schema = Schema::standard();
    for definition in KINDS.iter().filter_map(|kind| kind.definition) {
        schema.load(&format!("attributetype {definition}")).unwrap();
    }
    let mut store = Store::new(schema);
    store.add_suffix(b"o=Intranet").unwrap();
    add(&mut store, "o=Intranet", &[("objectClass", &["organization"])]).unwrap();
    for (number, person) in people.iter().enumerate() {
        let mut attributes: Vec<(&str, Vec<&str>)> = vec![("objectClass", vec!["person"])];
        for value in person {
            match attributes.last_mut() {
                Some((name, values)) if *name == value.kind().name => values.push(value.spelled()),
                _ => attributes.push((value.kind().name, vec![value.spelled()])),
            }
        }
        let attributes: Vec<_> = attributes.iter().map(|(name, values)| (*name, values.as_slice())).collect();
        add(&mut store, &dn(number), &attributes).unwrap();
    }
    store
}

fn people_matching(store: &Store, filter: &Filter) -> Vec<String> {
    // The parent entry is not a person.
    search(store, &format!("(&(roomNumber=*){filter})"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn every_filter_returns_the_same_people_as_a_naive_evaluation(people in people(), filters in vec(filter(), 1..12)) {
        let mut store = store(&people);
        let expected = |filter: &Filter| {
            let meant = people.iter().enumerate().filter(|(_, person)| holds(filter, person) == Some(true));
            let mut names: Vec<String> = meant.map(|(number, _)| dn(number)).collect();
            names.sort();
            names
        };
        for filter in &filters {
            prop_assert_eq!(people_matching(&store, filter), expected(filter), "{} without indexes", filter);
        }
        while store.wants_maintenance() {
            store.maintain(7);
            let filter = &filters[people.len() % filters.len()];
            prop_assert_eq!(people_matching(&store, filter), expected(filter), "{} while indexes are made", filter);
        }
        for filter in &filters {
            prop_assert_eq!(people_matching(&store, filter), expected(filter), "{} with indexes", filter);
        }
    }
}
