//! The durability of writes.

/// When a write counts as stored; see the module of the UPD.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Committed: the write survives the end of the process.
    #[default]
    Normal,
    /// Committed and synced: the write survives a loss of power, too.
    Full,
}

impl Durability {
    /// SQLite's name of the setting (`PRAGMA synchronous`).
    pub(super) const fn synchronous(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
        }
    }
}
