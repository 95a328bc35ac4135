//! Steps over TLS beside cleartext steps, and several addresses of one site.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tls::{Acceptor, ServerSpec};

use super::harness::eventually;
use super::site::{Do, Site};
use crate::job::Job;

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
    pub fn job(&self, keepalive: bool, images: u32, secrets: u32) -> Job {
        let job = kinds(&self.clear, images, secrets).scenario(json!({"keepalive": keepalive}));
        let secure = json!({"port": self.secure.port(), "tls": {"ca_pem": self.acceptor.made_ca().unwrap()}});
        job.target(json!({"keepalive": keepalive, "secure": secure}))
    }

    pub fn connections(&self) -> u64 {
        self.clear.connections() + self.secure.connections()
    }
}

/// A scenario with classes of images: one row per class, under the scenario's name.
pub fn kinds(site: &Site, images: u32, secrets: u32) -> Job {
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
    site.job(&text).scenario(json!({"classes": true}))
}

#[test]
fn each_step_uses_its_own_endpoint_and_the_mix_is_exact() {
    let site = Both::right();
    let totals = site.job(false, 4, 1).with(json!({"threads": 2})).run_steps(5, "image", 401);
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
    let totals = site.job(true, 1, 1).run_steps(1, "secret", 40);
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
        let job = site.job(false, 0, 1).target(json!({"secure": {"tls": {"resume": resume}}}));
        let totals = job.run_steps(1, "secret", 20);
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
    let job = kinds(&sites[0], 1, 0).with(json!({"threads": 2})).scenario(json!({"keepalive": true}));
    let address = |site: &Site| json!({"host": "127.0.0.1", "port": site.port()});
    let addresses: Vec<_> = sites[1..].iter().map(address).collect();
    job.target(json!({"addresses": addresses})).run_steps(3, "image", 60);
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
    let addresses = json!({"addresses": [{"host": "127.0.0.2", "port": clear}]});
    let job = site.job(true, 0, 1).target(addresses);
    let totals = job.run_steps(4, "secret", 40);
    // The certificate names the first address, whichever address the lane connects to.
    assert!(totals.kinds().is_empty(), "{totals:?}");
    assert_eq!([site.secure.connections(), others[1].connections()], [2, 2]);
    job.target(json!({"secure": {"host": "127.0.0.1"}})).run_steps(4, "secret", 40);
    assert_eq!([site.secure.connections(), others[1].connections()], [2 + 4, 2]);
    assert_eq!([site.clear.connections(), others[0].connections()], [0, 0]);
}

#[test]
fn contradictory_endpoints_are_refused() {
    let site = Both::right();
    let (clear, secure) = (site.clear.port(), site.secure.port());
    for (target, expected) in [
        (
            json!({"secure": Value::Null}),
            "connection.secure: has tls = true, but the target has no address for it",
        ),
        (json!({"tls": {}}), "target.tls and target.secure contradict one another"),
        (json!({"secure": {"port": clear}}), "give the port of TLS"),
        (json!({"addresses": [{"host": "127.0.0.1", "port": secure}]}), "give the port of TLS"),
    ] {
        let problem = site.job(true, 1, 1).target(target).refusal();
        assert!(problem.contains(expected), "{problem}");
    }
}
