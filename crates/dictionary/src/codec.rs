//! The stored form of definitions: [`encode_table`], [`decode_table`], [`encode_schema`], [`decode_schema`].
//! Decoding checks everything: damaged bytes give [`CorruptDefinition`], never a panic or a huge allocation.
//! The byte table is in README.md.

mod reader;
#[cfg(test)]
mod tests;
mod writer;

use crate::foreign_key::{ForeignKeyDefinition, MatchOption, ReferenceAction};
use crate::storage_engine::StorageEngine;
use crate::table::{
    CheckDefinition, ColumnDefault, ColumnDefinition, GeneratedColumn, IndexDefinition, IndexKind, IndexPart,
    RowFormat, SchemaDefinition, TableDefinition, TableName, TableOptions,
};
use charset::CollationId;
pub(crate) use reader::Reader;
use stdx::ids::{IndexId, TableId};
use values::{ColumnType, TypeKind, Value};
pub(crate) use writer::Writer;

/// Version of a schema's form.
const SCHEMA_VERSION: u8 = 1;
/// Version of the form of a table that is written. Every version that was ever released is read.
const TABLE_VERSION: u8 = 5;
/// The version that brought CHECK constraints.
const WITH_CHECKS: u8 = 2;
/// The version that brought foreign keys.
const WITH_FOREIGN_KEYS: u8 = 3;
/// The version that brought names of storage engines.
const WITH_ENGINES: u8 = 4;

/// The bytes are not a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorruptDefinition;

impl std::fmt::Display for CorruptDefinition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("stored definition is damaged or of an unknown version")
    }
}

impl std::error::Error for CorruptDefinition {}

type Result<T> = std::result::Result<T, CorruptDefinition>;

/// The stored form of a schema.
pub fn encode_schema(schema: &SchemaDefinition) -> Vec<u8> {
    let mut out = Writer::new(SCHEMA_VERSION);
    out.string(&schema.name);
    out.u16(schema.collation.0);
    out.finish()
}

/// The schema of a stored form.
pub fn decode_schema(bytes: &[u8]) -> Result<SchemaDefinition> {
    let (mut from, _) = Reader::new(bytes, SCHEMA_VERSION)?;
    let schema = SchemaDefinition { name: from.string()?, collation: CollationId(from.u16()?) };
    from.finish()?;
    Ok(schema)
}

/// The stored form of a table.
pub fn encode_table(table: &TableDefinition) -> Vec<u8> {
    let mut out = Writer::new(TABLE_VERSION);
    out.u64(table.id.0);
    out.string(&table.name.schema);
    out.string(&table.name.table);
    out.u16(table.collation.0);
    out.list(&table.columns, write_column);
    out.list(&table.indexes, write_index);
    write_options(&mut out, &table.options);
    out.list(&table.checks, write_check);
    out.list(&table.foreign_keys, write_foreign_key);
    out.u8(engine_code(table.options.engine));
    out.finish()
}

/// The table of a stored form. Index parts are checked to name columns of the table.
pub fn decode_table(bytes: &[u8]) -> Result<TableDefinition> {
    let (mut from, version) = Reader::new(bytes, TABLE_VERSION)?;
    let mut table = TableDefinition {
        id: TableId(from.u64()?),
        name: TableName { schema: from.string()?, table: from.string()? },
        collation: CollationId(from.u16()?),
        columns: from.list(read_column)?,
        indexes: from.list(read_index)?,
        options: read_options(&mut from)?,
        checks: if version >= WITH_CHECKS { from.list(read_check)? } else { Vec::new() },
        foreign_keys: if version >= WITH_FOREIGN_KEYS { from.list(read_foreign_key)? } else { Vec::new() },
    };
    if version >= WITH_ENGINES {
        table.options.engine = read_engine(&mut from)?;
    }
    from.finish()?;
    let parts = table.indexes.iter().flat_map(|index| &index.parts).map(|part| part.column);
    let referring = table.foreign_keys.iter().flat_map(|key| key.columns.iter().copied());
    let is_whole = |key: &ForeignKeyDefinition| key.columns.len() == key.parent_columns.len();
    if parts.chain(referring).any(|column| column >= table.columns.len())
        || !table.foreign_keys.iter().all(is_whole)
    {
        return Err(CorruptDefinition);
    }
    Ok(table)
}

fn write_check(out: &mut Writer, check: &CheckDefinition) {
    out.string(&check.name);
    out.string(&check.text);
    out.u8(u8::from(check.enforced));
}

fn read_check(from: &mut Reader<'_>) -> Result<CheckDefinition> {
    Ok(CheckDefinition { name: from.string()?, text: from.string()?, enforced: from.u8()? != 0 })
}

fn write_foreign_key(out: &mut Writer, key: &ForeignKeyDefinition) {
    out.string(&key.name);
    out.list(&key.columns, |out, column| out.u32(*column as u32));
    out.string(&key.parent.schema);
    out.string(&key.parent.table);
    out.list(&key.parent_columns, |out, column| out.string(column));
    out.u8(action_code(key.on_delete));
    out.u8(action_code(key.on_update));
    out.u8(match key.match_option {
        MatchOption::None => 0,
        MatchOption::Full => 1,
        MatchOption::Partial => 2,
        MatchOption::Simple => 3,
    });
    out.u64(key.ordinal);
}

