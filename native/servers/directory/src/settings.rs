//! The configuration once it has been checked.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use people::Profile;
use tls::Acceptor;
use wire::dn::{Dn, Plain};

use crate::ad;
use crate::config::{Config, Secret};
use crate::ils_names::Names;
use crate::limits::Limits;
use crate::store::UnixSeconds;
use crate::unknown::UnknownNames;

/// See the module.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) read_only: bool,
    pub(crate) require_bind: bool,
    pub(crate) admin: Option<Admin>,
    /// Present if the server uses TLS.
    pub(crate) tls: Option<Tls>,
    /// Present in the ILS profile.
    pub(crate) ils: Option<Names>,
    /// Whether it keeps the limits of Active Directory.
    pub(crate) ad: bool,
    pub(crate) started: UnixSeconds,
    /// Whether any entry has ever held a password. Until then, which in a benchmark is always, answers
    /// need not be searched for passwords to remove.
    pub(crate) passwords: AtomicBool,
    pub(crate) unknown: UnknownNames,
}

/// TLS on this server's port.
#[derive(Debug)]
pub(crate) struct Tls {
    pub(crate) acceptor: Acceptor,
    /// Clients ask for it (StartTLS); otherwise they begin with it.
    pub(crate) start: bool,
    /// Clients have certificates.
    pub(crate) mutual: bool,
}

/// The administrator.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) dn: String,
    normal: Vec<u8>,
    /// Without one, no client can bind as the administrator.
    pub(crate) password: Option<Secret>,
}

impl Settings {
    /// The names in `config` have been checked.
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
            tls: None,
            ils,
            ad: config.profile == Profile::Ad,
            started,
            passwords: AtomicBool::new(false),
            unknown: UnknownNames::default(),
        }
    }

    /// The TLS that every connection begins with (ldaps), if it does.
    pub(crate) fn greeter(&self) -> Option<&Acceptor> {
        self.tls.as_ref().filter(|tls| !tls.start).map(|tls| &tls.acceptor)
    }

    /// The TLS that a connection changes to on request (StartTLS), if it may.
    pub(crate) fn upgrader(&self) -> Option<&Acceptor> {
        self.tls.as_ref().filter(|tls| tls.start).map(|tls| &tls.acceptor)
    }

    /// The administrator, if `dn` names it.
    pub(crate) fn admin_named(&self, dn: &[u8]) -> Option<&Admin> {
        let admin = self.admin.as_ref()?;
        (normal(dn)? == admin.normal).then_some(admin)
    }

    /// How many entries a page has that a client asks for; a first page of size zero has everybody.
    pub(crate) fn page(&self, asked: u32) -> u32 {
        let size = if asked == 0 { u32::MAX } else { asked };
        if self.ad { size.min(ad::PAGE_ENTRIES) } else { size }
    }

    /// Whether answers may hold passwords.
    #[inline]
    pub(crate) fn has_passwords(&self) -> bool {
        // Asked under the store's lock. The writer of a password sets the flag before it lets go of that lock,
        // so that a thread that can see the password sees the flag.
        self.passwords.load(Relaxed)
    }

    /// Notes that an entry with a password is about to be stored.
    pub(crate) fn note_password(&self) {
        // Ordered by the store's lock: see `has_passwords`.
        self.passwords.store(true, Relaxed);
    }
}

/// A name in the form that equal names share; `None` if it is malformed.
pub(crate) fn normal(dn: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(dn.len());
    Dn::parse(dn).ok()?.write_normal(&Plain, &mut out);
    Some(out)
}
