//! What an ALTER TABLE does to the rows. Main type: [`AlterPlan`], made by comparing two definitions.

use dictionary::{ColumnDefinition, IndexDefinition, IndexKind, IndexPart, TableDefinition};
use stdx::ids::IndexId;
use values::{ColumnType, TypeKind};

/// How a changed definition becomes the table's.
#[derive(Debug, PartialEq)]
pub(super) enum AlterPlan {
    /// Only the dictionary changes.
    Metadata,
    /// Secondary indexes come and go. For each of the new definition, which of the old ones it is; 0 is to be made.
    Indexes(Vec<IndexId>),
    /// Every row is copied into a table of the new definition.
    Rebuild,
}

/// The least that turns `old` into `new`. `sources` gives for each new column its place in the old table.
pub(super) fn plan(old: &TableDefinition, new: &TableDefinition, sources: &[Option<usize>]) -> AlterPlan {
    let same_places = sources.len() == old.columns.len()
        && sources.iter().enumerate().all(|(place, source)| *source == Some(place));
    let same_storage = same_places
        && old.columns.iter().zip(&new.columns).all(|(before, after)| is_same_storage(before, after));
    if !same_storage
        || old.primary_key().map(|index| &index.parts) != new.primary_key().map(|index| &index.parts)
    {
        return AlterPlan::Rebuild;
    }
    let stays_as = |index: &IndexDefinition| {
        let before = old.indexes.iter().find(|before| is_one_index(before, index))?;
        // An index that is made takes the name of one that goes, not of one that has another name now.
        let is_gone = index.id != IndexId(0) || new.indexes.iter().all(|other| other.id != before.id);
        (is_gone && before.kind == index.kind && before.parts == index.parts).then_some(before.id)
    };
    let kept: Vec<Option<IndexId>> = new.indexes.iter().map(stays_as).collect();
    if kept.len() == old.indexes.len() && kept.iter().all(Option::is_some) {
        return AlterPlan::Metadata;
    }
    AlterPlan::Indexes(kept.into_iter().map(Option::unwrap_or_default).collect())
}

/// Whether rows and keys of the column stay as they are.
fn is_same_storage(before: &ColumnDefinition, after: &ColumnDefinition) -> bool {
    let (old, new) = (&before.column_type, &after.column_type);
    let same_kind = old.kind == new.kind && old.unsigned == new.unsigned && old.decimals == new.decimals;
    let same_members = old.members == new.members
        || (old.members.len() <= new.members.len()
            && new.members.starts_with(&old.members)
            && old.members.len() / 256 == new.members.len() / 256
            && !old.members.is_empty()
            && new.members.len() < 256);
    same_kind
        && before.generated == after.generated
        && before.auto_increment == after.auto_increment
        && before.nullable == after.nullable
        && old.length == new.length
        && old.collation == new.collation
        && same_members
}

/// Whether a column that stays begins or ceases to count.
pub(super) fn changes_counter(
    old: &TableDefinition,
    new: &TableDefinition,
    sources: &[Option<usize>],
) -> bool {
    let columns = new.columns.iter().zip(sources);
    columns
        .filter_map(|(after, source)| source.map(|place| (&old.columns[place], after)))
        .any(|(before, after)| before.auto_increment != after.auto_increment)
}

/// Whether the rows were ordered by a key, the primary one or the first unique one without NULL, and none is left.
pub(super) fn loses_key(old: &TableDefinition, new: &TableDefinition) -> bool {
    has_key(old) && !has_key(new)
}

/// Whether MySQL orders the rows by a key.
pub(super) fn has_key(table: &TableDefinition) -> bool {
    let orders = |index: &IndexDefinition| match index.kind {
        IndexKind::Primary => true,
        IndexKind::Unique => {
            let is_whole =
                |part: &IndexPart| part.prefix_length.is_none() && !table.columns[part.column].nullable;
            index.parts.iter().all(is_whole)
        }
        IndexKind::Plain => false,
    };
    table.indexes.iter().any(orders)
}

/// Whether values of a column that stays change their form: not of a VIRTUAL one, whose values MySQL's rows do not hold.
pub(super) fn converts_columns(
    old: &TableDefinition,
    new: &TableDefinition,
    sources: &[Option<usize>],
) -> bool {
    sources.iter().zip(&new.columns).enumerate().any(|(at, (source, after))| {
        source.filter(|_| !after.is_virtual()).is_some_and(|place| {
            let is_key = is_key_part(old, place) || is_key_part(new, at);
            let before = &old.columns[place];
            before.auto_increment != after.auto_increment
                || before.generated.is_some() != after.generated.is_some()
                || is_converted(&before.column_type, &after.column_type, is_key)
        })
    })
}

fn is_key_part(table: &TableDefinition, column: usize) -> bool {
    table.indexes.iter().any(|index| index.parts.iter().any(|part| part.column == column))
}

/// Whether values of the column change their form. Another collation orders the keys of an index anew.
pub(super) fn is_converted(old: &ColumnType, new: &ColumnType, is_key: bool) -> bool {
    let same_kind = old.kind == new.kind || becomes_bytes(old.kind, new.kind);
    let same_text =
        old.collation == new.collation || old.kind.has_members() || !is_key && keeps_bytes(old, new);
    let is_variable = matches!(new.kind, TypeKind::VarChar | TypeKind::VarBinary);
    let same_length = match is_variable {
        true => grows_in_place(old, new),
        false => old.length == new.length || new.kind.is_integer(),
    };
    !same_kind
        || !same_text
        || !same_length
        || old.unsigned != new.unsigned
        || old.decimals != new.decimals
        || !new.members.starts_with(&old.members)
        || old.kind.has_members() && old.row_bytes() != new.row_bytes()
}

/// Text that is declared as bytes of the same kind.
fn becomes_bytes(old: TypeKind, new: TypeKind) -> bool {
    use TypeKind as K;
    matches!(
        (old, new),
        (K::VarChar, K::VarBinary)
            | (K::TinyText, K::TinyBlob)
            | (K::Text, K::Blob)
            | (K::MediumText, K::MediumBlob)
            | (K::LongText, K::LongBlob)
    )
}

/// Whether the bytes of a text stay what they are in the other character set.
fn keeps_bytes(old: &ColumnType, new: &ColumnType) -> bool {
    let (from, to) = (old.collation.charset().name, new.collation.charset().name);
    from == to || becomes_bytes(old.kind, new.kind) || (from, to) == ("utf8mb3", "utf8mb4")
}

/// Whether every value fits, and the bytes that tell its length are as many as before.
fn grows_in_place(old: &ColumnType, new: &ColumnType) -> bool {
    let bytes = |column_type: &ColumnType| {
        let most = u32::from(column_type.collation.charset().max_bytes);
        column_type.length.unwrap_or(0).saturating_mul(most)
    };
    bytes(old) <= bytes(new) && (bytes(old) < 256) == (bytes(new) < 256)
}

/// Whether both are of one index, which may have been renamed; one that is not made yet is known by its name alone.
pub(super) fn is_one_index(left: &IndexDefinition, right: &IndexDefinition) -> bool {
    match left.id == IndexId(0) || right.id == IndexId(0) {
        true => left.name == right.name,
        false => left.id == right.id,
    }
}
