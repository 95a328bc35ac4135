//! Fields of forms, and the changes that they request.

use people::visitor::{SECTIONS, Visitor};

use crate::limits::TEXT_BYTES;
use crate::page::{MOST_ITEMS, MOST_SECTIONS, is_colour};
use crate::upd::{Changes, write_strings};

/// The length of the longest interest that fits the page.
const INTEREST_BYTES: usize = 24;
/// The length of the longest ticker symbols with the suffix of their exchange.
const STOCK_BYTES: usize = 12;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FieldError {
    #[error("there is no property {0:?}")]
    Unknown(String),
    #[error("{field}: {why}")]
    Bad { field: &'static str, why: &'static str },
    #[error("the form names no property")]
    Empty,
}

type Fields = [(String, String)];

const fn bad(field: &'static str, why: &'static str) -> FieldError {
    FieldError::Bad { field, why }
}

/// The changes that a form requests.
pub(crate) fn changes(fields: &Fields) -> Result<Changes, FieldError> {
    let changes = read(fields)?;
    if changes == Changes::default() { Err(FieldError::Empty) } else { Ok(changes) }
}

fn read(fields: &Fields) -> Result<Changes, FieldError> {
    if let Some((name, _)) = fields.iter().find(|(name, _)| !PREFERENCES.contains(&name.as_str())) {
        return Err(FieldError::Unknown(name.clone()));
    }
    Ok(Changes {
        background: last(fields, "background").map(|value| colour("background", value)).transpose()?,
        accent: last(fields, "accent").map(|value| colour("accent", value)).transpose()?,
        city: last(fields, "city").map(|value| text("city", value)).transpose()?,
        language: last(fields, "language").map(language).transpose()?,
        sections: list(fields, "sections", MOST_SECTIONS, |item| SECTIONS.contains(&item))?,
        interests: list(fields, "interests", MOST_ITEMS, |item| {
            item.len() <= INTEREST_BYTES && !item.chars().any(char::is_control)
        })?,
        stocks: list(fields, "stocks", MOST_ITEMS, |item| {
            let symbol = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'.' || b == b'-';
            item.len() <= STOCK_BYTES && item.bytes().all(symbol)
        })?,
        newsletter: last(fields, "newsletter").map(flag).transpose()?,
    })
}

const PREFERENCES: [&str; 8] =
    ["background", "accent", "city", "language", "sections", "interests", "stocks", "newsletter"];

/// The default name, colours and sections of a new person.
const DEFAULT_GIVEN: &str = "Guest";
const DEFAULT_BACKGROUND: &str = "#eef3f8";
const DEFAULT_ACCENT: &str = "#1f4e79";
const DEFAULT_SECTIONS: &str = r#"["news","weather","local"]"#;

/// A new person. Every field is optional.
pub(crate) fn newcomer(fields: &Fields, now_unix_s: u64) -> Result<Visitor, FieldError> {
    let of_person = |name: &str| !PREFERENCES.contains(&name);
    let preferences: Vec<_> = fields.iter().filter(|(name, _)| !of_person(name)).cloned().collect();
    let chosen = read(&preferences)?;
    let mut visitor = Visitor {
        background: chosen.background.unwrap_or_else(|| DEFAULT_BACKGROUND.to_owned()),
        accent: chosen.accent.unwrap_or_else(|| DEFAULT_ACCENT.to_owned()),
        city: chosen.city.unwrap_or_default(),
        language: chosen.language.unwrap_or_else(|| "en".to_owned()),
        sections: chosen.sections.unwrap_or_else(|| DEFAULT_SECTIONS.to_owned()),
        interests: chosen.interests.unwrap_or_else(|| "[]".to_owned()),
        stocks: chosen.stocks.unwrap_or_else(|| "[]".to_owned()),
        newsletter: chosen.newsletter.unwrap_or(false),
        visits: 1,
        last_visit: i64::try_from(now_unix_s).unwrap_or(i64::MAX),
        ..Visitor::default()
    };
    for (name, value) in fields.iter().filter(|(name, _)| of_person(name)) {
        match name.as_str() {
            "name" => visitor.name = text("name", value)?,
            "given" => visitor.given = text("given", value)?,
            "family" => visitor.family = text("family", value)?,
            "mail" => visitor.mail = text("mail", value)?,
            "country" => visitor.country = text("country", value)?,
            "occupation" => visitor.occupation = text("occupation", value)?,
            "company" => visitor.company = text("company", value)?,
            "birth_year" => visitor.birth_year = year(value)?,
            _ => return Err(FieldError::Unknown(name.clone())),
        }
    }
    name(&mut visitor);
    Ok(visitor)
}

/// Derives a missing full name from its parts, or missing parts from the full name.
fn name(visitor: &mut Visitor) {
    if visitor.name.is_empty() {
        visitor.name = format!("{} {}", visitor.given, visitor.family).trim().to_owned();
    }
    if visitor.given.is_empty() {
        visitor.given = visitor.name.split(' ').next().unwrap_or_default().to_owned();
    }
    if visitor.given.is_empty() {
        visitor.given = DEFAULT_GIVEN.to_owned();
        visitor.name = DEFAULT_GIVEN.to_owned();
    }
}

