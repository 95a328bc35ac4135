//! Splits the bytes of an answer into head and body.

use wire::http::{Body, Framing};

use super::judge::{Visit, conclude};
use super::request::Request;
use super::search::Missing;
use super::{Http, LaneState, Stage, head};
use crate::fill::{Draw, Preparation};
use crate::protocol::{Encoded, Protocol, Received};
use crate::record::failure::Failure;
use crate::record::report::Report;

/// Longer bodies are refused: a page of a person is far smaller.
const BODY_BYTES: u64 = 16 << 20;

/// The capacity for bodies that a lane keeps between answers.
const KEPT_BYTES: usize = 64 << 10;

impl Protocol for Http {
    /// A page is larger than a batch's room for an answer, and one read outside the batch returns the whole
    /// page.
    const BATCHES: bool = false;
    const PHASES: bool = true;

    type Request = Request;
    type Lane = LaneState;

    fn leave(&mut self, lane: &mut LaneState) {
        lane.visit.memory.leave(&mut self.scripts);
    }

    fn lost_rows(&self) -> u64 {
        self.scripts.iter().map(|script| script.dealers.lost()).sum()
    }

    fn take_returned_rows(&mut self) -> u64 {
        self.scripts.iter_mut().map(|script| script.dealers.take_returned()).sum()
    }

    fn connected(&mut self, lane: &mut LaneState) {
        lane.stage = Stage::Head;
        lane.keeps = true;
    }

    #[inline]
    fn prepare(&mut self, preparation: &Preparation, lane: &mut LaneState) -> Encoded {
        let visit = &mut lane.visit;
        // A lane that waits for a row has taken a person already.
        if preparation.takes && !visit.memory.data.waits() {
            visit.taken = self.ring.as_mut().map(|ring| ring.take().person);
        }
        if preparation.draws.contains(&Draw::Iteration) {
            visit.jar.begin();
            (visit.changed, visit.refused) = (false, false);
        }
        self.scripts[preparation.script].prepare(preparation, &mut visit.memory, visit.taken, &mut self.rng)
    }

    #[inline]
    fn encode(&mut self, request: &Request, lane: &mut LaneState, out: &mut Vec<u8>) -> Encoded {
        match request {
            Request::Ask(_, ask) => self.ask(ask, lane, out),
            Request::File(_, file) => {
                self.encode_file(file, lane, out);
                Encoded::Send
            }
        }
    }

    fn count(&mut self, list: usize, lane: &mut LaneState) -> u64 {
        lane.visit.memory.data.begin(list)
    }

    #[inline]
    fn receive(&mut self, request: &Request, lane: &mut LaneState, bytes: &[u8]) -> Received {
        let mut at = 0;
        while matches!(lane.stage, Stage::Head) {
            match self.take_head(request, lane, &bytes[at..]) {
                Ok(Some(length)) => at += length,
                Ok(None) => return Received::Partial { consumed: at },
                Err(failure) => return Received::Broken(failure),
            }
        }
        let rest = &bytes[at..];
        match &mut lane.stage {
            Stage::Whole { length } => {
                let length = *length;
                let Some(body) = usize::try_from(length).ok().and_then(|length| rest.get(..length)) else {
                    return Received::Partial { consumed: at };
                };
                self.finish(request, lane, Some(body), length, (at + body.len(), bytes.len()))
            }
            Stage::Pass { left, length } => {
                let taken = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                if self.shared.verify && request.is_for_file() {
                    lane.file.feed(&rest[..taken], self.shared.copies.as_deref());
                }
                *left -= taken as u64;
                let length = *length;
                match *left {
                    0 => self.finish(request, lane, None, length, (at + taken, bytes.len())),
                    _ => Received::Partial { consumed: at + taken },
                }
            }
            _ => self.take_pieces(request, lane, bytes, at),
        }
    }

    fn encode_more(&mut self, request: &Request, lane: &mut LaneState, out: &mut Vec<u8>) {
        if let Request::Ask(_, ask) = request {
            self.ask_again(ask, lane, out);
        }
    }

    fn ended(&mut self, request: &Request, lane: &mut LaneState) -> Received {
        match &lane.stage {
            Stage::Head => Received::Broken(Failure::Closed),
            Stage::Whole { .. } | Stage::Pass { .. } => Received::Broken(Failure::Truncated),
            Stage::Stream { body, .. } if body.ends_at_close() => self.finish_pieces(request, lane, (0, 0)),
            // The body is incomplete, but the number of missing bytes is unknown.
            Stage::Stream { .. } => Received::Broken(Failure::Closed),
        }
    }

    fn keeps_connection(&self, lane: &LaneState) -> bool {
        lane.keeps
    }

    fn describe(&mut self, request: &Request, lane: &LaneState, answer: Option<&[u8]>) -> Report {
        match request {
            Request::Ask(_, ask) => self.describe_ask(ask, lane, answer),
            Request::File(_, file) => self.report_file(file, lane, answer),
        }
    }

