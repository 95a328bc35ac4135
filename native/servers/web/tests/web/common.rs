//! A server with a few files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use web::{Config, Running, Stats};

use crate::client::{Answer, Client};

/// A running server with its own folders.
pub struct Web {
    pub running: Running,
    folder: TempDir,
}

impl Web {
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    pub fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = TempDir::new().unwrap();
        let [docroot, cgi] = ["docroot", "cgi"].map(|name| folder.path().join(name));
        fs::create_dir(&docroot).unwrap();
        fs::create_dir(&cgi).unwrap();
        let mut config = Config { docroot: Some(docroot), cgi: Some(cgi), ..Config::default() };
        change(&mut config);
        Self { running: web::start(config).unwrap(), folder }
    }

    /// A path beside the served folders.
    pub fn outside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn inside(&self, name: &str) -> PathBuf {
        self.folder.path().join("docroot").join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.inside(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Writes a program for `/bin/sh`.
    pub fn program(&self, name: &str, script: &str) {
        let path = self.folder.path().join("cgi").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
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
    pub fn get(&self, path: &str) -> Answer {
        self.client().get(path, None)
    }

    /// Like [`Self::get`], with further header lines.
    pub fn get_with(&self, path: &str, lines: &str) -> Answer {
        let mut client = self.client();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\n{lines}\r\n"));
        client.answer()
    }
}
