//! All spellings of a name have one normal form; different names have different normal forms.

use proptest::collection::vec;
use proptest::prelude::*;
use wire::ber::write_octets;
use wire::dn::{Dn, Plain, escape_value};

/// Types and values from the root down; no value begins or ends with an invisible character.
type Name = Vec<Vec<(String, String)>>;

fn name() -> impl Strategy<Value = Name> {
    let value = "[a-z,+\"\\\\<>;=#é山]( ?[a-z,+\"\\\\<>;=#é山]){0,4}";
    let rdn = vec(("[a-c][a-z0-9-]{0,3}", value), 1..3).prop_map(|mut pairs| {
        // The order within an RDN has no meaning.
        pairs.sort();
        pairs.dedup_by_key(|(kind, _)| kind.clone());
        pairs
    });
    vec(rdn, 0..5)
}

/// Choices among the spellings of a name. After the last choice the sequence starts again.
#[derive(Debug)]
struct Choices(Vec<u8>, usize);

impl Choices {
    fn next(&mut self, ways: usize) -> usize {
        self.1 += 1;
        usize::from(self.0[self.1 % self.0.len()]) % ways
    }

    fn space(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice([&b""[..], b" ", b"  "][self.next(3)]);
    }

    fn value(&mut self, value: &str, out: &mut Vec<u8>) {
        let value = if self.next(2) == 0 { value.to_owned() } else { value.to_uppercase() };
        match self.next(4) {
            0 => escape_value(value.as_bytes(), out),
            1 => value.bytes().for_each(|byte| out.extend(format!("\\{byte:02x}").into_bytes())),
            2 => {
                out.push(b'"');
                for letter in value.chars() {
                    if matches!(letter, '"' | '\\') {
                        out.push(b'\\');
                    }
                    out.extend(letter.to_string().into_bytes());
                }
                out.push(b'"');
            }
            _ => {
                let mut encoded = Vec::new();
                write_octets(&mut encoded, value.as_bytes());
                out.push(b'#');
                encoded.iter().for_each(|byte| out.extend(format!("{byte:02X}").into_bytes()));
            }
        }
    }

    fn spell(&mut self, name: &Name) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, rdn) in name.iter().enumerate() {
            if at > 0 {
                out.push(b",;"[self.next(2)]);
                self.space(&mut out);
            }
            let turned = self.next(2) == 1;
            let pairs: Vec<_> = if turned { rdn.iter().rev().collect() } else { rdn.iter().collect() };
            for (at, (kind, value)) in pairs.into_iter().enumerate() {
                if at > 0 {
                    out.push(b'+');
                    self.space(&mut out);
                }
                let kind = if self.next(2) == 0 { kind.clone() } else { kind.to_uppercase() };
                out.extend_from_slice(kind.as_bytes());
                self.space(&mut out);
                out.push(b'=');
                self.space(&mut out);
                self.value(value, &mut out);
                self.space(&mut out);
            }
        }
        out
    }
}

fn choices() -> impl Strategy<Value = Choices> {
    vec(any::<u8>(), 1..40).prop_map(|choices| Choices(choices, 0))
}

fn normal(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Dn::parse(text)
        .unwrap_or_else(|error| panic!("{}: {error}", text.escape_ascii()))
        .write_normal(&Plain, &mut out);
    out
}

/// The parts of a name as they are read, with the case of letters removed.
fn parts(text: &[u8]) -> Name {
    let mut buffer = Vec::new();
    let rdns = Dn::parse(text).unwrap().rdns().map(|rdn| {
        let mut pairs: Vec<(String, String)> = rdn
            .pairs()
            .map(|pair| {
                let value = String::from_utf8(pair.value.decode(&mut buffer).to_vec()).unwrap();
                (String::from_utf8_lossy(pair.attribute).to_lowercase(), value.to_lowercase())
            })
            .collect();
        pairs.sort();
        pairs
    });
    rdns.collect()
}

proptest! {
    #[test]
    fn every_spelling_of_a_dn_reads_back_as_the_dn(name in name(), mut choices in choices()) {
        prop_assert_eq!(parts(&choices.spell(&name)), name);
    }

    #[test]
    fn spellings_of_one_dn_have_one_normal_form(name in name(), mut one in choices(), mut two in choices()) {
        let (one, two) = (one.spell(&name), two.spell(&name));
        prop_assert_eq!(normal(&one), normal(&two), "{} {}", one.escape_ascii(), two.escape_ascii());
        // The normal form itself is a spelling of the name.
        prop_assert_eq!(parts(&normal(&one)), name);
    }

    #[test]
    fn different_distinguished_names_have_different_normal_forms(
        one in name(), two in name(), mut choices in choices(),
    ) {
        prop_assume!(one != two);
        prop_assert_ne!(normal(&choices.spell(&one)), normal(&choices.spell(&two)));
    }
}
