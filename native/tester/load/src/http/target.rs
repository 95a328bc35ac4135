//! The measured site.

use scenario::{Connection, Lifetime, Problems};
use serde::Deserialize;
use tls::{ClientSpec, ConfigError};

use crate::compile_error::CompileError;
use crate::connection::security::Security;
use crate::program::MAIN;
use crate::scenario_spec::ScenarioSpec;
use crate::target_address::TargetAddress;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub host: String,
    pub port: u16,
    #[serde(default)]
    pub base_path: String,
    /// Whether a connection serves more than one request.
    #[serde(default = "yes")]
    pub keepalive: bool,
    /// The number of people, numbered from 0.
    #[serde(default = "one")]
    pub size: u64,
    /// Whether connections to this machine come from many addresses (method rule 13).
    #[serde(default = "yes")]
    pub spread_sources: bool,
    /// Whether requests are HTTP/1.0, each on a connection of its own. Scenarios set this.
    #[serde(skip)]
    pub http10: bool,
    /// The files of `file` steps.
    #[serde(default)]
    pub files: Option<files::Spec>,
    /// TLS settings, if all connections use TLS.
    #[serde(default)]
    pub tls: Option<ClientSpec>,
    /// A second endpoint, for connections with `tls`.
    #[serde(default)]
    pub secure: Option<Box<Secure>>,
    /// Further addresses of the same site. Lane `k` uses address `k` modulo their number; address 0 is `host`
    /// and `port`. Headers and certificates use the first address's name for all addresses.
    #[serde(default)]
    pub addresses: Vec<Address>,
    /// Whether the phases of requests and the number of requests per lane are recorded.
    #[serde(default)]
    pub phases: bool,
}

/// An endpoint with TLS.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Secure {
    /// The host of the endpoint for lanes of all addresses. By default each lane uses the host of its
    /// address.
    #[serde(default)]
    pub host: Option<String>,
    pub port: u16,
    #[serde(default)]
    pub tls: ClientSpec,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Address {
    pub host: String,
    pub port: u16,
}

/// Index of the endpoint for connections with `tls`, after [`crate::program::MAIN`].
pub(super) const SECURE: usize = 1;

const fn yes() -> bool {
    true
}

const fn one() -> u64 {
    1
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    #[error("target.base_path is {0:?}: give a path like \"/shop\", without spaces, or nothing")]
    BasePath(String),
    #[error("target.size is 0: give the number of people the site knows")]
    NoPeople,
    #[error("target.size is {0}: give fewer people")]
    TooMany(u64),
    #[error("target.files: {0}")]
    Files(#[from] files::SpecError),
    #[error("a connection of HTTP/1.0 ends with its answer: leave its \"per\" out, or write http = \"1.1\"")]
    LaneData,
    #[error(
        "target.tls and target.secure contradict one another: leave \"secure\" out to use TLS everywhere, \
         \"tls\" to use it for the connections that ask for it"
    )]
    SecureTwice,
    #[error("target.secure is at port {0}, which is connected to without TLS: give the port of TLS")]
    SecurePort(u16),
}

impl Target {
    /// A site that allows any step, for checks without a target.
    pub(super) fn any() -> Self {
        let secure = Secure { host: None, port: 443, tls: ClientSpec::default() };
        Self {
            host: "localhost".to_owned(),
            port: 80,
            base_path: String::new(),
            keepalive: true,
            size: 1,
            spread_sources: true,
            http10: false,
            files: None,
            tls: None,
            secure: Some(Box::new(secure)),
            addresses: Vec::new(),
            phases: false,
        }
    }

