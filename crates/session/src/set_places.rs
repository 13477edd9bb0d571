//! SET of variables that name a directory or a table. Entry point: [`convert_place`].

use errors::{Diagnostics, SqlResult, sql_error};
use instance::Instance;
use std::path::Path;
use values::TypeKind;
use variables::{SystemValue, VariableId, id};

/// Bytes of innodb_tmpdir.
const DIRECTORY_BYTES_MAX: usize = 512;

/// The value of such a variable; None for others. Error 1231 for what names nothing.
pub(crate) fn convert_place(
    instance: &Instance,
    diagnostics: &mut Diagnostics,
    id: VariableId,
    shown: &str,
) -> SqlResult<Option<SystemValue>> {
    let refused = || Err(sql_error!(ER_WRONG_VALUE_FOR_VAR, id.variable().name, shown));
    match id {
        id::INNODB_TMPDIR => temporary_directory(instance, diagnostics, shown).map(Some),
        id::INNODB_FT_USER_STOPWORD_TABLE | id::INNODB_FT_SERVER_STOPWORD_TABLE => {
            match names_stopwords(instance, shown) {
                true => Ok(Some(SystemValue::Text(shown.into()))),
                false => refused(),
            }
        }
        // No table has a FULLTEXT index.
        id::INNODB_FT_AUX_TABLE => refused(),
        _ => Ok(None),
    }
}

/// A directory outside of the server's own that it may write in, by its whole path. Error 1231, and why.
fn temporary_directory(
    instance: &Instance,
    diagnostics: &mut Diagnostics,
    shown: &str,
) -> SqlResult<SystemValue> {
    let disk = &instance.environment().disk;
    let path = disk.real_path(Path::new(shown)).ok().filter(|_| !shown.is_empty());
    let own = disk.real_path(Path::new("")).ok();
    let why = match &path {
        _ if shown.len() > DIRECTORY_BYTES_MAX => "Path length should not exceed 512 bytes",
        None => "InnoDB: Path doesn't exist.",
        Some(path) if own.is_some_and(|own| path.starts_with(own)) => {
            "InnoDB: Path location should not be same as mysql data directory location."
        }
        Some(path) if !disk.may_write_in(path) => {
            "InnoDB: Server doesn't have permission in the given location."
        }
        Some(path) => return Ok(SystemValue::Text(path.to_string_lossy().into())),
    };
    diagnostics.warning(errors::code::ER_WRONG_ARGUMENTS.message(why));
    Err(sql_error!(ER_WRONG_VALUE_FOR_VAR, "innodb_tmpdir", shown))
}

/// Whether a text is `schema/table` of a table whose first column is `value`, a VARCHAR.
fn names_stopwords(instance: &Instance, text: &str) -> bool {
    let Some((schema, table)) = text.split_once('/') else { return false };
    let Some(table) = instance.engine().dictionary().table(schema, table) else { return false };
    let first = table.definition.columns.first();
    first.is_some_and(|column| column.name == "value" && column.column_type.kind == TypeKind::VarChar)
}