fn read_foreign_key(from: &mut Reader<'_>) -> Result<ForeignKeyDefinition> {
    Ok(ForeignKeyDefinition {
        name: from.string()?,
        columns: from.list(|from| from.u32().map(|column| column as usize))?,
        parent: TableName { schema: from.string()?, table: from.string()? },
        parent_columns: from.list(Reader::string)?,
        on_delete: read_action(from)?,
        on_update: read_action(from)?,
        match_option: match from.u8()? {
            0 => MatchOption::None,
            1 => MatchOption::Full,
            2 => MatchOption::Partial,
            3 => MatchOption::Simple,
            _ => return Err(CorruptDefinition),
        },
        ordinal: from.u64()?,
    })
}

/// Actions by their stored code.
const ACTIONS: [ReferenceAction; 5] = [
    ReferenceAction::NoAction,
    ReferenceAction::Restrict,
    ReferenceAction::Cascade,
    ReferenceAction::SetNull,
    ReferenceAction::SetDefault,
];

fn action_code(action: ReferenceAction) -> u8 {
    ACTIONS.iter().position(|known| *known == action).expect("ACTIONS lists every action") as u8
}

fn read_action(from: &mut Reader<'_>) -> Result<ReferenceAction> {
    ACTIONS.get(usize::from(from.u8()?)).copied().ok_or(CorruptDefinition)
}

fn engine_code(engine: StorageEngine) -> u8 {
    StorageEngine::ALL.iter().position(|known| *known == engine).expect("ALL lists every engine") as u8
}

fn read_engine(from: &mut Reader<'_>) -> Result<StorageEngine> {
    StorageEngine::ALL.get(usize::from(from.u8()?)).copied().ok_or(CorruptDefinition)
}

fn write_options(out: &mut Writer, options: &TableOptions) {
    out.string(&options.comment);
    out.option(options.auto_increment, Writer::u64);
    out.u8(match options.row_format {
        RowFormat::Default => 0,
        RowFormat::Dynamic => 1,
        RowFormat::Compact => 2,
        RowFormat::Redundant => 3,
        RowFormat::Compressed => 4,
    });
    out.list(&options.create_options, |out, (name, value)| {
        out.string(name);
        out.string(value);
    });
}

fn read_options(from: &mut Reader<'_>) -> Result<TableOptions> {
    Ok(TableOptions {
        comment: from.string()?,
        auto_increment: from.option(Reader::u64)?,
        row_format: match from.u8()? {
            0 => RowFormat::Default,
            1 => RowFormat::Dynamic,
            2 => RowFormat::Compact,
            3 => RowFormat::Redundant,
            4 => RowFormat::Compressed,
            _ => return Err(CorruptDefinition),
        },
        create_options: from.list(|from| Ok((from.string()?, from.string()?)))?,
        engine: StorageEngine::default(),
    })
}

fn write_column(out: &mut Writer, column: &ColumnDefinition) {
    out.string(&column.name);
    write_type(out, &column.column_type);
    out.u8(u8::from(column.nullable)
        | u8::from(column.auto_increment) << 1
        | u8::from(column.invisible) << 2
        | u8::from(column.names_collation) << 3
        | u8::from(column.generated.is_some()) << 4
        | u8::from(column.generated.as_ref().is_some_and(|generated| generated.stored)) << 5
        | u8::from(column.is_hidden()) << 6
        | u8::from(column.element_type().is_some()) << 7);
    if let Some(generated) = &column.generated {
        out.string(&generated.text);
        if let Some(element_type) = &generated.element_type {
            write_type(out, element_type);
        }
    }
    write_default(out, &column.default, &column.column_type);
    out.option(column.on_update_now, Writer::u8);
    out.string(&column.comment);
}

fn read_column(from: &mut Reader<'_>) -> Result<ColumnDefinition> {
    let name = from.string()?;
    let column_type = read_type(from)?;
    let flags = from.u8()?;
    let generated = match flags & 16 {
        0 => None,
        _ => Some(GeneratedColumn {
            text: from.string()?,
            stored: flags & 32 != 0,
            is_key_part: flags & 64 != 0,
            element_type: if flags & 128 != 0 { Some(read_type(from)?) } else { None },
        }),
    };
    let default = read_default(from, &column_type)?;
    Ok(ColumnDefinition {
        name,
        nullable: flags & 1 != 0,
        auto_increment: flags & 2 != 0,
        invisible: flags & 4 != 0,
        names_collation: flags & 8 != 0,
        default,
        generated,
        column_type,
        on_update_now: from.option(Reader::u8)?,
        comment: from.string()?,
    })
}

fn write_type(out: &mut Writer, column_type: &ColumnType) {
    out.u8(kind_code(column_type.kind));
    out.u8(u8::from(column_type.unsigned) | u8::from(column_type.zerofill) << 1);
    out.option(column_type.length, Writer::u32);
    out.option(column_type.decimals, Writer::u8);
    out.u16(column_type.collation.0);
    out.list(&column_type.members, |out, member| out.bytes(member));
}

