use crate::common::Search;
use directory::entry::{Naming, Projection};
use directory::filter::CompiledFilter;
use directory::schema::Schema;
use directory::search::{Budget, Progress};
use directory::store::{EntryId, Refusal, Scratch, Store, UnixSeconds};
use wire::ber::{Reader, tag};
use wire::ldap::filter::Filter;
use wire::ldap::{
    Attributes, CompareRequest, ModifyDnRequest, Operation, Request, ResultCode, Scope, request,
};

pub const NOW: UnixSeconds = UnixSeconds(1_000_000_000);

/// A store that contains `o=Intranet`.
pub fn store() -> Store {
    let mut schema = Schema::standard();
    schema.load(people::RTPERSON_SCHEMA).unwrap();
    let mut store = Store::new(schema);
    store.add_suffix(b"o=Intranet").unwrap();
    add(&mut store, "o=Intranet", &[("objectClass", &["organization"])]).unwrap();
    store
}

pub type List<'l> = &'l [(&'l str, &'l [&'l str])];

pub fn encode(attributes: List<'_>) -> Vec<u8> {
    let mut list = Vec::new();
    for (name, values) in attributes {
        request::write_attribute(&mut list, name.as_bytes(), values.iter().map(|value| value.as_bytes()));
    }
    list
}

pub fn add(store: &mut Store, dn: &str, attributes: List<'_>) -> Result<EntryId, Refusal> {
    add_at(store, dn, attributes, NOW)
}

pub fn add_at(
    store: &mut Store,
    dn: &str,
    attributes: List<'_>,
    now: UnixSeconds,
) -> Result<EntryId, Refusal> {
    let list = encode(attributes);
    store.add(dn.as_bytes(), Attributes(&list), now)
}

/// Adds a person with only the required attributes.
pub fn add_person(store: &mut Store, dn: &str) -> EntryId {
    add(store, dn, &[("objectClass", &["RTPerson"])]).unwrap()
}

/// Adds a dynamic person (RFC 2589) with this time to live.
pub fn add_dynamic(store: &mut Store, dn: &str, ttl_s: &str, now: UnixSeconds) -> EntryId {
    let attributes: List<'_> = &[("objectClass", &["RTPerson", "dynamicObject"]), ("entryTTL", &[ttl_s])];
    add_at(store, dn, attributes, now).unwrap()
}

/// Each change has an operation (0 add, 1 delete, 2 replace, 3 increment), an attribute and its values.
pub type Changes<'c> = &'c [(u8, &'c str, &'c [&'c str])];

pub fn modify(store: &mut Store, dn: &str, changes: Changes<'_>) -> Result<EntryId, Refusal> {
    let mut message = Vec::new();
    request::write_modify(&mut message, 1, dn.as_bytes(), |out| {
        for (operation, name, values) in changes {
            let values = values.iter().map(|value| value.as_bytes());
            request::write_change(out, *operation, name.as_bytes(), values);
        }
    });
    let Operation::Modify(request) = Request::decode(&message).unwrap().operation else { unreachable!() };
    store.modify(request.dn, request.changes(), NOW)
}

pub fn rename(
    store: &mut Store,
    dn: &str,
    new_rdn: &str,
    delete_old_rdn: bool,
    new_superior: Option<&str>,
) -> Result<EntryId, Refusal> {
    let request = ModifyDnRequest {
        dn: dn.as_bytes(),
        new_rdn: new_rdn.as_bytes(),
        delete_old_rdn,
        new_superior: new_superior.map(str::as_bytes),
    };
    store.rename(&request, NOW)
}

pub fn compare(store: &Store, dn: &str, attribute: &str, value: &str) -> Result<bool, Refusal> {
    let request =
        CompareRequest { dn: dn.as_bytes(), attribute: attribute.as_bytes(), value: value.as_bytes() };
    store.compare(&request, NOW, &mut Scratch::default())
}

pub fn find(store: &Store, dn: &str) -> Option<EntryId> {
    store.find(dn.as_bytes(), &mut Scratch::default()).ok()
}

/// Attributes as `name: value` lines, in stored order.
pub fn lines(store: &Store, dn: &str) -> Vec<String> {
    let entry = store.entry(find(store, dn).unwrap()).unwrap();
    lines_of(entry.attributes())
}

pub fn lines_of(list: Attributes<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for attribute in list.iter().map(Result::unwrap) {
        let name = String::from_utf8_lossy(attribute.name).into_owned();
        let mut values =
            attribute.values.iter().map(|value| String::from_utf8_lossy(value.unwrap())).peekable();
        if values.peek().is_none() {
            lines.push(name.clone());
        }
        lines.extend(values.map(|value| format!("{name}: {value}")));
    }
    lines
}

/// The entry as a search for these attributes returns it.
pub fn projected(
    store: &Store,
    dn: &str,
    attributes: &[&str],
    types_only: bool,
    naming: Naming,
) -> Vec<String> {
    let message = Search { attributes, types_only, ..Search::default() }.message(1);
    let Operation::Search(search) = Request::decode(&message).unwrap().operation else { unreachable!() };
    let mut projection = Projection::default();
    projection.compile(store.schema(), search.attributes, types_only, naming, false);
    let mut body = Vec::new();
    store.write_projected(find(store, dn).unwrap(), &projection, NOW, &mut body);
    let mut fields = Reader::new(&body);
    assert_eq!(fields.octets().unwrap(), store.entry(find(store, dn).unwrap()).unwrap().dn());
    lines_of(Attributes(fields.expect(tag::SEQUENCE).unwrap()))
}

/// Compiles a filter in the syntax of RFC 4515.
pub fn compiled(store: &Store, filter: &str) -> CompiledFilter {
    let mut encoded = Vec::new();
    wire::ldap::filter_text::parse(filter, &mut encoded).unwrap();
    let mut compiled = CompiledFilter::default();
    compiled.compile(store.schema(), Filter::decode(&mut Reader::new(&encoded)).unwrap());
    compiled
}

/// The names of all matches, searched in steps of `step` candidates.
pub fn search_in_steps(
    store: &Store,
    base: Option<&str>,
    scope: Scope,
    filter: &str,
    step: usize,
) -> Vec<String> {
    let filter = compiled(store, filter);
    let mut scratch = Scratch::default();
    let base = base.map(|dn| store.find(dn.as_bytes(), &mut scratch).unwrap());
    let mut cursor = store.search(base, scope, &filter, &mut scratch);
    let budget = Budget { candidates: step, matches: step, long: true };
    let mut ids = Vec::new();
    while store.advance(&mut cursor, &filter, NOW, budget, &mut scratch, &mut ids) == Progress::More {}
    let name = |id| String::from_utf8(store.entry(id).unwrap().dn().to_vec()).unwrap();
    ids.into_iter().map(name).collect()
}

/// The names of all matches below `o=Intranet`, sorted.
pub fn search(store: &Store, filter: &str) -> Vec<String> {
    let mut names = search_in_steps(store, Some("o=Intranet"), Scope::Subtree, filter, 1000);
    names.sort();
    names
}

/// Whether all terms of an And filter are true, by RFC 4511 section 4.5.1.7; `None` is Undefined.
pub fn all_hold(terms: &[Option<bool>]) -> Option<bool> {
    if terms.contains(&Some(false)) { Some(false) } else { terms.iter().all(Option::is_some).then_some(true) }
}

#[track_caller]
pub fn code<T: std::fmt::Debug>(result: Result<T, Refusal>) -> ResultCode {
    result.unwrap_err().code
}
