//! Invalid configurations are refused with the reason.

use load::AnyConfig;
use serde_json::json;

use super::paper::{IMAGE, one};
use super::site::Site;

#[test]
fn invalid_steps_are_refused() {
    let site = Site::right();
    for (step, expected) in [
        ("get = 'page'", "does not begin with '/'"),
        ("get = '/{shoe}'", "{shoe}"),
        ("get = '/', headers.A = \"b\\r\\nC: d\"", "no header can hold"),
        ("get = '/', headers.Host = 'other'", "the tester itself writes the header Host"),
        ("get = '/', expect.status = 199", "199 is no final status"),
        ("get = '/', expect.contains = ['']", "empty text"),
        ("get = '/', expect.identity = { before = 'x', value = 'y' }", "the same for everyone"),
    ] {
        let error = site.job(&one(&[&format!("{{ {step} }}")])).refusal();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn invalid_targets_are_refused() {
    let site = Site::right();
    for (field, value, expected) in [
        ("size", json!(0), "target.size is 0"),
        ("size", json!(u64::MAX), "give fewer people"),
        ("base_path", json!("shop"), "target.base_path"),
    ] {
        let error = site.job(&one(&[IMAGE])).target(json!({field: value})).refusal();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn connections_that_a_site_cannot_have_are_refused() {
    let site = Site::right();
    for (connection, expected) in [
        ("{ http = '1.0', per = 'user' }", "HTTP/1.0 ends with its answer"),
        ("{ pool = 4 }", "a connection that users share (pool) is read, but not run yet"),
    ] {
        let problem = site.job(&format!("connection.main = {connection}\n{}", one(&[IMAGE]))).refusal();
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn an_unknown_protocol_is_refused() {
    let site = Site::right();
    let job = site.job(&one(&[IMAGE])).target(json!({"protocol": "gopher"}));
    let problem = serde_json::from_value::<AnyConfig>(job.config).unwrap_err().to_string();
    assert!(problem.contains("use \"ldap\" or \"http\""), "{problem}");
}
