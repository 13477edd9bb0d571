//! CREATE TABLE, DROP TABLE, RENAME TABLE and TRUNCATE TABLE.

use super::column::{ColumnDraft, declared_row_bytes};
use super::index::{build_index, sort_indexes};
use super::{limits, table_error};
use crate::session::Session;
use crate::system_tables;
use accounts::Privileges;
use catalog::{LockKey, LockMode};
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, IndexPart, TableDefinition, TableName,
    TableOptions,
};
use engine::{KillFlag, Table};
use errors::{SqlResult, sql_error};
use parser::ast::*;
use plan::physical::OriginPath;
use std::collections::BTreeSet;
use std::sync::Arc;
use stdx::ids::{IndexId, TableId};
use wire::result::{ClientChannel, ResultSink};

impl Session {
    /// CREATE TABLE in its three forms.
    pub(crate) fn create_table(
        &mut self,
        create: &CreateTable,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        if create.temporary {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "TEMPORARY tables"));
        }
        if create.partitioning.is_some() {
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, "partitioning"));
        }
        let name = self.table_name(&create.name)?;
        check_table_name(&name.table)?;
        self.require_create(create, &name)?;
        let key = LockKey::table(&name.schema, &name.table);
        self.explicit_locks.check(&key, LockMode::Shared)?;
        self.commit_implicitly()?;
        let mut wanted = self.locks_of_sources(create)?;
        wanted.push((LockKey::schema(&name.schema), LockMode::Intention));
        wanted.push((key.clone(), LockMode::Shared));
        self.with_definition_locks(wanted, |session| session.create_locked(&key, name, create, channel))
    }

    /// The tables that the new one is made of. They are locked before its name is locked exclusively.
    fn locks_of_sources(&mut self, create: &CreateTable) -> SqlResult<Vec<(LockKey, LockMode)>> {
        if let Some(like) = &create.like {
            let other = self.table_name(like)?;
            return Ok(vec![(LockKey::table(&other.schema, &other.table), LockMode::Read)]);
        }
        let query = create.query.as_ref().map(|query| Statement::Query(query.clone()));
        let locks = query.map_or_else(Vec::new, |query| self.locks_needed(&query).locks);
        Ok(locks.into_iter().map(|lock| (lock.key, lock.mode)).collect())
    }

    /// Looks whether the table is there under a lock that lets others use it; only then is its name locked exclusively,
    /// after which it may be there all the same.
    fn create_locked(
        &mut self,
        key: &LockKey,
        name: TableName,
        create: &CreateTable,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        if !self.schema_exists(&name.schema) {
            return Err(sql_error!(ER_BAD_DB_ERROR, name.schema));
        }
        if self.explicit_locks.in_force() && !self.table_exists(&name.schema, &name.table) {
            return Err(sql_error!(ER_TABLE_NOT_LOCKED, name.table));
        }
        if self.is_there_already(&name, create)? {
            return self.send_ok(channel);
        }
        self.unlock_for_statement(key);
        self.lock_for_statement(vec![(key.clone(), LockMode::Exclusive)])?;
        if self.is_there_already(&name, create)? {
            return self.send_ok(channel);
        }
        if let Some(like) = &create.like {
            return self.create_like(name, like, channel);
        }
        let (mut definition, drafts) = self.table_definition(&name, create)?;
        match &create.query {
            Some(query) => self.create_as_select(definition, &drafts, create, query, channel),
            None => {
                self.add_key_elements(&mut definition, &drafts, &create.elements)?;
                if definition.columns.is_empty() {
                    return Err(sql_error!(ER_TABLE_MUST_HAVE_COLUMNS));
                }
                check_definition(&definition)?;
                self.make_table(definition)?;
                self.send_ok(channel)
            }
        }
    }

    /// CREATE, and what the rows or the definition of another table take.
    fn require_create(&mut self, create: &CreateTable, name: &TableName) -> SqlResult<()> {
        let filled = if create.query.is_some() { Privileges::INSERT } else { Privileges::NONE };
        self.require_table(Privileges::CREATE.with(filled), name)?;
        if let Some(like) = &create.like {
            let like = self.table_name(like)?;
            self.require_table(Privileges::SELECT, &like)?;
        }
        match &create.query {
            Some(query) => self.require_statement(&Statement::Query(query.clone())),
            None => Ok(()),
        }
    }

    /// Error 1050, or a note with IF NOT EXISTS.
    fn is_there_already(&mut self, name: &TableName, create: &CreateTable) -> SqlResult<bool> {
        if !self.table_exists(&name.schema, &name.table) {
            return Ok(false);
        }
        let error = sql_error!(ER_TABLE_EXISTS_ERROR, name.table);
        if !create.if_not_exists {
            return Err(error);
        }
        self.diagnostics.note(error);
        Ok(true)
    }

    /// The caller has locked the name.
    fn make_table(&mut self, definition: TableDefinition) -> SqlResult<()> {
        let name = definition.name.clone();
        let made = self.instance.engine().create_table(definition, &self.shared.kill);
        made.map(|_| ()).map_err(|error| table_error(error, &name))
    }

    /// LIKE: columns, indexes and options of another table; its counter starts at 1.
    fn create_like(
        &mut self,
        name: TableName,
        like: &ObjectName,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let other = self.table_name(like)?;
        let engine = self.instance.engine().clone();
        let table = engine.dictionary().table(&other.schema, &other.table);
        let table = table.ok_or_else(|| sql_error!(ER_NO_SUCH_TABLE, other.schema, other.table))?;
        let mut definition = table.definition().clone();
        definition.id = TableId(0);
        definition.name = name;
        definition.options.auto_increment = None;
        definition.indexes.iter_mut().for_each(|index| index.id = IndexId(0));
        for column in &definition.columns {
            self.warn_copied_type(&column.column_type);
        }
        self.make_table(definition)?;
        self.send_ok(sink)
    }

    /// The definition that the elements and options say, without keys and checks of the whole, and its columns.
    fn table_definition(
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
            options: TableOptions::default(),
        };
        self.apply_table_options(&mut definition, &create.options)?;
        let mut drafts = Vec::new();
        for element in &create.elements {
            if let TableElement::Column(column) = element {
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
                TableElement::ForeignKey(_) => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "foreign keys")),
                TableElement::Check(_) => return Err(sql_error!(ER_NOT_SUPPORTED_YET, "CHECK constraints")),
                TableElement::Column(_) => {}
            }
        }
        for key in &keys {
            self.add_index(definition, key, drafts)?;
        }
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
        let is_strict = self.sql_mode().is_strict();
        let (columns, taken) = (&definition.columns, &definition.indexes);
        let index = build_index(key, columns, taken, &mut self.diagnostics, is_strict)?;
        if index.kind == IndexKind::Primary {
            for part in &index.parts {
                let column = &mut definition.columns[part.column];
                let said_null = drafts.iter().any(|draft| {
                    draft.explicit_null && draft.definition.name.eq_ignore_ascii_case(&column.name)
                });
                if said_null {
                    return Err(sql_error!(ER_PRIMARY_CANT_HAVE_NULL));
                }
                if column.default == ColumnDefault::Literal(values::Value::Null) {
                    return Err(sql_error!(ER_INVALID_DEFAULT, column.name));
                }
                column.nullable = false;
            }
        }
        definition.indexes.push(index);
        Ok(())
    }

    /// DROP TABLE: all that exist go in one step; error 1051 names those that do not.
    pub(crate) fn drop_tables(&mut self, drop: &DropTable, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let mut names = Vec::new();
        for table in &drop.tables {
            let name = self.table_name(table)?;
            self.require_table(Privileges::DROP, &name)?;
            if names.contains(&name) {
                return Err(sql_error!(ER_NONUNIQ_TABLE, name.table));
            }
            names.push(name);
        }
        if drop.temporary {
            let unknown = names.iter().map(shown).collect::<Vec<_>>().join(",");
            return self.missing_tables(unknown, drop.if_exists, sink);
        }
        self.commit_implicitly()?;
        for name in &names {
            self.explicit_locks.check(&LockKey::table(&name.schema, &name.table), LockMode::Exclusive)?;
        }
        let wanted = locks_to_change(&names);
        let unknown = self.with_definition_locks(wanted, |session| session.drop_locked(&names, drop))?;
        unknown.iter().for_each(|name| self.diagnostics.note(sql_error!(ER_BAD_TABLE_ERROR, name)));
        self.send_ok(sink)
    }

    /// Returns the names of which there was no table.
    fn drop_locked(&mut self, names: &[TableName], drop: &DropTable) -> SqlResult<Vec<String>> {
        let engine = self.instance.engine().clone();
        let exists = |name: &&TableName| engine.dictionary().has_table(&name.schema, &name.table);
        let (present, missing): (Vec<&TableName>, Vec<&TableName>) = names.iter().partition(exists);
        let unknown = missing.into_iter().map(shown).collect::<Vec<_>>();
        if !unknown.is_empty() && !drop.if_exists {
            return Err(sql_error!(ER_BAD_TABLE_ERROR, unknown.join(",")));
        }
        let present: Vec<TableName> = present.into_iter().cloned().collect();
        if !present.is_empty() {
            engine.drop_tables(&present, &self.shared.kill).map_err(|error| error.into_sql(""))?;
        }
        for name in &present {
            self.forget_locked_table(&LockKey::table(&name.schema, &name.table));
        }
        Ok(unknown)
    }

    fn missing_tables(
        &mut self,
        unknown: String,
        if_exists: bool,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let error = sql_error!(ER_BAD_TABLE_ERROR, unknown);
        if !if_exists {
            return Err(error);
        }
        self.diagnostics.note(error);
        self.send_ok(sink)
    }

    /// DROP VIEW: there are no views yet, so all names are unknown.
    pub(crate) fn drop_views(
        &mut self,
        views: &[ObjectName],
        if_exists: bool,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let mut names = Vec::with_capacity(views.len());
        for view in views {
            let name = self.table_name(view)?;
            self.require_table(Privileges::DROP, &name)?;
            names.push(shown(&name));
        }
        self.commit_implicitly()?;
        self.missing_tables(names.join(","), if_exists, sink)
    }

    /// RENAME TABLE: all renames in one step, from left to right.
    pub(crate) fn rename_tables(&mut self, items: &[RenameItem], sink: &mut dyn ResultSink) -> SqlResult<()> {
        let mut renames = Vec::new();
        for item in items {
            let (from, to) = (self.table_name(&item.from)?, self.table_name(&item.to)?);
            check_table_name(&to.table)?;
            self.require_rename(&from, &to)?;
            renames.push((from, to));
        }
        self.commit_implicitly()?;
        for (from, _) in &renames {
            self.explicit_locks.check(&LockKey::table(&from.schema, &from.table), LockMode::Exclusive)?;
        }
        let names: Vec<TableName> = renames.iter().flat_map(|(from, to)| [from, to]).cloned().collect();
        self.with_definition_locks(locks_to_change(&names), |session| {
            let kill = session.shared.kill.clone();
            session.rename_locked(&renames, &kill)
        })?;
        self.send_ok(sink)
    }

    /// Renames tables whose old and new names are locked.
    pub(super) fn rename_locked(
        &mut self,
        renames: &[(TableName, TableName)],
        kill: &KillFlag,
    ) -> SqlResult<()> {
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
            self.rename_locked_table(&from, &to)
        })
    }

    /// TRUNCATE TABLE.
    pub(crate) fn truncate_table(&mut self, table: &ObjectName, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let name = self.table_name(table)?;
        self.require_table(Privileges::DROP, &name)?;
        self.commit_implicitly()?;
        let key = LockKey::table(&name.schema, &name.table);
        self.explicit_locks.check(&key, LockMode::Exclusive)?;
        self.with_definition_locks(locks_to_change(std::slice::from_ref(&name)), |session| {
            let truncated = session.instance.engine().truncate_table(&name, &session.shared.kill);
            truncated.map(|_| ()).map_err(|error| table_error(error, &name))
        })?;
        self.send_ok(sink)
    }

    /// CREATE TABLE .. SELECT: the query's columns are added behind the declared ones, keys may be of either, then its
    /// rows are inserted.
    fn create_as_select(
        &mut self,
        mut definition: TableDefinition,
        drafts: &[ColumnDraft],
        create: &CreateTable,
        query: &Query,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let statement = Statement::Query(Box::new(query.clone()));
        let locks = self.locks_needed(&statement);
        let parameters = Arc::clone(&self.parameters);
        let described = self.run_in_transaction(&locks, false, |session, reads_lock| {
            session.with_context(&locks, reads_lock, &parameters, |context| {
                exec::describe_for_table(&statement, context)
            })
        })?;
        self.warn_made_types(&definition, &described);
        let mut targets = Vec::new();
        let mut computed = Vec::new();
        let mut named = BTreeSet::new();
        for (column, path) in &described {
            if !named.insert(column.name.to_lowercase()) {
                return Err(sql_error!(ER_DUP_FIELDNAME, column.name));
            }
            match definition.column_position(&column.name) {
                Some(position) => move_last(&mut definition, position),
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
        check_definition(&definition)?;
        let name = definition.name.clone();
        let engine = self.instance.engine().clone();
        let made = engine.create_hidden_table(definition, &self.shared.kill);
        let made = made.map_err(|error| table_error(error, &name))?;
        let insert = Statement::Insert(Box::new(Insert {
            replace: create.on_duplicate == SelectDuplicates::Replace,
            priority: InsertPriority::Normal,
            ignore: create.on_duplicate == SelectDuplicates::Ignore,
            hints: None,
            table: ObjectName { schema: Some(name.schema.clone()), name: name.table.clone() },
            partitions: Vec::new(),
            columns: targets,
            source: InsertSource::Query(Box::new(query.clone())),
            row_alias: None,
            on_duplicate: Vec::new(),
        }));
        self.fill_made_table(&made, &insert, channel)
    }

    /// Runs the INSERT .. SELECT that fills a hidden table, and commits both.
    fn fill_made_table(
        &mut self,
        made: &Arc<Table>,
        insert: &Statement,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        self.transaction.making = Some(Arc::clone(made));
        let mut filled = self.run_data_statement(insert, channel);
        if filled.is_ok() && self.transaction.current.is_some() {
            filled = self.commit_open();
        }
        if filled.is_err() && self.transaction.current.is_some() {
            self.rollback_open();
        }
        self.transaction.making = None;
        filled.map_err(|error| match self.instance.engine().abandon_table(made) {
            Ok(()) => error,
            Err(failed) => failed.into_sql(""),
        })
    }

    /// What is deprecated in declared types is told of a second time, then what is in the query's.
    fn warn_made_types(
        &mut self,
        definition: &TableDefinition,
        described: &[(wire::result::ResultColumn, OriginPath)],
    ) {
        let declared = definition.columns.iter().map(|column| &column.column_type);
        let selected = described.iter().map(|(column, _)| &column.column_type);
        declared.chain(selected).for_each(|column_type| self.warn_copied_type(column_type));
    }

    /// A column as CREATE .. SELECT makes it of a query's column. A base column brings its comment and, as far as it comes
    /// through subqueries in FROM, its default.
    fn selected_column(&self, column: &wire::result::ResultColumn, path: OriginPath) -> ColumnDefinition {
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
            on_update_now: changing.and_then(|origin| origin.on_update_now),
            auto_increment: false,
            invisible: false,
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

    /// The base column that a query's column shows.
    fn origin_column(&self, column: &wire::result::ResultColumn) -> Option<ColumnDefinition> {
        let dictionary = self.instance.engine().dictionary();
        let table = dictionary.table(&column.schema, &column.original_table)?;
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

/// Puts a column behind the others: CREATE .. SELECT keeps the query's columns in its order, last.
fn move_last(definition: &mut TableDefinition, position: usize) {
    let column = definition.columns.remove(position);
    definition.columns.push(column);
}

/// What a statement locks to make, change, rename or remove those tables: their names, and their schemas against DROP DATABASE.
pub(super) fn locks_to_change(names: &[TableName]) -> Vec<(LockKey, LockMode)> {
    let tables = names.iter().map(|name| LockKey::table(&name.schema, &name.table));
    let schemas = names.iter().map(|name| LockKey::schema(&name.schema));
    let tables: BTreeSet<LockKey> = tables.collect();
    let schemas: BTreeSet<LockKey> = schemas.collect();
    let schemas = schemas.into_iter().map(|key| (key, LockMode::Intention));
    schemas.chain(tables.into_iter().map(|key| (key, LockMode::Exclusive))).collect()
}

fn shown(name: &TableName) -> String {
    format!("{}.{}", name.schema, name.table)
}

/// Errors 1059 and 1103.
pub(super) fn check_table_name(name: &str) -> SqlResult<()> {
    if name.is_empty() || name.ends_with(' ') || system_tables::is_hidden(name) {
        return Err(sql_error!(ER_WRONG_TABLE_NAME, name));
    }
    if name.chars().count() > limits::NAME_CHARACTERS_MAX {
        return Err(sql_error!(ER_TOO_LONG_IDENT, name));
    }
    Ok(())
}

/// Error 1060 for a name that occurs twice.
pub(super) fn check_column_names(columns: &[ColumnDefinition]) -> SqlResult<()> {
    let mut seen = std::collections::BTreeSet::new();
    match columns.iter().find(|column| !seen.insert(column.name.to_lowercase())) {
        Some(column) => Err(sql_error!(ER_DUP_FIELDNAME, column.name)),
        None => Ok(()),
    }
}

/// What holds for a definition as a whole. Errors: 1069, 1075, 1113, 1117, 1118, 4028.
pub(super) fn check_definition(definition: &TableDefinition) -> SqlResult<()> {
    if definition.columns.len() > limits::COLUMNS_MAX {
        return Err(sql_error!(ER_TOO_MANY_FIELDS));
    }
    if definition.columns.iter().all(|column| column.invisible) {
        return Err(sql_error!(ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN));
    }
    let secondary = definition.indexes.iter().filter(|index| index.kind != IndexKind::Primary).count();
    if secondary > limits::INDEXES_MAX {
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
