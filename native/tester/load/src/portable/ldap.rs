//! Answers of LDAP from values.

use std::sync::Arc;

use people::Population;
use wire::ber::tag;
use wire::ldap::answer::{self, Verdict};
use wire::ldap::request::write_attribute;
use wire::ldap::{Operation, Request, ResultCode, op};

use super::{Judged, TurnError, User, Users};
use crate::engine::{self, StartError};
use crate::fill::Tables;
use crate::ldap::{Ldap, LdapConfig, NameList};
use crate::program::{MAIN, Op};

pub type DirectoryUsers = Users<Ldap>;

pub type DirectoryUser = User<Ldap>;

/// An attribute with its values.
pub type Values = (String, Vec<Vec<u8>>);

/// An answer from a portable client.
#[derive(Debug, Clone, Default)]
pub struct LdapAnswer {
    /// The result code (RFC 4511 section 4.1.9).
    pub code: u32,
    /// The server's diagnostic message.
    pub diagnostic: String,
    /// For each entry its DN and its attributes.
    pub entries: Vec<(String, Vec<Values>)>,
    /// The value of an extended response.
    pub value: Option<Vec<u8>>,
}

impl Users<Ldap> {
    pub fn new_ldap(
        mut config: LdapConfig,
        people: Option<Arc<Population>>,
        names: Option<Arc<NameList>>,
        tables: &Tables,
    ) -> Result<Self, StartError> {
        // All users run on one thread.
        config.threads = 1;
        let (compiled, protocol) = engine::directory(&mut config, people, names, tables)?;
        if let (false, Some(spec)) = (compiled.pools.is_empty(), config.scenarios.first()) {
            return Err(super::cannot(&spec.name, "connections that users share (pool, outstanding)"));
        }
        let names: Vec<_> = config.scenarios.iter().map(|spec| spec.name.clone()).collect();
        for (number, program) in compiled.programs.iter().enumerate() {
            for op in &program.ops {
                let feature = match op {
                    Op::Await => "schedules of a rate",
                    Op::Connect { endpoint, .. } if *endpoint != MAIN => "tls of a connection",
                    Op::Exchange { request, .. } if request.page_size.is_some() => "page_size",
                    // `LdapAnswer` has no controls.
                    Op::Exchange { request, .. } if request.expects_control() => "expect.control",
                    _ => continue,
                };
                return Err(super::cannot(&names[number], feature));
            }
        }
        let (seed, rng) = config.seeds(0);
        Ok(Self::new(names, compiled, protocol(seed, 0), rng))
    }
}

impl User<Ldap> {
    /// Judges an answer.
    pub fn answered_ldap(
        &mut self,
        users: &mut Users<Ldap>,
        answer: &LdapAnswer,
    ) -> Result<Judged, TurnError> {
        let request_bytes = Request::decode(&self.request_bytes).map_err(|_| TurnError::Silent)?;
        let (id, mut bytes) = (request_bytes.id, Vec::new());
        for (dn, attributes) in &answer.entries {
            let mut body = Vec::new();
            wire::ber::write_octets(&mut body, dn.as_bytes());
            wire::ber::write_nested(&mut body, tag::SEQUENCE, |out| {
                for (name, values) in attributes {
                    write_attribute(out, name.as_bytes(), values.iter().map(Vec::as_slice));
                }
            });
            answer::write_entry(&mut bytes, id, &body);
        }
        let verdict = Verdict {
            code: ResultCode(answer.code),
            matched_dn: b"",
            diagnostic: answer.diagnostic.as_bytes(),
        };
        let response = match request_bytes.operation {
            Operation::Bind(_) => op::BIND_RESPONSE,
            Operation::Search(_) => op::SEARCH_DONE,
            Operation::Modify(_) => op::MODIFY_RESPONSE,
            Operation::Add(_) => op::ADD_RESPONSE,
            Operation::Delete(_) => op::DELETE_RESPONSE,
            Operation::ModifyDn(_) => op::MODIFY_DN_RESPONSE,
            Operation::Compare(_) => op::COMPARE_RESPONSE,
            Operation::Extended(_) | Operation::Unbind | Operation::Abandon(_) => op::EXTENDED_RESPONSE,
        };
        if response == op::EXTENDED_RESPONSE {
            answer::write_extended(&mut bytes, id, &verdict, None, answer.value.as_deref());
        } else {
            answer::write_result(&mut bytes, id, response, &verdict);
        }
        self.answered(users, &bytes)
    }
}
