//! Loads an LDIF file (RFC 2849) as a stream: memory grows with the entries, not with the file.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use wire::ber::{Reader, tag};
use wire::ldap::{Attributes, request};
use wire::ldif::{MAX_RECORD_BYTES, Parser, Record};

use super::LoadError;
use crate::auth;
use crate::settings::Settings;
use crate::store::{Store, UnixSeconds};

/// The size of the buffer for reading the file.
const READ_BYTES: usize = 1 << 20;

/// An attribute that 389 Directory Server exports with every entry, and that no schema defines. It is
/// dropped, like the attributes that this server sets itself.
const ENTRY_ID: &[u8] = b"entryid";

struct Loader<'s> {
    store: &'s mut Store,
    path: &'s Path,
    settings: &'s Settings,
    now: UnixSeconds,
    attributes: Vec<u8>,
    first: bool,
}

/// Adds every entry of the file, in which parents precede their children.
pub(super) fn load(
    store: &mut Store,
    path: &Path,
    settings: &Settings,
    now: UnixSeconds,
) -> Result<(), LoadError> {
    let mut loader = Loader { store, path, settings, now, attributes: Vec::new(), first: true };
    let unreadable = |source| LoadError::Read { path: path.to_owned(), source };
    let malformed = |source| LoadError::Ldif { path: path.to_owned(), source };
    let mut file = BufReader::with_capacity(READ_BYTES, File::open(path).map_err(unreadable)?);
    let mut parser = Parser::default();
    let mut line = Vec::new();
    while read_line(&mut file, &mut line).map_err(unreadable)? {
        if let Some(record) = parser.feed(&line).map_err(malformed)? {
            loader.add(&record)?;
        }
    }
    match parser.finish().map_err(malformed)? {
        Some(record) => loader.add(&record),
        None => Ok(()),
    }
}

/// Reads the next line, up to the length of the longest record; false at the end of the file.
fn read_line(file: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    let limit = MAX_RECORD_BYTES as u64 + 2;
    match file.take(limit).read_until(b'\n', line) {
        Ok(count) => Ok(count > 0),
        Err(error) if error.kind() == ErrorKind::Interrupted => read_line(file, line),
        Err(error) => Err(error),
    }
}

impl Loader<'_> {
    fn add(&mut self, record: &Record<'_>) -> Result<(), LoadError> {
        let refused = |why: String| LoadError::Record {
            path: self.path.to_owned(),
            line: record.line,
            dn: String::from_utf8_lossy(record.dn).into_owned(),
            why,
        };
        let Some(lines) = record.entry else {
            return Err(refused("it describes a change; a file to start with holds entries only".into()));
        };
        if std::mem::take(&mut self.first) {
            // A file from another server has another suffix than the configured suffix.
            let outside = self.store.suffixes().all(|suffix| !is_below(record.dn, suffix));
            if outside {
                self.store.add_suffix(record.dn).map_err(|why| refused(why.to_string()))?;
            }
        }
        self.attributes.clear();
        let schema = self.store.schema();
        let is_set_here = |name: &[u8]| match schema.resolve(name) {
            Some(id) => schema.attribute(id).read_only,
            None => name.eq_ignore_ascii_case(ENTRY_ID),
        };
        wire::ber::write_nested(&mut self.attributes, tag::SEQUENCE, |out| {
            for (name, values) in lines.grouped() {
                if !is_set_here(name) {
                    request::write_attribute(out, name, values);
                }
            }
        });
        let content = Reader::new(&self.attributes).expect(tag::SEQUENCE).unwrap_or_default();
        let attributes = Attributes(content);
        if auth::includes_password(attributes) {
            self.settings.note_password();
        }
        self.store.add(record.dn, attributes, self.now).map(drop).map_err(|why| refused(why.to_string()))
    }
}

fn is_below(dn: &[u8], suffix: &[u8]) -> bool {
    let normal = crate::settings::normal;
    match (normal(dn), normal(suffix)) {
        (Some(dn), Some(suffix)) => wire::dn::normal::is_at_or_below(&dn, &suffix),
        // The store refuses a malformed name and reports the reason.
        _ => true,
    }
}
