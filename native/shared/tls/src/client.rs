//! TLS settings of a client.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use serde::{Deserialize, Serialize};

use crate::{ConfigError, Secret, pem, provider};

/// Sessions remembered, by server name; a lane has one server, but it may answer under other names.
const SESSIONS: usize = 64;

/// TLS settings of a client: trusted authorities, and its own certificate.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientSpec {
    /// File of trusted authorities, in PEM; the system's authorities by default.
    pub ca: Option<PathBuf>,
    /// The same as a text.
    pub ca_pem: Option<String>,
    /// Accept any certificate.
    pub insecure: bool,
    /// File of the client's certificate chain, in PEM.
    pub cert: Option<PathBuf>,
    /// The certificate's key, in PEM.
    pub key: Option<PathBuf>,
    /// The key's password, if it is encrypted.
    pub key_password: Option<Secret>,
    /// Whether a new connection goes on with the session of an earlier one.
    pub resume: bool,
}

/// Starts TLS sessions with one server.
#[derive(Debug, Clone)]
pub struct Connector {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
    resume: bool,
}

impl Connector {
    /// Reads the files for connections to `host`.
    pub fn new(spec: &ClientSpec, host: &str, alpn: &[&[u8]]) -> Result<Self, ConfigError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| ConfigError::Name(host.into()))?;
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(ConfigError::Unusable)?
            .dangerous()
            .with_custom_certificate_verifier(verifier(spec)?);
        let mut config = match (&spec.cert, &spec.key) {
            (Some(cert), Some(key)) => {
                let (chain, secret) = pem::identity(cert, key, spec.key_password.as_ref())?;
                builder
                    .with_client_auth_cert(chain, secret)
                    .map_err(|error| pem::together(error, cert, key))?
            }
            (None, None) => builder.with_no_client_auth(),
            _ => return Err(ConfigError::Half),
        };
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        config.resumption = sessions(spec.resume);
        Ok(Self { config: Arc::new(config), name, resume: spec.resume })
    }

    /// The same for another thread, with sessions of its own.
    #[must_use]
    pub fn for_thread(&self) -> Self {
        let mut config = (*self.config).clone();
        config.resumption = sessions(self.resume);
        Self { config: Arc::new(config), name: self.name.clone(), resume: self.resume }
    }
}

fn sessions(resume: bool) -> Resumption {
    if resume { Resumption::in_memory_sessions(SESSIONS) } else { Resumption::disabled() }
}

fn verifier(spec: &ClientSpec) -> Result<Arc<dyn ServerCertVerifier>, ConfigError> {
    if spec.insecure {
        return Ok(Arc::new(AcceptAnyCertificate(provider())));
    }
    let roots = match (&spec.ca_pem, &spec.ca) {
        (Some(text), _) => pem::store(Path::new("(given as text)"), text.as_bytes())?,
        (None, Some(path)) => pem::roots(path)?,
        (None, None) => system_roots()?,
    };
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
    Ok(verifier.map_err(|error| ConfigError::Unusable(Error::General(error.to_string())))?)
}

fn system_roots() -> Result<RootCertStore, ConfigError> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    if added == 0 {
        let why = found.errors.first().map_or_else(|| "it has none".to_owned(), ToString::to_string);
        return Err(ConfigError::NoRoots(why));
    }
    Ok(roots)
}

/// Accepts any certificate, but verifies that its holder has the key, so that a handshake costs as much as usual.
#[derive(Debug)]
struct AcceptAnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AcceptAnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
