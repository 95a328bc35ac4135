//! A site with a few people.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use people::Pools;
use people::visitor::Visitors;
use site::{Config, Expected, Running, Stats};
use tempfile::TempDir;

use crate::client::{Answer, Client};

pub const PEOPLE: u64 = 300;

pub fn visitors() -> Visitors {
    let pools = Pools::parse(include_str!("../../../../shared/people/tests/data/three.pools")).unwrap();
    Visitors::new(&pools, 1997, &["en_US", "ru_RU", "ja_JP"].map(str::to_owned)).unwrap()
}

pub fn build(path: &Path, size: u64) -> site::upd::Manifest {
    site::upd::build(path, &visitors(), size, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// A database of this size, alone in a folder.
pub fn database(size: u64) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("people.upd");
    build(&path, size);
    (folder, path)
}

/// A running site with its own database.
pub struct Site {
    pub running: Running,
    pub database: PathBuf,
    /// The folder is removed at the end of the test.
    pub _folder: TempDir,
}

impl Site {
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        let (folder, database) = database(PEOPLE);
        let mut config = Config { database: database.clone(), ..Config::default() };
        change(&mut config);
        let running = site::start(config, &Expected::default()).unwrap();
        Self { running, database, _folder: folder }
    }

    /// Waits for counts, which threads publish after they have answered.
    pub fn has_counted(&self, expected: impl Fn(&Stats) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(5);
        while !expected(&self.running.stats()) {
            assert!(Instant::now() < deadline, "{:?}", self.running.stats());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn client(&self) -> Client {
        Client::new(self.running.addr())
    }

    /// The answer to one request on its own connection.
    pub fn ask(&self, request: impl AsRef<[u8]>) -> Answer {
        let mut client = self.client();
        client.send(request);
        client.answer()
    }

    /// Sends bytes and asserts the status, and whether the connection is `closed`; returns the answer.
    #[track_caller]
    pub fn refuses(&self, request: impl AsRef<[u8]>, status: u16, closed: bool) -> String {
        let mut client = self.client();
        client.send(request);
        let answer = client.answer();
        assert_eq!(answer.status, status, "{}", answer.head);
        if closed {
            assert_eq!(answer.header("connection"), Some("close"));
            assert!(client.is_closed());
            client = self.client();
        }
        assert_eq!(client.get("/image/1.gif", None).status, 200, "the connection or the site goes on");
        answer.text().to_owned()
    }
}

pub fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    site::page::push_escaped(&mut out, text, usize::MAX >> 1);
    String::from_utf8(out).unwrap()
}
