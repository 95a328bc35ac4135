//! The operations of RFC 4511, one file each.

mod authenticate;
mod bind;
pub(crate) mod bounds;
mod compare;
mod dispatch;
mod extended;
mod long;
mod password;
mod render;
mod sasl;
mod scan;
mod search;
mod searches;
mod start_tls;
mod write;

pub(crate) use dispatch::handle;
pub(crate) use sasl::mechanisms;
pub(crate) use scan::{NameForm, Terms, compile};
pub(crate) use searches::Searches;
