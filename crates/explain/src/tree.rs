//! EXPLAIN as a tree, the form that MySQL 9.7 prints by default: one line a step, indented below what reads it.

use crate::describe::number::{milliseconds, number};
use crate::step::Step;
use exec::Actual;
use std::fmt::Write as _;

/// The lines of some steps.
pub fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    print_all(steps, 0, &mut text);
    text
}

fn print_all(steps: &[Step], depth: usize, text: &mut String) {
    for step in steps {
        let mut at = depth;
        if let Some(heading) = &step.heading {
            line(depth, heading, text);
            at += 1;
        }
        let mut what = step.operation.clone();
        let between = if step.shown.is_some() || step.actual.is_some() { "  " } else { "" };
        what.push_str(between);
        if let Some(shown) = &step.shown {
            let first = shown.first_row_cost.map(|cost| number(cost) + "..").unwrap_or_default();
            // Writing to a string cannot fail.
            let _written = write!(what, "(cost={first}{} rows={})", number(shown.cost), number(shown.rows));
        }
        if let Some(actual) = &step.actual {
            what.push_str(if step.shown.is_some() { " " } else { "" });
            what.push_str(&actual_text(actual));
        }
        line(at, &what, text);
        print_all(&step.inputs, at + 1, text);
        print_all(&step.select_list, at, text);
    }
}

fn line(depth: usize, what: &str, text: &mut String) {
    let _written = writeln!(text, "{:width$}-> {what}", "", width = 4 * depth);
}

/// Times and rows are those of one execution of the step on average.
fn actual_text(actual: &Actual) -> String {
    if actual.loops == 0 {
        return "(never executed)".to_owned();
    }
    let loops = actual.loops as f64;
    format!(
        "(actual time={}..{} rows={} loops={})",
        milliseconds(actual.first_row.as_secs_f64() * 1e3 / loops),
        milliseconds(actual.all_rows.as_secs_f64() * 1e3 / loops),
        number(actual.rows as f64 / loops),
        actual.loops
    )
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::step::{Estimate, Step};
    use exec::Actual;
    use std::time::Duration;

    #[test]
    fn steps_are_indented_below_their_readers() {
        let scan = Step::costed("Table scan on t", Estimate::new(0.65, 4.0));
        let hash = Step::new("Table scan on u").under("Hash");
        let asked = Step::new("Rows fetched before execution").under("Select #2 (subquery in projection)");
        let join = Step { select_list: vec![asked], ..Step::new("Inner hash join").reads([scan, hash]) };
        assert_eq!(
            text(&[join]),
            "-> Inner hash join\n    -> Table scan on t  (cost=0.65 rows=4)\n    -> Hash\n        -> Table scan on u\n\
             -> Select #2 (subquery in projection)\n    -> Rows fetched before execution\n"
        );
    }

    #[test]
    fn what_a_step_did_is_told_for_one_loop() {
        let actual = Actual {
            loops: 4,
            rows: 3,
            first_row: Duration::from_micros(16),
            all_rows: Duration::from_micros(20),
        };
        let step = Step::costed("Table scan on t", Estimate::new(0.65, 4.0)).did(Some(actual));
        assert_eq!(
            text(&[step.did(Some(actual))]),
            "-> Table scan on t  (cost=0.65 rows=4) (actual time=0.004..0.005 rows=0.75 loops=4)\n"
        );
        let never = Step::new("Limit: 1 row(s)").did(Some(Actual::default()));
        assert_eq!(text(&[never]), "-> Limit: 1 row(s)  (never executed)\n");
    }
}
