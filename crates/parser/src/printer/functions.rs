//! Plain calls. MySQL makes other functions or operators of many when it reads them, and prints these.

use super::{Printer, names, plain, print_name};
use crate::ast::*;

impl Printer<'_> {
    pub(super) fn function(&mut self, call: &FunctionCall) -> Option<()> {
        if let Some(schema) = &call.schema {
            print_name(&mut self.text, schema);
            self.push(".");
            print_name(&mut self.text, &call.name);
            return self.wrapped("(", &call.arguments, ")");
        }
        let lower = call.name.to_ascii_lowercase();
        match call.arguments.as_slice() {
            [only] => self.function_of_one(&lower, only),
            [left, right] => self.function_of_two(&lower, left, right),
            arguments => self.plain_function(&lower, arguments, ")"),
        }
    }

    fn plain_function(&mut self, lower: &str, arguments: &[Expression], close: &str) -> Option<()> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$');
        if lower.bytes().all(is_word) {
            self.push(names::function_name(lower));
        } else {
            print_name(&mut self.text, lower);
        }
        self.wrapped("(", arguments, close)
    }

    fn function_of_one(&mut self, lower: &str, only: &Expression) -> Option<()> {
        let (open, close) = match lower {
            _ if names::takes_fraction(lower)
                && matches!(plain(only), Expression::Literal(Literal::Integer(0))) =>
            {
                return self.plain_function(lower, &[], ")");
            }
            "isnull" => ("(", " is null)"),
            "date" => ("cast(", " as date)"),
            // MySQL casts, to as many fractional digits as the operand's type has. Without types the call says that better.
            "time" | "timestamp" if !is_without_fraction(only) => {
                return self.plain_function(lower, std::slice::from_ref(only), ")");
            }
            "time" => ("cast(", " as time)"),
            "timestamp" => ("cast(", " as datetime)"),
            "weekofyear" => ("week(", ",3)"),
            "bin" => ("conv(", ",10,2)"),
            "oct" => ("conv(", ",10,8)"),
            "round" | "week" | "yearweek" => {
                return self.plain_function(lower, std::slice::from_ref(only), ",0)");
            }
            _ => return self.plain_function(lower, std::slice::from_ref(only), ")"),
        };
        self.wrapped(open, std::slice::from_ref(only), close)
    }

    fn function_of_two(&mut self, lower: &str, left: &Expression, right: &Expression) -> Option<()> {
        let (open, between, close) = match lower {
            "mod" => return self.infix(left, " % ", right),
            "datediff" => ("(to_days(", ") - to_days(", "))"),
            "from_unixtime" => ("date_format(from_unixtime(", "),", ")"),
            "json_length" => ("json_length(json_extract(", ",", "))"),
            "instr" => {
                self.push("locate(");
                self.expression(right)?;
                self.push(",");
                self.expression(left)?;
                self.push(")");
                return Some(());
            }
            "get_format" => match left {
                // The parser made a string of the word.
                Expression::Literal(Literal::String { bytes, introducer: None }) => {
                    self.push("get_format(");
                    self.push(&String::from_utf8_lossy(bytes));
                    return self.wrapped(", ", std::slice::from_ref(right), ")");
                }
                _ => return None,
            },
            _ => {
                self.push(names::function_name(lower));
                ("(", ",", ")")
            }
        };
        self.push(open);
        self.expression(left)?;
        self.push(between);
        self.expression(right)?;
        self.push(close);
        Some(())
    }
}

/// Whether it is a literal that is no fraction of a second.
fn is_without_fraction(expression: &Expression) -> bool {
    match plain(expression) {
        Expression::Literal(Literal::String { bytes, introducer: None }) => !bytes.contains(&b'.'),
        Expression::Literal(Literal::Integer(_)) => true,
        _ => false,
    }
}
