//! A small LDAP server on a real socket that stores names and attributes, and misbehaves on request.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use wire::ldap::answer::{Verdict, write_extended, write_result};
use wire::ldap::frame::message_length;
use wire::ldap::{Operation, Request, ResultCode, oid, op};

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Do {
    /// The right answer.
    Right,
    /// The right answer, sent when no other request waits, in reverse order.
    Later,
    /// Only this result.
    Code(ResultCode, &'static str),
    /// No answer.
    Never,
    /// The connection is closed.
    Close,
    /// A notice of disconnection, then the end of the connection.
    Goodbye,
    /// These bytes.
    Raw(&'static [u8]),
    /// These bytes, repeated without end.
    Endless(&'static [u8]),
    /// Another message ID.
    OtherId,
    /// The response of a modify.
    OtherOperation,
}

/// The part of a request that tests examine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    Bind(String),
    Search(String),
    Add(String),
    Delete(String),
    Unbind,
}

#[derive(Debug, Default)]
pub struct Kept {
    /// Entries by name, each with its attribute list.
    pub entries: BTreeMap<String, Vec<u8>>,
    pub asked: Vec<Asked>,
}

impl Kept {
    /// The names of received adds, in order.
    pub fn adds(&self) -> Vec<String> {
        let add = |asked: &Asked| match asked {
            Asked::Add(dn) => Some(dn.clone()),
            _ => None,
        };
        self.asked.iter().filter_map(add).collect()
    }
}

type Rule = dyn Fn(&Asked, usize) -> Do + Send + Sync;

pub struct Server {
    pub address: SocketAddr,
    pub kept: Arc<Mutex<Kept>>,
    pub connections: Arc<AtomicUsize>,
}

impl Server {
    /// Answers all requests rightly, and contains the parent entry of the people.
    pub fn right() -> Self {
        Self::start(|_, _| Do::Right)
    }

    /// Calls `rule` for each request with the number of earlier requests over all connections.
    pub fn start(rule: impl Fn(&Asked, usize) -> Do + Send + Sync + 'static) -> Self {
        let server = Self::empty(rule);
        server.kept.lock().unwrap().entries.insert(people::DEFAULT_BASE.to_owned(), Vec::new());
        server
    }

    /// Like `start`, but without any entry.
    pub fn empty(rule: impl Fn(&Asked, usize) -> Do + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (kept, connections) = (Arc::<Mutex<Kept>>::default(), Arc::<AtomicUsize>::default());
        let rule: Arc<Rule> = Arc::new(rule);
        let (kept_here, connections_here) = (kept.clone(), connections.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                connections_here.fetch_add(1, Ordering::SeqCst);
                let (kept, rule) = (kept_here.clone(), rule.clone());
                std::thread::spawn(move || serve(&kept, &*rule, stream));
            }
        });
        Self { address, kept, connections }
    }
}

/// Closes the connection after its answer has arrived: a close with unread requests would reset the
/// connection.
fn part(mut stream: TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}

fn serve(kept: &Mutex<Kept>, rule: &Rule, mut stream: TcpStream) {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 4096]);
    let mut later: Vec<Vec<u8>> = Vec::new();
    loop {
        while let Ok(Some(length)) = message_length(&bytes, 1 << 20) {
            let message: Vec<u8> = bytes.drain(..length).collect();
            let mut out = Vec::new();
            let what = react(kept, rule, &message, &mut out);
            if what == Do::Later {
                later.push(out);
            } else if stream.write_all(&out).is_err() {
                return;
            }
            match what {
                Do::Close => return,
                Do::Goodbye => return part(stream),
                Do::Endless(bytes) => {
                    let many = bytes.repeat(100_000);
                    while stream.write_all(&many).is_ok() {}
                    return;
                }
                _ => {}
            }
        }
        let wait = if later.is_empty() { None } else { Some(Duration::from_millis(20)) };
        stream.set_read_timeout(wait).unwrap();
        match stream.read(&mut chunk) {
            Ok(0) => return,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            Err(_) => {
                for answer in later.drain(..).rev() {
                    if stream.write_all(&answer).is_err() {
                        return;
                    }
                }
            }
        }
    }
}

fn react(kept: &Mutex<Kept>, rule: &Rule, message: &[u8], out: &mut Vec<u8>) -> Do {
    let request = Request::decode(message).expect("clients send LDAP");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let mut kept = kept.lock().unwrap();
    let (asked, tag) = match &request.operation {
        Operation::Bind(bind) => (Asked::Bind(text(bind.name)), op::BIND_RESPONSE),
        Operation::Search(search) => (Asked::Search(text(search.base)), op::SEARCH_DONE),
        Operation::Add(add) => (Asked::Add(text(add.dn)), op::ADD_RESPONSE),
        Operation::Delete(dn) => (Asked::Delete(text(dn)), op::DELETE_RESPONSE),
        Operation::Unbind => (Asked::Unbind, 0),
        other => panic!("{other:?}"),
    };
    let what = rule(&asked, kept.asked.len());
    kept.asked.push(asked);
    let verdict =
        |code, diagnostic: &'static str| Verdict { code, matched_dn: b"", diagnostic: diagnostic.as_bytes() };
    let (mut id, mut response) = (request.id, tag);
    let code = match what {
        Do::Never | Do::Close | Do::Endless(_) => return what,
        Do::Goodbye => {
            let reason = verdict(ResultCode::UNAVAILABLE, "shutting down");
            write_extended(out, 0, &reason, Some(oid::NOTICE_OF_DISCONNECTION), None);
            return what;
        }
        Do::Raw(bytes) => {
            out.extend_from_slice(bytes);
            return what;
        }
        Do::Code(code, diagnostic) => {
            write_result(out, id, response, &verdict(code, diagnostic));
            return what;
        }
        Do::OtherId => {
            id += 1_000_000;
            ResultCode::SUCCESS
        }
        Do::OtherOperation => {
            response = op::MODIFY_RESPONSE;
            ResultCode::SUCCESS
        }
        Do::Right | Do::Later => rightly(&mut kept, &request.operation),
    };
    if tag != 0 {
        write_result(out, id, response, &verdict(code, ""));
    }
    what
}

fn rightly(kept: &mut Kept, operation: &Operation<'_>) -> ResultCode {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let entries = &mut kept.entries;
    match operation {
        Operation::Add(add) if entries.contains_key(&text(add.dn)) => ResultCode::ENTRY_ALREADY_EXISTS,
        Operation::Add(add) => {
            entries.insert(text(add.dn), add.attributes.0.to_vec());
            ResultCode::SUCCESS
        }
        Operation::Delete(dn) => match entries.remove(&text(dn)) {
            Some(_) => ResultCode::SUCCESS,
            None => ResultCode::NO_SUCH_OBJECT,
        },
        Operation::Search(search) if !entries.contains_key(&text(search.base)) => ResultCode::NO_SUCH_OBJECT,
        _ => ResultCode::SUCCESS,
    }
}
