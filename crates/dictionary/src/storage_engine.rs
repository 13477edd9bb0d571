//! Names of storage engines. All tables are kept by one engine; the name that a table was made with is kept for dumps, and what
//! MySQL's engine of that name cannot hold is refused. Main type: [`StorageEngine`].

/// The engine that a table is said to be kept by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StorageEngine {
    /// InnoDB.
    #[default]
    InnoDb,
    /// MyISAM.
    MyIsam,
    /// MEMORY, or HEAP.
    Memory,
    /// CSV.
    Csv,
}

impl StorageEngine {
    /// All of them, by the number that stands in stored definitions.
    pub const ALL: [StorageEngine; 4] =
        [StorageEngine::InnoDb, StorageEngine::MyIsam, StorageEngine::Memory, StorageEngine::Csv];

    /// As SHOW CREATE TABLE has it.
    pub fn name(self) -> &'static str {
        match self {
            StorageEngine::InnoDb => "InnoDB",
            StorageEngine::MyIsam => "MyISAM",
            StorageEngine::Memory => "MEMORY",
            StorageEngine::Csv => "CSV",
        }
    }

    /// The engine of that name, in any case.
    pub fn named(name: &str) -> Option<StorageEngine> {
        StorageEngine::ALL.into_iter().find(|engine| engine.name().eq_ignore_ascii_case(name))
    }

    /// Whether foreign keys are kept; others have them read, and forgotten.
    pub fn has_foreign_keys(self) -> bool {
        self == StorageEngine::InnoDb
    }
}
