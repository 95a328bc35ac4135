//! TLS settings of a client.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use serde::{Deserialize, Serialize};

use crate::{ConfigError, Secret, pem, provider};

/// The maximum number of cached sessions. The cache finds a session by the server's name; a lane has one
/// server, which may have several names.
const SESSIONS: usize = 64;

/// TLS settings of a client: trusted authorities, and its own certificate.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClientSpec {
    /// File of trusted authorities and of directly trusted certificates, in PEM; the system's authorities by
    /// default.
    pub ca: Option<PathBuf>,
    /// The same certificates as PEM text, in place of a file.
    pub ca_pem: Option<String>,
    /// Accepts any certificate.
    pub insecure: bool,
    pub cert: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub key_password: Option<Secret>,
    /// Whether a new connection resumes the session of an earlier connection.
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

    /// The same settings for another thread, with its own sessions.
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
    let (provider, mut pinned) = (provider(), Vec::new());
    if spec.insecure {
        return Ok(Arc::new(Verifier { authorities: None, pinned, provider }));
    }
    let roots = if spec.ca_pem.is_none() && spec.ca.is_none() {
        system_roots()?
    } else {
        let path = spec.ca.as_deref().unwrap_or(Path::new("(given as text)"));
        pinned = pem::authorities(path, spec.ca_pem.as_deref())?;
        pem::store(path, &pinned)?
    };
    let authorities = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
        .build()
        .map_err(|error| ConfigError::Unusable(Error::General(error.to_string())))?;
    Ok(Arc::new(Verifier { authorities: Some(authorities), pinned, provider }))
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

/// Decides which server certificates are accepted. The server's signature is always verified, so that a
/// handshake costs as much as usual.
#[derive(Debug)]
struct Verifier {
    /// `None` accepts any certificate.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    /// Directly trusted certificates. `openssl req -x509` makes a self-signed CA certificate, which webpki
    /// refuses as a server certificate.
    pinned: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // webpki checks the validity period of a certificate before it looks for the issuer.
            Err(Error::InvalidCertificate(problem))
                if is_about_its_signer(&problem) && self.pinned.contains(end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Whether the issuer is the only problem of a certificate.
fn is_about_its_signer(problem: &CertificateError) -> bool {
    *problem == CertificateError::UnknownIssuer || is_an_authority(problem)
}

/// Whether an authority's certificate was used as a server's certificate.
pub(crate) fn is_an_authority(problem: &CertificateError) -> bool {
    let CertificateError::Other(OtherError(error)) = problem else { return false };
    matches!(error.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
}
