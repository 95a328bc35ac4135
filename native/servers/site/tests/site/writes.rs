//! Registrations and changes of properties.

use std::sync::{Arc, Barrier};
use std::thread;

use rusqlite::Connection;
use site::{Config, Expected};

use crate::common::{PEOPLE, Site};

#[test]
fn new_users_get_a_page_and_numbers_above_those_of_seeded_users() {
    let site = Site::start();
    let mut client = site.client();
    for n in 0..5 {
        let answer = client.post("/users", None, "name=Zo%C3%AB+%3CB%3E&city=L%27Aquila&stocks=IBM,DEC");
        let id = PEOPLE + n;
        assert_eq!(answer.status, 201);
        assert_eq!(answer.header("set-cookie"), Some(&*format!("user={id}; Path=/; HttpOnly; SameSite=Lax")));
        assert_eq!(answer.text(), format!("user {id}\n"));
        let page = client.get("/", Some(id));
        assert_eq!((page.status, page.body.len()), (200, 8_290));
        assert!(page.text().contains("<h1>Hello, Zoë</h1>"));
        assert!(page.text().contains("Zoë &lt;B&gt;") && page.text().contains("<i>DEC</i>"));
    }
    let guest = client.post("/users", None, "");
    assert_eq!(guest.status, 201);
    assert!(client.get("/", Some(PEOPLE + 5)).text().contains("<h1>Hello, Guest</h1>"));
    site.has_counted(|stats| stats.served.creates == 6);
}

#[test]
fn the_next_page_of_a_user_shows_two_changed_properties() {
    let site = Site::start();
    let mut client = site.client();
    let before = client.get("/", Some(5));
    let answer = client.post("/preferences", Some(5), "background=%23112233&city=K%C3%B6ln");
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    let after = client.get("/", Some(5));
    assert!(
        after.text().contains(" data-background=\"#112233\"") && after.text().contains(" data-city=\"Köln\"")
    );
    let kept = |page: &str| page.split(" data-accent=").nth(1).map(|rest| rest[..9].to_owned());
    assert_eq!(kept(before.text()), kept(after.text()));
    let others = client.get("/", Some(6));
    assert!(!others.text().contains("#112233"));
    site.has_counted(|stats| stats.served.updates == 1);
}

