//! How rows of a table are found, and which conditions are checked on them.

use super::{Estimate, RANGE_ROW_COST, ROW_COST, START_COST, Tree};
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind};
use plan::physical::{AccessPath, KeyCondition, TableAccess, VirtualAccess};

impl<'a> Tree<'a> {
    pub(super) fn table(&mut self, access: &'a TableAccess, depth: usize) -> Estimate {
        let points = key_points(access);
        let is_constant = |point: &Expression| point.is_constant() && !point.reads_rows();
        let constant = access.path.single_row && points.iter().all(|(_, point)| is_constant(point));
        if constant && self.engine.statistics(&access.table).rows == 0 {
            self.line(depth, "Zero rows (no matching row in const table)  (cost=0..0 rows=0)");
            return Estimate::default();
        }
        let checked: Vec<&'a Expression> =
            access.conditions.iter().filter(|condition| !is_looked_up(condition, access)).collect();
        let rows = if constant { 1.0 } else { access.rows_read.max(1.0) };
        let is_range = access.path.ranges.is_some() && points.is_empty();
        let cost = match (constant, is_range) {
            (true, _) => 0.0,
            (false, true) => START_COST + (ROW_COST + RANGE_ROW_COST) * rows,
            (false, false) => START_COST + ROW_COST * rows,
        };
        let read = Estimate { cost, rows };
        let found = |tree: &mut Self, depth: usize| {
            if constant {
                let what = format!("Constant row from {}  (cost=0..0 rows=1)", tree.lookup(access));
                tree.line(depth, &what);
            } else {
                let what = tree.access_text(access);
                tree.costed(depth, &what, read);
                for path in &access.path.union {
                    let part = TableAccess {
                        path: AccessPath { covering: false, ..path.clone() },
                        ..access.clone()
                    };
                    let what = tree.access_text(&part);
                    tree.line(depth + 1, &what);
                }
            }
            tree.subqueries_of(key_expressions(access), "condition", depth + 1);
            read
        };
        if checked.is_empty() {
            return found(self, depth);
        }
        let kept = Estimate { rows: access.rows_kept.min(rows), ..read };
        let conditions: Vec<Expression> = checked.iter().copied().cloned().collect();
        let shown = format!("Filter: {}", self.joined(&conditions));
        let below = |tree: &mut Self, depth: usize| {
            let estimate = found(tree, depth);
            tree.subqueries_of(checked, "condition", depth);
            estimate
        };
        self.above(depth, below, |_| (shown, kept))
    }

    pub(super) fn virtual_table(&mut self, access: &'a VirtualAccess, depth: usize) -> Estimate {
        let given: Vec<String> = access
            .equal
            .iter()
            .map(|(column, value)| {
                format!("{} = {}", access.definition.columns[*column].name, self.shown(value))
            })
            .collect();
        let given = if given.is_empty() { String::new() } else { format!(" ({})", given.join(", ")) };
        let what = format!("Table scan on {}{given}", access.definition.name.table);
        let scan = |tree: &mut Self, depth| {
            tree.line(depth, &what);
            Estimate::default()
        };
        self.filtered(&access.conditions, depth, scan, |below| below)
    }

    /// COUNT(*) of a table, of some of its rows, or of an index.
    pub(super) fn count(&mut self, access: &'a TableAccess, depth: usize) -> Estimate {
        self.line(depth, &format!("Count rows in {}", access.alias));
        if access.path.ranges.is_some() || !access.conditions.is_empty() {
            self.table(access, depth + 1);
        }
        Estimate { cost: 0.0, rows: 1.0 }
    }

    /// `t using PRIMARY (id = 5)`.
    fn lookup(&self, access: &TableAccess) -> String {
        let points: Vec<String> = key_points(access)
            .iter()
            .map(|(name, point)| format!("{name} = {}", self.shown(point)))
            .collect();
        format!("{} using {} ({})", access.alias, index_name(access), points.join(", "))
    }

