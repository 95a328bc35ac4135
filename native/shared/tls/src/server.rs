//! TLS settings of a server.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;
use serde::{Deserialize, Serialize};

use crate::generated::generate;
use crate::{ConfigError, Secret, pem, provider};

/// TLS settings of a server; without files, a certificate is generated.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSpec {
    /// A certificate chain, in PEM.
    pub cert: Option<PathBuf>,
    /// In PEM.
    pub key: Option<PathBuf>,
    /// For an encrypted key.
    pub key_password: Option<Secret>,
    /// Authorities of clients. If set, every client needs a certificate.
    pub client_ca: Option<PathBuf>,
    /// Further names and addresses of a generated certificate.
    pub names: Vec<String>,
}

/// The alert for a client that is refused on a port with TLS before the handshake: a fatal internal error,
/// the alert that is closest to a lack of places (RFC 8446 sections 6 and 6.2). The client then knows that it
/// was refused, and not that the port has another protocol.
pub const TURNED_AWAY: [u8; 7] = [21, 3, 3, 0, 2, 2, 80];

/// Accepts TLS on connections.
#[derive(Debug, Clone)]
pub struct Acceptor {
    pub(crate) config: Arc<ServerConfig>,
    made: Option<Arc<str>>,
}

impl Acceptor {
    /// Reads the files, or generates a certificate.
    pub fn new(spec: &ServerSpec, alpn: &[&[u8]]) -> Result<Self, ConfigError> {
        let (identity, cert, key, made) = match (&spec.cert, &spec.key) {
            (Some(cert), Some(key)) => {
                let identity = pem::identity(cert, key, spec.key_password.as_ref())?;
                (identity, cert.as_path(), key.as_path(), None)
            }
            (None, None) => {
                let made = generate(&spec.names).map_err(|error| ConfigError::Make(error.to_string()))?;
                (made.identity, Path::new("(made)"), Path::new("(made)"), Some(made.ca_pem.into()))
            }
            _ => return Err(ConfigError::Half),
        };
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(ConfigError::Unusable)?;
        let builder = match &spec.client_ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let roots = Arc::new(pem::store(path, &pem::authorities(path, None)?)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
                let verifier = verifier
                    .build()
                    .map_err(|error| ConfigError::Unusable(rustls::Error::General(error.to_string())))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let (chain, secret) = identity;
        let mut config =
            builder.with_single_cert(chain, secret).map_err(|error| pem::together(error, cert, key))?;
        // Sessions are resumed with tickets instead of a cache, so the server stores nothing for clients that
        // never return.
        config.ticketer = rustls::crypto::ring::Ticketer::new().map_err(ConfigError::Unusable)?;
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        Ok(Self { config: Arc::new(config), made })
    }

    /// The authority of a generated certificate, in PEM.
    pub fn made_ca(&self) -> Option<&str> {
        self.made.as_deref()
    }
}
