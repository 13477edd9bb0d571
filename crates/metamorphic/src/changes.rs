//! Whether UPDATE and DELETE change the rows that SELECT finds. Main function: [`changed`].

use crate::oracles::{Outcome, Violation};
use crate::query::{Query, all_of};
use testkit::{Answer, Client, Row};

/// Statements that [`changed`] runs for a case.
pub const STATEMENTS: u64 = 10;

/// Deletes the rows of the table `a` that a query finds, and gives them other keys, and compares with the rows that it shows.
pub fn changed(query: &Query, client: &mut Client) -> Outcome {
    let Some((table, _)) = query.from.split_once(" a").filter(|(table, _)| !table.contains([' ', '(']))
    else {
        return Outcome::Nothing;
    };
    let (with, from, condition) = (&query.with, &query.from, all_of(&query.conditions));
    let select = format!("{with}SELECT DISTINCT a.id FROM {from} WHERE {condition} AND a.id IS NOT NULL");
    let wanted = sorted(client.ask(&select));
    let kept = format!("SELECT id FROM {table}");
    let before = client.ask(&kept);
    let delete = format!("{with}DELETE a FROM {from} WHERE {condition}");
    let update = format!("{with}UPDATE {from} SET a.id = -1 - a.id WHERE {condition}");
    let ways = [(delete, kept), (update, format!("SELECT -1 - id FROM {table} WHERE id < 0"))];
    for (change, look) in ways {
        client.ask("START TRANSACTION");
        let done = client.ask(&change);
        let rows = client.ask(&look);
        client.ask("ROLLBACK");
        if done.error.is_some() {
            // Most often that a subquery reads the table.
            return Outcome::Nothing;
        }
        let found = match change.contains("DELETE a") {
            true => Answer { rows: without(before.rows.clone(), &rows.rows), ..Answer::default() },
            false => rows,
        };
        let (found, wanted) = (sorted(found), wanted.clone());
        if wanted.error.is_some() || found.rows != wanted.rows {
            let others = vec![select];
            return Outcome::Violation(Box::new(Violation { query: change, found, others, wanted }));
        }
    }
    Outcome::Same
}

fn sorted(mut answer: Answer) -> Answer {
    answer.rows.sort();
    Answer { warnings: 0, ..answer }
}

fn without(mut rows: Vec<Row>, others: &[Row]) -> Vec<Row> {
    rows.retain(|row| !others.contains(row));
    rows
}
