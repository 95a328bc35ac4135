//! Requests of LDAP as values, and answers from such values.

use std::sync::Arc;

use people::Population;
use wire::ber::tag;
use wire::ldap::answer::{self, Verdict};
use wire::ldap::control::Control;
use wire::ldap::request::write_attribute;
use wire::ldap::{Attributes, Credentials, Operation, Request, ResultCode, op};

use super::{Judged, TurnError, User, Users};
use crate::engine::{self, StartError};
use crate::fill::Tables;
use crate::ldap::{Ldap, LdapConfig, NameList};
use crate::program::{MAIN, Op};

pub type DirectoryUsers = Users<Ldap>;

pub type DirectoryUser = User<Ldap>;

/// An attribute with its values.
pub type Values = (String, Vec<Vec<u8>>);

/// A request for a portable client. Fields that the verb does not use are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LdapRequest {
    /// The verb as in scenario files, but `extended` for all extended operations.
    pub verb: &'static str,
    /// The entry of the request, the base of a search, the name of a bind, or the OID of an extended
    /// operation.
    pub dn: String,
    /// The LDAP version of a bind.
    pub version: i64,
    /// The mechanism of a SASL bind.
    pub sasl: Option<String>,
    /// The password of a bind, SASL credentials, or the value of an extended operation.
    pub value: Option<Vec<u8>>,
    /// The filter as a text (RFC 4515).
    pub filter: String,
    /// 0 base, 1 one level, 2 subtree, 3 all below the base.
    pub scope: u8,
    /// 0 never, 1 in searching, 2 finding the base, 3 always.
    pub dereference: u8,
    /// The maximum number of entries; 0 for no limit.
    pub size_limit: u32,
    /// In seconds; 0 for no limit.
    pub time_limit_s: u32,
    /// Whether the server omits values.
    pub types_only: bool,
    /// The requested attributes.
    pub attributes: Vec<String>,
    /// The attributes of an entry to add, or the compared attribute.
    pub entry: Vec<Values>,
    /// 0 add, 1 delete, 2 replace, 3 increment.
    pub changes: Vec<(u8, Values)>,
    pub new_rdn: String,
    pub delete_old_rdn: bool,
    pub new_superior: Option<String>,
    /// For each control its OID, its criticality and its value.
    pub controls: Vec<(String, bool, Option<Vec<u8>>)>,
}

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

impl LdapRequest {
    /// Decodes a request.
    pub fn of(request: &[u8]) -> Option<Self> {
        let Request { operation, controls, .. } = Request::decode(request).ok()?;
        let control =
            |Control { oid, critical, value }: Control<'_>| (text(oid), critical, value.map(<[u8]>::to_vec));
        let of = |verb, dn: &[u8]| Self {
            verb,
            dn: text(dn),
            controls: controls.iter().map(control).collect(),
            ..Self::default()
        };
        Some(match operation {
            Operation::Bind(bind) => {
                let (sasl, value) = match bind.credentials {
                    Credentials::Simple(password) => (None, Some(password)),
                    Credentials::Sasl(mechanism, credentials) => (Some(text(mechanism)), credentials),
                    Credentials::Other(_) => return None,
                };
                let value = value.map(<[u8]>::to_vec);
                Self { version: bind.version, sasl, value, ..of("bind", bind.name) }
            }
            Operation::Search(search) => Self {
                filter: search.filter.to_string(),
                scope: search.scope as u8,
                dereference: search.dereference,
                size_limit: search.size_limit,
                time_limit_s: search.time_limit_s,
                types_only: search.types_only,
                attributes: search.attributes.iter().map(text).collect(),
                ..of("search", search.base)
            },
            Operation::Modify(modify) => {
                let change = |change: wire::ldap::Change<'_>| {
                    (change.operation, values(change.attribute.name, &change.attribute.values))
                };
                Self { changes: modify.changes().map(change).collect(), ..of("modify", modify.dn) }
            }
            Operation::Add(add) => Self { entry: attributes(&add.attributes), ..of("add", add.dn) },
            Operation::Delete(dn) => of("delete", dn),
            Operation::ModifyDn(rename) => Self {
                new_rdn: text(rename.new_rdn),
                delete_old_rdn: rename.delete_old_rdn,
                new_superior: rename.new_superior.map(text),
                ..of("modify_dn", rename.dn)
            },
            Operation::Compare(compare) => Self {
                entry: vec![(text(compare.attribute), vec![compare.value.to_vec()])],
                ..of("compare", compare.dn)
            },
            Operation::Extended(extended) => {
                Self { value: extended.value.map(<[u8]>::to_vec), ..of("extended", extended.name) }
            }
            Operation::Unbind | Operation::Abandon(_) => return None,
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn attributes(of: &Attributes<'_>) -> Vec<Values> {
    of.iter().flatten().map(|attribute| values(attribute.name, &attribute.values)).collect()
}

fn values(name: &[u8], of: &wire::ldap::attributes::Values<'_>) -> Values {
    (text(name), of.iter().flatten().map(<[u8]>::to_vec).collect())
}
