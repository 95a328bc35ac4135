//! The pools of names, cities and so on for people, read from a file.
//!
//! ```text
//! sitebench-pools 1
//! faker 40.1.0
//! [de_DE given]
//! Käthe
//! Jörg
//! [de_DE family]
//! ...
//! ```
//!
//! UTF-8, one value per line, empty lines ignored. Every locale has every [`Field`]. The order of locales and
//! values is part of the population, because a draw is a position.

use sha2::{Digest, Sha256};

/// First line of a pools file.
const HEADER: &str = "sitebench-pools 1";
/// The longest value in bytes. The limit keeps an encoded attribute and its offsets small.
const LONGEST_VALUE: usize = 256;

/// The use of a pool's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Field {
    Given,
    Family,
    /// User names, as in the local part of an e-mail address: ASCII.
    User,
    City,
    Company,
    Job,
    Phone,
    /// ISO 3166 code of the country, two letters.
    Country,
    Text,
}

const FIELDS: [(Field, &str); 9] = [
    (Field::Given, "given"),
    (Field::Family, "family"),
    (Field::User, "user"),
    (Field::City, "city"),
    (Field::Company, "company"),
    (Field::Job, "job"),
    (Field::Phone, "phone"),
    (Field::Country, "country"),
    (Field::Text, "text"),
];

/// The errors of a pools file. The remedy is always to harvest the pools again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolsError {
    #[error("not a pools file: it does not begin with '{HEADER}'; harvest the pools again")]
    NoHeader,
    #[error("line 2 of the pools file should say 'faker <version>'; harvest the pools again")]
    NoFakerVersion,
    /// A line that begins with `[` and is not `[locale field]`, or repeats a section.
    #[error("line {line} of the pools file: {text:?} opens no section; harvest the pools again")]
    BadSection { line: usize, text: String },
    /// A value that no attribute can have.
    #[error("line {line} of the pools file: {why}; harvest the pools again")]
    BadValue { line: usize, why: &'static str },
    #[error("the pools file has no [{locale} {field}]; harvest the pools again")]
    Missing { locale: String, field: &'static str },
}

#[derive(Debug, Clone)]
pub struct Pools {
    digest: String,
    faker_version: String,
    locales: Vec<LocalePools>,
}

#[derive(Debug, Clone)]
pub(crate) struct LocalePools {
    pub(crate) name: String,
    fields: [Vec<String>; FIELDS.len()],
}

impl Pools {
    pub fn parse(text: &str) -> Result<Self, PoolsError> {
        let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line));
        if lines.next().is_none_or(|(_, line)| line != HEADER) {
            return Err(PoolsError::NoHeader);
        }
        let version = lines.next().and_then(|(_, line)| line.strip_prefix("faker "));
        let faker_version = version.ok_or(PoolsError::NoFakerVersion)?.to_owned();
        let mut pools = Self { digest: hex_digest(text.as_bytes()), faker_version, locales: Vec::new() };
        let mut open = None;
        for (line, text) in lines.filter(|(_, text)| !text.is_empty()) {
            if text.starts_with('[') {
                let bad = || PoolsError::BadSection { line, text: text.to_owned() };
                open = Some(pools.open_section(text).ok_or_else(bad)?);
                continue;
            }
            let bad = |why| PoolsError::BadValue { line, why };
            let (locale, field) = open.ok_or_else(|| bad("a value before the first section"))?;
            check(field, text).map_err(bad)?;
            pools.locales[locale].fields[field as usize].push(text.to_owned());
        }
        pools.check_complete()?;
        Ok(pools)
    }

    /// SHA-256 of the file, in hexadecimal.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The version of Faker that the values come from.
    pub fn faker_version(&self) -> &str {
        &self.faker_version
    }

    /// In the order of the file.
    pub fn locales(&self) -> impl Iterator<Item = &str> {
        self.locales.iter().map(|locale| locale.name.as_str())
    }

    pub(crate) fn locale(&self, name: &str) -> Option<&LocalePools> {
        self.locales.iter().find(|locale| locale.name == name)
    }

    /// The index of the locale and the field of `[locale field]`, unless that section exists already.
    fn open_section(&mut self, line: &str) -> Option<(usize, Field)> {
        let (name, field) = line.strip_prefix('[')?.strip_suffix(']')?.split_once(' ')?;
        let &(field, _) = FIELDS.iter().find(|(_, known)| *known == field)?;
        let known = self.locales.iter().position(|locale| locale.name == name);
        let locale = known.unwrap_or_else(|| {
            self.locales.push(LocalePools { name: name.to_owned(), fields: Default::default() });
            self.locales.len() - 1
        });
        self.locales[locale].fields[field as usize].is_empty().then_some((locale, field))
    }

    fn check_complete(&self) -> Result<(), PoolsError> {
        for locale in &self.locales {
            if let Some(&(_, field)) = FIELDS.iter().find(|(field, _)| locale.values(*field).is_empty()) {
                return Err(PoolsError::Missing { locale: locale.name.clone(), field });
            }
        }
        Ok(())
    }
}

impl LocalePools {
    pub(crate) fn values(&self, field: Field) -> &[String] {
        &self.fields[field as usize]
    }
}

fn check(field: Field, value: &str) -> Result<(), &'static str> {
    if value.len() > LONGEST_VALUE {
        return Err("a value of more than 256 bytes");
    }
    if value.chars().any(char::is_control) {
        return Err("a control character");
    }
    if value.trim() != value {
        return Err("a value with spaces around it");
    }
    match field {
        // RFC 4517 section 3.3.4: Country String.
        Field::Country if value.len() != 2 || !value.bytes().all(|b| b.is_ascii_uppercase()) => {
            Err("a country that is not two capital letters")
        }
        // RFC 5321 section 4.1.2: an atom of a mailbox's local part, with the characters of user names only.
        Field::User if !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)) => {
            Err("a user name of other characters than letters, digits, '-', '_' and '.'")
        }
        _ => Ok(()),
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn hex_digest(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
