//! Requests that cost a server more than the client.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use tls::{Acceptor, Fault, ServerSpec, Session};

/// Serves a plain rustls client, because sitebench's client never requests keys; returns the fault that ends
/// the session.
fn served(act: impl FnOnce(&mut ClientConnection, &mut TcpStream) -> std::io::Result<()>) -> Option<Fault> {
    let acceptor = Acceptor::new(&ServerSpec::default(), &[]).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(acceptor.made_ca().unwrap().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = thread::spawn(move || {
        let mut socket = listener.accept().unwrap().0;
        let mut session = Session::accept(&acceptor).unwrap();
        loop {
            match session.read_some(&mut socket, &mut [0; 100]) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => return Fault::of(&error),
            }
        }
    });
    let mut client = ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap();
    while client.is_handshaking() {
        client.complete_io(&mut socket).unwrap();
    }
    // The write fails if the server has already cut the client off.
    let _ = act(&mut client, &mut socket);
    // A socket closed with unread bytes is reset, and the peer then loses the bytes sent before.
    let _ = socket.shutdown(Shutdown::Write);
    let _ = socket.read_to_end(&mut Vec::new());
    server.join().unwrap()
}

/// Each request makes the server generate keys and answer, and carries no data.
#[test]
fn a_client_that_only_requests_new_keys_is_cut_off() {
    let flood = |bytes: &'static [u8]| {
        served(move |client, socket| {
            for _ in 0..100 {
                client.refresh_traffic_keys().unwrap();
                client.writer().write_all(bytes)?;
                while client.wants_write() {
                    client.write_tls(socket)?;
                }
            }
            Ok(())
        })
    };
    assert_eq!(flood(b""), Some(Fault::Broken));
    assert_eq!(flood(b"x"), None, "with something between, it is how long connections stay safe");
}