    fn access_text(&self, access: &TableAccess) -> String {
        let (alias, path) = (&access.alias, &access.path);
        if path.skip_parts > 0 {
            let over = path.ranges.as_ref().map(|_| format!(" over {}", self.ranges_text(access)));
            let (index, over) = (index_name(access), over.unwrap_or_default());
            return format!("Covering index skip scan for deduplication on {alias} using {index}{over}");
        }
        let covering = if path.covering { "Covering index" } else { "Index" };
        let reverse = if path.backward { " (reverse)" } else { "" };
        if !path.union.is_empty() {
            return "Sort-deduplicate by row ID".to_owned();
        }
        let Some(ranges) = &path.ranges else {
            return match path.index {
                0 if !path.ordered => format!("Table scan on {alias}"),
                _ => format!("{covering} scan on {alias} using {}{reverse}", index_name(access)),
            };
        };
        if ranges.len() == 1 && key_points(access).len() == ranges[0].len() {
            let single = match (path.single_row, path.covering) {
                (true, true) => "Single-row covering index",
                (true, false) => "Single-row index",
                _ => covering,
            };
            return format!("{single} lookup on {}{reverse}", self.lookup(access));
        }
        let ranges = self.ranges_text(access);
        format!("{covering} range scan on {alias} using {} over {ranges}{reverse}", index_name(access))
    }

    fn ranges_text(&self, access: &TableAccess) -> String {
        let definition = access.table.definition();
        let Some(index) = access.table.indexes()[access.path.index].definition(&access.table) else {
            return String::new();
        };
        let mut alternatives = Vec::new();
        for conditions in access.path.ranges.iter().flatten() {
            let parts: Vec<Vec<String>> = conditions
                .iter()
                .zip(&index.parts)
                .map(|(condition, part)| self.part_text(condition, &definition.columns[part.column].name))
                .collect();
            match parts.as_slice() {
                [only] => alternatives.extend(only.iter().map(|text| format!("({text})"))),
                several => {
                    let all: Vec<String> = several.iter().map(|texts| texts.join(" OR ")).collect();
                    alternatives.push(format!("({})", all.join(" AND ")));
                }
            }
        }
        alternatives.join(" OR ")
    }

    fn part_text(&self, condition: &KeyCondition, name: &str) -> Vec<String> {
        match condition {
            KeyCondition::Points(points) => {
                points.iter().map(|(point, _)| format!("{name} = {}", self.shown(point))).collect()
            }
            KeyCondition::Range { low, high } => {
                let sign = |inside: bool| if inside { "<=" } else { "<" };
                let low = low.as_ref().map_or("NULL < ".to_owned(), |(bound, inside)| {
                    format!("{} {} ", self.shown(bound), sign(*inside))
                });
                let high = high.as_ref().map_or(String::new(), |(bound, inside)| {
                    format!(" {} {}", sign(*inside), self.shown(bound))
                });
                vec![format!("{low}{name}{high}")]
            }
            KeyCondition::Prefix(pattern, _) => vec![format!("{name} like {}", self.shown(pattern))],
        }
    }
}

fn index_name(access: &TableAccess) -> &str {
    let index = access.table.indexes()[access.path.index].definition(&access.table);
    index.map_or("PRIMARY", |index| index.name.as_str())
}

/// The parts of the index that are compared with one value each: name of the column, value.
fn key_points(access: &TableAccess) -> Vec<(String, &Expression)> {
    let Some([conditions]) = access.path.ranges.as_deref() else { return Vec::new() };
    let definition = access.table.definition();
    let Some(index) = access.table.indexes()[access.path.index].definition(&access.table) else {
        return Vec::new();
    };
    conditions
        .iter()
        .zip(&index.parts)
        .filter_map(|(condition, part)| match condition {
            KeyCondition::Points(points) if points.len() == 1 => {
                Some((definition.columns[part.column].name.clone(), &points[0].0))
            }
            _ => None,
        })
        .collect()
}

/// What the parts of the index are compared with.
fn key_expressions(access: &TableAccess) -> impl Iterator<Item = &Expression> {
    access.path.key_conditions().flat_map(|condition| match condition {
        KeyCondition::Points(points) => points.iter().map(|(point, _)| point).collect::<Vec<_>>(),
        KeyCondition::Range { low, high } => {
            [low, high].into_iter().flatten().map(|(bound, _)| bound).collect()
        }
        KeyCondition::Prefix(pattern, _) => vec![pattern],
    })
}

/// Whether a condition is one that the index look-up answers.
fn is_looked_up(condition: &Expression, access: &TableAccess) -> bool {
    let ExpressionKind::Compare(comparison) = &condition.kind else { return false };
    let points = key_points(access);
    let is_part = |column: &Expression, value: &Expression| {
        points.iter().any(|(name, point)| {
            matches!(&column.kind, ExpressionKind::Column(slot) if slot.name.rsplit('.').next().map(|column| column.trim_matches('`')) == Some(name))
                && point.to_string() == value.to_string()
        })
    };
    comparison.operator == ComparisonOperator::Equal
        && (is_part(&comparison.left, &comparison.right) || is_part(&comparison.right, &comparison.left))
}
