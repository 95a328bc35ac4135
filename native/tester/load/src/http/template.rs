//! Texts with fields in them: `user={id}`.

use super::escape::Escape;
use super::field::{Field, FieldValues};

/// A text with fields in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone)]
enum Part {
    Text(Vec<u8>),
    Field(Field, Escape),
}

impl Template {
    /// Reads a template whose fields are escaped that way.
    pub(super) fn read(text: &str, how: Escape) -> Result<Self, String> {
        let mut template = Self::default();
        template.push(text, how)?;
        Ok(template)
    }

    /// Appends a text without fields.
    pub(super) fn push_text(&mut self, text: &str) {
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.extend_from_slice(text.as_bytes()),
            _ if text.is_empty() => {}
            _ => self.parts.push(Part::Text(text.as_bytes().to_vec())),
        }
    }

    /// Appends another template. Braces around anything but a name are just braces, so that JSON and
    /// style sheets need no escapes.
    pub(super) fn push(&mut self, text: &str, how: Escape) -> Result<(), String> {
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            self.push_text(before);
            let name = from[1..].split('}').next().unwrap_or_default();
            let closed = from.len() > name.len() + 1;
            let is_name = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'.');
            if closed && is_name && !name.is_empty() {
                self.parts.push(Part::Field(Field::named(name)?, how));
                rest = &from[name.len() + 2..];
            } else {
                self.push_text("{");
                rest = &from[1..];
            }
        }
        self.push_text(rest);
        Ok(())
    }

    pub(super) fn fields(&self) -> impl Iterator<Item = Field> {
        self.parts.iter().filter_map(|part| match part {
            Part::Field(field, _) => Some(*field),
            Part::Text(_) => None,
        })
    }

    /// The whole text, if there is no field in it.
    pub(super) fn text(&self) -> Option<&[u8]> {
        match &self.parts[..] {
            [] => Some(b""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn write(&self, values: &FieldValues<'_>, out: &mut Vec<u8>) {
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Field(field, how) => field.write(values, *how, out),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use people::visitor::Visitor;

    fn written(text: &str, how: Escape) -> String {
        let visitor = Visitor {
            given: "Ann & Li".into(),
            sections: r#"["news","local"]"#.into(),
            city: "Köln".into(),
            ..Visitor::default()
        };
        let values =
            FieldValues { id: 42, visitor: &visitor, captured: b"k1", draw: 0x00ab_cdef, moved_to: &visitor };
        let mut out = Vec::new();
        Template::read(text, how).unwrap().write(&values, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_are_put_in_their_places() {
        assert_eq!(written("/u/{id}?g={given}&x", Escape::Percent), "/u/42?g=Ann%20%26%20Li&x");
        assert_eq!(written("Hello, {given}!", Escape::Html), "Hello, Ann &amp; Li!");
        assert_eq!(written("{sections} {captured}", Escape::Plain), "news,local k1");
        assert_eq!(written("c={draw.colour}&t={draw.city}", Escape::Percent), "c=%23abcdef&t=K%C3%B6ln");
    }

    #[test]
    fn other_braces_are_braces() {
        assert_eq!(written(r#"{"id": "{id}", "a": {}}"#, Escape::Json), r#"{"id": "42", "a": {}}"#);
        assert_eq!(written("{", Escape::Plain), "{");
        assert_eq!(written("{id", Escape::Plain), "{id");
    }

    #[test]
    fn an_unknown_field_is_refused_with_the_known_ones() {
        let error = Template::read("{shoe_size}", Escape::Plain).unwrap_err();
        assert!(error.contains("{shoe_size}") && error.contains("birth_year"), "{error}");
    }
}
