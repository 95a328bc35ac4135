//! Prints the costs of the store: nanoseconds per lookup, add and removal, and bytes per entry, at several
//! sizes.
//!
//! `store_cost POOLS-FILE [SIZE ...]`; build it with `--release`. For each size, one thread fills and queries
//! a store. A lookup is everything between the bytes of the request and the bytes of the answer.

use std::error::Error;
use std::hint::black_box;

use directory::entry::{Naming, Projection};
use directory::filter::CompiledFilter;
use directory::schema::Schema;
use directory::search::Budget;
use directory::store::{EntryId, Scratch, Store, UnixSeconds};
use people::{DEFAULT_BASE, Passwords, Pools, Population, Profile, Spec};
use wire::ber::{Reader, tag};
use wire::ldap::{
    Attributes, Operation, Request, Scope, answer, filter,
    request::{SearchOptions, write_attribute, write_search},
};

/// The minimum and the maximum number of requests that are prepared before a measurement.
const REQUESTS: (u64, u64) = (20_000, 200_000);
const NOW: UnixSeconds = UnixSeconds(1_000_000_000);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("the first argument is a pools file")?;
    let pools = Pools::parse(&std::fs::read_to_string(path)?)?;
    let sizes: Vec<u64> = arguments.map(|size| size.parse()).collect::<std::result::Result<_, _>>()?;
    for size in if sizes.is_empty() { vec![1_000, 10_000, 100_000, 1_000_000] } else { sizes } {
        measure(&pools, size)?;
    }
    Ok(())
}

fn measure(pools: &Pools, size: u64) -> Result<()> {
    let locales = pools.locales().map(str::to_owned).collect();
    let spec = Spec {
        seed: 1997,
        size,
        profile: Profile::Paper,
        locales,
        base: DEFAULT_BASE.to_owned(),
        passwords: Passwords::default(),
    };
    let people = Population::new(pools, spec)?;
    let before = resident();
    let start = cpu_ns();
    let mut store = empty_store()?;
    fill(&mut store, &people, 0, size)?;
    let fill_s = (cpu_ns() - start) as f64 / 1e9;
    let counts = store.counts();
    // An answer has two headers before the body, and a SearchResultDone after the body.
    let answers = counts.body_bytes + counts.entries * (4 + 4 + 3 + 14);
    println!("{size} entries, generated and added in {fill_s:.2} s");
    println!(
        "  memory {:.3} x the answers ({} B per entry; answer {} B)",
        (resident() - before) as f64 / answers as f64,
        (resident() - before) / counts.entries,
        answers / counts.entries
    );
    lookups(&store, &people);
    writes(&mut store, &people, size)?;
    Ok(())
}

fn empty_store() -> Result<Store> {
    let mut schema = Schema::standard();
    schema.load(people::RTPERSON_SCHEMA)?;
    let mut store = Store::new(schema);
    store.add_suffix(b"o=Intranet")?;
    for (dn, class) in [("o=Intranet", "organization"), (DEFAULT_BASE, "organizationalUnit")] {
        let mut list = Vec::new();
        write_attribute(&mut list, b"objectClass", [class.as_bytes()]);
        store.add(dn.as_bytes(), Attributes(&list), NOW)?;
    }
    Ok(store)
}

fn fill(store: &mut Store, people: &Population, from: u64, to: u64) -> Result<()> {
    let (mut dn, mut list) = (Vec::new(), Vec::new());
    for i in from..to {
        dn.clear();
        list.clear();
        people.write_dn(i, &mut dn);
        people.write_attributes(i, &mut list);
        let attributes = Attributes(Reader::new(&list).expect(tag::SEQUENCE)?);
        store.add(&dn, attributes, NOW)?;
    }
    Ok(())
}

/// The multiplier scatters the order: lookups are about people all over the directory.
fn scattered(i: u64, size: u64) -> u64 {
    i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % size
}

