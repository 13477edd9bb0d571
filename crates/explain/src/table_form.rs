//! What EXPLAIN sends: the table form, and the one text of the others.

use charset::CollationId;
use errors::SqlResult;
use exec::StatementOutcome;
use plan::Plan;
use values::{ColumnType, RowRef, TypeKind, Value};
use wire::result::{ResultColumn, ResultSink};

/// NOT_NULL_FLAG of the protocol.
const NOT_NULL: u16 = 1;
/// Characters that MySQL declares for the text of EXPLAIN FORMAT=TREE, however long it is.
const TREE_CHARACTERS: u32 = 78;
/// Characters of the column of partitions.
const PARTITIONS_CHARACTERS: u32 = 1_579_008;

fn text(name: &str, characters: u32) -> ResultColumn {
    column(name, ColumnType::varchar(characters, CollationId::UTF8MB4_0900_AI_CI))
}

/// The type of the names of partitions, of which MySQL declares room for the most.
fn partitions() -> ColumnType {
    let names = ColumnType::varchar(PARTITIONS_CHARACTERS, CollationId::UTF8MB4_0900_AI_CI);
    ColumnType { kind: TypeKind::MediumText, ..names }
}

fn column(name: &str, column_type: ColumnType) -> ResultColumn {
    ResultColumn::computed(name, column_type)
}

/// Sends the lines of a plan.
pub fn send(plan: &Plan, results: CollationId, sink: &mut dyn ResultSink) -> SqlResult<StatementOutcome> {
    let number = |length| ColumnType { length: Some(length), ..ColumnType::integer(TypeKind::BigInt, true) };
    let not_null = |column: ResultColumn| ResultColumn { flags: NOT_NULL, ..column };
    let columns = [
        not_null(column("id", number(4))),
        not_null(text("select_type", 19)),
        text("table", 64),
        column("partitions", partitions()),
        text("type", 10),
        text("possible_keys", 4096),
        text("key", 64),
        text("key_len", 4096),
        text("ref", 1024),
        column("rows", number(11)),
        column("filtered", ColumnType { length: Some(4), decimals: Some(2), ..ColumnType::double() }),
        not_null(text("Extra", 255)),
    ];
    sink.columns(&columns, results)?;
    let bytes = |text: String| Value::Bytes(text.into_bytes());
    for row in &plan.explain {
        let lengths: Vec<String> = row.key_lengths.iter().map(u32::to_string).collect();
        let keys = (!row.possible_keys.is_empty()).then(|| row.possible_keys.join(","));
        sink.row(RowRef::Values(&[
            row.id.map_or(Value::Null, |id| Value::UInt(u64::from(id))),
            bytes(row.select_type.to_owned()),
            row.table.clone().map_or(Value::Null, bytes),
            Value::Null,
            row.access.map_or(Value::Null, |access| bytes(access.to_owned())),
            keys.map_or(Value::Null, bytes),
            row.key.clone().map_or(Value::Null, bytes),
            if lengths.is_empty() { Value::Null } else { bytes(lengths.join(",")) },
            row.reference.clone().map_or(Value::Null, bytes),
            row.rows.map_or(Value::Null, Value::UInt),
            row.filtered.map_or(Value::Null, Value::Double),
            if row.extra.is_empty() { Value::Null } else { bytes(row.extra.join("; ")) },
        ]))?;
    }
    let rows_sent = plan.explain.len() as u64;
    Ok(StatementOutcome { sent_rows: true, row_count: -1, rows_sent, ..StatementOutcome::default() })
}

/// Sends an EXPLAIN that is one text.
pub fn send_text(
    tree: String,
    results: CollationId,
    sink: &mut dyn ResultSink,
) -> SqlResult<StatementOutcome> {
    let column = ResultColumn { flags: NOT_NULL, ..text("EXPLAIN", TREE_CHARACTERS) };
    sink.columns(&[column], results)?;
    sink.row(RowRef::Values(&[Value::Bytes(tree.into_bytes())]))?;
    Ok(StatementOutcome { sent_rows: true, row_count: -1, rows_sent: 1, ..StatementOutcome::default() })
}
