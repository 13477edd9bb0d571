//! FROM as MySQL keeps it: two tables in each pair of parentheses, conditions for USING and NATURAL, LEFT JOIN for RIGHT.

use super::scope::ScopeTable;
use super::{Printer, print_name};
use crate::ast::*;

type Visible = Vec<(usize, usize)>;

impl Printer<'_> {
    /// FROM with its word; nothing without tables.
    pub(super) fn from(&mut self, references: &[TableReference]) -> Option<()> {
        if references.is_empty() {
            return Some(());
        }
        let (text, visible) = self.joined_by_comma(references)?;
        self.scope()?.visible = visible;
        self.push(" from ");
        self.push(&text);
        Some(())
    }

    fn joined_by_comma(&mut self, references: &[TableReference]) -> Option<(String, Visible)> {
        let mut all: Option<(String, Visible)> = None;
        for reference in references {
            let (text, own) = self.reference(reference)?;
            all = Some(match all {
                None => (text, own),
                Some((before, mut visible)) => {
                    visible.extend(own);
                    (format!("({before} join {text})"), visible)
                }
            });
        }
        all
    }

    fn reference(&mut self, reference: &TableReference) -> Option<(String, Visible)> {
        match reference {
            TableReference::Table(factor) => self.factor(factor),
            TableReference::Derived { query, lateral, alias, columns } => {
                let reads_before = self.scope()?.reads;
                // What is not lateral does not see its neighbours.
                let seen = self.state()?.scopes.len() - usize::from(!lateral);
                let mut text = self.apart(|printer| {
                    printer.push("(");
                    printer.nested(query, seen)?;
                    printer.push(") ");
                    print_name(&mut printer.text, alias);
                    if !columns.is_empty() {
                        printer.push(" ");
                        printer.names_in_parentheses(columns);
                    }
                    Some(())
                })?;
                if *lateral && self.scope()?.reads != reads_before {
                    text.insert_str(0, "lateral ");
                }
                let names = self.names_or(columns)?;
                let shown = names.iter().map(|_| true).collect::<Vec<_>>();
                let visible = self.add_table(None, alias, None, names, &shown)?;
                text.shrink_to_fit();
                Some((text, visible))
            }
            TableReference::JsonTable(table) => self.json_table(table),
            TableReference::Join(join) => self.join(join),
            TableReference::Nested(references) => self.joined_by_comma(references),
        }
    }

    fn json_table(&mut self, table: &JsonTable) -> Option<(String, Visible)> {
        let mut names = Vec::new();
        let text = self.apart(|printer| {
            printer.push("json_table(");
            printer.expression(&table.document)?;
            printer.push(", ");
            printer.path(&table.path);
            printer.json_columns(&table.columns, &mut names)?;
            printer.push(") ");
            print_name(&mut printer.text, &table.alias);
            Some(())
        })?;
        let shown = vec![true; names.len()];
        let visible = self.add_table(None, &table.alias, None, names, &shown)?;
        Some((text, visible))
    }

    /// Columns of JSON_TABLE; their names are added to the others.
    fn json_columns(&mut self, columns: &[JsonTableColumn], names: &mut Vec<Name>) -> Option<()> {
        self.push(" columns (");
        for (at, column) in columns.iter().enumerate() {
            self.push(if at > 0 { ", " } else { "" });
            match column {
                JsonTableColumn::Ordinality(name) => {
                    print_name(&mut self.text, name);
                    self.push(" for ordinality");
                    names.push(name.clone());
                }
                JsonTableColumn::Path(column) => {
                    print_name(&mut self.text, &column.name);
                    self.push(" ");
                    self.push(&super::types::declared(&column.data_type, self.charset)?);
                    self.push(if column.exists { " exists path " } else { " path " });
                    self.path(&column.path);
                    if !column.exists {
                        self.json_reaction(&column.on_empty, " on empty")?;
                        self.json_reaction(&column.on_error, " on error")?;
                    }
                    names.push(column.name.clone());
                }
                JsonTableColumn::Nested { path, columns } => {
                    self.push("nested path ");
                    self.path(path);
                    self.json_columns(columns, names)?;
                }
            }
        }
        self.push(")");
        Some(())
    }

    fn path(&mut self, path: &[u8]) {
        match std::str::from_utf8(path) {
            Ok(text) => self.quoted(text),
            Err(_) => self.string(path, None),
        }
    }

    fn factor(&mut self, factor: &TableFactor) -> Option<(String, Visible)> {
        if !factor.partitions.is_empty() {
            return None;
        }
        let name = &factor.name;
        let known = self.state()?.common_tables.iter().rev().find(|table| table.name == name.name);
        let common = known.filter(|_| name.schema.is_none()).map(|table| table.columns.clone());
        let called = factor.alias.as_ref().unwrap_or(&name.name);
        let mut text = String::new();
        let visible = if let Some(columns) = common {
            print_name(&mut text, &name.name);
            let shown = vec![true; columns.len()];
            self.add_table(None, called, None, columns, &shown)?
        } else {
            let style = self.state()?.style;
            let schema = name.schema.as_deref().or(style.schema)?;
            if style.hidden_schema != Some(schema) {
                print_name(&mut text, schema);
                text.push('.');
            }
            print_name(&mut text, &name.name);
            let (columns, shown): (Vec<Name>, Vec<bool>) =
                style.tables.columns(schema, &name.name).unwrap_or_default().into_iter().unzip();
            let shows = factor.alias.is_none() && style.hidden_schema != Some(schema);
            let prefix = shows.then(|| schema.to_owned());
            self.add_table(prefix, called, Some(schema.to_owned()), columns, &shown)?
        };
        if let Some(alias) = &factor.alias
            && *alias != name.name
        {
            text.push(' ');
            print_name(&mut text, alias);
        }
        factor.index_hints.iter().for_each(|hint| index_hint(&mut text, hint));
        Some((text, visible))
    }

    fn add_table(
        &mut self,
        schema: Option<Name>,
        name: &str,
        own_schema: Option<Name>,
        columns: Vec<Name>,
        shown: &[bool],
    ) -> Option<Visible> {
        let scope = self.scope()?;
        let number = scope.tables.len();
        let visible: Visible =
            shown.iter().enumerate().filter(|(_, shown)| **shown).map(|(at, _)| (number, at)).collect();
        scope.tables.push(ScopeTable {
            schema,
            name: name.to_owned(),
            own_schema,
            columns,
            shown: shown.to_vec(),
        });
        // What is joined later is added behind it.
        scope.visible.extend(&visible);
        Some(visible)
    }

    fn join(&mut self, join: &Join) -> Option<(String, Visible)> {
        let flipped = join.kind == JoinKind::Right;
        let [(left, left_visible), (right, right_visible)] = match flipped && join.left.sees_tables_before() {
            true => {
                // A RIGHT JOIN is a LEFT JOIN the other way round.
                let right = self.reference(&join.right)?;
                [self.reference(&join.left)?, right]
            }
            false => [self.reference(&join.left)?, self.reference(&join.right)?],
        };
        let common = match (&join.condition, join.natural) {
            (_, true) => Some(self.common_names(&left_visible, &right_visible)?),
            (JoinCondition::Using(names), false) => Some(names.clone()),
            _ => None,
        };
        let (condition, visible) = match (&join.condition, common) {
            (_, Some(names)) => self.using(&names, &left_visible, &right_visible, flipped)?,
            (JoinCondition::On(condition), None) => {
                let text = self.apart(|printer| printer.condition(condition))?;
                (text, [left_visible, right_visible].concat())
            }
            _ => (String::new(), [left_visible, right_visible].concat()),
        };
        let (left, right) = if flipped { (right, left) } else { (left, right) };
        let word = match join.kind {
            JoinKind::Inner => "join",
            JoinKind::Left | JoinKind::Right => "left join",
            JoinKind::Straight => "straight_join",
        };
        let on = if condition.is_empty() { String::new() } else { format!(" on({condition})") };
        Some((format!("({left} {word} {right}{on})"), visible))
    }

    fn common_names(&mut self, left: &Visible, right: &Visible) -> Option<Vec<Name>> {
        let scope = self.scope()?;
        let is_right = |name: &&str| right.iter().any(|at| scope.column_name(*at).eq_ignore_ascii_case(name));
        Some(left.iter().map(|at| scope.column_name(*at)).filter(is_right).map(str::to_owned).collect())
    }

    /// The condition that USING stands for, and what is seen behind it: as the binder has it.
    fn using(
        &mut self,
        names: &[Name],
        left: &Visible,
        right: &Visible,
        flipped: bool,
    ) -> Option<(String, Visible)> {
        let level = self.state()?.scopes.len() - 1;
        let (mut terms, mut shown, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
        for name in names {
            let scope = self.scope()?;
            let is_it = |at: &&(usize, usize)| scope.column_name(**at).eq_ignore_ascii_case(name);
            let (left_at, right_at) = (*left.iter().find(is_it)?, *right.iter().find(is_it)?);
            let (first, second) = if flipped { (right_at, left_at) } else { (left_at, right_at) };
            terms.push(self.apart(|printer| {
                printer.push("(");
                printer.column_at(level, first)?;
                printer.push(" = ");
                printer.column_at(level, second)?;
                printer.push(")");
                Some(())
            })?);
            shown.push(if flipped { right_at } else { left_at });
            hidden.extend([left_at, right_at]);
        }
        let condition = match terms.as_slice() {
            [] => String::new(),
            [only] => only.clone(),
            several => format!("({})", several.join(" and ")),
        };
        let (first, second) = if flipped { (right, left) } else { (left, right) };
        let common = first.iter().filter(|at| shown.contains(at));
        let rest = first.iter().chain(second).filter(|at| !hidden.contains(at));
        Some((condition, common.chain(rest).copied().collect()))
    }

    fn column_at(&mut self, level: usize, at: (usize, usize)) -> Option<()> {
        let name = self.query.as_ref()?.scopes[level].column_name(at).to_owned();
        self.column_in(level, at.0, &name)
    }

    /// A column of a table of the block at that level.
    pub(super) fn column_in(&mut self, level: usize, table: usize, column: &str) -> Option<()> {
        let scope = &mut self.query.as_mut()?.scopes[level];
        scope.reads += 1;
        let table = &scope.tables[table];
        let (schema, name) = (table.schema.clone(), table.name.clone());
        if let Some(schema) = schema {
            print_name(&mut self.text, &schema);
            self.push(".");
        }
        print_name(&mut self.text, &name);
        self.push(".");
        print_name(&mut self.text, column);
        Some(())
    }

    /// A name of a query: a column with its table, or the name of an item.
    pub(super) fn column_of_query(&mut self, reference: &ColumnReference) -> Option<()> {
        use super::scope::Clause;
        let scopes = &self.query.as_ref()?.scopes;
        for level in (0..scopes.len()).rev() {
            let scope = &scopes[level];
            if reference.table.is_some() {
                if let Some(table) = scope.table_of(reference) {
                    return self.column_in(level, table, &reference.column);
                }
                continue;
            }
            let item = scope.item(&reference.column);
            if let Some((at, true)) = item
                && scope.clause == Clause::Having
            {
                let name = scope.items[at].0.clone();
                print_name(&mut self.text, &name);
                return Some(());
            }
            if let Some((table, at)) = scope.table_with(&reference.column) {
                let name = scope.tables[table].columns[at].clone();
                return self.column_in(level, table, &name);
            }
            if let Some((at, _)) = item
                && scope.clause != Clause::Plain
            {
                let name = scope.items[at].0.clone();
                print_name(&mut self.text, &name);
                return Some(());
            }
        }
        None
    }
}

fn index_hint(text: &mut String, hint: &IndexHint) {
    text.push_str(match hint.kind {
        IndexHintKind::Use => " USE INDEX ",
        IndexHintKind::Force => " FORCE INDEX ",
        IndexHintKind::Ignore => " IGNORE INDEX ",
    });
    text.push_str(match hint.scope {
        None => "",
        Some(IndexHintScope::Join) => "FOR JOIN ",
        Some(IndexHintScope::OrderBy) => "FOR ORDER BY ",
        Some(IndexHintScope::GroupBy) => "FOR GROUP BY ",
    });
    text.push('(');
    for (at, index) in hint.indexes.iter().enumerate() {
        text.push_str(if at > 0 { "," } else { "" });
        if index.eq_ignore_ascii_case("primary") {
            text.push_str("PRIMARY");
        } else {
            print_name(text, index);
        }
    }
    text.push(')');
}
