//! Foreign keys as a table's definition keeps them. Main type: [`ForeignKeyDefinition`].

use crate::table::{IndexDefinition, IndexKind, TableDefinition, TableName};

/// What stands between the table's name and a number in the name of a foreign key that was given none.
pub const GENERATED_FOREIGN_KEY: &str = "_ibfk_";

/// What happens to the rows that refer to one that goes, or whose key changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferenceAction {
    /// It may not: as RESTRICT, and not printed.
    #[default]
    NoAction,
    /// It may not.
    Restrict,
    /// They go too, or their keys follow.
    Cascade,
    /// They refer to nothing any more.
    SetNull,
    /// It may not: MySQL takes the words and does nothing else.
    SetDefault,
}

impl ReferenceAction {
    /// Whether rows that refer to the changed one are changed.
    pub fn changes_rows(self) -> bool {
        matches!(self, ReferenceAction::Cascade | ReferenceAction::SetNull)
    }

    /// As SQL has it.
    pub fn sql(self) -> &'static str {
        match self {
            ReferenceAction::NoAction => "NO ACTION",
            ReferenceAction::Restrict => "RESTRICT",
            ReferenceAction::Cascade => "CASCADE",
            ReferenceAction::SetNull => "SET NULL",
            ReferenceAction::SetDefault => "SET DEFAULT",
        }
    }
}

/// MATCH as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchOption {
    /// Nothing was said.
    #[default]
    None,
    /// FULL.
    Full,
    /// PARTIAL.
    Partial,
    /// SIMPLE, which all are.
    Simple,
}

/// FOREIGN KEY.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKeyDefinition {
    /// Name as created; unique among those of a schema, without regard to case.
    pub name: String,
    /// Positions of the columns that refer.
    pub columns: Vec<usize>,
    /// The table that they refer to. It need not exist.
    pub parent: TableName,
    /// Names of its columns, one for each of `columns`.
    pub parent_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ReferenceAction,
    /// ON UPDATE.
    pub on_update: ReferenceAction,
    /// MATCH, which is shown and does nothing.
    pub match_option: MatchOption,
    /// Its place among all that were ever made: a parent's row changes its children in this order.
    pub ordinal: u64,
}

impl ForeignKeyDefinition {
    /// What tells its name from others.
    pub fn folded_name(&self) -> String {
        self.name.to_lowercase()
    }

    /// Whether a change of the parent may write the columns of the referring row, which a deletion does not.
    pub fn may_assign(&self) -> bool {
        self.on_update.changes_rows() || self.on_delete == ReferenceAction::SetNull
    }

    /// The clause that SHOW CREATE TABLE and messages print, with names as `quote` has them; the parent's schema where it is another.
    /// `says_default`: ON .. SET DEFAULT is said, which messages leave out.
    pub fn clause(
        &self,
        table: &TableDefinition,
        quote: &dyn Fn(&str) -> String,
        says_default: bool,
    ) -> String {
        let list = |names: &mut dyn Iterator<Item = &str>| names.map(quote).collect::<Vec<_>>().join(", ");
        let columns = list(&mut self.column_names(table));
        let parent_columns = list(&mut self.parent_columns.iter().map(String::as_str));
        let mut parent = quote(&self.parent.table);
        if self.parent.schema != table.name.schema {
            parent = format!("{}.{parent}", quote(&self.parent.schema));
        }
        let name = quote(&self.name);
        let mut clause =
            format!("CONSTRAINT {name} FOREIGN KEY ({columns}) REFERENCES {parent} ({parent_columns})");
        for (event, action) in [("DELETE", self.on_delete), ("UPDATE", self.on_update)] {
            let is_said = match action {
                ReferenceAction::NoAction => false,
                ReferenceAction::SetDefault => says_default,
                _ => true,
            };
            if is_said {
                clause.push_str(&format!(" ON {event} {}", action.sql()));
            }
        }
        clause
    }

    /// The names of its columns in the table that has it.
    pub fn column_names<'t>(&'t self, table: &'t TableDefinition) -> impl Iterator<Item = &'t str> {
        self.columns.iter().map(|column| table.columns[*column].name.as_str())
    }
}

impl IndexDefinition {
    /// Whether it begins with those columns, whole and in that order.
    pub fn begins_with_columns(&self, columns: &[usize]) -> bool {
        self.parts.len() >= columns.len()
            && self
                .parts
                .iter()
                .zip(columns)
                .all(|(part, column)| part.column == *column && part.prefix_length.is_none())
    }
}

/// The indexes by which the rows of both sides find each other; all by position.
impl TableDefinition {
    /// Positions of the columns of those names; None if one is not there.
    pub fn column_positions(&self, names: &[String]) -> Option<Vec<usize>> {
        names.iter().map(|name| self.column_position(name)).collect()
    }

    /// The index by which rows that refer by those columns are found: any that begins with them.
    pub fn index_of_referring(&self, columns: &[usize]) -> Option<usize> {
        let has_all_rows =
            |index: &IndexDefinition| index.begins_with_columns(columns) && !self.is_multi_valued(index);
        self.indexes.iter().position(has_all_rows)
    }

    /// The unique index of those columns alone, in that order.
    pub fn unique_index_of(&self, columns: &[usize]) -> Option<usize> {
        let is_whole = |index: &IndexDefinition| {
            index.kind != IndexKind::Plain
                && index.parts.len() == columns.len()
                && index.begins_with_columns(columns)
        };
        self.indexes.iter().position(is_whole)
    }

    /// The index by which the rows are found that those columns say: the unique one, else any that begins with them.
    pub fn index_of_referred(&self, columns: &[usize]) -> Option<usize> {
        self.unique_index_of(columns).or_else(|| self.index_of_referring(columns))
    }
}
