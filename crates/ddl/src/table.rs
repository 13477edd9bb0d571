//! CREATE TABLE, DROP TABLE, RENAME TABLE and TRUNCATE TABLE: what is asked before their names are locked, and what is done then.

use super::alter_checks::check_names_of;
use super::check::{add_checks, of_elements};
use super::column::{ColumnDraft, declared_row_bytes};
use super::computed_column::check_computed;
use super::foreign_key::{add_foreign_keys, forget_keys_unkept, keys_of_elements, refuse_keys};
use super::functional_key::{NAMELESS, add_key_columns, check_kind, has_expression, put_hidden_last};
use super::index::{build_index, index_name, sort_indexes, warn_of_duplicate};
use super::options::check_engine;
use super::referred_table::{judge_parents, judge_waiting, locks_on_parents, require_references};
use super::tables_that_refer::{
    judge_renamed, locks_on_waiting, locks_to_rename, need_no_referring, need_unreferenced,
};
use super::temporary::{TABLE_BEING_FILLED, check_create_temporary};
use super::{limits, table_error};
use crate::definer::Definer;
use accounts::Privileges;
use catalog::{LockKey, LockMode};
use dictionary::{
    ColumnDefault, ColumnDefinition, GENERATED_CHECK, IndexDefinition, IndexKind, IndexPart, TableDefinition,
    TableName, TableOptions, same_name,
};
use engine::{EngineError, KillFlag, Table};
use errors::{SqlError, SqlResult, sql_error};
use instance::{lock_limit, lock_owner, names_used_by_query};
use parser::ast::*;
use plan::physical::OriginPath;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use stdx::ids::{IndexId, TableId};
use sysviews::{schema_exists, table_exists};

/// What has come of a CREATE TABLE whose names are locked.
pub enum Creation {
    /// The table is there.
    Done,
    /// It is to be made, by [`Definer::make_table`].
    ToMake(Box<TableDefinition>),
    /// It is to be made of a query's columns and filled with its rows.
    AsSelect(Selected),
}

/// What a CREATE TABLE .. SELECT declares beside its query.
pub struct Selected {
    definition: TableDefinition,
    drafts: Vec<ColumnDraft>,
    temporary: bool,
}

