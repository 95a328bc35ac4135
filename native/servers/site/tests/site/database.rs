//! The user-property database as a file.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use net::ListenError;
use people::visitor::Visitor;
use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::Value;
use serde_json::Value as Json;
use site::upd::{self, BuildError, CopyError, OpenError};
use site::{Config, Expected, StartError};
use tempfile::TempDir;

use crate::common::{PEOPLE, Site, build, database, visitors};

/// The columns of a person, by their names.
fn columns(visitor: &Visitor) -> Vec<(String, Value)> {
    let fields = serde_json::to_value(visitor).unwrap().as_object().unwrap().clone();
    let column = |(name, field)| match field {
        Json::String(text) => (name, Value::Text(text)),
        Json::Bool(flag) => (name, Value::Integer(flag.into())),
        number => (name, Value::Integer(number.as_i64().unwrap())),
    };
    fields.into_iter().map(column).collect()
}

#[test]
fn the_database_has_every_person_with_all_properties_and_passes_sqlites_check() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.upd");
    let mut reported = Vec::new();
    let manifest = upd::build(&path, &visitors(), 10_000, &mut |n| {
        reported.push(n);
        ControlFlow::Continue(())
    });
    assert_eq!(upd::inspect(&path, &Expected::default()).unwrap(), manifest.unwrap());
    assert_eq!(reported.last(), Some(&10_000));
    assert!(reported.is_sorted() && reported.len() > 2);
    let db = Connection::open(&path).unwrap();
    let check: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let mut select = db.prepare("SELECT * FROM people ORDER BY id").unwrap();
    assert_eq!(select.column_count(), columns(&Visitor::default()).len());
    let people = visitors();
    let mut rows = select.query([]).unwrap();
    let mut count = 0;
    while let Some(row) = rows.next().unwrap() {
        for (name, value) in columns(&people.visitor(count)) {
            assert_eq!(row.get::<_, Value>(&*name).unwrap(), value, "{name} of person {count}");
        }
        count += 1;
    }
    assert_eq!(count, 10_000);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn the_same_people_yield_identical_database_bytes() {
    let folder = TempDir::new().unwrap();
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    assert_eq!(build(&a, 2_000), build(&b, 2_000));
    assert_eq!(fs::read(a).unwrap(), fs::read(b).unwrap());
}

#[test]
fn a_database_without_people_is_valid() {
    let (_folder, path) = database(0);
    let expected = Expected { size: Some(0), digest: None };
    assert_eq!(upd::inspect(&path, &expected).unwrap().size, 0);
}

#[test]
fn a_cancelled_build_leaves_only_the_old_file() {
    let (folder, path) = database(100);
    let before = fs::read(&path).unwrap();
    let error = upd::build(&path, &visitors(), 50_000, &mut |_| ControlFlow::Break(())).unwrap_err();
    assert!(matches!(error, BuildError::Cancelled(_)), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_error_for_a_missing_folder_names_the_folder() {
    let build =
        upd::build(Path::new("/nonexistent/people.upd"), &visitors(), 10, &mut |_| ControlFlow::Continue(()));
    let error = build.unwrap_err();
    assert!(
        matches!(error, BuildError::File { .. }) && error.to_string().contains("/nonexistent/"),
        "{error}"
    );
}

/// The next test runs this in a process with a limit on the size of files.
#[test]
#[ignore = "run by another test"]
fn build_under_a_file_size_limit() {
    let path = std::env::var("UPD_PATH").unwrap();
    let error =
        upd::build(path.as_ref(), &visitors(), 50_000, &mut |_| ControlFlow::Continue(())).unwrap_err();
    assert!(matches!(error, BuildError::Database { .. } | BuildError::DiskFull(_)), "{error}");
}

#[test]
fn a_full_disk_leaves_only_the_old_file() {
    let (folder, path) = database(100);
    let before = fs::read(&path).unwrap();
    // The limit simulates a full disk: writes fail in the middle of the file.
    let status = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 1000; exec \"$0\" --exact --ignored database::build_under_a_file_size_limit",
        ])
        .arg(std::env::current_exe().unwrap())
        .env("UPD_PATH", &path)
        .status();
    assert!(status.unwrap().success());
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_file_that_is_no_user_property_database_is_refused_as_such() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("people.upd");
    let inspect = || upd::inspect(&path, &Expected::default()).unwrap_err();
    assert!(matches!(inspect(), OpenError::Missing(_)));
    fs::write(&path, "").unwrap();
    assert!(matches!(inspect(), OpenError::NotOne { .. }));
    fs::write(&path, "this is not a database at all, but a rather long text. ".repeat(100)).unwrap();
    assert!(matches!(inspect(), OpenError::NotOne { .. }), "{}", inspect());
    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE people (id)").unwrap();
    assert!(matches!(inspect(), OpenError::NotOne { .. }), "{}", inspect());
    let folder_error = upd::inspect(folder.path(), &Expected::default()).unwrap_err();
    assert!(matches!(folder_error, OpenError::NotOne { .. }));
}

