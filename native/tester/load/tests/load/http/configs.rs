//! Invalid configurations are refused with the reason.

use load::AnyConfig;
use serde_json::json;

use super::paper::{IMAGE, config, one, try_start};
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
        let error = try_start(&config(&site, &one(&[&format!("{{ {step} }}")]))).err().expect(expected);
        assert!(error.to_string().contains(expected), "{error}");
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
        let mut config = config(&site, &one(&[IMAGE]));
        config["target"][field] = value;
        let error = try_start(&config).err().expect(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_persistent_connection_of_http_1_0_is_refused() {
    let site = Site::right();
    let text = format!("connection.main = {{ http = '1.0', per = 'user' }}\n{}", one(&[IMAGE]));
    let error = try_start(&config(&site, &text)).err().unwrap().to_string();
    assert!(error.contains("HTTP/1.0 ends with its answer"), "{error}");
}

#[test]
fn an_unknown_protocol_is_refused() {
    let site = Site::right();
    let mut config = config(&site, &one(&[IMAGE]));
    config["target"]["protocol"] = json!("gopher");
    let problem = serde_json::from_value::<AnyConfig>(config).unwrap_err().to_string();
    assert!(problem.contains("use \"ldap\" or \"http\""), "{problem}");
}