impl Definer<'_> {
    /// What is asked of a CREATE TABLE before it is run: the table's full name.
    pub fn check_create(&mut self, create: &CreateTable) -> SqlResult<TableName> {
        if create.temporary {
            return check_create_temporary(self, create);
        }
        if create.partitioning.is_some() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "partitioning"));
        }
        let name = self.table_name(&create.name)?;
        check_table_name(&name.table)?;
        self.require_create(create, &name)?;
        require_references(self, &declared_parents(create, &name))?;
        self.locks.explicit.check(&LockKey::table(&name.schema, &name.table), LockMode::Shared)?;
        Ok(name)
    }

    /// What a CREATE TABLE locks behind the tables that the new one is made of: nobody drops the schema, and others may use a table
    /// that is there already.
    pub fn locks_to_create(
        &self,
        create: &CreateTable,
        name: &TableName,
    ) -> SqlResult<Vec<(LockKey, LockMode)>> {
        let mut wanted = Vec::new();
        if let Some(like) = &create.like {
            let other = self.table_name(like)?;
            wanted.push((LockKey::table(&other.schema, &other.table), LockMode::Read));
        }
        let key = LockKey::table(&name.schema, &name.table);
        wanted.push((LockKey::schema(&name.schema), LockMode::Intention));
        wanted.push((key.clone(), LockMode::Shared));
        Ok(wanted)
    }

    /// Looks whether the table is there under a lock that lets others use it; only then is its name locked exclusively,
    /// after which it may be there all the same.
    pub fn create_locked(&mut self, name: TableName, create: &CreateTable) -> SqlResult<Creation> {
        if !schema_exists(self.instance, &name.schema) {
            return Err(sql_error!(ER_BAD_DB_ERROR, name.schema));
        }
        self.need_sources(&name, create)?;
        if self.locks.explicit.in_force() && !table_exists(self.instance, &name.schema, &name.table) {
            return Err(sql_error!(ER_TABLE_NOT_LOCKED, name.table));
        }
        if self.is_there_already(&name, create)? {
            return Ok(Creation::Done);
        }
        let key = LockKey::table(&name.schema, &name.table);
        self.unlock_for_statement(&key);
        self.lock_for_statement(vec![(key, LockMode::Exclusive)])?;
        if self.is_there_already(&name, create)? {
            return Ok(Creation::Done);
        }
        self.lock_relatives(&name, create)?;
        if let Some(like) = &create.like {
            return self.create_like(name, like).map(|()| Creation::Done);
        }
        self.declared(&name, create)
    }

    /// The definition that a CREATE TABLE declares, or what it declares beside a query.
    pub(super) fn declared(&mut self, name: &TableName, create: &CreateTable) -> SqlResult<Creation> {
        let (mut definition, drafts) = self.table_definition(name, create)?;
        if create.query.is_some() {
            return Ok(Creation::AsSelect(Selected { definition, drafts, temporary: create.temporary }));
        }
        self.add_key_elements(&mut definition, &drafts, &create.elements)?;
        if definition.columns.is_empty() {
            return Err(sql_error!(ER_TABLE_MUST_HAVE_COLUMNS));
        }
        self.add_expressions(&mut definition, &create.elements)?;
        self.add_references(&mut definition, create)?;
        check_definition(&definition)?;
        Ok(Creation::ToMake(Box::new(definition)))
    }

    /// Tables that the new one refers to are used in another way from now on; those that wait for it stay what they are.
    fn lock_relatives(&mut self, name: &TableName, create: &CreateTable) -> SqlResult<()> {
        let mut wanted = locks_on_parents(name, &declared_parents(create, name), LockMode::Exclusive);
        for (key, mode) in locks_on_waiting(self.instance.engine().dictionary(), name) {
            if wanted.iter().all(|(known, _)| *known != key) {
                wanted.push((key, mode));
            }
        }
        self.lock_for_statement(wanted)
    }

    /// Foreign keys: behind all columns, indexes and CHECK constraints.
    fn add_references(&mut self, definition: &mut TableDefinition, create: &CreateTable) -> SqlResult<()> {
        let keys = keys_of_elements(&create.elements);
        if create.temporary {
            // Neither has one, nor refers anything to it.
            return refuse_keys(&keys, definition);
        }
        add_foreign_keys(self, definition, &keys, 0, None)?;
        sort_indexes(definition);
        forget_keys_unkept(definition);
        judge_parents(self, definition, &definition.foreign_keys)?;
        judge_waiting(self, definition)
    }

    /// CREATE, and what the rows or the definition of another table take.
    fn require_create(&mut self, create: &CreateTable, name: &TableName) -> SqlResult<()> {
        let filled = if create.query.is_some() { Privileges::INSERT } else { Privileges::NONE };
        self.user.require_table(self.instance, Privileges::CREATE.with(filled), name)?;
        if let Some(like) = &create.like {
            let like = self.table_name(like)?;
            if !self.is_temporary(&like) {
                self.user.require_table_or_columns(self.instance, Privileges::SELECT, &like)?;
            }
        }
        match &create.query {
            Some(query) => {
                let own = (self.schema, self.temporary);
                self.user.require_statement(self.instance, &Statement::Query(query.clone()), own)
            }
            None => Ok(()),
        }
    }

    /// What the new table is made of is looked up before it is: error 1066 for the name itself, 1146 and 1347 for what is no table, 1286
    /// for an engine that is not there.
    pub(super) fn need_sources(&mut self, name: &TableName, create: &CreateTable) -> SqlResult<()> {
        self.need_engines(&create.options)?;
        if let Some(like) = &create.like {
            let like = self.table_name(like)?;
            return match self.table(&like) {
                _ if like == *name => Err(sql_error!(ER_NONUNIQ_TABLE, name.table)),
                Some(_) => Ok(()),
                None => Err(self.no_template(&like)),
            };
        }
        let Some(query) = &create.query else { return Ok(()) };
        for used in names_used_by_query(query).tables {
            let used = self.table_name(&used.name)?;
            if !self.is_temporary(&used) && !table_exists(self.instance, &used.schema, &used.table) {
                let is_schema = schema_exists(self.instance, &used.schema);
                return Err(plan::unknown_table(&used.schema, &used.table, is_schema));
            }
        }
        Ok(())
    }

    /// Of CREATE TABLE .. LIKE. Errors: 1347 for a view, and as a query has for what is not there.
    fn no_template(&self, like: &TableName) -> SqlError {
        let is_view = self.instance.engine().dictionary().views.get(&like.schema, &like.table).is_some();
        match is_view {
            true => crate::no_base_table(self.instance, like),
            false => {
                plan::unknown_table(&like.schema, &like.table, schema_exists(self.instance, &like.schema))
            }
        }
    }

    /// Error 1050, or a note with IF NOT EXISTS.
    fn is_there_already(&mut self, name: &TableName, create: &CreateTable) -> SqlResult<bool> {
        if !table_exists(self.instance, &name.schema, &name.table) {
            return Ok(false);
        }
        let error = sql_error!(ER_TABLE_EXISTS_ERROR, name.table);
        if !create.if_not_exists {
            return Err(error);
        }
        self.diagnostics.note(error);
        Ok(true)
    }

    /// What is said of columns as a whole: defaults may name columns that follow, and CHECK constraints all.
    fn add_expressions(
        &mut self,
        definition: &mut TableDefinition,
        elements: &[TableElement],
    ) -> SqlResult<()> {
        check_computed(definition)?;
        add_checks(self, definition, &of_elements(elements), None)?;
        definition.sort_checks();
        Ok(())
    }

    /// The caller has locked the name.
    pub fn make_table(&mut self, definition: TableDefinition) -> SqlResult<()> {
        let name = definition.name.clone();
        let made = self
            .number_keys(definition)
            .and_then(|definition| self.instance.engine().create_table(definition, &self.shared.kill));
        made.map(|_| ()).map_err(|error| table_error(error, &name))
    }

    fn number_keys(&self, mut definition: TableDefinition) -> Result<TableDefinition, EngineError> {
        self.instance.engine().number_foreign_keys(&mut definition, &self.shared.kill)?;
        Ok(definition)
    }

    /// LIKE: columns, indexes and options of another table; its counter starts at 1.
    fn create_like(&mut self, name: TableName, like: &ObjectName) -> SqlResult<()> {
        let definition = self.definition_like(name, like)?;
        check_names_of(self.instance.engine().dictionary(), &definition, &definition)?;
        judge_waiting(self, &definition)?;
        for column in &definition.columns {
            self.types().warn_copied_type(&column.column_type);
        }
        self.make_table(definition)
    }

    /// The definition of a table that is like another.
    pub(super) fn definition_like(
        &mut self,
        name: TableName,
        like: &ObjectName,
    ) -> SqlResult<TableDefinition> {
        let other = self.table_name(like)?;
        let table = self.table(&other).ok_or_else(|| crate::no_base_table(self.instance, &other))?;
        let mut definition = table.definition().clone();
        definition.id = TableId(0);
        definition.name = name;
        definition.options.auto_increment = None;
        definition.foreign_keys.clear();
        definition.indexes.iter_mut().for_each(|index| index.id = IndexId(0));
        for (at, check) in definition.checks.iter_mut().enumerate() {
            check.name = format!("{}{GENERATED_CHECK}{}", definition.name.table, at + 1);
        }
        definition.sort_checks();
        Ok(definition)
    }

    /// The definition that the elements and options say, without keys and checks of the whole, and its columns.
    pub(super) fn table_definition(
        &mut self,
        name: &TableName,
        create: &CreateTable,
    ) -> SqlResult<(TableDefinition, Vec<ColumnDraft>)> {
        let collation = match self.instance.engine().dictionary().schema(&name.schema) {
            Some(schema) => schema.collation,
            None => return Err(sql_error!(ER_BAD_DB_ERROR, name.schema)),
        };
        let mut definition = TableDefinition {
            id: TableId(0),
            name: name.clone(),
            columns: Vec::new(),
            indexes: Vec::new(),
            collation,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            options: TableOptions::default(),
        };
        definition.options.engine = self.default_engine(create.temporary);
        self.apply_table_options(&mut definition, &create.options)?;
        let mut drafts = Vec::new();
        for element in &create.elements {
            self.check_killed()?;
            if let TableElement::Column(column) = element {
                // The rest is not looked at: a text has room for millions.
                if drafts.len() == limits::COLUMNS_MAX {
                    return Err(sql_error!(ER_TOO_MANY_FIELDS));
                }
                drafts.push(self.column_draft(column, definition.collation)?);
            }
        }
        definition.columns = drafts.iter().map(|draft| draft.definition.clone()).collect();
        check_column_names(&definition.columns)?;
        Ok((definition, drafts))
    }

    /// Keys of column attributes and of key clauses.
    fn add_key_elements(
        &mut self,
        definition: &mut TableDefinition,
        drafts: &[ColumnDraft],
        elements: &[TableElement],
    ) -> SqlResult<()> {
        let mut keys: Vec<IndexSpecification> = Vec::new();
        for draft in drafts {
            let key = |kind| IndexSpecification {
                kind,
                name: None,
                constraint: None,
                parts: vec![KeyPart {
                    target: KeyPartTarget::Column {
                        name: draft.definition.name.clone(),
                        prefix_length: None,
                    },
                    descending: None,
                }],
                options: Vec::new(),
            };
            keys.extend(draft.primary.then(|| key(IndexType::Primary)));
            keys.extend(draft.unique.then(|| key(IndexType::Unique)));
        }
        for element in elements {
            match element {
                TableElement::Index(index) => keys.push(index.clone()),
                TableElement::Check(_) | TableElement::Column(_) | TableElement::ForeignKey(_) => {}
            }
        }
        for key in &keys {
            self.add_index(definition, key, drafts)?;
        }
        put_hidden_last(definition);
        sort_indexes(definition);
        Ok(())
    }

    /// Adds an index to a definition. A primary key makes its columns NOT NULL; error 1171 if they were declared NULL.
    pub(super) fn add_index(
        &mut self,
        definition: &mut TableDefinition,
        key: &IndexSpecification,
        drafts: &[ColumnDraft],
    ) -> SqlResult<()> {
        self.check_killed()?;
        // So many that dropping all others would not help. Each new one is compared with those before.
        if definition.indexes.len() > 2 * (limits::INDEXES_MAX + 1) {
            return Err(sql_error!(ER_TOO_MANY_KEYS, limits::INDEXES_MAX));
        }
        let is_strict = self.sql_mode().is_strict();
        let named;
        let key = match has_expression(key) {
            true => {
                named = self.add_functional_parts(definition, key)?;
                &named
            }
            false => key,
        };
        let (columns, taken) = (&definition.columns, &definition.indexes);
        let index = build_index(key, columns, taken, self.diagnostics, is_strict)?;
        if index.kind == IndexKind::Primary {
            for part in &index.parts {
                let column = &mut definition.columns[part.column];
                if column.is_virtual() {
                    let what = "Defining a virtual generated column as primary key";
                    return Err(sql_error!(ER_UNSUPPORTED_ACTION_ON_GENERATED_COLUMN, what));
                }
                let said_null = drafts
                    .iter()
                    .any(|draft| draft.explicit_null && same_name(&draft.definition.name, &column.name));
                if said_null {
                    return Err(sql_error!(ER_PRIMARY_CANT_HAVE_NULL));
                }
                if column.default == ColumnDefault::Literal(values::Value::Null) {
                    return Err(sql_error!(ER_INVALID_DEFAULT, column.name));
                }
                column.nullable = false;
            }
        }
        warn_of_duplicate(&index, definition, self.diagnostics);
        definition.indexes.push(index);
        Ok(())
    }

    /// The columns of functional parts; returns the index with its name, which theirs are made of.
    fn add_functional_parts(
        &mut self,
        definition: &mut TableDefinition,
        key: &IndexSpecification,
    ) -> SqlResult<IndexSpecification> {
        check_kind(key)?;
        let name = index_name(key, NAMELESS, &definition.indexes)?;
        add_key_columns(self, definition, key, &name)?;
        Ok(IndexSpecification { name: Some(name), ..key.clone() })
    }

    /// The tables that a DROP TABLE names. Errors: 1046, 1066, 1142.
    pub fn check_drop(&mut self, drop: &DropTable) -> SqlResult<Vec<TableName>> {
        let mut names = Vec::with_capacity(drop.tables.len());
        let mut seen = HashSet::with_capacity(drop.tables.len());
        for table in &drop.tables {
            self.check_killed()?;
            let name = self.table_name(table)?;
            if !drop.temporary && !self.is_temporary(&name) {
                self.user.require_table(self.instance, Privileges::DROP, &name)?;
            }
            if !seen.insert(name.clone()) {
                return Err(sql_error!(ER_NONUNIQ_TABLE, name.table));
            }
            names.push(name);
        }
        Ok(names)
    }

    /// DROP TABLE of locked tables: all that exist go in one step; error 1051 names those that do not. Returns the names of
    /// which there was no table.
    pub fn drop_locked(&mut self, names: &[TableName], drop: &DropTable) -> SqlResult<Vec<String>> {
        let engine = self.instance.engine().clone();
        let (mut present, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            self.check_killed()?;
            match engine.dictionary().has_table(&name.schema, &name.table) {
                true => present.push(name.clone()),
                false => unknown.push(shown(name)),
            }
        }
        if !unknown.is_empty() && !drop.if_exists {
            return Err(sql_error!(ER_BAD_TABLE_ERROR, unknown.join(",")));
        }
        need_unreferenced(self, &present)?;
        if !present.is_empty() {
            engine.drop_tables(&present, &self.shared.kill).map_err(|error| error.into_sql(""))?;
        }
        for name in &present {
            let owner = lock_owner(self.instance, self.shared);
            self.locks.forget_locked_table(owner, &LockKey::table(&name.schema, &name.table));
        }
        Ok(unknown)
    }

    /// What is said of tables or views that are not there: error 1051, or a note for each with IF EXISTS.
    pub fn missing_tables(&mut self, unknown: &[TableName], if_exists: bool) -> SqlResult<()> {
        let unknown = unknown.iter().map(shown);
        if !if_exists {
            return Err(sql_error!(ER_BAD_TABLE_ERROR, unknown.collect::<Vec<_>>().join(",")));
        }
        unknown.for_each(|name| self.diagnostics.note(sql_error!(ER_BAD_TABLE_ERROR, name)));
        Ok(())
    }

    /// Old and new names of a RENAME TABLE. Errors: 1046, 1103, 1142.
    pub fn check_renames(&mut self, items: &[RenameItem]) -> SqlResult<Vec<(TableName, TableName)>> {
        let mut renames = Vec::new();
        for item in items {
            self.check_killed()?;
            let (from, to) = (self.table_name(&item.from)?, self.table_name(&item.to)?);
            check_table_name(&to.table)?;
            self.user.require_rename(self.instance, &from, &to)?;
            renames.push((from, to));
        }
        Ok(renames)
    }

    /// Renames tables whose old and new names are locked: all renames in one step, from left to right.
    pub fn rename_locked(&mut self, renames: &[(TableName, TableName)], kill: &KillFlag) -> SqlResult<()> {
        let relatives = locks_to_rename(self.instance.engine().dictionary(), renames);
        self.lock_more_for_statement(relatives)?;
        judge_renamed(self, renames)?;
        let renamed = self.instance.engine().rename_tables(renames, kill);
        renamed.map_err(|error| match error {
            engine::EngineError::TableExists(name) => {
                let table = name.rsplit('.').next().unwrap_or(&name).to_owned();
                sql_error!(ER_TABLE_EXISTS_ERROR, table)
            }
            other => other.into_sql(""),
        })?;
        renames.iter().try_for_each(|(from, to)| {
            let (from, to) =
                (LockKey::table(&from.schema, &from.table), LockKey::table(&to.schema, &to.table));
            let owner = lock_owner(self.instance, self.shared);
            let limit = lock_limit(self.shared, self.settings.metadata_lock_timeout);
            self.locks.rename_locked_table(owner, limit, &from, &to)
        })
    }

    /// TRUNCATE TABLE of a locked table.
    pub fn truncate_locked(&mut self, name: &TableName) -> SqlResult<()> {
        need_no_referring(self, name)?;
        let truncated = self.instance.engine().truncate_table(name, &self.shared.kill);
        truncated.map(|_| ()).map_err(|error| table_error(error, name))
    }

    /// CREATE TABLE .. SELECT: the query's columns are added behind the declared ones, keys and CHECK constraints may be of either.
    /// Returns the definition and the INSERT that fills the table.
    pub fn selected_definition(
        &mut self,
        selected: Selected,
        create: &CreateTable,
        query: Box<Query>,
        described: &[(wire::result::ResultColumn, OriginPath)],
    ) -> SqlResult<(TableDefinition, Statement)> {
        let Selected { mut definition, drafts, temporary } = selected;
        let drafts = &drafts[..];
        self.warn_made_types(&definition, described);
        let mut targets = Vec::new();
        let mut computed = Vec::new();
        let mut named = BTreeSet::new();
        for (column, path) in described {
            super::column::check_selected_name(&column.name)?;
            if !named.insert(column.name.to_lowercase()) {
                return Err(sql_error!(ER_DUP_FIELDNAME, column.name));
            }
            match definition.column_position(&column.name) {
                Some(position) => {
                    // What the query's column says of its collation counts, not what the declared one does.
                    definition.columns[position].names_collation = self.names_collation(column, *path);
                    move_last(&mut definition, position);
                }
                None => {
                    let made = self.selected_column(column, *path);
                    super::column::check_column(&ColumnDraft {
                        definition: made.clone(),
                        primary: false,
                        unique: false,
                        explicit_null: false,
                    })?;
                    definition.columns.push(made);
                    computed.extend(column.table.is_empty().then(|| column.name.clone()));
                }
            }
            targets.push(ColumnReference::unqualified(column.name.clone()));
        }
        check_column_names(&definition.columns)?;
        self.add_key_elements(&mut definition, drafts, &create.elements)?;
        forget_key_defaults(&mut definition, &computed);
        self.add_expressions(&mut definition, &create.elements)?;
        self.add_references(&mut definition, create)?;
        check_definition(&definition)?;
        let name = definition.name.clone();
        let insert = Statement::Insert(Box::new(Insert {
            replace: create.on_duplicate == SelectDuplicates::Replace,
            priority: InsertPriority::Normal,
            ignore: create.on_duplicate == SelectDuplicates::Ignore,
            hints: Vec::new(),
            table: ObjectName {
                schema: Some(name.schema),
                name: if temporary { TABLE_BEING_FILLED.to_owned() } else { name.table },
            },
            partitions: Vec::new(),
            columns: targets,
            source: InsertSource::Query(query),
            row_alias: None,
            on_duplicate: Vec::new(),
        }));
        Ok((definition, insert))
    }

    /// A table that nobody sees before it is filled.
    pub fn make_hidden(&mut self, definition: TableDefinition) -> SqlResult<Arc<Table>> {
        let name = definition.name.clone();
        let made = self
            .number_keys(definition)
            .and_then(|definition| self.instance.engine().create_hidden_table(definition, &self.shared.kill));
        made.map_err(|error| table_error(error, &name))
    }

    /// What is deprecated in declared types is told of a second time, then what is in the query's.
    fn warn_made_types(
        &mut self,
        definition: &TableDefinition,
        described: &[(wire::result::ResultColumn, OriginPath)],
    ) {
        let declared = definition.columns.iter().map(|column| &column.column_type);
        let selected = described.iter().map(|(column, _)| &column.column_type);
        declared.chain(selected).for_each(|column_type| self.types().warn_copied_type(column_type));
    }

    /// A column as CREATE .. SELECT makes it of a query's column. A base column brings its comment and, as far as it comes
    /// through subqueries in FROM, its default.
    pub fn selected_column(&self, column: &wire::result::ResultColumn, path: OriginPath) -> ColumnDefinition {
        let column_type = column.column_type.clone();
        let nullable = column.flags & wire::capabilities::column::NOT_NULL == 0;
        let origin = self.origin_column(column);
        let default = match &origin {
            Some(origin) if origin.auto_increment => self.implicit_default(&column_type),
            Some(origin) if path == OriginPath::Table => origin.default.clone(),
            Some(ColumnDefinition { default: ColumnDefault::Literal(value), .. })
                if path == OriginPath::Kept =>
            {
                ColumnDefault::Literal(value.clone())
            }
            _ if nullable => ColumnDefault::None,
            _ => self.implicit_default(&column_type),
        };
        let changing = origin.as_ref().filter(|_| path == OriginPath::Table);
        ColumnDefinition {
            name: column.name.clone(),
            column_type,
            nullable,
            default,
            generated: None,
            on_update_now: changing.and_then(|origin| origin.on_update_now),
            auto_increment: false,
            invisible: false,
            names_collation: self.names_collation(column, path),
            comment: origin.map_or_else(String::new, |origin| origin.comment),
        }
    }

    /// The default that CREATE .. SELECT gives to a column of an expression that is never NULL: zero or empty text.
    fn implicit_default(&self, column_type: &values::ColumnType) -> ColumnDefault {
        use values::temporal::{Date, DateTime, Time};
        use values::{Decimal, TypeKind, Value};
        let no_zero_date = self.sql_mode().contains(::expression::SqlMode::NO_ZERO_DATE);
        ColumnDefault::Literal(match column_type.kind {
            kind if kind.is_integer() && column_type.unsigned => Value::UInt(0),
            kind if kind.is_integer() => Value::Int(0),
            TypeKind::Decimal => {
                let rounding = values::decimal::Rounding::TowardZero;
                let zero = Decimal::ZERO.with_scale(column_type.scale(), rounding);
                Value::Decimal(zero.unwrap_or(Decimal::ZERO))
            }
            TypeKind::Float => Value::Float(0.0),
            TypeKind::Double => Value::Double(0.0),
            TypeKind::Time => Value::Time(Time::default()),
            TypeKind::Date if !no_zero_date => Value::Date(Date::ZERO),
            TypeKind::DateTime if !no_zero_date => Value::DateTime(DateTime::ZERO),
            TypeKind::Char | TypeKind::VarChar | TypeKind::Binary | TypeKind::VarBinary => {
                Value::Bytes(Vec::new())
            }
            _ => return ColumnDefault::None,
        })
    }

    fn names_collation(&self, column: &wire::result::ResultColumn, path: OriginPath) -> bool {
        path == OriginPath::Table && self.origin_column(column).is_some_and(|origin| origin.names_collation)
    }

    /// The base column that a query's column shows.
    fn origin_column(&self, column: &wire::result::ResultColumn) -> Option<ColumnDefinition> {
        let name = TableName { schema: column.schema.clone(), table: column.original_table.clone() };
        let table = self.table(&name)?;
        let definition = table.definition();
        let position = definition.column_position(&column.original_name)?;
        Some(definition.columns[position].clone())
    }
}