#[test]
fn a_database_of_an_unexpected_version_size_or_digest_is_refused() {
    let (_folder, path) = database(100);
    let manifest = build(&path, 100);
    let expect = |size, digest: &str| {
        let digest = Some(digest.to_owned());
        upd::inspect(&path, &Expected { size: Some(size), digest })
    };
    assert!(expect(100, &manifest.digest).is_ok());
    let error = expect(1_000, &manifest.digest).unwrap_err();
    assert!(matches!(error, OpenError::Size { found: 100, wanted: 1_000, .. }), "{error}");
    assert!(matches!(expect(100, "x").unwrap_err(), OpenError::Digest { .. }));
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 2").unwrap();
    let error = upd::inspect(&path, &Expected::default()).unwrap_err();
    assert!(matches!(error, OpenError::SchemaVersion { found: 2, .. }), "{error}");
    assert!(error.to_string().contains("make it again"), "{error}");
}

#[test]
fn a_truncated_file_is_reported_as_damaged() {
    let (_folder, path) = database(5_000);
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    let error = upd::inspect(&path, &Expected::default()).unwrap_err();
    assert!(matches!(error, OpenError::Damaged { .. }), "{error}");
}

#[test]
fn a_locked_file_is_reported_as_locked() {
    let (_folder, path) = database(10);
    let holder = Connection::open(&path).unwrap();
    holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let config = Config { database: path, ..Config::default() };
    let error = site::start(config, &Expected::default()).unwrap_err();
    assert!(matches!(error, StartError::Database(OpenError::Locked(_))), "{error}");
}

#[test]
fn a_damaged_database_page_affects_only_its_own_users() {
    let (_folder, path) = database(5_000);
    // This page of the file contains rows of people.
    let mut file = fs::File::options().read(true).write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(4_096 * 100)).unwrap();
    file.write_all(&[0xff; 4_096]).unwrap();
    let running = site::start(Config { database: path, ..Config::default() }, &Expected::default()).unwrap();
    let mut client = crate::client::Client::new(running.addr());
    let statuses: Vec<u16> = (0..5_000).map(|i| client.get("/", Some(i)).status).collect();
    assert!(statuses.contains(&500) && statuses[0] == 200 && statuses[4_999] == 200);
    assert!(statuses.iter().filter(|&&status| status == 500).count() < 200);
}

#[test]
fn a_fresh_copy_has_none_of_the_earlier_changes() {
    let (folder, master) = database(100);
    let working = folder.path().join("working.upd");
    let bytes = upd::copy(&master, &working).unwrap();
    assert_eq!(bytes, fs::metadata(&master).unwrap().len());
    // A leftover log of another writer must not be replayed into the fresh copy.
    let db = Connection::open(&working).unwrap();
    db.execute_batch("PRAGMA journal_mode=WAL; UPDATE people SET city = 'gone'").unwrap();
    let error = upd::copy(&working, &folder.path().join("other.upd")).unwrap_err();
    assert!(matches!(error, CopyError::InUse(_)), "{error}");
    upd::copy(&master, &working).unwrap();
    assert_eq!(fs::read(&master).unwrap(), fs::read(&working).unwrap());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let error = upd::copy(&folder.path().join("none"), &working).unwrap_err();
    assert!(matches!(error, CopyError::File { .. }));
    assert_eq!(fs::read(&master).unwrap(), fs::read(&working).unwrap(), "as it was");
    // The writer's connection closes only now: a killed writer leaves the same files.
    drop(db);
}

