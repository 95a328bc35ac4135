//! The description of a UPD in the UPD itself.

use people::visitor::Visitors;
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use super::schema::SCHEMA_VERSION;

/// The contents of the table `meta`.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Manifest {
    pub schema_version: u32,
    pub seed: u64,
    /// The number of people at the build, numbered from 0. People created later are not counted.
    pub size: u64,
    /// [`Visitors::digest`], which identifies the people.
    pub population: String,
    /// SHA-256 of the pools file of the people.
    pub pools: String,
    /// SHA-256 of all fields above: equal digests mean equal rows at the build.
    pub digest: String,
}

impl Manifest {
    /// The manifest of a UPD with the first `size` visitors.
    pub fn new(visitors: &Visitors, size: u64) -> Self {
        let population = visitors.digest();
        let seed = visitors.seed();
        let identity = format!("sitebench-upd {SCHEMA_VERSION}\npopulation {population}\nsize {size}\n");
        let digest = format!("{:x}", Sha256::digest(identity.as_bytes()));
        Self {
            schema_version: SCHEMA_VERSION,
            seed,
            size,
            population,
            pools: visitors.pools_digest().to_owned(),
            digest,
        }
    }

    pub(super) fn write(&self, db: &Connection) -> rusqlite::Result<()> {
        let mut insert = db.prepare("INSERT INTO meta VALUES (?1, ?2)")?;
        for (key, value) in [
            ("schema_version", self.schema_version.to_string()),
            ("seed", self.seed.to_string()),
            ("size", self.size.to_string()),
            ("population", self.population.clone()),
            ("pools", self.pools.clone()),
            ("digest", self.digest.clone()),
        ] {
            insert.execute((key, value))?;
        }
        Ok(())
    }

    /// `None` if a field is missing or not a number.
    pub(super) fn read(db: &Connection) -> rusqlite::Result<Option<Self>> {
        let mut select = db.prepare("SELECT value FROM meta WHERE key = ?1")?;
        let mut value = |key: &str| match select.query_row([key], |row| row.get::<_, String>(0)) {
            Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
            other => other.map(Some),
        };
        let number = |text: Option<String>| text.and_then(|text| text.parse::<u64>().ok());
        let version = number(value("schema_version")?).and_then(|n| u32::try_from(n).ok());
        let (seed, size) = (number(value("seed")?), number(value("size")?));
        let (population, pools, digest) = (value("population")?, value("pools")?, value("digest")?);
        Ok((|| {
            Some(Self {
                schema_version: version?,
                seed: seed?,
                size: size?,
                population: population?,
                pools: pools?,
                digest: digest?,
            })
        })())
    }
}
