//! Names of people: from their numbers to the bytes of DNs and filter values.

use std::sync::Arc;

use people::{Population, Profile};
use serde::{Deserialize, Serialize};
use table::Table;
use wire::dn::{Dn, Plain, escape_value};
use wire::ldap::Attributes;

use crate::fill::write_number;

/// The placeholder for a person's number in a template.
const PLACE: &str = "{i}";

/// Names of entries that a user's directory already holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamesSpec {
    /// The entries' RDN with `{i}` for their number: `uid=user.{i}`.
    pub template: String,
    /// Numbers run from 0 to `count` - 1.
    pub count: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NamesError {
    #[error("the name template {0:?} is not of the form attribute=text{{i}}, as in \"uid=user.{{i}}\"")]
    NoTemplate(String),
    /// The character would need an escape, and names and filters have different escapes.
    #[error("the name template {0:?} holds {1:?}, which is special in names: use letters, digits, . _ - @")]
    Special(String, char),
    #[error("names.count is 0: say how many entries the directory holds")]
    NoEntries,
    #[error("names.count is {count}, and the list has {listed} names")]
    TooFew { count: u64, listed: u64 },
}

/// The maximum number of characters of a name. Longer lines indicate a file that is not a list of names.
const LONGEST: usize = 10_000;

/// Names that follow no rule, by number: a column of a table.
#[derive(Debug)]
pub struct NameList {
    table: Arc<Table>,
    column: usize,
}

impl NameList {
    /// Takes the names of a column. Each cell has passed [`NameList::check`].
    pub const fn new(table: Arc<Table>, column: usize) -> Self {
        Self { table, column }
    }

    /// The error, if a cell cannot be a name.
    pub fn check(cell: &[u8]) -> Result<(), String> {
        let what = match cell {
            [] => "no name",
            _ if cell.iter().any(|byte| b"\n\r\0".contains(byte)) => "no name that one line could hold",
            _ if cell.len() > LONGEST
                && cell.iter().filter(|&byte| byte & 0xc0 != 0x80).count() > LONGEST =>
            {
                "no name that one line could hold"
            }
            _ => return Ok(()),
        };
        Err(format!("{what}; leave such lines out of the list"))
    }

    fn len(&self) -> u64 {
        self.table.rows() as u64
    }

    fn get(&self, number: u64) -> &[u8] {
        self.table.cell(number as usize, self.column).unwrap_or_default()
    }
}

/// A person of the target before the run, or a person that the run has added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    pub(super) number: u64,
    pub(super) added: bool,
}

/// A parsed template.
#[derive(Debug, Clone)]
pub(super) struct Template {
    attribute: String,
    before: String,
    after: String,
    base: String,
    /// The names that replace `{i}`; `None` if numbers replace `{i}`.
    list: Option<Arc<NameList>>,
}

impl Template {
    pub(super) fn new(spec: &NamesSpec, base: &str, list: Option<Arc<NameList>>) -> Result<Self, NamesError> {
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
        if let Some(listed) = list.as_ref().map(|list| list.len()).filter(|listed| *listed < spec.count) {
            return Err(NamesError::TooFew { count: spec.count, listed });
        }
        let [attribute, before, after, base] = [attribute, before, after, base].map(str::to_owned);
        Ok(Self { attribute, before, after, base, list })
    }

    fn write_value(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.before.as_bytes());
        match &self.list {
            Some(list) => out.extend_from_slice(list.get(number)),
            None => write_number(number, out),
        }
        out.extend_from_slice(self.after.as_bytes());
    }

    fn write_rdn(&self, number: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(self.attribute.as_bytes());
        out.push(b'=');
        match &self.list {
            Some(list) => escape_value(list.get(number), out),
            // Templates have no special characters.
            None => self.write_value(number, out),
        }
    }

    /// Whether attributes contain the looked-up value, ignoring case.
    fn is_value_in(&self, number: u64, attributes: Attributes<'_>, scratch: &mut Vec<u8>) -> bool {
        scratch.clear();
        self.write_value(number, scratch);
        values_of(attributes, self.attribute.as_bytes()).any(|value| same_text(value, scratch))
    }
}

/// The values of an attribute, up to the first malformed value.
pub(super) fn values_of<'a>(attributes: Attributes<'a>, name: &[u8]) -> impl Iterator<Item = &'a [u8]> {
    let named =
        attributes.iter().flatten().filter(move |attribute| attribute.name.eq_ignore_ascii_case(name));
    named.flat_map(|attribute| attribute.values.iter().flatten())
}

