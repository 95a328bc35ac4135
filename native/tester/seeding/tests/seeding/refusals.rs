//! Messages about refusals and lost connections.

use std::net::TcpListener;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use seeding::{Config, Secret, SeedingError};
use wire::ldap::ResultCode;

use super::server::{Asked, Do, Server};
use super::{config, people, remove, seed};

fn message_of(result: Result<impl std::fmt::Debug, SeedingError>) -> String {
    result.unwrap_err().to_string()
}

/// A server with this answer to the adds and deletes of people.
fn with_people(what: Do) -> Server {
    Server::start(move |asked, _| match asked {
        Asked::Add(_) | Asked::Delete(_) => what,
        _ => Do::Right,
    })
}

#[test]
fn a_refused_person_is_named_with_the_reason_and_the_remedy() {
    let schema = Do::Code(ResultCode::OBJECT_CLASS_VIOLATION, "no structural object class");
    let server = with_people(schema);
    let message = message_of(seed(&config(&server), 5..6));
    let mut dn = Vec::new();
    people().write_dn(5, &mut dn);
    let expected = format!(
        "{} refuses to add {:?}: objectClassViolation (65), no structural object class; \
         name the people that its schema knows, such as --profile person, or load the schema of \
         `sitebench ils schema` into it",
        server.address,
        String::from_utf8(dn).unwrap()
    );
    assert_eq!(message, expected);

    let server = with_people(Do::Code(ResultCode::INSUFFICIENT_ACCESS_RIGHTS, ""));
    let message = message_of(remove(&config(&server), 0..10));
    assert!(message.contains("refuses to delete \"cn="), "{message}");
    assert!(
        message.ends_with("insufficientAccessRights (50); bind as a user who may write there"),
        "{message}"
    );
}

#[test]
fn people_added_before_a_refusal_are_reported() {
    let server = Server::start(|asked, n| match asked {
        Asked::Add(_) if n >= 101 => Do::Code(ResultCode::BUSY, ""),
        _ => Do::Right,
    });
    let mut config = config(&server);
    config.connections = 1;
    let mut last = 0;
    let result = seeding::seed(&config, &people(), 0..1_000, &mut |done| {
        last = done;
        ControlFlow::Continue(())
    });
    assert!(matches!(result, Err(SeedingError::Refused { code: ResultCode::BUSY, .. })));
    assert_eq!(last, 100, "one search and a hundred adds came before");
}

#[test]
fn a_connection_closed_by_the_server_is_an_error() {
    for what in [Do::Close, Do::Goodbye] {
        let server = Server::start(move |asked, n| match asked {
            Asked::Add(_) if n > 100 => what,
            _ => Do::Right,
        });
        let message = message_of(seed(&config(&server), 0..1_000));
        assert!(message.contains("closed the connection"), "{message}");
        assert_eq!(
            message.contains("saying unavailable (52), shutting down"),
            what == Do::Goodbye,
            "{message}"
        );
        assert!(message.ends_with("run it again to go on"), "{message}");
    }
}

#[test]
fn a_server_that_stops_answering_is_given_up_after_a_timeout() {
    for silent in
        [|asked: &Asked| matches!(asked, Asked::Add(_)), |asked: &Asked| matches!(asked, Asked::Search(_))]
    {
        let server = Server::start(move |asked, _| if silent(asked) { Do::Never } else { Do::Right });
        let mut config = config(&server);
        config.timeout_ms = 200;
        assert!(matches!(seed(&config, 0..10), Err(SeedingError::Silent { .. })));
    }
}

/// A reference to `x:y` (RFC 4511 section 4.5.3) as the answer to the first request of a connection.
const REFERENCE: &[u8] = b"0\x0a\x02\x01\x01\x73\x05\x04\x03x:y";

/// An entry `o=x` without attributes as the answer to the same request.
const ENTRY: &[u8] = b"0\x0c\x02\x01\x01\x64\x07\x04\x03o=x0\0";

#[test]
fn a_server_that_answers_without_end_is_given_up_after_a_timeout() {
    let server = Server::start(|_, _| Do::Endless(REFERENCE));
    let mut config = config(&server);
    config.timeout_ms = 200;
    assert!(matches!(seed(&config, 0..10), Err(SeedingError::Silent { .. })), "before the people");
    let found = seeding::first(&config, &people(), 0..10, &mut |_| ControlFlow::Continue(()));
    assert!(matches!(found, Err(SeedingError::Silent { .. })), "among the people: {found:?}");

    let server = Server::start(|_, _| Do::Endless(ENTRY));
    let message = message_of(seed(&self::config(&server), 0..10));
    assert!(message.contains("more entries than were asked for"), "{message}");
}

