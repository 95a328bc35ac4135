//! The measured quantities of a step: the only declaration of every clock and counter.
//!
//! Recorders, merges, snapshots and the engine module iterate over these tables. A new row is recorded in
//! [`crate::record::recorder`], from the instants of a `Sample`, and gets a row in
//! `sitebench/counts/metrics.py`. All other code follows the tables.

use scenario::Influence;

/// Makes an enum of a table. Its rows are the variants, each with a name, a unit, an influence and a meaning.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident {
        $($metric:ident: $name:literal, $unit:literal, $influence:ident, $meaning:literal;)+
    }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $table {
            $(#[doc = $meaning] $metric,)+
        }

        impl $table {
            /// In the order of the table.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$metric),+];

            pub const COUNT: usize = [$($name),+].len();

            /// The index in [`Self::ALL`].
            pub const fn index(self) -> usize {
                self as usize
            }

            /// The name in results.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$metric => $name,)+ }
            }

            pub const fn unit(self) -> &'static str {
                match self { $(Self::$metric => $unit,)+ }
            }

            /// The keys of a scenario that influence the values.
            pub const fn influence(self) -> Influence {
                match self { $(Self::$metric => Influence::$influence,)+ }
            }

            /// The measured quantity, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$metric => $meaning,)+ }
            }
        }
    };
}

table! {
    /// Durations of operations, each in a histogram. The drawing in [`crate::record::recorder`] shows their
    /// starts and ends.
    Clock {
        Service: "service", "ns", Sending, "Sent to answered, of right answers.";
        Latency: "latency", "ns", Sending, "Intended start to answered, of right answers.";
        Lag: "lag", "ns", Sending, "Intended start to sent, of answered operations: how late the tester was.";
        Unread: "unread", "ns", Nothing,
            "Upper bound of the time that right answers lay unread, which service includes.";
        Wrong: "wrong", "ns", Counting, "Intended start to answered, of wrong answers.";
        Censored: "censored", "ns", Waiting,
            "Intended start to given up: a lower bound of the latency without an answer.";
        Abandoned: "abandoned", "ns", Waiting,
            "Sent to given up: a lower bound of the service time without an answer.";
    }
}

table! {
    /// Sums over operations.
    Counter {
        BytesOut: "bytes_out", "bytes", Nothing, "Bytes sent.";
        BytesIn: "bytes_in", "bytes", Nothing, "Bytes received.";
        Processing: "processing", "ns", Nothing, "The tester's own time before requests were sent.";
        Failed: "failed", "ns", Counting,
            "Sent to answered wrongly or given up: the lanes' time for failed operations.";
        Paused: "paused", "ns", Sending, "Think times inside operations, which are in none of their times.";
        Thinking: "thinking", "operations", Counting,
            "Operations left out: in a think time of their own when the test ended.";
    }
}

impl Clock {
    /// The clock with the same times on a closed schedule, where the intended start is the actual start;
    /// `None` for lag, which a closed schedule does not have.
    pub const fn closed(self) -> Option<Self> {
        match self {
            Self::Latency => Some(Self::Service),
            Self::Lag => None,
            Self::Abandoned => Some(Self::Censored),
            Self::Service | Self::Unread | Self::Wrong | Self::Censored => Some(self),
        }
    }

    /// The clock to record in place of this clock: itself on an open schedule, its counterpart on a closed
    /// schedule, or `None` if it has no counterpart.
    pub const fn recorded(self, open: bool) -> Option<Self> {
        if open { Some(self) } else { self.closed() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn metric_names_are_unique_keys_of_results() {
        let clocks = Clock::ALL.map(Clock::name);
        let counters = Counter::ALL.map(Counter::name);
        // Run files and JSON results use these names as keys.
        assert_eq!(clocks, ["service", "latency", "lag", "unread", "wrong", "censored", "abandoned"]);
        assert_eq!(counters, ["bytes_out", "bytes_in", "processing", "failed", "paused", "thinking"]);
        let names: BTreeSet<_> = clocks.into_iter().chain(counters).collect();
        assert_eq!(names.len(), Clock::COUNT + Counter::COUNT);
    }

    #[test]
    fn each_metric_has_its_index_unit_and_description() {
        for (place, clock) in Clock::ALL.into_iter().enumerate() {
            assert_eq!((clock.index(), clock.unit()), (place, "ns"));
            assert!(clock.meaning().ends_with('.'));
        }
        for (place, counter) in Counter::ALL.into_iter().enumerate() {
            assert_eq!(counter.index(), place);
            assert!(["ns", "bytes", "operations"].contains(&counter.unit()));
            assert!(counter.meaning().ends_with('.'));
        }
    }

    #[test]
    fn a_closed_schedule_records_service_times_in_place_of_latencies() {
        for clock in Clock::ALL {
            assert_eq!(clock.recorded(true), Some(clock));
            let closed = clock.recorded(false);
            assert_eq!(closed.and_then(Clock::closed), closed);
        }
        assert_eq!(Clock::Latency.recorded(false), Some(Clock::Service));
        assert_eq!(Clock::Abandoned.recorded(false), Some(Clock::Censored));
        assert_eq!(Clock::Lag.recorded(false), None);
    }
}
