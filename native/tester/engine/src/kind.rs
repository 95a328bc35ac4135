//! The kind of an error: its class in `sitebench.errors`.
//!
//! The code that raises an error knows its kind. The message cannot show the kind, because parts of some
//! messages come from a server.

use std::fmt::Display;
use std::io;
use std::string::FromUtf8Error;

use ::directory::LoadError;
use ::files::{SpecError, WriteError};
use ::hashes::{HashError, MadeError};
use ::site::upd::{BuildError, CopyError, OpenError};
use ::table::ReadError;
use floor::FloorError;
use load::{CommandError, ConfigError, Failure, LaunchError};
use net::ListenError;
use people::{ContainersError, GroupsError, PoolsError, PopulationError};
use seeding::SeedingError;
use wire::ldap::ResultCode;
use wire::ldif::LdifError;

/// A class of `sitebench.errors`, by its name.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    BadFile,
    BadInput,
    MeasurementFailed,
    OutOfDescriptors,
    OutOfPorts,
    PortInUse,
    TargetTalksNonsense,
    TargetUnreachable,
    TlsFailed,
    WrongPassword,
}

/// An error with its kind: bad input by default.
pub trait Kinded: Display {
    fn kind(&self) -> Kind {
        Kind::BadInput
    }
}

impl Kinded for ContainersError {}
impl Kinded for FromUtf8Error {}
impl Kinded for GroupsError {}
impl Kinded for PopulationError {}
impl Kinded for HashError {}
impl Kinded for MadeError {}
impl Kinded for SpecError {}
impl Kinded for serde_json::Error {}

impl Kinded for PoolsError {
    fn kind(&self) -> Kind {
        Kind::BadFile
    }
}

impl Kinded for LdifError {
    fn kind(&self) -> Kind {
        Kind::BadFile
    }
}

impl Kinded for ReadError {
    fn kind(&self) -> Kind {
        match self {
            Self::File { source, .. } => of_system(source, Kind::BadFile),
            Self::NotRegular(_) | Self::TooLong(_) | Self::Content { .. } => Kind::BadFile,
        }
    }
}

impl Kinded for ::directory::StartError {
    fn kind(&self) -> Kind {
        match self {
            Self::Listen(error) => error.kind(),
            Self::Load(error) => error.kind(),
            Self::System(error) => of_system(error, Kind::MeasurementFailed),
            Self::Admin { .. } | Self::Room(_) | Self::Schema(_) => Kind::BadInput,
        }
    }
}

impl Kinded for LoadError {
    fn kind(&self) -> Kind {
        match self {
            Self::Read { source, .. } => of_system(source, Kind::BadFile),
            Self::Schema { .. } | Self::Ldif { .. } | Self::Record { .. } => Kind::BadFile,
            Self::Suffix { .. }
            | Self::BaseOutside { .. }
            | Self::Containers(_)
            | Self::Entry { .. }
            | Self::Group { .. } => Kind::BadInput,
        }
    }
}

impl Kinded for ::site::StartError {
    fn kind(&self) -> Kind {
        match self {
            Self::Listen(error) => error.kind(),
            Self::Database(error) => error.kind(),
            Self::System(error) => of_system(error, Kind::MeasurementFailed),
        }
    }
}

impl Kinded for ::web::StartError {
    fn kind(&self) -> Kind {
        match self {
            Self::Listen(error) => error.kind(),
            Self::Folder { source, .. } => of_system(source, Kind::BadFile),
            Self::System(error) => of_system(error, Kind::MeasurementFailed),
            Self::Programs(_) => Kind::BadInput,
        }
    }
}

impl Kinded for OpenError {
    fn kind(&self) -> Kind {
        match self {
            Self::File { source, .. } => of_system(source, Kind::BadFile),
            _ => Kind::BadFile,
        }
    }
}

impl Kinded for BuildError {
    fn kind(&self) -> Kind {
        match self {
            Self::Cancelled(_) | Self::TooMany(_) => Kind::BadInput,
            Self::File { source, .. } => of_system(source, Kind::BadFile),
            Self::DiskFull(_) | Self::Database { .. } => Kind::BadFile,
        }
    }
}

impl Kinded for CopyError {
    fn kind(&self) -> Kind {
        match self {
            Self::InUse(_) => Kind::BadFile,
            Self::File { source, .. } => of_system(source, Kind::BadFile),
        }
    }
}

impl Kinded for WriteError {
    fn kind(&self) -> Kind {
        match self {
            Self::Cancelled { .. } => Kind::BadInput,
            Self::File { source, .. } => of_system(source, Kind::BadFile),
            Self::DiskFull { .. }
            | Self::InUse(_)
            | Self::OtherSet { .. }
            | Self::NotManifest(_)
            | Self::NoManifest(_)
            | Self::InTheWay { .. } => Kind::BadFile,
        }
    }
}

