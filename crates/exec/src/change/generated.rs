//! Generated columns: step 4 of the way of a row. Main function: [`generate`].

use crate::run::Run;
use crate::storing::{Storing, seen_row};
use dictionary::ColumnDefinition;
use errors::SqlResult;
use plan::GeneratedValue;
use values::{RowRef, Value};

/// Computes generated columns of a row, as it is stored, in the order of the columns: later ones may read earlier ones.
#[inline]
pub fn generate(
    generated: &[GeneratedValue],
    columns: &[ColumnDefinition],
    row: &mut [Value],
    (storing, row_number): (Storing, u64),
    run: &mut Run<'_, '_>,
) -> SqlResult<()> {
    for GeneratedValue { column, value } in generated {
        let computed = {
            let seen = seen_row(row, columns, run);
            value.evaluate(RowRef::Values(&seen), run)?
        };
        run.check_raised()?;
        row[*column] = storing.store_computed(value, &computed, &columns[*column], row_number, run)?;
    }
    Ok(())
}
