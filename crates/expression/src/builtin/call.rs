//! What a function sees when it runs for one row: its arguments, evaluated when asked for. Main type: [`Call`].

use crate::context::{CallState, EvaluationContext, LONG_BYTES, waiting_bytes};
use crate::convert::{self, MomentKind, ZeroDates};
use crate::operand::Operand;
use crate::result_type::{ResultType, TypeClass};
use crate::tree::{Expression, ExpressionKind, FunctionCall};
use charset::CollationId;
use errors::{SqlError, SqlResult};
use functions::Interrupt;
use std::borrow::Cow;
use values::temporal::{DateTime, Time};
use values::{Decimal, RowRef, TypeKind, Value, ValueRef};

/// One evaluation of a function.
pub struct Call<'a> {
    /// The call.
    pub call: &'a FunctionCall,
    /// The call as an expression, for errors that print it.
    pub whole: &'a Expression,
    /// The type that was derived for it.
    pub result: &'a ResultType,
    /// The row.
    pub row: RowRef<'a>,
    /// The statement and session.
    pub context: &'a mut dyn EvaluationContext,
    /// Bytes of long values that the call holds, counted by the context until it ends.
    pub(crate) waiting: usize,
}

impl<'a> Call<'a> {
    /// How many arguments there are.
    pub fn count(&self) -> usize {
        self.call.arguments.len()
    }

