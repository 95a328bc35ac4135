//! The store behaves like a naive directory for any sequence of requests.

mod model;
mod words;

use crate::store_common::lines_of;
use directory::filter::CompiledFilter;
use directory::schema::Schema;
use directory::search::{Budget, Progress};
use directory::store::{EntryId, Refusal, Scratch, Store, UnixSeconds};
use model::{Attribute, Change, Filter, Kind, Model, Path, Value};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wire::ber::Reader;
use wire::ldap::filter::{self as wire_filter, Piece};
use wire::ldap::{Attributes, ModifyDnRequest, Operation, Request, ResultCode, Scope, request};
use words::{PIECES, WORDS, Word};

#[derive(Debug, Clone)]
enum Step {
    Add { path: Path, name: Word, attributes: Vec<(Attribute, Vec<Value>)>, ttl_s: Option<u32> },
    Remove(Path),
    Modify(Path, Vec<Change>),
    Rename { path: Path, name: Word, delete_old: bool, superior: Option<Path> },
    Search { base: Path, scope: Scope, filter: Filter, step: usize },
    Wait(u32),
    Maintain(usize),
}

fn word() -> impl Strategy<Value = Word> {
    (0..WORDS.len(), 0usize..3).prop_map(|(word, spelling)| Word(word, spelling))
}

/// Few names exist, so that many steps are about the same entries.
fn path() -> impl Strategy<Value = Path> {
    prop_oneof![3 => vec(0usize..8, 1..2), 2 => vec(0usize..4, 2..3), 1 => vec(0usize..4, 3..4)]
}

fn attribute() -> impl Strategy<Value = Attribute> {
    prop::sample::select(Attribute::ALL.to_vec())
}

fn value(which: Attribute) -> BoxedStrategy<Value> {
    match which {
        Attribute::Number => (-2i64..3).prop_map(Value::Number).boxed(),
        _ => word().prop_map(Value::Word).boxed(),
    }
}

fn attribute_values(count: std::ops::Range<usize>) -> impl Strategy<Value = (Attribute, Vec<Value>)> {
    attribute().prop_flat_map(move |which| (Just(which), vec(value(which), count.clone())))
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        attribute_values(1..3).prop_map(|(which, values)| (Kind::Add, which, values)),
        attribute_values(0..2).prop_map(|(which, values)| (Kind::Delete, which, values)),
        attribute_values(0..3).prop_map(|(which, values)| (Kind::Replace, which, values)),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let piece = || 0..PIECES.len();
    let leaf = prop_oneof![
        4 => attribute().prop_flat_map(|which| value(which).prop_map(move |value| Filter::Equal(which, value))),
        1 => word().prop_map(Filter::Name),
        1 => attribute().prop_map(Filter::Present),
        3 => (attribute(), option::of(piece()), vec(piece(), 0..2), option::of(piece()))
            .prop_filter("a piece at least", |(_, initial, any, last)| {
                initial.is_some() || !any.is_empty() || last.is_some()
            })
            .prop_map(|(which, initial, any, last)| Filter::Pieces(which, initial, any, last)),
        1 => (-2i64..3).prop_map(Filter::AtLeast),
        1 => (-2i64..3).prop_map(Filter::AtMost),
        1 => word().prop_map(Filter::InName),
        1 => any::<bool>().prop_map(Filter::HasChildren),
        1 => Just(Filter::Unknown),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Filter::And),
            vec(inner.clone(), 0..4).prop_map(Filter::Or),
            inner.prop_map(|filter| Filter::Not(Box::new(filter))),
        ]
    })
}

