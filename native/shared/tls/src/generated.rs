//! A certificate and its authority, generated at the start of servers without certificate files.
//!
//! The generated authority signs the certificate, so that clients (`--tls-ca`, curl, browsers) verify the
//! certificate like any other certificate. The authority's key is dropped at once.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::pki_types::PrivatePkcs8KeyDer;
use time::{Duration, OffsetDateTime};

use crate::pem::Identity;

/// The validity; a server that runs for longer has to be restarted.
const VALID: Duration = Duration::days(365);

/// Clocks of other machines may be behind.
const EARLIER: Duration = Duration::days(1);

/// Names by which this machine always reaches itself.
const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A certificate, and its authority in PEM.
pub(crate) struct GeneratedCertificate {
    pub(crate) identity: Identity,
    pub(crate) ca_pem: String,
}

/// Generates a certificate for these names and addresses, and for this machine's own names and addresses.
pub(crate) fn generate(names: &[String]) -> Result<GeneratedCertificate, rcgen::Error> {
    let now = OffsetDateTime::now_utc();
    let authority = authority(now)?;
    let mut all: Vec<String> = LOCAL.map(String::from).to_vec();
    all.extend(names.iter().filter(|name| !LOCAL.contains(&name.as_str())).cloned());
    let mut params = CertificateParams::new(all)?;
    params.distinguished_name.push(DnType::CommonName, "sitebench");
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    (params.not_before, params.not_after) = (now - EARLIER, now + VALID);
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &authority)?;
    let key = PrivatePkcs8KeyDer::from(key.serialize_der());
    Ok(GeneratedCertificate {
        identity: (vec![certificate.der().clone()], key.into()),
        ca_pem: authority.pem(),
    })
}

fn authority(now: OffsetDateTime) -> Result<CertifiedIssuer<'static, KeyPair>, rcgen::Error> {
    let mut params = CertificateParams::default();
    // Names differ, because a browser that has seen two authorities with one name uses the wrong authority.
    let name = format!("sitebench, made at {}", now.unix_timestamp_nanos());
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    (params.not_before, params.not_after) = (now - EARLIER, now + VALID);
    CertifiedIssuer::self_signed(params, KeyPair::generate()?)
}
