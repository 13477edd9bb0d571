//! The lines of EXPLAIN's table of what was chosen, in MySQL's words: made for statements that are explained only. Main
//! functions: [`Builder::add_line_of_step`], [`Builder::line_of_table`].

use crate::Source;
use crate::build::Builder;
use expression::{Expression, ExpressionKind};
use plan::physical::{ExplainRow, KeyCondition, Node, TableAccess};
use plan::range::key_length;

impl Builder<'_> {
    /// Adds the line of a table that is joined to those before, by a hash join (`hash`) or row by row, under conditions of its own.
    pub(super) fn add_line_of_step(
        &self,
        lines: &mut Vec<ExplainRow>,
        number: usize,
        reader: &Node,
        (dependent, hash): (bool, bool),
        conditions: &[Expression],
    ) {
        if !self.explains {
            return;
        }
        let mut row = self.line_of_table(number, reader, dependent);
        let is_function = matches!(self.block.tables[number].source, Source::JsonTable(_));
        let finds_one = matches!(reader, Node::Table(access) if access.path.single_row);
        if !conditions.is_empty() && !finds_one {
            let place = if is_function { row.extra.len() } else { 0 };
            row.extra.insert(place, "Using where".to_owned());
        }
        if hash {
            row.extra.push("Using join buffer (hash join)".to_owned());
        }
        self.note_what_is_made_anew(number, lines);
        lines.push(row);
    }

    /// Notes at the last table that a LATERAL query reads that its rows are made anew for each row there.
    fn note_what_is_made_anew(&self, number: usize, lines: &mut [ExplainRow]) {
        let Source::Derived(..) = self.block.tables[number].source else { return };
        let read = self.block.tables_read_by(1 << number);
        let is_read = |line: &ExplainRow| {
            let names = (0..self.block.tables.len()).filter(|table| read >> table & 1 == 1);
            names.into_iter().any(|table| line.table.as_ref() == Some(&self.shown_name(table)))
        };
        if let Some(line) = lines.iter_mut().rev().find(|line| is_read(line)) {
            line.extra.push(format!("Rematerialize ({})", self.shown_name(number)));
        }
    }

    fn shown_name(&self, number: usize) -> String {
        let bound = &self.block.tables[number];
        match (&bound.source, bound.derived_number) {
            (Source::Derived(..), Some(number)) => format!("<derived{number}>"),
            _ => bound.alias.clone(),
        }
    }

    /// The line of a table of FROM, by its reader; `dependent`: whether its ranges depend on tables before.
    pub(super) fn line_of_table(&self, number: usize, reader: &Node, dependent: bool) -> ExplainRow {
        if let Node::Table(access) = reader {
            return self.line_of_access(access, dependent);
        }
        let (bound, name) = (&self.block.tables[number], self.shown_name(number));
        let mut row = ExplainRow {
            table: Some(name),
            access: Some("ALL"),
            filtered: Some(100.0),
            ..ExplainRow::default()
        };
        if let Source::JsonTable(_) = bound.source {
            row.rows = Some(plan::json_table::ROWS_GUESSED as u64);
            row.extra.extend(["Table function: json_table", "Using temporary"].map(str::to_owned));
        }
        row
    }

    fn line_of_access(&self, access: &TableAccess, dependent: bool) -> ExplainRow {
        let table = &access.table;
        let definition = table.indexes()[access.path.index].definition(table);
        let mut row =
            ExplainRow { table: Some(access.alias.clone()), filtered: Some(100.0), ..ExplainRow::default() };
        row.rows = Some(access.rows_read.round().max(1.0) as u64);
        if access.path.covering {
            row.extra.push("Using index".to_owned());
        }
        if !access.path.union.is_empty() {
            describe_union(access, &mut row);
            return row;
        }
        let Some(ranges) = &access.path.ranges else {
            let by_index = access.path.covering || access.path.ordered;
            row.access = Some(if by_index { "index" } else { "ALL" });
            if by_index && let Some(definition) = definition {
                row.key = Some(definition.name.clone());
                let all = vec![KeyCondition::Range { low: None, high: None }; definition.parts.len()];
                row.key_lengths = vec![key_length(table, definition, &all)];
            }
            return row;
        };
        let Some(definition) = definition else { return row };
        let points = ranges.len() == 1
            && ranges[0]
                .iter()
                .all(|condition| matches!(condition, KeyCondition::Points(points) if points.len() == 1));
        row.access = Some(match (points, access.path.single_row, dependent) {
            (true, true, false) => "const",
            (true, true, true) => "eq_ref",
            (true, false, _) => "ref",
            (false, ..) => "range",
        });
        row.possible_keys = vec![definition.name.clone()];
        row.key = Some(definition.name.clone());
        row.key_lengths
            .extend(ranges.iter().map(|conditions| key_length(table, definition, conditions)).max());
        if points {
            let names: Vec<String> = ranges[0].iter().map(|condition| self.reference(condition)).collect();
            row.reference = Some(names.join(","));
        }
        row
    }

    /// What a key part is compared with, as EXPLAIN names it.
    fn reference(&self, condition: &KeyCondition) -> String {
        match condition {
            KeyCondition::Points(points) => match points.first().map(|(point, _)| &point.kind) {
                Some(ExpressionKind::Column(column)) => column.name.replace('`', ""),
                Some(ExpressionKind::Literal(_) | ExpressionKind::Parameter(_)) => "const".to_owned(),
                _ => "func".to_owned(),
            },
            _ => "const".to_owned(),
        }
    }
}

/// The keys of a union, in MySQL's words.
fn describe_union(access: &TableAccess, row: &mut ExplainRow) {
    let table = &access.table;
    let parts = access
        .path
        .union
        .iter()
        .filter_map(|path| Some((path, table.indexes()[path.index].definition(table)?)));
    let mut names = Vec::new();
    for (path, definition) in parts {
        names.push(definition.name.as_str());
        let ranges = path.ranges.iter().flatten();
        row.key_lengths.extend(ranges.map(|one| key_length(table, definition, one)).max());
    }
    row.possible_keys = names.iter().map(|name| (*name).to_owned()).collect();
    // A multi-valued index alone, which MySQL reads by itself.
    if let [path] = access.path.union.as_slice() {
        let is_one = path.ranges.as_ref().is_some_and(|ranges| ranges.len() == 1);
        row.access = Some(if is_one { "ref" } else { "range" });
        row.key = names.pop().map(str::to_owned);
        row.reference = is_one.then(|| "const".to_owned());
        return;
    }
    row.access = Some("index_merge");
    row.extra.push(format!("Using sort_union({})", names.join(",")));
    row.key = Some(names.join(","));
}