fn step() -> impl Strategy<Value = Step> {
    let scope = prop::sample::select(vec![Scope::Base, Scope::One, Scope::Subtree, Scope::Children]);
    let attributes = vec(attribute_values(1..3), 0..4).prop_map(|mut list: Vec<(Attribute, Vec<Value>)>| {
        list.sort_by_key(|(which, _)| which.name());
        list.dedup_by_key(|(which, _)| *which);
        list
    });
    prop_oneof![
        8 => (path(), 0usize..3, attributes, option::weighted(0.2, 0u32..40)).prop_map(
            |(path, spelling, attributes, ttl_s)| {
                let name = Word(path[path.len() - 1], spelling);
                Step::Add { path, name, attributes, ttl_s }
            }
        ),
        2 => path().prop_map(Step::Remove),
        3 => (path(), vec(change(), 1..4)).prop_map(|(path, changes)| Step::Modify(path, changes)),
        2 => (path(), word(), any::<bool>(), option::of(path()))
            .prop_map(|(path, name, delete_old, superior)| Step::Rename { path, name, delete_old, superior }),
        6 => (vec(0usize..4, 0..3), scope, filter(), 1usize..4)
            .prop_map(|(base, scope, filter, step)| Step::Search { base, scope, filter, step }),
        1 => (0u32..30).prop_map(Step::Wait),
        2 => (1usize..40).prop_map(Step::Maintain),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]
    #[test]
    fn the_store_behaves_like_a_naive_model_of_a_directory(steps in vec(step(), 1..150), seed in any::<u64>()) {
        let mut both = Both::new(seed);
        for step in steps {
            both.take(&step)?;
        }
        both.compare_all()?;
    }
}

/// The store, its model, and a random stream of spellings for requested names.
struct Both {
    store: Store,
    model: Model,
    scratch: Scratch,
    now: u32,
    spelling: u64,
}

const BASE: &str = "o=Intranet";

impl Both {
    fn new(seed: u64) -> Self {
        let mut store = Store::new(Schema::standard());
        store.add_suffix(BASE.as_bytes()).unwrap();
        // The schema must contain the undeclared type before filters can match it.
        let attributes = [("objectClass", vec!["organization"]), ("favouriteWord", vec!["none"])];
        add(&mut store, BASE.as_bytes(), &attributes, UnixSeconds(1)).unwrap();
        Self { store, model: Model::default(), scratch: Scratch::default(), now: 1000, spelling: seed }
    }

