//! A naive directory: a list of entries that every request scans.

use wire::ldap::{ResultCode, Scope};

use super::words::Word;
use crate::store_common::all_hold;

/// The attributes of the model. Clients spell them as in `ALIASES`; the store spells them as
/// [`Attribute::name`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute {
    Cn,
    CnGerman,
    Sn,
    Custom,
    Number,
}

impl Attribute {
    pub const ALL: [Self; 5] = [Self::Cn, Self::CnGerman, Self::Sn, Self::Custom, Self::Number];

    pub fn name(self) -> &'static str {
        match self {
            Self::Cn => "cn",
            Self::CnGerman => "cn;lang-de",
            Self::Sn => "sn",
            Self::Custom => "favouriteWord",
            Self::Number => "uidNumber",
        }
    }

    pub fn alias(self) -> &'static str {
        match self {
            Self::Cn => "commonName",
            Self::CnGerman => "CN;Lang-DE",
            Self::Sn => "2.5.4.4",
            Self::Custom => "FAVOURITEWORD",
            Self::Number => "UIDNUMBER",
        }
    }

    fn is_text(self) -> bool {
        self != Self::Number
    }
}

/// A value: a word, or for [`Attribute::Number`] a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    Word(Word),
    Number(i64),
}

impl Value {
    pub fn spelled(self) -> String {
        match self {
            Self::Word(word) => word.spelled().to_owned(),
            Self::Number(number) => number.to_string(),
        }
    }

    fn same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Word(one), Self::Word(two)) => one.0 == two.0,
            (one, two) => one == two,
        }
    }
}

pub type Path = Vec<usize>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The words of the name, topmost first.
    pub path: Path,
    pub attributes: Vec<(Attribute, Vec<Value>)>,
    pub expires: Option<u32>,
}

/// The kind of a change, with its number in a request (RFC 4511 section 4.6).
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Add = 0,
    Delete = 1,
    Replace = 2,
}

pub type Change = (Kind, Attribute, Vec<Value>);

#[derive(Debug, Clone)]
pub enum Filter {
    And(Vec<Filter>),
    Or(Vec<Filter>),
    Not(Box<Filter>),
    Equal(Attribute, Value),
    Name(Word),
    Present(Attribute),
    Pieces(Attribute, Option<usize>, Vec<usize>, Option<usize>),
    AtLeast(i64),
    AtMost(i64),
    InName(Word),
    HasChildren(bool),
    Unknown,
}

#[derive(Debug, Default)]
pub struct Model {
    pub entries: Vec<Entry>,
}

type Verdict = Result<(), ResultCode>;

impl Model {
    fn position(&self, path: &[usize]) -> Option<usize> {
        self.entries.iter().position(|entry| entry.path == path)
    }

    /// Checks that the entry has not expired.
    fn alive(&self, at: usize, now: u32) -> Verdict {
        let over = self.entries[at].expires.is_some_and(|end| end <= now);
        if over { Err(ResultCode::NO_SUCH_OBJECT) } else { Ok(()) }
    }

    fn has_children(&self, path: &[usize]) -> bool {
        self.entries.iter().any(|entry| entry.path.len() == path.len() + 1 && entry.path.starts_with(path))
    }

    pub fn add(
        &mut self,
        path: Path,
        name: Word,
        mut attributes: Vec<(Attribute, Vec<Value>)>,
        expires: Option<u32>,
        now: u32,
    ) -> Verdict {
        if let Some(at) = self.position(&path) {
            if self.alive(at, now).is_ok() || self.has_children(&path) {
                return Err(ResultCode::ENTRY_ALREADY_EXISTS);
            }
            self.entries.remove(at);
        }
        if path.len() > 1 {
            self.find(&path[..path.len() - 1], now)?;
        }
        ensure(&mut attributes, name);
        check(&attributes)?;
        self.entries.push(Entry { path, attributes, expires });
        Ok(())
    }

    /// Returns the position of an entry that has not expired.
    fn find(&self, path: &[usize], now: u32) -> Result<usize, ResultCode> {
        let at = self.position(path).ok_or(ResultCode::NO_SUCH_OBJECT)?;
        self.alive(at, now).map(|()| at)
    }

    pub fn remove(&mut self, path: &[usize], now: u32) -> Verdict {
        let at = self.find(path, now)?;
        if self.has_children(path) {
            return Err(ResultCode::NOT_ALLOWED_ON_NON_LEAF);
        }
        self.entries.remove(at);
        Ok(())
    }

