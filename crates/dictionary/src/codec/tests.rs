//! Round trips of definitions, and damaged bytes.

use super::*;
use values::Decimal;

fn column(name: &str, column_type: ColumnType, default: ColumnDefault) -> ColumnDefinition {
    ColumnDefinition {
        name: name.to_owned(),
        column_type,
        nullable: true,
        default,
        generated: None,
        on_update_now: None,
        auto_increment: false,
        invisible: false,
        names_collation: false,
        comment: String::new(),
    }
}

fn example() -> TableDefinition {
    let members = vec![b"a".to_vec(), b"b".to_vec()];
    let price = Value::Decimal(Decimal::from_i128(-1250, 2).unwrap());
    let mut columns = vec![
        column("id", ColumnType::big_int_unsigned(), ColumnDefault::None),
        column("price", ColumnType::decimal(10, 2), ColumnDefault::Literal(price)),
        column(
            "name",
            ColumnType::varchar(20, CollationId(255)),
            ColumnDefault::Literal(Value::Bytes(b"x".to_vec())),
        ),
        column("kind", ColumnType::enumeration(members, CollationId(8)), ColumnDefault::Literal(Value::Null)),
        column("at", ColumnType::temporal(TypeKind::DateTime, 3), ColumnDefault::CurrentTimestamp(3)),
        column("key", ColumnType::binary(16), ColumnDefault::Expression("uuid_to_bin(uuid())".to_owned())),
    ];
    columns[0].nullable = false;
    columns[0].auto_increment = true;
    columns[4].on_update_now = Some(3);
    columns[5].invisible = true;
    let mut part = column("!hidden!k!0!0", ColumnType::big_int(), ColumnDefault::None);
    let text = "(`price` + 1)".to_owned();
    part.generated = Some(GeneratedColumn { text, stored: false, is_key_part: true, element_type: None });
    columns.push(part);
    let mut part = column("!hidden!m!0!0", ColumnType::new(TypeKind::Json), ColumnDefault::None);
    let (text, element_type) =
        ("cast(`name` as char(9) array)".to_owned(), Some(ColumnType::varchar(9, CollationId(255))));
    part.generated = Some(GeneratedColumn { text, stored: false, is_key_part: true, element_type });
    columns.push(part);
    TableDefinition {
        id: TableId(7),
        name: TableName { schema: "shop".to_owned(), table: "item".to_owned() },
        columns,
        indexes: vec![IndexDefinition {
            id: IndexId(9),
            name: "PRIMARY".to_owned(),
            kind: IndexKind::Primary,
            parts: vec![IndexPart { column: 2, prefix_length: Some(5), descending: true }],
            comment: "c".to_owned(),
            invisible: false,
            generated: true,
        }],
        checks: vec![CheckDefinition {
            name: "dear".to_owned(),
            text: "(`price` > 0)".to_owned(),
            enforced: false,
        }],
        foreign_keys: vec![ForeignKeyDefinition {
            name: "item_ibfk_1".to_owned(),
            columns: vec![2, 0],
            parent: TableName { schema: "shop".to_owned(), table: "maker".to_owned() },
            parent_columns: vec!["name".to_owned(), "id".to_owned()],
            on_delete: ReferenceAction::SetNull,
            on_update: ReferenceAction::Cascade,
            match_option: MatchOption::Partial,
            ordinal: 12,
        }],
        collation: CollationId(255),
        options: TableOptions {
            comment: "goods".to_owned(),
            auto_increment: Some(100),
            row_format: RowFormat::Compressed,
            create_options: vec![("max_rows".to_owned(), "10".to_owned())],
            engine: StorageEngine::MyIsam,
        },
    }
}

#[test]
fn definitions_round_trip() {
    assert_eq!(decode_table(&encode_table(&example())), Ok(example()));
    let schema = SchemaDefinition { name: "shop".to_owned(), collation: CollationId(45) };
    assert_eq!(decode_schema(&encode_schema(&schema)), Ok(schema));
}

#[test]
fn earlier_versions_are_read() {
    let mut table = example();
    // The fourth had no functional key parts.
    table.columns.truncate(6);
    let mut bytes = encode_table(&table);
    bytes[0] = 4;
    assert_eq!(decode_table(&bytes), Ok(table.clone()));
    table.options.engine = StorageEngine::InnoDb;
    let mut bytes = encode_table(&table);
    // The third had no storage engine at its end.
    bytes[0] = 3;
    bytes.truncate(bytes.len() - 1);
    assert_eq!(decode_table(&bytes), Ok(table.clone()));
    table.foreign_keys.clear();
    table.indexes[0].generated = false;
    let mut bytes = encode_table(&table);
    // The second had no list of foreign keys either.
    bytes[0] = 2;
    bytes.truncate(bytes.len() - 5);
    assert_eq!(decode_table(&bytes), Ok(table.clone()));
    table.checks.clear();
    let mut bytes = encode_table(&table);
    // The first had no list of CHECK constraints either.
    bytes[0] = 1;
    bytes.truncate(bytes.len() - 9);
    assert_eq!(decode_table(&bytes), Ok(table));
    bytes[0] = TABLE_VERSION + 1;
    assert_eq!(decode_table(&bytes), Err(CorruptDefinition));
}

#[test]
fn a_foreign_key_over_columns_that_are_not_there_is_damage() {
    let mut table = example();
    table.foreign_keys[0].columns[0] = table.columns.len();
    assert_eq!(decode_table(&encode_table(&table)), Err(CorruptDefinition));
    let mut table = example();
    table.foreign_keys[0].parent_columns.pop();
    assert_eq!(decode_table(&encode_table(&table)), Err(CorruptDefinition));
}

#[test]
fn damaged_bytes_never_panic() {
    let bytes = encode_table(&example());
    for length in 0..bytes.len() {
        assert_eq!(decode_table(&bytes[..length]), Err(CorruptDefinition));
    }
    for position in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[position] ^= 1 << bit;
            let _ = decode_table(&damaged);
        }
    }
}
