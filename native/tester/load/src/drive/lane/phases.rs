//! The phases of a request. They are recorded in addition to the steps, and are not part of the lane's account
//! of time.
//!
//! ```text
//!    connect starts    TCP stands     sent      first byte    last byte
//!          |----------------|-handshake-|---first byte-|            |
//!          |------------------------- request ----------------------|
//! ```
//!
//! All these instants are read for the steps anyway, except the start of a handshake.

use super::{Lane, Operation};
use crate::drive::context::Context;
use crate::program::{Phases, Program};
use crate::protocol::Protocol;
use crate::record::clock::now_ns;
use crate::record::recorder::{End, Sample, Slot};

/// When the phases of the request at hand began; 0 where they have not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PhaseTimes {
    /// The connecting for this request.
    pub(super) connect_ns: u64,
    pub(super) handshake_ns: u64,
}

/// The recorders of a program's phases, if they are recorded. A protocol without phases asks nothing.
#[inline]
fn phases_of<P: Protocol>(program: &Program<P::Request>) -> Option<Phases> {
    if P::PHASES { program.phases } else { None }
}

impl<S: Default + Send> Lane<S> {
    /// Notes when a handshake begins: once TCP has connected.
    pub(super) fn begin_handshake<P: Protocol<Lane = S>>(&mut self, program: &Program<P::Request>) {
        if phases_of::<P>(program).is_some() && self.link.uses_tls() && self.began.handshake_ns == 0 {
            self.began.handshake_ns = now_ns();
        }
    }

    /// Records a handshake that has ended, if there was one.
    pub(super) fn end_handshake<P: Protocol<Lane = S>>(
        &mut self,
        end: End,
        program: &Program<P::Request>,
        context: &mut Context<P>,
        now_ns: u64,
    ) {
        let started_ns = std::mem::take(&mut self.began.handshake_ns);
        if let Some(phases) = phases_of::<P>(program)
            && started_ns > 0
        {
            record(phases.handshake, started_ns, now_ns, end, context);
        }
    }

    #[inline]
    pub(super) fn first_byte<P: Protocol<Lane = S>>(
        &self,
        program: &Program<P::Request>,
        context: &mut Context<P>,
        read_ns: u64,
    ) {
        if let Some(phases) = phases_of::<P>(program) {
            record(phases.first_byte, self.current.started_ns, read_ns, End::Right, context);
        }
    }

    /// Records a request that has ended, or whose connection has failed.
    #[inline]
    pub(super) fn end_request<P: Protocol<Lane = S>>(
        &mut self,
        end: End,
        program: &Program<P::Request>,
        context: &mut Context<P>,
        now_ns: u64,
    ) {
        let Some(phases) = phases_of::<P>(program) else { return };
        let Operation { started_ns, .. } = self.current;
        let connect_ns = std::mem::take(&mut self.began.connect_ns);
        let started_ns = if connect_ns > 0 { connect_ns } else { started_ns };
        record(phases.request, started_ns, now_ns, end, context);
        if end == End::Right {
            context.lane_counts[self.id as usize] += 1;
        }
    }
}

/// Bytes and the engine's own time are recorded with the steps.
fn record<P: Protocol>(slot: Slot, started_ns: u64, ended_ns: u64, end: End, context: &mut Context<P>) {
    let (due_ns, processing_ns, unread_ns, bytes_out, bytes_in) = (started_ns, 0, None, 0, 0);
    let sample = Sample { due_ns, started_ns, ended_ns, processing_ns, unread_ns, bytes_out, bytes_in, end };
    context.recorders.record(slot, &sample);
}
