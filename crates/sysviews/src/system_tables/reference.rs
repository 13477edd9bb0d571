//! information_schema views that do not depend on data: engines, character sets, collations, keywords, plugins.

use super::{Emit, SystemTables};
use crate::result::text;
use errors::SqlResult;
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

fn emit_all(rows: impl Iterator<Item = Vec<Value>>, emit: Emit<'_>) -> SqlResult<()> {
    for row in rows {
        if !emit(row)? {
            break;
        }
    }
    Ok(())
}

impl SystemTables<'_> {
    pub(super) fn engines(&self, emit: Emit<'_>) -> SqlResult<()> {
        emit_all(crate::engines::ROWS.iter().map(|row| row.map(text).to_vec()), emit)
    }

    pub(super) fn character_sets(&self, emit: Emit<'_>) -> SqlResult<()> {
        let row = |charset: &charset::Charset| {
            vec![
                text(charset.name),
                text(charset.default_collation.get().name),
                text(charset.description),
                Value::UInt(u64::from(charset.max_bytes)),
            ]
        };
        emit_all(charset::charsets().iter().map(row), emit)
    }

    pub(super) fn collations(&self, emit: Emit<'_>) -> SqlResult<()> {
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
        emit_all(all.into_iter().map(row), emit)
    }

    pub(super) fn collation_charsets(&self, emit: Emit<'_>) -> SqlResult<()> {
        let row = |collation: &charset::Collation| vec![text(collation.name), text(collation.charset().name)];
        emit_all(charset::collations().iter().map(row), emit)
    }

    pub(super) fn keywords(&self, emit: Emit<'_>) -> SqlResult<()> {
        emit_all(
            words::ALL.iter().map(|(word, reserved)| vec![text(*word), Value::Int(i64::from(*reserved))]),
            emit,
        )
    }

    pub(super) fn plugins(&self, emit: Emit<'_>) -> SqlResult<()> {
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
        emit_all(PLUGINS.iter().map(row), emit)
    }
}
