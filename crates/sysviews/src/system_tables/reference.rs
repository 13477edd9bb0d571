//! information_schema views that do not depend on data: engines, character sets, collations, keywords, plugins.

use super::cursor::ViewRows;
use crate::result::text;
use values::Value;

#[rustfmt::skip]
#[path = "../generated/keywords.rs"]
#[allow(clippy::all)]
mod words;

/// Plugins as SHOW PLUGINS lists them: name, type.
pub(crate) const PLUGINS: &[(&str, &str)] = &[
    ("caching_sha2_password", "AUTHENTICATION"),
    ("mysql_native_password", "AUTHENTICATION"),
    ("InnoDB", "STORAGE ENGINE"),
];

pub(super) fn engines() -> ViewRows {
    crate::engines::ROWS.iter().map(|row| row.map(text).to_vec()).collect()
}

pub(super) fn character_sets() -> ViewRows {
    let row = |charset: &charset::Charset| {
        vec![
            text(charset.name),
            text(charset.default_collation.get().name),
            text(charset.description),
            Value::UInt(u64::from(charset.max_bytes)),
        ]
    };
    charset::charsets().iter().map(row).collect()
}

pub(super) fn collations() -> ViewRows {
    let mut all: Vec<&charset::Collation> = charset::collations().iter().collect();
    all.sort_by_key(|collation| collation.name);
    let row = |collation: &charset::Collation| {
        vec![
            text(collation.name),
            text(collation.charset().name),
            Value::UInt(u64::from(collation.id.0)),
            text(if collation.is_default { "Yes" } else { "" }),
            text("Yes"),
            Value::UInt(u64::from(collation.sort_length)),
            Value::UInt(if collation.pad_space { 1 } else { 2 }),
        ]
    };
    all.into_iter().map(row).collect()
}

pub(super) fn collation_charsets() -> ViewRows {
    let row = |collation: &charset::Collation| vec![text(collation.name), text(collation.charset().name)];
    charset::collations().iter().map(row).collect()
}

pub(super) fn keywords() -> ViewRows {
    words::ALL.iter().map(|(word, reserved)| vec![text(*word), Value::Int(i64::from(*reserved))]).collect()
}

pub(super) fn plugins() -> ViewRows {
    let row = |(name, kind): &(&str, &str)| {
        vec![
            text(*name),
            text("1.0"),
            text("ACTIVE"),
            text(*kind),
            text("1.0"),
            Value::Null,
            Value::Null,
            text("Iruka"),
            text(*name),
            text("Apache-2.0"),
            text("FORCE"),
        ]
    };
    PLUGINS.iter().map(row).collect()
}