    fn next_spelling(&mut self) -> usize {
        self.spelling = self.spelling.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.spelling >> 40) as usize % 3
    }

    fn dn(&mut self, path: &[usize]) -> Vec<u8> {
        let mut dn = Vec::new();
        for &word in path.iter().rev() {
            dn.extend_from_slice(&Word(word, self.next_spelling()).rdn());
            dn.extend_from_slice([b",".as_slice(), b" , ", b";"][self.next_spelling()]);
        }
        dn.extend_from_slice(
            [BASE, "O=INTRANET", "organizationName=intranet"][self.next_spelling()].as_bytes(),
        );
        dn
    }

    /// The name, with its first component in this spelling.
    fn dn_as(&mut self, path: &[usize], name: Word) -> Vec<u8> {
        let mut dn = name.rdn();
        dn.push(b',');
        dn.extend_from_slice(&self.dn(&path[..path.len() - 1]));
        dn
    }

    fn description(&mut self, which: Attribute) -> &'static str {
        if self.next_spelling() == 0 { which.alias() } else { which.name() }
    }

    fn take(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match step {
            Step::Add { path, name, attributes, ttl_s } => self.add(path, *name, attributes, *ttl_s),
            Step::Remove(path) => {
                let dn = self.dn(path);
                agree(self.store.remove(&dn, UnixSeconds(self.now)), self.model.remove(path, self.now))
            }
            Step::Modify(path, changes) => self.modify(path, changes),
            Step::Rename { path, name, delete_old, superior } => {
                let (dn, new_rdn) = (self.dn(path), name.rdn());
                let new_superior = superior.as_ref().map(|path| self.dn(path));
                let request = ModifyDnRequest {
                    dn: &dn,
                    new_rdn: &new_rdn,
                    delete_old_rdn: *delete_old,
                    new_superior: new_superior.as_deref(),
                };
                let got = self.store.rename(&request, UnixSeconds(self.now)).map(drop);
                agree(got, self.model.rename(path, *name, *delete_old, superior.as_deref(), self.now))
            }
            Step::Search { base, scope, filter, step } => self.search(base, *scope, filter, *step),
            Step::Wait(seconds) => {
                // The store retries an expired entry with children a second later.
                self.now += seconds + 1;
                while self.store.expire(UnixSeconds(self.now), 2) > 0 {}
                self.model.expire(self.now);
                Ok(())
            }
            Step::Maintain(budget) => {
                self.store.maintain(*budget);
                Ok(())
            }
        }
    }

    fn add(
        &mut self,
        path: &[usize],
        name: Word,
        attributes: &[(Attribute, Vec<Value>)],
        ttl_s: Option<u32>,
    ) -> Result<(), TestCaseError> {
        let dn = self.dn_as(path, name);
        let mut list = vec![("objectClass".to_owned(), vec!["person".to_owned()])];
        for (which, values) in attributes {
            list.push((
                self.description(*which).to_owned(),
                values.iter().map(|value| value.spelled()).collect(),
            ));
        }
        if let Some(ttl_s) = ttl_s {
            list[0].1.push("dynamicObject".to_owned());
            list.push(("entryTTL".to_owned(), vec![ttl_s.to_string()]));
        }
        let got = add(&mut self.store, &dn, &list, UnixSeconds(self.now));
        let expires = ttl_s.map(|ttl_s| self.now + ttl_s + 1);
        agree(got.map(drop), self.model.add(path.to_vec(), name, attributes.to_vec(), expires, self.now))
    }

    fn modify(&mut self, path: &[usize], changes: &[Change]) -> Result<(), TestCaseError> {
        let dn = self.dn(path);
        let mut message = Vec::new();
        let mut described = Vec::new();
        for (kind, which, values) in changes {
            let spelled: Vec<String> = values.iter().map(|value| value.spelled()).collect();
            described.push((*kind as u8, self.description(*which), spelled));
        }
        request::write_modify(&mut message, 1, &dn, |out| {
            for (kind, name, values) in &described {
                request::write_change(out, *kind, name.as_bytes(), values.iter().map(String::as_bytes));
            }
        });
        let Operation::Modify(request) = Request::decode(&message).unwrap().operation else { unreachable!() };
        let got = self.store.modify(request.dn, request.changes(), UnixSeconds(self.now));
        agree(got.map(drop), self.model.modify(path, changes, self.now))
    }

    fn search(
        &mut self,
        base: &[usize],
        scope: Scope,
        filter: &Filter,
        step: usize,
    ) -> Result<(), TestCaseError> {
        let dn = self.dn(base);
        let exists = base.is_empty() || self.model.entries.iter().any(|entry| entry.path == base);
        let base_id = self.store.find(&dn, &mut self.scratch);
        prop_assert_eq!(base_id.is_ok(), exists, "{:?}", String::from_utf8_lossy(&dn));
        let Ok(id) = base_id else { return Ok(()) };
        let mut got = self.matches(id, scope, filter, step);
        // The suffix is not an entry of the model.
        got.retain(|path| !path.is_empty());
        let mut expected = self.model.search(base, scope, filter, self.now);
        got.sort();
        expected.sort();
        prop_assert_eq!(got, expected);
        Ok(())
    }

    fn matches(&mut self, base: EntryId, scope: Scope, filter: &Filter, step: usize) -> Vec<Path> {
        let mut encoded = Vec::new();
        self.write_filter(filter, &mut encoded);
        let mut compiled = CompiledFilter::default();
        let decoded = wire_filter::Filter::decode(&mut Reader::new(&encoded)).unwrap();
        compiled.compile(self.store.schema(), decoded);
        let mut cursor = self.store.search(Some(base), scope, &compiled, &mut self.scratch);
        let mut ids = Vec::new();
        let budget = Budget { candidates: step * 2, matches: step, long: true };
        let now = UnixSeconds(self.now);
        let mut advance =
            || self.store.advance(&mut cursor, &compiled, now, budget, &mut self.scratch, &mut ids);
        while advance() == Progress::More {}
        ids.into_iter().map(|id| self.path_of(id)).collect()
    }

    fn path_of(&self, id: EntryId) -> Path {
        let entry = self.store.entry(id).unwrap();
        let dn = wire::dn::Dn::parse(entry.dn()).unwrap();
        let mut path: Path = dn
            .rdns()
            .filter_map(|rdn| {
                let pair = rdn.pairs().next().unwrap();
                let mut buffer = Vec::new();
                let value = pair.value.decode(&mut buffer);
                WORDS.iter().position(|(spellings, _)| spellings.iter().any(|word| word.as_bytes() == value))
            })
            .collect();
        path.reverse();
        path
    }

    fn write_filter(&mut self, filter: &Filter, out: &mut Vec<u8>) {
        match filter {
            Filter::And(filters) => wire_filter::write_and(out, |out| {
                filters.iter().for_each(|filter| self.write_filter(filter, out));
            }),
            Filter::Or(filters) => wire_filter::write_or(out, |out| {
                filters.iter().for_each(|filter| self.write_filter(filter, out));
            }),
            Filter::Not(filter) => wire_filter::write_not(out, |out| self.write_filter(filter, out)),
            Filter::Equal(which, value) => {
                let name = self.description(*which);
                wire_filter::write_equality(out, name.as_bytes(), value.spelled().as_bytes());
            }
            Filter::Name(word) => wire_filter::write_approx(out, b"name", word.spelled().as_bytes()),
            Filter::Present(which) => wire_filter::write_present(out, self.description(*which).as_bytes()),
            Filter::Pieces(which, initial, any, last) => {
                let text = |number: usize| PIECES[number].0.as_bytes();
                let initial = initial.map(|number| Piece::Initial(text(number)));
                let any = any.iter().map(|number| Piece::Any(text(*number)));
                let last = last.map(|number| Piece::Final(text(number)));
                let pieces = initial.into_iter().chain(any).chain(last);
                wire_filter::write_substrings(out, self.description(*which).as_bytes(), pieces);
            }
            Filter::AtLeast(number) => {
                wire_filter::write_greater_or_equal(out, b"uidNumber", number.to_string().as_bytes());
            }
            Filter::AtMost(number) => {
                wire_filter::write_less_or_equal(out, b"uidNumber", number.to_string().as_bytes());
            }
            Filter::InName(word) => {
                let value = word.spelled().as_bytes();
                let filter = wire_filter::Extensible {
                    rule: None,
                    attribute: Some(b"cn"),
                    value,
                    dn_attributes: true,
                };
                wire_filter::write_extensible(out, &filter);
            }
            Filter::HasChildren(has) => {
                let value = if *has { b"TRUE".as_slice() } else { b"false" };
                wire_filter::write_equality(out, b"hasSubordinates", value);
            }
            Filter::Unknown => wire_filter::write_present(out, b"unheardOf"),
        }
    }

    /// Asserts that the store holds exactly the entries of the model, with the same attributes.
    fn compare_all(&mut self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.store.counts().entries, 1 + self.model.entries.len() as u64);
        for entry in self.model.entries.clone() {
            let dn = self.dn(&entry.path);
            let id = self.store.find(&dn, &mut self.scratch).unwrap();
            let mut got = lines_of(self.store.entry(id).unwrap().attributes());
            got.retain(|line| !line.starts_with("objectClass: "));
            let mut expected = Vec::new();
            for (which, values) in &entry.attributes {
                expected.extend(values.iter().map(|value| format!("{}: {}", which.name(), value.spelled())));
            }
            // The order of attributes is not compared, the order of their values is.
            for lines in [&mut got, &mut expected] {
                lines.sort_by_key(|line| line.split(": ").next().map(str::to_owned));
            }
            prop_assert_eq!(got, expected);
        }
        Ok(())
    }
}

fn add<N: AsRef<str>, V: AsRef<str>>(
    store: &mut Store,
    dn: &[u8],
    attributes: &[(N, Vec<V>)],
    now: UnixSeconds,
) -> Result<EntryId, Refusal> {
    let mut list = Vec::new();
    for (name, values) in attributes {
        let values = values.iter().map(|value| value.as_ref().as_bytes());
        request::write_attribute(&mut list, name.as_ref().as_bytes(), values);
    }
    store.add(dn, Attributes(&list), now)
}

fn agree(got: Result<(), Refusal>, expected: Result<(), ResultCode>) -> Result<(), TestCaseError> {
    prop_assert_eq!(got.map_err(|refusal| refusal.code), expected);
    Ok(())
}
