//! The StartTLS exchange (RFC 4511 section 4.14).

use wire::ldap::frame::message_length;
use wire::ldap::request::write_extended;
use wire::ldap::{Reply, Response, ResultCode, oid, op};

use crate::connection::security::StartTls;
use crate::record::failure::Failure;

const MAX_BYTES: usize = 4 << 10;

pub(super) static START_TLS: StartTls =
    StartTls { request: |out| write_extended(out, 1, oid::START_TLS, None), granted };

fn granted(bytes: &[u8]) -> Option<Result<(), Failure>> {
    let length = match message_length(bytes, MAX_BYTES) {
        Ok(length) => length?,
        Err(_) => return Some(Err(Failure::Malformed)),
    };
    let granted = match Response::decode(&bytes[..length]) {
        // Nothing may follow the answer: bytes before the handshake are not protected.
        Ok(Response { reply: Reply::Done { tag: op::EXTENDED_RESPONSE, outcome }, .. }) => match outcome.code
        {
            ResultCode::SUCCESS if length == bytes.len() => Ok(()),
            ResultCode::SUCCESS => Err(Failure::Malformed),
            code => Err(Failure::Result(code.name())),
        },
        _ => Err(Failure::Malformed),
    };
    Some(granted)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRANTED: [u8; 14] = [0x30, 0x0c, 2, 1, 1, 0x78, 7, 0x0a, 1, 0, 4, 0, 4, 0];

    #[test]
    fn start_tls_is_granted_by_a_complete_answer_without_bytes_behind_it() {
        assert_eq!(granted(&GRANTED), Some(Ok(())));
        assert_eq!(granted(&GRANTED[..9]), None);
        assert_eq!(granted(&[&GRANTED[..], b"x"].concat()), Some(Err(Failure::Malformed)));
    }

    #[test]
    fn each_refusal_of_start_tls_has_a_separate_name() {
        let mut refused = GRANTED;
        refused[9] = 52;
        assert_eq!(granted(&refused), Some(Err(Failure::Result("unavailable"))));
    }
}
