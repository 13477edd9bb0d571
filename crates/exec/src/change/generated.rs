//! Generated columns: step 4 of the way of a row. Main function: [`generate`].

use super::own_expression::value_over;
use crate::run::Run;
use crate::storing::Storing;
use dictionary::ColumnDefinition;
use errors::{SqlError, SqlResult};
use expression::EvaluationContext;
use plan::{GeneratedValue, told_of_index};
use values::Value;

/// Computes generated columns of a row, as it is stored, in the order of the columns: later ones may read earlier ones.
#[inline]
pub fn generate<'g>(
    generated: impl IntoIterator<Item = &'g GeneratedValue>,
    columns: &[ColumnDefinition],
    row: &mut [Value],
    (storing, row_number): (Storing, u64),
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    for GeneratedValue { column, value } in generated {
        let definition = &columns[*column];
        let mark = run.diagnostics().mark();
        let stored = value_over(value, columns, row, run).and_then(|computed| {
            storing.store_computed(&value.expression, &computed, definition, row_number, run)
        });
        row[*column] = match definition.is_hidden() {
            true => {
                let other = |error: &SqlError| told_of_index(error, definition, row_number);
                run.diagnostics().retell(mark, stored, &other)?
            }
            false => stored?,
        };
    }
    Ok(())
}
