//! What a change of definitions borrows of the running session. Main types: [`Definer`], [`Defaults`].
//! The session asks for what a statement needs (`check_` functions), commits what was open, locks the names, and calls what is
//! done under these locks (`_locked` functions). Thread rules: the session's.

use catalog::{HeldLocks, LockKey, LockMode};
use charset::CollationId;
use declared::DeclaredTypes;
use dictionary::TableName;
use engine::{Table, TemporaryTables};
use errors::{Condition, Diagnostics, SqlResult, sql_error};
use expression::{SqlMode, StatementFacts, TypedValue};
use instance::{Instance, SessionShared, SessionUser, StatementSettings, collations, lock_limit, lock_owner};
use parser::ast::{
    AlterAction, ColumnAttribute, ColumnSpecification, Expression, ObjectName, Statement, TableElement,
};
use std::sync::Arc;
use variables::{SessionVariables, id};

/// See the module's text.
pub struct Definer<'s> {
    /// The server.
    pub instance: &'s Instance,
    /// The session as others see it.
    pub shared: &'s SessionShared,
    /// Its user.
    pub user: &'s mut SessionUser,
    /// Its variables.
    pub variables: &'s SessionVariables,
    /// What they say to statements.
    pub settings: &'s StatementSettings,
    /// Facts of the running statement.
    pub facts: StatementFacts,
    /// The default schema.
    pub schema: Option<&'s str>,
    /// Conditions of the running statement.
    pub diagnostics: &'s mut Diagnostics,
    /// The session's temporary tables.
    pub temporary: &'s TemporaryTables,
    /// What the session holds by name.
    pub locks: &'s mut HeldLocks,
    /// Values of the statement's defaults.
    pub defaults: Defaults,
}

impl Definer<'_> {
    /// The full name of a table. Error 1046 without a default schema.
    pub(super) fn table_name(&self, name: &ObjectName) -> SqlResult<TableName> {
        instance::table_name(name, self.schema)
    }

    /// The temporary table or, in want of that, the base table of a name.
    pub(super) fn table(&self, name: &TableName) -> Option<Arc<Table>> {
        let own = self.temporary.table(&name.schema, &name.table);
        own.or_else(|| self.instance.engine().dictionary().table(&name.schema, &name.table))
    }

    /// Whether a name is that of a temporary table of the session.
    pub fn is_temporary(&self, name: &TableName) -> bool {
        self.temporary.has(name)
    }

    /// Lists of a statement may be long. Error 1317.
    pub(super) fn check_killed(&self) -> SqlResult<()> {
        self.shared.check_killed()
    }

    pub(super) fn sql_mode(&self) -> SqlMode {
        SqlMode(self.variables.get(id::SQL_MODE).unsigned())
    }

    pub(super) fn connection_collation(&self) -> CollationId {
        collations::connection(self.variables)
    }

    /// What declared types mean to the session.
    pub(super) fn types(&mut self) -> DeclaredTypes<'_> {
        let (sql_mode, connection) = (self.sql_mode(), self.connection_collation());
        DeclaredTypes { diagnostics: self.diagnostics, sql_mode, connection }
    }

    /// More locks for the statement, taken in the order of their keys.
    pub(super) fn lock_for_statement(&mut self, wanted: Vec<(LockKey, LockMode)>) -> SqlResult<()> {
        let limit = lock_limit(self.shared, self.settings.metadata_lock_timeout);
        self.locks.take_for_statement(lock_owner(self.instance, self.shared), limit, wanted)
    }

    /// The same, but for those that the statement holds: they were asked for in the same modes.
    pub(super) fn lock_more_for_statement(&mut self, wanted: Vec<(LockKey, LockMode)>) -> SqlResult<()> {
        let is_new = |(key, _): &(LockKey, LockMode)| !self.locks.has_for_statement(key);
        let wanted: Vec<_> = wanted.into_iter().filter(is_new).collect();
        self.lock_for_statement(wanted)
    }

    /// Gives one name back before the statement ends.
    pub(super) fn unlock_for_statement(&mut self, key: &LockKey) {
        self.locks.release_of_statement(lock_owner(self.instance, self.shared), key);
    }
}

/// The defaults that a statement declares, with the values that the session worked out for them. What that failed with or warned of
/// is told where the default is used: a statement with several mistakes tells of the first.
#[derive(Default)]
pub struct Defaults(Vec<(Expression, SqlResult<TypedValue>, Vec<Condition>)>);

impl Defaults {
    /// Takes the value of a default, and what it warned of.
    pub fn add(&mut self, expression: &Expression, value: SqlResult<TypedValue>, conditions: Vec<Condition>) {
        self.0.push((expression.clone(), value, conditions));
    }

    pub(super) fn value_of(
        &self,
        expression: &Expression,
        diagnostics: &mut Diagnostics,
    ) -> SqlResult<TypedValue> {
        let found = self.0.iter().find(|(known, ..)| known == expression);
        let Some((_, value, conditions)) = found else {
            return Err(sql_error!(ER_INTERNAL_ERROR, "a default without value"));
        };
        for condition in conditions {
            diagnostics.push(condition.level, condition.error.clone());
        }
        value.clone()
    }
}

/// The constants after DEFAULT in a statement: literals with or without a sign.
pub fn declared_defaults(statement: &Statement) -> Vec<&Expression> {
    match statement {
        Statement::CreateTable(create) => of_elements(&create.elements).collect(),
        Statement::AlterTable(alter) => alter.actions.iter().flat_map(of_action).collect(),
        _ => Vec::new(),
    }
}

fn of_action(action: &AlterAction) -> Vec<&Expression> {
    match action {
        AlterAction::AddColumn { column, .. } | AlterAction::ChangeColumn { column, .. } => {
            of_column(column).collect()
        }
        AlterAction::AddElements(elements) => of_elements(elements).collect(),
        AlterAction::SetDefault { default, .. } => of_attribute(default).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn of_elements(elements: &[TableElement]) -> impl Iterator<Item = &Expression> {
    let columns = elements.iter().filter_map(|element| match element {
        TableElement::Column(column) => Some(column),
        _ => None,
    });
    columns.flat_map(of_column)
}

fn of_column(column: &ColumnSpecification) -> impl Iterator<Item = &Expression> {
    column.attributes.iter().filter_map(of_attribute)
}

fn of_attribute(attribute: &ColumnAttribute) -> Option<&Expression> {
    match attribute {
        ColumnAttribute::Default(value) => {
            matches!(value, Expression::Literal(_) | Expression::Unary { .. }).then_some(value)
        }
        ColumnAttribute::DefaultExpression(value) => matches!(value, Expression::Literal(_)).then_some(value),
        _ => None,
    }
}
