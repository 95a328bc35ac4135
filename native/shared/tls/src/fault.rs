//! Kinds of TLS errors between two peers, so that errors can be counted by kind.

use std::fmt;
use std::io;

use rustls::{AlertDescription, CertificateError, Error};

use crate::client::is_an_authority;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The certificate is not signed by a trusted authority.
    Untrusted,
    /// The certificate belongs to an authority, and is not directly trusted.
    Authority,
    /// The certificate is for another name.
    WrongName,
    /// The certificate is not valid at this time.
    Expired,
    /// A client certificate is missing, or the peer refuses the certificate.
    CertificateWanted,
    Refused,
    /// The received bytes are not TLS.
    NotTls,
    /// The connection ended during the handshake.
    Closed,
    /// Any other violation of the protocol.
    Broken,
}

impl Fault {
    /// The fault of a [`crate::Session`]'s error; `None` for an error of the socket.
    pub fn of(error: &io::Error) -> Option<Self> {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
            Some(error) => Some(Self::of_tls(error)),
            None if error.kind() == io::ErrorKind::UnexpectedEof => Some(Self::Closed),
            None => None,
        }
    }

    fn of_tls(error: &Error) -> Self {
        match error {
            Error::InvalidCertificate(problem) => match problem {
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                    Self::WrongName
                }
                CertificateError::Expired
                | CertificateError::ExpiredContext { .. }
                | CertificateError::NotValidYet
                | CertificateError::NotValidYetContext { .. } => Self::Expired,
                problem if is_an_authority(problem) => Self::Authority,
                _ => Self::Untrusted,
            },
            Error::NoCertificatesPresented => Self::CertificateWanted,
            Error::AlertReceived(
                AlertDescription::CertificateRequired
                | AlertDescription::BadCertificate
                | AlertDescription::UnknownCA
                | AlertDescription::CertificateUnknown
                | AlertDescription::CertificateExpired,
            ) => Self::CertificateWanted,
            Error::AlertReceived(_) => Self::Refused,
            Error::InvalidMessage(_) => Self::NotTls,
            _ => Self::Broken,
        }
    }

    /// The kind's name in reports.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Untrusted => "tls:untrusted",
            Self::Authority => "tls:is-authority",
            Self::WrongName => "tls:wrong-name",
            Self::Expired => "tls:expired",
            Self::CertificateWanted => "tls:certificate-wanted",
            Self::Refused => "tls:refused",
            Self::NotTls => "tls:not-tls",
            Self::Closed => "tls:closed",
            Self::Broken => "tls:broken",
        }
    }
}

/// The problem and its remedy.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untrusted => {
                "its certificate is not signed by a trusted authority; name the authority with --tls-ca"
            }
            Self::Authority => {
                "its certificate is an authority's; name it itself with --tls-ca, or make one for the server \
                 (openssl req -x509 -addext basicConstraints=critical,CA:FALSE)"
            }
            Self::WrongName => {
                "its certificate is for another name; use a name of its subjectAltName as the target's \
                 address (a common name alone does not count)"
            }
            Self::Expired => "its certificate is not valid today; renew it, or set this machine's clock",
            Self::CertificateWanted => {
                "it accepts no client without a certificate of its own choice; give one with --tls-cert and \
                 --tls-key"
            }
            Self::Refused => "it refuses the handshake; look into its log",
            Self::NotTls => "it does not speak TLS there; check the port, or leave out TLS",
            Self::Closed => "it closed the connection during the handshake; check the port, and its log",
            Self::Broken => "it does not keep to TLS; look into its log",
        })
    }
}
