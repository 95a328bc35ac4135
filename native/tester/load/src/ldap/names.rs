//! Names of people: from their number to the bytes of DNs and filter values.

use std::sync::Arc;

use people::{Population, Profile};
use serde::{Deserialize, Serialize};

/// Where a template has the number.
const PLACE: &str = "{i}";

/// Names of entries that a user's directory already holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamesSpec {
    /// The entries' RDN with `{i}` for their number: `uid=user.{i}`.
    pub template: String,
    /// Numbers run from 0 to below this.
    pub count: u64,
}

/// Why a template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamesError {
    /// Not `attribute=text{i}text`.
    #[error("the name template {0:?} is not of the form attribute=text{{i}}, as in \"uid=user.{{i}}\"")]
    NoTemplate(String),
    /// It would need escaping, which differs between names and filters.
    #[error("the name template {0:?} holds {1:?}, which is special in names: use letters, digits, . _ - @")]
    Special(String, char),
    /// A directory without entries.
    #[error("names.count is 0: say how many entries the directory holds")]
    NoEntries,
}

/// A person: one of those that were there before, or one that the run has added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    pub(super) number: u64,
    pub(super) added: bool,
}

/// A template taken apart.
#[derive(Debug, Clone)]
pub(super) struct Template {
    attribute: String,
    before: String,
    after: String,
    base: String,
}

impl Template {
    pub(super) fn new(spec: &NamesSpec, base: &str) -> Result<Self, NamesError> {
        let wrong = || NamesError::NoTemplate(spec.template.clone());
        let (attribute, value) = spec.template.split_once('=').ok_or_else(wrong)?;
        let (before, after) = value.split_once(PLACE).ok_or_else(wrong)?;
        if attribute.is_empty() || !attribute.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
        {
            return Err(wrong());
        }
        let special = |c: &char| " \"#+,;<=>\\*()\0".contains(*c);
        if let Some(c) = before.chars().chain(after.chars()).find(special) {
            return Err(NamesError::Special(spec.template.clone(), c));
        }
        if spec.count == 0 {
            return Err(NamesError::NoEntries);
        }
        let [attribute, before, after, base] = [attribute, before, after, base].map(str::to_owned);
        Ok(Self { attribute, before, after, base })
    }

    fn write_value(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.before.as_bytes());
        write_decimal(number, out);
        out.extend_from_slice(self.after.as_bytes());
    }

    fn write_rdn(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.attribute.as_bytes());
        out.push(b'=');
        self.write_value(number, out);
    }
}

