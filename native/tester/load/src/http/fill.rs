//! Texts of requests and of expectations: filled in, with the escape of their place.

use scenario::{Block, Field, Part as Piece, Template};

use super::escape::{Escape, push};
use super::visitors::{PeopleView, Property};
use crate::compile_error::Result;
use crate::fill::{LaneData, Plan, Text};

/// A text whose fields have been resolved.
#[derive(Debug, Clone, Default)]
pub(super) struct Fill {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(Vec<u8>),
    Value(Text, Escape),
    /// A property of a person. The thread derives all properties of a person at once.
    Person {
        source: usize,
        property: Property,
        how: Escape,
    },
}

/// The plan and the block for which the texts of a step are compiled.
#[derive(Clone, Copy)]
pub(super) struct Site<'p> {
    pub(super) plan: &'p Plan,
    pub(super) block: &'p Block,
    /// Whether properties of people are known.
    pub(super) has_visitors: bool,
}

impl Fill {
    pub(super) fn of(site: Site<'_>, template: &Template, how: Escape) -> Result<Self> {
        let mut fill = Self::default();
        fill.push(site, template, how)?;
        Ok(fill)
    }

    /// Appends a template; its fields are escaped with `how`.
    pub(super) fn push(&mut self, site: Site<'_>, template: &Template, how: Escape) -> Result<()> {
        for part in &template.parts {
            match part {
                Piece::Text(text) => self.push_text(text.as_bytes()),
                Piece::Field(field) => {
                    self.push_field(site, field, how).map_err(|error| error.of(template))?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn push_field(&mut self, site: Site<'_>, field: &Field, how: Escape) -> Result<()> {
        let text = site.plan.field(field, site.block)?;
        if how == Escape::Line {
            site.plan.check_cells(&text, |cell| match is_line(cell) {
                true => Ok(()),
                false => Err("holds a control character, which no header can".to_owned()),
            })?;
        }
        if let Some(literal) = text.literal() {
            // Literals are escaped at compile time.
            if how == Escape::Line && !is_line(literal) {
                return Err(format!("{field} holds a control character, which no header can").into());
            }
            let mut escaped = Vec::new();
            push(&mut escaped, literal, how);
            self.push_text(&escaped);
            return Ok(());
        }
        let person = site.plan.person_column(&text);
        let property = person.and_then(|(source, name)| Some((source, Property::named(name)?)));
        self.parts.push(match property {
            Some((_, property)) if property.is_derived() && !site.has_visitors => {
                return Err(
                    "it names properties of people, but the engine was started without visitors".into()
                );
            }
            Some((source, property)) => Part::Person { source, property, how },
            None => Part::Value(text, how),
        });
        Ok(())
    }

    /// Appends a text without escaping it.
    pub(super) fn push_value(&mut self, text: Text) {
        self.parts.push(Part::Value(text, Escape::Plain));
    }

    pub(super) fn push_text(&mut self, text: &[u8]) {
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.extend_from_slice(text),
            _ if text.is_empty() => {}
            _ => self.parts.push(Part::Text(text.to_vec())),
        }
    }

    /// The whole text, if it has no fields.
    pub(super) fn literal(&self) -> Option<&[u8]> {
        match &self.parts[..] {
            [] => Some(b""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The texts of the fields, except properties of people.
    pub(super) fn values(&self) -> impl Iterator<Item = &Text> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value(text, _) => Some(text),
            _ => None,
        })
    }

    /// The sources of the people whose properties are in the text.
    pub(super) fn people(&self) -> impl Iterator<Item = usize> {
        self.parts.iter().filter_map(|part| match part {
            Part::Person { source, .. } => Some(*source),
            _ => None,
        })
    }
}

/// Whether a text is allowed in a header (RFC 9110 section 5.5).
fn is_line(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte == b'\t' || (byte >= 0x20 && byte != 0x7f))
}

/// The values for the fields of texts.
pub(super) struct Filler<'a> {
    pub(super) plan: &'a Plan,
    pub(super) data: &'a LaneData,
    pub(super) rng: &'a mut fastrand::Rng,
    pub(super) people: &'a mut PeopleView,
    /// Buffer for a value before its escape.
    pub(super) raw: &'a mut Vec<u8>,
}

impl Filler<'_> {
    /// Appends a text. `false` if a value is not allowed at its place.
    #[inline]
    pub(super) fn write(&mut self, fill: &Fill, out: &mut Vec<u8>) -> bool {
        for part in &fill.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Value(text, Escape::Plain) => self.plan.write(text, self.data, self.rng, out),
                Part::Value(text, how) => {
                    self.raw.clear();
                    self.plan.write(text, self.data, self.rng, self.raw);
                    match how {
                        Escape::Line if is_line(self.raw) => out.extend_from_slice(self.raw),
                        Escape::Line => return false,
                        _ => push(out, self.raw, *how),
                    }
                }
                Part::Person { source, property, how } => {
                    self.people.write(self.data.row(*source), *property, *how, out);
                }
            }
        }
        true
    }
}
