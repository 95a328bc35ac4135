//! The operations of RFC 4511, one per file.

mod authenticate;
mod bind;
mod compare;
mod dispatch;
mod extended;
mod long;
mod password;
mod sasl;
mod search;
mod start_tls;
mod waiting;
mod write;

pub(crate) use dispatch::handle;
pub(crate) use waiting::resume;
