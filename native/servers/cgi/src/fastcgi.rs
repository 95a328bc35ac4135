//! FastCGI 1.0 responder: a persistent process with a thread for each connection of the web server.
//!
//! A connection carries one request at a time and stays open if the web server requests it
//! (`FCGI_KEEP_CONN`). Request bodies are read and discarded.
//!
//! # Limits
//!
//! Variables of a request: [`PARAMS_BYTES`]. Body: [`STDIN_BYTES`]. Connections: [`CONNECTIONS`]. A request
//! beyond its limits, or a violation of the protocol, closes the connection; connections beyond their limit
//! wait. An idle connection stays open: only the web server reaches the socket.

use std::fs;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::process::id;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::document::answer;

/// More than web servers accept as a request's head (nginx 32 KB, Apache 100 lines of 8 KB at most).
const PARAMS_BYTES: usize = 1 << 20;

/// A gigabyte, much more than the embedded server passes to a program (16 MiB at most).
const STDIN_BYTES: usize = 1 << 30;

/// Each connection takes a thread. The papers' largest test has 600 clients.
const CONNECTIONS: usize = 1_024;

/// A small stack is enough: documents are on the heap.
const STACK_BYTES: usize = 128 << 10;

/// Pause before the next accept when all file descriptors are in use.
const RETRY: Duration = Duration::from_millis(10);

// FastCGI specification, section 8.
const VERSION: u8 = 1;
const BEGIN_REQUEST: u8 = 1;
const ABORT_REQUEST: u8 = 2;
const END_REQUEST: u8 = 3;
const PARAMS: u8 = 4;
const STDIN: u8 = 5;
const STDOUT: u8 = 6;
const GET_VALUES: u8 = 9;
const GET_VALUES_RESULT: u8 = 10;
const UNKNOWN_TYPE: u8 = 11;
const RESPONDER: u16 = 1;
const KEEP_CONN: u8 = 1;
const REQUEST_COMPLETE: u8 = 0;
const CANT_MPX_CONN: u8 = 1;
const UNKNOWN_ROLE: u8 = 3;

/// The bytes of content in a record of the answer: a multiple of eight, as the specification recommends.
const PIECE: usize = 65_528;

/// Serves until the process is killed.
pub(crate) fn serve(socket: &str) -> io::Result<()> {
    let explained =
        |error: io::Error| io::Error::new(error.kind(), format!("cannot listen at {socket}: {error}"));
    // A value with a slash is a path, even with a colon.
    if socket.contains(':') && !socket.contains('/') {
        let listener = TcpListener::bind(socket).map_err(explained)?;
        accept(|| {
            let (client, _) = listener.accept()?;
            // An answer is one write, which Nagle's algorithm would only delay. A failure is ignored: if the
            // client has disconnected, the next read reports it.
            let _ = client.set_nodelay(true);
            Ok(client)
        });
    } else {
        // A killed process leaves its socket file.
        if fs::symlink_metadata(socket).is_ok_and(|found| found.file_type().is_socket()) {
            fs::remove_file(socket).map_err(explained)?;
        }
        let listener = UnixListener::bind(socket).map_err(explained)?;
        accept(|| Ok(listener.accept()?.0));
    }
    Ok(())
}

fn accept<S>(next: impl Fn() -> io::Result<S>)
where
    S: Send + 'static,
    for<'s> &'s S: Read + Write,
{
    // The channel holds one message per open connection.
    let (take, taken) = sync_channel(CONNECTIONS);
    let taken = Arc::new(Mutex::new(taken));
    loop {
        // Waits while the channel is full. The channel is never closed, because `taken` holds its receiver as
        // long as this loop runs.
        let _ = take.send(());
        let place = Place(Arc::clone(&taken));
        let Ok(client) = next() else {
            thread::sleep(RETRY);
            continue;
        };
        // If no thread can be started, the connection is closed.
        let _ = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            let _place = place;
            // An error ends this connection only.
            let _ = converse(BufReader::with_capacity(PIECE, &client), &client);
        });
    }
}

/// The place of one connection among [`CONNECTIONS`]; dropping it frees the place.
struct Place(Arc<Mutex<Receiver<()>>>);

impl Drop for Place {
    fn drop(&mut self) {
        // At least one message is in the channel, so this does not wait.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).recv();
    }
}

struct Request {
    id: u16,
    keep: bool,
    params: Vec<u8>,
    params_ended: bool,
    body: usize,
}