    /// Sets the lifetime and the HTTP version of connections from a scenario. All connections of the target
    /// share them.
    pub(crate) fn connect_as(&mut self, spec: &ScenarioSpec) -> Result<(), Problems> {
        if spec.keepalive {
            return Ok(());
        }
        // The compiler reports a scenario that cannot be read.
        let Ok(scenario) = scenario::read(&spec.text) else { return Ok(()) };
        let old = |connection: &Connection| connection.http_1_0;
        let (some, all) = (scenario.connections.iter().any(old), scenario.connections.iter().all(old));
        if some && !all {
            let what = "some connections speak HTTP/1.0, and others do not";
            return Err(CompileError::from(what).at(["connection"]).in_file(&spec.text));
        }
        self.http10 |= all;
        let short = |connection: &Connection| connection.lives == Lifetime::Step;
        self.keepalive &= !scenario.connections.iter().all(short);
        Ok(())
    }

    pub(super) fn check(&self) -> Result<(), TargetError> {
        let path = self.base_path.as_bytes();
        if !(path.is_empty() || path[0] == b'/') || !path.iter().all(u8::is_ascii_graphic) {
            return Err(TargetError::BasePath(self.base_path.clone()));
        }
        if self.http10 && self.keepalive {
            return Err(TargetError::LaneData);
        }
        if let Some(Secure { port, .. }) = self.secure.as_deref() {
            if self.tls.is_some() {
                return Err(TargetError::SecureTwice);
            }
            let addresses = self.addresses();
            if addresses.iter().any(|clear| addresses.iter().any(|other| other[SECURE] == clear[MAIN])) {
                return Err(TargetError::SecurePort(*port));
            }
        }
        match self.size {
            0 => Err(TargetError::NoPeople),
            size if size > u64::MAX >> 2 => Err(TargetError::TooMany(size)),
            _ => Ok(()),
        }
    }

    /// The rest of the head after the path: the version, and the header lines of every request.
    pub(super) fn head_lines(&self, secure: bool) -> String {
        let version = if self.http10 { "1.0" } else { "1.1" };
        let mut lines = format!(" HTTP/{version}\r\nHost: {}\r\n", self.authority(secure));
        // An HTTP/1.0 connection closes after the answer by default.
        if !self.keepalive && !self.http10 {
            lines.push_str("Connection: close\r\n");
        }
        lines
    }

    /// The secure endpoint's name in headers and in its certificate.
    fn secure_host(&self) -> &str {
        self.secure.as_ref().and_then(|secure| secure.host.as_deref()).unwrap_or(&self.host)
    }

    /// The Host header's value (RFC 9112 section 3.2).
    pub(super) fn authority(&self, secure: bool) -> String {
        let host = if secure { self.secure_host() } else { &self.host };
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let (port, usual) = match &self.secure {
            Some(endpoint) if secure => (endpoint.port, 443),
            _ => (self.port, if self.tls.is_some() { 443 } else { 80 }),
        };
        if port == usual { host } else { format!("{host}:{port}") }
    }
}

/// Whether a name is a token (RFC 9110 section 5.6.2).
pub(super) fn is_header_name(name: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(token)
}

impl TargetAddress for Target {
    fn addresses(&self) -> Vec<Vec<(&str, u16)>> {
        let further = self.addresses.iter().map(|address| (address.host.as_str(), address.port));
        let endpoints = |(host, port)| match &self.secure {
            Some(secure) => vec![(host, port), (secure.host.as_deref().unwrap_or(host), secure.port)],
            None => vec![(host, port)],
        };
        std::iter::once((self.host.as_str(), self.port)).chain(further).map(endpoints).collect()
    }

    fn security(&self) -> Result<Vec<Option<Security>>, ConfigError> {
        let security_of = |spec, host| Security::new(spec, host, &[b"http/1.1"], None);
        let mut security = vec![self.tls.as_ref().map(|spec| security_of(spec, &self.host)).transpose()?];
        if let Some(secure) = &self.secure {
            security.push(Some(security_of(&secure.tls, self.secure_host())?));
        }
        Ok(security)
    }

    fn spreads_sources(&self) -> bool {
        self.spread_sources
    }
}
