//! Hashes compared with values of other implementations: Python's hashlib, argon2-cffi, and SHA-crypt by its
//! specification.
#![allow(clippy::unwrap_used, reason = "this is a test")]

use hashes::{Hash, HashError, MadeError, Quick, SALT, Slow, is_of};
use proptest::prelude::*;

const PASSWORD: &str = "Pw1-pässword";

fn salt() -> [u8; SALT] {
    std::array::from_fn(|index| 240 + index as u8)
}

/// For each hash, another implementation's value for `PASSWORD` and `salt()`.
const MADE: [(&str, &str); 6] = [
    (
        "pbkdf2-sha256:10000",
        "{PBKDF2-SHA256}10000$8PHy8/T19vf4.fr7/P3./w$GH6lBfPaBgdpl7cFK9WeimjW5VUufRWf78YXw0dSRN4",
    ),
    (
        "pbkdf2-sha512:1000",
        "{PBKDF2-SHA512}1000$8PHy8/T19vf4.fr7/P3./w$UU8yqLWnq.vD2IbGPXMHY7WB0j8ag3uQTc5rqAR6e78ELoP0g9rOX0XbSM1kcC3OpCT2NtpuHTkJgkJrfWtIeg",
    ),
    (
        "crypt",
        "{CRYPT}$6$klmnopqrstuvwxyz$DICpLt6z/8RWXv6P72o0Xs4ucBeMGjnLStHAX61IycocDRPfOBo8jCtD7ruqgtm9EitDJyRr2loNeS55qNrFD.",
    ),
    (
        "crypt:1234",
        "{CRYPT}$6$rounds=1234$klmnopqrstuvwxyz$K3R0KaxO/4Z8oS.oQQ9s1hfNYp.DKj.wXMnBCJXbnvD6JTpxuWEE0kTB1IKqed6M8M98hLoAsjrLNFztmbizu1",
    ),
    (
        "argon2:4m",
        "{ARGON2}$argon2id$v=19$m=4096,t=3,p=1$8PHy8/T19vf4+fr7/P3+/w$dY7+ugCtofbnzu5DRlyqFRxRHqTEAWURHffWkHsRwGY",
    ),
    (
        "argon2:64k:1",
        "{ARGON2}$argon2id$v=19$m=64,t=1,p=1$8PHy8/T19vf4+fr7/P3+/w$hjTQzrnZmZ8K6uzN5ma7ga8wDNGNbW8r3FepWpxkYO0",
    ),
];

#[test]
fn hash_values_equal_those_of_other_implementations_and_are_accepted() {
    for (name, expected) in MADE {
        let hash: Hash = name.parse().unwrap();
        let value = hash.value(PASSWORD.as_bytes(), salt()).unwrap();
        assert_eq!(String::from_utf8(value).unwrap(), expected, "{name}");
        assert!(expected.starts_with(hash.scheme()) && hash.is_slow(), "{name}");
        let stored = Slow::parse(expected.as_bytes()).unwrap();
        assert_eq!(stored.is_of(PASSWORD.as_bytes()), Some(true), "{name}");
        assert_eq!(stored.memory_bytes(), hash.memory_bytes());
        for wrong in ["", "Pw1-p", expected] {
            assert_eq!(stored.is_of(wrong.as_bytes()), Some(false), "{name} {wrong:?}");
        }
    }
}

#[test]
fn hash_spellings_of_other_servers_are_read() {
    // argon2i with four lanes, and 389-DS's own spelling of PBKDF2.
    for (password, value) in [
        (
            PASSWORD,
            "{ARGON2}$argon2i$v=19$m=64,t=2,p=4$8PHy8/T19vf4+fr7/P3+/w$ClERDUxFBQcmnIUneiuaA9zjqJQ21jYBH5zKXnVpqbM",
        ),
        (
            PASSWORD,
            "{pbkdf2-sha512}1000$8PHy8/T19vf4+fr7/P3+/w==$UU8yqLWnq+vD2IbGPXMHY7WB0j8ag3uQTc5rqAR6e78ELoP0g9rOX0XbSM1kcC3OpCT2NtpuHTkJgkJrfWtIeg==",
        ),
    ] {
        assert_eq!(Slow::parse(value.as_bytes()).unwrap().is_of(password.as_bytes()), Some(true), "{value}");
    }
}

#[test]
fn hash_names_read_back_as_written() {
    for (text, shown) in [
        ("clear", "clear"),
        ("ssha512", "ssha512"),
        ("crypt:5000", "crypt"),
        ("pbkdf2-sha256:600000", "pbkdf2-sha256:600000"),
        ("argon2:65536k:3", "argon2:64m"),
        ("argon2:1g:1", "argon2:1g:1"),
        ("argon2:19456k:2", "argon2:19m:2"),
        ("argon2:9k", "argon2:9k"),
    ] {
        let hash: Hash = text.parse().unwrap();
        assert_eq!(hash.to_string(), shown);
        assert_eq!(shown.parse::<Hash>().unwrap(), hash);
    }
}

