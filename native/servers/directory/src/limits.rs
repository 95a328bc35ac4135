//! The limits of the directory, each with its reason and each configurable. The limits on sockets, which all
//! servers have, are in `net`.
//!
//! At a limit the client receives a refusal of the protocol; no limit ends the process. Together the limits
//! bound the memory that one client can occupy. BER needs no limit on depth: in LDAP only filters are nested.

use net::FLUSH_BYTES;
use wire::dn::MAX_DN_BYTES;
use wire::ldap::MAX_FILTER_DEPTH;

/// The most terms of a filter, including And, Or and Not. With this many terms, at 50 ns each, a search
/// evaluates 5,000 entries a second, a few at a time. A message has room for a hundred times as many terms.
pub const FILTER_TERMS: usize = 4_096;

net::limits! {
    /// The configured limits; missing keys have their defaults.
    pub struct Limits {
        /// The longest message of a client that has not bound with a name. Binds and searches of the paper
        /// have 100 bytes; 389-ds and OpenLDAP (`sockbuf_max_incoming`) allow 256 KiB.
        message_bytes_before_bind: usize = 256 << 10;
        /// The longest message of a client that has bound with a name. It has room for an entry with a
        /// photograph (OpenLDAP's `sockbuf_max_incoming_auth` is the same 4 MiB).
        message_bytes_after_bind: usize = 4 << 20;
        /// The longest DN in a request. DNs of people have under 100 bytes. The DN parser has the same limit.
        name_bytes: usize = MAX_DN_BYTES, in 1..=MAX_DN_BYTES;
        /// The greatest depth of a filter. The filter decoder has the same limit; deeper filters crashed
        /// OpenLDAP (CVE-2020-12243).
        filter_depth: usize = MAX_FILTER_DEPTH, in 1..=MAX_FILTER_DEPTH;
        /// See [`FILTER_TERMS`].
        filter_terms: usize = FILTER_TERMS;
        /// The most bytes of a filter; the default allows 16 bytes per term. A filter is compiled in one
        /// piece, which takes up to a microsecond per byte: U+FDFA becomes eleven times as long (NFKC).
        filter_bytes: usize = 64 << 10;
        /// The bytes of one entry that the evaluation of a filter may read, 2 ns each. An attribute costs 16
        /// bytes for each term. A value costs 16 bytes and its own bytes for each term that reads the value;
        /// its preparation costs two bytes for each unit of `write_work`. The values of a long list are
        /// prepared once for all terms. So a filter may have any number of equality terms on the members of a
        /// group of 10,000, but only some twenty substring terms. The limit allows the preparation of all
        /// values of the largest entry once. In a domain of Active Directory an entry's groups count as well,
        /// in filters and in answers: 2 us for each group, and the cost of the members that are compared.
        filter_work: usize = 8 << 20;
        /// Attributes that one search requests. People have 25, and SSSD requests 60.
        requested_attributes: usize = 256;
        /// Attributes of an entry; each set of options counts as a separate attribute. People have 25.
        attributes_per_entry: usize = 1_000;
        /// Values of an entry. Every write to an entry reads all its values under the store's lock, which
        /// takes ten milliseconds for a group of 10,000 members.
        values_per_entry: usize = 10_000;
        /// Bytes of an entry, including its name. The default is the default limit of a message. An unread
        /// answer holds at most one entry.
        entry_bytes: usize = 4 << 20, in 1..=1 << 30;
        /// Memory of one connection: its longest message, an unread entry, and its running and paged
        /// searches. The filter and the candidates of a search are usually small, and take two mebibytes at
        /// most.
        connection_bytes: usize = 16 << 20;
        /// Changes of one modify, which are all applied under one lock of the store.
        changes_per_modify: usize = 1_000;
        /// Values of all changes of one modify, which take up to 0.6 us each under one lock of the store. So
        /// a group of 10,000 members can be removed and added again twice.
        values_per_modify: usize = 50_000;
        /// The work of one add, modify or compare, for the entry's final values and for searched values. In
        /// units of some 20 ns, a value is 24 units, two bytes of ASCII are one unit, a byte of other text is
        /// one unit, a byte of text that has to be normalised (RFC 4518 section 2.3) is 64 units, and a part
        /// of a name is 8 units. Ten thousand names of four parts can be removed and added again.
        write_work: usize = 9 << 18;
        /// Bytes that the rename of a container may rewrite under one lock of the store: the bytes of all
        /// subordinates, each counted as at least a kibibyte. 16 MiB are 16,384 people and take some 40 ms.
        rename_bytes: usize = 16 << 20;
        /// Bytes of a password. A bind hashes the password with the salt of each stored value, 10,000 at
        /// most, which takes some 30 ms at this length. bcrypt has a limit of 72 bytes, and PAM has a limit
        /// of 512 bytes.
        password_bytes: usize = 1 << 10;
        /// Slow hashes of one entry that a bind checks one after the other; further hashes are ignored.
        /// People have one slow hash, or two during a change of password.
        slow_hashes: usize = 4;
        /// The time of the hashes of one bind in milliseconds. A stored value that would take longer, by an
        /// estimate for a slow machine, never matches; a check that takes longer in CPU time is refused.
        /// Logins of other clients wait up to this time. PBKDF2 with 600,000 rounds takes 100 ms, argon2 with
        /// 64 MiB takes 300 ms; a client could store a value that takes a million years.
        slow_hash_ms: u64 = 1_000;
        /// Memory of all running hashes in bytes; a value that needs more is ignored. The default is enough
        /// for sixteen hashes of argon2 with 64 MiB.
        slow_hash_bytes: u64 = 1 << 30;
        /// Running searches of one connection. No other requests of a connection are in flight: they are
        /// answered before the next message is read. OpenLDAP's `conn_max_pending` is 100.
        running_searches: usize = 100, in 1..=usize::MAX;
        /// Unfinished paged searches of one connection; the oldest is dropped first.
        paged_searches: usize = 16, in 1..=usize::MAX;
        /// Entries of one search. The default, 0, means no limit, as retrieving all people is one of the
        /// paper's operations.
        search_entries: u32 = 0;
        /// Seconds of one search; 0 for no limit.
        search_s: u32 = 0;
        /// A connection that is idle for this long is closed. The default, 0, means never, as LDAP clients
        /// keep connections for days.
        idle_ms: u64 = 0;
    }
}

