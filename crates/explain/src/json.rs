//! EXPLAIN FORMAT=JSON, version 2 of MySQL's. Main function: [`document`]. The members of an object are in MySQL's order, shorter
//! names first. It has no `query`: the statement as it was rewritten is not printed.

use crate::step::Step;
use plan::{Plan, PlanKind};
use std::borrow::Cow;
use std::fmt::Write as _;

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// A string.
    Text(String),
    /// A number with a fraction.
    Number(f64),
    /// A whole number.
    Count(u64),
    /// True or false.
    Flag(bool),
    /// An array.
    List(Vec<Json>),
    /// An object; members may come in any order.
    Object(Vec<(&'static str, Json)>),
}

impl From<&str> for Json {
    fn from(text: &str) -> Json {
        Json::Text(text.to_owned())
    }
}

impl From<Cow<'_, str>> for Json {
    fn from(text: Cow<'_, str>) -> Json {
        Json::Text(text.into_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text)
    }
}

impl From<bool> for Json {
    fn from(flag: bool) -> Json {
        Json::Flag(flag)
    }
}

impl From<u64> for Json {
    fn from(count: u64) -> Json {
        Json::Count(count)
    }
}

impl From<f64> for Json {
    fn from(number: f64) -> Json {
        Json::Number(number)
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Json {
        Json::List(items.into_iter().map(T::into).collect())
    }
}

/// The document of a plan.
pub fn document(plan: &Plan, steps: &[Step]) -> String {
    let query_type = match &plan.kind {
        PlanKind::Query(..) | PlanKind::Do(_) => "select",
        PlanKind::Insert(insert) if insert.replace => "replace",
        PlanKind::Insert(_) | PlanKind::Load(_) => "insert",
        PlanKind::Update(_) => "update",
        PlanKind::Delete(_) => "delete",
    };
    let root = steps.first().map_or(Json::Object(Vec::new()), step_object);
    let whole = Json::Object(vec![
        ("query_plan", root),
        ("query_type", query_type.into()),
        ("json_schema_version", "2.0".into()),
    ]);
    let mut text = String::new();
    whole.print(0, &mut text);
    text
}

fn step_object(step: &Step) -> Json {
    let mut members = step.details.clone();
    members.push(("operation", step.operation.as_str().into()));
    if let Some(heading) = &step.heading {
        members.push(("heading", heading.as_str().into()));
    }
    if let Some(shown) = step.shown {
        members.push(("estimated_rows", shown.rows.into()));
        members.push(("estimated_total_cost", shown.cost.into()));
        members.extend(shown.first_row_cost.map(|cost| ("estimated_first_row_cost", cost.into())));
    }
    if let Some(actual) = &step.actual {
        let loops = actual.loops.max(1) as f64;
        members.push(("actual_rows", (actual.rows as f64 / loops).into()));
        members.push(("actual_loops", actual.loops.into()));
        members.push(("actual_first_row_ms", (actual.first_row.as_secs_f64() * 1e3 / loops).into()));
        members.push(("actual_last_row_ms", (actual.all_rows.as_secs_f64() * 1e3 / loops).into()));
    }
    let of = |steps: &[Step]| Json::List(steps.iter().map(step_object).collect());
    if !step.inputs.is_empty() {
        members.push(("inputs", of(&step.inputs)));
    }
    if !step.select_list.is_empty() {
        members.push(("inputs_from_select_list", of(&step.select_list)));
    }
    Json::Object(members)
}

impl Json {
    fn print(&self, depth: usize, text: &mut String) {
        match self {
            Json::Text(string) => print_string(string, text),
            // Writing to a string cannot fail.
            Json::Number(number) => drop(write!(text, "{:?}", number.clamp(f64::MIN, f64::MAX))),
            Json::Count(count) => drop(write!(text, "{count}")),
            Json::Flag(flag) => drop(write!(text, "{flag}")),
            Json::List(items) => {
                let each = |item: &&Json, text: &mut String| item.print(depth + 1, text);
                print_items(['[', ']'], &items.iter().collect::<Vec<_>>(), depth, text, each);
            }
            Json::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(name, _)| (name.len(), *name));
                let each = |(name, value): &&(&'static str, Json), text: &mut String| {
                    print_string(name, text);
                    text.push_str(": ");
                    value.print(depth + 1, text);
                };
                print_items(['{', '}'], &members, depth, text, each);
            }
        }
    }
}

fn print_items<T>(
    brackets: [char; 2],
    items: &[T],
    depth: usize,
    text: &mut String,
    each: impl Fn(&T, &mut String),
) {
    text.push(brackets[0]);
    for (at, item) in items.iter().enumerate() {
        text.push_str(if at > 0 { ",\n" } else { "\n" });
        text.extend(std::iter::repeat_n(' ', 2 * (depth + 1)));
        each(item, text);
    }
    if !items.is_empty() {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', 2 * depth));
    }
    text.push(brackets[1]);
}

fn print_string(string: &str, text: &mut String) {
    text.push('"');
    for c in string.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            c if c < ' ' => drop(write!(text, "\\u{:04x}", u32::from(c))),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn shorter_names_come_first_and_texts_are_escaped() {
        let value = Json::Object(vec![
            ("operation", "a \"b\"\n\u{1}".into()),
            ("limit", 2u64.into()),
            ("inputs", vec![Json::Number(4.0), Json::Number(0.65)].into()),
            ("filter_columns", Json::List(Vec::new())),
            ("alias", true.into()),
        ]);
        let mut text = String::new();
        value.print(0, &mut text);
        assert_eq!(
            text,
            "{\n  \"alias\": true,\n  \"limit\": 2,\n  \"inputs\": [\n    4.0,\n    0.65\n  ],\n  \"operation\": \
             \"a \\\"b\\\"\\n\\u0001\",\n  \"filter_columns\": []\n}"
        );
    }
}
