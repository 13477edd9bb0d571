//! Writes expressions back as SQL in the form that MySQL keeps for DEFAULT (..), generated columns and CHECK:
//! columns in back quotes, functions in lower case under one name, every operator in parentheses, NOT moved to the leaves.
//! Main function: [`print_expression`]. What such expressions may not hold (subqueries, aggregates, windows)
//! has no printed form. `truth` has NOT, AND, OR and comparisons, `predicates` IN, LIKE and the like, `functions` plain calls,
//! `calls` those with a syntax of their own, `types` what CAST names, `literals` and `names` what they say.

mod calls;
mod column_names;
mod from;
mod functions;
mod literals;
mod names;
mod predicates;
mod query;
mod scope;
mod truth;
mod types;

pub use query::{PrintedQuery, PrintedTables, QueryStyle, print_query};

use crate::ast::*;

/// Prints the expression as MySQL does for a CHECK; string literals without introducer get that of `charset`, the
/// connection's. For a DEFAULT or generated column MySQL reads that text back and prints it again, which splits or flattens
/// what the first time made of row comparisons and NOT: so does who wants its text.
/// None where the expression holds something that no stored one may hold.
pub fn print_expression(expression: &Expression, charset: &str) -> Option<String> {
    let mut printer = Printer { text: String::new(), charset, query: None };
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
    /// What a query is printed with; None for an expression of a table.
    query: Option<scope::QueryState<'a>>,
}

impl Printer<'_> {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn expression(&mut self, expression: &Expression) -> Option<()> {
        match expression {
            Expression::Literal(literal) => self.literal(literal),
            Expression::Column(column) => return self.column(column),
            Expression::Unary { operator, operand } => self.unary(*operator, operand)?,
            Expression::Binary { operator, left, right } => self.binary(*operator, left, right)?,
            Expression::And(_) => self.conjunction(expression, false)?,
            Expression::Or(_) => self.disjunction(expression, false)?,
            Expression::Is { .. }
            | Expression::Between { .. }
            | Expression::InList { .. }
            | Expression::Like { .. }
            | Expression::Regexp { .. }
            | Expression::MemberOf { .. } => self.predicate(expression, false)?,
            Expression::Row(items) => self.wrapped("(", items, ")")?,
            Expression::Case { operand, branches, otherwise } => self.case(operand, branches, otherwise)?,
            Expression::Collate { operand, collation } => self.collate(operand, collation)?,
            Expression::Function(call) => self.function(call)?,
            Expression::Aggregate(_)
            | Expression::WindowFunction(_)
            | Expression::Grouping(_)
            | Expression::Subquery(_)
            | Expression::Exists(_)
            | Expression::InSubquery { .. }
            | Expression::Quantified { .. } => self.of_query(expression)?,
            _ => self.call(expression)?,
        }
        Some(())
    }

    /// An operand of what binds as tightly as arithmetic. MEMBER OF has no parentheses of its own; MySQL prints none here
    /// either, and cannot read its own text.
    fn operand(&mut self, operand: &Expression) -> Option<()> {
        if matches!(truth::without_double_not(operand), Expression::MemberOf { .. }) {
            return self.wrapped("(", std::slice::from_ref(operand), ")");
        }
        self.expression(operand)
    }

    /// Expressions with commas between.
    fn wrapped(&mut self, open: &str, items: &[Expression], close: &str) -> Option<()> {
        self.push(open);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.push(",");
            }
            self.expression(item)?;
        }
        self.push(close);
        Some(())
    }

    fn infix(&mut self, left: &Expression, between: &str, right: &Expression) -> Option<()> {
        self.push("(");
        self.operand(left)?;
        self.push(between);
        self.operand(right)?;
        self.push(")");
        Some(())
    }

    /// In an expression of a table without the table: it has only one.
    fn column(&mut self, column: &ColumnReference) -> Option<()> {
        if self.query.is_some() {
            return self.column_of_query(column);
        }
        print_name(&mut self.text, &column.column);
        Some(())
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &Expression) -> Option<()> {
        let (open, close) = match operator {
            UnaryOperator::Plus => return self.expression(operand),
            UnaryOperator::Not => return self.negation(operand),
            UnaryOperator::Minus => ("-(", ")"),
            UnaryOperator::BitNot => ("~(", ")"),
            UnaryOperator::Binary => ("cast(", " as char charset binary)"),
        };
        self.wrapped(open, std::slice::from_ref(operand), close)
    }

    fn binary(&mut self, kind: BinaryOperator, left: &Expression, right: &Expression) -> Option<()> {
        match kind {
            BinaryOperator::SoundsLike => self.sounds_like(" = ", left, right),
            BinaryOperator::LogicalXor => self.exclusive_or(left, right, false),
            _ if kind.is_comparison() => self.comparison(kind, left, right),
            _ => self.infix(left, names::operator(kind), right),
        }
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

    /// COLLATE binds more tightly than a sign.
    fn collate(&mut self, operand: &Expression, collation: &str) -> Option<()> {
        self.push("(");
        let signed = UnaryOperator::Minus;
        if matches!(plain(operand), Expression::Unary { operator, .. } if *operator == signed || *operator == UnaryOperator::BitNot)
        {
            self.wrapped("(", std::slice::from_ref(operand), ")")?;
        } else {
            self.operand(operand)?;
        }
        self.push(" collate ");
        self.push(&names::collation(collation));
        self.push(")");
        Some(())
    }
}

/// The expression without what leaves no trace in the text: unary plus and braces of ODBC.
fn plain(mut expression: &Expression) -> &Expression {
    while let Expression::Unary { operator: UnaryOperator::Plus, operand }
    | Expression::Odbc { operand, .. } = expression
    {
        expression = operand;
    }
    expression
}

#[cfg(test)]
mod tests;
