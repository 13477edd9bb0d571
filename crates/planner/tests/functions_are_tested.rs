//! Every function, operator, unit of time and target of a cast that expressions know is called in a golden test of
//! `tests/sql/functions` or `tests/sql/json`, whose answers are MySQL's. A new one fails here until a line of `generate.py` there calls it.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use parser::ParseOptions;
use parser::ast::{
    AggregateKind, BinaryOperator, CastTarget, Expression, IsTest, Quantifier, Query, QueryBody, SelectItem,
    Statement, TrimSide, UnaryOperator,
};
use std::collections::BTreeSet;

const FOLDERS: [&str; 2] = [
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sql/functions"),
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/sql/json"),
];

/// Names of the registry that SQL spells otherwise.
const SPELLED: [(&str, &str); 4] = [
    ("trim_both", "trim(both "),
    ("trim_leading", "trim(leading "),
    ("trim_trailing", "trim(trailing "),
    ("position", "position("),
];

/// What the walk must meet, named as [`syntax`] names it.
const SYNTAX: &[&str] = &[
    "And",
    "Or",
    "Between",
    "not Between",
    "InList",
    "not InList",
    "InSubquery",
    "not InSubquery",
    "Like",
    "not Like",
    "Like Escape",
    "Regexp",
    "not Regexp",
    "Exists",
    "Subquery",
    "Row",
    "Case",
    "Case Operand",
    "ConvertUsing",
    "Collate",
    "DateArithmetic",
    "DateArithmetic subtract",
    "TimestampAdd",
    "TimestampDiff",
    "Char",
    "WeightString",
    "Default",
    "Grouping",
    "AssignVariable",
    "UserVariable",
    "SystemVariable",
    "Is Null",
    "Is True",
    "Is False",
    "Is Unknown",
    "not Is Null",
    "not Is True",
    "not Is False",
    "not Is Unknown",
    "Quantified Any",
    "Quantified All",
    "Trim Both",
    "Trim Leading",
    "Trim Trailing",
    "Unary Minus",
    "Unary Plus",
    "Unary BitNot",
    "Unary Not",
    "Unary Binary",
    "Binary Add",
    "Binary Subtract",
    "Binary Multiply",
    "Binary Divide",
    "Binary IntegerDivide",
    "Binary Modulo",
    "Binary BitOr",
    "Binary BitAnd",
    "Binary BitXor",
    "Binary ShiftLeft",
    "Binary ShiftRight",
    "Binary Equal",
    "Binary NullSafeEqual",
    "Binary NotEqual",
    "Binary Less",
    "Binary LessOrEqual",
    "Binary Greater",
    "Binary GreaterOrEqual",
    "Binary LogicalXor",
    "Binary SoundsLike",
    "Cast Signed",
    "Cast Unsigned",
    "Cast Char",
    "Cast Binary",
    "Cast Date",
    "Cast Time",
    "Cast DateTime",
    "Cast Decimal",
    "Cast Float",
    "Cast Double",
    "Cast Real",
    "Cast Year",
    "Aggregate Count",
    "Aggregate Sum",
    "Aggregate Avg",
    "Aggregate Min",
    "Aggregate Max",
    "Aggregate GroupConcat",
    "Aggregate BitAnd",
    "Aggregate BitOr",
    "Aggregate BitXor",
    "Aggregate StddevPop",
    "Aggregate StddevSamp",
    "Aggregate VarPop",
    "Aggregate VarSamp",
    "Extract Microsecond",
    "Extract Second",
    "Extract Minute",
    "Extract Hour",
    "Extract Day",
    "Extract Week",
    "Extract Month",
    "Extract Quarter",
    "Extract Year",
    "Extract SecondMicrosecond",
    "Extract MinuteMicrosecond",
    "Extract MinuteSecond",
    "Extract HourMicrosecond",
    "Extract HourSecond",
    "Extract HourMinute",
    "Extract DayMicrosecond",
    "Extract DaySecond",
    "Extract DayMinute",
    "Extract DayHour",
    "Extract YearMonth",
];

