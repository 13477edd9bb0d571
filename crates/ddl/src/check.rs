//! CHECK constraints as CREATE and ALTER TABLE declare them: their names, what they may say, the text that is kept. Main type:
//! [`DeclaredCheck`]. Whether a condition can be bound is asked of the planner when the whole definition is known.

use super::limits;
use crate::definer::Definer;
use crate::disallowed::check_disallowed;
use dictionary::{CheckDefinition, GENERATED_CHECK, TableDefinition};
use errors::{SqlResult, sql_error};
use parser::ast::{CheckConstraint, Child, ColumnAttribute, ColumnSpecification, Expression, TableElement};

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
    for check in declared {
        definer.check_killed()?;
        let name = match &check.constraint.name {
            Some(name) => name.clone(),
            None => {
                number += 1;
                format!("{}{GENERATED_CHECK}{number}", definition.name.table)
            }
        };
        if name.chars().count() > limits::NAME_CHARACTERS_MAX {
            return Err(sql_error!(ER_TOO_LONG_IDENT, name));
        }
        if definition.check_position(&name).is_some() {
            return Err(sql_error!(ER_CHECK_CONSTRAINT_DUP_NAME, name));
        }
        check_disallowed(&check.constraint.expression, &name)?;
        check_columns(check, &name, definition, numbered.is_some())?;
        let charset = definer.connection_collation().charset().name;
        let text = parser::print_expression(&check.constraint.expression, charset);
        let text = text.ok_or_else(|| sql_error!(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, name))?;
        let enforced = check.constraint.enforced.unwrap_or(true);
        definition.checks.push(CheckDefinition { name, text, enforced });
    }
    Ok(())
}

/// The greatest number in a generated name of a table's CHECK constraints; 0 if there is none.
pub(super) fn greatest_number(definition: &TableDefinition) -> u64 {
    let beginning = format!("{}{GENERATED_CHECK}", definition.name.table);
    let number = |check: &CheckDefinition| check.name.strip_prefix(&beginning)?.parse().ok();
    definition.checks.iter().filter_map(number).max().unwrap_or(0)
}

/// Errors 3812, 3813, 3818, 3820; of a table that is there 1054 in the place of the last.
fn check_columns(
    check: &DeclaredCheck<'_>,
    name: &str,
    definition: &TableDefinition,
    is_there: bool,
) -> SqlResult<()> {
    if matches!(check.constraint.expression, Expression::Row(_)) {
        return Err(sql_error!(ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT, name));
    }
    let mut named = Vec::new();
    column_names(&check.constraint.expression, &mut named);
    for column in named {
        if check.column.is_some_and(|own| !own.eq_ignore_ascii_case(column)) {
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

/// Names of the columns that an expression reads, in the order of the text.
fn column_names<'a>(expression: &'a Expression, names: &mut Vec<&'a str>) {
    match expression {
        Expression::Column(column) | Expression::Default(Some(column)) => names.push(&column.column),
        _ => {}
    }
    expression.each_child(&mut |child| {
        if let Child::Expression(child) = child {
            column_names(child, names);
        }
    });
}

/// The columns of its table that a kept condition reads, each once.
pub(super) fn columns_of(check: &CheckDefinition, definition: &TableDefinition) -> Vec<usize> {
    // It was printed by this server.
    let parsed = parser::parse_expression(check.text.as_bytes(), parser::ParseOptions::default());
    let Ok(parsed) = parsed else { return Vec::new() };
    let mut names = Vec::new();
    column_names(&parsed, &mut names);
    let mut columns: Vec<usize> =
        names.into_iter().filter_map(|name| definition.column_position(name)).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}
