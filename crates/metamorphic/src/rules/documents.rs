//! JSON documents: conditions on what is in them, by index and without, and JSON_TABLE.

use super::computed::{compared, named};
use super::{joined, plain};
use crate::query::Query;
use crate::random::Random;
use crate::tables::Tables;

const CONDITIONS: [&str; 16] = [
    "CAST(@->>'$.t' AS CHAR(10)) = 'a'",
    "CAST(@->>'$.t' AS CHAR(10)) IN ('b', 'abc')",
    "CAST(@->>'$.t' AS CHAR(10)) IS NULL",
    "json_length(@, '$.b') = 2",
    "json_length(@, '$.b') > 0",
    "json_value(@, '$.a' RETURNING SIGNED) < 2",
    "json_value(@, '$.a' RETURNING SIGNED) IS NULL",
    "@->'$.a' = 1",
    "@->>'$.a' = 'x'",
    "@ IS NULL",
    "JSON_CONTAINS(@, '2', '$.b')",
    "2 MEMBER OF(@->'$.b')",
    "JSON_OVERLAPS(@->'$.b', '[7, 1]')",
    "JSON_TYPE(@) = 'OBJECT'",
    "JSON_EXTRACT(@, '$.a') > 1",
    "JSON_CONTAINS_PATH(@, 'one', '$.t', '$.b[2].c')",
];

/// Conditions on documents of one table of two, most often on what an index has.
pub fn asked(random: &mut Random, tables: &Tables) -> Query {
    let count = random.between(1, 2);
    let from = joined(random, tables, count, 25);
    let mut query = plain(random, &from);
    let indexed: Vec<(String, char)> = from
        .tables
        .iter()
        .flat_map(|(alias, table)| named(table, alias))
        .filter(|(text, _)| text.contains(".j0"))
        .collect();
    if !indexed.is_empty() && random.percent(80) {
        let (text, family) = random.choose(&indexed).clone();
        query.conditions.push(compared(random, &text, family));
    }
    let has = |table: &crate::tables::Table| table.columns.iter().any(|column| column.name == "j0");
    let aliases: Vec<&str> =
        from.tables.iter().filter(|(_, table)| has(table)).map(|(alias, _)| *alias).collect();
    if aliases.is_empty() {
        query.conditions.push(from.scope.condition(random, 1));
        return query;
    }
    if query.conditions.is_empty() || random.percent(50) {
        let one = condition(random, &aliases);
        query.conditions.push(match random.below(4) {
            0 => format!("({one} OR {})", condition(random, &aliases)),
            1 => format!("NOT ({one} AND {})", from.scope.condition(random, 0)),
            _ => one,
        });
    }
    if random.percent(20) {
        unfold(random, &aliases, &mut query);
    }
    query
}

/// Joins the numbers of an array in a document.
fn unfold(random: &mut Random, aliases: &[&str], query: &mut Query) {
    let word = *random.choose(&["JOIN", "LEFT JOIN"]);
    let columns = "COLUMNS (place FOR ORDINALITY, number INT PATH '$' NULL ON ERROR)";
    let document = document(random, aliases);
    query.from = format!("{} {word} JSON_TABLE({document}, '$.b[*]' {columns}) j ON TRUE", query.from);
    query.items.extend(["j.place".to_owned(), "j.number".to_owned()]);
    if random.percent(60) {
        query.conditions.push(format!("j.number {} 2", random.choose(&["=", "<", ">", "<=>"])));
    }
}

fn document(random: &mut Random, aliases: &[&str]) -> String {
    format!("{}.j0", random.choose(aliases))
}

fn condition(random: &mut Random, aliases: &[&str]) -> String {
    let document = document(random, aliases);
    random.choose(&CONDITIONS).replace('@', &document)
}
