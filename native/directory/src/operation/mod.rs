//! The operations of RFC 4511, one file each.

mod bind;
pub(crate) mod bounds;
mod compare;
pub(crate) mod extended;
pub(crate) mod foresight;
mod password;
mod render;
mod sasl;
pub(crate) mod scan;
pub(crate) mod search;
pub(crate) mod start_tls;
mod write;

use wire::ldap::{Operation, Request};

use crate::session::Session;
use crate::turn::Turn;

/// Answers a request other than a search, an unbind or an abandon.
pub(crate) fn run(session: &mut Session, request: &Request<'_>, turn: &mut Turn<'_>) {
    match &request.operation {
        Operation::Bind(bind) => bind::run(session, request, bind, turn),
        Operation::Add(add) => write::add(session, request, add, turn),
        Operation::Delete(dn) => write::delete(session, request, dn, turn),
        Operation::Modify(modify) => write::modify(session, request, modify, turn),
        Operation::ModifyDn(modify_dn) => write::modify_dn(session, request, modify_dn, turn),
        Operation::Compare(compare) => compare::run(session, request, compare, turn),
        Operation::Extended(extended) => extended::run(session, request, extended, turn),
        Operation::Search(_) | Operation::Unbind | Operation::Abandon(_) => {}
    }
}
