//! Ways to ask the same: the rule switched off, the rows in three parts by a condition (TLP), the conditions computed of each row
//! instead of asked for (NoREC), and the rows that a change finds. Main type: [`Oracle`].

use crate::changes::changed;
use crate::query::Query;
use testkit::{Answer, Client, Row};

/// A way to check an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// The same statement with the rule switched off.
    Switch,
    /// The rows where a condition is true, false and unknown together are all rows.
    Partitions,
    /// The rows of which conditions, computed in the select list, are true are those that WHERE finds.
    Computed,
    /// The rows that UPDATE and DELETE change are those that the query shows.
    Changed,
}

/// All of them, with their names on the command line.
pub const ORACLES: [(&str, Oracle); 4] = [
    ("switch", Oracle::Switch),
    ("tlp", Oracle::Partitions),
    ("norec", Oracle::Computed),
    ("change", Oracle::Changed),
];

/// Two sessions: one with the rule, one without.
pub struct Pair {
    /// With it.
    pub on: Client,
    /// Without.
    pub off: Client,
}

/// What came of a case.
#[derive(Debug)]
pub enum Outcome {
    /// Both answers are the same.
    Same,
    /// Both ended with an error, or there is no other way to ask this.
    Nothing,
    /// They differ.
    Violation(Box<Violation>),
}

/// Two answers that should be the same.
#[derive(Debug)]
pub struct Violation {
    /// The query.
    pub query: String,
    /// Its answer.
    pub found: Answer,
    /// The other statements.
    pub others: Vec<String>,
    /// What they answer together.
    pub wanted: Answer,
}

impl Oracle {
    /// Asks a query in both ways; `condition` divides its rows.
    pub fn check(self, query: &Query, condition: &str, pair: &mut Pair) -> Outcome {
        // Which row of a group comes first, and so what LIMIT leaves, is known of rows only.
        let whole = Query { limit: query.limit.filter(|_| !query.puts_together()), ..query.clone() };
        match self {
            Oracle::Switch => switched(query, pair),
            Oracle::Partitions => parted(&whole, condition, pair),
            Oracle::Computed => computed(&whole, pair),
            Oracle::Changed => changed(query, &mut pair.on),
        }
    }
}

fn compared(query: &Query, text: String, found: Answer, others: Vec<String>, wanted: Answer) -> Outcome {
    if found.error.is_some() && wanted.error.is_some() {
        return Outcome::Nothing;
    }
    let is_same = found.error.is_some() == wanted.error.is_some()
        && rows_to_compare(query, &found.rows) == rows_to_compare(query, &wanted.rows);
    match is_same {
        true => Outcome::Same,
        false => Outcome::Violation(Box::new(Violation { query: text, found, others, wanted })),
    }
}

/// Rows in a form that is the same for equal answers: in their order if that is total, else sorted.
fn rows_to_compare(query: &Query, rows: &[Row]) -> Vec<Row> {
    let mut rows = rows.to_vec();
    if query.puts_together() || query.reads_groups {
        rows.iter_mut().flatten().flatten().for_each(stand_for_equals);
    }
    if query.order.is_empty() {
        rows.sort();
    }
    rows
}

/// A text or a number that stands for all that are equal to it: which of them is shown for a group is not determined.
fn stand_for_equals(text: &mut String) {
    *text = text.trim_end().to_lowercase();
    if text == "-0" {
        text.remove(0);
    }
}

fn switched(query: &Query, pair: &mut Pair) -> Outcome {
    let text = query.text();
    let (found, wanted) = (pair.on.ask(&text), pair.off.ask(&text));
    let same_warnings = found.error.is_some() || found.warnings == wanted.warnings;
    match compared(query, text.clone(), found.clone(), Vec::new(), wanted.clone()) {
        Outcome::Same if !same_warnings => {
            Outcome::Violation(Box::new(Violation { query: text, found, others: Vec::new(), wanted }))
        }
        outcome => outcome,
    }
}

fn parted(query: &Query, condition: &str, pair: &mut Pair) -> Outcome {
    let partitions =
        [format!("({condition})"), format!("NOT ({condition})"), format!("({condition}) IS NULL")];
    let text = query.text();
    let found = pair.on.ask(&text);
    let (others, wanted) = match query.of_partitions(&partitions) {
        Some(other) => {
            let answer = pair.on.ask(&other);
            (vec![other], answer)
        }
        None => {
            let others: Vec<String> =
                partitions.iter().map(|one| query.with_condition(one.clone()).text()).collect();
            let mut all = Answer::default();
            for other in &others {
                let answer = pair.on.ask(other);
                all.rows.extend(answer.rows);
                all.error = all.error.or(answer.error);
            }
            (others, all)
        }
    };
    // Parts come one after the other.
    let unordered = Query { order: Vec::new(), ..query.clone() };
    let query = if query.limit.is_some() { query } else { &unordered };
    compared(query, text, found, others, wanted)
}

fn computed(query: &Query, pair: &mut Pair) -> Outcome {
    let text = query.text();
    let found = pair.on.ask(&text);
    let (other, says) = query.computed();
    let mut wanted = pair.on.ask(&other);
    if says {
        wanted.rows.retain_mut(|row| row.pop().flatten().as_deref() == Some("1"));
    }
    if let Some((count, offset)) = query.limit {
        wanted.rows = wanted.rows.into_iter().skip(offset).take(count).collect();
    }
    compared(query, text, found, vec![other], wanted)
}
