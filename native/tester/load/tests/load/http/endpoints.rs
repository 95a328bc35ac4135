//! Steps over TLS beside cleartext steps, and several addresses of one site.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tls::{Acceptor, ServerSpec};

use super::harness::{Totals, eventually, run_until};
use super::paper::{config, run, start, try_start};
use super::site::{Do, Site};

pub fn acceptor() -> Acceptor {
    Acceptor::new(&ServerSpec::default(), &[b"http/1.1"]).unwrap()
}

/// A site with a second port for TLS. Clients trust its certificate.
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

    /// A deck of `images` cards without TLS and `secrets` cards with TLS.
    pub fn config(&self, keepalive: bool, images: u32, secrets: u32) -> Value {
        let mut config = kinds(&self.clear, images, secrets);
        config["target"]["keepalive"] = json!(keepalive);
        config["scenarios"][0]["keepalive"] = json!(keepalive);
        let trust = json!({"ca_pem": self.acceptor.made_ca().unwrap()});
        config["target"]["secure"] = json!({"port": self.secure.port(), "tls": trust});
        config
    }

    pub fn connections(&self) -> u64 {
        self.clear.connections() + self.secure.connections()
    }
}

/// A scenario with classes of images: one row per class, under the scenario's name.
pub fn kinds(site: &Site, images: u32, secrets: u32) -> Value {
    let image = |name: &str, weight: u32, connection: &str| {
        let step = format!("get = '/image'\non = '{connection}'\nexpect.length = 5480");
        format!("[[operation]]\nname = '{name}'\nweight = {weight}\n{step}\n")
    };
    let mut text = String::new();
    if images > 0 {
        text += "connection.main.per = 'step'\n";
    }
    if secrets > 0 {
        text += "connection.secure = { per = 'step', tls = true }\n";
    }
    if images > 0 {
        text += &image("image", images, "main");
    }
    if secrets > 0 {
        text += &image("secret", secrets, "secure");
    }
    let mut config = config(site, &text);
    config["scenarios"][0]["classes"] = json!(true);
    config
}

#[test]
fn each_step_uses_its_own_endpoint_and_the_mix_is_exact() {
    let site = Both::right();
    let mut config = site.config(false, 4, 1);
    config["threads"] = json!(2);
    let mut engine = start(&config);
    engine.start_lanes("p", 5).unwrap();
    let mut totals = Totals::default();
    run_until(&mut engine, &mut totals, |totals| totals.count("image") > 400);
    totals.add(engine.stop(Duration::from_secs(5)).unwrap());
    assert!(totals.kinds().is_empty(), "{totals:?}");

    let counts = [totals.count("image"), totals.count("secret")];
    assert_eq!(counts, [site.clear.seen.answered("/image"), site.secure.seen.answered("/image")]);
    assert_eq!(site.clear.connections(), counts[0]);
    assert_eq!(totals.count("connect"), site.connections());
    // A lane that is stopped during a connect sends no request on that connection, so each of the five lanes may
    // lack a card.
    let fives = counts[0] / 4;
    assert!((fives - 6..=fives + 2).contains(&counts[1]), "{counts:?}");
    for (side, port) in [(&site.clear, site.clear.port()), (&site.secure, site.secure.port())] {
        let requests = side.seen.requests.lock().unwrap();
        let host = format!("\r\nHost: 127.0.0.1:{port}\r\n");
        assert!(requests.iter().all(|request| String::from_utf8_lossy(request).contains(&host)));
    }
}

#[test]
fn an_open_connection_to_another_endpoint_is_replaced() {
    let site = Both::right();
    let totals = run(&site.config(true, 1, 1), 1, "secret", 40);
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!(totals.count("connect"), site.connections());
    // The two cards of a pair use different endpoints. The first card of the next pair may use the open
    // connection.
    let (pairs, connections) = (totals.count("image"), site.connections());
    assert!((pairs..2 * pairs).contains(&connections), "{connections} for {pairs} of each");
    assert!(site.clear.connections().abs_diff(site.secure.connections()) <= 1, "{totals:?}");
    totals.assert_accounted();
}

#[test]
fn tls_handshakes_are_full_unless_resumption_is_configured() {
    for resume in [false, true] {
        let site = Both::right();
        let mut config = site.config(false, 0, 1);
        config["target"]["secure"]["tls"]["resume"] = json!(resume);
        let totals = run(&config, 1, "secret", 20);
        assert!(totals.kinds().is_empty(), "{totals:?}");
        let expected = if resume { site.secure.connections() - 1 } else { 0 };
        // The site's side of the last handshake may end after the client's side.
        let resumed = || site.secure.seen.resumed.load(Ordering::Relaxed);
        assert!(eventually(|| resumed() == expected), "{} of {expected}", resumed());
    }
}

#[test]
fn lanes_are_spread_evenly_over_the_addresses_of_a_site() {
    let sites = [Site::right(), Site::right(), Site::right()];
    let mut config = kinds(&sites[0], 1, 0);
    config["scenarios"][0]["keepalive"] = json!(true);
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
fn tls_connections_use_every_address_unless_the_tls_endpoint_has_a_host() {
    let site = Both::right();
    let [clear, secure] = [site.clear.port(), site.secure.port()];
    let others = [
        Site::at(("127.0.0.2", clear), None, |_, _| Do::Right),
        Site::at(("127.0.0.2", secure), Some(&site.acceptor), |_, _| Do::Right),
    ];
    let mut config = site.config(true, 0, 1);
    config["target"]["addresses"] = json!([{"host": "127.0.0.2", "port": clear}]);
    let totals = run(&config, 4, "secret", 40);
    // The certificate names the first address, whichever address the lane connects to.
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!([site.secure.connections(), others[1].connections()], [2, 2]);
    config["target"]["secure"]["host"] = json!("127.0.0.1");
    run(&config, 4, "secret", 40);
    assert_eq!([site.secure.connections(), others[1].connections()], [2 + 4, 2]);
    assert_eq!([site.clear.connections(), others[0].connections()], [0, 0]);
}

#[test]
fn contradictory_endpoints_are_refused() {
    let site = Both::right();
    let problem = |config: &Value| try_start(config).err().unwrap().to_string();
    let with = |field: &str, value: Value| {
        let mut config = site.config(true, 1, 1);
        config["target"][field] = value;
        problem(&config)
    };
    let found = with("secure", Value::Null);
    assert!(
        found.contains("connection.secure: has tls = true, but the target has no address for it"),
        "{found}"
    );
    let found = with("tls", json!({}));
    assert!(found.contains("target.tls and target.secure contradict one another"), "{found}");
    let found = with("secure", json!({"port": site.clear.port()}));
    assert!(found.contains("give the port of TLS"), "{found}");
    let found = with("addresses", json!([{"host": "127.0.0.1", "port": site.secure.port()}]));
    assert!(found.contains("give the port of TLS"), "{found}");
}
