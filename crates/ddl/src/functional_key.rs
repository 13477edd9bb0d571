//! Functional key parts: expressions in an index. The value of each is that of a hidden column behind the others, which comes and
//! goes with its index. Main functions: [`add_key_columns`], [`settle_key_columns`]. Decision 22.

use super::index::{check_key_bytes, sort_indexes};
use super::stored_expression::{Purpose, parsed, stored_text};
use crate::definer::Definer;
use dictionary::{
    ColumnDefault, ColumnDefinition, GeneratedColumn, IndexDefinition, TableDefinition, key_column_name,
};
use errors::{SqlResult, sql_error};
use expression::Expression;
use parser::ast::{self, IndexSpecification, IndexType, KeyPartTarget};
use plan::{RowPlan, key_part_type};
use values::{ColumnType, TypeKind};

/// What an index without a name is called that has a functional part.
pub(super) const NAMELESS: &str = "functional_index";

/// Whether some part is an expression.
pub(super) fn has_expression(specification: &IndexSpecification) -> bool {
    specification.parts.iter().any(|part| matches!(part.target, KeyPartTarget::Expression(_)))
}

/// Errors 3756, 3759 and 3760 for indexes that have no functional parts.
pub(super) fn check_kind(specification: &IndexSpecification) -> SqlResult<()> {
    match specification.kind {
        IndexType::Primary => Err(sql_error!(ER_FUNCTIONAL_INDEX_PRIMARY_KEY)),
        IndexType::FullText => Err(sql_error!(ER_FULLTEXT_FUNCTIONAL_INDEX)),
        IndexType::Spatial => Err(sql_error!(ER_SPATIAL_FUNCTIONAL_INDEX)),
        IndexType::Unique | IndexType::Plain => Ok(()),
    }
}

/// Adds the hidden columns of the functional parts of an index of that name. Their types are settled once their expressions are
/// bound, those of multi-valued ones at once. Errors: 1221, 1235, 3758, 3761, 3762, 3800, those of what is kept.
pub(super) fn add_key_columns(
    definer: &Definer<'_>,
    definition: &mut TableDefinition,
    specification: &IndexSpecification,
    index: &str,
) -> SqlResult<()> {
    let mut is_multi_valued = false;
    for (place, part) in specification.parts.iter().enumerate() {
        let KeyPartTarget::Expression(expression) = &part.target else { continue };
        if matches!(expression, ast::Expression::Column(_)) {
            return Err(sql_error!(ER_FUNCTIONAL_INDEX_ON_FIELD));
        }
        let text = stored_text(definer, expression, Purpose::KeyPart(index))?;
        // `+a` is kept as the column.
        if matches!(parsed(&text), Some(ast::Expression::Column(_))) {
            return Err(sql_error!(ER_FUNCTIONAL_INDEX_ON_FIELD));
        }
        let element_type = match expression {
            ast::Expression::Cast(cast) if cast.array => {
                let element_type = declared::element_type(cast)?;
                check_multi_valued(
                    &element_type,
                    part,
                    std::mem::replace(&mut is_multi_valued, true),
                    &text,
                )?;
                Some(element_type)
            }
            _ => None,
        };
        let column_type = match element_type {
            Some(_) => ColumnType::new(TypeKind::Json),
            None => ColumnType::integer(TypeKind::BigInt, false),
        };
        definition.columns.push(ColumnDefinition {
            name: key_column_name(index, place),
            column_type,
            nullable: true,
            default: ColumnDefault::None,
            generated: Some(GeneratedColumn { text, stored: false, is_key_part: true, element_type }),
            on_update_now: None,
            auto_increment: false,
            invisible: true,
            names_collation: false,
            comment: String::new(),
        });
    }
    Ok(())
}

/// Errors 1221, 1235 and 3761 for a multi-valued part, `is_second` behind another of its index.
fn check_multi_valued(
    element_type: &ColumnType,
    part: &ast::KeyPart,
    is_second: bool,
    text: &str,
) -> SqlResult<()> {
    if is_second {
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, "more than one multi-valued key part per index"));
    }
    if part.descending.is_some() {
        return Err(sql_error!(ER_WRONG_USAGE, "multi-valued index", "explicit index order"));
    }
    match element_type.length {
        Some(0) => Err(sql_error!(ER_WRONG_KEY_COLUMN_FUNCTIONAL_INDEX, text)),
        _ => Ok(()),
    }
}

/// Puts the hidden columns behind the others, in the order of their names as MySQL has them. Returns the old places in the new order.
pub(super) fn put_hidden_last(definition: &mut TableDefinition) -> Vec<usize> {
    let mut order: Vec<usize> = (0..definition.columns.len()).collect();
    let columns = &definition.columns;
    if !columns.iter().any(ColumnDefinition::is_hidden) {
        return order;
    }
    order.sort_by_cached_key(|at| columns[*at].is_hidden().then(|| columns[*at].name.to_lowercase()));
    let place = |old: &mut usize| *old = order.iter().position(|at| at == old).unwrap_or(*old);
    definition.indexes.iter_mut().flat_map(|index| &mut index.parts).for_each(|part| place(&mut part.column));
    definition.foreign_keys.iter_mut().flat_map(|key| &mut key.columns).for_each(place);
    definition.columns = order.iter().map(|at| definition.columns[*at].clone()).collect();
    order
}

/// Gives the hidden columns the types of their expressions. `plan` has those of the definition. Errors: 1071, 3753, 3757, 3761.
pub fn settle_key_columns(definition: &mut TableDefinition, plan: &RowPlan) -> SqlResult<()> {
    for generated in &plan.generated {
        let column = &mut definition.columns[generated.column];
        if let Some(text) = column.key_expression().filter(|_| column.element_type().is_none()) {
            let expression = &generated.value.expression;
            column.column_type = key_type(expression, text)?;
            column.nullable = expression.result.nullable;
        }
    }
    let columns = &definition.columns;
    let is_functional =
        |index: &&IndexDefinition| index.parts.iter().any(|part| columns[part.column].is_hidden());
    definition.indexes.iter().filter(is_functional).try_for_each(|index| check_key_bytes(index, columns))?;
    // Unique ones without NULL go first.
    sort_indexes(definition);
    Ok(())
}

fn key_type(expression: &Expression, text: &str) -> SqlResult<ColumnType> {
    let made = key_part_type(&expression.result);
    match made.kind {
        _ if expression.result.kind() == TypeKind::Null => {
            Err(sql_error!(ER_WRONG_KEY_COLUMN_FUNCTIONAL_INDEX, text))
        }
        TypeKind::Json => Err(sql_error!(ER_FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION)),
        kind if kind.is_large_object() => Err(sql_error!(ER_FUNCTIONAL_INDEX_ON_LOB)),
        _ => Ok(made),
    }
}

/// The index whose part a hidden column is.
pub(super) fn index_of(definition: &TableDefinition, column: usize) -> Option<&IndexDefinition> {
    definition.indexes.iter().find(|index| index.parts.iter().any(|part| part.column == column))
}
