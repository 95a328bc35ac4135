//! Pages and pictures as a user sees them.

use crate::common::{PEOPLE, Site, escaped, visitors};
use site::image::IMAGE_BYTES;
use site::page::PAGE_BYTES;

#[test]
fn every_person_gets_an_individual_page_of_exactly_the_papers_size() {
    let site = Site::start();
    let mut client = site.client();
    let visitors = visitors();
    for i in 0..PEOPLE {
        let answer = client.get("/", Some(i));
        let visitor = visitors.visitor(i);
        assert_eq!((answer.status, answer.body.len()), (200, PAGE_BYTES));
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        let page = answer.text();
        for part in [
            format!("<body data-user=\"{i}\" "),
            format!("<h1>Hello, {}</h1>", escaped(&visitor.given)),
            format!(" data-background=\"{}\"", visitor.background),
            format!(" data-accent=\"{}\"", visitor.accent),
            format!(" data-city=\"{}\"", escaped(&visitor.city)),
            escaped(&visitor.name),
            escaped(&visitor.company),
            escaped(&visitor.occupation),
        ] {
            assert!(page.contains(&part), "{part} for person {i}:\n{page}");
        }
        let sections: Vec<String> = serde_json::from_str(&visitor.sections).unwrap();
        assert!(page.contains(&format!(" data-sections=\"{}\"", sections.join(" "))));
    }
    site.has_counted(|stats| {
        [stats.served.pages, stats.served.upd_reads, stats.served.asp_requests] == [PEOPLE; 3]
    });
}

#[test]
fn pictures_are_gifs_of_exactly_the_papers_size_and_may_be_cached() {
    let site = Site::start();
    let mut client = site.client();
    for n in 1..=4 {
        let path = format!("/image/{n}.gif");
        let answer = client.get(&path, None);
        assert_eq!((answer.status, answer.body.len()), (200, IMAGE_BYTES));
        assert!(answer.body.starts_with(b"GIF89a") && answer.body.ends_with(b"\x3b"));
        assert_eq!(answer.header("content-type"), Some("image/gif"));
        let tag = answer.header("etag").unwrap();
        client.send(format!("GET {path} HTTP/1.1\r\nHost: a\r\nIf-None-Match: {tag}\r\n\r\n"));
        assert_eq!(client.answer().status, 304);
    }
    site.has_counted(|stats| stats.served.images == 8);
}

#[test]
fn a_client_without_a_known_user_gets_the_registration_form() {
    let site = Site::start();
    let mut client = site.client();
    let answer = client.get("/", None);
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("<form method=post action=/users>"));
    for unknown in [PEOPLE, u64::MAX] {
        let answer = client.get("/", Some(unknown));
        assert_eq!(answer.status, 404);
        assert!(answer.text().contains(&format!("no user {unknown} ")));
    }
    site.has_counted(|stats| stats.served.pages == 0);
}

#[test]
fn a_known_user_who_enters_the_site_gets_a_cookie() {
    let site = Site::start();
    let mut client = site.client();
    let answer = client.get("/enter?user=7", None);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
    assert_eq!(answer.header("set-cookie"), Some("user=7; Path=/; HttpOnly; SameSite=Lax"));
}
