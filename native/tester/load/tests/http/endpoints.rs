//! Steps over TLS beside steps without it, and several addresses of one site.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tls::{Acceptor, ServerSpec};

use crate::harness::{Totals, eventually, run_until};
use crate::scenario::{config, image, page, run, start, try_start};
use crate::site::{Do, Site};

fn acceptor() -> Acceptor {
    Acceptor::new(&ServerSpec::default(), &[b"http/1.1"]).unwrap()
}

/// A site with a second port, whose certificate is trusted.
pub struct Both {
    pub clear: Site,
    pub secure: Site,
    acceptor: Acceptor,
}

impl Both {
    pub fn new(rule: impl Fn(&str, u64) -> Do + Copy + Send + Sync + 'static) -> Self {
        let acceptor = acceptor();
        let secure = Site::at("127.0.0.1:0", Some(&acceptor), rule);
        Self { clear: Site::new(rule), secure, acceptor }
    }

    pub fn right() -> Self {
        Self::new(|_, _| Do::Right)
    }

    pub fn config(&self, keepalive: bool, steps: Value) -> Value {
        let mut config = config(&self.clear, "sequence", steps);
        config["target"]["keepalive"] = json!(keepalive);
        let trust = json!({"ca_pem": self.acceptor.made_ca().unwrap()});
        config["target"]["secure"] = json!({"port": self.secure.port(), "tls": trust});
        config
    }

    pub fn connections(&self) -> u64 {
        self.clear.connections() + self.secure.connections()
    }
}

/// The image over TLS.
pub fn secret() -> Value {
    let mut step = image();
    step["name"] = json!("secret");
    step["tls"] = json!(true);
    step
}

#[test]
fn each_step_goes_to_its_own_endpoint_and_the_mix_is_exact() {
    let site = Both::right();
    let branches = json!([{"weight": 8, "steps": [image()]}, {"weight": 2, "steps": [secret()]}]);
    let mut config = site.config(false, json!([{"op": "deck", "branches": branches}]));
    config["threads"] = json!(2);
    let mut engine = start(&config);
    engine.start_lanes("p", 5).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("image") > 400);
    let last = engine.stop(Duration::from_secs(5)).unwrap();
    let dealt = last.decks[0].dealt.clone();
    totals.add(last);
    assert!(totals.kinds().is_empty(), "{totals:?}");

    let counts = [totals.count("image"), totals.count("secret")];
    assert_eq!(counts, [site.clear.seen.answered("/image"), site.secure.seen.answered("/image")]);
    assert_eq!(site.clear.connections(), counts[0]);
    assert_eq!(totals.count("connect"), site.connections());
    // A lane that is stopped while it connects asks for nothing on that connection.
    assert_eq!(counts[0], dealt[0]);
    assert!((counts[1]..=counts[1] + 5).contains(&dealt[1]), "{counts:?} of {dealt:?}");
    let tens = dealt.iter().sum::<u64>() / 10;
    assert!(((tens - 1) * 2..=(tens + 2) * 2).contains(&dealt[1]), "{dealt:?}");
    for (side, port) in [(&site.clear, site.clear.port()), (&site.secure, site.secure.port())] {
        let requests = side.seen.requests.lock().unwrap();
        let host = format!("\r\nHost: 127.0.0.1:{port}\r\n");
        assert!(requests.iter().all(|request| String::from_utf8_lossy(request).contains(&host)));
    }
}

#[test]
fn a_kept_connection_that_goes_elsewhere_is_closed_for_a_new_one() {
    let site = Both::right();
    let totals = run(&site.config(true, json!([image(), image(), secret(), secret()])), 1, "secret", 20);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!(site.clear.connections(), totals.count("image").div_ceil(2));
    let secret = totals.count("secret").div_ceil(2);
    assert!((secret..=secret + 1).contains(&site.secure.connections()), "{totals:?}");
    assert_eq!(totals.count("connect"), site.connections());
    totals.assert_accounted();
}

