//! Requests for files of a set follow the deck, and one wrong byte in a file is noticed.

use files::{FileSet, Spec};
use serde_json::{Value, json};

use super::harness::Totals;
use super::site::{Do, Site};
use crate::job::Job;

/// Larger than a thread's read buffer.
const LARGE: usize = 300_000;

pub fn spec() -> Value {
    json!({"name": "set", "seed": 7, "classes": [
        {"name": "small", "sizes": [223, 1024], "files": 400},
        {"name": "large", "sizes": [LARGE]},
    ]})
}

pub fn file_set() -> FileSet {
    FileSet::new(serde_json::from_value::<Spec>(spec()).unwrap()).unwrap()
}

/// The set of [`spec`], as a scenario file declares it.
pub const SET: &str =
    "[files.set]\nsmall = { sizes = [223, 1024], count = 400 }\nlarge = { sizes = [300_000] }\n";

/// Operations on these classes of files with their weights, each on its own connection.
fn asked(site: &Site, operations: &str) -> Job {
    let job = site.job(&format!("connection.main.per = 'step'\noperation = [{operations}]\n{SET}"));
    job.target(json!({"files": spec()})).scenario(json!({"classes": true}))
}

fn large(what: Do) -> Totals {
    let site = Site::always(what);
    asked(&site, "{ file = 'large' }").with(json!({"timeout_ms": 3_000})).run_steps(2, "large", 6)
}

#[test]
fn all_files_of_a_class_are_requested_each_on_its_own_connection() {
    let site = Site::right();
    let job = asked(&site, "{ weight = 9, file = 'small' }, { file = 'large' }");
    let text = job.config["scenarios"][0]["text"].as_str().unwrap().replace("per = 'step'", "http = '1.0'");
    let totals = job.scenario(json!({"text": text})).run_steps(5, "small", 3_000);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let (small, large) = (totals.count("small"), totals.count("large"));
    assert!((small / 9).abs_diff(large) <= 5, "{small} small, {large} large");
    assert_eq!(totals.count("connect"), small + large);
    let set = file_set();
    let asked = set.class("small").unwrap().filter(|&i| site.seen.answered(&set.file(i).unwrap().path()) > 0);
    // With 3,000 draws from 400 files each file is missed with a probability of 0.0006.
    assert!(asked.count() > 390);
    let requests = site.seen.requests.lock().unwrap();
    let first = String::from_utf8_lossy(&requests[0]).into_owned();
    assert!(first.contains(".html HTTP/1.0\r\nHost: ") && !first.contains("Connection"), "{first}");
}

#[test]
fn right_files_are_recognised_in_every_encoding_and_in_pieces() {
    for what in [Do::Right, Do::Chunked(997), Do::Chunked(LARGE), Do::InPieces(50_021), Do::UntilClose] {
        let totals = large(what);
        assert!(totals.kinds().is_empty(), "{what:?}: {totals:?}");
    }
}

#[test]
fn one_wrong_byte_of_a_file_is_noticed_at_any_position() {
    for place in [0, 7, 8, 4_095, LARGE / 2 + 3, LARGE - 1] {
        assert_eq!(large(Do::WrongByte(place)).kinds(), ["wrong-answer"], "{place}");
    }
}

#[test]
fn each_wrong_answer_for_a_file_has_its_own_name() {
    for (what, name) in [
        (Do::OfLength(LARGE - 1), "wrong-length"),
        (Do::OfLength(LARGE + 1), "wrong-length"),
        (Do::Status(404), "status:404"),
        (Do::LessThanSaid, "truncated"),
        (Do::MoreThanSaid, "wrong-length"),
        (Do::CloseMidChunks, "closed"),
    ] {
        let totals = large(what);
        assert_eq!(totals.kinds(), [name], "{what:?}");
        let example = &totals.of("large").examples[name];
        assert!(example.starts_with("GET /"), "{what:?}: {example}");
        assert!(example.contains("/large/"), "{what:?}: {example}");
        if name == "status:404" {
            assert!(example.contains(".html: 404"), "{example}");
        }
    }
}

#[test]
fn without_verification_the_length_of_a_file_counts_and_its_bytes_do_not() {
    for (what, kinds) in [(Do::WrongByte(9), vec![]), (Do::OfLength(9), vec!["wrong-length"])] {
        let site = Site::always(what);
        let job = asked(&site, "{ file = 'large' }").with(json!({"verify": "none"}));
        assert_eq!(job.run_steps(2, "large", 6).kinds(), kinds, "{what:?}");
    }
}

#[test]
fn the_refusal_of_an_unknown_class_of_files_names_the_class() {
    let site = Site::right();
    for (files, expected) in [
        (json!({"classes": [spec()["classes"][0]]}), "the target's files have no class \"large\""),
        (Value::Null, "the target has no \"files\""),
    ] {
        let problem = asked(&site, "{ file = 'large' }").target(json!({"files": files})).refusal();
        assert!(problem.contains(expected), "{problem}");
    }
}
