//! Admission control: limits on simultaneous connections, in total and per address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts the connections of a server over all of its threads.
#[derive(Debug)]
pub struct Gate {
    most: usize,
    /// The limit per address; if it is not below `most`, addresses are not counted.
    each: usize,
    inside: AtomicUsize,
    by_address: Mutex<HashMap<IpAddr, usize>>,
}

/// The reasons for refusing a connection. Their messages are sent to the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    #[error("too many connections, try again later")]
    All,
    #[error("too many connections from this address, close one or try again later")]
    Address,
}

/// The place of one connection. Dropping the pass frees the place.
#[derive(Debug)]
pub struct Pass {
    gate: Arc<Gate>,
    from: Option<IpAddr>,
}

impl Gate {
    /// Admits `most` connections in total, and `each` per address.
    pub fn new(most: usize, each: usize) -> Arc<Self> {
        Arc::new(Self { most, each, inside: AtomicUsize::new(0), by_address: Mutex::default() })
    }

    /// Takes a place.
    pub fn enter(self: &Arc<Self>, from: IpAddr) -> Result<Pass, Full> {
        // Relaxed: only the number is shared, and additions to one atomic are ordered. The number is raised
        // before the test. In a burst a client may be refused because another refused client has not lowered
        // the number yet, but the limit is never exceeded.
        if self.inside.fetch_add(1, Relaxed) >= self.most {
            self.inside.fetch_sub(1, Relaxed);
            return Err(Full::All);
        }
        // From here on, dropping the pass frees the place, even after a refusal.
        let mut pass = Pass { gate: Arc::clone(self), from: None };
        if self.each < self.most {
            pass.from = Some(self.count(holder(from))?);
        }
        Ok(pass)
    }

    fn count(&self, from: IpAddr) -> Result<IpAddr, Full> {
        let mut counts = self.counts();
        let count = counts.entry(from).or_insert(0);
        if *count >= self.each {
            return Err(Full::Address);
        }
        *count += 1;
        Ok(from)
    }

    fn counts(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.by_address.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        // Relaxed, as in `enter`: only the number is shared.
        self.gate.inside.fetch_sub(1, Relaxed);
        if let Some(from) = self.from {
            let mut counts = self.gate.counts();
            match counts.get_mut(&from) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(counts.remove(&from)),
            }
        }
    }
}

/// The address to count: the IPv4 address of an IPv4-mapped IPv6 address, and the network prefix of 64 bits
/// of other IPv6 addresses (RFC 4291 section 2.5.4), as a host may choose the other 64 bits.
fn holder(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << 64))),
        v4 => v4,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use super::*;

    fn from(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn a_connection_that_ends_frees_its_slot() {
        let gate = Gate::new(2, 2);
        let first = gate.enter(from("10.0.0.1")).unwrap();
        let _second = gate.enter(from("10.0.0.2")).unwrap();
        assert_eq!(gate.enter(from("10.0.0.3")).unwrap_err(), Full::All);
        drop(first);
        gate.enter(from("10.0.0.3")).unwrap();
    }

    #[test]
    fn an_address_has_its_own_slots_and_leaves_no_record_behind() {
        let gate = Gate::new(10, 1);
        let first = gate.enter(from("10.0.0.1")).unwrap();
        assert_eq!(gate.enter(from("::ffff:10.0.0.1")).unwrap_err(), Full::Address);
        let other = gate.enter(from("10.0.0.2")).unwrap();
        drop((first, other));
        assert_eq!(gate.inside.load(Relaxed), 0);
        assert!(gate.counts().is_empty());
    }

    #[test]
    fn concurrent_threads_never_exceed_the_slots_and_leave_no_record_behind() {
        let (gate, all) = (Gate::new(3, 2), AtomicUsize::new(0));
        let inside = [(); 2].map(|()| AtomicUsize::new(0));
        let visit = |number: usize| {
            let address = from(["10.0.0.1", "10.0.0.2"][number % 2]);
            for _ in 0..2_000 {
                if let Ok(_pass) = gate.enter(address) {
                    assert!(inside[number % 2].fetch_add(1, Relaxed) < 2);
                    assert!(all.fetch_add(1, Relaxed) < 3);
                    all.fetch_sub(1, Relaxed);
                    inside[number % 2].fetch_sub(1, Relaxed);
                }
            }
        };
        std::thread::scope(|scope| (0..6).for_each(|number| drop(scope.spawn(move || visit(number)))));
        assert_eq!(gate.inside.load(Relaxed), 0);
        assert!(gate.counts().is_empty());
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let gate = Gate::new(10, 1);
        let _first = gate.enter(from("2001:db8::1")).unwrap();
        assert_eq!(gate.enter(from("2001:db8::2")).unwrap_err(), Full::Address);
        gate.enter(from("2001:db8:0:1::1")).unwrap();
    }
}
