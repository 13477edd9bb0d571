//! The printer against MySQL 9.7.4: `printed_expressions.tsv` has expressions with the text that MySQL keeps of them
//! (`record_printed_expressions.py` writes it), `printed_expressions.known` those that are printed in another way, each with its
//! reason. MySQL prints a CHECK once; the text of a DEFAULT or generated column is read and printed until it stays as it is.

use parser::{ParseOptions, parse_expression, print_expression};
use std::collections::BTreeMap;

/// An expression and its texts.
struct Recorded {
    /// Behind the sql_mode, where it is not empty.
    expression: String,
    options: ParseOptions,
    /// In a DEFAULT or generated column.
    settled: String,
    /// In a CHECK, where that is another.
    once: Option<String>,
}

fn recorded() -> Vec<Recorded> {
    let mut all: Vec<Recorded> = Vec::new();
    let mut modes = "";
    for line in include_str!("printed_expressions.tsv").lines() {
        if let Some(set) = line.strip_prefix("#sql_mode=") {
            modes = set;
        }
        match line.split_once('\t') {
            Some(("", once)) => all.last_mut().expect("a line above").once = Some(once.to_owned()),
            Some((expression, settled)) => all.push(Recorded {
                expression: expression.to_owned(),
                options: options(modes),
                settled: settled.to_owned(),
                once: None,
            }),
            None => assert!(line.is_empty() || line.starts_with('#'), "{line}"),
        }
    }
    all
}

fn options(modes: &str) -> ParseOptions {
    let ansi = modes == "ANSI";
    ParseOptions {
        pipes_as_concat: ansi || modes == "PIPES_AS_CONCAT",
        ansi_quotes: ansi || modes == "ANSI_QUOTES",
        ignore_space: ansi,
        high_not_precedence: modes == "HIGH_NOT_PRECEDENCE",
        no_backslash_escapes: modes == "NO_BACKSLASH_ESCAPES",
        ..ParseOptions::default()
    }
}

/// The printed text, or what is wrong instead.
fn print(expression: &str, options: ParseOptions) -> String {
    match parse_expression(expression.as_bytes(), options) {
        Ok(parsed) => print_expression(&parsed, "utf8mb4").unwrap_or_else(|| "not printed".to_owned()),
        Err(error) => format!("refused: {error:?}"),
    }
}

/// Three times are enough for every nest of row comparisons here.
fn settle(once: &str) -> String {
    (0..3).fold(once.to_owned(), |text, _| print(&text, ParseOptions::default()))
}

/// What differs from MySQL, if anything.
fn difference(recorded: &Recorded) -> Option<String> {
    let once = print(&recorded.expression, recorded.options);
    let settled = settle(&once);
    let expected = recorded.once.as_ref().unwrap_or(&recorded.settled);
    if once != *expected {
        return Some(format!("{}\n  MySQL {expected}\n  ours  {once}", recorded.expression));
    }
    (settled != recorded.settled).then(|| {
        format!("{}\n  MySQL keeps {}\n  ours        {settled}", recorded.expression, recorded.settled)
    })
}

/// Expressions that are printed in another way, with the reason.
fn known() -> BTreeMap<&'static str, &'static str> {
    let mut reason = "";
    let mut known = BTreeMap::new();
    for line in include_str!("printed_expressions.known").lines() {
        match line.strip_prefix("# ") {
            Some(why) => reason = why,
            None => assert!(known.insert(line, reason).is_none(), "twice: {line}"),
        }
    }
    known
}

#[test]
fn expressions_are_printed_as_by_mysql() {
    let mut known = known();
    let all = recorded();
    let mut differences = Vec::new();
    let mut expected = 0;
    for recorded in &all {
        let reason = known.remove(recorded.expression.as_str());
        match difference(recorded) {
            None => assert!(reason.is_none(), "is equal, but known: {}", recorded.expression),
            Some(_) if reason.is_some() => expected += 1,
            Some(difference) => differences.push(difference),
        }
    }
    println!("{} expressions, {expected} known, {} differ", all.len(), differences.len());
    assert!(known.is_empty(), "known, but not recorded: {known:?}");
    assert!(
        differences.is_empty(),
        "{} of {} differ:\n{}",
        differences.len(),
        all.len(),
        differences.join("\n")
    );
}

#[test]
fn mysqls_own_texts_are_printed_as_they_are() {
    let known = known();
    let unsettled: Vec<String> = recorded()
        .iter()
        .filter_map(|recorded| {
            let again = print(&recorded.settled, ParseOptions::default());
            (again != recorded.settled && !known.contains_key(recorded.expression.as_str()))
                .then(|| format!("{}\n  again {again}", recorded.settled))
        })
        .collect();
    assert!(unsettled.is_empty(), "{}:\n{}", unsettled.len(), unsettled.join("\n"));
}
