//! Writes expressions back as SQL in the form that MySQL keeps for DEFAULT (..), generated columns and CHECK:
//! columns in back quotes, functions in lower case under one name, every operator in parentheses.
//! Main function: [`print_expression`]. What such expressions may not hold (subqueries, aggregates, windows)
//! has no printed form.

mod names;

use crate::ast::*;
use names::{cast_target, function_name, operator};
use std::fmt::Write as _;

/// Prints the expression; string literals without introducer get that of `charset`, the connection's.
/// None where it holds something that no stored expression may hold.
pub fn print_expression(expression: &Expression, charset: &str) -> Option<String> {
    let mut printer = Printer { text: String::new(), charset };
    printer.expression(expression)?;
    Some(printer.text)
}

/// Appends a name in back quotes.
pub fn print_name(text: &mut String, name: &str) {
    text.push('`');
    for character in name.chars() {
        if character == '`' {
            text.push('`');
        }
        text.push(character);
    }
    text.push('`');
}

struct Printer<'a> {
    text: String,
    charset: &'a str,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn expression(&mut self, expression: &Expression) -> Option<()> {
        match expression {
            Expression::Literal(literal) => self.literal(literal),
            Expression::Column(column) => self.column(column),
            Expression::SystemVariable(_) | Expression::UserVariable(_) => return None,
            Expression::Unary { operator, operand } => self.unary(*operator, operand)?,
            Expression::Binary { operator, left, right } => self.binary(*operator, left, right)?,
            Expression::And(terms) => self.logical(terms, " and ")?,
            Expression::Or(terms) => self.logical(terms, " or ")?,
            Expression::Is { .. }
            | Expression::Between { .. }
            | Expression::InList { .. }
            | Expression::Like { .. }
            | Expression::Regexp { .. }
            | Expression::MemberOf { .. } => self.predicate(expression)?,
            Expression::Row(items) => {
                self.push("(");
                self.list(items)?;
                self.push(")");
            }
            Expression::Case { operand, branches, otherwise } => self.case(operand, branches, otherwise)?,
            Expression::Collate { operand, collation } => self.infix(operand, " collate ", |printer| {
                printer.push(collation);
                Some(())
            })?,
            _ => self.call(expression)?,
        }
        Some(())
    }

    fn list(&mut self, items: &[Expression]) -> Option<()> {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(",");
            }
            self.expression(item)?;
        }
        Some(())
    }

    fn infix(
        &mut self,
        left: &Expression,
        between: &str,
        right: impl FnOnce(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.push("(");
        self.expression(left)?;
        self.push(between);
        right(self)?;
        self.push(")");
        Some(())
    }

    fn column(&mut self, column: &ColumnReference) {
        for part in [&column.schema, &column.table].into_iter().flatten() {
            print_name(&mut self.text, part);
            self.push(".");
        }
        print_name(&mut self.text, &column.column);
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Null => self.push("NULL"),
            Literal::True => self.push("true"),
            Literal::False => self.push("false"),
            Literal::Integer(value) => self.push(&value.to_string()),
            Literal::Decimal(digits) | Literal::Float(digits) => self.push(digits),
            Literal::String { bytes, introducer } => {
                self.push("_");
                let charset = self.charset;
                self.push(introducer.as_deref().unwrap_or(charset));
                self.quoted(bytes);
            }
            Literal::Hex { bytes, introducer } | Literal::Bits { bytes, introducer } => {
                if let Some(introducer) = introducer {
                    self.push("_");
                    self.push(introducer);
                    self.push(" ");
                }
                self.push("0x");
                bytes.iter().for_each(|byte| push_hex(&mut self.text, *byte));
            }
            Literal::Date(text) => self.typed_literal("DATE", text),
            Literal::Time(text) => self.typed_literal("TIME", text),
            Literal::Timestamp(text) => self.typed_literal("TIMESTAMP", text),
        }
    }

    fn typed_literal(&mut self, kind: &str, text: &[u8]) {
        self.push(kind);
        self.quoted(text);
    }

    /// A string in quotes; bytes that are not UTF-8 stay readable as their replacement.
    fn quoted(&mut self, bytes: &[u8]) {
        self.push("'");
        for character in String::from_utf8_lossy(bytes).chars() {
            match character {
                '\'' => self.push("\\'"),
                '\\' => self.push("\\\\"),
                '\0' => self.push("\\0"),
                '\n' => self.push("\\n"),
                '\r' => self.push("\\r"),
                '\u{1a}' => self.push("\\Z"),
                other => self.text.push(other),
            }
        }
        self.push("'");
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Expression) -> Option<()> {
        match operator {
            UnaryOperator::Plus => return self.expression(operand),
            UnaryOperator::Not => return self.negation(operand),
            UnaryOperator::Minus if matches!(operand, Expression::Literal(_)) => {
                self.push("-");
                return self.expression(operand);
            }
            UnaryOperator::Minus => self.push("-("),
            UnaryOperator::BitNot => self.push("~("),
            UnaryOperator::Binary => self.push("cast("),
        }
        self.expression(operand)?;
        self.push(if operator == UnaryOperator::Binary { " as char charset binary)" } else { ")" });
        Some(())
    }

    /// NOT turns a comparison round and compares everything that is no truth value with 0.
    fn negation(&mut self, operand: &Expression) -> Option<()> {
        use BinaryOperator as B;
        if let Expression::Binary { operator, left, right } = operand {
            let opposite = match operator {
                B::Equal => Some(B::NotEqual),
                B::NotEqual => Some(B::Equal),
                B::Less => Some(B::GreaterOrEqual),
                B::LessOrEqual => Some(B::Greater),
                B::Greater => Some(B::LessOrEqual),
                B::GreaterOrEqual => Some(B::Less),
                _ => None,
            };
            if let Some(opposite) = opposite {
                return self.binary(opposite, left, right);
            }
        }
        if !is_truth_value(operand) {
            self.push("(0 = ");
            self.expression(operand)?;
            self.push(")");
            return Some(());
        }
        self.push("(not(");
        self.expression(operand)?;
        self.push("))");
        Some(())
    }

    fn binary(&mut self, kind: BinaryOperator, left: &Expression, right: &Expression) -> Option<()> {
        match kind {
            BinaryOperator::SoundsLike => {
                self.push("(soundex(");
                self.expression(left)?;
                self.push(") = soundex(");
                self.expression(right)?;
                self.push("))");
                Some(())
            }
            BinaryOperator::LogicalXor => {
                self.push("(");
                self.truth_value(left)?;
                self.push(" xor ");
                self.truth_value(right)?;
                self.push(")");
                Some(())
            }
            _ => self.infix(left, operator(kind), |printer| printer.expression(right)),
        }
    }

    fn logical(&mut self, terms: &[Expression], between: &str) -> Option<()> {
        self.push("(");
        for (at, term) in terms.iter().enumerate() {
            if at > 0 {
                self.push(between);
            }
            self.truth_value(term)?;
        }
        self.push(")");
        Some(())
    }

    /// An operand of AND, OR, XOR or IS TRUE.
    fn truth_value(&mut self, operand: &Expression) -> Option<()> {
        if is_truth_value(operand) {
            return self.expression(operand);
        }
        self.push("(0 <> ");
        self.expression(operand)?;
        self.push(")");
        Some(())
    }

    fn predicate(&mut self, expression: &Expression) -> Option<()> {
        match expression {
            Expression::Is { operand, test, negated } => {
                self.push("(");
                if matches!(test, IsTest::Null | IsTest::Unknown) {
                    self.expression(operand)?;
                } else {
                    self.truth_value(operand)?;
                }
                self.push(if *negated { " is not " } else { " is " });
                self.push(match test {
                    IsTest::Null | IsTest::Unknown => "null",
                    IsTest::True => "true",
                    IsTest::False => "false",
                });
                self.push(")");
                Some(())
            }
            Expression::Between { operand, low, high, negated } => {
                let words = if *negated { " not between " } else { " between " };
                self.infix(operand, words, |printer| {
                    printer.expression(low)?;
                    printer.push(" and ");
                    printer.expression(high)
                })
            }
            Expression::InList { operand, list, negated } => {
                let words = if *negated { " not in (" } else { " in (" };
                self.infix(operand, words, |printer| {
                    printer.list(list)?;
                    printer.push(")");
                    Some(())
                })
            }
            _ => self.pattern_predicate(expression),
        }
    }

    fn pattern_predicate(&mut self, expression: &Expression) -> Option<()> {
        let negated = matches!(
            expression,
            Expression::Like { negated: true, .. } | Expression::Regexp { negated: true, .. }
        );
        self.push(if negated { "(not(" } else { "" });
        match expression {
            Expression::Like { operand, pattern, escape, .. } => {
                self.infix(operand, " like ", |printer| {
                    printer.expression(pattern)?;
                    let Some(escape) = escape else { return Some(()) };
                    printer.push(" escape ");
                    printer.expression(escape)
                })?
            }
            Expression::Regexp { operand, pattern, .. } => {
                self.push("regexp_like(");
                self.expression(operand)?;
                self.push(",");
                self.expression(pattern)?;
                self.push(")");
            }
            Expression::MemberOf { operand, array } => {
                self.expression(operand)?;
                self.push(" member of (");
                self.expression(array)?;
                self.push(")");
            }
            _ => return None,
        }
        self.push(if negated { "))" } else { "" });
        Some(())
    }

    fn case(
        &mut self,
        operand: &Option<Box<Expression>>,
        branches: &[CaseBranch],
        otherwise: &Option<Box<Expression>>,
    ) -> Option<()> {
        self.push("(case");
        if let Some(operand) = operand {
            self.push(" ");
            self.expression(operand)?;
        }
        for branch in branches {
            self.push(" when ");
            self.expression(&branch.when)?;
            self.push(" then ");
            self.expression(&branch.then)?;
        }
        if let Some(otherwise) = otherwise {
            self.push(" else ");
            self.expression(otherwise)?;
        }
        self.push(" end)");
        Some(())
    }

    fn call(&mut self, expression: &Expression) -> Option<()> {
        match expression {
            Expression::Function(call) => return self.function(call),
            Expression::Cast(cast) => {
                self.push("cast(");
                self.expression(&cast.operand)?;
                self.push(" as ");
                cast_target(&mut self.text, &cast.target, self.charset);
                self.push(if cast.array { " array)" } else { ")" });
            }
            Expression::ConvertUsing { operand, charset } => {
                self.push("convert(");
                self.expression(operand)?;
                self.push(" using ");
                self.push(charset);
                self.push(")");
            }
            Expression::DateArithmetic { operand, amount, unit, subtract } => {
                self.interval(operand, amount, *unit, *subtract)?
            }
            Expression::TimestampAdd { unit, amount, operand } => {
                self.interval(operand, amount, *unit, false)?
            }
            Expression::TimestampDiff { unit, from, to } => {
                let _ = write!(self.text, "timestampdiff({},", unit.name().to_ascii_uppercase());
                self.expression(from)?;
                self.push(",");
                self.expression(to)?;
                self.push(")");
            }
            Expression::Extract { unit, operand } => {
                let _ = write!(self.text, "extract({} from ", unit.name());
                self.expression(operand)?;
                self.push(")");
            }
            Expression::Trim { side, remove, operand } => self.trim(*side, remove, operand)?,
            Expression::Char { arguments, charset } => {
                self.push("char(");
                self.list(arguments)?;
                if let Some(charset) = charset {
                    self.push(" using ");
                    self.push(charset);
                }
                self.push(")");
            }
            Expression::WeightString { operand, shape: None } => {
                self.push("weight_string(");
                self.expression(operand)?;
                self.push(")");
            }
            Expression::Default(Some(column)) => {
                self.push("default(");
                self.column(column);
                self.push(")");
            }
            Expression::Odbc { operand, .. } => self.expression(operand)?,
            _ => return None,
        }
        Some(())
    }

    fn function(&mut self, call: &FunctionCall) -> Option<()> {
        let lower = call.name.to_ascii_lowercase();
        match (lower.as_str(), call.arguments.as_slice()) {
            ("mod", [left, right]) => return self.binary(BinaryOperator::Modulo, left, right),
            ("isnull", [operand]) => {
                self.push("(");
                self.expression(operand)?;
                self.push(" is null)");
                return Some(());
            }
            ("date", [operand]) => {
                self.push("cast(");
                self.expression(operand)?;
                self.push(" as date)");
                return Some(());
            }
            _ => {}
        }
        if let Some(schema) = &call.schema {
            print_name(&mut self.text, schema);
            self.push(".");
            print_name(&mut self.text, &call.name);
        } else {
            self.push(function_name(&lower));
        }
        self.push("(");
        self.list(&call.arguments)?;
        let has_default = call.arguments.len() == 1 && matches!(lower.as_str(), "round" | "week");
        self.push(if has_default { ",0)" } else { ")" });
        Some(())
    }

    fn interval(
        &mut self,
        operand: &Expression,
        amount: &Expression,
        unit: IntervalUnit,
        subtract: bool,
    ) -> Option<()> {
        let words = if subtract { " - interval " } else { " + interval " };
        self.infix(operand, words, |printer| {
            printer.expression(amount)?;
            printer.push(" ");
            printer.push(unit.name());
            Some(())
        })
    }

    fn trim(&mut self, side: TrimSide, remove: &Option<Box<Expression>>, operand: &Expression) -> Option<()> {
        self.push("trim(");
        self.push(match side {
            TrimSide::Leading => "leading ",
            TrimSide::Trailing => "trailing ",
            TrimSide::Both if remove.is_some() => "both ",
            TrimSide::Both => "",
        });
        if let Some(remove) = remove {
            self.expression(remove)?;
            self.push(" ");
        }
        if side != TrimSide::Both || remove.is_some() {
            self.push("from ");
        }
        self.expression(operand)?;
        self.push(")");
        Some(())
    }
}

/// Whether the expression gives a truth value, so that AND and OR take it as it is.
fn is_truth_value(expression: &Expression) -> bool {
    match expression {
        Expression::Binary { operator, .. } => {
            operator.is_comparison()
                || matches!(operator, BinaryOperator::LogicalXor | BinaryOperator::SoundsLike)
        }
        Expression::Unary { operator: UnaryOperator::Not, .. }
        | Expression::And(_)
        | Expression::Or(_)
        | Expression::Is { .. }
        | Expression::Between { .. }
        | Expression::InList { .. }
        | Expression::Like { .. }
        | Expression::Regexp { .. }
        | Expression::MemberOf { .. }
        | Expression::Literal(Literal::True | Literal::False) => true,
        Expression::Function(call) => call.schema.is_none() && names::gives_truth_value(&call.name),
        _ => false,
    }
}

fn push_hex(text: &mut String, byte: u8) {
    let _ = write!(text, "{byte:02x}");
}

#[cfg(test)]
mod tests;
