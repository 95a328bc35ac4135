//! A record, borrowed from the parser's buffer.

use super::error::{LdifError, Problem};
use super::line::Line;

/// A record: the DN of its entry, and its content or change.
#[derive(Debug, Clone, Copy)]
pub struct Record<'p> {
    /// The number of its first line in the file.
    pub line: u64,
    /// The DN as written in the file.
    pub dn: &'p [u8],
    /// The entry, with or without `changetype: add`; `None` for any other change.
    pub entry: Option<Attributes<'p>>,
}

/// The lines of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'p> {
    lines: &'p [Line],
    bytes: &'p [u8],
}

impl<'p> Record<'p> {
    /// Reads the lines of a record. There is at least one line.
    pub(super) fn read(lines: &'p [Line], bytes: &'p [u8]) -> Result<Self, LdifError> {
        let Some((first, rest)) = lines.split_first().filter(|(first, _)| first.is(bytes, b"dn")) else {
            let (number, label) = lines.first().map_or((0, String::new()), |l| (l.number, l.label(bytes)));
            return Err(Problem::NoName(label).at(number));
        };
        let (dn, line) = (first.value(bytes), first.number);
        let entry = match rest.split_first() {
            Some((second, _)) if second.is(bytes, b"control") => {
                return Err(Problem::Control.at(second.number));
            }
            Some((second, rest)) if second.is(bytes, b"changetype") => {
                let is_add = second.value(bytes).eq_ignore_ascii_case(b"add");
                is_add.then(|| Attributes::read(rest, bytes, second.number)).transpose()?
            }
            _ => Some(Attributes::read(rest, bytes, line)?),
        };
        Ok(Self { line, dn, entry })
    }
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

    /// The attribute description and the value of each line, in the order of the file.
    pub fn iter(self) -> impl Iterator<Item = (&'p [u8], &'p [u8])> {
        self.lines.iter().map(move |line| (line.name(self.bytes), line.value(self.bytes)))
    }

    /// Every attribute once, with all its values, in the order of first appearance.
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
}
