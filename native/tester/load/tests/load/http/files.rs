//! Files of a set are asked for as the deck says, and one wrong byte in one of them is found.

use files::{FileSet, Spec};
use serde_json::{Value, json};

use super::harness::Totals;
use super::paper::{config, run, try_start};
use super::site::{Do, Site};

/// Larger than what a thread reads at a time.
const LARGE: usize = 300_000;

pub fn spec() -> Value {
    json!({"name": "set", "seed": 7, "classes": [
        {"name": "small", "sizes": [223, 1024], "files": 1_200},
        {"name": "large", "sizes": [LARGE]},
    ]})
}

pub fn file_set() -> FileSet {
    FileSet::new(serde_json::from_value::<Spec>(spec()).unwrap()).unwrap()
}

/// The same set in a file, and one class that the target has not.
pub const SET: &str =
    "[files.set]\nsmall = { sizes = [223, 1024], count = 1_200 }\nlarge = { sizes = [300_000] }\n";

/// Files of these classes, as many cards as it says, each on a connection of its own.
fn asked(site: &Site, operations: &str) -> Value {
    let mut config =
        config(site, &format!("connection.main.per = 'step'\noperation = [{operations}]\n{SET}"));
    config["target"]["files"] = spec();
    config["scenarios"][0]["classes"] = json!(true);
    config
}

fn large(what: Do) -> Totals {
    let site = Site::always(what);
    let mut config = asked(&site, "{ file = 'large' }");
    config["timeout_ms"] = json!(3_000);
    run(&config, 2, "large", 6)
}

#[test]
fn files_of_a_class_are_all_asked_for_each_on_a_connection_of_its_own() {
    let site = Site::right();
    let mut config = asked(&site, "{ weight = 9, file = 'small' }, { file = 'large' }");
    let text = config["scenarios"][0]["text"].as_str().unwrap().replace("per = 'step'", "http = '1.0'");
    config["scenarios"][0]["text"] = json!(text);
    let totals = run(&config, 5, "small", 9_000);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    let (small, large) = (totals.count("small"), totals.count("large"));
    assert!((small / 9).abs_diff(large) <= 5, "{small} small, {large} large");
    assert_eq!(totals.count("connect"), small + large);
    let set = file_set();
    let asked = set.class("small").unwrap().filter(|&i| site.seen.answered(&set.file(i).unwrap().path()) > 0);
    // Of 1,200 files drawn 9,000 times, each has been missed with a probability of 0.0006.
    assert!(asked.count() > 1_190);
    let requests = site.seen.requests.lock().unwrap();
    let first = String::from_utf8_lossy(&requests[0]).into_owned();
    assert!(first.contains(".html HTTP/1.0\r\nHost: ") && !first.contains("Connection"), "{first}");
}

#[test]
fn right_files_are_right_however_they_come() {
    for what in [Do::Right, Do::Chunked(997), Do::Chunked(LARGE), Do::InPieces(50_021), Do::UntilClose] {
        let totals = large(what);
        assert!(totals.kinds().is_empty(), "{what:?}: {totals:?}");
    }
}

#[test]
fn one_wrong_byte_is_found_wherever_it_is() {
    for place in [0, 7, 8, 4_095, LARGE / 2 + 3, LARGE - 1] {
        assert_eq!(large(Do::WrongByte(place)).kinds(), ["wrong-answer"], "{place}");
    }
}

#[test]
fn each_wrong_answer_to_a_file_has_its_own_name() {
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
fn without_verification_the_length_counts_and_the_bytes_do_not() {
    for (what, kinds) in [(Do::WrongByte(9), vec![]), (Do::OfLength(9), vec!["wrong-length"])] {
        let site = Site::always(what);
        let mut config = asked(&site, "{ file = 'large' }");
        config["verify"] = json!("none");
        assert_eq!(run(&config, 2, "large", 6).kinds(), kinds, "{what:?}");
    }
}

#[test]
fn an_unknown_class_of_files_is_refused_by_name() {
    let site = Site::right();
    let problem = |config: &Value| try_start(config).err().unwrap().to_string();
    let mut config = asked(&site, "{ file = 'large' }");
    config["target"]["files"]["classes"] = json!([spec()["classes"][0]]);
    assert!(problem(&config).contains("the target's files have no class \"large\""), "{}", problem(&config));
    config["target"]["files"] = Value::Null;
    assert!(problem(&config).contains("the target has no \"files\""), "{}", problem(&config));
}