    pub fn modify(&mut self, path: &[usize], changes: &[Change], now: u32) -> Verdict {
        let at = self.find(path, now)?;
        let mut attributes = self.entries[at].attributes.clone();
        for change in changes {
            apply(&mut attributes, change)?;
        }
        let named = Value::Word(Word(path[path.len() - 1], 0));
        if !values(&attributes, Attribute::Cn).any(|value| value.same(named)) {
            return Err(ResultCode::NOT_ALLOWED_ON_RDN);
        }
        check(&attributes)?;
        self.entries[at].attributes = attributes;
        Ok(())
    }

    pub fn rename(
        &mut self,
        path: &[usize],
        name: Word,
        delete_old: bool,
        superior: Option<&[usize]>,
        now: u32,
    ) -> Verdict {
        let at = self.find(path, now)?;
        let parent = superior.unwrap_or(&path[..path.len() - 1]);
        if !parent.is_empty() && superior.is_some() {
            self.find(parent, now)?;
        }
        if parent.starts_with(path) {
            return Err(ResultCode::UNWILLING_TO_PERFORM);
        }
        let target: Path = parent.iter().copied().chain([name.0]).collect();
        if target != path && self.position(&target).is_some() {
            return Err(ResultCode::ENTRY_ALREADY_EXISTS);
        }
        let entry = &mut self.entries[at];
        if delete_old {
            let old = Value::Word(Word(path[path.len() - 1], 0));
            entry.attributes.iter_mut().filter(|(which, _)| *which == Attribute::Cn).for_each(
                |(_, values)| {
                    values.retain(|value| !value.same(old));
                },
            );
            entry.attributes.retain(|(_, values)| !values.is_empty());
        }
        ensure(&mut entry.attributes, name);
        for entry in self.entries.iter_mut().filter(|entry| entry.path.starts_with(path)) {
            entry.path = target.iter().chain(&entry.path[path.len()..]).copied().collect();
        }
        Ok(())
    }

    /// Removes expired entries without children, leaves first.
    pub fn expire(&mut self, now: u32) {
        let is_due = |model: &Self, entry: &Entry| {
            entry.expires.is_some_and(|at| at <= now) && !model.has_children(&entry.path)
        };
        while let Some(at) = self.entries.iter().position(|entry| is_due(self, entry)) {
            self.entries.remove(at);
        }
    }

    pub fn search(&self, base: &[usize], scope: Scope, filter: &Filter, now: u32) -> Vec<Path> {
        let reached = |entry: &&Entry| match scope {
            Scope::Base => entry.path == base,
            Scope::One => entry.path.len() == base.len() + 1 && entry.path.starts_with(base),
            Scope::Subtree => entry.path.starts_with(base),
            Scope::Children => entry.path.len() > base.len() && entry.path.starts_with(base),
        };
        let alive = |entry: &&Entry| entry.expires.is_none_or(|at| at > now);
        let matching = self.entries.iter().filter(reached).filter(alive);
        let matching = matching.filter(|entry| self.evaluate(entry, filter) == Some(true));
        matching.map(|entry| entry.path.clone()).collect()
    }

    fn evaluate(&self, entry: &Entry, filter: &Filter) -> Option<bool> {
        match filter {
            Filter::And(filters) => {
                let values: Vec<_> = filters.iter().map(|filter| self.evaluate(entry, filter)).collect();
                all_hold(&values)
            }
            Filter::Or(filters) => {
                let values = filters.iter().map(|filter| self.evaluate(entry, filter));
                let denied: Vec<_> = values.map(|value| value.map(|value| !value)).collect();
                all_hold(&denied).map(|value| !value)
            }
            Filter::Not(filter) => self.evaluate(entry, filter).map(|value| !value),
            Filter::Equal(which, expected) => {
                Some(asserted(entry, *which).any(|value| value.same(*expected)))
            }
            Filter::Name(word) => {
                let named =
                    |which: Attribute| matches!(which, Attribute::Cn | Attribute::CnGerman | Attribute::Sn);
                let mut values =
                    entry.attributes.iter().filter(|(which, _)| named(*which)).flat_map(|(_, values)| values);
                Some(values.any(|value| value.same(Value::Word(*word))))
            }
            Filter::Present(which) => Some(asserted(entry, *which).next().is_some()),
            Filter::Pieces(which, initial, any, last) => {
                let has = |value| pieces_match(value, *initial, any, *last);
                which.is_text().then(|| asserted(entry, *which).any(has))
            }
            Filter::AtLeast(number) => Some(numbers(entry).any(|value| value >= *number)),
            Filter::AtMost(number) => Some(numbers(entry).any(|value| value <= *number)),
            Filter::InName(word) => Some(
                entry.path.contains(&word.0)
                    || asserted(entry, Attribute::Cn).any(|v| v.same(Value::Word(*word))),
            ),
            Filter::HasChildren(expected) => Some(self.has_children(&entry.path) == *expected),
            Filter::Unknown => None,
        }
    }
}

