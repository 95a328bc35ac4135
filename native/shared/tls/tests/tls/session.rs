//! Bytes written at one side of TLS arrive at the other side.

use std::io::{ErrorKind, Read, Write};

use std::path::Path;

use crate::common::{End, acceptor, open, trusting, wire};
use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
use tls::{Acceptor, ClientSpec, Connector, Fault, ServerSpec, Session};

/// The fault that ends a handshake, as the client reports it.
fn fault(acceptor: &Acceptor, connector: &Connector) -> Option<Fault> {
    let (mut here, mut there) = wire(1 << 16);
    let mut client = Session::connect(connector).unwrap();
    let mut server = Session::accept(acceptor).unwrap();
    for _ in 0..100 {
        if let Err(error) = client.shake(&mut here) {
            return Fault::of(&error);
        }
        let _ = server.shake(&mut there);
    }
    None
}

/// Both sides after their handshake, with a client that trusts the server.
fn opened(room: usize) -> ((Session, End), (Session, End)) {
    let acceptor = acceptor();
    let connector = Connector::new(&trusting(&acceptor), "localhost", &[]).unwrap();
    open(&acceptor, &connector, room)
}

#[test]
fn bytes_arrive_unchanged_however_few_the_wire_accepts() {
    let sent: Vec<u8> = (0..300_000u32).map(|n| (n * 7 % 251) as u8).collect();
    for room in [7, 1_000, 20_000] {
        let ((mut client, mut here), (mut server, mut there)) = opened(room);
        let (mut gone, mut come, mut buffer) = (0, Vec::new(), [0; 5_000]);
        while come.len() < sent.len() {
            if gone < sent.len() {
                match client.write(&mut here, &sent[gone..]) {
                    Ok(count) => gone += count,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            }
            match server.read(&mut there, &mut buffer) {
                Ok(count) => come.extend_from_slice(&buffer[..count]),
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted))
                }
            }
        }
        assert_eq!((gone, &come), (sent.len(), &sent));
    }
}

#[test]
fn a_read_that_does_not_fill_its_buffer_has_emptied_the_socket() {
    let ((mut client, mut here), (mut server, mut there)) = opened(1 << 20);
    for part in [&b"one"[..], b"two", &[b'x'; 9_000]] {
        assert_eq!(client.write(&mut here, part).unwrap(), part.len());
    }
    let mut buffer = [0; 64 << 10];
    assert_eq!(server.read(&mut there, &mut buffer).unwrap(), 9_006);
    assert!(there.incoming.borrow().is_empty());
    // A short answer takes one read of the socket, without a second read that returns no bytes.
    assert_eq!(server.write(&mut there, b"answer").unwrap(), 6);
    let mut small = [0; 4_096];
    assert_eq!(client.read(&mut here, &mut small).unwrap(), 6);
    assert_eq!(server.write(&mut there, b"answer").unwrap(), 6);
    let before = here.reads;
    assert_eq!(client.read(&mut here, &mut small).unwrap(), 6);
    assert_eq!(here.reads - before, 1);
}

#[test]
fn no_data_behind_a_forged_record_is_delivered() {
    let ((mut client, mut here), (mut server, mut there)) = opened(1 << 20);
    assert_eq!(client.write(&mut here, &[b'x'; 9_000]).unwrap(), 9_000);
    // Enough bytes for several reads; the last read completes the forged record.
    here.write_all(&[&[0x17, 3, 3, 0x10, 0][..], &[0; 0x1000], b"in the clear"].concat()).unwrap();
    let mut buffer = [0; 64 << 10];
    let refused = server.read(&mut there, &mut buffer).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidData);
}

#[test]
fn data_beyond_the_buffer_is_returned_by_the_next_read() {
    let ((mut client, mut here), (mut server, mut there)) = opened(1 << 20);
    assert_eq!(client.write(&mut here, b"0123456789").unwrap(), 10);
    let mut small = [0; 4];
    for size in [4, 4, 2] {
        assert_eq!(server.read(&mut there, &mut small).unwrap(), size);
    }
}

#[test]
fn a_close_notify_and_a_lost_connection_both_end_the_session() {
    let ((mut client, mut here), (mut server, mut there)) = opened(1 << 20);
    client.write(&mut here, b"bye").unwrap();
    client.close(&mut here);
    let mut buffer = [0; 100];
    assert!(!server.has_ended());
    assert_eq!(server.read(&mut there, &mut buffer).unwrap(), 3);
    assert!(server.has_ended(), "the last word came in the same read, and the socket will not repeat it");
    assert_eq!(server.read(&mut there, &mut buffer).unwrap(), 0);
    let ((mut client, mut here), (_server, there)) = opened(1 << 20);
    *there.hung_up.borrow_mut() = true;
    assert_eq!(client.read(&mut here, &mut buffer).unwrap(), 0);
}

