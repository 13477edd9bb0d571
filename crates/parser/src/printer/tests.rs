//! What the printer writes in a way of its own, so that its text can be read back with the same meaning. What it writes as MySQL
//! does is in `tests/printed_expressions.tsv`.

use super::*;
use crate::{NESTING_MAX, ParseOptions, TREE_DEPTH_MAX, parse_expression};

fn print(text: &str) -> Option<String> {
    let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
    print_expression(&expression, "utf8mb4")
}

fn check(text: &str, expected: &str) {
    assert_eq!(print(text).as_deref(), Some(expected), "{text}");
    assert_eq!(print(expected).as_deref(), Some(expected), "{text} read back");
}

#[test]
fn member_of_has_parentheses_where_it_is_an_operand() {
    check("1 member of (j)", "1 member of (`j`)");
    check("(1 member of (j)) + 1", "((1 member of (`j`)) + 1)");
    check("2 * (1 member of (j))", "(2 * (1 member of (`j`)))");
    check("(1 member of (j)) in (1, 2)", "((1 member of (`j`)) in (1,2))");
    check("(1 member of (j)) between 0 and 1", "((1 member of (`j`)) between 0 and 1)");
    check("0 between (1 member of (j)) and 1", "(0 between (1 member of (`j`)) and 1)");
    check("s like (1 member of (j))", "(`s` like (1 member of (`j`)))");
    check("(1 member of (j)) member of (j)", "(1 member of (`j`)) member of (`j`)");
    check("(1 member of (j)) collate utf8mb4_bin", "((1 member of (`j`)) collate utf8mb4_bin)");
    check("(not not 1 member of (j)) + 1", "((1 member of (`j`)) + 1)");
    check("+(1 member of (j)) + 1", "((1 member of (`j`)) + 1)");
    check("(1 member of (j)) = 1", "(1 member of (`j`) = 1)");
}

#[test]
fn collate_stays_with_what_has_a_sign() {
    check("(-a) collate utf8mb4_bin", "((-(`a`)) collate utf8mb4_bin)");
    check("-a collate utf8mb4_bin", "-((`a` collate utf8mb4_bin))");
    check("(+-a) collate utf8mb4_bin", "((-(`a`)) collate utf8mb4_bin)");
    check("a collate utf8mb4_bin", "(`a` collate utf8mb4_bin)");
}

#[test]
fn trim_from_is_written_where_it_has_a_meaning() {
    check("trim(both from s)", "trim(`s`)");
    check("trim(leading from s)", "trim(leading from `s`)");
    check("trim(trailing from s)", "trim(trailing from `s`)");
    check("trim(both 'x' from s)", "trim(both _utf8mb4'x' from `s`)");
    check("trim('x' from s)", "trim(_utf8mb4'x' from `s`)");
}

#[test]
fn bytes_that_are_no_text_stay_what_they_are() {
    check("_latin1 x'e9'", "_latin1 0xe9");
    check("_latin1 x'41'", "_latin1'A'");
    check("'😀'", "_utf8mb4'😀'");
    check("char(65 using latin1)", "char(65 using latin1)");
}

#[test]
fn text_has_the_charset_of_the_connection() {
    let expression = parse_expression(b"concat('x', cast(a as char))", ParseOptions::default()).unwrap();
    let text = print_expression(&expression, "latin1");
    assert_eq!(text.as_deref(), Some("concat(_latin1'x',cast(`a` as char charset latin1))"));
}

#[test]
fn what_no_stored_expression_holds_is_not_printed() {
    assert_eq!(print("(SELECT 1)"), None);
    assert_eq!(print("a IN (SELECT 1)"), None);
    assert_eq!(print("NOT EXISTS (SELECT 1)"), None);
    assert_eq!(print("1 + COUNT(*)"), None);
    assert_eq!(print("ROW_NUMBER() OVER ()"), None);
    assert_eq!(print("@a + 1"), None);
    assert_eq!(print("@@autocommit"), None);
    assert_eq!(print("VALUES(a)"), None);
    assert_eq!(print("MATCH (s) AGAINST ('x')"), None);
}

/// The parser bounds the depth of a tree. A chain's text has a parenthesis a level, of which the parser reads fewer: who stores
/// a text reads it back first.
#[test]
fn the_deepest_trees_are_printed() {
    let chain = format!("a{}", " + 1".repeat(TREE_DEPTH_MAX as usize - 10));
    let text = print(&chain).unwrap();
    assert!(parse_expression(text.as_bytes(), ParseOptions::default()).is_err());
    let shorter = print(&format!("a{}", " + 1".repeat(NESTING_MAX as usize - 10))).unwrap();
    assert_eq!(print(&shorter), Some(shorter));
    let terms = "(a, b) = (1, 2) and ".repeat(5_000);
    assert!(print(&format!("not ({terms} c)")).is_some());
    assert!(print(&format!("{}a", "not ".repeat(NESTING_MAX as usize - 10))).is_some());
}
