//! Foreign keys as CREATE and ALTER TABLE declare them: their names, their columns, and the indexes that are made for them. Main type:
//! [`DeclaredKey`]. What they ask of the tables that they refer to is in `referred_table`, what ALTER does to those that are there in
//! `alter_foreign_keys`.

use super::index::build_index;
use super::limits;
use super::stored_expression::columns_of;
use crate::definer::Definer;
use dictionary::{
    ForeignKeyDefinition, GENERATED_FOREIGN_KEY, IndexDefinition, IndexKind, IndexPart, MatchOption,
    ReferenceAction, TableDefinition, TableName,
};
use errors::{SqlResult, sql_error};
use parser::ast::{
    self, ColumnAttribute, ColumnSpecification, IndexSpecification, IndexType, KeyPart, KeyPartTarget,
    References, TableElement,
};
use std::collections::HashSet;
use stdx::ids::{IndexId, TableId};

/// A FOREIGN KEY clause, or REFERENCES behind a column.
pub(super) struct DeclaredKey<'a> {
    constraint: Option<&'a str>,
    index_name: Option<&'a str>,
    columns: Vec<&'a str>,
    references: &'a References,
}

/// Errors 1072 and 1215 for the keys of a temporary table: neither has one, nor refers anything to it.
pub(super) fn refuse_keys(declared: &[DeclaredKey<'_>], definition: &TableDefinition) -> SqlResult<()> {
    let is_missing = |name: &&&str| definition.column_position(name).is_none();
    match declared.iter().flat_map(|key| &key.columns).find(is_missing) {
        Some(missing) => Err(sql_error!(ER_KEY_COLUMN_DOES_NOT_EXITS, missing)),
        None if declared.is_empty() => Ok(()),
        None => Err(sql_error!(ER_CANNOT_ADD_FOREIGN)),
    }
}

/// Leaves a table that is said to be of an engine without foreign keys with none, once they were judged.
pub(super) fn forget_keys_unkept(definition: &mut TableDefinition) {
    if !definition.options.engine.has_foreign_keys() {
        definition.foreign_keys.clear();
    }
}

/// Those of the elements of a CREATE TABLE, in the order of the text.
pub(super) fn keys_of_elements(elements: &[TableElement]) -> Vec<DeclaredKey<'_>> {
    let mut declared = Vec::new();
    for element in elements {
        match element {
            TableElement::Column(column) => declared.extend(keys_of_column(column)),
            TableElement::ForeignKey(key) => declared.push(declared_key(key)),
            TableElement::Index(_) | TableElement::Check(_) => {}
        }
    }
    declared
}

/// A FOREIGN KEY clause.
pub(super) fn declared_key(key: &ast::ForeignKey) -> DeclaredKey<'_> {
    DeclaredKey {
        constraint: key.constraint.as_deref(),
        index_name: key.index_name.as_deref(),
        columns: key.columns.iter().map(String::as_str).collect(),
        references: &key.references,
    }
}

/// Those among the attributes of a column.
pub(super) fn keys_of_column(column: &ColumnSpecification) -> impl Iterator<Item = DeclaredKey<'_>> {
    column.attributes.iter().filter_map(|attribute| match attribute {
        ColumnAttribute::References(references) => Some(DeclaredKey {
            constraint: None,
            index_name: None,
            columns: vec![column.name.as_str()],
            references,
        }),
        _ => None,
    })
}

impl DeclaredKey<'_> {
    /// The table that it refers to: without a schema it is in that of its own.
    pub fn parent(&self, schema: &str) -> TableName {
        let table = &self.references.table;
        let schema = table.schema.as_deref().unwrap_or(schema).to_owned();
        TableName { schema, table: table.name.clone() }
    }

    /// What MySQL calls it where it has no name yet.
    fn spoken_name(&self) -> &str {
        self.constraint.unwrap_or("foreign key without name")
    }
}

