//! LDAPv3 messages (RFC 4511), in both directions.
//!
//! Servers use [`Request::decode`] and [`answer`]; clients use [`request`] and [`Response::decode`].

pub mod answer;
pub mod attributes;
pub mod control;
pub mod decode;
mod error;
pub mod filter;
pub mod filter_text;
pub mod frame;
pub mod oid;
pub mod request;
pub mod response;
pub mod result;

pub use attributes::Attributes;
pub use control::{Control, Controls};
pub use decode::{
    AddRequest, BindRequest, Change, CompareRequest, Credentials, ExtendedRequest, ModifyDnRequest,
    ModifyRequest, Operation, Request, Scope, SearchRequest, Selection,
};
pub use error::{DecodeError, MAX_FILTER_DEPTH};
pub use filter::Filter;
pub use response::{Outcome, Reply, Response};
pub use result::ResultCode;

/// Tags of the protocol operations (RFC 4511 appendix B, APPLICATION class).
pub mod op {
    pub const BIND_REQUEST: u8 = 0x60;
    pub const BIND_RESPONSE: u8 = 0x61;
    pub const UNBIND_REQUEST: u8 = 0x42;
    pub const SEARCH_REQUEST: u8 = 0x63;
    pub const SEARCH_ENTRY: u8 = 0x64;
    pub const SEARCH_DONE: u8 = 0x65;
    pub const SEARCH_REFERENCE: u8 = 0x73;
    pub const MODIFY_REQUEST: u8 = 0x66;
    pub const MODIFY_RESPONSE: u8 = 0x67;
    pub const ADD_REQUEST: u8 = 0x68;
    pub const ADD_RESPONSE: u8 = 0x69;
    pub const DELETE_REQUEST: u8 = 0x4a;
    pub const DELETE_RESPONSE: u8 = 0x6b;
    pub const MODIFY_DN_REQUEST: u8 = 0x6c;
    pub const MODIFY_DN_RESPONSE: u8 = 0x6d;
    pub const COMPARE_REQUEST: u8 = 0x6e;
    pub const COMPARE_RESPONSE: u8 = 0x6f;
    pub const ABANDON_REQUEST: u8 = 0x50;
    pub const EXTENDED_REQUEST: u8 = 0x77;
    pub const EXTENDED_RESPONSE: u8 = 0x78;
    pub const INTERMEDIATE_RESPONSE: u8 = 0x79;
}
