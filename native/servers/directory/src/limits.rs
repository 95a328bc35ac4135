//! Every bound the directory keeps, each with its reason and each settable; those on sockets, which every
//! server here has, are in `net`.
//!
//! At a limit the client receives the protocol's own refusal; nothing here ends the process, and what one
//! client can make the server hold is the product of these numbers. BER needs no bound on depth: only filters
//! nest in LDAP.

use net::FLUSH_BYTES;
use wire::dn::MAX_DN_BYTES;
use wire::ldap::MAX_FILTER_DEPTH;

/// A filter's terms, And, Or and Not among them. With this many, at 50 ns each, a search looks at 5,000
/// entries a second, a few at a time; a message has room for a hundred times as many.
pub const FILTER_TERMS: usize = 4_096;

net::limits! {
    /// The limits in force; what a configuration does not name keeps its default.
    pub struct Limits {
        /// A message of a client that has not bound with a name. Binds and searches of the paper have 100 bytes; 389-ds and
        /// OpenLDAP (`sockbuf_max_incoming`) allow 256 KiB.
        message_bytes_before_bind: usize = 256 << 10;
        /// A message of a client that has bound with a name: room for an entry with a photograph (OpenLDAP's
        /// `sockbuf_max_incoming_auth` is the same 4 MiB).
        message_bytes_after_bind: usize = 4 << 20;
        /// A name in a request. Those of people have under 100 bytes, and the reader of names stops here.
        name_bytes: usize = MAX_DN_BYTES, in 1..=MAX_DN_BYTES;
        /// A filter's depth. The reader of filters stops here; OpenLDAP fell to deeper ones
        /// (CVE-2020-12243).
        filter_depth: usize = MAX_FILTER_DEPTH, in 1..=MAX_FILTER_DEPTH;
        /// See [`FILTER_TERMS`].
        filter_terms: usize = FILTER_TERMS;
        /// A filter's bytes: 16 for each of as many terms. It is compiled in one piece, which takes up to a
        /// microsecond a byte: U+FDFA becomes eleven times as long (NFKC).
        filter_bytes: usize = 64 << 10;
        /// Bytes of one entry that a filter looks at, 2 ns each: 16 for each attribute and term, 16 and its bytes for each
        /// value that a term looks at, and two for each unit of `write_work` that it takes to prepare a value. Those of
        /// a long list are prepared once for all terms, so that any number of terms may ask for members of a
        /// group of 10,000; of substrings, some twenty may. The values of the largest entry can be prepared once. In a domain of Active Directory the groups
        /// of an entry count as well, 2 us each and the members that are compared, whether a filter or an answer has them.
        filter_work: usize = 8 << 20;
        /// Attributes that one search asks for. People have 25, and SSSD asks for 60.
        requested_attributes: usize = 256;
        /// Attributes of an entry, each set of options one of its own. People have 25.
        attributes_per_entry: usize = 1_000;
        /// Values of an entry. Every write of it looks at all of them, under the store's lock: ten milliseconds
        /// for a group of 10,000 members.
        values_per_entry: usize = 10_000;
        /// Bytes of an entry, its name among them: as many as a message may bring. An answer that is not read holds
        /// one entry at most.
        entry_bytes: usize = 4 << 20, in 1..=1 << 30;
        /// What one connection makes the server hold: room for its longest message and for an entry that it does
        /// not read, and the rest for the searches that are running or paged. Their filters and lists of candidates
        /// are small as a rule; the largest takes two mebibytes.
        connection_bytes: usize = 16 << 20;
        /// Changes of one modify, which is done as a whole under the store's lock.
        changes_per_modify: usize = 1_000;
        /// Values that the changes of one modify bring, together: up to 0.6 us each, under the same lock. A group
        /// of 10,000 members can be taken away and added again twice.
        values_per_modify: usize = 50_000;
        /// Work of one add, modify or compare: for the values that the entry has in the end, and for those that are
        /// looked for. A value is 24 units of some 20 ns, two bytes of ASCII are one, a byte of other text is
        /// one and of text that has to be normalised (RFC 4518 section 2.3) 64, a part of a name is 8. Ten thousand names of four parts
        /// can be taken away and added again.
        write_work: usize = 9 << 18;
        /// Bytes that renaming a container may rewrite, which is done as a whole under the store's lock: those
        /// of all entries below, a kibibyte each at least. With 16 MiB that is 16,384 people, some 40 ms.
        rename_bytes: usize = 16 << 20;
        /// A password. It is hashed with the salt of each that is stored, 10,000 at most: with this length in
        /// some 30 ms. bcrypt takes 72 bytes, PAM 512.
        password_bytes: usize = 1 << 10;
        /// Values of one entry with a slow hash that a bind tries, one after the other; further ones are no passwords.
        /// People have one, two while it is changed.
        slow_hashes: usize = 4;
        /// Milliseconds of the hashes that one bind tries: a value that would take longer, by an estimate for a slow
        /// machine, is no password, and one that does take longer, in processor time, is refused. Others wait as long for
        /// their logins. PBKDF2 with 600,000 rounds takes 100, argon2 with 64 MiB 300; a client may store one of a
        /// million years.
        slow_hash_ms: u64 = 1_000;
        /// Bytes of memory of the hashes that run, of all clients together; a value that needs more alone is no password.
        /// Sixteen of argon2 with 64 MiB.
        slow_hash_bytes: u64 = 1 << 30;
        /// Searches of one connection that are running at the same time, which are all requests of it that
        /// can be in flight: others are answered before the next is read. OpenLDAP's `conn_max_pending` is
        /// 100.
        running_searches: usize = 100, in 1..=usize::MAX;
        /// Paged searches that one connection may leave unfinished; the oldest goes first.
        paged_searches: usize = 16, in 1..=usize::MAX;
        /// Entries of one search; 0 for all, as retrieving everybody is one of the paper's operations.
        search_entries: u32 = 0;
        /// Seconds of one search; 0 for as long as it takes.
        search_s: u32 = 0;
        /// A connection on which nothing moves for this long is closed; 0 for never, as LDAP clients keep
        /// connections for days.
        idle_ms: u64 = 0;
    }
}

/// Limits of which one leaves no room for the other.
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
    /// What is left for searches of what one connection may hold. The rest is kept for the longest message that
    /// may have begun, and for an unread answer: what is written at a time, and an entry.
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

    /// Checks that a connection may search at all.
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
    fn the_page_on_limits_says_every_default() {
        let page = include_str!("../../../../docs/limits.md");
        let limits = serde_json::to_value(Limits::default()).unwrap();
        for (name, value) in limits.as_object().unwrap() {
            let row = format!("| `ils` | `{name}` | {value} |");
            assert!(page.contains(&row), "docs/limits.md lacks the row {row}");
        }
    }
}
