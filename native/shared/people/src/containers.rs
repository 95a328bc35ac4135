//! The entries above the people: the suffix, and the entries between the suffix and the people.

use wire::dn::{Dn, DnError, Pair};

/// An entry above people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// The DN as written in the base.
    pub dn: String,
    pub attributes: Vec<(String, Vec<Vec<u8>>)>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContainersError {
    #[error("the base {base:?} is no distinguished name: {why}; write it like ou=Dynamic,o=Intranet")]
    NotADn { base: String, why: DnError },
    /// The RDN has several pairs, or this crate has no structural class for the RDN's attribute.
    #[error(
        "no entry can be made for {rdn:?} of the base; use o=, ou=, dc=, c=, l= or st=, or create it yourself"
    )]
    UnknownType { rdn: String },
}

/// The entries that `base` needs, beginning with the suffix.
///
/// The suffix is the last RDN of the base, or all dc RDNs at the end of the base, because no server holds
/// `dc=com`.
pub fn containers(base: &str) -> Result<Vec<Container>, ContainersError> {
    let not_a_dn = |why| ContainersError::NotADn { base: base.to_owned(), why };
    let base = Dn::parse(base.as_bytes()).map_err(not_a_dn)?;
    let names: Vec<Dn<'_>> =
        std::iter::successors(Some(base), |dn| dn.parent()).take_while(|dn| !dn.is_root()).collect();
    let domain = names.iter().rev().take_while(|&&dn| is_domain_part(dn)).count();
    let held = names.len().saturating_sub(domain.saturating_sub(1));
    names[..held].iter().rev().map(|&dn| container(dn)).collect()
}

fn is_domain_part(dn: Dn<'_>) -> bool {
    pair(dn).is_some_and(|pair| pair.is(b"dc"))
}

/// The pair of a name's first RDN; `None` if the RDN has several pairs.
fn pair(dn: Dn<'_>) -> Option<Pair<'_>> {
    let mut pairs = dn.split_first()?.0.pairs();
    pairs.next().filter(|_| pairs.next().is_none())
}

fn container(dn: Dn<'_>) -> Result<Container, ContainersError> {
    let unknown = || {
        let rdn = dn.split_first().map_or(&b""[..], |(rdn, _)| rdn.as_bytes());
        ContainersError::UnknownType { rdn: text(rdn) }
    };
    let pair = pair(dn).ok_or_else(unknown)?;
    let class = class(pair.attribute).ok_or_else(unknown)?;
    let mut value = Vec::new();
    pair.value.write(&mut value);
    Ok(Container {
        dn: text(dn.as_bytes()),
        attributes: vec![
            ("objectClass".to_owned(), vec![b"top".to_vec(), class.as_bytes().to_vec()]),
            (text(pair.attribute), vec![value]),
        ],
    })
}

/// The structural class for a naming attribute (RFC 4519 section 3; for dc, RFC 4524 section 3.4).
fn class(attribute: &[u8]) -> Option<&'static str> {
    match attribute.to_ascii_lowercase().as_slice() {
        b"o" => Some("organization"),
        b"ou" => Some("organizationalUnit"),
        b"dc" => Some("domain"),
        b"c" => Some("country"),
        b"l" | b"st" => Some("locality"),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_containers_of_a_base_begin_with_its_suffix() {
        for (base, expected) in [
            ("ou=Dynamic,o=Intranet", &["o=Intranet", "ou=Dynamic,o=Intranet"][..]),
            ("ou=a, o=b,c=DE", &["c=DE", "o=b,c=DE", "ou=a, o=b,c=DE"]),
            ("dc=example,dc=com", &["dc=example,dc=com"]),
            ("ou=People,DC=example,DC=com", &["DC=example,DC=com", "ou=People,DC=example,DC=com"]),
            // The root DSE needs no container.
            ("", &[]),
        ] {
            let dns: Vec<_> = containers(base).unwrap().into_iter().map(|container| container.dn).collect();
            assert_eq!(dns, expected);
        }
    }

    #[test]
    fn container_attributes_hold_the_unescaped_value() {
        let container = &containers(r"o=Smith\, Jones\20\26 Co").unwrap()[0];
        assert_eq!(container.dn, r"o=Smith\, Jones\20\26 Co");
        assert_eq!(container.attributes[1], ("o".to_owned(), vec![b"Smith, Jones & Co".to_vec()]));
    }

    #[test]
    fn an_invalid_base_is_refused_with_an_example() {
        for base in ["Dynamic", "ou=a,,o=b", "=x", "ou=a\\"] {
            let error = containers(base).unwrap_err();
            assert!(matches!(error, ContainersError::NotADn { .. }), "{base:?}: {error}");
        }
    }

    #[test]
    fn the_refusal_of_an_rdn_without_a_container_class_names_the_rdn() {
        for rdn in ["uid=x", "ou=a+l=b"] {
            let error = containers(&format!("{rdn},o=y")).unwrap_err();
            assert_eq!(error, ContainersError::UnknownType { rdn: rdn.to_owned() });
        }
    }
}
