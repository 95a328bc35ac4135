//! What cannot be run is refused with the reason.

use load::AnyConfig;
use serde_json::json;

use crate::scenario::{config, page, try_start, update};
use crate::site::Site;

#[test]
fn steps_that_make_no_sense_are_refused() {
    let site = Site::right();
    let changed = |field: &str, value: serde_json::Value| {
        let mut page = page("random");
        page[field] = value;
        page
    };
    for (step, expected) in [
        (changed("path", json!("page")), "begin with \"/\""),
        (changed("path", json!("/{shoe}")), "there is no field {shoe}"),
        (changed("method", json!("get")), "is no method"),
        (changed("headers", json!({"A": "b\r\nC: d"})), "is no header line"),
        (changed("expect", json!({"status": 99})), "no final status"),
        (changed("expect", json!({"status": []})), "no status is accepted"),
        (changed("expect", json!({"contains": [""]})), "empty text"),
        (changed("expect", json!({"identity": {"before": "x", "value": "y"}})), "the same for every person"),
        (update("random"), "others may be being updated"),
    ] {
        let error = try_start(&config(&site, "sequence", json!([step]))).err().expect(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn targets_that_make_no_sense_are_refused() {
    let site = Site::right();
    for (field, value, expected) in [
        ("size", json!(0), "target.size is 0"),
        ("base_path", json!("shop"), "target.base_path"),
        ("headers", json!({"A b": "c"}), "target.headers"),
        ("share", json!({"index": 2, "of": 2}), "target.share is 2 of 2"),
    ] {
        let mut config = config(&site, "page", json!([page("random")]));
        config["target"][field] = value;
        let error = try_start(&config).err().expect(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn each_thread_needs_a_person_to_update() {
    let site = Site::right();
    let mut config = config(&site, "sequence", json!([update("own")]));
    config["target"]["size"] = json!(3);
    config["threads"] = json!(4);
    let error = try_start(&config).err().unwrap().to_string();
    assert!(error.contains("target.size is 3, but 4 threads of 1 engines"), "{error}");
}

#[test]
fn an_unknown_protocol_is_refused() {
    let site = Site::right();
    let mut config = config(&site, "page", json!([page("random")]));
    config["target"]["protocol"] = json!("gopher");
    let error = serde_json::from_value::<AnyConfig>(config).unwrap_err().to_string();
    assert!(error.contains("use \"ldap\" or \"http\""), "{error}");
}
