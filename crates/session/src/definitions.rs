//! Changes of definitions as the session runs them: what is asked first, the commit of what was open, locks on the names, the
//! change (`ddl`), the answer.

use crate::session::Session;
use accounts::Privileges;
use catalog::{LockKey, LockMode};
use ddl::{Asked, Creation, Defaults, Definer, Selected, locks_to_change};
use dictionary::TableName;
use engine::Table;
use errors::{Diagnostics, SqlResult};
use instance::StatementSettings;
use parser::ast::{
    AlterAction, AlterDatabase, AlterTable, CreateDatabase, CreateIndex, CreateTable, DropIndex, DropTable,
    Expression, ObjectName, RenameItem, Statement,
};
use std::sync::Arc;
use wire::result::{ClientChannel, ResultSink};

/// A literal warns once, at most.
const DEFAULT_CONDITIONS_MAX: usize = 8;

impl Session {
    fn definer(&mut self) -> Definer<'_> {
        let facts = self.facts().clone();
        let settings = self.settings.get_or_init(|| StatementSettings::of(&self.settings_source()));
        Definer {
            instance: &self.instance,
            shared: &self.shared,
            user: &mut self.user,
            variables: &self.state.variables,
            settings,
            facts,
            schema: self.schema.as_deref(),
            diagnostics: &mut self.diagnostics,
            locks: &mut self.locks,
            defaults: Defaults::default(),
        }
    }

    /// The same for a statement that declares columns.
    fn definer_with(&mut self, defaults: Defaults) -> Definer<'_> {
        Definer { defaults, ..self.definer() }
    }

    /// Works out the constants behind DEFAULT. What one fails with or warns of counts only where it is used.
    fn defaults_of(&mut self, declared: Vec<&Expression>) -> Defaults {
        let mut defaults = Defaults::default();
        for expression in declared {
            let before = std::mem::replace(&mut self.diagnostics, Diagnostics::new(DEFAULT_CONDITIONS_MAX));
            let value = self.evaluate(expression);
            let told = std::mem::replace(&mut self.diagnostics, before);
            defaults.add(expression, value, told.conditions().to_vec());
        }
        defaults
    }

    fn check_locked_tables(&self, names: &[TableName]) -> SqlResult<()> {
        let key = |name: &TableName| LockKey::table(&name.schema, &name.table);
        names.iter().try_for_each(|name| self.locks.explicit.check(&key(name), LockMode::Exclusive))
    }

    /// CREATE TABLE in its three forms.
    pub(crate) fn create_table(
        &mut self,
        statement: &Statement,
        create: &CreateTable,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let name = self.definer().check_create(create)?;
        self.commit_implicitly()?;
        let mut wanted = Vec::new();
        if let (Some(query), None) = (&create.query, &create.like) {
            let locks = self.locks_needed(&Statement::Query(query.clone())).locks;
            wanted.extend(locks.into_iter().map(|lock| (lock.key, lock.mode)));
        }
        wanted.extend(self.definer().locks_to_create(create, &name)?);
        self.with_definition_locks(wanted, |session| {
            let defaults = session.defaults_of(ddl::declared_defaults(statement));
            match session.definer_with(defaults).create_locked(name, create)? {
                Creation::Done => session.send_ok(channel),
                Creation::AsSelect(selected) => session.create_as_select(selected, create, channel),
            }
        })
    }

    /// CREATE TABLE .. SELECT, under the locks of the whole statement.
    fn create_as_select(
        &mut self,
        selected: Selected,
        create: &CreateTable,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let Some(query) = &create.query else { return self.send_ok(channel) };
        let statement = Statement::Query(query.clone());
        let locks = self.locks_needed(&statement);
        let parameters = Arc::clone(&self.parameters);
        let described = self.run_in_transaction(&locks, false, |session, reads_lock| {
            session.with_context(&locks, reads_lock, &parameters, |context| {
                exec::describe_for_table(&statement, context)
            })
        })?;
        let (made, insert) = self.definer().make_selected(selected, create, query.clone(), &described)?;
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

    /// DROP TABLE: all that exist go in one step; error 1051 names those that do not.
    pub(crate) fn drop_tables(&mut self, drop: &DropTable, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let names = self.definer().check_drop(drop)?;
        if drop.temporary {
            self.definer().missing_tables(&names, drop.if_exists)?;
            return self.send_ok(sink);
        }
        self.commit_implicitly()?;
        self.check_locked_tables(&names)?;
        let unknown = self.with_definition_locks(locks_to_change(&names), |session| {
            session.definer().drop_locked(&names, drop)
        })?;
        unknown.iter().for_each(|name| self.diagnostics.note(errors::sql_error!(ER_BAD_TABLE_ERROR, name)));
        self.send_ok(sink)
    }

    /// DROP VIEW: there are no views yet, so all names are unknown.
    pub(crate) fn drop_views(
        &mut self,
        views: &[ObjectName],
        if_exists: bool,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let names = self.definer().check_drop_views(views)?;
        self.commit_implicitly()?;
        self.definer().missing_tables(&names, if_exists)?;
        self.send_ok(sink)
    }

    /// RENAME TABLE: all renames in one step, from left to right.
    pub(crate) fn rename_tables(&mut self, items: &[RenameItem], sink: &mut dyn ResultSink) -> SqlResult<()> {
        let renames = self.definer().check_renames(items)?;
        self.commit_implicitly()?;
        let old: Vec<TableName> = renames.iter().map(|(from, _)| from.clone()).collect();
        self.check_locked_tables(&old)?;
        let names: Vec<TableName> = renames.iter().flat_map(|(from, to)| [from, to]).cloned().collect();
        self.with_definition_locks(locks_to_change(&names), |session| {
            let kill = session.shared.kill.clone();
            session.definer().rename_locked(&renames, &kill)
        })?;
        self.send_ok(sink)
    }

    /// TRUNCATE TABLE.
    pub(crate) fn truncate_table(&mut self, table: &ObjectName, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let name = self.table_name(table)?;
        self.user.require_table(&self.instance, Privileges::DROP, &name)?;
        self.commit_implicitly()?;
        let names = [name];
        self.check_locked_tables(&names)?;
        self.with_definition_locks(locks_to_change(&names), |session| {
            session.definer().truncate_locked(&names[0])
        })?;
        self.send_ok(sink)
    }

    /// ALTER TABLE.
    pub(crate) fn alter_table(
        &mut self,
        statement: &Statement,
        alter: &AlterTable,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let (name, asked) = self.definer().check_alter(alter)?;
        self.alter(&name, &alter.actions, asked, ddl::declared_defaults(statement), sink)
    }

    /// CREATE INDEX.
    pub(crate) fn create_index(&mut self, create: &CreateIndex, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let (name, action, asked) = self.definer().check_create_index(create)?;
        self.alter(&name, &[action], asked, Vec::new(), sink)
    }

    /// DROP INDEX.
    pub(crate) fn drop_index(&mut self, drop: &DropIndex, sink: &mut dyn ResultSink) -> SqlResult<()> {
        let (name, action, asked) = self.definer().check_drop_index(drop)?;
        self.alter(&name, &[action], asked, Vec::new(), sink)
    }

    /// ALTER on behalf of OPTIMIZE TABLE.
    pub(crate) fn alter_for_maintenance(
        &mut self,
        name: &TableName,
        actions: &[AlterAction],
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.alter(name, actions, Asked::default(), Vec::new(), sink)
    }

    fn alter(
        &mut self,
        name: &TableName,
        actions: &[AlterAction],
        asked: Asked,
        declared: Vec<&Expression>,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.commit_implicitly()?;
        self.check_locked_tables(std::slice::from_ref(name))?;
        let names = self.definer().names_to_alter(name, actions)?;
        let rows = self.with_definition_locks(locks_to_change(&names), |session| {
            let defaults = session.defaults_of(declared);
            session.definer_with(defaults).alter_locked(name, actions, asked)
        })?;
        let warnings = self.diagnostics.count();
        match rows {
            Some(rows) => {
                let info = format!("Records: {rows}  Duplicates: 0  Warnings: {warnings}");
                self.send_info(rows, info, sink)
            }
            None => self.send_ok(sink),
        }
    }

    /// Error 1007, or a note with IF NOT EXISTS.
    pub(crate) fn create_database(
        &mut self,
        create: &CreateDatabase,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let collation = self.definer().check_create_database(create)?;
        self.commit_implicitly()?;
        self.locks.explicit.refuse()?;
        let wanted = vec![(LockKey::schema(&create.name), LockMode::Exclusive)];
        self.with_definition_locks(wanted, |session| {
            session.definer().create_schema_locked(create, collation)
        })?;
        self.send_affected(1, sink)
    }

    /// Error 1049 for a schema that does not exist, 1046 without name and default schema.
    pub(crate) fn alter_database(
        &mut self,
        alter: &AlterDatabase,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let (name, collation) = self.definer().check_alter_database(alter)?;
        self.commit_implicitly()?;
        self.locks.explicit.refuse()?;
        let wanted = vec![(LockKey::schema(&name), LockMode::Exclusive)];
        self.with_definition_locks(wanted, |session| {
            session.definer().alter_schema_locked(&name, collation)
        })?;
        if self.schema.as_deref() == Some(name.as_str()) {
            self.follow_schema_collation();
        }
        self.send_affected(1, sink)
    }

    /// Error 1008, or a note with IF EXISTS. Affected rows are the tables that went.
    pub(crate) fn drop_database(
        &mut self,
        name: &str,
        if_exists: bool,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.user.require_schema(&self.instance, Privileges::DROP, name)?;
        self.commit_implicitly()?;
        self.locks.explicit.refuse()?;
        let wanted = vec![(LockKey::schema(name), LockMode::Exclusive)];
        let tables = self
            .with_definition_locks(wanted, |session| session.definer().drop_schema_locked(name, if_exists))?;
        if self.schema.as_deref() == Some(name) {
            self.schema = None;
            self.forget_settings();
            self.shared.describe().schema = None;
            self.follow_schema_collation();
        }
        self.send_affected(tables as u64, sink)
    }
}