/// Computed columns that CREATE .. SELECT makes have a default if they are never NULL, but not in the primary key.
fn forget_key_defaults(definition: &mut TableDefinition, computed: &[String]) {
    for index in definition.indexes.iter().filter(|index| index.kind == IndexKind::Primary) {
        for part in &index.parts {
            let column = &mut definition.columns[part.column];
            if computed.contains(&column.name) {
                column.default = ColumnDefault::None;
            }
        }
    }
}

/// The tables that the foreign keys of a new one refer to.
fn declared_parents(create: &CreateTable, name: &TableName) -> Vec<TableName> {
    keys_of_elements(&create.elements).iter().map(|key| key.parent(&name.schema)).collect()
}

/// Puts a column behind the others: CREATE .. SELECT keeps the query's columns in its order, last.
fn move_last(definition: &mut TableDefinition, position: usize) {
    let column = definition.columns.remove(position);
    definition.columns.push(column);
}

/// What a statement locks to make, change, rename or remove those tables: their names, and their schemas against DROP DATABASE.
pub fn locks_to_change(names: &[TableName]) -> Vec<(LockKey, LockMode)> {
    let key = |name: &TableName| LockKey::table(&name.schema, &name.table);
    let mut tables: Vec<LockKey> = names.iter().map(key).collect();
    tables.sort_unstable();
    tables.dedup();
    let schemas: BTreeSet<&str> = names.iter().map(|name| name.schema.as_str()).collect();
    let schemas = schemas.into_iter().map(|schema| (LockKey::schema(schema), LockMode::Intention));
    schemas.chain(tables.into_iter().map(|key| (key, LockMode::Exclusive))).collect()
}

