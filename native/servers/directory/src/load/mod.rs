//! Fills the store before the first client connects.

mod groups;
mod ldif;
mod population;
mod tree;

use std::path::{Path, PathBuf};
use std::{fs, io};

use people::{Groups, Population};
use wire::ber::{Reader, tag};
use wire::ldap::Attributes;
use wire::ldif::LdifError;

use crate::config::Config;
use crate::ils_names::Names;
use crate::schema::{Schema, SchemaError};
use crate::settings::Settings;
use crate::store::{Refusal, Store, UnixSeconds};

#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(
        "the suffix {suffix:?} is not a distinguished name ({why}); write it like o=Intranet or dc=example,dc=com"
    )]
    Suffix { suffix: String, why: Refusal },
    #[error(
        "the people's base {base:?} is not below the suffix {suffix:?}; set the suffix to the end of the base"
    )]
    BaseOutside { base: String, suffix: String },
    /// The entries above the people cannot be generated.
    #[error(transparent)]
    Containers(#[from] people::ContainersError),
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{}, {source}", path.display())]
    Schema { path: PathBuf, source: SchemaError },
    #[error("{}, {source}", path.display())]
    Ldif { path: PathBuf, source: LdifError },
    /// A record of the file is a change record, or the directory refuses to add the entry.
    #[error("{}, line {line}: {dn:?} was not added: {why}", path.display())]
    Record {
        path: PathBuf,
        /// The number of the first line of the record.
        line: u64,
        dn: String,
        why: String,
    },
    /// A group is larger than an entry may be.
    #[error(
        "the group {dn:?} has more than an entry may have ({why}); ask for fewer --members, or raise the limits \
         values_per_entry ({values}), entry_bytes and write_work"
    )]
    Group { dn: String, why: Refusal, values: usize },
    #[error("{dn:?} was not added: {why}")]
    Entry { dn: String, why: Refusal },
}

impl LoadError {
    fn of_entry(dn: &[u8], why: Refusal) -> Self {
        Self::Entry { dn: String::from_utf8_lossy(dn).into_owned(), why }
    }
}

/// Adds an entry with an encoded list of attributes.
fn add(store: &mut Store, dn: &[u8], list: &[u8], now: UnixSeconds) -> Result<(), Refusal> {
    let attributes = Attributes(Reader::new(list).expect(tag::SEQUENCE).unwrap_or_default());
    store.add(dn, attributes, now).map(drop)
}

/// Adds the definitions of a schema file.
pub(crate) fn define(schema: &mut Schema, path: &Path) -> Result<(), LoadError> {
    let text =
        fs::read_to_string(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    schema.load(&text).map_err(|source| LoadError::Schema { path: path.to_owned(), source })
}

/// Fills the store with the contents that the configuration names.
pub(crate) fn fill(
    store: &mut Store,
    config: &Config,
    settings: &Settings,
    people: Option<&Population>,
    groups: Option<&Groups>,
    now: UnixSeconds,
) -> Result<(), LoadError> {
    store
        .add_suffix(config.suffix.as_bytes())
        .map_err(|why| LoadError::Suffix { suffix: config.suffix.clone(), why })?;
    if let Some(path) = &config.ldif {
        ldif::load(store, path, settings, now)?;
    }
    tree::grow(store, &config.suffix, &config.suffix, now)?;
    if let Some(names) = &settings.ils {
        tree::grow(store, &config.suffix, &String::from_utf8_lossy(&names.container), now)?;
    }
    if let Some(people) = people {
        tree::grow(store, &config.suffix, &people.spec().base, now)?;
        if people.spec().profile.has_passwords() {
            settings.note_password();
        }
        population::load(store, people, now)?;
    }
    if let Some(groups) = groups {
        groups::load(store, groups, &config.limits, now)?;
    }
    Ok(())
}

/// The names of ILS users. Their container is the base of the population, or the usual container of Internet
/// Locator Servers.
pub(crate) fn ils_names(config: &Config, people: Option<&Population>) -> Option<Names> {
    matches!(config.profile, people::Profile::Ils).then(|| {
        let container = match people {
            Some(people) => people.spec().base.clone(),
            None => format!("ou=Dynamic,{}", config.suffix),
        };
        Names::new(container.as_bytes(), config.ils_ttl_s)
    })
}