/// Whether two DNs name the same entry.
#[cold]
pub(super) fn is_same_name(one: &[u8], other: &[u8], scratch: &mut Vec<u8>) -> bool {
    let (Ok(one), Ok(other)) = (Dn::parse(one), Dn::parse(other)) else { return false };
    scratch.clear();
    one.write_normal(&Plain, scratch);
    let end = scratch.len();
    other.write_normal(&Plain, scratch);
    scratch[..end] == scratch[end..]
}

/// Whether two values are equal, ignoring case.
pub(super) fn same_text(a: &[u8], b: &[u8]) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    match (std::str::from_utf8(a), std::str::from_utf8(b)) {
        (Ok(a), Ok(b)) => a.to_lowercase() == b.to_lowercase(),
        _ => false,
    }
}

/// The names of people in requests and answers.
#[derive(Clone)]
pub(super) struct Names {
    pub(super) people: Option<Arc<Population>>,
    pub(super) template: Option<Template>,
    pub(super) profile: Profile,
}

impl Names {
    /// The number of people before anything is added.
    pub(super) fn count(&self, spec: Option<&NamesSpec>) -> u64 {
        match (spec, &self.people) {
            (Some(spec), _) => spec.count,
            (None, Some(people)) => people.spec().size,
            (None, None) => 0,
        }
    }

    pub(super) const fn ils(&self) -> bool {
        matches!(self.profile, Profile::Ils)
    }

    /// The population, if it knows all attributes of this person.
    pub(super) fn known(&self, person: Person) -> Option<&Population> {
        if self.template.is_some() && !person.added { None } else { self.people.as_deref() }
    }

    /// The attribute in the filter of a lookup of this person.
    #[inline]
    pub(super) fn attribute(&self, person: Person) -> &[u8] {
        match &self.template {
            Some(template) if !person.added => template.attribute.as_bytes(),
            _ => self.profile.naming().as_bytes(),
        }
    }

    /// Appends the value in the filter of a lookup of this person.
    #[inline]
    pub(super) fn write_value(&self, person: Person, out: &mut Vec<u8>) {
        match (&self.template, &self.people) {
            (Some(template), _) if !person.added => template.write_value(person.number, out),
            (_, Some(people)) => people.write_name(person.number, out),
            // The compiler refuses programs that would need a name here.
            (_, None) => {}
        }
    }

