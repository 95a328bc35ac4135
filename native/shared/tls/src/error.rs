//! Why certificates and keys cannot be used.

use std::io;
use std::path::PathBuf;

/// Why TLS cannot be set up as configured.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file that cannot be read.
    #[error("cannot read the {what} {path:?}: {source}; name a file in PEM that this user may read")]
    Read { what: &'static str, path: PathBuf, source: io::Error },
    /// A file with something else in it.
    #[error("the {what} {path:?} holds none: {problem}; give it in PEM (-----BEGIN ...-----)")]
    Content { what: &'static str, path: PathBuf, problem: String },
    /// A certificate without its key, or a key without its certificate.
    #[error("a certificate and its key go together: give both, or neither")]
    Half,
    #[error(
        "the key {0:?} is encrypted; put its password into a file and name that with \
         --tls-key-password-file, or set $SITEBENCH_TLS_KEY_PASSWORD"
    )]
    NeedsPassword(PathBuf),
    /// The key is encrypted with another password.
    #[error(
        "the password does not open the key {0:?}; check --tls-key-password-file or \
         $SITEBENCH_TLS_KEY_PASSWORD"
    )]
    WrongPassword(PathBuf),
    #[error("the key {key:?} is not that of the certificate {cert:?}; name the pair that was made together")]
    Mismatch { cert: PathBuf, key: PathBuf },
    /// The system has no trusted authorities.
    #[error("this system trusts no certificate authority ({0}); name one with --tls-ca")]
    NoRoots(String),
    /// A target that no certificate can be for.
    #[error("{0:?} is no name that a certificate could be for; use a host name or an address")]
    Name(String),
    #[error("cannot make a certificate: {0}; give one with --tls-cert and --tls-key")]
    Make(String),
    #[error("certificate and key are of no use: {0}; make new ones, such as with `openssl req -x509`")]
    Unusable(rustls::Error),
}
