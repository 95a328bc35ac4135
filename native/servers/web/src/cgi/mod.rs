//! CGI/1.1 (RFC 3875): a process for each request, outside of the threads that serve clients.
//!
//! A program gets the variables of its request and nothing else of this process: no other variable, no file
//! descriptor but its three, no shell. What it writes to its standard error is dropped. It runs in a process
//! group of its own, which is killed when it ends, when it writes too much or when its time is up.

mod header;
mod job;
mod output;
mod pool;
mod process;
mod variables;

pub(crate) use job::{Job, Rules};
pub(crate) use output::{Fault, Output};
pub(crate) use pool::Pool;
pub(crate) use variables::{Variables, program};
