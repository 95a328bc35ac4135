//! The checked configuration.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use people::Profile;
use wire::dn::{Dn, Plain};

use crate::ad;
use crate::config::{Config, Secret};
use crate::ils_names::Names;
use crate::limits::Limits;
use crate::store::UnixSeconds;
use crate::unknown::UnknownNames;

#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) read_only: bool,
    pub(crate) require_bind: bool,
    pub(crate) admin: Option<Admin>,
    /// Whether clients begin without TLS and may request it (StartTLS).
    pub(crate) starts_tls: bool,
    /// Whether clients under TLS need certificates.
    pub(crate) needs_certificate: bool,
    /// Present in the ILS profile.
    pub(crate) ils: Option<Names>,
    /// Whether the directory has the limits of Active Directory.
    pub(crate) ad: bool,
    pub(crate) started: UnixSeconds,
    /// Whether any entry has ever had a password. Without passwords, as in most benchmarks, answers need not
    /// be searched for passwords to remove.
    pub(crate) passwords: AtomicBool,
    pub(crate) unknown: UnknownNames,
}

#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) dn: String,
    normal: Vec<u8>,
    /// Without a password, no client can bind as the administrator.
    pub(crate) password: Option<Secret>,
}

impl Settings {
    /// The caller has checked the names in `config`.
    pub(crate) fn new(config: &Config, ils: Option<Names>, started: UnixSeconds) -> Self {
        let admin = config.admin_dn.as_ref().map(|dn| Admin {
            dn: dn.clone(),
            normal: normal(dn.as_bytes()).unwrap_or_default(),
            password: config.admin_password.clone(),
        });
        Self {
            limits: config.limits,
            read_only: config.read_only,
            require_bind: config.require_bind,
            admin,
            starts_tls: config.tls.as_ref().is_some_and(|tls| tls.start),
            needs_certificate: config.tls.as_ref().is_some_and(|tls| tls.certificate.client_ca.is_some()),
            ils,
            ad: config.profile == Profile::Ad,
            started,
            passwords: AtomicBool::new(false),
            unknown: UnknownNames::default(),
        }
    }

    /// The administrator, if `dn` is its name.
    pub(crate) fn admin_named(&self, dn: &[u8]) -> Option<&Admin> {
        let admin = self.admin.as_ref()?;
        (normal(dn)? == admin.normal).then_some(admin)
    }

    /// The DN under which an entry is stored. A name of ILS clients is translated into `buffer`; any other
    /// `dn` is returned unchanged.
    pub(crate) fn stored_name<'n>(&self, dn: &'n [u8], buffer: &'n mut Vec<u8>) -> &'n [u8] {
        match &self.ils {
            Some(names) if names.translate(dn, buffer) => buffer,
            _ => dn,
        }
    }

    /// The size of a requested page; a first page of size zero has all entries.
    pub(crate) fn page(&self, asked: u32) -> u32 {
        let size = if asked == 0 { u32::MAX } else { asked };
        if self.ad { size.min(ad::PAGE_ENTRIES) } else { size }
    }

    /// Whether answers could contain passwords.
    #[inline]
    pub(crate) fn has_passwords(&self) -> bool {
        // Relaxed: the flag is read under the store's lock. The writer of a password sets the flag before it
        // releases that lock, so a thread that can see the password sees the flag.
        self.passwords.load(Relaxed)
    }

    /// Notes that an entry with a password is about to be stored.
    pub(crate) fn note_password(&self) {
        // Relaxed: ordered by the store's lock, see `has_passwords`.
        self.passwords.store(true, Relaxed);
    }
}

/// The normal form of a name, which is the same for equal names; `None` for a malformed name.
pub(crate) fn normal(dn: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(dn.len());
    Dn::parse(dn).ok()?.write_normal(&Plain, &mut out);
    Some(out)
}
