//! What survives what.

/// When a write counts as stored; see the module of the UPD.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// Committed: survives the end of the process.
    #[default]
    Normal,
    /// Committed and synced: survives a loss of power too.
    Full,
}

impl Durability {
    /// SQLite's name for it (`PRAGMA synchronous`).
    pub(super) const fn synchronous(self) -> &'static str {
        match self {
            Self::Normal => "NORMAL",
            Self::Full => "FULL",
        }
    }
}
