//! Table options of CREATE and ALTER TABLE.

use super::limits;
use crate::definer::Definer;
use charset::CollationId;
use dictionary::{RowFormat, TableDefinition};
use errors::{Diagnostics, SqlResult, sql_error};
use expression::SqlMode;
use parser::ast::TableOption;
use sysviews::engines;

impl Definer<'_> {
    /// Applies options to a definition. True if the storage engine was named (ALTER .. ENGINE rebuilds).
    /// Errors: 1115, 1253, 1273, 1286, 1628.
    pub(super) fn apply_table_options(
        &mut self,
        definition: &mut TableDefinition,
        options: &[TableOption],
    ) -> SqlResult<bool> {
        let mut engine_named = false;
        for option in options {
            match option {
                TableOption::Engine(name) => {
                    self.check_engine(name, &definition.name.table)?;
                    engine_named = true;
                }
                TableOption::AutoIncrement(value) => definition.options.auto_increment = Some(*value),
                TableOption::Charset(_) | TableOption::Collate(_) => {}
                TableOption::Comment(text) => {
                    let comment = self.connection_collation().charset().to_string_lossy(text);
                    if comment.chars().count() > limits::TABLE_COMMENT_CHARACTERS_MAX {
                        let limit = limits::TABLE_COMMENT_CHARACTERS_MAX;
                        return Err(sql_error!(ER_TOO_LONG_TABLE_COMMENT, definition.name.table, limit));
                    }
                    definition.options.comment = comment;
                }
                TableOption::RowFormat(name) => definition.options.row_format = row_format(name),
                TableOption::Union(_) => {}
                TableOption::Other { name, value } => self.apply_other(definition, name, value)?,
            }
        }
        if let Some(found) = default_collation(options, self.diagnostics)? {
            definition.collation = found;
        }
        Ok(engine_named)
    }

    /// Iruka keeps every table in its one engine; MySQL's other engines are replaced with a warning.
    fn check_engine(&mut self, name: &str, table: &str) -> SqlResult<()> {
        match engines::find(name) {
            Some("InnoDB") => {}
            Some(_) => self.diagnostics.warning(sql_error!(ER_WARN_USING_OTHER_HANDLER, "InnoDB", table)),
            None => {
                let error = sql_error!(ER_UNKNOWN_STORAGE_ENGINE, name);
                if self.sql_mode().contains(SqlMode::NO_ENGINE_SUBSTITUTION) {
                    return Err(error);
                }
                self.diagnostics.warning(error);
                self.diagnostics.warning(sql_error!(ER_WARN_USING_OTHER_HANDLER, "InnoDB", table));
            }
        }
        Ok(())
    }

    fn apply_other(&mut self, definition: &mut TableDefinition, name: &str, value: &str) -> SqlResult<()> {
        const KEPT: &[&str] = &[
            "MAX_ROWS",
            "MIN_ROWS",
            "AVG_ROW_LENGTH",
            "PACK_KEYS",
            "CHECKSUM",
            "DELAY_KEY_WRITE",
            "STATS_PERSISTENT",
            "STATS_AUTO_RECALC",
            "STATS_SAMPLE_PAGES",
            "KEY_BLOCK_SIZE",
        ];
        if name == "ENCRYPTION" && !value.eq_ignore_ascii_case("N") {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "ENCRYPTION"));
        }
        if !KEPT.contains(&name) {
            return Ok(());
        }
        let key = name.to_lowercase();
        let options = &mut definition.options.create_options;
        options.retain(|(other, _)| *other != key);
        let is_default =
            value.eq_ignore_ascii_case("DEFAULT") || (value == "0" && !name.starts_with("STATS_P"));
        if !is_default {
            options.push((key, value.to_owned()));
        }
        Ok(())
    }
}

fn row_format(name: &str) -> RowFormat {
    match name.to_ascii_uppercase().as_str() {
        "DYNAMIC" => RowFormat::Dynamic,
        "COMPACT" => RowFormat::Compact,
        "REDUNDANT" => RowFormat::Redundant,
        "COMPRESSED" => RowFormat::Compressed,
        _ => RowFormat::Default,
    }
}

/// The collation that a table's options name.
pub(super) fn default_collation(
    options: &[TableOption],
    diagnostics: &mut Diagnostics,
) -> SqlResult<Option<CollationId>> {
    let (mut charset, mut collation) = (None, None);
    for option in options {
        match option {
            TableOption::Charset(name) => charset = Some(name.as_str()),
            TableOption::Collate(name) => collation = Some(name.as_str()),
            _ => {}
        }
    }
    let charset = charset.filter(|name| !name.eq_ignore_ascii_case("DEFAULT"));
    instance::collations::resolve(charset, collation, diagnostics)
}