/// Limits that contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "connection_bytes is {connection_bytes}, which leaves no room for a search beside a message ({longest} is {bytes}), an entry (entry_bytes is {entry_bytes}) and what is written at a time; raise connection_bytes above {least}, or lower the others"
)]
pub struct NoRoom {
    connection_bytes: usize,
    longest: &'static str,
    bytes: usize,
    entry_bytes: usize,
    least: usize,
}

impl Limits {
    /// The part of a connection's memory that searches may use. The rest is reserved for the longest
    /// incomplete message and for an unread answer: the bytes of one write, and an entry.
    pub(crate) fn search_room(&self) -> usize {
        self.connection_bytes.saturating_sub(self.beside_searches())
    }

    fn beside_searches(&self) -> usize {
        let (_, longest) = self.longest_message();
        longest.saturating_add(self.entry_bytes).saturating_add(2 * FLUSH_BYTES)
    }

    fn longest_message(&self) -> (&'static str, usize) {
        let before = ("message_bytes_before_bind", self.message_bytes_before_bind);
        let after = ("message_bytes_after_bind", self.message_bytes_after_bind);
        if before.1 > after.1 { before } else { after }
    }

    /// Checks that a connection has memory left for searches.
    pub(crate) fn check_room(&self) -> Result<(), NoRoom> {
        if self.search_room() > 0 {
            return Ok(());
        }
        let Self { connection_bytes, entry_bytes, .. } = *self;
        let (longest, bytes) = self.longest_message();
        Err(NoRoom { connection_bytes, longest, bytes, entry_bytes, least: self.beside_searches() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "this is a test")]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_page_on_limits_lists_every_default() {
        let page = include_str!("../../../../docs/limits.md");
        let limits = serde_json::to_value(Limits::default()).unwrap();
        for (name, value) in limits.as_object().unwrap() {
            let row = format!("| `ils` | `{name}` | {value} |");
            assert!(page.contains(&row), "docs/limits.md lacks the row {row}");
        }
    }
}