#[test]
fn a_connection_that_a_step_opened_is_recorded_before_it_is_closed_for_another() {
    let site = Both::right();
    let totals = run(&site.config(true, json!([{"op": "connect"}, secret()])), 1, "secret", 20);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert!(site.clear.connections().abs_diff(totals.count("secret")) <= 1, "{totals:?}");
    assert_eq!(totals.count("connect"), site.connections());
}

#[test]
fn handshakes_are_full_ones_unless_sessions_are_to_be_resumed() {
    for resume in [false, true] {
        let site = Both::right();
        let mut config = site.config(false, json!([secret()]));
        config["target"]["secure"]["tls"]["resume"] = json!(resume);
        let totals = run(&config, 1, "secret", 20);
        assert!(totals.kinds().is_empty(), "{totals:?}");
        let expected = if resume { site.secure.connections() - 1 } else { 0 };
        // The site's side of the last handshake may end after ours.
        let resumed = || site.secure.seen.resumed.load(Ordering::Relaxed);
        assert!(eventually(|| resumed() == expected), "{} of {expected}", resumed());
    }
}

#[test]
fn lanes_are_spread_evenly_over_the_addresses_of_a_site() {
    let sites = [Site::right(), Site::right(), Site::right()];
    let mut config = config(&sites[0], "sequence", json!([image()]));
    config["threads"] = json!(2);
    let further = sites[1..].iter().map(|site| json!({"host": "127.0.0.1", "port": site.port()}));
    config["target"]["addresses"] = further.collect();
    run(&config, 3, "image", 60);
    assert_eq!([1, 1, 1], [0, 1, 2].map(|n| sites[n].connections()));
    let host = format!("\r\nHost: 127.0.0.1:{}\r\n", sites[0].port());
    for site in &sites {
        let requests = site.seen.requests.lock().unwrap();
        assert!(requests.iter().all(|request| String::from_utf8_lossy(request).contains(&host)));
    }
}

#[test]
fn each_address_has_its_secure_port_unless_that_has_a_host_of_its_own() {
    let site = Both::right();
    let [clear, secure] = [site.clear.port(), site.secure.port()];
    let others = [
        Site::at(("127.0.0.2", clear), None, |_, _| Do::Right),
        Site::at(("127.0.0.2", secure), Some(&site.acceptor), |_, _| Do::Right),
    ];
    let mut config = site.config(true, json!([secret()]));
    config["target"]["addresses"] = json!([{"host": "127.0.0.2", "port": clear}]);
    let totals = run(&config, 4, "secret", 40);
    // The certificate is that of the first address's name, wherever the lane connects to.
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!([site.secure.connections(), others[1].connections()], [2, 2]);
    config["target"]["secure"]["host"] = json!("127.0.0.1");
    run(&config, 4, "secret", 40);
    assert_eq!([site.secure.connections(), others[1].connections()], [2 + 4, 2]);
    assert_eq!([site.clear.connections(), others[0].connections()], [0, 0]);
}

#[test]
fn endpoints_that_contradict_one_another_are_refused() {
    let site = Both::right();
    let problem = |config: &Value| try_start(config).err().unwrap().to_string();
    let with = |field: &str, value: Value, steps: Value| {
        let mut config = site.config(true, steps);
        config["target"][field] = value;
        problem(&config)
    };
    let found = with("secure", Value::Null, json!([page("random"), secret()]));
    assert!(found.contains("step \"secret\": it has \"tls\", but the target has no \"secure\""), "{found}");
    let found = with("tls", json!({}), json!([image()]));
    assert!(found.contains("target.tls and target.secure contradict one another"), "{found}");
    let mut config = site.config(true, json!([secret()]));
    config["target"]["secure"] = Value::Null;
    config["target"]["tls"] = json!({});
    let found = problem(&config);
    assert!(found.contains("all steps use the target's TLS: leave \"tls\" out"), "{found}");
    let secure = json!({"port": site.clear.port()});
    let found = with("secure", secure, json!([secret()]));
    assert!(found.contains("give the port of TLS"), "{found}");
    let further = json!([{"host": "127.0.0.1", "port": site.secure.port()}]);
    let found = with("addresses", further, json!([secret()]));
    assert!(found.contains("give the port of TLS"), "{found}");
}
