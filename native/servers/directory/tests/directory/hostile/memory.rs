//! Limits on the server's memory for one connection.

use directory::Running;
use directory::limits::Limits;
use wire::ldap::ResultCode;
use wire::ldap::filter::{Piece, write_or, write_present, write_substrings};

use super::{GROUP, add_group};
use crate::common::{Client, Search, filter, paged, serve, serve_people};

#[test]
fn an_entry_cannot_grow_beyond_its_length_limit() {
    let most = Limits::default().entry_bytes;
    let (_directory, mut client) = serve("{}");
    add_group(&mut client, "description", &["x".into()]);
    // Each piece fits into a message of an unbound client.
    let piece = 250_000;
    let mut values = vec!["x".to_owned()];
    for n in 0..most / piece {
        values.push(format!("{n} {}", "x".repeat(piece - 4)));
        let grown = client.modify(GROUP, &[(0, "description", &[&values[n + 1]])]);
        assert_eq!(grown.code, ResultCode::SUCCESS, "{n}");
    }
    let grown = client.modify(GROUP, &[(0, "description", &[&"y".repeat(piece)])]);
    assert_eq!(grown.code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    let entry = client.read(GROUP, &["description"]).unwrap();
    assert!(entry.values("description") == values, "the stored values are not the values sent");
}

#[test]
fn a_long_name_cannot_exceed_the_length_limit_of_an_entry() {
    let (_directory, mut client) = serve(r#"{"limits": {"entry_bytes": 500}}"#);
    assert_eq!(client.add_person("Ann 1").code, ResultCode::SUCCESS);
    let long = "x".repeat(450);
    assert_eq!(client.add_person(&long).code, ResultCode::ADMIN_LIMIT_EXCEEDED);
    for dn in ["cn=Ann 1,ou=Dynamic,o=Intranet", "ou=Dynamic,o=Intranet"] {
        let renamed = client.rename(dn, &format!("{}={long}", &dn[..2]), None);
        assert_eq!(renamed.code, ResultCode::ADMIN_LIMIT_EXCEEDED, "{dn}");
    }
}

/// Requests a page of one entry, with a filter whose normal form has at least `bytes` bytes.
fn page(client: &mut Client, bytes: usize, cookie: &[u8]) -> (ResultCode, Vec<u8>) {
    // The normal form of U+FDFA is eleven times as long.
    let piece = "\u{fdfa}".repeat(bytes / 33);
    let filter = filter(|out| {
        write_or(out, |out| {
            write_present(out, b"objectClass");
            write_substrings(out, b"cn", [Piece::Any(piece.as_bytes())]);
        });
    });
    let (_, done) = client.search(&Search { filter, controls: paged(1, cookie), ..Search::default() });
    (done.code, done.cookie().unwrap_or_default())
}

/// A connection limit with room for the message of an unbound client, an entry, a write, and `bytes` bytes
/// for searches.
fn with_room(bytes: usize) -> (Running, Client) {
    let limits = Limits { entry_bytes: 64 << 10, ..Limits::default() };
    let all = limits.message_bytes_before_bind + limits.entry_bytes + (128 << 10) + bytes;
    let bounds = r#""entry_bytes": 65536, "message_bytes_after_bind": 262144"#;
    serve_people(&format!(r#"{{"limits": {{{bounds}, "connection_bytes": {all}}}}}"#), 3)
}

#[test]
fn the_oldest_page_is_dropped_when_its_connection_exhausts_its_memory() {
    let (_directory, mut client) = with_room(1 << 20);
    let (code, oldest) = page(&mut client, 400_000, b"");
    assert_eq!(code, ResultCode::SUCCESS);
    let (_, younger) = page(&mut client, 400_000, b"");
    let (_, youngest) = page(&mut client, 400_000, b"");
    assert_eq!(page(&mut client, 400_000, &oldest).0, ResultCode::UNWILLING_TO_PERFORM);
    for cookie in [younger, youngest] {
        assert_eq!(page(&mut client, 400_000, &cookie).0, ResultCode::SUCCESS);
    }
}

#[test]
fn a_search_beyond_the_memory_of_its_connection_is_refused() {
    let (_directory, mut client) = with_room(300_000);
    assert_eq!(page(&mut client, 100_000, b"").0, ResultCode::SUCCESS);
    assert_eq!(page(&mut client, 400_000, b"").0, ResultCode::ADMIN_LIMIT_EXCEEDED);
    assert_eq!(page(&mut client, 100_000, b"").0, ResultCode::SUCCESS, "the connection goes on");
}