/// The last value of a field. A ticked checkbox has two values: first the value of the hidden field, then its
/// own.
fn last<'f>(fields: &'f Fields, name: &str) -> Option<&'f str> {
    fields.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn text(field: &'static str, value: &str) -> Result<String, FieldError> {
    let value = value.trim();
    if value.len() > TEXT_BYTES {
        return Err(bad(field, "longer than 256 bytes"));
    }
    if value.chars().any(char::is_control) {
        return Err(bad(field, "a control character"));
    }
    Ok(value.to_owned())
}

fn colour(field: &'static str, value: &str) -> Result<String, FieldError> {
    if is_colour(value) { Ok(value.to_owned()) } else { Err(bad(field, "not a colour like #1f4e79")) }
}

fn language(value: &str) -> Result<String, FieldError> {
    // A language tag in its usual lengths (RFC 5646 section 2.1).
    let tag =
        (2..=11).contains(&value.len()) && value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if tag { Ok(value.to_owned()) } else { Err(bad("language", "not a language like en")) }
}

fn flag(value: &str) -> Result<bool, FieldError> {
    match value {
        "1" | "on" | "true" => Ok(true),
        "0" | "off" | "false" => Ok(false),
        _ => Err(bad("newsletter", "neither 1 nor 0")),
    }
}

fn year(value: &str) -> Result<i64, FieldError> {
    let year = value.parse().ok().filter(|year| (1_850..=2_200).contains(year));
    year.ok_or(bad("birth_year", "not a year like 1971"))
}

/// All values of a field, without duplicates. The field may be repeated, or its values separated by commas.
fn list(
    fields: &Fields,
    name: &'static str,
    most: usize,
    accepts: impl Fn(&str) -> bool,
) -> Result<Option<String>, FieldError> {
    let mut given = fields.iter().filter(|(known, _)| known == name).peekable();
    if given.peek().is_none() {
        return Ok(None);
    }
    let mut items: Vec<&str> = Vec::new();
    for item in given.flat_map(|(_, value)| value.split(',')).map(str::trim).filter(|item| !item.is_empty()) {
        if !accepts(item) {
            return Err(bad(name, "a value that is not among those there are"));
        }
        if !items.contains(&item) {
            items.push(item);
        }
    }
    if items.len() > most {
        return Err(bad(name, "more values than a page has room for"));
    }
    Ok(Some(write_strings(items)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::fields;

    fn changed(body: &str) -> Result<Changes, FieldError> {
        changes(&fields(body.as_bytes(), 128).unwrap())
    }

    #[test]
    fn two_submitted_properties_change_and_the_other_properties_stay() {
        let expected =
            Changes { background: Some("#00ff00".into()), city: Some("Köln".into()), ..Changes::default() };
        assert_eq!(changed("background=%2300ff00&city=K%C3%B6ln+"), Ok(expected));
    }

    #[test]
    fn checkboxes_and_comma_separated_lists_are_equivalent() {
        let expected = Some(r#"["news","local"]"#.to_owned());
        for body in ["sections=&sections=news&sections=local", "sections=news,+local,news"] {
            assert_eq!(changed(body).unwrap().sections, expected);
        }
        assert_eq!(changed("sections=").unwrap().sections.as_deref(), Some("[]"), "none is a choice too");
        assert_eq!(changed("newsletter=0&newsletter=1").unwrap().newsletter, Some(true));
    }

    #[test]
    fn the_refusal_of_an_invalid_property_names_the_property() {
        for body in [
            "background=red",
            "accent=",
            "language=e",
            "language=%3Cb%3E",
            "sections=nonsense",
            "stocks=ibm",
            "newsletter=2",
            "city=a%00b",
            "interests=1,2,3,4,5,6,7,8,9",
        ] {
            let error = changed(body).unwrap_err();
            let field = body.split('=').next().unwrap();
            assert!(matches!(&error, FieldError::Bad { field: known, .. } if *known == field), "{error}");
        }
        assert_eq!(changed("colour=%23000000"), Err(FieldError::Unknown("colour".into())));
        assert_eq!(changed(""), Err(FieldError::Empty));
    }

    #[test]
    fn all_properties_of_a_new_user_are_optional() {
        let joined = |body: &str| newcomer(&fields(body.as_bytes(), 128).unwrap(), 5).unwrap();
        let guest = joined("");
        assert_eq!((guest.given.as_str(), guest.name.as_str(), guest.last_visit), ("Guest", "Guest", 5));
        assert_eq!(guest.sections, DEFAULT_SECTIONS);
        let anna = joined("name=Anna+Maria+Rossi&city=Roma&stocks=IBM&birth_year=1971");
        assert_eq!((anna.given.as_str(), anna.city.as_str(), anna.birth_year), ("Anna", "Roma", 1971));
        assert_eq!(joined("given=Li&family=Na").name, "Li Na");
        assert!(newcomer(&fields(b"id=7", 128).unwrap(), 5).is_err());
    }
}
