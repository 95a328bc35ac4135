//! The configuration once it has been checked: what sessions go by.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use tls::Acceptor;
use wire::dn::{Dn, Plain};

use crate::config::{Config, Secret};
use crate::ils;
use crate::limits::Limits;

/// See the module.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) limits: Limits,
    pub(crate) read_only: bool,
    pub(crate) require_bind: bool,
    pub(crate) admin: Option<Admin>,
    /// Present where TLS is spoken.
    pub(crate) tls: Option<Tls>,
    /// Present in the ILS profile.
    pub(crate) ils: Option<ils::Names>,
    /// Whether any entry has ever held a password. While none has, and in a benchmark none does,
    /// no answer is searched for what has to be kept back.
    pub(crate) passwords: AtomicBool,
}

/// How TLS is spoken.
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
    /// As configured.
    pub(crate) dn: String,
    normal: Vec<u8>,
    /// Without one, nobody can bind as the administrator.
    pub(crate) password: Option<Secret>,
}

impl Settings {
    /// Takes over what the configuration says. Names in it are known to be well-formed.
    pub(crate) fn new(config: &Config, ils: Option<ils::Names>) -> Self {
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
            passwords: AtomicBool::new(false),
        }
    }

    /// What accepted connections begin with.
    pub(crate) fn greeter(&self) -> Option<&Acceptor> {
        self.tls.as_ref().filter(|tls| !tls.start).map(|tls| &tls.acceptor)
    }

    /// What connections go on with that have asked for it.
    pub(crate) fn upgrader(&self) -> Option<&Acceptor> {
        self.tls.as_ref().filter(|tls| tls.start).map(|tls| &tls.acceptor)
    }

    /// The administrator, if `dn` names it.
    pub(crate) fn admin_named(&self, dn: &[u8]) -> Option<&Admin> {
        let admin = self.admin.as_ref()?;
        (normal(dn)? == admin.normal).then_some(admin)
    }

    /// Whether answers may hold passwords.
    #[inline]
    pub(crate) fn has_passwords(&self) -> bool {
        self.passwords.load(Relaxed)
    }

    /// Notes that an entry with a password is about to be stored.
    pub(crate) fn note_password(&self) {
        self.passwords.store(true, Relaxed);
    }
}

/// A name in the form that equal names share; `None` for what is no name.
pub(crate) fn normal(dn: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(dn.len());
    Dn::parse(dn).ok()?.write_normal(&Plain, &mut out);
    Some(out)
}
