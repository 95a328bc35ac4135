//! Steps that follow redirects. A request and the redirects after it count as one request of the step, whose
//! answer is the last answer.
//!
//! A redirect may lead to another path of the same host, port and scheme. The next request uses the step's
//! connection, which is opened again if an answer ends it. Cookies of redirects are kept; nothing else in
//! them is checked.

use wire::http::{Astray, Body, Origin, locate};

use super::ask::Ask;
use super::fill::Filler;
use super::head::{self, Head};
use super::judge::{conclude, path_of};
use super::request::Request;
use super::{Http, LaneState, Stage};
use crate::fill::LaneData;
use crate::protocol::Received;
use crate::record::failure::Failure;

/// Browsers give up at 20 redirects as well. The description of scenario files (`form`) states this number,
/// too.
pub(super) const MOST_REDIRECTS: u32 = 20;

impl Http {
    #[cold]
    pub(super) fn take_redirect(&mut self, ask: &Ask, lane: &mut LaneState, bytes: &[u8], head: Head) {
        let mut locations = head::lines(bytes, b"location");
        let location = locations.next().unwrap_or_default();
        let is_one = locations.all(|other| other == location);
        if lane.visit.redirects.hops == 0 {
            self.write_head(ask, lane);
            lane.visit.redirects.begin(self.scratch.split(|&byte| byte == b' ').nth(1).unwrap_or_default());
        }
        let redirects = &mut lane.visit.redirects;
        redirects.hops += 1;
        redirects.note(head.status, location);
        let origin = Origin {
            secure: ask.host.encrypted,
            authority: ask.follows.as_deref().unwrap_or_default().as_bytes(),
        };
        redirects.failure = match locate(&redirects.target, location, origin) {
            Err(Astray::Elsewhere) => Some(Failure::RedirectElsewhere),
            Ok(_) if !is_one => Some(Failure::BadRedirect),
            Err(Astray::Broken) => Some(Failure::BadRedirect),
            Ok(_) if redirects.hops > MOST_REDIRECTS => Some(Failure::TooManyRedirects),
            Ok(target) => {
                redirects.target = target;
                None
            }
        };
        // Browsers implement RFC 9110 sections 15.4.2 to 15.4.4 like this.
        let becomes_get = match head.status {
            301 | 302 => ask.method == "POST",
            303 => ask.method != "HEAD",
            _ => false,
        };
        if becomes_get {
            redirects.is_get = true;
            // The redirect answers the change, so the change is not under way any more.
            lane.visit.memory.changing = false;
        }
        lane.stage = Stage::Stream { body: Body::new(head.framing), length: 0, is_redirect: true };
    }

    /// Ends a redirect. `consumed` is the end of the redirect, `came` the end of the received bytes.
    pub(super) fn end_redirect(
        &mut self,
        request: &Request,
        lane: &mut LaneState,
        (consumed, came): (usize, usize),
    ) -> Received {
        lane.stage = Stage::Head;
        let Request::Ask(_, ask) = request else { return Received::Broken(Failure::Malformed) };
        let mut failure = lane.visit.redirects.failure;
        if came > consumed {
            // The next request is not sent yet, so these bytes are no answer to it.
            failure = failure.or(Some(Failure::WrongLength));
            lane.keeps = false;
        }
        match failure {
            None => Received::More { consumed },
            Some(_) => Received::Done { consumed, failure, fatal: conclude(ask, lane, failure) },
        }
    }

    /// Appends the request that follows a redirect: the same request, or a GET, with another target.
    pub(super) fn ask_again(&mut self, ask: &Ask, lane: &mut LaneState, out: &mut Vec<u8>) {
        self.write_head(ask, lane);
        let visit = &mut lane.visit;
        let is_get = visit.redirects.is_get;
        out.extend_from_slice(if is_get { b"GET" } else { ask.method.as_bytes() });
        out.push(b' ');
        let start = out.len();
        out.extend_from_slice(&visit.redirects.target);
        if ask.keeps_cookies {
            visit.path.clear();
            visit.path.extend_from_slice(path_of(&out[start - 1..]));
        }
        let version = self.scratch.iter().enumerate().filter(|(_, byte)| **byte == b' ').nth(1);
        let rest = &self.scratch[version.map_or(0, |(at, _)| at)..];
        for line in rest.split_inclusive(|&byte| byte == b'\n') {
            // RFC 9110 section 15.4: a request without content has no header lines about content.
            let of_content = line.get(..8).is_some_and(|name| name.eq_ignore_ascii_case(b"content-"));
            if !(is_get && of_content) {
                out.extend_from_slice(line);
            }
        }
        if ask.sends_cookies {
            visit.jar.write(ask.place(&visit.path), out);
        }
        if is_get {
            out.extend_from_slice(b"\r\n");
            return;
        }
        let (mut filler, scratch) = self.filler(ask, &visit.memory.data);
        ask.write_rest(&mut filler, scratch, out);
    }

    /// Writes the head of the first request, without its cookies, to the scratch buffer.
    fn write_head(&mut self, ask: &Ask, lane: &LaneState) {
        let (mut filler, scratch) = self.filler(ask, &lane.visit.memory.data);
        scratch.clear();
        // The same head was written before, so writing cannot fail.
        filler.write(&ask.head, scratch);
    }

    /// The values for a request's texts, and a buffer for one text.
    pub(super) fn filler<'a>(&'a mut self, ask: &Ask, data: &'a LaneData) -> (Filler<'a>, &'a mut Vec<u8>) {
        let Self { scripts, rng, people, raw, scratch, .. } = self;
        (Filler { plan: &scripts[ask.script].plan, data, rng, people, raw }, scratch)
    }
}