    /// The function's name.
    pub fn name(&self) -> &'static str {
        self.call.definition.name
    }

    /// The type that was derived for the result.
    pub fn result(&self) -> &'a ResultType {
        self.result
    }

    /// The expression of an argument.
    pub fn expression(&self, index: usize) -> &'a Expression {
        &self.call.arguments[index]
    }

    /// Type of an argument.
    pub fn argument(&self, index: usize) -> &'a ResultType {
        &self.call.arguments[index].result
    }

    /// The statement and session.
    pub fn context(&mut self) -> &mut dyn EvaluationContext {
        self.context
    }

    /// What long work asks now and then.
    pub fn interrupt(&self) -> &dyn Interrupt {
        &self.context
    }

    /// What this call keeps between rows.
    pub fn state(&mut self) -> &mut Option<CallState> {
        self.context.call_state(self.call.site)
    }

    /// Adds a warning.
    pub fn warn(&mut self, error: SqlError) {
        self.context.diagnostics().warning(error);
    }

    /// An argument as it is.
    pub fn value(&mut self, index: usize) -> SqlResult<Value> {
        let value = Operand::Owned(self.call.arguments[index].evaluate(self.row, self.context)?);
        self.wait_for(waiting_bytes(&value))?;
        Ok(value.into_value())
    }

    /// The value of an argument as something computed: a column's year is a number, without leading zeros.
    pub fn computed(&self, index: usize, value: Value) -> Value {
        match value {
            Value::UInt(year) if self.argument(index).kind() == TypeKind::Year => Value::Int(year as i64),
            value => value,
        }
    }

    /// An argument as it is, without a copy where it is a column or a constant.
    pub fn operand(&mut self, index: usize) -> SqlResult<Operand<'a>> {
        let call = self.call;
        let operand = call.arguments[index].operand(self.row, self.context)?;
        self.wait_for(waiting_bytes(&operand))?;
        Ok(operand)
    }

    /// Counts bytes that the call holds from here on; error 1114 beyond what the statement may hold, 1317 once it was
    /// killed.
    #[inline]
    pub fn wait_for(&mut self, bytes: usize) -> SqlResult<()> {
        if bytes >= LONG_BYTES {
            // What is done with long values takes its time.
            self.context.check_killed()?;
            self.context.occupy(bytes)?;
            self.waiting += bytes;
        }
        Ok(())
    }

    /// Of all that the call was given and made so far it holds so many bytes still: for functions of any number of arguments.
    pub fn hold_only(&mut self, bytes: usize) -> SqlResult<()> {
        if self.waiting > 0 {
            self.context.vacate(self.waiting);
            self.waiting = 0;
        }
        self.wait_for(bytes)
    }

    /// The value of a part of an argument.
    pub fn operand_of(&mut self, part: &'a Expression) -> SqlResult<Operand<'a>> {
        part.operand(self.row, self.context)
    }

    /// An argument as a signed integer, rounded, clamped to the range of BIGINT; None for NULL.
    pub fn integer(&mut self, index: usize) -> SqlResult<Option<i64>> {
        let wide = self.wide_integer(index)?;
        Ok(wide.map(|value| value.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64))
    }

    /// An argument as BIGINT UNSIGNED: the bits of a negative number are kept.
    pub fn unsigned(&mut self, index: usize) -> SqlResult<Option<u64>> {
        let wide = self.wide_integer(index)?;
        Ok(wide.map(|value| if value < 0 { value as i64 as u64 } else { value as u64 }))
    }

    /// An argument as an integer that is signed or unsigned as its type is.
    pub fn wide_integer(&mut self, index: usize) -> SqlResult<Option<i128>> {
        if let Some(Value::Int(number)) = self.call.arguments[index].literal() {
            return Ok(Some(i128::from(*number)));
        }
        let Some(chosen) = self.chosen(index)? else { return Ok(None) };
        let operand = chosen.operand(self.row, self.context)?;
        convert::operand_integer(operand.as_ref(), chosen, self.context)
    }

    /// The expression that gives the number or date of an argument; None for NULL.
    pub fn chosen(&mut self, index: usize) -> SqlResult<Option<&'a Expression>> {
        let call = self.call;
        call.arguments[index].chosen(self.row, self.context)
    }

    /// An argument as a floating point number.
    pub fn double(&mut self, index: usize) -> SqlResult<Option<f64>> {
        let Some(chosen) = self.chosen(index)? else { return Ok(None) };
        let operand = chosen.operand(self.row, self.context)?;
        convert::argument_to_double(chosen, operand.as_ref(), self.context)
    }

    /// An argument as an exact number.
    pub fn decimal(&mut self, index: usize) -> SqlResult<Option<Decimal>> {
        let Some(chosen) = self.chosen(index)? else { return Ok(None) };
        let operand = chosen.operand(self.row, self.context)?;
        convert::operand_to_decimal(chosen, operand.as_ref(), self.context)
    }

    /// Evaluates a number before it is read, as MySQL does where it looks for a date in it first.
    pub fn look_before(&mut self, index: usize) -> SqlResult<()> {
        use TypeClass::{Decimal, Double, Integer};
        let argument = self.expression(index);
        let is_truth = argument.result == ResultType::boolean().nullable_if(argument.result.nullable);
        if !is_truth && matches!(argument.result.class(), Integer | Decimal | Double) {
            argument.operand(self.row, self.context)?;
        }
        Ok(())
    }

    /// The same for numbers with fractions; not again for NULL.
    pub fn look_for_date(&mut self, index: usize) -> SqlResult<Operand<'a>> {
        use TypeClass::{Decimal, Double};
        let argument = self.expression(index);
        let first = argument.operand(self.row, self.context)?;
        match argument.result.class() {
            Decimal | Double if !first.is_null() => argument.operand(self.row, self.context),
            _ => Ok(first),
        }
    }

    /// An argument as text in its own collation's character set (numbers and dates: the connection's).
    pub fn text(&mut self, index: usize) -> SqlResult<Option<Cow<'a, [u8]>>> {
        let operand = self.operand(index)?;
        let column_type = &self.argument(index).column_type;
        if column_type.kind == TypeKind::Json {
            let text = convert::to_text(operand.as_ref(), column_type, self.context);
            return Ok(text.map(|text| Cow::Owned(text.into_owned())));
        }
        Ok(match operand {
            Operand::Borrowed(ValueRef::Bytes(bytes)) => Some(Cow::Borrowed(bytes)),
            Operand::Owned(Value::Bytes(bytes)) => Some(Cow::Owned(bytes)),
            other => {
                // A variable that was a number and is a text now gives that.
                if let ExpressionKind::UserVariable(name) = &self.expression(index).kind
                    && let Some(Value::Bytes(text)) =
                        self.context.session().user_variable(name).map(|found| found.value)
                {
                    return Ok(Some(Cow::Owned(text)));
                }
                convert::to_text(other.as_ref(), column_type, self.context)
                    .map(|text| Cow::Owned(text.into_owned()))
            }
        })
    }

    /// The collation of what [`Call::text`] returns for that argument.
    pub fn text_collation(&self, index: usize) -> CollationId {
        let result = self.argument(index);
        match result.class() {
            crate::result_type::TypeClass::Text => result.collation(),
            crate::result_type::TypeClass::Json => CollationId::UTF8MB4_BIN,
            _ if result.kind() == TypeKind::Bit => CollationId::BINARY,
            _ => self.context.facts().connection_collation,
        }
    }

    /// An argument as text in UTF-8, whatever its character set; bad bytes are replaced.
    pub fn utf8(&mut self, index: usize) -> SqlResult<Option<String>> {
        let collation = self.text_collation(index);
        Ok(self.text(index)?.map(|bytes| functions::text::to_utf8(&bytes, collation)))
    }

    /// An argument as a date and time; None for NULL and, with a warning, for what is no date.
    pub fn datetime(&mut self, index: usize) -> SqlResult<Option<DateTime>> {
        self.moment(index, MomentKind::DateTime, ZeroDates::Parts)
    }

    /// An argument as a moment of that kind, with those zero parts.
    pub fn moment(
        &mut self,
        index: usize,
        kind: MomentKind,
        zero_dates: ZeroDates,
    ) -> SqlResult<Option<DateTime>> {
        let Some(chosen) = self.chosen(index)? else { return Ok(None) };
        let operand = chosen.operand(self.row, self.context)?;
        convert::to_moment(operand.as_ref(), &chosen.result.column_type, kind, zero_dates, self.context)
    }

    /// An argument as a moment whose date alone is wanted.
    pub fn date(&mut self, index: usize) -> SqlResult<Option<DateTime>> {
        self.moment(index, MomentKind::Date, ZeroDates::Parts)
    }

    /// An argument as a time span; None for NULL and, with a warning, for what is no time.
    pub fn time(&mut self, index: usize) -> SqlResult<Option<Time>> {
        let Some(chosen) = self.chosen(index)? else { return Ok(None) };
        let operand = chosen.operand(self.row, self.context)?;
        convert::to_time(operand.as_ref(), &chosen.result.column_type, self.context)
    }

    /// An argument as a truth value.
    pub fn truth(&mut self, index: usize) -> SqlResult<Option<bool>> {
        let call = self.call;
        call.arguments[index].truth(self.row, self.context)
    }

    /// An argument converted to the type of the result (COALESCE, IF).
    pub fn as_result(&mut self, index: usize) -> SqlResult<Value> {
        let value = self.operand(index)?;
        convert::to_type(value, &self.argument(index).column_type, &self.result.column_type, self.context)
    }

    /// ASCII text turned to the character set of the result; without a copy where that is the same bytes.
    pub fn ascii_result(&self, text: Vec<u8>) -> Value {
        match self.result.collation() {
            collation
                if collation == CollationId::BINARY || functions::text::is_ascii_superset(collation) =>
            {
                Value::Bytes(text)
            }
            _ => self.text_result(&String::from_utf8_lossy(&text)),
        }
    }

    /// Text in UTF-8 turned to the character set of the result.
    pub fn text_result(&self, text: &str) -> Value {
        Value::Bytes(functions::text::from_utf8(text, self.result.collation()))
    }
}
