//! Index specifications checked and turned into [`IndexDefinition`]s. Main function: [`build_index`].

use super::functional_key::NAMELESS;
use super::limits;
use dictionary::{
    ColumnDefinition, IndexDefinition, IndexKind, IndexPart, TableDefinition, TableName, key_column_name,
    same_name,
};
use errors::{Diagnostics, SqlResult, sql_error};
use parser::ast::{IndexOption, IndexSpecification, IndexType, KeyPartTarget};
use stdx::ids::IndexId;
use sysviews::printed_order;
use values::{ColumnType, TypeKind};

/// The index that a specification means. `taken` are names in use; a nameless index gets its first column's name. The columns of
/// functional parts are there, under the index's name.
/// Errors: 1059, 1061, 1068, 1070, 1071, 1072, 1089, 1170, 1235, 1280, 1060.
pub(super) fn build_index(
    specification: &IndexSpecification,
    columns: &[ColumnDefinition],
    taken: &[IndexDefinition],
    diagnostics: &mut Diagnostics,
    is_strict: bool,
) -> SqlResult<IndexDefinition> {
    let kind = match specification.kind {
        IndexType::Primary => IndexKind::Primary,
        IndexType::Unique => IndexKind::Unique,
        IndexType::Plain => IndexKind::Plain,
        IndexType::FullText => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "FULLTEXT indexes")),
        IndexType::Spatial => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "SPATIAL indexes")),
    };
    let parts = build_parts(specification, columns)?;
    let base = parts.first().map_or("key", |part| columns[part.column].name.as_str());
    let mut index = IndexDefinition {
        id: IndexId(0),
        name: index_name(specification, base, taken)?,
        kind,
        parts,
        comment: String::new(),
        invisible: false,
        generated: false,
    };
    for option in &specification.options {
        apply_option(&mut index, option, diagnostics)?;
    }
    if kind == IndexKind::Plain && !is_strict {
        shorten_parts(&mut index, columns, diagnostics);
    }
    check_key_bytes(&index, columns)?;
    Ok(index)
}

/// Without strict mode a column that is too long for a key is in it with its beginning.
fn shorten_parts(index: &mut IndexDefinition, columns: &[ColumnDefinition], diagnostics: &mut Diagnostics) {
    for part in &mut index.parts {
        if part_bytes(part, columns) > limits::KEY_BYTES_MAX {
            let length = limits::KEY_BYTES_MAX / character_bytes(&columns[part.column].column_type);
            part.prefix_length = u32::try_from(length).ok();
            diagnostics.warning(sql_error!(ER_TOO_LONG_KEY, limits::KEY_BYTES_MAX));
        }
    }
}

fn build_parts(
    specification: &IndexSpecification,
    columns: &[ColumnDefinition],
) -> SqlResult<Vec<IndexPart>> {
    let parts = &specification.parts;
    if parts.len() > limits::KEY_PARTS_MAX {
        return Err(sql_error!(ER_TOO_MANY_KEY_PARTS, limits::KEY_PARTS_MAX));
    }
    let mut built: Vec<IndexPart> = Vec::with_capacity(parts.len());
    for (place, part) in parts.iter().enumerate() {
        let (column, prefix_length) = match &part.target {
            KeyPartTarget::Column { name, prefix_length } => {
                let column = position_of(columns, name, false)?;
                if built.iter().any(|other| other.column == column) {
                    return Err(sql_error!(ER_DUP_FIELDNAME, name));
                }
                (column, check_prefix(&columns[column], *prefix_length)?)
            }
            KeyPartTarget::Expression(_) => {
                let index = specification.name.as_deref().unwrap_or(NAMELESS);
                (position_of(columns, &key_column_name(index, place), true)?, None)
            }
        };
        built.push(IndexPart { column, prefix_length, descending: part.descending.unwrap_or(false) });
    }
    Ok(built)
}

