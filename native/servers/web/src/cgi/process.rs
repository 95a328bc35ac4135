//! One run of a CGI program.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use super::job::{Job, Rules};
use super::output::{Fault, Written};

/// Runs the program of a job: sends the body to its standard input and collects its output until it exits.
/// `stop` becomes readable when the server stops.
pub(super) fn run(
    job: &Job,
    rules: &Rules,
    stop: BorrowedFd<'_>,
    room: &mut [u8],
    written: &mut Written,
) -> Result<(), Fault> {
    let deadline = Instant::now() + Duration::from_millis(rules.most_ms);
    check(rules.root.file(job.program.as_bytes()).and_then(|file| metadata(&file)))?;
    let mut command = Command::new(rules.folder.join(&job.program));
    command
        .env_clear()
        .envs(job.variables.0.iter().map(|(name, value)| (name, OsStr::from_bytes(value))))
        .current_dir(&rules.folder)
        .stdin(if job.body.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0);
    let child = command.spawn().map_err(|error| match error.kind() {
        // EAGAIN and ENOMEM: no further process can be created.
        ErrorKind::WouldBlock | ErrorKind::OutOfMemory => Fault::Busy,
        _ => Fault::NotStarted(error),
    })?;
    let mut process = Process { child, is_over: false };
    process.follow(job, deadline, rules.most_ms, stop, room, written)?;
    match process.end()?.signal() {
        Some(signal) => Err(Fault::Died(signal)),
        None => Ok(()),
    }
}

fn metadata(file: &File) -> rustix::io::Result<Metadata> {
    file.metadata().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn check(file: rustix::io::Result<Metadata>) -> Result<(), Fault> {
    match file {
        Ok(file) if !file.is_file() => Err(Fault::NotFound),
        Ok(file) if file.mode() & 0o111 == 0 => Err(Fault::NotExecutable),
        // A program without read permission can still be executable: the kernel decides at the start.
        Ok(_) | Err(Errno::ACCESS) => Ok(()),
        Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN) => Err(Fault::Busy),
        Err(_) => Err(Fault::NotFound),
    }
}

/// A running program; dropping it kills its process group.
struct Process {
    child: Child,
    is_over: bool,
}

impl Process {
    /// Moves bytes to and from the program until it has exited and its output is read. Its background
    /// processes may keep its standard output open for ever, so the exit of the program counts, not the end
    /// of its output.
    fn follow(
        &mut self,
        job: &Job,
        deadline: Instant,
        most_ms: u64,
        stop: BorrowedFd<'_>,
        room: &mut [u8],
        written: &mut Written,
    ) -> Result<(), Fault> {
        let ended: OwnedFd =
            pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).map_err(io::Error::from)?;
        let mut input = self.child.stdin.take();
        let mut output = self.child.stdout.take();
        let mut body = job.body.as_slice();
        for stream in
            [input.as_ref().map(AsFd::as_fd), output.as_ref().map(AsFd::as_fd)].into_iter().flatten()
        {
            ioctl_fionbio(stream, true).map_err(io::Error::from)?;
        }
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Fault::Hung(most_ms));
            }
            let reader = output.as_ref().map(AsFd::as_fd);
            let writer = input.as_ref().map(AsFd::as_fd);
            let [has_ended, stops, reads, writes] = wait(ended.as_fd(), stop, reader, writer, left)?;
            if stops {
                return Err(Fault::Busy);
            }
            if writes && let Some(pipe) = &mut input {
                match pipe.write(body) {
                    Ok(count) => body = body.get(count..).unwrap_or_default(),
                    Err(error) if is_transient(&error) => {}
                    // EPIPE: a program may leave the body unread (RFC 3875 section 4.2).
                    Err(_) => body = &[],
                }
                if body.is_empty() {
                    input = None;
                }
            }
            if (reads || has_ended)
                && let Some(pipe) = &mut output
                && read_all(pipe, room, written)?
            {
                output = None;
            }
            if has_ended {
                return Ok(());
            }
        }
    }

    /// Kills the rest of the process group. Returns the program's exit status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        self.is_over = true;
        // The group is killed before the wait, because the process id cannot be reused before the wait. An
        // error means that the group no longer exists.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.child.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over {
            // Nothing can be done if waiting for the process fails.
            let _ = self.end();
        }
    }
}

/// Reads the available bytes. Returns whether the end was reached.
fn read_all(pipe: &mut impl Read, room: &mut [u8], written: &mut Written) -> Result<bool, Fault> {
    loop {
        match pipe.read(room) {
            Ok(0) => return Ok(true),
            Ok(count) => written.push(room.get(..count).unwrap_or_default())?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn is_transient(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Waits until one of three descriptors is readable or one is writable; returns which descriptors are ready.
/// In place of an absent descriptor, `stop` is polled twice.
fn wait(
    ended: BorrowedFd<'_>,
    stop: BorrowedFd<'_>,
    reader: Option<BorrowedFd<'_>>,
    writer: Option<BorrowedFd<'_>>,
    most: Duration,
) -> Result<[bool; 4], Fault> {
    let reader = (reader.unwrap_or(stop), PollFlags::IN);
    let writer = writer.map_or((stop, PollFlags::IN), |writer| (writer, PollFlags::OUT));
    let mut polled = [(ended, PollFlags::IN), (stop, PollFlags::IN), reader, writer]
        .map(|(fd, flags)| PollFd::from_borrowed_fd(fd, flags));
    let most = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos() as _ };
    match poll(&mut polled, Some(&most)) {
        Ok(_) | Err(Errno::INTR) => Ok(polled.each_ref().map(|fd| !fd.revents().is_empty())),
        Err(error) => Err(io::Error::from(error).into()),
    }
}