impl Kinded for ListenError {
    fn kind(&self) -> Kind {
        match self {
            Self::PortInUse { .. } => Kind::PortInUse,
            Self::Listen { source, .. } => of_system(source, Kind::BadInput),
            Self::Tls(error) => error.kind(),
            Self::Host { .. } | Self::Threads(_) | Self::Limit(_) => Kind::BadInput,
        }
    }
}

impl Kinded for tls::ConfigError {
    fn kind(&self) -> Kind {
        match self {
            Self::Read { source, .. } => of_system(source, Kind::BadFile),
            Self::Content { .. } | Self::Unusable(_) => Kind::BadFile,
            _ => Kind::BadInput,
        }
    }
}

impl Kinded for load::StartError {
    fn kind(&self) -> Kind {
        match self {
            Self::Config(ConfigError::UnknownHost { .. }) => Kind::TargetUnreachable,
            Self::Tls(error) => error.kind(),
            Self::Launch(LaunchError::Io(error)) => of_system(error, Kind::MeasurementFailed),
            Self::Launch(LaunchError::Histogram(_)) => Kind::MeasurementFailed,
            Self::Config(ConfigError::OutOfRange { .. })
            | Self::Program(_)
            | Self::Names(_)
            | Self::Scenario { .. }
            | Self::Target(_) => Kind::BadInput,
        }
    }
}

impl Kinded for CommandError {
    fn kind(&self) -> Kind {
        match self {
            Self::UnknownProgram(_) | Self::TooFewLanes { .. } | Self::Stopped => Kind::BadInput,
            Self::ThreadGone | Self::Wake(_) | Self::Histogram(_) | Self::Merge(_) => Kind::MeasurementFailed,
        }
    }
}

impl Kinded for FloorError {
    fn kind(&self) -> Kind {
        match self {
            Self::Sizes(_) | Self::NoConnections => Kind::BadInput,
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => Kind::PortInUse,
            Self::Listen { source, .. } => of_system(source, Kind::BadInput),
            Self::Connect { source, .. } => of_connect(source),
            Self::OutOfPorts(_) => Kind::OutOfPorts,
            Self::Closed(_) | Self::Silent(_) => Kind::MeasurementFailed,
            Self::Io { source, .. } => of_system(source, Kind::MeasurementFailed),
        }
    }
}

impl Kinded for SeedingError {
    fn kind(&self) -> Kind {
        match self {
            Self::Connections(_)
            | Self::Window(_)
            | Self::NoPassword(_)
            | Self::OtherBase { .. }
            | Self::Base(_)
            | Self::Container { .. }
            | Self::Foreign { .. }
            | Self::OtherGroup { .. } => Kind::BadInput,
            Self::Connect { source, .. } => of_connect(source),
            Self::Broken { source, .. } => of_system(source, Kind::MeasurementFailed),
            Self::Closed { .. } | Self::Silent { .. } | Self::Interrupted | Self::WrongGroup { .. } => {
                Kind::MeasurementFailed
            }
            Self::Tls { .. } | Self::StartTls { .. } => Kind::TlsFailed,
            Self::TlsConfig(error) => error.kind(),
            Self::NotLdap { .. } => Kind::TargetTalksNonsense,
            Self::Bind { code: ResultCode::INVALID_CREDENTIALS, .. } => Kind::WrongPassword,
            Self::Bind { code, .. } | Self::Unseen { code, .. } | Self::Refused { code, .. } => {
                of_result(*code)
            }
        }
    }
}

/// A refusal is bad input, unless the result code means a fault of the server.
fn of_result(code: ResultCode) -> Kind {
    match code {
        ResultCode::OPERATIONS_ERROR
        | ResultCode::TIME_LIMIT_EXCEEDED
        | ResultCode::BUSY
        | ResultCode::UNAVAILABLE
        | ResultCode::OTHER => Kind::MeasurementFailed,
        _ => Kind::BadInput,
    }
}

/// The kind of a connection error: a resource of this machine that is exhausted, or an unreachable target.
fn of_connect(error: &io::Error) -> Kind {
    match Failure::of_system(error) {
        Failure::OutOfPorts => Kind::OutOfPorts,
        _ => of_system(error, Kind::TargetUnreachable),
    }
}

/// The kind of an error of any system call: a lack of descriptors, or `otherwise`.
fn of_system(error: &io::Error, otherwise: Kind) -> Kind {
    match Failure::of_system(error) {
        Failure::OutOfFds => Kind::OutOfDescriptors,
        _ => otherwise,
    }
}
