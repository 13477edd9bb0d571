//! What a temporary table of grouped or distinct rows keeps of a value that a function computed. Main function:
//! [`Expression::kept`]. No name leads to it from SQL.

use super::{Call, FunctionDefinition, inner};
use crate::convert;
use crate::result_type::{Coercibility, ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use values::temporal::{Date, DateTime};
use values::{TypeKind, Value};

/// The greatest number that the column for a computed year holds.
const YEAR_MAX: i64 = u32::MAX as i64;

impl Expression {
    /// The value of a column of that name in a temporary table: a date that sql_mode does not allow is zero, bytes that are
    /// no text are error 3854, what is no year is the greatest number.
    pub fn kept(self, name: &str) -> Expression {
        let result = self.result.clone();
        let name = Value::Bytes(name.as_bytes().to_vec());
        let characters = ResultType::text(0, CollationId::UTF8MB4_0900_AI_CI, Coercibility::Coercible);
        Expression::inner_call(&KEPT, vec![self, Expression::constant(name, characters)], 0, result)
    }

    /// Whether a temporary table may keep another value than the function computes.
    pub fn may_be_kept_otherwise(&self) -> bool {
        match self.kind {
            ExpressionKind::Column(_) | ExpressionKind::Aggregate(_) => return false,
            _ => {}
        }
        match self.result.class() {
            TypeClass::DateTime => true,
            TypeClass::Integer => self.result.kind() == TypeKind::Year && self.has_parameter(),
            TypeClass::Text => self.result.collation() != CollationId::BINARY && self.has_parameter(),
            _ => false,
        }
    }
}

static KEPT: FunctionDefinition = inner("kept", 2, kept);

fn kept(call: &mut Call<'_>) -> SqlResult<Value> {
    let value = call.value(0)?;
    let rules = convert::written_date_rules(call.context().facts().sql_mode);
    let is_allowed = |date: Date| date.is_allowed(rules);
    let (kind, shown, zero) = match value {
        Value::Date(date) if !is_allowed(date) => ("date", convert::date_text(date), Value::Date(Date::ZERO)),
        Value::DateTime(moment) if !is_allowed(moment.date) => {
            ("datetime", convert::datetime_text(moment, 6), Value::DateTime(DateTime::ZERO))
        }
        Value::Int(number) if call.argument(0).kind() == TypeKind::Year => {
            let is_within = (0..=YEAR_MAX).contains(&number);
            return Ok(Value::Int(if is_within { number } else { YEAR_MAX }));
        }
        Value::Bytes(bytes) => {
            let charset = call.argument(0).collation().charset();
            if charset.is_valid(&bytes) {
                return Ok(Value::Bytes(bytes));
            }
            let shown = values::convert::shortened_bytes(&bytes);
            return Err(sql_error!(ER_CANNOT_CONVERT_STRING, shown, "binary", charset.name));
        }
        other => return Ok(other),
    };
    let column = call.utf8(1)?.unwrap_or_default();
    let text = format!("Incorrect {kind} value: '{shown}' for column '{column}' at row 1");
    call.warn(errors::code::ER_TRUNCATED_WRONG_VALUE.message(text));
    Ok(zero)
}
