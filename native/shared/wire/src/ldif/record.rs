//! A record, borrowed from the parser's buffer.

use super::error::{LdifError, Problem};
use super::line::{Line, excerpt};
use crate::ber::{self, tag};

/// A record: the DN of its entry, and its content or change.
#[derive(Debug, Clone, Copy)]
pub struct Record<'p> {
    /// The line of the file where it begins.
    pub line: u64,
    /// The name, as it is written there.
    pub dn: &'p [u8],
    /// What it says.
    pub body: Body<'p>,
}

/// What a record says about its name.
#[derive(Debug, Clone, Copy)]
pub enum Body<'p> {
    /// The entry is this (no `changetype`).
    Content(Attributes<'p>),
    /// Add this entry.
    Add(Attributes<'p>),
    /// Delete the entry.
    Delete,
    /// Change the entry.
    Modify(Modifications<'p>),
    /// Rename or move the entry.
    ModifyDn {
        /// Its new RDN.
        new_rdn: &'p [u8],
        /// Whether the old RDN's values leave the entry.
        delete_old_rdn: bool,
        /// The new parent, if it moves.
        new_superior: Option<&'p [u8]>,
    },
}

/// The lines of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'p> {
    lines: &'p [Line],
    bytes: &'p [u8],
}

/// The modifications of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Modifications<'p> {
    lines: &'p [Line],
    bytes: &'p [u8],
}

/// One modification.
#[derive(Debug, Clone, Copy)]
pub struct Modification<'p> {
    /// What happens to the values.
    pub kind: ModificationKind,
    /// The attribute description.
    pub attribute: &'p [u8],
    values: Attributes<'p>,
}

/// What happens to the values; the numbers are the protocol's (RFC 4511 section 4.6, RFC 4525).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after RFC 4511 section 4.6")]
pub enum ModificationKind {
    Add = 0,
    Delete = 1,
    Replace = 2,
    Increment = 3,
}

impl<'p> Record<'p> {
    /// Reads the lines of one record, of which there is at least one.
    pub(super) fn read(lines: &'p [Line], bytes: &'p [u8]) -> Result<Self, LdifError> {
        let Some((first, rest)) = lines.split_first().filter(|(first, _)| first.is(bytes, b"dn")) else {
            let (number, label) = lines.first().map_or((0, String::new()), |l| (l.number, l.label(bytes)));
            return Err(Problem::NoName(label).at(number));
        };
        let (dn, line) = (first.value(bytes), first.number);
        let Some((second, more)) = rest.split_first() else {
            return Err(Problem::Empty.at(line));
        };
        if second.is(bytes, b"control") {
            return Err(Problem::Control.at(second.number));
        }
        let body = if second.is(bytes, b"changetype") {
            change(second, more, bytes)?
        } else {
            Body::Content(Attributes::read(rest, bytes, line)?)
        };
        Ok(Self { line, dn, body })
    }
}

fn change<'p>(kind: &Line, lines: &'p [Line], bytes: &'p [u8]) -> Result<Body<'p>, LdifError> {
    match kind.value(bytes).to_ascii_lowercase().as_slice() {
        b"add" => Ok(Body::Add(Attributes::read(lines, bytes, kind.number)?)),
        b"delete" => match lines.first() {
            None => Ok(Body::Delete),
            Some(line) => Err(Problem::Unexpected(line.label(bytes)).at(line.number)),
        },
        b"modify" => {
            let modifications = Modifications { lines, bytes };
            modifications.check(kind.number)?;
            Ok(Body::Modify(modifications))
        }
        b"modrdn" | b"moddn" => modify_dn(lines, bytes, kind.number),
        other => Err(Problem::ChangeType(excerpt(other)).at(kind.number)),
    }
}

