//! Prints the speed of generating, comparing and hashing contents on one core, and the time for writing a set
//! with its digests, beside `cp -r` of the set.
//!
//! `cargo run --release -p sitebench-files --example speed [FOLDER]`. The folder is on the disk to write to;
//! the default is $TMPDIR.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use files::{Checker, Class, FileSet, Spec, fill, write};
use sha2::{Digest, Sha256};

const BYTES: u64 = 1 << 30;
const PIECE: usize = 16 << 10;
const ROUNDS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut piece = vec![0; PIECE];
    rate("made", &mut piece, |offset, piece| fill(7, offset, piece));
    for size in [PIECE, 2_048] {
        let mut page = vec![0; size];
        fill(7, 0, &mut page);
        rate(&format!("checked in files of {size} bytes"), &mut page, |_, page| {
            assert!(Checker::new(black_box(7), size as u64).feed(page));
        });
    }
    rate("hashed", &mut piece, |_, piece| _ = black_box(Sha256::digest(piece)));
    let folder = std::env::args().nth(1).map_or_else(std::env::temp_dir, PathBuf::from);
    beside_cp(&folder.join(format!("sitebench-files-{}", std::process::id())))
}

/// CPU time of this thread: other processes of the machine do not count.
fn cpu_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// The best of five rounds: other processes disturb the slower rounds.
fn rate(what: &str, piece: &mut [u8], mut work: impl FnMut(u64, &mut [u8])) {
    let mut round = || {
        let began = cpu_s();
        for offset in (0..BYTES).step_by(piece.len()) {
            work(offset, piece);
            black_box(&mut *piece);
        }
        cpu_s() - began
    };
    let least = (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min);
    println!("{what}: {:.2} GB/s", BYTES as f64 / least / 1e9);
}

/// The file set of the comparison of iPlanet and Stronghold (2000): 6,000 files of 223 bytes to 529 KB, 60
/// MB.
fn beside_cp(folder: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let class = |name: &str, smallest, largest, files| Class {
        name: name.to_owned(),
        sizes: Vec::new(),
        spread: Some([smallest, largest]),
        files: Some(files),
    };
    let classes = vec![
        class("small", 223, 30_000, 5_500),
        class("large", 30_000, 541_696, 144),
        class("equal", 6_250, 6_250, 356),
    ];
    let set = FileSet::new(Spec { name: "webbench3".to_owned(), seed: 1997, files_per_class: 1, classes })?;
    println!("{} files, {} bytes, written and copied in turn:", set.count(), set.bytes());
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let (from, to) = (folder.join(format!("from-{round}")), folder.join(format!("to-{round}")));
        std::fs::create_dir_all(folder)?;
        let written = timed(|| write(&set, &from, &mut |_| ControlFlow::Continue(())))?;
        let copied = timed(|| Command::new("cp").arg("-r").args([&from, &to]).status())?;
        ratios.push(written.as_secs_f64() / copied.as_secs_f64());
        println!("  written {written:.1?}, copied {copied:.1?}");
        std::fs::remove_dir_all(folder)?;
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "writing takes {:.2} (median; {:.2} to {:.2}) of the time of cp -r",
        ratios[ROUNDS / 2],
        ratios[0],
        ratios[ROUNDS - 1]
    );
    Ok(())
}

fn timed<T, E>(work: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let began = Instant::now();
    work().map(|_| began.elapsed())
}
