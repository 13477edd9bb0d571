use crate::ParseOptions;
use crate::ast::{HintValue, Statement};
use crate::{Parsed, max_execution_time, parse_one};

fn parse(sql: &str) -> Parsed {
    parse_one(sql.as_bytes(), 0, ParseOptions::default()).unwrap()
}

fn limit(sql: &str) -> Option<u64> {
    match parse(sql).statement {
        Statement::Query(query) => max_execution_time(&query),
        other => panic!("{other:?}"),
    }
}

fn warnings(sql: &str) -> Vec<String> {
    parse(sql).warnings.iter().map(|warning| warning.message().to_string()).collect()
}

#[test]
fn the_limit_of_the_first_select_counts() {
    assert_eq!(limit("SELECT /*+ MAX_EXECUTION_TIME(7) */ 1"), Some(7));
    assert_eq!(
        limit("SELECT /*+ NO_ICP(t1 t2) max_execution_time ( 9 ) BKA(t) */ 1 UNION SELECT 2"),
        Some(9)
    );
    assert_eq!(
        limit("(WITH c AS (SELECT 1) SELECT /*+ MAX_EXECUTION_TIME(5) MAX_EXECUTION_TIME(6) */ 1)"),
        Some(5)
    );
    assert_eq!(limit("SELECT 1 UNION SELECT /*+ MAX_EXECUTION_TIME(7) */ 1"), None);
    assert_eq!(limit("SELECT (SELECT /*+ MAX_EXECUTION_TIME(7) */ 1)"), None);
    for hint in ["MAX_EXECUTION_TIME(0)", "MAX_EXECUTION_TIME(x)", "MAX_EXECUTION_TIME", ")("] {
        assert_eq!(limit(&format!("SELECT /*+ {hint} */ 1")), None, "{hint}");
    }
    let refused = "MAX_EXECUTION_TIME hint is supported by top-level standalone SELECT statements only";
    assert_eq!(warnings("SELECT (SELECT /*+ MAX_EXECUTION_TIME(7) */ 1)"), [refused]);
    assert_eq!(warnings("DELETE /*+ MAX_EXECUTION_TIME(7) */ FROM t"), [refused]);
}

#[test]
fn a_comment_counts_up_to_its_first_mistake() {
    for (hint, near) in [
        ("FOO(t)", "FOO(t) */ 1"),
        ("QB_NAME(a), INDEX(t)", ", INDEX(t) */ 1"),
        ("INDEX(t a ", "*/"),
        ("", "*/"),
        ("SUBQUERY()", ") */ 1"),
        ("MAX_EXECUTION_TIME(1.5)", "1.5) */ 1"),
        ("SET_VAR(a=-1)", "-1) */ 1"),
        ("SET_VAR(a='')", "'') */ 1"),
        ("ICP(t)", "ICP(t) */ 1"),
        ("INDEX(`t)", "`t) */ 1"),
    ] {
        let expected = format!("Optimizer hint syntax error near '{near}' at line 1");
        assert_eq!(warnings(&format!("SELECT /*+ {hint} */ 1")), [expected], "{hint}");
    }
    let parsed = parse("SELECT /*+ SET_VAR(a=16K) SET_VAR(b=off) SET_VAR(c=0.5)\n X */ 1");
    let values: Vec<_> =
        parsed.hints.iter().flat_map(|hints| &hints.set_variables).map(|set| set.value.clone()).collect();
    let expected =
        [HintValue::Integer(16384), HintValue::Text("off".to_owned()), HintValue::Decimal("0.5".to_owned())];
    assert_eq!(values, expected);
    assert!(parsed.warnings[0].message().ends_with("near 'X */ 1' at line 2"));
}

#[test]
fn hints_are_printed_as_mysql_does() {
    for (hint, printed) in [
        ("INDEX(t zz)", "INDEX(`t`  `zz`)"),
        ("NO_INDEX(t@`select#1` a)", "NO_INDEX(`t`@`select#1`  `a`)"),
        ("no_icp(t a)", "NO_ICP(`t` `a` )"),
        ("NO_MERGE(u@`select#1`)", "NO_MERGE(`u`@`select#1` )"),
        ("NO_BNL()", "NO_BNL( )"),
        ("JOIN_ORDER(t,w)", "JOIN_ORDER( `t`,`w`)"),
        ("SEMIJOIN(@`select#1`)", "SEMIJOIN(@`select#1` )"),
        ("NO_SEMIJOIN(@`select#1` firstmatch)", "NO_SEMIJOIN(@`select#1`  FIRSTMATCH)"),
        ("SUBQUERY(INTOEXISTS)", "SUBQUERY(  INTOEXISTS)"),
        ("JOIN_FIXED_ORDER()", "JOIN_FIXED_ORDER( )"),
        ("QB_NAME(b)", "QB_NAME(`b`)"),
    ] {
        let parsed = parse(&format!("SELECT /*+ {hint} */ 1"));
        let Statement::Query(query) = &parsed.statement else { panic!() };
        let crate::ast::QueryBody::Select(select) = &query.body else { panic!() };
        let read =
            select.hints.iter().chain(parsed.hints.iter().flat_map(|hints| &hints.elsewhere)).next().unwrap();
        assert_eq!(read.printed(), printed);
    }
    let several = parse("SELECT /*+ MERGE(@q a, b) */ 1").hints;
    assert_eq!(several.map(|hints| hints.elsewhere.len()), Some(2));
}