fn read_type(from: &mut Reader<'_>) -> Result<ColumnType> {
    let code = from.u8()?;
    let kind = *KINDS.get(usize::from(code)).ok_or(CorruptDefinition)?;
    let flags = from.u8()?;
    Ok(ColumnType {
        kind,
        unsigned: flags & 1 != 0,
        zerofill: flags & 2 != 0,
        length: from.option(Reader::u32)?,
        decimals: from.option(Reader::u8)?,
        collation: CollationId(from.u16()?),
        members: from.list(|from| from.bytes().map(<[u8]>::to_vec))?.into(),
    })
}

/// A literal default is stored as a row of one nullable column of the column's type.
fn write_default(out: &mut Writer, default: &ColumnDefault, column_type: &ColumnType) {
    match default {
        ColumnDefault::None => out.u8(0),
        ColumnDefault::Dropped => out.u8(4),
        ColumnDefault::Literal(value) => {
            out.u8(1);
            let layout = values::row::RowLayout::new([(column_type, true)]);
            let row = layout.encode(std::slice::from_ref(value));
            debug_assert!(row.is_ok(), "a literal default has been converted to its column's type");
            out.bytes(&row.unwrap_or_default());
        }
        ColumnDefault::CurrentTimestamp(digits) => {
            out.u8(2);
            out.u8(*digits);
        }
        ColumnDefault::Expression(text) => {
            out.u8(3);
            out.string(text);
        }
    }
}

fn read_default(from: &mut Reader<'_>, column_type: &ColumnType) -> Result<ColumnDefault> {
    Ok(match from.u8()? {
        0 => ColumnDefault::None,
        1 => ColumnDefault::Literal(read_literal(from.bytes()?, column_type)?),
        2 => ColumnDefault::CurrentTimestamp(from.u8()?),
        3 => ColumnDefault::Expression(from.string()?),
        4 => ColumnDefault::Dropped,
        _ => return Err(CorruptDefinition),
    })
}

fn read_literal(row: &[u8], column_type: &ColumnType) -> Result<Value> {
    let layout = values::row::RowLayout::new([(column_type, true)]);
    let view = values::row::RowView::new(&layout, row).map_err(|_| CorruptDefinition)?;
    view.check().map_err(|_| CorruptDefinition)?;
    Ok(view.value(0))
}

fn write_index(out: &mut Writer, index: &IndexDefinition) {
    out.u64(index.id.0);
    out.string(&index.name);
    out.u8(match index.kind {
        IndexKind::Primary => 0,
        IndexKind::Unique => 1,
        IndexKind::Plain => 2,
    });
    out.list(&index.parts, |out, part| {
        out.u32(part.column as u32);
        out.option(part.prefix_length, Writer::u32);
        out.u8(u8::from(part.descending));
    });
    out.string(&index.comment);
    out.u8(u8::from(index.invisible) | u8::from(index.generated) << 1);
}

fn read_index(from: &mut Reader<'_>) -> Result<IndexDefinition> {
    let mut index = IndexDefinition {
        id: IndexId(from.u64()?),
        name: from.string()?,
        kind: match from.u8()? {
            0 => IndexKind::Primary,
            1 => IndexKind::Unique,
            2 => IndexKind::Plain,
            _ => return Err(CorruptDefinition),
        },
        parts: from.list(|from| {
            Ok(IndexPart {
                column: from.u32()? as usize,
                prefix_length: from.option(Reader::u32)?,
                descending: from.u8()? != 0,
            })
        })?,
        comment: from.string()?,
        invisible: false,
        generated: false,
    };
    let flags = from.u8()?;
    (index.invisible, index.generated) = (flags & 1 != 0, flags & 2 != 0);
    Ok(index)
}

/// Kinds by their stored code. Codes never change; new kinds are added at the end.
const KINDS: [TypeKind; 30] = [
    TypeKind::Null,
    TypeKind::TinyInt,
    TypeKind::SmallInt,
    TypeKind::MediumInt,
    TypeKind::Int,
    TypeKind::BigInt,
    TypeKind::Decimal,
    TypeKind::Float,
    TypeKind::Double,
    TypeKind::Bit,
    TypeKind::Year,
    TypeKind::Date,
    TypeKind::Time,
    TypeKind::DateTime,
    TypeKind::Timestamp,
    TypeKind::Char,
    TypeKind::VarChar,
    TypeKind::Binary,
    TypeKind::VarBinary,
    TypeKind::TinyText,
    TypeKind::Text,
    TypeKind::MediumText,
    TypeKind::LongText,
    TypeKind::TinyBlob,
    TypeKind::Blob,
    TypeKind::MediumBlob,
    TypeKind::LongBlob,
    TypeKind::Enum,
    TypeKind::Set,
    TypeKind::Json,
];

fn kind_code(kind: TypeKind) -> u8 {
    KINDS.iter().position(|&known| known == kind).expect("KINDS lists every kind") as u8
}
