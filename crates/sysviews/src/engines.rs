//! Storage engine names. Iruka has one engine; the names of others are known so that dumps load.

/// Names that ENGINE= and default_storage_engine accept, in MySQL's spelling.
const KNOWN: &[&str] =
    &["InnoDB", "MyISAM", "MEMORY", "CSV", "ARCHIVE", "BLACKHOLE", "MRG_MYISAM", "PERFORMANCE_SCHEMA"];

/// The engine of that name in MySQL's spelling.
pub fn find(name: &str) -> Option<&'static str> {
    match name.to_ascii_uppercase().as_str() {
        "HEAP" => Some("MEMORY"),
        "MERGE" => Some("MRG_MYISAM"),
        "INNOBASE" => Some("InnoDB"),
        upper => KNOWN.iter().find(|known| known.eq_ignore_ascii_case(upper)).copied(),
    }
}

/// Rows of SHOW ENGINES: name, support, comment, transactions, XA, savepoints.
pub const ROWS: &[[&str; 6]] = &[[
    "InnoDB",
    "DEFAULT",
    "Supports transactions, row-level locking, and crash recovery",
    "YES",
    "NO",
    "YES",
]];
