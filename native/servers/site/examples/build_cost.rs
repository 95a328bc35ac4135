//! Prints the cost of building a UPD: `build_cost POOLS PATH SIZE`.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use people::Pools;
use people::visitor::{Visitor, Visitors};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().ok_or("usage: build_cost POOLS PATH SIZE");
    let (pools, path, size) = (next()?, next()?, next()?.parse::<u64>()?);
    let pools = Pools::parse(&std::fs::read_to_string(pools)?)?;
    let locales: Vec<String> = pools.locales().map(str::to_owned).collect();
    let visitors = Visitors::new(&pools, 1997, &locales)?;

    let start = Instant::now();
    let mut visitor = Visitor::default();
    (0..size).for_each(|i| visitors.fill(i, std::hint::black_box(&mut visitor)));
    println!("making the people   {:>8.3} s", start.elapsed().as_secs_f64());

    let start = Instant::now();
    site::upd::build(Path::new(&path), &visitors, size, &mut |_| ControlFlow::Continue(()))?;
    println!("building the file   {:>8.3} s", start.elapsed().as_secs_f64());
    Ok(())
}