fn values(attributes: &[(Attribute, Vec<Value>)], which: Attribute) -> impl Iterator<Item = Value> {
    attributes.iter().filter(move |(one, _)| *one == which).flat_map(|(_, values)| values.iter().copied())
}

/// The values that an attribute description matches, with subtypes that have more options.
fn asserted(entry: &Entry, which: Attribute) -> impl Iterator<Item = Value> {
    let also = if which == Attribute::Cn { Attribute::CnGerman } else { which };
    let attributes = entry.attributes.iter().filter(move |(one, _)| *one == which || *one == also);
    attributes.flat_map(|(_, values)| values.iter().copied())
}

fn numbers(entry: &Entry) -> impl Iterator<Item = i64> {
    values(&entry.attributes, Attribute::Number).filter_map(|value| match value {
        Value::Number(number) => Some(number),
        Value::Word(_) => None,
    })
}

fn pieces_match(value: Value, initial: Option<usize>, any: &[usize], last: Option<usize>) -> bool {
    let Value::Word(word) = value else {
        return false;
    };
    let piece = |number: usize| super::words::PIECES[number].1;
    let Some(mut rest) = word.form().strip_prefix(initial.map_or("", piece)) else {
        return false;
    };
    for number in any {
        match rest.find(piece(*number)) {
            Some(at) => rest = &rest[at + piece(*number).len()..],
            None => return false,
        }
    }
    rest.ends_with(last.map_or("", piece))
}

fn ensure(attributes: &mut Vec<(Attribute, Vec<Value>)>, name: Word) {
    let value = Value::Word(name);
    match attributes.iter_mut().find(|(which, _)| *which == Attribute::Cn) {
        Some((_, values)) if values.iter().any(|other| other.same(value)) => {}
        Some((_, values)) => values.push(value),
        None => attributes.push((Attribute::Cn, vec![value])),
    }
}

fn apply(attributes: &mut Vec<(Attribute, Vec<Value>)>, (kind, which, new): &Change) -> Verdict {
    match kind {
        Kind::Add => {
            for value in new {
                if values(attributes, *which).any(|other| other.same(*value)) {
                    return Err(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS);
                }
                match attributes.iter_mut().find(|(one, _)| one == which) {
                    Some((_, values)) => values.push(*value),
                    None => attributes.push((*which, vec![*value])),
                }
            }
        }
        Kind::Delete => {
            let at =
                attributes.iter().position(|(one, _)| one == which).ok_or(ResultCode::NO_SUCH_ATTRIBUTE)?;
            if new.is_empty() {
                attributes.remove(at);
                return Ok(());
            }
            for value in new {
                let place = attributes[at].1.iter().position(|other| other.same(*value));
                attributes[at].1.remove(place.ok_or(ResultCode::NO_SUCH_ATTRIBUTE)?);
            }
            attributes.retain(|(_, values)| !values.is_empty());
        }
        Kind::Replace => match attributes.iter_mut().find(|(one, _)| one == which) {
            _ if new.is_empty() => attributes.retain(|(one, _)| one != which),
            Some((_, values)) => *values = new.clone(),
            None => attributes.push((*which, new.clone())),
        },
    }
    Ok(())
}

/// Checks that no value is repeated and that there is at most one number.
fn check(attributes: &[(Attribute, Vec<Value>)]) -> Verdict {
    for (which, values) in attributes {
        if *which == Attribute::Number && values.len() > 1 {
            return Err(ResultCode::CONSTRAINT_VIOLATION);
        }
        let again = |(at, value): (usize, &Value)| values[..at].iter().any(|other| other.same(*value));
        if values.iter().enumerate().any(again) {
            return Err(ResultCode::ATTRIBUTE_OR_VALUE_EXISTS);
        }
    }
    Ok(())
}
