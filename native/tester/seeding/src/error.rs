//! Errors of seeding a directory.

use std::io;

use people::ContainersError;
use wire::ldap::{Outcome, ResultCode};

/// The limit of connections. More connections would only contend for a server's locks.
pub(super) const MAX_CONNECTIONS: usize = 256;

/// The limit of the window. The slot of each outstanding request gives its message id.
pub(super) const MAX_WINDOW: usize = 65_536;

/// The reason why the work stopped. Completed requests stay in effect; another run skips completed requests.
#[derive(Debug, thiserror::Error)]
pub enum SeedingError {
    #[error("{0} connections cannot be kept busy; ask for 1 to {MAX_CONNECTIONS}")]
    Connections(usize),
    #[error("a window of {0} requests cannot be kept; ask for 1 to {MAX_WINDOW}")]
    Window(usize),
    /// RFC 4513 section 5.1.2: such a bind would succeed and be anonymous.
    #[error("{0} has no password; give one, or leave the bind DN out to write anonymously")]
    NoPassword(String),
    #[error("the directory's base is {base:?}, but the people are under {people:?}; make them for that base")]
    OtherBase { base: String, people: String },
    #[error("cannot connect to {server}: {source}; is it running, and is the address right?")]
    Connect { server: String, source: io::Error },
    #[error("the connection to {server} broke: {source}; run it again to go on")]
    Broken { server: String, source: io::Error },
    #[error("no TLS with {server}: {fault}")]
    Tls { server: String, fault: tls::Fault },
    #[error(transparent)]
    TlsConfig(#[from] tls::ConfigError),
    #[error(
        "{server} refuses StartTLS: {answer}; use ldaps:// if it listens there, or leave out --start-tls"
    )]
    StartTls { server: String, answer: String },
    #[error("{server} closed the connection{notice}; look into its log, and run it again to go on")]
    Closed {
        server: String,
        /// The server's notice of disconnection, if it sent one.
        notice: String,
    },
    #[error("{server} has not answered for {seconds} s; is it overloaded? Run it again to go on")]
    Silent { server: String, seconds: u64 },
    #[error("{server} does not answer in LDAP ({what}); is it the right port?")]
    NotLdap { server: String, what: String },
    #[error("{server} refuses to bind {dn}: {answer}; {}", remedy(*.code, "bind"))]
    Bind { server: String, dn: String, code: ResultCode, answer: String },
    #[error(
        "{server} has no {dn:?} and refuses to add it: {answer}; create it yourself, or choose a base that is there"
    )]
    Container { server: String, dn: String, answer: String },
    #[error("{server} does not show the people below {base:?}: {answer}; {}", remedy(*.code, "show"))]
    Unseen { server: String, base: String, code: ResultCode, answer: String },
    #[error("interrupted; run it again")]
    Interrupted,
    #[error(transparent)]
    Base(#[from] ContainersError),
    /// A foreign entry has a group's DN.
    #[error(
        "{server} has an entry {dn:?} that is no group of sitebench; choose another --base, or remove it yourself"
    )]
    Foreign { server: String, dn: String },
    /// A group seeded with other options has a group's DN.
    #[error(
        "{server} has {dn:?} as {found:?}, not {expected:?}; remove it with the options that made it: `sitebench ils clean --seeded`"
    )]
    OtherGroup {
        server: String,
        dn: String,
        found: String,
        /// The description of the expected group.
        expected: String,
    },
    #[error(
        "{server}: {dn:?} {what}; check the options, or make the groups anew: \
         `sitebench ils clean --seeded`, then `sitebench ils seed`"
    )]
    WrongGroup { server: String, dn: String, what: String },
    /// A person or a group was refused.
    #[error("{server} refuses to {verb} {dn:?}: {answer}; {}", remedy(*.code, .verb))]
    Refused { server: String, verb: &'static str, dn: String, code: ResultCode, answer: String },
}

/// A server's result: the code's name and the diagnostic.
pub(super) fn answer(outcome: &Outcome<'_>) -> String {
    if outcome.diagnostic.is_empty() {
        outcome.code.to_string()
    } else {
        format!("{}, {}", outcome.code, String::from_utf8_lossy(outcome.diagnostic))
    }
}

fn remedy(code: ResultCode, verb: &str) -> &'static str {
    match code {
        ResultCode::INVALID_CREDENTIALS => "check bind DN and password",
        ResultCode::INSUFFICIENT_ACCESS_RIGHTS | ResultCode::STRONGER_AUTH_REQUIRED => {
            "bind as a user who may write there"
        }
        ResultCode::INAPPROPRIATE_AUTHENTICATION if verb == "bind" => "bind with a DN and its password",
        ResultCode::CONFIDENTIALITY_REQUIRED => "it insists on TLS; use ldaps://, or --start-tls",
        ResultCode::UNDEFINED_ATTRIBUTE_TYPE
        | ResultCode::OBJECT_CLASS_VIOLATION
        | ResultCode::INVALID_ATTRIBUTE_SYNTAX => {
            "name the people that its schema knows, such as --profile person, or load the schema of \
             `sitebench ils schema` into it"
        }
        ResultCode::CONSTRAINT_VIOLATION => "if it takes no hashed passwords, add --hash clear",
        ResultCode::NO_SUCH_OBJECT if verb == "show" => "name the entry above the people with --base",
        ResultCode::SIZE_LIMIT_EXCEEDED => "bind as a user without a size limit",
        ResultCode::NO_SUCH_OBJECT => "create the entry above it",
        ResultCode::UNWILLING_TO_PERFORM | ResultCode::REFERRAL => {
            "write to the server that holds this base for writing"
        }
        ResultCode::BUSY | ResultCode::UNAVAILABLE => "run it again to go on when the server has recovered",
        ResultCode::ADMIN_LIMIT_EXCEEDED | ResultCode::TIME_LIMIT_EXCEEDED => {
            "raise the server's limits for the bind DN"
        }
        _ => "look into the server's log, and run it again to go on",
    }
}
