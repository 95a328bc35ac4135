//! A hostile peer, or an attacker between the two sides: each side delivers only bytes that the other side
//! sent.

use std::io::ErrorKind;
use std::sync::LazyLock;

use crate::common::{End, acceptor, open, trusting, wire};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use tls::{Acceptor, Connector, Session};

static ACCEPTOR: LazyLock<Acceptor> = LazyLock::new(acceptor);
static CONNECTOR: LazyLock<Connector> =
    LazyLock::new(|| Connector::new(&trusting(&ACCEPTOR), "localhost", &[]).unwrap());

/// Damage to bytes in transit.
#[derive(Debug, Clone)]
enum Harm {
    Flip(Index, u8),
    Cut(Index),
    Insert(Index, Vec<u8>),
    /// Repeats the bytes between two positions.
    Repeat(Index, Index),
    Drop(Index, Index),
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = any::<Index>;
    prop_oneof![
        (at(), 1..=u8::MAX).prop_map(|(at, bits)| Harm::Flip(at, bits)),
        at().prop_map(Harm::Cut),
        (at(), vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Harm::Insert(at, bytes)),
        (at(), at()).prop_map(|(from, to)| Harm::Repeat(from, to)),
        (at(), at()).prop_map(|(from, to)| Harm::Drop(from, to)),
    ]
}

fn apply(harm: &Harm, bytes: &mut Vec<u8>) {
    let place = |at: &Index| at.index(bytes.len() + 1);
    match harm {
        _ if bytes.is_empty() => {}
        Harm::Flip(at, bits) => {
            let at = at.index(bytes.len());
            bytes[at] ^= bits;
        }
        Harm::Cut(at) => bytes.truncate(at.index(bytes.len())),
        Harm::Insert(at, new) => drop(bytes.splice(place(at)..place(at), new.iter().copied())),
        Harm::Repeat(one, two) | Harm::Drop(one, two) => {
            let (from, to) = (place(one).min(place(two)), place(one).max(place(two)));
            let again = if matches!(harm, Harm::Repeat(..)) { bytes[from..to].repeat(2) } else { Vec::new() };
            bytes.splice(from..to, again);
        }
    }
}

/// Reads until the session has no more bytes, ends or fails. Returns the delivered bytes.
fn everything(session: &mut Session, end: &mut End) -> Vec<u8> {
    let (mut all, mut room) = (Vec::new(), [0; 9_000]);
    for _ in 0..10_000 {
        match session.read(end, &mut room) {
            Ok(0) => return all,
            Ok(count) => all.extend_from_slice(&room[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return all,
        }
    }
    panic!("it goes on reading what is not there");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn only_the_intact_beginning_of_damaged_data_is_delivered(
        parts in vec(vec(any::<u8>(), 1..3000), 1..8), harms in vec(harm(), 1..4)
    ) {
        let ((mut client, mut here), (mut server, mut there)) = open(&ACCEPTOR, &CONNECTOR, 1 << 20);
        for part in &parts {
            prop_assert_eq!(client.write(&mut here, part).unwrap(), part.len());
        }
        let sent: Vec<u8> = here.outgoing.borrow_mut().drain(..).collect();
        let mut harmed = sent.clone();
        harms.iter().for_each(|harm| apply(harm, &mut harmed));
        here.outgoing.borrow_mut().extend(&harmed);
        let (sent_text, come) = (parts.concat(), everything(&mut server, &mut there));
        prop_assert!(sent_text.starts_with(&come));
        prop_assert!(come != sent_text || looked_at(&harmed).starts_with(&looked_at(&sent)), "whole only if all of it came");
        prop_assert!(come == sent_text || harmed != sent);
    }

    #[test]
    fn bytes_that_are_no_tls_handshake_open_no_session(bytes in vec(any::<u8>(), 0..300), is_record: bool) {
        let (here, mut there) = wire(1 << 16);
        if is_record {
            // The header of a handshake record, so that the bytes behind it are parsed.
            here.outgoing.borrow_mut().extend([22, 3, 1, (bytes.len() >> 8) as u8, bytes.len() as u8]);
        }
        here.outgoing.borrow_mut().extend(&bytes);
        for mut session in [Session::accept(&ACCEPTOR).unwrap(), Session::connect(&CONNECTOR).unwrap()] {
            prop_assert!(!matches!(session.shake(&mut there), Ok(true)));
            prop_assert!(!session.is_open());
        }
    }

    #[test]
    fn a_handshake_damaged_in_transit_opens_the_session_on_at_most_one_side(harms in vec(harm(), 1..3), whose: bool) {
        let (mut here, mut there) = wire(1 << 16);
        let (mut client, mut server) = (Session::connect(&CONNECTOR).unwrap(), Session::accept(&ACCEPTOR).unwrap());
        let mut is_harmed = false;
        for turn in 0..6 {
            let _ = client.shake(&mut here);
            is_harmed |= whose && turn == 0 && change(&here, &harms);
            let _ = server.shake(&mut there);
            is_harmed |= !whose && turn == 0 && change(&there, &harms);
        }
        prop_assert!(!(is_harmed && client.is_open() && server.is_open()));
    }
}

/// Damages the bytes that an end has sent; returns whether TLS can notice the change.
fn change(end: &End, harms: &[Harm]) -> bool {
    let sent: Vec<u8> = end.outgoing.borrow_mut().drain(..).collect();
    let mut harmed = sent.clone();
    harms.iter().for_each(|harm| apply(harm, &mut harmed));
    end.outgoing.borrow_mut().extend(&harmed);
    !looked_at(&harmed).starts_with(&looked_at(&sent))
}

/// Removes the parts that TLS 1.3 ignores: records of the type "change cipher spec", which may arrive at any
/// time without a meaning (RFC 8446 section 5), and the constant version in each record (sections 5.1 and
/// 5.2).
fn looked_at(bytes: &[u8]) -> Vec<u8> {
    const CHANGE_CIPHER_SPEC: u8 = 20;
    let (mut rest, mut found) = (bytes, Vec::new());
    while let [kind, _, _, upper, lower, behind @ ..] = rest {
        let length = usize::from(u16::from_be_bytes([*upper, *lower]));
        let (content, next) = behind.split_at(behind.len().min(length));
        if (*kind, content) != (CHANGE_CIPHER_SPEC, &[1]) {
            found.extend([&[*kind, *upper, *lower], content].concat());
        }
        rest = next;
    }
    found.extend(rest);
    found
}

/// Two random changes that neither side reads and that were once mistaken for damage.
#[test]
fn changes_of_bytes_that_tls_ignores_are_no_damage() {
    let with = |specs: &[u8]| [&[22, 3, 3, 0, 2, 7, 7], specs, &[23, 3, 3, 0, 1, 9]].concat();
    let (nothing, spec) = (with(&[]), [20, 3, 3, 0, 1, 1]);
    assert_eq!(looked_at(&with(&spec.repeat(2))), looked_at(&nothing));
    assert_ne!(looked_at(&with(&[20, 3, 3, 0, 1, 2])), looked_at(&nothing));
    assert_eq!(looked_at(&[23, 3, 1, 0, 1, 7]), looked_at(&[23, 3, 3, 0, 1, 7]));
    assert_ne!(looked_at(&[23, 3, 3, 0, 1, 6]), looked_at(&[23, 3, 3, 0, 1, 7]));
}