/// Error 1072.
fn position_of(columns: &[ColumnDefinition], name: &str, hidden: bool) -> SqlResult<usize> {
    let is_it = |column: &ColumnDefinition| same_name(&column.name, name) && column.is_hidden() == hidden;
    columns.iter().position(is_it).ok_or_else(|| sql_error!(ER_KEY_COLUMN_DOES_NOT_EXITS, name))
}

/// A prefix that is as long as the column is no prefix.
fn check_prefix(column: &ColumnDefinition, prefix: Option<u64>) -> SqlResult<Option<u32>> {
    let kind = column.column_type.kind;
    if kind == TypeKind::Json {
        return Err(sql_error!(ER_JSON_USED_AS_KEY, column.name));
    }
    let Some(prefix) = prefix else {
        if kind.is_large_object() {
            return Err(sql_error!(ER_BLOB_KEY_WITHOUT_LENGTH, column.name));
        }
        return Ok(None);
    };
    if prefix == 0 {
        return Err(sql_error!(ER_KEY_PART_0, column.name));
    }
    let whole = match kind {
        TypeKind::Char | TypeKind::VarChar | TypeKind::Binary | TypeKind::VarBinary => {
            Some(u64::from(column.column_type.length.unwrap_or(1)))
        }
        _ if kind.is_large_object() => None,
        _ => return Err(sql_error!(ER_WRONG_SUB_KEY)),
    };
    match whole {
        Some(whole) if prefix > whole => Err(sql_error!(ER_WRONG_SUB_KEY)),
        Some(whole) if prefix == whole => Ok(None),
        _ => Ok(Some(u32::try_from(prefix).map_err(|_| sql_error!(ER_TOO_LONG_KEY, limits::KEY_BYTES_MAX))?)),
    }
}

/// The name that is written or, without one, a free one that begins with `base`. Errors: 1059, 1061, 1068, 1280.
pub(super) fn index_name(
    specification: &IndexSpecification,
    base: &str,
    taken: &[IndexDefinition],
) -> SqlResult<String> {
    let is_taken = |name: &str| taken.iter().any(|index| same_name(&index.name, name));
    if specification.kind == IndexType::Primary {
        if is_taken("PRIMARY") {
            return Err(sql_error!(ER_MULTIPLE_PRI_KEY));
        }
        return Ok("PRIMARY".to_owned());
    }
    if let Some(name) = specification.name.as_ref().or(specification.constraint.as_ref()) {
        check_index_name(name)?;
        if is_taken(name) {
            return Err(sql_error!(ER_DUP_KEYNAME, name));
        }
        return Ok(name.clone());
    }
    let usable = |name: &String| !is_taken(name) && !name.eq_ignore_ascii_case("PRIMARY");
    let numbered = (2..).map(|number| format!("{base}_{number}"));
    let name = std::iter::once(base.to_owned()).chain(numbered).find(usable);
    name.ok_or_else(|| sql_error!(ER_WRONG_NAME_FOR_INDEX, base))
}

/// Errors 1059 and 1280.
pub(super) fn check_index_name(name: &str) -> SqlResult<()> {
    if name.eq_ignore_ascii_case("PRIMARY") || name.is_empty() || name.ends_with(' ') {
        return Err(sql_error!(ER_WRONG_NAME_FOR_INDEX, name));
    }
    match name.chars().count() > limits::NAME_CHARACTERS_MAX {
        true => Err(sql_error!(ER_TOO_LONG_IDENT, name)),
        false => Ok(()),
    }
}

/// Error 1061 for a name that two have.
pub(super) fn check_index_names(definition: &TableDefinition) -> SqlResult<()> {
    let mut seen = std::collections::BTreeSet::new();
    match definition.indexes.iter().find(|index| !seen.insert(index.name.to_lowercase())) {
        Some(index) => Err(sql_error!(ER_DUP_KEYNAME, index.name)),
        None => Ok(()),
    }
}

