//! The CGI program, started by the embedded server.

use crate::client::Client;

#[test]
fn the_program_shows_its_variables_and_writes_text_of_the_requested_length() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(env!("CARGO_BIN_EXE_sitebench-cgi"), folder.path().join("sitebench-cgi")).unwrap();
    let config = web::Config { cgi: Some(folder.path().into()), ..web::Config::default() };
    let running = web::start(config).unwrap();
    let mut client = Client::new(running.addr());
    let shown = client.get("/cgi-bin/sitebench-cgi", None);
    assert_eq!(shown.status, 200);
    for line in ["GATEWAY_INTERFACE=CGI/1.1", "REMOTE_ADDR=127.0.0.1", "SCRIPT_NAME=/cgi-bin/sitebench-cgi"] {
        assert!(shown.text().lines().any(|shown| shown == line), "{line} in {}", shown.text());
    }
    let shown = client.get("/cgi-bin/sitebench-cgi?kind=simcgi", None);
    assert_eq!((shown.status, shown.body.len()), (200, 670));
    let lines: Vec<_> = shown.text().lines().map(str::to_owned).collect();
    // Twenty lines of text, then the line of spaces.
    assert_eq!(lines.len(), 21, "{lines:?}");
    assert!(lines[0].starts_with("SERVER_SOFTWARE = sitebench/"));
    assert_eq!(lines[13..15], ["REMOTE_HOST = 127.0.0.1", "REMOTE_ADDR = 127.0.0.1"]);
    assert_eq!(lines[19], "ANNOTATION_SERVER = ");
    let get = |client: &mut Client, query: &str| client.get(&format!("/cgi-bin/sitebench-cgi?{query}"), None);
    let constant = get(&mut client, "kind=constant");
    assert_eq!((constant.body.len(), constant.header("content-type")), (6_250, Some("text/html")));
    assert!(constant.text().starts_with("<!DOCTYPE html>\n<title>sitebench</title>\n<p>xx"));
    assert!(constant.text().ends_with("xx</p>\n"));
    for size in [0, 1, 5_248_000] {
        let random = get(&mut client, &format!("size={size}&kind=random"));
        assert_eq!((random.status, random.body.len()), (200, size));
        assert!(random.body.iter().all(|byte| (b'?'..=b'X').contains(byte)));
    }
    for query in ["kind=other", "kind=random&size=-1", "kind=random&size=99999999999"] {
        assert_eq!(get(&mut client, query).status, 400, "{query}");
    }
    client.send("HEAD /cgi-bin/sitebench-cgi?kind=constant HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.head().status, 200);
    assert_eq!(get(&mut client, "kind=constant&size=2").text(), "xx", "nothing was left unread");
}