/// Answers requests until the web server closes the connection, or after a request that does not keep the
/// connection.
fn converse(mut from: impl Read, mut to: impl Write) -> io::Result<()> {
    let (mut content, mut out) = (Vec::new(), Vec::new());
    let mut request: Option<Request> = None;
    while let Some((kind, id)) = read_record(&mut from, &mut content)? {
        out.clear();
        let mut keep = true;
        match (kind, &mut request) {
            (GET_VALUES, _) if id == 0 => values(&content, &mut out)?,
            (other, _) if id == 0 => record(UNKNOWN_TYPE, 0, &[other, 0, 0, 0, 0, 0, 0, 0], &mut out),
            (BEGIN_REQUEST, current) => {
                let &[role_high, role_low, flags, ..] = content.as_slice() else {
                    return Err(malformed("a beginning without a role"));
                };
                if current.as_ref().is_some_and(|current| current.id == id) {
                    return Err(malformed("a request that begins twice"));
                }
                if current.is_some() {
                    end(id, CANT_MPX_CONN, &mut out);
                } else if u16::from_be_bytes([role_high, role_low]) != RESPONDER {
                    keep = flags & KEEP_CONN != 0;
                    end(id, UNKNOWN_ROLE, &mut out);
                } else {
                    let keep = flags & KEEP_CONN != 0;
                    *current = Some(Request { id, keep, params: Vec::new(), params_ended: false, body: 0 });
                }
            }
            (ABORT_REQUEST, Some(current)) if current.id == id => {
                keep = current.keep;
                end(id, REQUEST_COMPLETE, &mut out);
                request = None;
            }
            (PARAMS, Some(current)) if current.id == id && !current.params_ended => {
                current.params_ended = content.is_empty();
                current.params.extend_from_slice(&content);
                if current.params.len() > PARAMS_BYTES {
                    return Err(malformed("more variables than a request may have"));
                }
            }
            (STDIN, Some(current)) if current.id == id => {
                current.body += content.len();
                if current.body > STDIN_BYTES {
                    return Err(malformed("a body longer than a request may have"));
                }
                if content.is_empty() {
                    if !current.params_ended {
                        return Err(malformed("a body that ends before the variables"));
                    }
                    keep = current.keep;
                    respond(current, &mut out)?;
                    request = None;
                }
            }
            // Records of inactive requests are ignored (specification, section 3.3).
            _ => {}
        }
        if !out.is_empty() {
            to.write_all(&out)?;
        }
        if !keep {
            return Ok(());
        }
    }
    Ok(())
}

fn malformed(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// Reads a record into `content`. Returns the record's type and request; `None` at the end of the connection.
fn read_record(from: &mut impl Read, content: &mut Vec<u8>) -> io::Result<Option<(u8, u16)>> {
    let mut head = [0; 8];
    if let Err(error) = from.read_exact(&mut head) {
        return if error.kind() == ErrorKind::UnexpectedEof { Ok(None) } else { Err(error) };
    }
    let [version, kind, id_high, id_low, length_high, length_low, padding, _] = head;
    if version != VERSION {
        return Err(malformed("another version"));
    }
    let length = usize::from(u16::from_be_bytes([length_high, length_low]));
    content.resize(length + usize::from(padding), 0);
    from.read_exact(content)?;
    content.truncate(length);
    Ok(Some((kind, u16::from_be_bytes([id_high, id_low]))))
}

/// Appends a record of up to 65,535 bytes.
fn record(kind: u8, id: u16, content: &[u8], out: &mut Vec<u8>) {
    let [id_high, id_low] = id.to_be_bytes();
    let [length_high, length_low] = (content.len() as u16).to_be_bytes();
    out.extend_from_slice(&[VERSION, kind, id_high, id_low, length_high, length_low, 0, 0]);
    out.extend_from_slice(content);
}

fn end(id: u16, how: u8, out: &mut Vec<u8>) {
    record(END_REQUEST, id, &[0, 0, 0, 0, how, 0, 0, 0], out);
}

fn respond(request: &Request, out: &mut Vec<u8>) -> io::Result<()> {
    static ANSWERED: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only uniqueness of the numbers matters.
    let number = (u64::from(id()) << 32) + ANSWERED.fetch_add(1, Ordering::Relaxed);
    for piece in answer(&pairs(&request.params)?, number).chunks(PIECE) {
        record(STDOUT, request.id, piece, out);
    }
    record(STDOUT, request.id, &[], out);
    end(request.id, REQUEST_COMPLETE, out);
    Ok(())
}

/// Appends the values of the requested variables that this program has (FCGI_GET_VALUES, section 4.1).
fn values(asked: &[u8], out: &mut Vec<u8>) -> io::Result<()> {
    let (asked, connections) = (pairs(asked)?, CONNECTIONS.to_string());
    let mut content = Vec::new();
    for (name, value) in
        [("FCGI_MAX_CONNS", &*connections), ("FCGI_MAX_REQS", &*connections), ("FCGI_MPXS_CONNS", "0")]
    {
        if asked.iter().any(|(known, _)| known == name.as_bytes()) {
            content.extend_from_slice(&[name.len() as u8, value.len() as u8]);
            content.extend_from_slice(name.as_bytes());
            content.extend_from_slice(value.as_bytes());
        }
    }
    record(GET_VALUES_RESULT, 0, &content, out);
    Ok(())
}

/// Name-value pairs (section 3.4); an error if a length exceeds the remaining bytes.
fn pairs(mut bytes: &[u8]) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let lengths = [length(&mut bytes)?, length(&mut bytes)?];
        let [name, value] = lengths.map(|length| {
            let (part, rest) = bytes.split_at_checked(length)?;
            bytes = rest;
            Some(part.to_vec())
        });
        found.push(name.zip(value).ok_or_else(|| malformed("a variable longer than its record"))?);
    }
    Ok(found)
}

/// A length: one byte up to 127, or four bytes with the highest bit set in the first.
fn length(bytes: &mut &[u8]) -> io::Result<usize> {
    let (length, rest) = match bytes {
        [short @ 0..=127, rest @ ..] => (usize::from(*short), rest),
        [a, b, c, d, rest @ ..] => (u32::from_be_bytes([a & 0x7f, *b, *c, *d]) as usize, rest),
        _ => return Err(malformed("a length that ends early")),
    };
    *bytes = rest;
    Ok(length)
}
