//! How rows of a table are found, and which conditions are checked on them.

use super::{Describer, RANGE_ROW_COST, ROW_COST, START_COST, zero_rows};
use crate::json::Json;
use crate::step::{Estimate, Step};
use expression::operators::ComparisonOperator;
use expression::{Expression, ExpressionKind};
use plan::physical::{AccessPath, KeyCondition, TableAccess, VirtualAccess, VirtualKey};
use std::borrow::Cow;

impl<'a> Describer<'a> {
    pub(super) fn table(&mut self, access: &'a TableAccess) -> Step {
        let points = key_points(access);
        let is_constant = |point: &Expression| point.is_constant() && !point.reads_rows();
        let constant = access.path.single_row && points.iter().all(|(_, point)| is_constant(point));
        let kept = self.actual(|actuals| actuals.of_access(access));
        if constant && self.engine.statistics(&access.table).rows == 0 {
            return zero_rows("no matching row in const table").did(kept);
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
        let read = Estimate::new(cost, rows);
        let found = self.found(access, constant, read);
        if checked.is_empty() {
            return found.did(kept);
        }
        let found = found.did(self.actual(|actuals| actuals.of_rows_read(access)));
        let conditions: Vec<Expression> = checked.iter().copied().cloned().collect();
        let asked = self.subqueries_of(checked, "condition");
        let passed = Estimate { rows: access.rows_kept.min(rows), ..read };
        self.filter(&conditions, passed).did(kept).reads([found]).reads(asked)
    }

    /// The rows that are read, whether or not they meet the conditions.
    fn found(&mut self, access: &'a TableAccess, constant: bool, read: Estimate) -> Step {
        let step = if constant {
            let what = format!("Constant row from {}", self.lookup(access));
            Step { estimate: read, ..Step::costed(what, Estimate::at_hand(1.0)) }
        } else {
            Step::costed(self.access_text(access), read)
        };
        let parts: Vec<Step> = access
            .path
            .union
            .iter()
            .map(|path| {
                let path = AccessPath { covering: false, ..path.clone() };
                let part = TableAccess { path, ..access.clone() };
                self.with_access_details(Step::new(self.access_text(&part)), &part)
            })
            .collect();
        let asked = self.subqueries_of(key_expressions(access), "condition");
        self.with_access_details(step, access).reads(parts).reads(asked)
    }

    /// What JSON says of an access.
    fn with_access_details(&self, step: Step, access: &TableAccess) -> Step {
        let definition = access.table.definition();
        let name = &definition.name;
        let columns: Vec<_> =
            access.columns.iter().map(|(column, _)| definition.columns[*column].shown_name()).collect();
        let mut step = step
            .detail("table_name", name.table.as_str())
            .detail("schema_name", name.schema.as_str())
            .detail("used_columns", columns);
        if access.alias != name.table {
            step = step.detail("alias", access.alias.as_str());
        }
        let path = &access.path;
        if !path.union.is_empty() {
            return step.kind("rowid_union");
        }
        if path.index == 0 && path.ranges.is_none() && !path.ordered {
            return step.kind("table");
        }
        let points = key_points(access);
        let is_lookup =
            path.ranges.as_ref().is_some_and(|ranges| ranges.len() == 1 && points.len() == ranges[0].len());
        step = step
            .kind("index")
            .detail("index_name", index_name(access))
            .detail("covering", path.covering)
            .detail(
                "index_access_type",
                match (&path.ranges, is_lookup, path.skip_parts > 0) {
                    (_, _, true) => "index_skip_scan",
                    (None, ..) => "index_scan",
                    (Some(_), true, _) => "index_lookup",
                    (Some(_), false, _) => "index_range_scan",
                },
            );
        if path.backward {
            step = step.detail("reverse", true);
        }
        if is_lookup {
            let texts: Vec<String> =
                points.iter().map(|(name, point)| format!("{name} = {}", self.shown(point))).collect();
            let references: Vec<Json> = points.iter().map(|(_, point)| reference(point)).collect();
            step = step
                .detail("lookup_condition", texts.join(", "))
                .detail("lookup_references", Json::List(references));
        } else if path.ranges.is_some() {
            step = step.detail("ranges", self.ranges(access));
        }
        match path.ranges.as_ref().map(|_| key_columns(access)) {
            Some(columns) => step.detail("key_columns", columns),
            None => step,
        }
    }

    pub(super) fn virtual_table(&mut self, access: &'a VirtualAccess) -> Step {
        let keys: Vec<String> = access.keys.iter().map(|key| self.virtual_key(access, key)).collect();
        let what = match keys.as_slice() {
            [] => format!("Table scan on {}", access.alias),
            keys => format!("Lookup on {} ({})", access.alias, keys.join(", ")),
        };
        let name = &access.definition.name;
        let mut read = Step::new(what)
            .kind("table")
            .detail("table_name", name.table.as_str())
            .detail("schema_name", name.schema.as_str());
        if access.alias != name.table {
            read = read.detail("alias", access.alias.as_str());
        }
        if !keys.is_empty() {
            read = read.detail("lookup_condition", keys.join(", "));
        }
        let kept = self.actual(|actuals| actuals.of_virtual_table(access));
        if access.conditions.is_empty() {
            return read.did(kept);
        }
        read.actual = self.actual(|actuals| actuals.of_virtual_rows(access));
        self.filtered(&access.conditions, read).did(kept)
    }

    fn virtual_key(&self, access: &VirtualAccess, key: &VirtualKey) -> String {
        let name = &access.definition.columns[key.column].name;
        let points: Vec<String> = key.points.iter().map(|point| self.shown(point)).collect();
        match points.as_slice() {
            [point] => format!("{name} = {point}"),
            points => format!("{name} IN ({})", points.join(", ")),
        }
    }

    /// COUNT(*) of a table.
    pub(super) fn count(&mut self, access: &'a TableAccess) -> Step {
        let name = &access.table.definition().name;
        Step::new(format!("Count rows in {}", access.alias))
            .kind("count_rows")
            .detail("table_name", name.table.as_str())
            .detail("schema_name", name.schema.as_str())
            .yields(Estimate::new(0.0, 1.0))
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
        self.ranges(access).join(" OR ")
    }

    fn ranges(&self, access: &TableAccess) -> Vec<String> {
        let definition = access.table.definition();
        let Some(index) = access.table.indexes()[access.path.index].definition(&access.table) else {
            return Vec::new();
        };
        let mut alternatives = Vec::new();
        for conditions in access.path.ranges.iter().flatten() {
            let parts: Vec<Vec<String>> = conditions
                .iter()
                .zip(&index.parts)
                .map(|(condition, part)| {
                    self.part_text(condition, &definition.columns[part.column].shown_name())
                })
                .collect();
            match parts.as_slice() {
                [only] => alternatives.extend(only.iter().map(|text| format!("({text})"))),
                several => {
                    let all: Vec<String> = several.iter().map(|texts| texts.join(" OR ")).collect();
                    alternatives.push(format!("({})", all.join(" AND ")));
                }
            }
        }
        alternatives
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
                Some((definition.columns[part.column].shown_name().into_owned(), &points[0].0))
            }
            _ => None,
        })
        .collect()
}

/// The columns that ranges of the index look at.
fn key_columns(access: &TableAccess) -> Vec<Cow<'_, str>> {
    let definition = access.table.definition();
    let index = access.table.indexes()[access.path.index].definition(&access.table);
    let parts = access.path.ranges.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let columns = index.into_iter().flat_map(|index| index.parts.iter().take(parts));
    columns.map(|part| definition.columns[part.column].shown_name()).collect()
}

/// What a part of an index is looked up by: `const`, or a column.
fn reference(point: &Expression) -> Json {
    match &point.kind {
        ExpressionKind::Column(slot) => slot.name.replace('`', "").into(),
        _ if point.is_constant() => "const".into(),
        _ => "func".into(),
    }
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
