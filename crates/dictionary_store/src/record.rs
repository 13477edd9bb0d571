//! A table as it stands in the dictionary: definition and storage. Main type: [`TableRecord`]. Its form is in `store.rs`.

use dictionary::TableDefinition;
use stdx::ids::{IndexId, PageNumber, SpaceId};
use values::row::RowLayout;

/// Set in a table's number of trees where a store id follows. Entries of earlier builds have none.
const HAS_STORE_ID: u16 = 1 << 15;

/// A table as it stands in the dictionary.
#[derive(Clone, Debug)]
pub struct TableRecord {
    /// What SQL says of it.
    pub definition: TableDefinition,
    /// The space of its file.
    pub space: SpaceId,
    /// As the header of the space's file has it; 0 for tables from before there were such ids.
    pub store_id: u64,
    /// Index ids and root pages in the order of `Table::indexes`; then, if the table may have long values, those of its LOB tree.
    pub roots: Vec<(IndexId, PageNumber)>,
}

/// What of a table's entry stands before its definition.
pub struct RecordHead {
    /// The space of its file.
    pub space: SpaceId,
    /// As in [`TableRecord`].
    pub store_id: u64,
    /// As in [`TableRecord`].
    pub roots: Vec<(IndexId, PageNumber)>,
}

/// The layout of a table's rows.
pub fn layout_of(definition: &TableDefinition) -> RowLayout {
    RowLayout::new(definition.columns.iter().map(|column| (&column.column_type, column.nullable)))
}

/// How many trees a table has: its indexes, the hidden clustered one, and one for long values if rows may have any.
pub fn tree_count(definition: &TableDefinition) -> usize {
    let hidden = usize::from(definition.primary_key().is_none());
    let layout = layout_of(definition);
    // A row whose fixed part does not fit its entry stands outside itself.
    let has_long_rows = layout.fixed_bytes() > entry::row_bytes_min();
    definition.indexes.len() + hidden + usize::from(layout.has_variable_columns() || has_long_rows)
}

impl RecordHead {
    /// Gives the definition's bytes too.
    pub fn decode(bytes: &[u8]) -> Option<(RecordHead, &[u8])> {
        let (space, rest) = bytes.split_first_chunk::<4>()?;
        let (count, mut rest) = rest.split_first_chunk::<2>()?;
        let count = u16::from_le_bytes(*count);
        let mut store_id = 0;
        if count & HAS_STORE_ID != 0 {
            let (id, after) = rest.split_first_chunk::<8>()?;
            (store_id, rest) = (u64::from_le_bytes(*id), after);
        }
        let mut roots = Vec::new();
        for _ in 0..count & !HAS_STORE_ID {
            let (index, after) = rest.split_first_chunk::<8>()?;
            let (root, after) = after.split_first_chunk::<4>()?;
            roots.push((IndexId(u64::from_le_bytes(*index)), PageNumber(u32::from_le_bytes(*root))));
            rest = after;
        }
        Some((RecordHead { space: SpaceId(u32::from_le_bytes(*space)), store_id, roots }, rest))
    }
}

impl TableRecord {
    /// The bytes of its entry.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&self.space.0.to_le_bytes());
        out.extend_from_slice(&(self.roots.len() as u16 | HAS_STORE_ID).to_le_bytes());
        out.extend_from_slice(&self.store_id.to_le_bytes());
        for (index, root) in &self.roots {
            out.extend_from_slice(&index.0.to_le_bytes());
            out.extend_from_slice(&root.0.to_le_bytes());
        }
        out.extend_from_slice(&dictionary::encode_table(&self.definition));
        out
    }

    /// None if they make no sense.
    pub fn decode(bytes: &[u8]) -> Option<TableRecord> {
        let (RecordHead { space, store_id, roots }, rest) = RecordHead::decode(bytes)?;
        let definition = dictionary::decode_table(rest).ok()?;
        (roots.len() == tree_count(&definition)).then_some(TableRecord { definition, space, store_id, roots })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dictionary::{TableName, TableOptions};
    use stdx::ids::TableId;

    #[test]
    fn an_entry_without_a_store_id_is_read() {
        let definition = TableDefinition {
            id: TableId(7),
            name: TableName { schema: "s".to_owned(), table: "t".to_owned() },
            columns: Vec::new(),
            indexes: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            collation: charset::CollationId::BINARY,
            options: TableOptions::default(),
        };
        let roots = vec![(IndexId(9), PageNumber(1)); tree_count(&definition)];
        let record = TableRecord { definition, space: SpaceId(5), store_id: 0x1122_3344_5566_7788, roots };
        let mut bytes = record.encode();
        let read = TableRecord::decode(&bytes).unwrap();
        assert_eq!((read.store_id, read.space, &read.roots), (record.store_id, record.space, &record.roots));
        // As earlier builds wrote it.
        bytes[5] &= 0x7f;
        bytes.drain(6..14);
        let read = TableRecord::decode(&bytes).unwrap();
        assert_eq!((read.store_id, read.space, read.roots), (0, record.space, record.roots));
    }
}