#[test]
fn an_invalid_hash_name_is_refused_with_a_valid_example() {
    for (text, said) in [
        ("md5", "there is no hash \"md5\"; use clear, ssha"),
        ("", "there is no hash"),
        ("SSHA", "there is no hash"),
        ("ssha:8", "\"ssha\" has nothing behind its name"),
        ("pbkdf2-sha256", "write it like pbkdf2-sha256:600000"),
        ("pbkdf2-sha256:0", "\"0\" is no number of rounds that pbkdf2-sha256 can have; write 1 to 10000000"),
        ("pbkdf2-sha512:10000001", "write 1 to 10000000"),
        ("pbkdf2-sha512:+5", "write 1 to 10000000"),
        ("crypt:999", "write 1000 to 10000000"),
        ("crypt:", "is no number of rounds"),
        ("argon2", "\"argon2\" does not say its memory; write it like argon2:64m"),
        ("argon2:64", "\"64\" is no memory of argon2"),
        ("argon2:7k", "8k or more"),
        ("argon2:m", "is no memory"),
        ("argon2:4096g", "is no memory"),
        ("argon2:64m:0", "\"0\" is no number of passes that argon2 can have; write 1 to 100"),
        ("argon2:64m:3:1", "is no number of passes"),
    ] {
        let error = text.parse::<Hash>().unwrap_err().to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn a_fast_hash_is_refused_where_a_slow_hash_is_required() {
    for name in ["clear", "ssha", "ssha512"] {
        let hash: Hash = name.parse().unwrap();
        assert_eq!(hash.value(b"x", salt()), Err(MadeError::NotSlow(hash)));
        assert!(!hash.is_slow());
    }
    assert_eq!("x".parse::<Hash>(), Err(HashError::Unknown("x".into())));
}

/// Values that a client may store to exhaust the server: the cost is known before hashing begins, or the
/// value is not read.
#[test]
fn the_cost_of_a_hostile_hash_value_is_known_before_hashing() {
    let salted = "8PHy8/T19vf4+fr7/P3+/w$GH6lBfPaBgdpl7cFK9WeimjW5VUufRWf78YXw0dSRN4";
    let large = Slow::parse(format!("{{ARGON2}}$argon2id$v=19$m=4294967295,t=1,p=1${salted}").as_bytes());
    assert_eq!(large.unwrap().memory_bytes(), 4_294_967_295 * 1024);
    let long = Slow::parse(format!("{{ARGON2}}$argon2id$v=19$m=8,t=4294967295,p=1${salted}").as_bytes());
    assert!(long.unwrap().nanoseconds(b"") > 60_000_000_000);
    let rounds =
        "{PBKDF2-SHA256}4294967295$8PHy8/T19vf4.fr7/P3./w$GH6lBfPaBgdpl7cFK9WeimjW5VUufRWf78YXw0dSRN4";
    assert!(Slow::parse(rounds.as_bytes()).unwrap().nanoseconds(b"") > 60_000_000_000);
    let crypt = MADE[2].1.replace("$6$", "$6$rounds=4294967295$");
    assert!(Slow::parse(crypt.as_bytes()).unwrap().nanoseconds(b"") > 60_000_000_000);
    // A long password lengthens every round of SHA-crypt.
    let crypt = Slow::parse(MADE[2].1.as_bytes()).unwrap();
    assert!(crypt.nanoseconds(&[b'x'; 1024]) > 10 * crypt.nanoseconds(b"x"));
    for (numbers, why) in [
        ("m=4294967296,t=1,p=1", "more than 32 bits"),
        ("m=4294967295,t=0,p=1", "no pass"),
        ("m=8,t=1,p=536870913", "eight times p overflows"),
        ("m=8,t=1,p=2", "less than eight blocks a lane"),
        ("m=8,t=1,p=0", "no lane"),
        ("m=8,t=1", "a number is missing"),
        ("m=8,t=1,p=1,x=1", "one too many"),
        ("m=-8,t=1,p=1", "a sign"),
    ] {
        let value = format!("{{ARGON2}}$argon2id$v=19${numbers}${salted}");
        assert_eq!(Slow::parse(value.as_bytes()), None, "{why}");
    }
}

proptest! {
    #[test]
    fn no_stored_value_makes_the_hash_reader_panic(
        scheme in "\\{(ARGON2|CRYPT|PBKDF2-SHA256|x)?\\}?", rest in "[$a-z0-9=,.+/]{0,40}", raw: Vec<u8>
    ) {
        Slow::parse(&raw);
        if let Some(slow) = Slow::parse(format!("{scheme}{rest}").as_bytes()) {
            slow.nanoseconds(b"x");
        }
    }
}

#[test]
fn hashes_of_slappasswd_are_accepted() {
    // slappasswd -h {SHA} -s secret; the same with {SSHA}
    assert!(is_of(b"{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", b"secret"));
    assert!(is_of(b"{SSHA}FEXEKxI/yEwSMXu8joi3Km14XI7eBtMT", b"secret"));
    assert!(!is_of(b"{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=", b"other"));
}

#[test]
fn plain_text_passwords_are_compared_unchanged() {
    assert!(is_of(b"secret", b"secret"));
    assert!(!is_of(b"secret", b"secre"));
    assert!(is_of(b"{odd", b"{odd"));
}

#[test]
fn an_unknown_hash_scheme_accepts_no_password() {
    assert!(!is_of(b"{CRYPT}abc", b"{CRYPT}abc"));
    assert!(!is_of(b"{CRYPT}abc", b"abc"));
    assert!(!is_of(b"{SSHA}", b""));
    assert!(!is_of(b"{SSHA}!!!", b""));
}

#[test]
fn a_fast_hash_has_the_announced_length_and_accepts_only_its_password() {
    for hash in [Quick::Sha1, Quick::Sha256, Quick::Sha512] {
        for salt in [&[7; 8][..], &[7; 16]] {
            let mut value = Vec::new();
            hash.write_value(PASSWORD.as_bytes(), salt, &mut value);
            assert_eq!(value.len(), hash.value_bytes(salt.len()));
            assert!(is_of(&value, PASSWORD.as_bytes()) && !is_of(&value, b"secret"), "{hash:?}");
        }
    }
}