/// The golden tests, in lower case too.
fn tests() -> Vec<(String, String)> {
    let folders = FOLDERS.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = folders.map(|entry| entry.unwrap().path());
    let tests = files.filter(|path| path.extension().is_some_and(|extension| extension == "test"));
    tests.map(|path| std::fs::read_to_string(path).unwrap()).map(|text| (text.to_lowercase(), text)).collect()
}

#[test]
fn every_function_is_called_in_a_golden_test() {
    let tests = tests();
    let is_called = |name: &str| {
        let spelled = SPELLED.iter().find(|(known, _)| *known == name);
        let call = spelled.map_or_else(|| format!("{name}("), |(_, call)| (*call).to_owned());
        tests.iter().any(|(text, _)| {
            text.match_indices(&call).any(|(at, _)| {
                // Not the end of a longer name.
                !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            })
        })
    };
    let missing: Vec<&str> = builtins::names().filter(|name| !is_called(name)).collect();
    assert!(missing.is_empty(), "in no test of tests/sql/functions and tests/sql/json: {missing:?}");
}

#[test]
fn every_operator_and_syntax_is_in_a_golden_test() {
    let mut found = BTreeSet::new();
    for (_, text) in tests() {
        let bare: String =
            text.lines().filter(|line| !line.starts_with(['-', '#'])).flat_map(|l| [l, "\n"]).collect();
        let mut start = 0;
        while start < bare.len() {
            match parser::parse_one(bare.as_bytes(), start, ParseOptions::default()) {
                Ok(parsed) => {
                    if let Statement::Query(query) = &parsed.statement {
                        walk_query(query, &mut found);
                    }
                    start = parsed.next;
                }
                // A mistake that is tested: the next statement is on a line of its own.
                Err(_) => start += bare[start..].find(";\n").map_or(bare.len(), |at| at + 2),
            }
        }
    }
    let missing: Vec<&&str> = SYNTAX.iter().filter(|name| !found.contains(**name)).collect();
    assert!(missing.is_empty(), "in no test of tests/sql/functions and tests/sql/json: {missing:?}");
}

fn walk_query(query: &Query, found: &mut BTreeSet<String>) {
    let QueryBody::Select(select) = &query.body else { return };
    for item in &select.items {
        if let SelectItem::Expression { expression, .. } = item {
            walk(expression, found);
        }
    }
}

fn walk(expression: &Expression, found: &mut BTreeSet<String>) {
    found.extend(syntax(expression));
    expression.each_child(&mut |child| match child {
        parser::ast::Child::Expression(child) => walk(child, found),
        parser::ast::Child::Query(query) => walk_query(query, found),
    });
}

fn named(name: &str, negated: bool) -> Vec<String> {
    vec![if negated { format!("not {name}") } else { name.to_owned() }]
}

