//! Calls that do not look like a list of arguments; aggregates and subqueries, which are in queries alone.

use super::{Printer, names, print_name, types};
use crate::ast::*;
use std::borrow::Cow;
use std::slice::from_ref;

impl Printer<'_> {
    /// None for what no stored expression holds.
    pub(super) fn call(&mut self, expression: &Expression) -> Option<()> {
        match expression {
            Expression::Cast(cast) => self.cast(cast),
            Expression::ConvertUsing { operand, charset } => {
                self.wrapped("convert(", from_ref(operand), " using ")?;
                self.push(&names::charset(charset));
                self.push(")");
                Some(())
            }
            Expression::DateArithmetic { operand, amount, unit, subtract } => {
                self.interval(operand, if *subtract { " - interval " } else { " + interval " }, amount, *unit)
            }
            Expression::TimestampAdd { unit, amount, operand } => {
                self.interval(operand, " + interval ", amount, *unit)
            }
            Expression::TimestampDiff { unit, from, to } => {
                self.push("timestampdiff(");
                self.push(&unit.name().to_ascii_uppercase());
                self.wrapped(",", from_ref(from), "")?;
                self.wrapped(",", from_ref(to), ")")
            }
            Expression::Extract { unit, operand } => {
                self.push("extract(");
                self.push(unit.name());
                self.wrapped(" from ", from_ref(operand), ")")
            }
            Expression::Trim { side, remove, operand } => self.trim(*side, remove.as_deref(), operand),
            Expression::Char { arguments, charset } => self.char(arguments, charset.as_deref()),
            Expression::WeightString { operand, shape } => self.weight_string(operand, *shape),
            Expression::Default(Some(column)) => {
                self.push("default(");
                self.column(column)?;
                self.push(")");
                Some(())
            }
            Expression::JsonValue(value) => self.json_value(value),
            Expression::Odbc { operand, .. } => self.expression(operand),
            _ => None,
        }
    }

    fn cast(&mut self, cast: &CastExpression) -> Option<()> {
        self.wrapped("cast(", from_ref(&cast.operand), "")?;
        if let Some(zone) = &cast.time_zone {
            self.push(" AT TIME ZONE ");
            self.quoted(&String::from_utf8_lossy(zone));
        }
        self.push(" as ");
        match cast.array {
            true => self.push(&format!("{} array)", types::returned(&cast.target))),
            false => self.push(&format!("{})", types::cast_target(&cast.target, self.charset))),
        }
        Some(())
    }

    fn interval(
        &mut self,
        operand: &Expression,
        words: &str,
        amount: &Expression,
        unit: IntervalUnit,
    ) -> Option<()> {
        self.push("(");
        self.operand(operand)?;
        self.wrapped(words, from_ref(amount), " ")?;
        self.push(unit.name());
        self.push(")");
        Some(())
    }

    fn trim(&mut self, side: TrimSide, remove: Option<&Expression>, operand: &Expression) -> Option<()> {
        self.push("trim(");
        self.push(match side {
            TrimSide::Leading => "leading ",
            TrimSide::Trailing => "trailing ",
            // Alone it says nothing.
            TrimSide::Both if remove.is_some() => "both ",
            TrimSide::Both | TrimSide::Unsaid => "",
        });
        if let Some(remove) = remove {
            self.wrapped("", from_ref(remove), " from ")?;
        } else if matches!(side, TrimSide::Leading | TrimSide::Trailing) {
            self.push("from ");
        }
        self.wrapped("", from_ref(operand), ")")
    }

    /// MySQL leaves USING out, and so makes another function of it: we do not.
    fn char(&mut self, arguments: &[Expression], charset: Option<&str>) -> Option<()> {
        let Some(charset) = charset else { return self.wrapped("char(", arguments, ")") };
        self.wrapped("char(", arguments, " using ")?;
        self.push(&names::charset(charset));
        self.push(")");
        Some(())
    }

    fn weight_string(&mut self, operand: &Expression, shape: Option<WeightStringShape>) -> Option<()> {
        let (begin, length, end) = match shape {
            None => return self.wrapped("weight_string(", from_ref(operand), ")"),
            Some(WeightStringShape::Characters(length)) => ("weight_string(", length, ")"),
            Some(WeightStringShape::Binary(length)) => ("weight_string(cast(", length, " charset binary))"),
            // Its flags are not printed by MySQL, so what it prints does not mean the same.
            Some(WeightStringShape::Fitted { .. }) => return None,
        };
        self.wrapped(begin, from_ref(operand), "")?;
        self.push(&format!(" as char({length}){end}"));
        Some(())
    }

    fn json_value(&mut self, value: &JsonValue) -> Option<()> {
        self.push("json_value(");
        self.operand(&value.document)?;
        self.push(", ");
        self.string(&value.path, None);
        self.push(" returning ");
        self.push(&value.returning.as_ref().map_or("char(512)".into(), types::returned));
        self.json_reaction(&value.on_empty, " on empty")?;
        self.json_reaction(&value.on_error, " on error")?;
        self.push(")");
        Some(())
    }

    /// What JSON_VALUE and JSON_TABLE give in want of a value.
    pub(super) fn json_reaction(&mut self, reaction: &Option<JsonReaction>, place: &str) -> Option<()> {
        match reaction {
            None => return Some(()),
            Some(JsonReaction::Null) => self.push(" null"),
            Some(JsonReaction::Error) => self.push(" error"),
            Some(JsonReaction::Default(value)) => {
                self.push(" default ");
                // A signed literal, not an expression: without parentheses.
                match value {
                    Expression::Unary { operator: UnaryOperator::Minus, operand } => {
                        let is_zero = **operand == Expression::Literal(Literal::Integer(0));
                        self.wrapped(if is_zero { "" } else { "-" }, from_ref(operand), "")?;
                    }
                    value => self.expression(value)?,
                }
            }
        }
        self.push(place);
        Some(())
    }
}

