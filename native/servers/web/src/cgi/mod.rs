//! CGI/1.1 (RFC 3875): a process per request, outside of the threads that serve clients.
//!
//! A program gets the variables of its request and nothing else of this process: no other variable, no file
//! descriptor except standard input, output and error, no shell. Its standard error is dropped. It runs in
//! its own process group, which is killed when the program ends, writes too much or takes too long.

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