/// How [`SYNTAX`] names an expression. No arm is for all others: what is new must be named here.
fn syntax(expression: &Expression) -> Vec<String> {
    use Expression as E;
    match expression {
        E::And(_) => named("And", false),
        E::Or(_) => named("Or", false),
        E::Between { negated, .. } => named("Between", *negated),
        E::InList { negated, .. } => named("InList", *negated),
        E::InSubquery { negated, .. } => named("InSubquery", *negated),
        E::Like { negated, escape, .. } => {
            let mut names = named("Like", *negated);
            names.extend(escape.is_some().then(|| "Like Escape".to_owned()));
            names
        }
        E::Regexp { negated, .. } => named("Regexp", *negated),
        E::Exists(_) => named("Exists", false),
        E::Subquery(_) => named("Subquery", false),
        E::Row(_) => named("Row", false),
        E::Case { operand, .. } => named(if operand.is_some() { "Case Operand" } else { "Case" }, false),
        E::ConvertUsing { .. } => named("ConvertUsing", false),
        E::Collate { .. } => named("Collate", false),
        E::DateArithmetic { subtract, .. } => {
            named(if *subtract { "DateArithmetic subtract" } else { "DateArithmetic" }, false)
        }
        E::TimestampAdd { .. } => named("TimestampAdd", false),
        E::TimestampDiff { .. } => named("TimestampDiff", false),
        E::Char { .. } => named("Char", false),
        E::WeightString { .. } => named("WeightString", false),
        E::Default(_) => named("Default", false),
        E::Grouping(_) => named("Grouping", false),
        E::AssignVariable { .. } => named("AssignVariable", false),
        E::UserVariable(_) => named("UserVariable", false),
        E::SystemVariable(_) => named("SystemVariable", false),
        E::Is { test, negated, .. } => named(&format!("Is {}", is_test(*test)), *negated),
        E::Quantified { quantifier, .. } => match quantifier {
            Quantifier::Any => named("Quantified Any", false),
            Quantifier::All => named("Quantified All", false),
        },
        E::Trim { side, .. } => match side {
            TrimSide::Unsaid | TrimSide::Both => named("Trim Both", false),
            TrimSide::Leading => named("Trim Leading", false),
            TrimSide::Trailing => named("Trim Trailing", false),
        },
        E::Unary { operator, .. } => unary(*operator),
        E::Binary { operator, .. } => binary(*operator),
        E::Extract { unit, .. } => vec![format!("Extract {unit:?}")],
        E::Cast(cast) => target(&cast.target),
        E::Aggregate(call) => aggregate(call.kind),
        // The functions of the registry have a test of their own.
        E::Function(_) | E::Literal(_) | E::Column(_) | E::Parameter(_) | E::Odbc { .. } => Vec::new(),
        // VALUES() stands in ON DUPLICATE KEY UPDATE (tests/sql/dml); the others are not supported.
        E::Values(_) | E::WindowFunction(_) | E::Match { .. } | E::JsonValue(_) | E::MemberOf { .. } => {
            Vec::new()
        }
    }
}

fn is_test(test: IsTest) -> &'static str {
    match test {
        IsTest::Null => "Null",
        IsTest::True => "True",
        IsTest::False => "False",
        IsTest::Unknown => "Unknown",
    }
}

fn unary(operator: UnaryOperator) -> Vec<String> {
    use UnaryOperator::{Binary, BitNot, Minus, Not, Plus};
    match operator {
        Minus | Plus | BitNot | Not | Binary => named(&format!("Unary {operator:?}"), false),
    }
}

fn binary(operator: BinaryOperator) -> Vec<String> {
    use BinaryOperator as B;
    match operator {
        B::Add
        | B::Subtract
        | B::Multiply
        | B::Divide
        | B::IntegerDivide
        | B::Modulo
        | B::BitOr
        | B::BitAnd
        | B::BitXor
        | B::ShiftLeft
        | B::ShiftRight
        | B::Equal
        | B::NullSafeEqual
        | B::NotEqual
        | B::Less
        | B::LessOrEqual
        | B::Greater
        | B::GreaterOrEqual
        | B::LogicalXor
        | B::SoundsLike => named(&format!("Binary {operator:?}"), false),
    }
}

fn target(target: &CastTarget) -> Vec<String> {
    let name = match target {
        CastTarget::Signed => "Signed",
        CastTarget::Unsigned => "Unsigned",
        CastTarget::Char { .. } => "Char",
        CastTarget::Binary { .. } => "Binary",
        CastTarget::Date => "Date",
        CastTarget::Time { .. } => "Time",
        CastTarget::DateTime { .. } => "DateTime",
        CastTarget::Decimal { .. } => "Decimal",
        CastTarget::Float { .. } => "Float",
        CastTarget::Double => "Double",
        CastTarget::Real => "Real",
        CastTarget::Year => "Year",
        // Not supported.
        CastTarget::Json | CastTarget::Geometry(_) => return Vec::new(),
    };
    named(&format!("Cast {name}"), false)
}

fn aggregate(kind: AggregateKind) -> Vec<String> {
    use AggregateKind as A;
    match kind {
        A::Count
        | A::Sum
        | A::Avg
        | A::Min
        | A::Max
        | A::GroupConcat
        | A::BitAnd
        | A::BitOr
        | A::BitXor
        | A::StddevPop
        | A::StddevSamp
        | A::VarPop
        | A::VarSamp => named(&format!("Aggregate {kind:?}"), false),
        // Not supported.
        A::JsonArrayagg | A::JsonObjectagg | A::StCollect => Vec::new(),
    }
}
