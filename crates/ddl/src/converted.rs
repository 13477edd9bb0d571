//! Columns as ALTER TABLE .. CONVERT TO CHARACTER SET leaves them. Main function: [`convert_column`].

use crate::definer::Definer;
use charset::CollationId;
use declared::{as_blob, widened};
use dictionary::{ColumnDefault, ColumnDefinition};
use errors::SqlResult;
use values::{ColumnType, TypeKind, Value};

/// Gives a text column that collation. It holds as many characters as before; of the character set binary, as many bytes.
pub(super) fn convert_column(
    definer: &mut Definer<'_>,
    column: &mut ColumnDefinition,
    collation: CollationId,
) -> SqlResult<()> {
    let old = column.column_type.clone();
    let length = old.length.unwrap_or(1);
    let widens = collation.charset().max_bytes > old.collation.charset().max_bytes;
    let is_binary = collation == CollationId::BINARY;
    column.column_type = match old.kind {
        kind if kind.has_members() && old.collation == CollationId::BINARY => return Ok(()),
        kind if kind.has_members() => ColumnType { collation, ..old.clone() },
        kind if !kind.is_text() => return Ok(()),
        TypeKind::Char if is_binary => ColumnType::binary(length),
        TypeKind::VarChar if is_binary => ColumnType::varbinary(length),
        kind if is_binary => ColumnType::new(as_blob(kind)),
        TypeKind::VarChar => definer.types().varchar_type(&column.name, u64::from(length), collation)?,
        kind if widens && kind.is_large_object() => ColumnType::text(widened(kind), collation),
        _ => ColumnType { collation, ..old.clone() },
    };
    let kind = column.column_type.kind;
    if old.kind == TypeKind::VarChar && kind.is_large_object() {
        let has_default = matches!(&column.default, ColumnDefault::Literal(value) if *value != Value::Null);
        definer.types().note_lengthened(&column.name, &column.column_type, has_default)?;
    }
    if let (TypeKind::Binary, ColumnDefault::Literal(Value::Bytes(bytes))) = (kind, &mut column.default) {
        bytes.resize(length as usize, 0);
    }
    Ok(())
}