fn lookups(store: &Store, people: &Population) {
    let size = people.spec().size;
    let count = size.clamp(REQUESTS.0, REQUESTS.1);
    let mut requests = Vec::new();
    let mut ends = Vec::new();
    let mut name = Vec::new();
    let options = SearchOptions {
        scope: Scope::Subtree,
        size_limit: 0,
        time_limit_s: 0,
        types_only: false,
        dereference: 0,
    };
    for i in 0..count {
        name.clear();
        people.write_name(scattered(i, size), &mut name);
        let write_filter = |out: &mut Vec<u8>| {
            filter::write_and(out, |out| {
                filter::write_equality(out, b"objectClass", b"RTPerson");
                filter::write_equality(out, b"cn", &name);
            });
        };
        write_search(&mut requests, 7, DEFAULT_BASE.as_bytes(), &options, write_filter, []);
        ends.push(requests.len());
    }
    let mut reader = Lookup::default();
    let mut least = f64::MAX;
    for _ in 0..5 {
        let mut start_of = 0;
        let start = cpu_ns();
        for &end in &ends {
            reader.answer(store, &requests[start_of..end]);
            start_of = end;
        }
        least = least.min((cpu_ns() - start) as f64 / count as f64);
    }
    assert_eq!(reader.found, 5 * count);
    println!("  lookup {least:.0} ns");
}

#[derive(Default)]
struct Lookup {
    scratch: Scratch,
    filter: CompiledFilter,
    projection: Projection,
    ids: Vec<EntryId>,
    out: Vec<u8>,
    found: u64,
}

impl Lookup {
    fn answer(&mut self, store: &Store, message: &[u8]) {
        let Ok(Request { id, operation: Operation::Search(search), .. }) = Request::decode(message) else {
            return;
        };
        let Ok(base) = store.find(search.base, &mut self.scratch) else {
            return;
        };
        self.filter.compile(store.schema(), search.filter);
        let (attributes, types_only) = (search.attributes, search.types_only);
        self.projection.compile(store.schema(), attributes, types_only, Naming::Canonical, false);
        let mut cursor = store.search(Some(base), search.scope, &self.filter, &mut self.scratch);
        self.ids.clear();
        let budget = Budget { candidates: 1000, matches: 64, long: true };
        store.advance(&mut cursor, &self.filter, NOW, budget, &mut self.scratch, &mut self.ids);
        self.out.clear();
        for id in self.ids.iter().filter_map(|&found| store.entry(found)) {
            answer::write_entry(&mut self.out, 7, id.body);
            self.found += 1;
        }
        answer::write_result(&mut self.out, id, wire::ldap::op::SEARCH_DONE, &answer::Verdict::SUCCESS);
        black_box(&self.out);
    }
}

fn writes(store: &mut Store, people: &Population, size: u64) -> Result<()> {
    let count = REQUESTS.1.min(size);
    let (mut names, mut lists) = (Vec::new(), Vec::new());
    for i in size..size + count {
        let (mut dn, mut list) = (Vec::new(), Vec::new());
        people.write_dn(i, &mut dn);
        people.write_attributes(i, &mut list);
        names.push(dn);
        lists.push(list);
    }
    for round in ["first", "again"] {
        let start = cpu_ns();
        for (dn, list) in names.iter().zip(&lists) {
            let attributes = Attributes(Reader::new(list).expect(tag::SEQUENCE)?);
            store.add(dn, attributes, NOW)?;
        }
        let add_ns = (cpu_ns() - start) as f64 / count as f64;
        let start = cpu_ns();
        let mut scratch = Scratch::default();
        for dn in &names {
            black_box(store.find(dn, &mut scratch)?);
        }
        let find_ns = (cpu_ns() - start) as f64 / count as f64;
        let start = cpu_ns();
        for dn in &names {
            store.remove(dn, NOW)?;
        }
        let remove_ns = (cpu_ns() - start) as f64 / count as f64;
        println!("  {round}: add {add_ns:.0} ns, find by name {find_ns:.0} ns, remove {remove_ns:.0} ns");
    }
    Ok(())
}

/// CPU time of this thread in nanoseconds: other processes do not count.
fn cpu_ns() -> u64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split_whitespace().next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap_or_default();
    let kib = line.split_whitespace().nth(1).and_then(|number| number.parse().ok());
    kib.unwrap_or(0u64) * 1024
}
