//! Kinds of failures: a bounded set, so that failures can be counted by kind.

use std::io;

use rustix::io::Errno;
use tls::Fault;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// No listener, or the connection was refused.
    ConnectRefused,
    /// No connection within the timeout.
    ConnectTimeout,
    /// No route to the target's network or host.
    Unreachable,
    /// The target dropped the connection.
    Reset,
    /// The target closed the connection before it had answered.
    Closed,
    /// No answer within the timeout.
    Timeout,
    /// No local port is left: a limit of the load generator, not of the target (method rule 13).
    OutOfPorts,
    /// No file descriptor is left: a limit of the load generator, not of the target.
    OutOfFds,
    /// The TLS handshake or the TLS connection failed.
    Tls(Fault),
    /// Any other error of the kernel.
    Io,
    /// Bytes that violate the protocol.
    Malformed,
    /// A wrong answer to the request (method rule 3).
    WrongAnswer,
    /// Another person's answer: worse than a wrong answer (method rule 3).
    Leak,
    /// An answer that lacks an update that was confirmed before.
    Stale,
    /// An answer whose length is not the expected length.
    WrongLength,
    /// An answer shorter than its announced length.
    Truncated,
    /// An unexpected HTTP status code.
    Status(u16),
    /// A right answer without the value to capture.
    NothingCaptured,
    /// A right answer with more values than a user may capture.
    TooMuchCaptured,
    /// A redirect to another host, port or scheme, which is not followed.
    RedirectElsewhere,
    /// A redirect to an invalid URL.
    BadRedirect,
    /// More redirects than are followed.
    TooManyRedirects,
    /// An answer to no request of this client.
    Unasked,
    /// A result code of the target, by its name in the protocol.
    Result(&'static str),
}

impl Failure {
    /// The kind's name in reports.
    pub fn label(self) -> String {
        match self {
            Self::ConnectRefused => "connect-refused".into(),
            Self::ConnectTimeout => "connect-timeout".into(),
            Self::Unreachable => "unreachable".into(),
            Self::Reset => "reset".into(),
            Self::Closed => "closed".into(),
            Self::Timeout => "timeout".into(),
            Self::OutOfPorts => "out-of-ports".into(),
            Self::OutOfFds => "out-of-fds".into(),
            Self::Tls(fault) => fault.label().into(),
            Self::Io => "io".into(),
            Self::Malformed => "malformed".into(),
            Self::WrongAnswer => "wrong-answer".into(),
            Self::Leak => "leak".into(),
            Self::Stale => "stale".into(),
            Self::WrongLength => "wrong-length".into(),
            Self::Truncated => "truncated".into(),
            Self::NothingCaptured => "nothing-captured".into(),
            Self::TooMuchCaptured => "too-much-captured".into(),
            Self::RedirectElsewhere => "redirect-elsewhere".into(),
            Self::BadRedirect => "bad-redirect".into(),
            Self::TooManyRedirects => "too-many-redirects".into(),
            Self::Unasked => "unasked".into(),
            Self::Status(code) => format!("status:{code}"),
            Self::Result(name) => format!("result:{name}"),
        }
    }

    /// The failure for an error of creating or connecting a socket.
    pub fn of_system(error: &io::Error) -> Self {
        Errno::from_io_error(error).map_or(Self::Io, Self::of_connect)
    }

    /// The failure for an error of connecting.
    pub(crate) fn of_connect(error: Errno) -> Self {
        match error {
            Errno::CONNREFUSED | Errno::CONNRESET | Errno::CONNABORTED => Self::ConnectRefused,
            Errno::TIMEDOUT => Self::ConnectTimeout,
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN => Self::Unreachable,
            // On some kernels, connect(2) fails with EAGAIN if every local port is taken.
            Errno::ADDRNOTAVAIL | Errno::ADDRINUSE | Errno::AGAIN => Self::OutOfPorts,
            Errno::MFILE | Errno::NFILE => Self::OutOfFds,
            _ => Self::Io,
        }
    }

    /// The failure for an error on an open connection.
    pub(crate) fn of_connection(error: Errno) -> Self {
        match error {
            Errno::CONNRESET | Errno::PIPE | Errno::CONNABORTED => Self::Reset,
            Errno::TIMEDOUT => Self::Timeout,
            Errno::NETUNREACH | Errno::HOSTUNREACH | Errno::NETDOWN | Errno::HOSTDOWN => Self::Unreachable,
            _ => Self::Io,
        }
    }

    /// The failure for an error on a TLS connection.
    pub(crate) fn of_stream(error: &io::Error) -> Self {
        let of_kernel = || Errno::from_io_error(error).map_or(Self::Io, Self::of_connection);
        Fault::of(error).map_or_else(of_kernel, Self::Tls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_for_lack_of_ports_or_descriptors_have_separate_names() {
        assert_eq!(Failure::of_connect(Errno::ADDRNOTAVAIL).label(), "out-of-ports");
        assert_eq!(Failure::of_connect(Errno::MFILE).label(), "out-of-fds");
        assert_eq!(Failure::of_connect(Errno::CONNREFUSED).label(), "connect-refused");
    }

    #[test]
    fn a_failure_with_a_result_code_is_named_after_the_code() {
        assert_eq!(Failure::Result("noSuchObject").label(), "result:noSuchObject");
    }
}