    /// HTTP has no farewell.
    fn farewell(&mut self, _lane: &mut LaneState, _out: &mut Vec<u8>) {}
}

impl Http {
    /// Reads a head and chooses how to read the body. Returns the head's length; `None` if the head is
    /// incomplete.
    #[inline]
    fn take_head(
        &mut self,
        request: &Request,
        lane: &mut LaneState,
        bytes: &[u8],
    ) -> Result<Option<usize>, Failure> {
        let Some(head) =
            self.heads.decode(request.id(), request.head_only(), bytes).map_err(|_| Failure::Malformed)?
        else {
            return Ok(None);
        };
        match head.status {
            // Interim answers (RFC 9110 section 15.2). 101 is malformed, because it was not
            // requested.
            100 | 102..=199 => return Ok(Some(head.length)),
            200..=599 => {}
            _ => return Err(Failure::Malformed),
        }
        lane.status = head.status;
        lane.keeps = head.keep_alive && self.shared.target.keepalive;
        if let Request::Ask(_, ask) = request {
            let bytes = &bytes[..head.length];
            if head.sets_cookies && ask.keeps_cookies {
                let Visit { jar, path, .. } = &mut lane.visit;
                head::lines(bytes, head::SET_COOKIE).for_each(|line| jar.set(line, ask.place(path)));
            }
            // RFC 9110 section 15.4: the redirects with a Location to follow.
            if ask.follows.is_some() && matches!(head.status, 301..=303 | 307 | 308) {
                self.take_redirect(ask, lane, bytes, head);
                return Ok(Some(head.length));
            }
            self.judge_head(ask, lane, bytes);
        }
        lane.stage = match head.framing {
            Framing::Length(length) if request.reads_body(self.shared.verify) => {
                if length > BODY_BYTES {
                    return Err(Failure::WrongLength);
                }
                Stage::Whole { length }
            }
            Framing::Length(length) => Stage::Pass { left: length, length },
            Framing::Chunked | Framing::UntilClose => {
                lane.body.clear();
                Stage::Stream { body: Body::new(head.framing), length: 0, is_redirect: false }
            }
        };
        Ok(Some(head.length))
    }

    fn take_pieces(
        &mut self,
        request: &Request,
        lane: &mut LaneState,
        bytes: &[u8],
        mut at: usize,
    ) -> Received {
        let keeps = request.reads_body(self.shared.verify);
        let Stage::Stream { body, length, is_redirect } = &mut lane.stage else {
            return Received::Broken(Failure::Malformed);
        };
        loop {
            let rest = &bytes[at..];
            let Ok(progress) = body.feed(rest) else { return Received::Broken(Failure::Malformed) };
            let (from, to) = progress.content;
            *length += (to - from) as u64;
            if request.is_for_file() {
                lane.file.feed(&rest[from..to], self.shared.copies.as_deref());
            }
            if keeps && !*is_redirect {
                if *length > BODY_BYTES {
                    return Received::Broken(Failure::WrongLength);
                }
                lane.body.extend_from_slice(&rest[from..to]);
            }
            at += progress.consumed;
            if progress.done {
                return self.finish_pieces(request, lane, (at, bytes.len()));
            }
            if progress.consumed == 0 || at == bytes.len() {
                return Received::Partial { consumed: at };
            }
        }
    }

    fn finish_pieces(&mut self, request: &Request, lane: &mut LaneState, span: (usize, usize)) -> Received {
        let length = match lane.stage {
            Stage::Stream { is_redirect: true, .. } => return self.end_redirect(request, lane, span),
            Stage::Stream { length, .. } => length,
            _ => return Received::Broken(Failure::Malformed),
        };
        let mut body = std::mem::take(&mut lane.body);
        let received = self.finish(request, lane, Some(&body), length, span);
        if body.capacity() > KEPT_BYTES {
            body = Vec::new();
        }
        lane.body = body;
        received
    }

    /// Ends an answer. The last argument holds the end of the answer and the end of the received bytes.
    #[inline]
    fn finish(
        &mut self,
        request: &Request,
        lane: &mut LaneState,
        body: Option<&[u8]>,
        length: u64,
        (consumed, came): (usize, usize),
    ) -> Received {
        lane.stage = Stage::Head;
        lane.visit.length = length;
        let mut failure = match request {
            Request::Ask(_, ask) => self.judge(ask, lane, body),
            Request::File(..) => self.judge_file(lane, length),
        };
        if came > consumed {
            // No other request is in flight, so the body is longer than its head announces.
            if failure.is_none() {
                (failure, lane.visit.missing) = (Some(Failure::WrongLength), Some(Missing::End));
            }
            lane.keeps = false;
        }
        let fatal = match request {
            Request::Ask(_, ask) => conclude(ask, lane, failure),
            _ => false,
        };
        Received::Done { consumed, failure, fatal }
    }
}
