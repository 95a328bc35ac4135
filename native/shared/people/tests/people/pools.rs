//! Pools files, valid and invalid.

use people::{Pools, PoolsError};

const THREE_POOLS_SHA256: &str = "c519e67010dcce5eda447aaa8036a1712710cc006849e6bb27aa53b08aa8d384";

fn error(text: &str) -> String {
    Pools::parse(text).unwrap_err().to_string()
}

/// The test pools with one line replaced.
fn with_line(old: &str, new: &str) -> String {
    assert_eq!(crate::common::POOLS.matches(&format!("\n{old}\n")).count(), 1, "{old} is not one line");
    crate::common::POOLS.replacen(&format!("\n{old}\n"), &format!("\n{new}\n"), 1)
}

#[test]
fn locales_are_in_the_order_of_the_file() {
    let pools = Pools::parse(crate::common::POOLS).unwrap();
    assert_eq!(pools.locales().collect::<Vec<_>>(), ["en_US", "ru_RU", "ja_JP"]);
    assert_eq!(pools.faker_version(), "0.0.0");
}

#[test]
fn the_digest_of_pools_is_the_sha_256_of_the_file() {
    // The output of sha256sum for tests/data/three.pools.
    assert_eq!(Pools::parse(crate::common::POOLS).unwrap().digest(), THREE_POOLS_SHA256);
    let other = Pools::parse(&with_line("Anna", "Anne")).unwrap();
    assert_ne!(other.digest(), THREE_POOLS_SHA256);
}

#[test]
fn a_file_of_another_kind_or_version_is_refused() {
    for text in
        ["", "hello", "sitebench-pools 2\nfaker 1\n", "sitebench-pools 1", "sitebench-pools 1\n[a given]\n"]
    {
        let error = error(text);
        assert!(error.ends_with("harvest the pools again"), "{error}");
    }
}

#[test]
fn the_error_for_an_invalid_value_names_its_line() {
    let cases = [
        ("Anna", " Anna", "line 4 of the pools file: a value with spaces around it"),
        ("Anna", "An\tna", "line 4 of the pools file: a control character"),
        ("US", "USA", "a country that is not two capital letters"),
        ("alee", "älee", "a user name of other characters"),
        ("[en_US given]", "Anna 2", "line 3 of the pools file: a value before the first section"),
    ];
    for (old, new, expected) in cases {
        let error = error(&with_line(old, new));
        assert!(error.contains(expected), "{error}");
    }
    assert!(error(&with_line("Anna", &"A".repeat(257))).contains("more than 256 bytes"));
}

#[test]
fn unknown_or_repeated_sections_are_refused() {
    for section in ["[en_US shoe]", "[en_US]", "[en_US given", "[ru_RU text]"] {
        let error = Pools::parse(&with_line("[ja_JP text]", section)).unwrap_err();
        assert!(matches!(error, PoolsError::BadSection { .. }), "{section}: {error}");
    }
}

#[test]
fn a_locale_without_values_for_a_field_is_refused() {
    let text = crate::common::POOLS.replace("[ja_JP city]\n南房総市\n横浜市南区\n", "");
    assert!(error(&text).contains("no [ja_JP city]"));
}
