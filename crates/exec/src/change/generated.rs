//! Generated columns: step 4 of the way of a row. Main function: [`generate`].

use super::own_expression::value_over;
use crate::run::Run;
use crate::storing::Storing;
use dictionary::ColumnDefinition;
use errors::SqlResult;
use plan::GeneratedValue;
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
        let computed = value_over(value, columns, row, run)?;
        let stored =
            storing.store_computed(&value.expression, &computed, &columns[*column], row_number, run)?;
        row[*column] = stored;
    }
    Ok(())
}