#[test]
fn a_site_without_its_database_does_not_start() {
    let folder = TempDir::new().unwrap();
    let config = Config { database: folder.path().join("none.upd"), ..Config::default() };
    let error = site::start(config, &Expected::default()).unwrap_err();
    assert!(error.to_string().contains("sitebench ps seed"), "{error}");
    let taken = Site::start();
    let config =
        Config { database: taken.database.clone(), port: taken.running.addr().port(), ..Config::default() };
    assert!(matches!(site::start(config, &Expected::default()), Err(StartError::Listen(_))));
    let config = Config { database: taken.database.clone(), threads: 0, ..Config::default() };
    assert!(matches!(
        site::start(config, &Expected::default()),
        Err(StartError::Listen(ListenError::Threads(0)))
    ));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Another program may have written any text into the database.
    #[test]
    fn any_texts_in_the_database_yield_a_page_of_the_right_size(texts in prop::collection::vec(".{0,300}", 14)) {
        let (_folder, path) = database(PEOPLE);
        let db = Connection::open(&path).unwrap();
        let columns = ["name", "given", "family", "mail", "city", "country", "language", "occupation",
            "company", "background", "accent", "sections", "interests", "stocks"];
        for (column, text) in columns.iter().zip(&texts) {
            db.execute(&format!("UPDATE people SET {column} = ?1 WHERE id = 3"), [text]).unwrap();
        }
        db.execute("UPDATE people SET visits = 'many', newsletter = x'ff', last_visit = 1e300, mail = x'00ff', \
            occupation = cast(x'41ff42' as text) WHERE id = 3", []).unwrap();
        drop(db);
        let running = site::start(Config { database: path, ..Config::default() }, &Expected::default()).unwrap();
        let answer = crate::client::Client::new(running.addr()).get("/", Some(3));
        prop_assert_eq!((answer.status, answer.body.len()), (200, 8_290));
        let city: String = texts[4].chars().take(15).collect();
        let city = format!(" data-city=\"{}", crate::common::escaped(&city));
        prop_assert!(answer.text().contains(&city), "{}", city);
    }
}

#[test]
fn an_unknown_setting_or_an_invalid_value_of_a_site_is_refused() {
    assert!(serde_json::from_str::<Config>(r#"{"durability": "full", "row_cache": 0}"#).is_ok());
    assert!(serde_json::from_str::<Config>(r#"{"durabilty": "full"}"#).is_err());
    assert!(serde_json::from_str::<Config>(r#"{"durability": "none"}"#).is_err());
}

/// Places files and links at the names that another user could guess for temporary files of this process;
/// returns the targets of the links.
fn planted(folder: &TempDir) -> Vec<PathBuf> {
    let theirs = folder.path().join("theirs");
    fs::write(&theirs, "theirs").unwrap();
    let own = std::process::id();
    let mut found = vec![theirs.clone()];
    for suffix in ["building", "copying"] {
        let link = folder.path().join(format!("a.upd.{suffix}-{own}"));
        symlink(&theirs, &link).unwrap();
        found.push(link);
        let file = folder.path().join(format!("b.upd.{suffix}-{own}"));
        fs::write(&file, "theirs").unwrap();
        found.push(file);
    }
    found
}

#[test]
fn files_planted_by_another_user_are_neither_written_nor_removed() {
    let (folder, master) = database(PEOPLE);
    let planted = planted(&folder);
    let there = || fs::read_dir(folder.path()).unwrap().count();
    let before = there();
    for name in ["a.upd", "b.upd"] {
        build(&folder.path().join(name), PEOPLE);
        upd::copy(&master, &folder.path().join(name)).unwrap();
    }
    for path in &planted {
        assert_eq!(fs::read(path).unwrap(), b"theirs", "{}", path.display());
    }
    assert!(planted[1].is_symlink());
    assert_eq!(there(), before + 2, "temporary files are left");
}