#[test]
fn a_caller_can_cancel_work_at_a_server_that_answers_without_end() {
    let server = Server::start(|_, _| Do::Endless(REFERENCE));
    let started = Instant::now();
    let found = seeding::first(&config(&server), &people(), 0..10, &mut |_| ControlFlow::Break(()));
    assert!(matches!(found, Ok(None)), "{found:?}");
    assert!(started.elapsed() < Duration::from_secs(30), "the timeout is a minute");
}

#[test]
fn a_server_that_does_not_speak_ldap_is_reported_as_such() {
    let http = Do::Raw(b"HTTP/1.1 400 Bad Request\r\n\r\n");
    for (what, reason) in [
        (http, "a message starts with 0x48, not with a SEQUENCE: this is not LDAP"),
        (Do::Raw(b"0\x05\x02\x01\x01\x7e\x00"), "unknown operation 0x7e"),
        (Do::Raw(b"0\x84\x7f\xff\xff\xff"), "a message of 2147483653 bytes, over the limit of 1048576"),
        (Do::OtherId, "an answer to nothing that was asked"),
        (Do::OtherOperation, "an answer of another kind than was asked for"),
    ] {
        let server = with_people(what);
        let message = message_of(seed(&config(&server), 0..10));
        let expected =
            format!("{} does not answer in LDAP ({reason}); is it the right port?", server.address);
        assert_eq!(message, expected);
    }
    let server = Server::start(move |_, _| http);
    assert!(matches!(seed(&config(&server), 0..10), Err(SeedingError::NotLdap { .. })));
}

#[test]
fn a_wrong_password_is_reported_as_such() {
    let server = Server::start(|asked, _| match asked {
        Asked::Bind(_) => Do::Code(ResultCode::INVALID_CREDENTIALS, ""),
        _ => Do::Right,
    });
    let mut config = config(&server);
    config.bind_dn = Some("cn=admin".to_owned());
    config.password = Some(Secret::new("wrong"));
    let expected = format!(
        "{} refuses to bind cn=admin: invalidCredentials (49); check bind DN and password",
        server.address
    );
    assert_eq!(message_of(seed(&config, 0..1)), expected);
}

#[test]
fn a_base_that_cannot_be_added_is_left_to_the_administrator() {
    let server = Server::empty(|asked, _| match asked {
        Asked::Add(dn) if dn == "o=Intranet" => {
            Do::Code(ResultCode::UNWILLING_TO_PERFORM, "no global superior knowledge")
        }
        _ => Do::Right,
    });
    let expected = format!(
        "{} has no \"o=Intranet\" and refuses to add it: unwillingToPerform (53), no global superior knowledge; \
         create it yourself, or choose a base that is there",
        server.address
    );
    assert_eq!(message_of(seed(&config(&server), 0..1)), expected);
}

#[test]
fn an_invalid_configuration_is_refused_before_any_request() {
    let server = Server::right();
    let with = |change: fn(&mut Config)| {
        let mut config = config(&server);
        change(&mut config);
        message_of(seed(&config, 0..1))
    };
    assert_eq!(with(|c| c.window = 0), "a window of 0 requests cannot be kept; ask for 1 to 65536");
    assert_eq!(with(|c| c.connections = 0), "0 connections cannot be kept busy; ask for 1 to 256");
    assert_eq!(
        with(|c| c.bind_dn = Some("cn=admin".to_owned())),
        "cn=admin has no password; give one, or leave the bind DN out to write anonymously"
    );
    assert_eq!(
        with(|c| c.base = Some("ou=people,dc=example,dc=com".to_owned())),
        "the directory's base is \"ou=people,dc=example,dc=com\", but the people are under \
         \"ou=Dynamic,o=Intranet\"; make them for that base"
    );
    assert_eq!(server.kept.lock().unwrap().asked, []);
    let mut config = config(&server);
    config.base = Some("OU=dynamic, O=intranet".to_owned());
    assert_eq!(seed(&config, 0..1).unwrap().done, 1, "another spelling of the same base");
}

#[test]
fn a_refused_connect_names_the_address() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let message = message_of(seed(&Config::new("127.0.0.1", address.port()), 0..1));
    assert!(message.starts_with(&format!("cannot connect to {address}: Connection refused")), "{message}");
    let message = message_of(seed(&Config::new("no-such-host.invalid", 389), 0..1));
    assert!(message.starts_with("cannot connect to no-such-host.invalid:389: "), "{message}");
}
