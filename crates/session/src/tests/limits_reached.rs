//! Limits that a client or an option reaches, from where they were once missed.

use crate::tests::{check, connect, environment, run, start, start_with};

/// Set operations in parentheses within each other ended the server: no SELECT stands between them that looks at the stack.
#[test]
fn set_operations_within_each_other_end_before_the_stack_does() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    for depth in [5, 100, 163, 400] {
        for tail in ["", " order by 1", " limit 5"] {
            let ends = format!(" union select 2{tail})").repeat(depth);
            let answer = run(&mut root, &format!("{}select 1{ends}", "(".repeat(depth)));
            let is_told = answer == ["1", "2"] || answer[0].starts_with("ERROR 1436");
            assert!(is_told && (depth > 5 || answer.len() == 2), "{depth}{tail}: {answer:?}");
        }
    }
}

#[test]
fn an_attribute_is_as_deep_as_it_can_be_shown() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create user u");
    let attribute =
        |depth: usize| format!("alter user u attribute '{}1{}'", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    assert_eq!(run(&mut root, &attribute(99)), ["OK 0"]);
    assert!(run(&mut root, &attribute(100))[0].starts_with("ERROR 3157"));
    check(&mut root, &[("select json_depth(user_attributes) from mysql.user where user = 'u'", "101")]);
}

#[test]
fn max_join_size_as_an_option_counts() {
    let (_disk, environment) = environment();
    let instance = start_with(&environment, &[("max-join-size", "5")]);
    let mut root = connect(&instance, "root").unwrap();
    check(&mut root, &[("select @@max_join_size, @@sql_big_selects", "5|0")]);
}
