//! A user of a portable client as a [`Walker`]: the actions of a lane become [`Do`]s for the client.

use std::time::Duration;

use super::{Do, ROW_WAIT, User, Users, row};
use crate::choose::schedule::Think;
use crate::fill::Preparation;
use crate::program::{Backoff, Cursor, Op, Program, SILENT_PAUSE_NS, Share, Walker};
use crate::protocol::{Encoded, Protocol};
use crate::record::failure::Failure;
use crate::record::recorder::Slot;

/// A user in its turn.
pub(super) struct Walk<'w, P: Protocol> {
    pub(super) user: &'w mut User<P>,
    pub(super) users: &'w mut Users<P>,
}

impl<P: Protocol> Walk<'_, P> {
    fn push(&mut self, action: Do) {
        self.user.due.push_back(action);
    }
}

impl<P: Protocol> Walker for Walk<'_, P> {
    type Request = P::Request;
    type Stop = ();

    fn cursor(&mut self) -> &mut Cursor {
        &mut self.user.cursor
    }

    fn stop_reason(&mut self) -> Option<()> {
        (!self.user.due.is_empty()).then_some(())
    }

    /// The client reports a failed connection immediately.
    fn is_opening(&self) -> bool {
        false
    }

    fn may_begin_before_open(&self, _: Option<&Op<P::Request>>) -> bool {
        true
    }

    fn wait_for_connection(&mut self) {}

    fn is_down(&self) -> bool {
        !self.user.is_up()
    }

    fn is_closed(&self) -> bool {
        !self.user.is_up()
    }

    fn has_endpoint(&self, endpoint: usize) -> bool {
        self.user.connections[self.user.active].endpoint == endpoint
    }

    fn any_is_down(&self, connections: &[usize]) -> bool {
        connections.iter().any(|connection| !self.user.connections[*connection].is_up)
    }

    fn switch(&mut self, connection: usize) {
        self.user.active = connection;
    }

    fn open(&mut self, slot: Slot, endpoint: usize) -> Option<()> {
        self.user.open(endpoint, &mut self.users.protocol);
        let row = row(&self.users.labels, slot);
        self.push(Do::Open { row, connection: self.user.active });
        Some(())
    }

    fn close(&mut self, slot: Slot) {
        let row = row(&self.users.labels, slot);
        self.user.close(self.user.active, Some(row));
    }

    fn use_connection(&mut self) -> u64 {
        let connection = &mut self.user.connections[self.user.active];
        connection.used += 1;
        connection.used
    }

    fn backoff(&mut self) -> &mut Backoff {
        &mut self.user.connections[self.user.active].backoff
    }

    fn deal(&mut self, deck: usize) -> usize {
        self.users.decks[deck].deal(&mut self.users.rng)
    }

    fn count(&mut self, list: usize) -> u64 {
        self.users.protocol.count(list, &mut self.user.state)
    }

    fn think_ns(&mut self, think: &Think) -> u64 {
        think.draw_ns(self.users.rng.f64())
    }

    fn begin_pass(&mut self, program: &Program<P::Request>) {
        if program.is_whole && self.user.cursor.whole.is_none() {
            self.user.cursor.whole = Some(program.sequence);
            let row = self.user.begin(&self.users.labels);
            self.push(Do::BeginPass(row));
        }
    }

    fn begin_operation(&mut self) {
        let row = self.user.begin(&self.users.labels);
        self.push(Do::Begin(row));
    }

    fn has_sent(&self) -> bool {
        self.user.sent
    }

    fn fail(&mut self, failure: Failure) {
        self.user.fails(&failure.label());
    }

    fn end_operation(&mut self) {
        self.user.end(&self.users.labels, true);
    }

    fn prepare(&mut self, preparation: &Preparation) -> Encoded {
        self.users.protocol.prepare(preparation, &mut self.user.state)
    }

    fn ask(&mut self, slot: Slot, request: &P::Request) -> Result<(), Encoded> {
        let mut bytes = Vec::new();
        match self.users.protocol.encode(request, &mut self.user.state, &mut bytes) {
            Encoded::Send => {}
            unsent => return Err(unsent),
        }
        self.user.sent = true;
        let row = row(&self.users.labels, slot);
        self.push(Do::Ask { row, connection: self.user.active, request: bytes });
        Ok(())
    }

    /// Scenarios with shared connections are refused.
    fn ask_shared(&mut self, _: Share, _: &P::Request) -> Result<(), Encoded> {
        Err(Encoded::Skip)
    }

    fn skip(&mut self, _: Slot, _: &P::Request) {
        self.fail(Failure::NothingCaptured);
    }

    fn wait_for_row(&mut self) {
        self.push(Do::AwaitRow(ROW_WAIT));
    }

    /// The client sees that the user ends without having been stopped.
    fn run_out_of_rows(&mut self) {}

    fn end_unbegun(&mut self) {
        self.end();
    }

    fn await_pool(&mut self, _: usize) -> Option<()> {
        None
    }

    fn serve(&mut self) {
        self.end();
    }

    /// There is no schedule, so no arrival to wait for.
    fn take_arrival(&mut self) -> Option<()> {
        None
    }

    fn think(&mut self, pause_ns: u64) {
        self.sleep(pause_ns);
    }

    fn sleep(&mut self, pause_ns: u64) {
        self.push(Do::Wait(Duration::from_nanos(pause_ns)));
    }

    /// Returns to the client even if a repeat sends nothing, so that the client can interrupt it.
    fn yield_turn(&mut self) {
        self.sleep(SILENT_PAUSE_NS);
    }

    fn end(&mut self) {
        self.user.is_over = true;
    }
}