fn apply_option(
    index: &mut IndexDefinition,
    option: &IndexOption,
    diagnostics: &mut Diagnostics,
) -> SqlResult<()> {
    match option {
        IndexOption::Comment(text) => {
            let comment = String::from_utf8_lossy(text).into_owned();
            if comment.chars().count() > limits::COLUMN_COMMENT_CHARACTERS_MAX {
                let limit = limits::COLUMN_COMMENT_CHARACTERS_MAX;
                return Err(sql_error!(ER_TOO_LONG_INDEX_COMMENT, index.name, limit));
            }
            index.comment = comment;
        }
        IndexOption::Visible => index.invisible = false,
        IndexOption::Invisible if index.kind == IndexKind::Primary => {
            return Err(sql_error!(ER_PK_INDEX_CANT_BE_INVISIBLE));
        }
        IndexOption::Invisible => index.invisible = true,
        IndexOption::Using(method) if method.eq_ignore_ascii_case("HASH") => {
            diagnostics.note(sql_error!(ER_UNSUPPORTED_INDEX_ALGORITHM, "HASH"));
        }
        _ => {}
    }
    Ok(())
}

/// Error 1071 for a part or a key that is too long.
pub(super) fn check_key_bytes(index: &IndexDefinition, columns: &[ColumnDefinition]) -> SqlResult<()> {
    let parts = index.parts.iter().map(|part| part_bytes(part, columns));
    if parts.sum::<u64>() > limits::KEY_BYTES_MAX {
        return Err(sql_error!(ER_TOO_LONG_KEY, limits::KEY_BYTES_MAX));
    }
    Ok(())
}

/// Error 3886 for a whole column of a unique index that CONVERT makes longer than any key.
pub(super) fn check_converted_keys(definition: &TableDefinition) -> SqlResult<()> {
    for index in definition.indexes.iter().filter(|index| index.kind != IndexKind::Plain) {
        let is_too_long = |part: &&IndexPart| {
            part.prefix_length.is_none() && part_bytes(part, &definition.columns) > limits::KEY_BYTES_MAX
        };
        if let Some(part) = index.parts.iter().find(is_too_long) {
            let (column, table) = (&definition.columns[part.column].name, &definition.name.table);
            let bytes_max = limits::KEY_BYTES_MAX;
            return Err(sql_error!(ER_COLUMN_CHANGE_SIZE, column, table, index.name, bytes_max));
        }
    }
    Ok(())
}

/// Bytes of the longest value of a part.
fn part_bytes(part: &IndexPart, columns: &[ColumnDefinition]) -> u64 {
    let column = &columns[part.column];
    let column_type = column.key_type();
    let width = character_bytes(column_type);
    match (part.prefix_length, column_type.length) {
        (Some(length), _) => u64::from(length) * width,
        (None, length) if column_type.kind.is_text() => u64::from(length.unwrap_or(1)) * width,
        (None, Some(length)) if column_type.kind == TypeKind::VarBinary => u64::from(length),
        (None, _) => u64::from(column_type.row_bytes()),
    }
}

/// What a prefix of one takes.
fn character_bytes(column_type: &ColumnType) -> u64 {
    match column_type.kind.is_text() {
        true => u64::from(column_type.collation.charset().max_bytes),
        false => 1,
    }
}

/// Warning 1831 for an index that a table is to have although it has one of the same columns.
pub(super) fn warn_of_duplicate(
    index: &IndexDefinition,
    definition: &TableDefinition,
    diagnostics: &mut Diagnostics,
) {
    let is_same = |other: &IndexDefinition| other.kind == index.kind && other.parts == index.parts;
    if definition.indexes.iter().any(is_same) {
        let TableName { schema, table } = &definition.name;
        diagnostics.warning(sql_error!(ER_DUP_INDEX, index.name, schema, table));
    }
}

/// Puts indexes in the order in which they are kept.
pub(super) fn sort_indexes(definition: &mut TableDefinition) {
    let order = printed_order(definition);
    definition.indexes = order.into_iter().map(|at| definition.indexes[at].clone()).collect();
}