fn shown(name: &TableName) -> String {
    format!("{}.{}", name.schema, name.table)
}

/// Errors 1059 and 1103.
pub(super) fn check_table_name(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || instance::system_schemas::is_hidden(name) {
        return Err(sql_error!(ER_WRONG_TABLE_NAME, name));
    }
    if name.chars().count() > limits::NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

/// Error 1060 for a name that occurs twice; 1815 if one of both is the name of a functional key part.
pub(super) fn check_column_names(columns: &[ColumnDefinition]) -> SqlResult<()> {
    let mut seen = std::collections::BTreeSet::new();
    match columns.iter().find(|column| !seen.insert(column.name.to_lowercase())) {
        Some(column) if column.is_hidden() => {
            let why = format!("The column name '{}' is already in use by a hidden column", column.name);
            Err(sql_error!(ER_INTERNAL_ERROR, why))
        }
        Some(column) => Err(sql_error!(ER_DUP_FIELDNAME, column.name)),
        None => Ok(()),
    }
}

/// What holds for a definition as a whole. Errors: 1069, 1075, 1113, 1117, 1118, 1163, 1178, 1478, 3106, 4028.
pub(super) fn check_definition(definition: &TableDefinition) -> SqlResult<()> {
    check_engine(definition)?;
    if definition.columns.len() > limits::COLUMNS_MAX {
        return Err(sql_error!(ER_TOO_MANY_FIELDS));
    }
    if definition.columns.iter().all(|column| column.invisible) {
        return Err(sql_error!(ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN));
    }
    if definition.indexes.len() > limits::INDEXES_MAX {
        return Err(sql_error!(ER_TOO_MANY_KEYS, limits::INDEXES_MAX));
    }
    let mut counters = definition.columns.iter().enumerate().filter(|(_, column)| column.auto_increment);
    if let Some((position, _)) = counters.next() {
        let leads = |index: &IndexDefinition| matches!(index.parts.first(), Some(IndexPart { column, prefix_length: None, .. }) if *column == position);
        if counters.next().is_some() || !definition.indexes.iter().any(leads) {
            return Err(sql_error!(ER_WRONG_AUTO_KEY));
        }
    }
    let bytes: u64 = definition.columns.iter().map(|column| declared_row_bytes(&column.column_type)).sum();
    // A bit of the row says that a column is NULL.
    let nulls = definition.columns.iter().filter(|column| column.nullable).count().div_ceil(8);
    if bytes + nulls as u64 > limits::ROW_BYTES_MAX {
        return Err(sql_error!(ER_TOO_BIG_ROWSIZE, limits::ROW_BYTES_MAX));
    }
    Ok(())
}
