//! A client that follows a script.

use std::collections::BTreeMap;

use wire::ldap::ResultCode;

use super::view::{FAMILIES, find, values};
use crate::common::{Client, person as dn};

const STEPS: usize = 1_500;
const OWN: usize = 8;
pub const SHARED: usize = 5;

/// The random generator splitmix64.
pub struct Dice(pub u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % sides
    }
}

/// The final state that a writer expects, by the answers to its requests.
#[derive(Default)]
pub struct Account {
    pub own: BTreeMap<String, usize>,
    /// For each shared name, the number of additions minus the number of deletions.
    pub shared: [i64; SHARED],
    pub increments: u64,
    pub wanderings: u64,
    /// The numbers of requested adds, deletes, modifies and renames.
    pub requests: [u64; 4],
}

pub struct Writer {
    pub client: Client,
    pub dice: Dice,
    pub number: usize,
    pub account: Account,
}

impl Writer {
    fn own(&mut self) -> String {
        format!("w{}-{}", self.number, self.dice.roll(OWN))
    }

    fn add(&mut self, name: &str, family: usize) -> ResultCode {
        self.account.requests[0] += 1;
        let [sn, title] = values(family);
        let attributes: &[(&str, &[&str])] =
            &[("objectClass", &["person"]), ("cn", &[name]), ("sn", &[&sn]), ("title", &[&title])];
        self.client.add(&dn(name), attributes).code
    }

    fn delete(&mut self, name: &str) -> ResultCode {
        self.account.requests[1] += 1;
        self.client.delete(&dn(name)).code
    }

    fn modify(&mut self, name: &str, family: usize) -> ResultCode {
        self.account.requests[2] += 1;
        let [sn, title] = values(family);
        self.client.modify(&dn(name), &[(2, "sn", &[&sn]), (2, "title", &[&title])]).code
    }

    fn rename(&mut self, from: &str, to: &str) -> ResultCode {
        self.account.requests[3] += 1;
        self.client.rename(&dn(from), &format!("cn={to}"), None).code
    }

    pub fn run(mut self) -> Account {
        for _ in 0..STEPS {
            if self.dice.roll(3) == 0 { self.shared_step() } else { self.own_step() }
        }
        self.account
    }

    /// The result of a step on own entries is known in advance.
    fn own_step(&mut self) {
        let (name, family) = (self.own(), self.dice.roll(FAMILIES));
        let expected_family = self.account.own.get(&name).copied();
        let absent_or = |code| if expected_family.is_some() { code } else { ResultCode::NO_SUCH_OBJECT };
        match self.dice.roll(6) {
            0 | 1 => {
                let free = expected_family.is_none();
                let expected = if free { ResultCode::SUCCESS } else { ResultCode::ENTRY_ALREADY_EXISTS };
                assert_eq!(self.add(&name, family), expected, "add {name}");
                self.account.own.entry(name).or_insert(family);
            }
            2 => {
                assert_eq!(self.delete(&name), absent_or(ResultCode::SUCCESS), "delete {name}");
                self.account.own.remove(&name);
            }
            3 => {
                assert_eq!(self.modify(&name, family), absent_or(ResultCode::SUCCESS), "modify {name}");
                self.account.own.entry(name).and_modify(|stored| *stored = family);
            }
            4 => {
                let to = self.own();
                let is_taken = to != name && self.account.own.contains_key(&to);
                let expected = if is_taken { ResultCode::ENTRY_ALREADY_EXISTS } else { ResultCode::SUCCESS };
                assert_eq!(self.rename(&name, &to), absent_or(expected), "rename {name} to {to}");
                if !is_taken && let Some(family) = self.account.own.remove(&name) {
                    self.account.own.insert(to, family);
                }
            }
            _ => {
                let entries = find(&mut self.client, &format!("(cn={name})"));
                assert_eq!(
                    entries.iter().map(super::view::family).collect::<Vec<_>>(),
                    Vec::from_iter(expected_family),
                    "{name}"
                );
            }
        }
    }

    fn shared_step(&mut self) {
        let (number, family) = (self.dice.roll(SHARED), self.dice.roll(FAMILIES));
        let name = format!("shared-{number}");
        match self.dice.roll(5) {
            0 => match self.add(&name, family) {
                ResultCode::SUCCESS => self.account.shared[number] += 1,
                code => assert_eq!(code, ResultCode::ENTRY_ALREADY_EXISTS),
            },
            1 => match self.delete(&name) {
                ResultCode::SUCCESS => self.account.shared[number] -= 1,
                code => assert_eq!(code, ResultCode::NO_SUCH_OBJECT),
            },
            2 => {
                let code = self.modify(&name, family);
                assert!(matches!(code, ResultCode::SUCCESS | ResultCode::NO_SUCH_OBJECT), "{code}");
            }
            3 => {
                self.account.requests[2] += 1;
                let code = self.client.modify(&dn("counter"), &[(3, "uidNumber", &["1"])]).code;
                assert_eq!(code, ResultCode::SUCCESS);
                self.account.increments += 1;
            }
            _ => {
                let (from, to) = [("here", "there"), ("there", "here")][self.dice.roll(2)];
                match self.rename(from, to) {
                    ResultCode::SUCCESS => self.account.wanderings += 1,
                    code => assert_eq!(code, ResultCode::NO_SUCH_OBJECT),
                }
            }
        }
    }
}
