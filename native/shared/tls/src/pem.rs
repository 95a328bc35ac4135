//! Reads certificates and keys from files.

use std::path::Path;

use pkcs8::der::Decode as _;
use pkcs8::{EncryptedPrivateKeyInfo, SecretDocument};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::{ConfigError, Secret};

/// A certificate with the chain to its authority, and its key.
pub(crate) type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

const CERTIFICATE: &str = "certificate";
const KEY: &str = "key";
const AUTHORITY: &str = "certificate authority";

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, ConfigError> {
    std::fs::read(path).map_err(|source| ConfigError::Read { what, path: path.into(), source })
}

fn content(what: &'static str, path: &Path, problem: impl ToString) -> ConfigError {
    ConfigError::Content { what, path: path.into(), problem: problem.to_string() }
}

fn certificates(
    what: &'static str,
    path: &Path,
    text: &[u8],
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    let found = found.map_err(|error| content(what, path, error))?;
    if found.is_empty() { Err(content(what, path, "no certificate found")) } else { Ok(found) }
}

pub(crate) fn identity(cert: &Path, key: &Path, password: Option<&Secret>) -> Result<Identity, ConfigError> {
    let chain = certificates(CERTIFICATE, cert, &read(CERTIFICATE, cert)?)?;
    Ok((chain, private_key(key, password)?))
}

fn private_key(path: &Path, password: Option<&Secret>) -> Result<PrivateKeyDer<'static>, ConfigError> {
    let text = read(KEY, path)?;
    let has = |words: &[u8]| text.windows(words.len()).any(|window| window == words);
    if has(b"-----BEGIN ENCRYPTED PRIVATE KEY-----") {
        return decrypt(path, &text, password);
    }
    if has(b"Proc-Type: 4,ENCRYPTED") {
        let problem = "it is encrypted in a way of the last century; convert it by `openssl pkcs8 -topk8`";
        return Err(content(KEY, path, problem));
    }
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| content(KEY, path, error))
}

fn decrypt(
    path: &Path,
    text: &[u8],
    password: Option<&Secret>,
) -> Result<PrivateKeyDer<'static>, ConfigError> {
    let password = password.ok_or_else(|| ConfigError::NeedsPassword(path.into()))?;
    let text = std::str::from_utf8(text).map_err(|error| content(KEY, path, error))?;
    let start = text.find("-----BEGIN ENCRYPTED").unwrap_or_default();
    let (_, locked) = SecretDocument::from_pem(&text[start..]).map_err(|error| content(KEY, path, error))?;
    let locked =
        EncryptedPrivateKeyInfo::from_der(locked.as_bytes()).map_err(|error| content(KEY, path, error))?;
    let open = locked.decrypt(password.as_bytes()).map_err(|_| ConfigError::WrongPassword(path.into()))?;
    Ok(PrivatePkcs8KeyDer::from(open.as_bytes().to_vec()).into())
}

/// The certificates of a file, or of a text that has been read already.
pub(crate) fn authorities(
    path: &Path,
    text: Option<&str>,
) -> Result<Vec<CertificateDer<'static>>, ConfigError> {
    match text {
        Some(text) => certificates(AUTHORITY, path, text.as_bytes()),
        None => certificates(AUTHORITY, path, &read(AUTHORITY, path)?),
    }
}

/// Makes a store of trusted authorities.
pub(crate) fn store(
    path: &Path,
    certificates: &[CertificateDer<'static>],
) -> Result<RootCertStore, ConfigError> {
    let mut store = RootCertStore::empty();
    for certificate in certificates {
        store.add(certificate.clone()).map_err(|error| content(AUTHORITY, path, error))?;
    }
    Ok(store)
}

/// The error of a certificate and a key that do not fit together.
pub(crate) fn together(error: rustls::Error, cert: &Path, key: &Path) -> ConfigError {
    match error {
        rustls::Error::InconsistentKeys(_) => ConfigError::Mismatch { cert: cert.into(), key: key.into() },
        other => ConfigError::Unusable(other),
    }
}
