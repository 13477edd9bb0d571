//! CAST and CONVERT, and conversions that the binder puts in. Main type: [`Cast`].

use crate::context::EvaluationContext;
use crate::convert;
use crate::text;
use crate::tree::Expression;
use errors::{SqlResult, sql_error};
use values::{TypeKind, Value};

/// What happens to a character that the target character set lacks, and to values that do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastFailure {
    /// Best value, with a warning: CAST and CONVERT.
    Warn,
    /// Best value, silently: conversions between character sets.
    Ignore,
}

/// A conversion to the type of the expression that it is.
#[derive(Clone, Debug)]
pub struct Cast {
    /// What is converted.
    pub operand: Expression,
    /// What failure means.
    pub failure: CastFailure,
}

impl Cast {
    /// The value for one row. `whole` carries the target type.
    pub fn evaluate(
        &self,
        whole: &Expression,
        row: &[Value],
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let value = self.operand.evaluate(row, context)?;
        let (from, target) = (&self.operand.result.column_type, &whole.result.column_type);
        if value == Value::Null {
            return Ok(Value::Null);
        }
        match target.kind {
            TypeKind::BigInt => cast_integer(&value, from, target.unsigned, context),
            TypeKind::Char | TypeKind::VarChar | TypeKind::Binary | TypeKind::VarBinary => {
                self.cast_text(whole, value, context)
            }
            kind if kind.is_large_object() && self.failure == CastFailure::Warn => {
                self.cast_text(whole, value, context)
            }
            _ => convert::to_type(value, from, target, context),
        }
    }

    fn cast_text(
        &self,
        whole: &Expression,
        value: Value,
        context: &mut dyn EvaluationContext,
    ) -> SqlResult<Value> {
        let from = &self.operand.result.column_type;
        let target = &whole.result.column_type;
        let source = match self.operand.result.class() {
            crate::result_type::TypeClass::Text => from.collation,
            _ => context.facts().connection_collation,
        };
        let Some(bytes) = convert::to_text(&value, from, context) else { return Ok(Value::Null) };
        let mut bytes = text::convert(bytes, source, target.collation);
        if let Some(length) = target.length {
            let kept = text::prefix_bytes(&bytes, length as usize, target.collation);
            if kept < bytes.len() {
                if self.failure == CastFailure::Warn {
                    let shown = text::to_utf8(&bytes, target.collation);
                    let name =
                        if target.collation == charset::CollationId::BINARY { "BINARY" } else { "CHAR" };
                    let kind = format!("{name}({length})");
                    context.diagnostics().warning(sql_error!(ER_TRUNCATED_WRONG_VALUE, kind, shown));
                }
                bytes.truncate(kept);
            } else if target.kind == TypeKind::Binary {
                bytes.resize(length as usize, 0);
            }
        }
        Ok(Value::Bytes(bytes))
    }
}

/// CAST(.. AS SIGNED) and UNSIGNED: out of range wraps as MySQL does, with a warning for text.
fn cast_integer(
    value: &Value,
    from: &values::ColumnType,
    unsigned: bool,
    context: &mut dyn EvaluationContext,
) -> SqlResult<Value> {
    let Some(exact) = convert::to_integer(value, from, context)? else { return Ok(Value::Null) };
    if unsigned {
        let value = if exact < 0 {
            exact.max(i128::from(i64::MIN)) as i64 as u64
        } else {
            u64::try_from(exact).unwrap_or(u64::MAX)
        };
        return Ok(Value::UInt(value));
    }
    let wraps = matches!(value, Value::UInt(_) | Value::Bytes(_)) && exact > 0;
    let value = if wraps && exact <= i128::from(u64::MAX) {
        exact as u64 as i64
    } else {
        exact.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
    };
    Ok(Value::Int(value))
}
