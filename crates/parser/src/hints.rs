//! Optimizer hints: the text between `/*+` and `*/`. Read here: MAX_EXECUTION_TIME, which says how long a query may run.
//! Unknown hints are skipped, as in MySQL.

use crate::ast::{Query, QueryBody, Select};

/// MAX_EXECUTION_TIME(n) of a query, in milliseconds: that of its first SELECT counts. None if there is none, or it is 0.
pub fn max_execution_time(query: &Query) -> Option<u64> {
    let hints = first_select(&query.body)?.hints.as_deref()?;
    let mut calls =
        hints.split_inclusive(')').filter_map(|call| call.trim_end().strip_suffix(')')?.split_once('('));
    let argument = calls.find_map(|(name, argument)| {
        let name =
            name.trim().rsplit(|character: char| character.is_whitespace() || character == ',').next()?;
        name.eq_ignore_ascii_case("MAX_EXECUTION_TIME").then_some(argument)
    })?;
    argument.trim().parse().ok().filter(|milliseconds| *milliseconds > 0)
}

fn first_select(body: &QueryBody) -> Option<&Select> {
    match body {
        QueryBody::Select(select) => Some(select),
        QueryBody::SetOperation(operation) => first_select(&operation.first),
        QueryBody::Nested(query) => first_select(&query.body),
        QueryBody::Values(_) | QueryBody::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParseOptions;
    use crate::ast::Statement;

    fn limit(sql: &str) -> Option<u64> {
        match crate::parse_one(sql.as_bytes(), 0, ParseOptions::default()).unwrap().statement {
            Statement::Query(query) => max_execution_time(&query),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_limit_of_the_first_select_counts() {
        assert_eq!(limit("SELECT /*+ MAX_EXECUTION_TIME(7) */ 1"), Some(7));
        assert_eq!(
            limit("SELECT /*+ NO_ICP(t1, t2) max_execution_time ( 9 ), BKA(t) */ 1 UNION SELECT 2"),
            Some(9)
        );
        assert_eq!(
            limit("(WITH c AS (SELECT 1) SELECT /*+ MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(6) */ 1)"),
            Some(5)
        );
        assert_eq!(limit("SELECT 1 UNION SELECT /*+ MAX_EXECUTION_TIME(7) */ 1"), None);
        assert_eq!(limit("SELECT (SELECT /*+ MAX_EXECUTION_TIME(7) */ 1)"), None);
        for hint in [
            "MAX_EXECUTION_TIME(0)",
            "MAX_EXECUTION_TIME(x)",
            "MAX_EXECUTION_TIME",
            "X_MAX_EXECUTION_TIME(1)",
            ")(",
        ] {
            assert_eq!(limit(&format!("SELECT /*+ {hint} */ 1")), None, "{hint}");
        }
    }
}