#[test]
fn sessions_are_resumed_only_if_configured() {
    let acceptor = acceptor();
    for resume in [true, false] {
        let spec = ClientSpec { resume, ..trusting(&acceptor) };
        let connector = Connector::new(&spec, "localhost", &[]).unwrap();
        let resumed = [(), ()].map(|()| {
            let ((mut client, mut here), (mut server, mut there)) = open(&acceptor, &connector, 1 << 20);
            // Session tickets arrive with the first answer.
            server.write(&mut there, b"x").unwrap();
            client.read(&mut here, &mut [0; 10]).unwrap();
            assert_eq!(client.is_resumed(), server.is_resumed());
            server.is_resumed()
        });
        assert_eq!(resumed, [false, resume]);
    }
}

#[test]
fn each_tls_fault_has_a_separate_name() {
    let (ours, other) = (acceptor(), acceptor());
    let by = |spec: &ClientSpec, host: &str| fault(&ours, &Connector::new(spec, host, &[]).unwrap());
    assert_eq!(by(&trusting(&ours), "127.0.0.1"), None);
    assert_eq!(by(&trusting(&other), "127.0.0.1"), Some(Fault::Untrusted));
    assert_eq!(by(&trusting(&ours), "example.org"), Some(Fault::WrongName));
    let anybody = ClientSpec { insecure: true, ..ClientSpec::default() };
    assert_eq!(by(&anybody, "example.org"), None);
}

/// A server whose certificate, as `openssl req -x509` makes it, is also the authority that signed it.
fn self_signed(folder: &Path, from: i32, to: i32) -> (Acceptor, ClientSpec) {
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (params.not_before, params.not_after) = (date_time_ymd(from, 1, 1), date_time_ymd(to, 1, 1));
    let key = KeyPair::generate().unwrap();
    let made = params.self_signed(&key).unwrap();
    let (cert, secret) = (folder.join("cert.pem"), folder.join("key.pem"));
    std::fs::write(&cert, made.pem()).unwrap();
    std::fs::write(&secret, key.serialize_pem()).unwrap();
    let spec = ServerSpec { cert: Some(cert.clone()), key: Some(secret), ..ServerSpec::default() };
    (Acceptor::new(&spec, &[]).unwrap(), ClientSpec { ca: Some(cert), ..ClientSpec::default() })
}

#[test]
fn a_self_signed_certificate_is_trusted_only_for_its_name_and_while_valid() {
    let folder = tempfile::tempdir().unwrap();
    let (server, itself) = self_signed(folder.path(), 2020, 2100);
    let by = |spec: &ClientSpec, host: &str| fault(&server, &Connector::new(spec, host, &[]).unwrap());
    assert_eq!(by(&itself, "localhost"), None);
    assert_eq!(by(&itself, "example.org"), Some(Fault::WrongName));
    assert_eq!(by(&trusting(&acceptor()), "localhost"), Some(Fault::Authority), "another authority");

    let (server, itself) = self_signed(folder.path(), 2020, 2021);
    let connector = Connector::new(&itself, "localhost", &[]).unwrap();
    assert_eq!(fault(&server, &connector), Some(Fault::Expired));
}

#[test]
fn a_client_without_tls_can_be_answered_in_plain_text() {
    let (mut here, mut there) = wire(1 << 16);
    let mut server = Session::accept(&acceptor()).unwrap();
    here.write_all(b"\x30\x0c\x02\x01\x01\x60\x07\x02\x01\x03\x04\x00\x80\x00").unwrap();
    let error = server.read(&mut there, &mut [0; 100]).unwrap_err();
    assert_eq!(Fault::of(&error), Some(Fault::NotTls));
    assert_eq!(server.write(&mut there, b"in plain").unwrap(), 8);
    let mut answer = [0; 100];
    assert_eq!(here.read(&mut answer).unwrap(), 8);
    assert_eq!(&answer[..8], b"in plain");
}

#[test]
fn a_disconnect_during_the_handshake_is_reported_as_closed() {
    let (mut here, _there) = wire(1 << 16);
    let connector = Connector::new(&trusting(&acceptor()), "localhost", &[]).unwrap();
    let mut client = Session::connect(&connector).unwrap();
    assert!(!client.shake(&mut here).unwrap());
    *here.hung_up.borrow_mut() = true;
    assert_eq!(Fault::of(&client.shake(&mut here).unwrap_err()), Some(Fault::Closed));
}

#[test]
fn an_incomplete_record_is_distinguished_from_no_record() {
    let ((mut client, mut here), (mut server, mut there)) = opened(1 << 20);
    assert!(!server.is_within_record());
    let before: usize = [(); 3].map(|()| client.write(&mut here, &[b'x'; 700]).unwrap()).iter().sum();
    let records: Vec<u8> = there.incoming.borrow_mut().drain(..).collect();
    server.take_moved();
    let (mut buffer, mut came) = ([0; 4_096], 0);
    for (at, byte) in records.iter().enumerate() {
        there.incoming.borrow_mut().push_back(*byte);
        match server.read(&mut there, &mut buffer) {
            Ok(count) => came += count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        // Three records of equal length.
        let whole = (at + 1).is_multiple_of(records.len() / 3);
        assert_eq!(server.is_within_record(), !whole, "after {at} bytes");
        assert_eq!(server.take_moved(), 1);
    }
    assert_eq!(came, before);
}
