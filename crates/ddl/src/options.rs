//! Table options of CREATE and ALTER TABLE.

use super::limits;
use crate::definer::Definer;
use charset::CollationId;
use dictionary::{RowFormat, StorageEngine, TableDefinition};
use errors::{Diagnostics, SqlResult, sql_error};
use expression::SqlMode;
use parser::ast::TableOption;
use sysviews::engines;
use variables::id;

impl Definer<'_> {
    /// Applies options to a definition. True if the storage engine was named (ALTER .. ENGINE rebuilds).
    /// Errors: 1115, 1253, 1273, 1286, 1470, 1628.
    pub(super) fn apply_table_options(
        &mut self,
        definition: &mut TableDefinition,
        options: &[TableOption],
    ) -> SqlResult<bool> {
        let mut engine_named = false;
        for option in options {
            match option {
                TableOption::Engine(name) => {
                    definition.options.engine = self.named_engine(name, definition)?;
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

    /// The engine of that name. In the place of those that are not there (1286, without NO_ENGINE_SUBSTITUTION a warning) stands the one that
    /// the table has, or would have without a name; and InnoDB for those whose tables mean something else (ARCHIVE, BLACKHOLE, MRG_MyISAM).
    fn named_engine(&mut self, name: &str, definition: &TableDefinition) -> SqlResult<StorageEngine> {
        let found = engines::find(name);
        if let Some(engine) = found.and_then(StorageEngine::named) {
            return Ok(engine);
        }
        let other = match found {
            Some(_) => StorageEngine::InnoDb,
            None => {
                self.need_engine(name)?;
                self.diagnostics.warning(sql_error!(ER_UNKNOWN_STORAGE_ENGINE, name));
                definition.options.engine
            }
        };
        let table = &definition.name.table;
        self.diagnostics.warning(sql_error!(ER_WARN_USING_OTHER_HANDLER, other.name(), table));
        Ok(other)
    }

    /// Error 1286 for an engine that is not there, where no other one may stand in its place.
    fn need_engine(&self, name: &str) -> SqlResult<()> {
        match engines::find(name) {
            None if self.sql_mode().contains(SqlMode::NO_ENGINE_SUBSTITUTION) => {
                Err(sql_error!(ER_UNKNOWN_STORAGE_ENGINE, name))
            }
            _ => Ok(()),
        }
    }

    /// The same for the engines that options name.
    pub(super) fn need_engines(&self, options: &[TableOption]) -> SqlResult<()> {
        options.iter().try_for_each(|option| match option {
            TableOption::Engine(name) => self.need_engine(name),
            _ => Ok(()),
        })
    }

    /// The engine of a table that names none.
    pub(super) fn default_engine(&self, is_temporary: bool) -> StorageEngine {
        let id = if is_temporary { id::DEFAULT_TMP_STORAGE_ENGINE } else { id::DEFAULT_STORAGE_ENGINE };
        StorageEngine::named(&self.variables.get(id).text(id.variable())).unwrap_or_default()
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
            "CONNECTION",
        ];
        // Of these 0 says something else than nothing.
        const ZERO_COUNTS: &[&str] = &["PACK_KEYS", "STATS_PERSISTENT", "STATS_AUTO_RECALC"];
        if name == "ENCRYPTION" && !value.eq_ignore_ascii_case("N") {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "ENCRYPTION"));
        }
        if !KEPT.contains(&name) {
            return Ok(());
        }
        let is_connection = name == "CONNECTION";
        if is_connection && value.chars().count() > limits::CONNECTION_CHARACTERS_MAX {
            let limit = limits::CONNECTION_CHARACTERS_MAX;
            return Err(sql_error!(ER_WRONG_STRING_LENGTH, value, name, limit));
        }
        let key = name.to_lowercase();
        let options = &mut definition.options.create_options;
        options.retain(|(other, _)| *other != key);
        let is_default = match value {
            _ if is_connection => value.is_empty(),
            "0" => !ZERO_COUNTS.contains(&name),
            _ => value.eq_ignore_ascii_case("DEFAULT"),
        };
        if !is_default {
            options.push((key, value.to_owned()));
        }
        Ok(())
    }
}

/// Errors 1069, 1163, 1178, 1478 and 3106 for what MySQL's engine of the name does not hold.
pub(super) fn check_engine(definition: &TableDefinition) -> SqlResult<()> {
    let (engine, columns) = (definition.options.engine, &definition.columns);
    if engine == StorageEngine::InnoDb {
        return Ok(());
    }
    if engine == StorageEngine::Memory && columns.iter().any(|column| column.column_type.kind.may_be_long()) {
        return Err(sql_error!(ER_TABLE_CANT_HANDLE_BLOB));
    }
    if columns.iter().any(|column| column.element_type().is_some()) {
        return Err(sql_error!(ER_CHECK_NOT_IMPLEMENTED, "multi-valued indexes"));
    }
    if engine == StorageEngine::Csv && !definition.indexes.is_empty() {
        return Err(sql_error!(ER_TOO_MANY_KEYS, 0));
    }
    let mut parts = definition.indexes.iter().flat_map(|index| &index.parts);
    if parts.any(|part| columns[part.column].is_virtual()) {
        let what = "Index on virtual generated column";
        return Err(sql_error!(ER_ILLEGAL_HA_CREATE_OPTION, engine.name(), what));
    }
    if engine != StorageEngine::MyIsam && columns.iter().any(|column| column.generated.is_some()) {
        return Err(sql_error!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, "Specified storage engine"));
    }
    match engine {
        StorageEngine::Csv if columns.iter().any(|column| column.nullable) => {
            Err(sql_error!(ER_CHECK_NOT_IMPLEMENTED, "nullable columns"))
        }
        _ => Ok(()),
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