impl Printer<'_> {
    /// Aggregates and subqueries. None for what is neither, and for all of it where expressions of tables are printed.
    pub(super) fn of_query(&mut self, expression: &Expression) -> Option<()> {
        self.query.as_ref()?;
        match expression {
            Expression::Aggregate(call) => {
                self.aggregate(call)?;
                call.over.as_ref().map_or(Some(()), |over| self.over(over))
            }
            Expression::WindowFunction(call) if !(call.ignore_nulls || call.from_last) => {
                self.push(call.kind.name());
                self.wrapped("(", &call.arguments, ")")?;
                self.over(&call.over)
            }
            Expression::Grouping(keys) => self.wrapped("grouping(", keys, ")"),
            Expression::Subquery(query) => self.subquery(query),
            Expression::Exists(query) => {
                self.push("exists");
                self.subquery(&existing(query))
            }
            Expression::InSubquery { operand, query, negated } => self.in_subquery(operand, query, *negated),
            Expression::Quantified { operator, quantifier, operand, query } => {
                self.quantified(*operator, *quantifier, operand, query)
            }
            _ => None,
        }
    }

    fn over(&mut self, over: &Over) -> Option<()> {
        self.push(" OVER ");
        match over {
            Over::Name(name) => self.window_name(name),
            Over::Window(window) => self.window(window),
        }
    }

    /// A window that is named: the query has to say what it is.
    fn window_name(&mut self, name: &Name) -> Option<()> {
        print_name(&mut self.text, name);
        let used = &mut self.scope()?.used_windows;
        if !used.contains(name) {
            used.push(name.clone());
        }
        Some(())
    }

    /// A window with the blanks that MySQL leaves in it and behind it.
    pub(super) fn window(&mut self, window: &WindowSpecification) -> Option<()> {
        self.push("(");
        if let Some(base) = &window.base {
            self.window_name(base)?;
            self.push(" ");
        }
        if !window.partition_by.is_empty() {
            self.wrapped("PARTITION BY ", &window.partition_by, " ")?;
        }
        for (at, item) in window.order_by.iter().enumerate() {
            self.push(if at > 0 { "," } else { "ORDER BY " });
            self.expression(&item.expression)?;
            self.push(if item.descending { " desc" } else { "" });
        }
        self.push(if window.order_by.is_empty() { "" } else { " " });
        if let Some(frame) = &window.frame {
            self.push(match frame.unit {
                FrameUnit::Rows => "ROWS BETWEEN ",
                FrameUnit::Range => "RANGE BETWEEN ",
                FrameUnit::Groups => return None,
            });
            self.frame_bound(&frame.start)?;
            self.push(" AND ");
            self.frame_bound(&frame.end)?;
        }
        self.push(") ");
        Some(())
    }

    fn frame_bound(&mut self, bound: &FrameBound) -> Option<()> {
        let (offset, side) = match bound {
            FrameBound::CurrentRow => {
                self.push("CURRENT ROW");
                return Some(());
            }
            FrameBound::UnboundedPreceding => (None, "PRECEDING"),
            FrameBound::UnboundedFollowing => (None, "FOLLOWING"),
            FrameBound::Preceding(offset) => (Some(offset), "PRECEDING"),
            FrameBound::Following(offset) => (Some(offset), "FOLLOWING"),
        };
        match offset {
            None => self.push("UNBOUNDED"),
            Some(FrameOffset { amount, unit: None }) => self.expression(amount)?,
            Some(FrameOffset { amount, unit: Some(unit) }) => {
                self.wrapped("INTERVAL ", from_ref(&**amount), " ")?;
                self.push(unit.name());
                self.push(" ");
            }
        }
        self.push(" ");
        self.push(side);
        Some(())
    }

    /// Without parentheses, unlike IN of a list.
    pub(super) fn in_subquery(&mut self, operand: &Expression, query: &Query, negated: bool) -> Option<()> {
        self.operand(operand)?;
        self.push(if negated { " not in " } else { " in " });
        self.subquery(query)
    }

    pub(super) fn quantified(
        &mut self,
        operator: BinaryOperator,
        quantifier: Quantifier,
        operand: &Expression,
        query: &Query,
    ) -> Option<()> {
        match (operator, quantifier) {
            (BinaryOperator::Equal, Quantifier::Any) => self.in_subquery(operand, query, false),
            (BinaryOperator::NotEqual, Quantifier::All) => self.in_subquery(operand, query, true),
            (_, quantifier) => {
                self.operand(operand)?;
                self.push(names::operator(operator));
                self.push(if quantifier == Quantifier::All { "all " } else { "any " });
                self.subquery(query)
            }
        }
    }

    fn aggregate(&mut self, call: &AggregateCall) -> Option<()> {
        if call.absent_on_null {
            return None;
        }
        self.push(match call.kind {
            AggregateKind::Count => "count",
            AggregateKind::Sum => "sum",
            AggregateKind::Avg => "avg",
            AggregateKind::Min => "min",
            AggregateKind::Max => "max",
            AggregateKind::GroupConcat => "group_concat",
            AggregateKind::BitAnd => "bit_and",
            AggregateKind::BitOr => "bit_or",
            AggregateKind::BitXor => "bit_xor",
            AggregateKind::StddevPop => "std",
            AggregateKind::StddevSamp => "stddev_samp",
            AggregateKind::VarPop => "variance",
            AggregateKind::VarSamp => "var_samp",
            AggregateKind::JsonArrayagg => "json_arrayagg",
            AggregateKind::JsonObjectagg => "json_objectagg",
            AggregateKind::StCollect => "st_collect",
        });
        self.push(if call.distinct { "(distinct " } else { "(" });
        match call.arguments.is_empty() {
            true => self.push("0"),
            false => self.wrapped("", &call.arguments, "")?,
        }
        if call.kind == AggregateKind::GroupConcat {
            for (at, item) in call.order_by.iter().enumerate() {
                self.push(if at > 0 { "," } else { " order by " });
                self.wrapped("", from_ref(&item.expression), "")?;
                self.push(if item.descending { " DESC" } else { " ASC" });
            }
            self.push(" separator ");
            let separator = call.separator.as_deref().unwrap_or(b",");
            self.quoted(&String::from_utf8_lossy(separator));
        }
        self.push(")");
        Some(())
    }
}

/// What EXISTS asks: `*` is 1 there.
fn existing(query: &Query) -> Cow<'_, Query> {
    match &query.body {
        QueryBody::Select(select) if matches!(select.items.as_slice(), [SelectItem::Wildcard]) => {
            let expression = Expression::Literal(Literal::Integer(1));
            let mut select = select.clone();
            select.items = vec![SelectItem::Expression { expression, alias: None, text: "1".to_owned() }];
            Cow::Owned(Query { body: QueryBody::Select(select), ..query.clone() })
        }
        _ => Cow::Borrowed(query),
    }
}
