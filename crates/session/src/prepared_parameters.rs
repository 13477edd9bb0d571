//! The parameters of prepared statements between the client and the plan: how they are described, the types that values
//! arrive with, and the types that executions settle. Main type: [`SettledTypes`]. Thread rules: the session's.

use crate::planning::ParameterTyping;
use errors::{Diagnostics, SqlResult, sql_error};
use exec::{ParameterUse, Reading};
use expression::{TypedValue, parameter};
use instance::Planned;
use values::{ColumnType, TypeKind, Value};
use wire::parameter::ParameterType;
use wire::result::ResultColumn;
use wire::type_code::code;

/// The types of a statement's parameters, as far as they do not follow from the text any more: a value of another kind
/// of type than its parameter gives all parameters the types of that execution's values.
#[derive(Debug)]
pub(crate) struct SettledTypes(Vec<Option<ColumnType>>);

impl SettledTypes {
    /// Those of a statement that never ran.
    pub fn none(count: usize) -> SettledTypes {
        SettledTypes(vec![None; count])
    }

    /// The types follow from the text again.
    pub fn forget(&mut self) {
        self.0.fill(None);
    }

    /// All of them.
    pub fn types(&self) -> &[Option<ColumnType>] {
        &self.0
    }

    /// For the planner.
    pub fn typing(&self) -> ParameterTyping<'_> {
        ParameterTyping::FromContext(&self.0)
    }

    /// Brings the values of an execution to the types of their parameters. Where a value does not do for its parameter,
    /// the plan is dropped: the statement is planned anew. `command`: what executes, for errors. Errors 3988; 1210 and 1690 for what
    /// is no number of rows.
    pub fn fit(
        &mut self,
        command: &str,
        plan: &mut Option<Planned>,
        given: Vec<TypedValue>,
        diagnostics: &mut Diagnostics,
    ) -> SqlResult<Vec<TypedValue>> {
        let uses = plan.as_ref().map_or(&[][..], |planned| planned.prepared.parameters());
        let used = |index: usize| uses.get(index).and_then(Option::as_ref);
        for (index, typed) in given.iter().enumerate() {
            match used(index).map(|used| used.reading) {
                Some(Reading::RowCount) => check_row_count(&typed.value, command)?,
                Some(Reading::WholeNumber) => check_whole_number(&typed.value, command)?,
                _ => {}
            }
        }
        let wanted = |index: usize| used(index).filter(|used| !used.reading.is_as_given());
        let misfit = |(index, typed): (usize, &TypedValue)| {
            wanted(index).is_some_and(|used| parameter::retyped_for(typed, &used.column_type).is_some())
        };
        let anew = given.iter().enumerate().any(misfit);
        if anew {
            self.0 = given.iter().enumerate().map(|(index, typed)| own_type(typed, wanted(index))).collect();
        }
        let mut fitted = Vec::with_capacity(given.len());
        for (index, typed) in given.into_iter().enumerate() {
            let used = wanted(index);
            let column_type = match anew {
                true => self.0.get(index).and_then(Option::as_ref),
                false => used.map(|used| &used.column_type),
            };
            let Some(column_type) = column_type else {
                fitted.push(typed);
                continue;
            };
            if column_type.kind == TypeKind::Decimal
                && used.is_some_and(|used| used.reading == Reading::Shown)
            {
                fitted.push(typed);
                continue;
            }
            // A function reads a number that is no moment in its own way. Digits are added where the type is what is read.
            let warns = used.is_none_or(|used| used.reading != Reading::Own);
            let keeps_digits = used.is_none_or(|used| used.reading != Reading::Typed);
            let warned = warns.then_some(&mut *diagnostics);
            fitted.push(parameter::fit(typed, column_type, keeps_digits, warned)?);
        }
        if anew {
            *plan = None;
        }
        Ok(fitted)
    }
}

/// Whether a value can be a whole number. Error 1210.
fn check_whole_number(value: &Value, command: &str) -> SqlResult<()> {
    match value {
        Value::Null | Value::UInt(_) | Value::Int(_) => Ok(()),
        _ => Err(sql_error!(ER_WRONG_ARGUMENTS, command)),
    }
}

/// Whether a value can be a number of rows. Errors 1210, 1690.
fn check_row_count(value: &Value, command: &str) -> SqlResult<()> {
    match value {
        Value::Null | Value::UInt(_) => Ok(()),
        Value::Int(count) if *count >= 0 => Ok(()),
        Value::Int(_) => Err(sql_error!(ER_DATA_OUT_OF_RANGE, "unsigned integer", command)),
        _ => Err(sql_error!(ER_WRONG_ARGUMENTS, command)),
    }
}

/// The type that a value gives its parameter; none for NULL.
fn own_type(typed: &TypedValue, used: Option<&ParameterUse>) -> Option<ColumnType> {
    if typed.value == Value::Null {
        return None;
    }
    let known = used.map(|used| &used.column_type);
    let misfit = known.and_then(|known| parameter::retyped_for(typed, known));
    // A text that is a number of the parameter's type is that number.
    let kept = known.filter(|known| parameter::is_number_text(typed, known));
    Some(misfit.or_else(|| kept.cloned()).unwrap_or_else(|| parameter::derived_type(&typed.column_type)))
}

/// How `?` are described: text where nothing is known of them.
pub(crate) fn described(
    count: usize,
    uses: &[Option<ParameterUse>],
    connection: charset::CollationId,
) -> Vec<ResultColumn> {
    let column = |index: usize| {
        let known = uses.get(index).and_then(Option::as_ref);
        let column_type = known.map_or_else(|| parameter::text(connection), |used| used.column_type.clone());
        ResultColumn::computed("?", column_type)
    };
    (0..count).map(column).collect()
}

/// The type that a value arrives with.
pub(crate) fn given_type(
    value: &Value,
    declared: Option<ParameterType>,
    connection: charset::CollationId,
) -> ColumnType {
    match value {
        Value::Null => ColumnType::null(),
        Value::Int(_) => ColumnType::big_int(),
        Value::UInt(_) => ColumnType::big_int_unsigned(),
        Value::Float(_) => ColumnType::new(TypeKind::Float),
        Value::Double(_) => ColumnType::double(),
        Value::Decimal(_) => ColumnType::new(TypeKind::Decimal),
        Value::Date(_) => ColumnType::new(TypeKind::Date),
        Value::Time(_) => ColumnType::temporal(TypeKind::Time, 6),
        Value::DateTime(_) => ColumnType::temporal(TypeKind::DateTime, 6),
        Value::Bytes(bytes) => {
            let is_blob = |declared: ParameterType| (code::TINY_BLOB..=code::BLOB).contains(&declared.code);
            let blob = declared.is_some_and(is_blob);
            let mut column_type = ColumnType::new(if blob { TypeKind::VarBinary } else { TypeKind::VarChar });
            column_type.length = Some(bytes.len() as u32);
            column_type.collation = if blob { charset::CollationId::BINARY } else { connection };
            column_type
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use charset::CollationId;

    #[test]
    fn parameters_are_described_as_expressions() {
        let integer = ParameterUse { column_type: parameter::integer(false), reading: Reading::Typed };
        let columns = described(2, &[Some(integer)], CollationId::UTF8MB4_0900_AI_CI);
        assert!(columns.iter().all(|column| column.computed));
        assert_eq!(columns[0].column_type.kind, TypeKind::BigInt);
        assert_eq!(columns[1].column_type, parameter::text(CollationId::UTF8MB4_0900_AI_CI));
    }
}
