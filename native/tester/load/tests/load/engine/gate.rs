//! A target that stops answering, and logs the times of requests and answers.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

use load::now_ns;

/// Holds all answers back while it is shut, and writes a log.
#[derive(Debug, Default)]
pub struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    shut: bool,
    waiting: usize,
    log: Vec<Exchange>,
}

/// One request and its answer as the target saw them, on the clock of [`now_ns`].
#[derive(Debug, Clone, Copy)]
pub struct Exchange {
    pub connection: u64,
    /// The time after the request was read.
    pub asked_ns: u64,
    /// The time before the answer was written.
    pub answered_ns: u64,
    /// Whether the request belongs to the tested operation.
    pub counted: bool,
}

impl Gate {
    pub fn shut(&self) {
        self.state.lock().unwrap().shut = true;
    }

    pub fn open(&self) {
        self.state.lock().unwrap().shut = false;
        self.changed.notify_all();
    }

    /// Holds an answer back while the gate is shut, and logs when the answer passed.
    pub fn pass(&self, connection: u64, asked_ns: u64, counted: bool) {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        let mut state = self.changed.wait_while(state, |state| state.shut).unwrap();
        state.waiting -= 1;
        let answered_ns = now_ns();
        state.log.push(Exchange { connection, asked_ns, answered_ns, counted });
    }

    /// The number of answers held back.
    pub fn waiting(&self) -> usize {
        self.state.lock().unwrap().waiting
    }

    /// Shuts the gate until `waiting` answers are held and `length` has passed; returns the two times between
    /// which no answer passed.
    pub fn stall(&self, waiting: usize, length: Duration) -> (u64, u64) {
        self.shut();
        while self.waiting() < waiting {
            std::thread::sleep(Duration::from_micros(200));
        }
        let shut_ns = now_ns();
        std::thread::sleep(length);
        let opens_ns = now_ns();
        self.open();
        (shut_ns, opens_ns)
    }

    /// The exchanges that passed, in the order of requests on each connection.
    pub fn log(&self) -> Vec<Exchange> {
        let mut log = self.state.lock().unwrap().log.clone();
        log.sort_by_key(|exchange| (exchange.connection, exchange.asked_ns));
        log
    }
}