    /// Appends the person's DN as requests contain it.
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
            (_, Some(people)) if self.ils() => people.write_ils_dn(person.number, out),
            (_, Some(people)) => people.write_dn(person.number, out),
            (_, None) => {}
        }
    }

    /// Whether an entry belongs to the person, as its RDN or its looked-up attribute shows.
    pub(super) fn is_named(
        &self,
        person: Person,
        (dn, attributes): (&[u8], Attributes<'_>),
        scratch: &mut Vec<u8>,
    ) -> bool {
        let Some(template) = &self.template else { return false };
        scratch.clear();
        template.write_rdn(person.number, scratch);
        let starts_with_rdn = dn.split_at_checked(scratch.len()).is_some_and(|(first, rest)| {
            first.eq_ignore_ascii_case(scratch)
                && matches!(rest.first(), None | Some(b',' | b';' | b' ' | b'+'))
        });
        starts_with_rdn || template.is_value_in(person.number, attributes, scratch)
    }

    /// The naming attribute of the template, if there is one. A search for all people filters by it.
    pub(super) fn template_attribute(&self) -> Option<&[u8]> {
        self.template.as_ref().map(|template| template.attribute.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Result<Template, NamesError> {
        Template::new(&NamesSpec { template: text.into(), count: 10 }, "ou=people,dc=x", None)
    }

    fn names(text: &str) -> Names {
        Names { people: None, template: Some(template(text).unwrap()), profile: Profile::Paper }
    }

    const SEVEN: Person = Person { number: 7, added: false };

    #[test]
    fn a_template_yields_attribute_value_and_dn() {
        let names = names("uid=user.{i}");
        let (mut value, mut dn) = (Vec::new(), Vec::new());
        names.write_value(SEVEN, &mut value);
        names.write_dn(SEVEN, &mut dn);
        assert_eq!((&value[..], &dn[..]), (&b"user.7"[..], &b"uid=user.7,ou=people,dc=x"[..]));
        assert_eq!(names.attribute(SEVEN), b"uid");
    }

    /// A list of names: the second column of a table, in quotes.
    fn list(names: &[&str]) -> Arc<NameList> {
        let lines = names.iter().map(|name| format!("x,\"{name}\"\n")).collect::<String>();
        let form = table::Form { columns: Some(vec!["x".into(), "cn".into()]), ..Default::default() };
        let check = |column: usize, cell: &[u8]| if column == 1 { NameList::check(cell) } else { Ok(()) };
        Arc::new(NameList::new(Arc::new(Table::parse(lines.into(), &form, check).unwrap()), 1))
    }

    fn listed(names: &[&str]) -> Names {
        let list = list(names);
        let count = list.len();
        let spec = NamesSpec { template: "cn={i}".into(), count };
        let template = Template::new(&spec, "ou=people,dc=x", Some(list)).unwrap();
        Names { people: None, template: Some(template), profile: Profile::Paper }
    }

    #[test]
    fn a_list_yields_each_line_unchanged_but_escaped_in_distinguished_names() {
        let lines = ["jsmith", "Smith, John", " a+b ", "Ωμέγα", "#1*(x)\\"];
        let names = listed(&lines);
        for (number, line) in lines.into_iter().enumerate() {
            let person = Person { number: number as u64, added: false };
            let (mut value, mut dn) = (Vec::new(), Vec::new());
            names.write_value(person, &mut value);
            names.write_dn(person, &mut dn);
            assert_eq!(value, line.as_bytes());
            let parsed = wire::dn::Dn::parse(&dn).unwrap();
            let pair = parsed.rdns().next().unwrap().pairs().next().unwrap();
            let mut scratch = Vec::new();
            assert_eq!(pair.value.decode(&mut scratch), line.as_bytes(), "{line}");
        }
    }

    #[test]
    fn a_cell_that_is_empty_too_long_or_has_a_line_end_cannot_be_a_name() {
        let long = "ä".repeat(LONGEST);
        for name in ["a", " ", "a\"b,c", long.as_str()] {
            assert_eq!(NameList::check(name.as_bytes()), Ok(()));
        }
        let longer = long + "a";
        for name in ["", "a\nb", "\r", "a\0", longer.as_str()] {
            assert!(NameList::check(name.as_bytes()).unwrap_err().starts_with("no name"), "{name:?}");
        }
    }

    #[test]
    fn a_list_that_ends_too_early_is_refused() {
        let list = || Some(list(&["a", "b", "c"]));
        let spec = |count| NamesSpec { template: "uid={i}".into(), count };
        assert!(Template::new(&spec(3), "", list()).is_ok());
        assert_eq!(
            Template::new(&spec(4), "", list()).unwrap_err(),
            NamesError::TooFew { count: 4, listed: 3 }
        );
    }

    #[test]
    fn an_entry_is_named_by_its_rdn_or_by_the_searched_attribute() {
        let entry = |name: &[u8], values: &[&[u8]]| {
            let mut out = Vec::new();
            let mut set = Vec::new();
            for value in values {
                set.extend_from_slice(&[4, value.len() as u8]);
                set.extend_from_slice(value);
            }
            out.extend_from_slice(&[0x30, (name.len() + set.len() + 4) as u8, 4, name.len() as u8]);
            out.extend_from_slice(name);
            out.extend_from_slice(&[0x31, set.len() as u8]);
            out.extend_from_slice(&set);
            out
        };
        let names = listed(&["JSmith", "Ωmega"]);
        let at = |number, dn: &str, content: &[u8]| {
            let person = Person { number, added: false };
            names.is_named(person, (dn.as_bytes(), Attributes(content)), &mut Vec::new())
        };
        assert!(at(0, "cn=jsmith,dc=x", b""));
        assert!(at(0, "uid=7,dc=x", &entry(b"CN", &[b"other", b"jsmith"])));
        assert!(at(1, "uid=7,dc=x", &entry(b"cn", &["ωMEGA".as_bytes()])));
        assert!(!at(0, "uid=7,dc=x", &entry(b"cn", &[b"jsmith2"])));
        assert!(!at(0, "uid=7,dc=x", &entry(b"sn", &[b"jsmith"])));
        assert!(!at(0, "uid=7,dc=x", b""));
    }

    #[test]
    fn the_dn_of_an_answer_must_begin_with_the_whole_rdn() {
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
            let entry = (dn.as_bytes(), Attributes(b""));
            assert_eq!(names.is_named(SEVEN, entry, &mut scratch), right, "{dn}");
        }
    }

    #[test]
    fn invalid_name_templates_are_refused() {
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
        assert_eq!(Template::new(&empty, "", None).unwrap_err(), NamesError::NoEntries);
    }
}
