//! The phases of a request. They are recorded in addition to the steps, and are not part of the lane's account
//! of time.
//!
//! ```text
//!    connect starts    TCP stands     sent      first byte    last byte
//!          |----------------|-handshake-|---first byte-|            |
//!          |--------- connecting ---------|                          |
//!          |------------------------- request ----------------------|
//! ```
//!
//! All these instants are read for the steps anyway, except the start of a handshake. An answered request
//! records all its phases when it ends, in the window in which it began. So the phases of a window are parts
//! of the same requests, and their sum is less than the time of these requests.

use super::Lane;
use crate::drive::context::{Context, Turn};
use crate::program::{Phases, Program};
use crate::protocol::Protocol;
use crate::record::clock::now_ns;
use crate::record::recorder::{End, Sample, Slot};

/// Start times of the current request's phases; 0 for a phase that has not begun.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PhaseTimes {
    /// Connecting for this request.
    pub(super) connect_ns: u64,
    pub(super) handshake_ns: u64,
    /// The end of the handshake.
    pub(super) secure_ns: u64,
    pub(super) first_byte_ns: u64,
}

/// The recorders of a program's phases, if phases are recorded.
fn phases_of<P: Protocol>(program: &Program<P::Request>) -> Option<Phases> {
    if P::PHASES { program.phases } else { None }
}

impl<P: Protocol> Lane<P> {
    /// Notes the beginning of a handshake: TCP has connected.
    pub(super) fn begin_handshake(&mut self, program: &Program<P::Request>) {
        if phases_of::<P>(program).is_some()
            && self.connection.link.uses_tls()
            && self.began.handshake_ns == 0
        {
            self.began.handshake_ns = now_ns();
        }
    }

    /// Notes the end of a handshake, and records the handshake if it failed.
    pub(super) fn end_handshake(&mut self, end: End, turn: &mut Turn<'_, P>, now_ns: u64) {
        let Some(phases) = phases_of::<P>(turn.program).filter(|_| self.began.handshake_ns > 0) else {
            return;
        };
        if end == End::Right {
            self.began.secure_ns = now_ns;
        } else {
            let started_ns = std::mem::take(&mut self.began.handshake_ns);
            record(phases.handshake, started_ns, (started_ns, now_ns), end, turn.context);
        }
    }

    #[inline]
    pub(super) fn first_byte(&mut self, read_ns: u64) {
        if P::PHASES {
            self.began.first_byte_ns = read_ns;
        }
    }

    /// The start of the current request, or of connecting if the connection was opened for this request.
    pub(super) const fn request_began_ns(&self) -> u64 {
        match self.began.connect_ns {
            0 => self.current.started_ns,
            connect_ns => connect_ns,
        }
    }

    /// Records a request that has ended, or whose connection has failed.
    #[inline]
    pub(super) fn end_request(&mut self, end: End, turn: &mut Turn<'_, P>, now_ns: u64) {
        let Some(phases) = phases_of::<P>(turn.program) else { return };
        let (began_ns, sent_ns) = (self.request_began_ns(), self.current.started_ns);
        let times = std::mem::take(&mut self.began);
        record(phases.request, began_ns, (began_ns, now_ns), end, turn.context);
        if matches!(end, End::Unanswered(_)) {
            return;
        }
        if times.connect_ns > 0 {
            record(phases.connecting, began_ns, (began_ns, sent_ns), End::Right, turn.context);
        }
        if times.handshake_ns > 0 {
            record(
                phases.handshake,
                began_ns,
                (times.handshake_ns, times.secure_ns),
                End::Right,
                turn.context,
            );
        }
        record(phases.first_byte, began_ns, (sent_ns, times.first_byte_ns), End::Right, turn.context);
        if end == End::Right {
            turn.context.lane_counts[self.id as usize] += 1;
        }
    }
}

/// Records a phase without bytes and the engine's own time, which are recorded with the steps.
fn record<P: Protocol>(slot: Slot, due_ns: u64, times_ns: (u64, u64), end: End, context: &mut Context<P>) {
    context.recorders.record(slot, &Sample::of(due_ns, times_ns, end));
}