fn modify_dn<'p>(lines: &'p [Line], bytes: &'p [u8], before: u64) -> Result<Body<'p>, LdifError> {
    let field = |place: usize, name: &[u8]| match lines.get(place) {
        Some(line) if line.is(bytes, name) => Ok(line.value(bytes)),
        Some(line) => Err(Problem::NoNewName(line.label(bytes)).at(line.number)),
        None => Err(Problem::NoNewName("the end of the record".to_owned()).at(before)),
    };
    let new_rdn = field(0, b"newrdn")?;
    let delete_old_rdn = match field(1, b"deleteoldrdn")? {
        b"0" => false,
        b"1" => true,
        other => return Err(Problem::DeleteOldRdn(excerpt(other)).at(lines[1].number)),
    };
    let superior = lines.get(2).filter(|line| line.is(bytes, b"newsuperior"));
    if let Some(line) = lines.get(if superior.is_some() { 3 } else { 2 }) {
        return Err(Problem::Unexpected(line.label(bytes)).at(line.number));
    }
    Ok(Body::ModifyDn { new_rdn, delete_old_rdn, new_superior: superior.map(|line| line.value(bytes)) })
}

impl<'p> Attributes<'p> {
    fn read(lines: &'p [Line], bytes: &'p [u8], before: u64) -> Result<Self, LdifError> {
        if lines.is_empty() {
            return Err(Problem::Empty.at(before));
        }
        match lines.iter().find(|line| line.is_dash() || line.is(bytes, b"dn")) {
            Some(line) => Err(Problem::Unexpected(line.label(bytes)).at(line.number)),
            None => Ok(Self { lines, bytes }),
        }
    }

    /// Attribute description and value of each line, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = (&'p [u8], &'p [u8])> {
        self.lines.iter().map(move |line| (line.name(self.bytes), line.value(self.bytes)))
    }

    /// Each attribute once, with all its values, in the order of first appearance.
    pub fn grouped(self) -> Vec<(&'p [u8], Vec<&'p [u8]>)> {
        let mut lines: Vec<_> = self.iter().enumerate().collect();
        lines.sort_by_cached_key(|(_, (name, _))| name.to_ascii_lowercase());
        let mut groups: Vec<_> = lines
            .chunk_by(|(_, (a, _)), (_, (b, _))| a.eq_ignore_ascii_case(b))
            .map(|chunk| (chunk[0].0, chunk[0].1.0, chunk.iter().map(|(_, (_, value))| *value).collect()))
            .collect();
        groups.sort_by_key(|(place, _, _)| *place);
        groups.into_iter().map(|(_, name, values)| (name, values)).collect()
    }

    /// Appends the entry's AttributeList (RFC 4511 section 4.7).
    pub fn encode(self, out: &mut Vec<u8>) {
        ber::write_nested(out, tag::SEQUENCE, |out| {
            for (name, values) in self.grouped() {
                crate::ldap::request::write_attribute(out, name, values);
            }
        });
    }
}

impl<'p> Modifications<'p> {
    /// The modifications in their order.
    pub fn iter(self) -> impl Iterator<Item = Modification<'p>> {
        let bytes = self.bytes;
        self.lines.split(|line| line.is_dash()).filter_map(move |lines| modification(lines, bytes).ok()?)
    }

    fn check(self, before: u64) -> Result<(), LdifError> {
        if self.lines.is_empty() {
            return Err(Problem::Empty.at(before));
        }
        self.lines
            .split(|line| line.is_dash())
            .try_for_each(|lines| modification(lines, self.bytes).map(drop))
    }
}

/// `None` for no lines: what comes after the last `-`.
fn modification<'p>(lines: &'p [Line], bytes: &'p [u8]) -> Result<Option<Modification<'p>>, LdifError> {
    let Some((first, values)) = lines.split_first() else {
        return Ok(None);
    };
    let kind = match first.name(bytes).to_ascii_lowercase().as_slice() {
        b"add" => ModificationKind::Add,
        b"delete" => ModificationKind::Delete,
        b"replace" => ModificationKind::Replace,
        b"increment" => ModificationKind::Increment,
        _ => return Err(Problem::NoModification(first.label(bytes)).at(first.number)),
    };
    let attribute = first.value(bytes).trim_ascii();
    match values.iter().find(|line| !line.is(bytes, attribute)) {
        Some(other) => {
            let expected = excerpt(attribute);
            Err(Problem::OtherAttribute { expected, found: other.label(bytes) }.at(other.number))
        }
        None => Ok(Some(Modification { kind, attribute, values: Attributes { lines: values, bytes } })),
    }
}

impl<'p> Modification<'p> {
    /// The values.
    pub fn values(self) -> impl Iterator<Item = &'p [u8]> {
        self.values.iter().map(|(_, value)| value)
    }
}
