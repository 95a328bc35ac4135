//! Translates between the two names of a user: the name in ILS clients, and the DN in the store.

use wire::dn::{Dn, escape_value};

/// The meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// The name of a user, whose DN has been written.
    User,
    Everyone,
    /// No ILS name: the name is used unchanged.
    Other,
}

#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) container: Vec<u8>,
    pub(crate) ttl_s: u32,
}

impl Names {
    /// Users are stored below `container`, by default with this time to live.
    pub(crate) fn new(container: &[u8], ttl_s: u32) -> Self {
        Self { container: container.to_vec(), ttl_s }
    }

    /// Writes the stored name to `out` if `dn` is an ILS client's name of a user.
    pub(crate) fn translate(&self, dn: &[u8], out: &mut Vec<u8>) -> bool {
        self.read(dn, out) == Meaning::User
    }

    /// Parses a name; a user's stored name is written to `out`.
    pub(crate) fn read(&self, dn: &[u8], out: &mut Vec<u8>) -> Meaning {
        // An ordinary DN ends with the container and need not be parsed.
        if dn.is_empty() || ends_with(dn, &self.container) {
            return Meaning::Other;
        }
        let Ok(dn) = Dn::parse(dn) else { return Meaning::Other };
        let mut person = false;
        let mut user = None;
        let mut last_is_user = false;
        let mut buffer = Vec::new();
        for pair in dn.rdns().flat_map(|rdn| rdn.pairs()) {
            last_is_user = pair.is(b"cn");
            if last_is_user {
                user = Some(pair.value);
            } else if pair.is(b"objectClass") {
                person |= pair.value.decode(&mut buffer).eq_ignore_ascii_case(b"rtPerson");
            } else if !pair.is(b"c") && !pair.is(b"o") {
                return Meaning::Other;
            }
        }
        match user {
            // An ILS name goes from the general to the particular, unlike a DN. So if the class is missing,
            // the last part shows that the name is an ILS name.
            Some(user) if person || last_is_user => {
                out.clear();
                out.extend_from_slice(b"cn=");
                escape_value(user.decode(&mut buffer), out);
                out.push(b',');
                out.extend_from_slice(&self.container);
                Meaning::User
            }
            None if person => Meaning::Everyone,
            _ => Meaning::Other,
        }
    }

    /// Whether this is the name of the container of all users, ignoring case.
    pub(crate) fn is_container(&self, dn: &[u8]) -> bool {
        dn.eq_ignore_ascii_case(&self.container)
    }
}

fn ends_with(dn: &[u8], end: &[u8]) -> bool {
    dn.len()
        .checked_sub(end.len())
        .and_then(|start| dn.get(start..))
        .is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Appends the ILS name of the user with this DN; false if this is not a user's DN.
pub(crate) fn write_client_name(dn: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((rdn, _)) = Dn::parse(dn).ok().and_then(Dn::split_first) else { return false };
    let Some(pair) = rdn.pairs().next().filter(|pair| pair.is(b"cn")) else { return false };
    let mut buffer = Vec::new();
    out.extend_from_slice(b"c=-,o=Microsoft,cn=");
    escape_value(pair.value.decode(&mut buffer), out);
    out.extend_from_slice(b",objectClass=rtPerson");
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(dn: &str) -> (Meaning, String) {
        let mut out = Vec::new();
        let meaning = Names::new(b"ou=Dynamic,o=Intranet", 600).read(dn.as_bytes(), &mut out);
        (meaning, String::from_utf8(out).unwrap())
    }

    #[test]
    fn an_ils_name_means_one_user_or_all_users_and_other_names_are_unchanged() {
        for (dn, meaning) in [
            ("c=-,o=Microsoft,cn=ann@example.com,objectClass=rtPerson", Meaning::User),
            ("objectClass=RTPerson, cn=ann@example.com, o=Microsoft, c=-", Meaning::User),
            ("cn=ann@example.com,objectclass=rtperson", Meaning::User),
            ("o=Microsoft,cn=ann@example.com", Meaning::User),
            ("cn=ann@example.com", Meaning::User),
            ("objectClass=rtPerson", Meaning::Everyone),
            ("o=Microsoft,objectClass=RTPERSON", Meaning::Everyone),
            ("", Meaning::Other),
            ("o=Intranet", Meaning::Other),
            ("OU=Dynamic,O=Intranet", Meaning::Other),
            ("cn=a,ou=dynamic,o=intranet", Meaning::Other),
            ("cn=a,o=b", Meaning::Other),
            ("x", Meaning::Other),
        ] {
            let (actual, stored) = read(dn);
            assert_eq!(actual, meaning, "{dn}");
            if meaning == Meaning::User {
                assert_eq!(stored, "cn=ann@example.com,ou=Dynamic,o=Intranet", "{dn}");
            }
        }
    }

    #[test]
    fn special_characters_survive_conversion_to_stored_names_and_back() {
        assert_eq!(read("cn=a\\,b,objectClass=rtPerson").1, "cn=a\\,b,ou=Dynamic,o=Intranet");
        let mut out = Vec::new();
        assert!(write_client_name(b"cn=a\\,b,ou=Dynamic,o=Intranet", &mut out));
        assert_eq!(out, b"c=-,o=Microsoft,cn=a\\,b,objectClass=rtPerson");
    }
}