/// Adds foreign keys to a definition that has its columns and the indexes that were declared, and makes the indexes that serve them.
/// Those without a name are numbered behind `numbered`; `old` is the table that is altered, whose names are taken whatever goes.
/// Errors: 1059, 1060, 1072, 1170, 1215, 1239, 1826, 1830, 3104, 3733, 3823.
pub(super) fn add_foreign_keys(
    definer: &mut Definer<'_>,
    definition: &mut TableDefinition,
    declared: &[DeclaredKey<'_>],
    numbered: u64,
    old: Option<&TableDefinition>,
) -> SqlResult<()> {
    let dictionary = definer.instance.engine().dictionary();
    let mut taken = taken_names(dictionary, definition, old);
    let mut number = numbered;
    for key in declared {
        definer.check_killed()?;
        let name = match key.constraint {
            Some(name) => name.to_owned(),
            None => {
                number = number.wrapping_add(1);
                format!("{}{GENERATED_FOREIGN_KEY}{number}", definition.name.table)
            }
        };
        if name.chars().count() > limits::NAME_CHARACTERS_MAX {
            return Err(sql_error!(ER_TOO_LONG_IDENT, name));
        }
        let made = built_key(definer, definition, key, name)?;
        if !taken.insert(made.folded_name()) {
            return Err(sql_error!(ER_FK_DUP_NAME, made.name));
        }
        definition.foreign_keys.push(made);
    }
    add_serving_indexes(definer, definition, declared)?;
    let first = definition.foreign_keys.len() - declared.len();
    definition.foreign_keys[first..].iter().try_for_each(|key| check_actions(definition, key))?;
    definition.sort_foreign_keys();
    Ok(())
}

/// What tells the names of a schema's foreign keys from others, those of a definition among them.
fn taken_names(
    dictionary: &engine::Dictionary,
    definition: &TableDefinition,
    old: Option<&TableDefinition>,
) -> HashSet<String> {
    let except: Vec<TableId> = old.map(|old| old.id).into_iter().collect();
    let others = dictionary.constraints(&definition.name.schema, &except);
    let others = others.iter().flat_map(|names| names.references.iter().map(|key| key.folded_name.clone()));
    let own = old.unwrap_or(definition).foreign_keys.iter().map(ForeignKeyDefinition::folded_name);
    others.chain(own).collect()
}

/// The greatest number in a generated name of a table's foreign keys; 0 if there is none.
pub(super) fn greatest_number(definition: &TableDefinition) -> u64 {
    let beginning = format!("{}{GENERATED_FOREIGN_KEY}", definition.name.table);
    let number = |key: &ForeignKeyDefinition| key.name.strip_prefix(&beginning)?.parse().ok();
    definition.foreign_keys.iter().filter_map(number).max().unwrap_or(0)
}

/// A key with its columns found. Errors: 1060, 1072, 1239.
fn built_key(
    definer: &Definer<'_>,
    definition: &TableDefinition,
    declared: &DeclaredKey<'_>,
    name: String,
) -> SqlResult<ForeignKeyDefinition> {
    let mut columns = Vec::with_capacity(declared.columns.len());
    for column in &declared.columns {
        let found = definition.column_position(column);
        let position = found.ok_or_else(|| sql_error!(ER_KEY_COLUMN_DOES_NOT_EXITS, column))?;
        if columns.contains(&position) {
            return Err(sql_error!(ER_DUP_FIELDNAME, column));
        }
        columns.push(position);
    }
    let parent = declared.parent(&definition.name.schema);
    let parent_columns = match declared.references.columns.is_empty() {
        true => primary_columns(definer, definition, &parent),
        false => declared.references.columns.clone(),
    };
    if parent_columns.len() != columns.len() {
        let mismatch = "Key reference and table reference don't match";
        return Err(sql_error!(ER_WRONG_FK_DEF, declared.spoken_name(), mismatch));
    }
    Ok(ForeignKeyDefinition {
        name,
        columns,
        parent,
        parent_columns,
        on_delete: action(declared.references.on_delete),
        on_update: action(declared.references.on_update),
        match_option: match declared.references.match_type.as_deref() {
            None => MatchOption::None,
            Some(word) if word.eq_ignore_ascii_case("FULL") => MatchOption::Full,
            Some(word) if word.eq_ignore_ascii_case("PARTIAL") => MatchOption::Partial,
            Some(_) => MatchOption::Simple,
        },
        ordinal: 0,
    })
}

/// The columns that REFERENCES without columns means; none if that table has no primary key.
fn primary_columns(definer: &Definer<'_>, definition: &TableDefinition, parent: &TableName) -> Vec<String> {
    let of = |table: &TableDefinition| -> Vec<String> {
        let parts = table.primary_key().into_iter().flat_map(|index| &index.parts);
        parts.map(|part| table.columns[part.column].name.clone()).collect()
    };
    if *parent == definition.name {
        return of(definition);
    }
    let table = definer.instance.engine().dictionary().table(&parent.schema, &parent.table);
    table.map_or_else(Vec::new, |table| of(table.definition()))
}

fn action(written: Option<ast::ReferenceAction>) -> ReferenceAction {
    match written {
        None | Some(ast::ReferenceAction::NoAction) => ReferenceAction::NoAction,
        Some(ast::ReferenceAction::Restrict) => ReferenceAction::Restrict,
        Some(ast::ReferenceAction::Cascade) => ReferenceAction::Cascade,
        Some(ast::ReferenceAction::SetNull) => ReferenceAction::SetNull,
        Some(ast::ReferenceAction::SetDefault) => ReferenceAction::SetDefault,
    }
}

/// What the columns of a key allow it to do. Errors: 1215, 1830, 3104, 3733, 3823.
pub(super) fn check_actions(definition: &TableDefinition, key: &ForeignKeyDefinition) -> SqlResult<()> {
    let sets_null = key.on_delete == ReferenceAction::SetNull || key.on_update == ReferenceAction::SetNull;
    for at in &key.columns {
        let column = &definition.columns[*at];
        match &column.generated {
            Some(generated) if !generated.stored => {
                return Err(sql_error!(ER_FK_CANNOT_USE_VIRTUAL_COLUMN, key.name, column.name));
            }
            Some(_) => check_generated(key)?,
            None => {}
        }
        if sets_null && !column.nullable {
            return Err(sql_error!(ER_FK_COLUMN_NOT_NULL, column.name, key.name));
        }
        if key.may_assign() {
            let reads =
                |check: &&dictionary::CheckDefinition| columns_of(&check.text, definition).contains(at);
            if let Some(check) = definition.checks.iter().find(reads) {
                return Err(sql_error!(
                    ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN,
                    column.name,
                    check.name,
                    key.name
                ));
            }
        }
        let changes = key.on_delete.changes_rows() || key.on_update.changes_rows();
        if changes && is_base_of_stored(definition, *at) {
            return Err(sql_error!(ER_CANNOT_ADD_FOREIGN));
        }
    }
    Ok(())
}

/// Error 3104 for an action that would give a generated column a value.
fn check_generated(key: &ForeignKeyDefinition) -> SqlResult<()> {
    let clauses = [("ON UPDATE", key.on_update), ("ON DELETE", key.on_delete)];
    for (clause, action) in clauses {
        let is_deletion = clause == "ON DELETE" && action == ReferenceAction::Cascade;
        if matches!(action, ReferenceAction::Cascade | ReferenceAction::SetNull | ReferenceAction::SetDefault)
            && !is_deletion
        {
            let what = format!("{clause} {}", action.sql());
            return Err(sql_error!(ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN, what));
        }
    }
    Ok(())
}

fn is_base_of_stored(definition: &TableDefinition, column: usize) -> bool {
    let stored = definition.columns.iter().filter_map(|column| column.generated.as_ref());
    stored.filter(|one| one.stored).any(|one| columns_of(&one.text, definition).contains(&column))
}

/// Makes an index for each of the last keys of a definition that no other index serves.
fn add_serving_indexes(
    definer: &mut Definer<'_>,
    definition: &mut TableDefinition,
    declared: &[DeclaredKey<'_>],
) -> SqlResult<()> {
    let first = definition.foreign_keys.len() - declared.len();
    let before = definition.indexes.len();
    // They stand in a line with the others until it is clear which of them are made.
    for key in &definition.foreign_keys[first..] {
        let part = |column: &usize| IndexPart { column: *column, prefix_length: None, descending: false };
        definition.indexes.push(IndexDefinition {
            id: IndexId(0),
            name: String::new(),
            kind: IndexKind::Plain,
            parts: key.columns.iter().map(part).collect(),
            comment: String::new(),
            invisible: false,
            generated: true,
        });
    }
    let is_kept = kept_indexes(definition);
    let wanted: Vec<usize> = (0..declared.len()).filter(|number| is_kept[before + number]).collect();
    definition.indexes.truncate(before);
    let mut kept = is_kept.into_iter();
    definition.indexes.retain(|_| kept.next().unwrap_or(true));
    for number in wanted {
        let (clause, key) = (&declared[number], &definition.foreign_keys[first + number]);
        let target = |name: &str| KeyPartTarget::Column { name: name.to_owned(), prefix_length: None };
        let parts =
            key.column_names(definition).map(|name| KeyPart { target: target(name), descending: None });
        let specification = IndexSpecification {
            kind: IndexType::Plain,
            name: clause.constraint.or(clause.index_name).map(str::to_owned),
            constraint: None,
            parts: parts.collect(),
            options: Vec::new(),
        };
        let is_strict = definer.sql_mode().is_strict();
        let (columns, taken) = (&definition.columns, &definition.indexes);
        let index = build_index(&specification, columns, taken, definer.diagnostics, is_strict)?;
        definition.indexes.push(IndexDefinition { generated: true, ..index });
    }
    Ok(())
}

/// Takes indexes out that were made for a foreign key and that another serves as well.
pub(super) fn drop_superseded_indexes(definition: &mut TableDefinition) {
    let mut kept = kept_indexes(definition).into_iter();
    definition.indexes.retain(|_| kept.next().unwrap_or(true));
}

/// Which of the indexes stay, in the order in which they were made: one that was made for a foreign key gives way to another that begins with its
/// columns, of two such ones with the same columns the earlier. One that has no entry for some rows serves no key.
fn kept_indexes(definition: &TableDefinition) -> Vec<bool> {
    let indexes = &definition.indexes;
    let serves =
        |index: &IndexDefinition, other| begins_with(index, other) && !definition.is_multi_valued(index);
    let mut kept = vec![true; indexes.len()];
    for (at, index) in indexes.iter().enumerate() {
        for (earlier, other) in indexes[..at].iter().enumerate() {
            if !kept[earlier] || !kept[at] {
                continue;
            }
            let gives_way = index.generated && serves(other, index);
            if gives_way && (!other.generated || index.parts.len() < other.parts.len()) {
                kept[at] = false;
            } else if other.generated && serves(index, other) {
                kept[earlier] = false;
            }
        }
    }
    kept
}

/// Whether the parts of an index are the first ones of another.
fn begins_with(longer: &IndexDefinition, index: &IndexDefinition) -> bool {
    longer.parts.starts_with(&index.parts)
}