#[test]
fn a_browsers_form_is_answered_with_a_redirect_to_the_changed_page() {
    let site = Site::start();
    let mut client = site.client();
    let form = "background=%23112233&accent=%23445566&city=Rome&language=it&sections=&sections=science\
        &sections=news&newsletter=0&newsletter=1";
    client.send(format!(
        "POST /preferences HTTP/1.1\r\nHost: a\r\nCookie: user=9\r\nAccept: text/html,*/*;q=0.8\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    ));
    let answer = client.answer();
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    let page = client.get("/", Some(9));
    for part in [
        " data-language=\"it\" ",
        " data-sections=\"science news\" ",
        " data-newsletter=\"1\"",
        "value=science checked>",
        "value=sports>",
        "<option value=it selected>",
    ] {
        assert!(page.text().contains(part), "{part}");
    }
}

#[test]
fn forms_may_arrive_in_chunks_and_in_single_bytes() {
    let site = Site::start();
    let mut client = site.client();
    let request = "POST /preferences HTTP/1.1\r\nHost: a\r\nCookie: user=3\r\nTransfer-Encoding: chunked\r\n\r\n\
        9;x=y\r\ncity=Pari\r\n1\r\ns\r\n0\r\nTrailer: z\r\n\r\n";
    for byte in request.bytes() {
        client.send([byte]);
    }
    assert_eq!(client.answer().status, 204);
    assert!(client.get("/", Some(3)).text().contains(" data-city=\"Paris\""));
}

#[test]
fn expect_100_continue_is_answered_with_100() {
    let site = Site::start();
    let mut client = site.client();
    client.send("POST /users HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n");
    assert_eq!(client.head().status, 100);
    client.send("name=A");
    assert_eq!(client.answer().status, 201);
}

#[test]
fn pipelined_requests_before_and_after_a_write_are_answered_in_order() {
    let site = Site::start();
    let mut client = site.client();
    let page = "GET / HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\n\r\n";
    let update =
        "POST /preferences HTTP/1.1\r\nHost: a\r\nCookie: user=1\r\nContent-Length: 9\r\n\r\ncity=Ulm1";
    let create = "POST /users HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    client.send([page, update, page, create, page].concat().repeat(20));
    for round in 0..20 {
        let first = client.answer();
        assert_eq!(first.status, 200);
        assert_eq!(first.text().contains("Ulm1"), round > 0, "round {round}");
        assert_eq!(client.answer().status, 204);
        assert!(client.answer().text().contains("Ulm1"));
        assert_eq!(client.answer().status, 201);
        assert!(client.answer().text().contains("data-user=\"1\""));
    }
}

#[test]
fn a_user_never_sees_a_page_older_than_an_answered_update() {
    update_and_look(&Site::with(|config| config.threads = 2));
}

#[test]
fn with_a_row_cache_a_user_never_sees_a_page_older_than_an_answered_update() {
    update_and_look(&Site::with(|config| (config.threads, config.row_cache) = (2, 64)));
}

#[test]
fn a_row_cache_reduces_the_number_of_database_reads() {
    for (row_cache, reads) in [(0, 40), (1_000, 20)] {
        let site = Site::with(|config| config.row_cache = row_cache);
        let mut client = site.client();
        for user in (0..20).chain(0..20) {
            assert!(client.get("/", Some(user)).text().contains(&format!("data-user=\"{user}\"")));
        }
        site.has_counted(|stats| (stats.served.pages, stats.served.upd_reads) == (40, reads));
    }
}

fn update_and_look(site: &Site) {
    let barrier = Arc::new(Barrier::new(8));
    let clients = (0..8u64).map(|user| {
        // Each user has two connections, which different threads may serve.
        let (mut writer, mut reader, barrier) = (site.client(), site.client(), Arc::clone(&barrier));
        thread::spawn(move || {
            barrier.wait();
            for n in 0..150 {
                let answer = writer.post("/preferences", Some(user), &format!("city=City{n}of{user}"));
                assert_eq!(answer.status, 204);
                let page = reader.get("/", Some(user));
                assert!(page.text().contains(&format!(" data-city=\"City{n}of{user}\"")), "stale");
                assert!(page.text().contains(&format!(" data-user=\"{user}\"")), "a leak");
            }
        })
    });
    let clients: Vec<_> = clients.collect();
    clients.into_iter().for_each(|client| client.join().unwrap());
    site.has_counted(|stats| stats.served.updates == 8 * 150);
}

#[test]
fn users_who_register_concurrently_get_different_numbers() {
    let site = Site::with(|config| config.threads = 2);
    let joining: Vec<_> = (0..16)
        .map(|_| {
            let mut client = site.client();
            thread::spawn(move || {
                (0..50).map(|_| client.post("/users", None, "").text().to_owned()).collect::<Vec<_>>()
            })
        })
        .collect();
    let mut users: Vec<String> = joining.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    users.sort();
    users.dedup();
    assert_eq!(users.len(), 16 * 50);
}

#[test]
fn answered_writes_are_in_the_file_and_the_log_is_removed_when_the_site_ends() {
    let site = Site::start();
    let mut client = site.client();
    for n in 0..50 {
        assert_eq!(client.post("/preferences", Some(n), "city=Bonn&newsletter=1").status, 204);
    }
    assert_eq!(client.post("/users", None, "name=New").status, 201);
    let Site { running, database, _folder } = site;
    drop(running);
    let log = database.with_file_name("people.upd-wal");
    assert!(!log.exists(), "the log is part of the file now");
    let db = Connection::open(&database).unwrap();
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, u64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM people WHERE city = 'Bonn' AND newsletter = 1"), 50);
    assert_eq!(count("SELECT max(id) FROM people WHERE name = 'New'"), PEOPLE);
    let check: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn the_last_of_many_threads_removes_the_log() {
    let Site { running, database, _folder: folder } = Site::start();
    drop(running);
    for _ in 0..200 {
        let config = Config { database: database.clone(), threads: 8, ..Config::default() };
        drop(site::start(config, &Expected::default()).unwrap());
        let left: Vec<_> =
            folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["people.upd"]);
    }
}