fn write_decimal(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// How people are named in requests and answers.
#[derive(Clone)]
pub(super) struct Names {
    pub(super) people: Option<Arc<Population>>,
    pub(super) template: Option<Template>,
    pub(super) ils: bool,
}

impl Names {
    /// How many people there are before anything is added.
    pub(super) fn count(&self, spec: Option<&NamesSpec>) -> u64 {
        match (spec, &self.people) {
            (Some(spec), _) => spec.count,
            (None, Some(people)) => people.spec().size,
            (None, None) => 0,
        }
    }

    /// The scope of searches for people. ILS clients search at a class (see `ILS_BASE`), which has nothing
    /// below it.
    pub(super) const fn scope(&self) -> wire::ldap::Scope {
        if self.ils { wire::ldap::Scope::Base } else { wire::ldap::Scope::Subtree }
    }

    /// The population, if it knows everything about this person.
    #[inline]
    pub(super) fn known(&self, person: Person) -> Option<&Population> {
        if self.template.is_some() && !person.added { None } else { self.people.as_deref() }
    }

    /// The attribute that lookups of this person filter by.
    #[inline]
    pub(super) fn attribute(&self, person: Person) -> &[u8] {
        match &self.template {
            Some(template) if !person.added => template.attribute.as_bytes(),
            _ => b"cn",
        }
    }

    /// Appends the value of that attribute.
    #[inline]
    pub(super) fn write_value(&self, person: Person, out: &mut Vec<u8>) {
        match (&self.template, &self.people) {
            (Some(template), _) if !person.added => template.write_value(person.number, out),
            (_, Some(people)) => people.write_name(person.number, out),
            // Refused when the program was compiled.
            (_, None) => {}
        }
    }

    /// Appends the DN that requests use.
    #[inline]
    pub(super) fn write_dn(&self, person: Person, out: &mut Vec<u8>) {
        match (&self.template, &self.people) {
            (Some(template), _) if !person.added => {
                template.write_rdn(person.number, out);
                if !template.base.is_empty() {
                    out.push(b',');
                    out.extend_from_slice(template.base.as_bytes());
                }
            }
            (_, Some(people)) if self.ils => people.write_ils_dn(person.number, out),
            (_, Some(people)) => people.write_dn(person.number, out),
            (_, None) => {}
        }
    }

    /// Whether an answer's DN starts with the RDN that a template gives this person, in any case.
    pub(super) fn starts_with_rdn(&self, person: Person, dn: &[u8], scratch: &mut Vec<u8>) -> bool {
        let Some(template) = &self.template else { return false };
        scratch.clear();
        template.write_rdn(person.number, scratch);
        let Some((first, rest)) = dn.split_at_checked(scratch.len()) else { return false };
        first.eq_ignore_ascii_case(scratch) && matches!(rest.first(), None | Some(b',' | b';' | b' ' | b'+'))
    }

    /// The naming attribute of the template, if there is one: a search for all people filters by it.
    pub(super) fn template_attribute(&self) -> Option<&[u8]> {
        self.template.as_ref().map(|template| template.attribute.as_bytes())
    }
}

/// Whether requests name people as ILS does.
pub(super) const fn is_ils(profile: Profile) -> bool {
    matches!(profile, Profile::Ils)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Result<Template, NamesError> {
        Template::new(&NamesSpec { template: text.into(), count: 10 }, "ou=people,dc=x")
    }

    fn names(text: &str) -> Names {
        Names { people: None, template: Some(template(text).unwrap()), ils: false }
    }

    const SEVEN: Person = Person { number: 7, added: false };

    #[test]
    fn a_template_gives_value_and_dn() {
        let names = names("uid=user.{i}");
        let (mut value, mut dn) = (Vec::new(), Vec::new());
        names.write_value(SEVEN, &mut value);
        names.write_dn(SEVEN, &mut dn);
        assert_eq!((&value[..], &dn[..]), (&b"user.7"[..], &b"uid=user.7,ou=people,dc=x"[..]));
        assert_eq!(names.attribute(SEVEN), b"uid");
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        for number in [0, 9, 10, 4_711, u64::MAX] {
            let mut out = Vec::new();
            write_decimal(number, &mut out);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }

    #[test]
    fn an_answer_s_name_must_start_with_the_whole_rdn() {
        let names = names("uid=user.{i}");
        let mut scratch = Vec::new();
        for (dn, right) in [
            ("uid=user.7,ou=people,dc=x", true),
            ("UID=User.7,OU=elsewhere", true),
            ("uid=user.7", true),
            ("uid=user.70,ou=people,dc=x", false),
            ("uid=user.8,ou=people,dc=x", false),
            ("cn=user.7,ou=people,dc=x", false),
            ("uid=", false),
        ] {
            assert_eq!(names.starts_with_rdn(SEVEN, dn.as_bytes(), &mut scratch), right, "{dn}");
        }
    }

    #[test]
    fn templates_that_cannot_work_are_refused() {
        for (text, expected) in [
            ("user.{i}", "not of the form"),
            ("uid=user", "not of the form"),
            ("=user.{i}", "not of the form"),
            ("uid=user,{i}", "holds ','"),
            ("cn=a {i}", "holds ' '"),
            ("uid=*{i}", "holds '*'"),
        ] {
            let error = template(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        let empty = NamesSpec { template: "uid={i}".into(), count: 0 };
        assert_eq!(Template::new(&empty, "").unwrap_err(), NamesError::NoEntries);
    }
}
