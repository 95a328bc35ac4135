//! No path leads out of the docroot or to a file that must not be served.

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::Web;

const SECRET: &str = "root:secret";

fn with_secret() -> Web {
    let web = Web::start();
    fs::write(web.outside("secret"), SECRET).unwrap();
    fs::create_dir(web.outside("beside")).unwrap();
    fs::write(web.outside("beside/secret"), SECRET).unwrap();
    web.file("a/inside.txt", "inside");
    web
}

#[test]
fn no_path_leads_out_of_the_docroot() {
    let web = with_secret();
    let long = "x".repeat(300);
    for path in [
        "/../secret",
        "/a/../../secret",
        "/%2e%2e/secret",
        "/.%2e/secret",
        "/%2E./secret",
        "/%2e%2e%2fsecret",
        "/..%2fsecret",
        "/..%5csecret",
        "/..\\secret",
        "/a/..%2f..%2fsecret",
        "/%252e%252e/secret",
        "/....//secret",
        "/a/inside.txt/../../../secret",
        "/%c0%ae%c0%ae/secret",
        "//etc/passwd",
        "///etc/passwd",
        "/etc/passwd",
        "/a/%2fetc/passwd",
        "/./a/inside.txt",
        "/a/inside.txt/",
        "/proc/self/environ",
        &format!("/{long}"),
        &format!("/{}", "a/".repeat(3_000)),
        "*",
        "file:///etc/passwd",
        "http://elsewhere/../secret",
    ] {
        let answer = web.get(path);
        assert!(matches!(answer.status, 404 | 400), "{path}: {}", answer.status);
        assert!(!answer.text().contains("root:"), "{path}");
    }
    for path in ["/a/inside.txt%00", "/a/inside.txt%00.html", "/%", "/%4", "/%zz", "/a%0"] {
        assert_eq!(web.get(path).status, 400, "{path}");
    }
    assert_eq!(web.get("/a/inside.txt").text(), "inside");
}

#[test]
fn no_link_leads_out_of_the_docroot() {
    let web = with_secret();
    for (target, link) in [
        ("../secret", "file"),
        ("..", "up"),
        ("../beside", "beside"),
        ("a/../../secret", "crooked"),
        ("/proc/self/root/etc/passwd", "magic"),
        ("loop", "loop"),
    ] {
        symlink(target, web.inside(link)).unwrap();
    }
    symlink(web.outside("secret"), web.inside("absolute")).unwrap();
    symlink("a/inside.txt", web.inside("within")).unwrap();
    for path in [
        "/file",
        "/up/secret",
        "/up/docroot/a/inside.txt",
        "/beside/secret",
        "/crooked",
        "/magic",
        "/loop",
        "/absolute",
    ] {
        let answer = web.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("root:"), "{path}");
    }
    assert_eq!(web.get("/within").text(), "inside", "a link that stays inside is followed");
}

#[test]
fn no_text_of_a_request_becomes_a_header() {
    let web = with_secret();
    for path in ["/a%0d%0aX-Evil:%201", "/a%0aX-Evil:1/", "/a/%0d%0a%0d%0aevil"] {
        let answer = web.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.head.to_lowercase().contains("evil"), "{}", answer.head);
    }
}
