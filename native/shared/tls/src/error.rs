//! Errors of certificates and keys.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("cannot read the {what} {path:?}: {source}; name a file in PEM that this user may read")]
    Read { what: &'static str, path: PathBuf, source: io::Error },
    #[error("the {what} {path:?} holds none: {problem}; give it in PEM (-----BEGIN ...-----)")]
    Content { what: &'static str, path: PathBuf, problem: String },
    #[error("a certificate and its key go together: give both, or neither")]
    Half,
    #[error(
        "the key {0:?} is encrypted; put its password into a file and name that with \
         --tls-key-password-file, or set $SITEBENCH_TLS_KEY_PASSWORD"
    )]
    NeedsPassword(PathBuf),
    #[error(
        "the password does not open the key {0:?}; check --tls-key-password-file or \
         $SITEBENCH_TLS_KEY_PASSWORD"
    )]
    WrongPassword(PathBuf),
    #[error("the key {key:?} is not that of the certificate {cert:?}; name the pair that was made together")]
    Mismatch { cert: PathBuf, key: PathBuf },
    #[error("this system trusts no certificate authority ({0}); name one with --tls-ca")]
    NoRoots(String),
    #[error("{0:?} is no name that a certificate could be for; use a host name or an address")]
    Name(String),
    #[error("cannot make a certificate: {0}; give one with --tls-cert and --tls-key")]
    Make(String),
    #[error("certificate and key are of no use: {0}; make new ones, such as with `openssl req -x509`")]
    Unusable(rustls::Error),
}
