//! The threads that run programs.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use net::Mailboxes;

use super::job::{Job, Rules};
use super::output::{Budget, Fault, Output, Written};
use super::process::run;
use crate::limits::Limits;

/// Threads that run one program each at a time. Dropping the pool kills the running programs.
#[derive(Debug)]
pub(crate) struct Pool {
    jobs: Option<SyncSender<Job>>,
    /// Closing this end makes the other end readable for the threads.
    stop: Option<UnixStream>,
    stopping: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts the threads. `mailboxes` get the outcome of each job.
    pub(crate) fn start(
        rules: Rules,
        limits: &Limits,
        mailboxes: &Arc<Mailboxes<Result<Output, Fault>>>,
    ) -> io::Result<Self> {
        let (jobs, waiting) = sync_channel(limits.cgi_waiting);
        let (stop, stopped) = UnixStream::pair()?;
        let (waiting, stopped) = (Arc::new(Mutex::new(waiting)), Arc::new(stopped));
        let (rules, budget) = (Arc::new(rules), Budget::new(limits.cgi_held_bytes));
        let stopping = Arc::new(AtomicBool::new(false));
        let mut pool = Self { jobs: Some(jobs), stop: Some(stop), stopping, threads: Vec::new() };
        for index in 0..limits.cgi_processes {
            let (waiting, stopped) = (Arc::clone(&waiting), Arc::clone(&stopped));
            let (rules, budget) = (Arc::clone(&rules), Arc::clone(&budget));
            let (stopping, mailboxes) = (Arc::clone(&pool.stopping), Arc::clone(mailboxes));
            let thread = thread::Builder::new().name(format!("cgi-{index}")).spawn(move || {
                let mut room = vec![0; ROOM_BYTES];
                // Relaxed: if the flag is read late, one more program starts, which the closed pipe then
                // kills.
                while let Some(job) = next(&waiting).filter(|_| !stopping.load(Relaxed)) {
                    let mut written = Written::new(rules.most_bytes, Arc::clone(&budget));
                    let ran = if job.is_abandoned() {
                        Err(Fault::Abandoned)
                    } else {
                        run(&job, &rules, stopped.as_fd(), &mut room, &mut written)
                    };
                    mailboxes.send([(job.ticket, ran.and_then(|()| Output::read(written)))]);
                }
            })?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// The queue of jobs.
    pub(crate) fn jobs(&self) -> Option<SyncSender<Job>> {
        self.jobs.clone()
    }
}

/// Bytes of one read: the capacity of a pipe.
const ROOM_BYTES: usize = 64 << 10;

/// Waits for a job; `None` if the queue is closed.
fn next(waiting: &Mutex<Receiver<Job>>) -> Option<Job> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Relaxed: no other memory depends on the flag, and the joins order the threads' work.
        self.stopping.store(true, Relaxed);
        self.stop = None;
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
