//! CHECK constraints as CREATE and ALTER TABLE declare them: their names, what they may say, the text that is kept. Main type:
//! [`DeclaredCheck`]. Whether a condition can be bound is asked of the planner when the whole definition is known.

use super::limits;
use crate::definer::Definer;
use crate::stored_expression::{Purpose, named_columns, stored_text};
use dictionary::{CheckDefinition, GENERATED_CHECK, TableDefinition, same_name};
use errors::{SqlResult, sql_error};
use parser::ast::{CheckConstraint, ColumnAttribute, ColumnSpecification, TableElement};
use std::collections::HashSet;

/// A CHECK clause.
#[derive(Clone, Copy)]
pub(super) struct DeclaredCheck<'a> {
    pub constraint: &'a CheckConstraint,
    /// The column among whose attributes it stands: it may name no other.
    pub column: Option<&'a str>,
}

/// Those of the elements of a CREATE TABLE, in the order of the text.
pub(super) fn of_elements(elements: &[TableElement]) -> Vec<DeclaredCheck<'_>> {
    let mut declared = Vec::new();
    for element in elements {
        match element {
            TableElement::Column(column) => declared.extend(of_column(column)),
            TableElement::Check(constraint) => declared.push(DeclaredCheck { constraint, column: None }),
            TableElement::Index(_) | TableElement::ForeignKey(_) => {}
        }
    }
    declared
}

/// Those among the attributes of a column.
pub(super) fn of_column(column: &ColumnSpecification) -> impl Iterator<Item = DeclaredCheck<'_>> {
    column.attributes.iter().filter_map(|attribute| match attribute {
        ColumnAttribute::Check(constraint) => Some(DeclaredCheck { constraint, column: Some(&column.name) }),
        _ => None,
    })
}

/// Adds CHECK constraints to a definition whose columns are known. Those without a name are numbered behind `numbered`, of a table
/// that is there. Errors: 1054, 1059, 1111, 3812 to 3818, 3820, 3822.
pub(super) fn add_checks(
    definer: &mut Definer<'_>,
    definition: &mut TableDefinition,
    declared: &[DeclaredCheck<'_>],
    numbered: Option<u64>,
) -> SqlResult<()> {
    let mut number = numbered.unwrap_or(0);
    let mut taken: HashSet<String> = definition.checks.iter().map(CheckDefinition::folded_name).collect();
    for check in declared {
        definer.check_killed()?;
        let name = match &check.constraint.name {
            Some(name) => name.clone(),
            None => {
                // As in MySQL, whatever number somebody has put into a name.
                number = number.wrapping_add(1);
                format!("{}{GENERATED_CHECK}{number}", definition.name.table)
            }
        };
        if name.chars().count() > limits::NAME_CHARACTERS_MAX {
            return Err(sql_error!(ER_TOO_LONG_IDENT, name));
        }
        let text = stored_text(definer, &check.constraint.expression, Purpose::Check(&name))?;
        check_columns(check, &name, definition, numbered.is_some())?;
        let enforced = check.constraint.enforced.unwrap_or(true);
        let check = CheckDefinition { name, text, enforced };
        if !taken.insert(check.folded_name()) {
            return Err(sql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, check.name));
        }
        definition.checks.push(check);
    }
    Ok(())
}

/// The greatest number in a generated name of a table's CHECK constraints; 0 if there is none.
pub(super) fn greatest_number(definition: &TableDefinition) -> u64 {
    let beginning = format!("{}{GENERATED_CHECK}", definition.name.table);
    let number = |check: &CheckDefinition| check.name.strip_prefix(&beginning)?.parse().ok();
    definition.checks.iter().filter_map(number).max().unwrap_or(0)
}

/// Errors 3813, 3818, 3820; of a table that is there 1054 in the place of the last.
fn check_columns(
    check: &DeclaredCheck<'_>,
    name: &str,
    definition: &TableDefinition,
    is_there: bool,
) -> SqlResult<()> {
    let mut named = Vec::new();
    named_columns(&check.constraint.expression, &mut named);
    for column in named.into_iter().map(|column| column.name) {
        if check.column.is_some_and(|own| !same_name(own, column)) {
            return Err(sql_error!(ER_COLUMN_CHECK_CONSTRAINT_REFERENCES_OTHER_COLUMN, name));
        }
        let Some(position) = definition.column_position(column) else {
            if is_there {
                let clause = format!("check constraint {name} expression");
                return Err(sql_error!(ER_BAD_FIELD_ERROR, column, clause));
            }
            return Err(sql_error!(ER_CHECK_CONSTRAINT_REFERS_UNKNOWN_COLUMN, name, column));
        };
        if definition.columns[position].auto_increment {
            return Err(sql_error!(ER_CHECK_CONSTRAINT_REFERS_AUTO_INCREMENT_COLUMN, name));
        }
    }
    Ok(())
}
