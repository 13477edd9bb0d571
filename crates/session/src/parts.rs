//! What a running statement borrows of its session. Main types: [`Parts`], [`Execution`]. Nothing is copied: the same parts are
//! lent again to a statement that starts within another one. Thread rules: the session's.

use crate::nested::Frame;
use crate::state::SessionState;
use engine::{TemporaryTables, Transaction};
use errors::Diagnostics;
use exec::{LongParameters, StatementContext};
use expression::TypedValue;
use instance::GrantCheck;
use instance::Instance;
use instance::SessionShared;
use instance::SessionUser;
use instance::files::SessionFiles;
use parser::ast::Hint;
use std::sync::Arc;
use sysviews::{Overlay, SystemTables};

/// The session as a running statement has it.
pub(crate) struct Parts<'a> {
    pub instance: &'a Arc<Instance>,
    pub shared: &'a SessionShared,
    pub user: &'a SessionUser,
    pub temporary: &'a TemporaryTables,
    /// The transaction, which has begun.
    pub transaction: &'a Transaction,
    pub state: &'a mut SessionState,
    pub frame: &'a Frame<'a>,
}

/// What one execution of a statement has of its own.
pub(crate) struct Execution<'a> {
    pub parameters: &'a [TypedValue],
    /// Those of them that are too long for memory.
    pub long_parameters: Option<&'a Arc<LongParameters>>,
    /// Hints that are for other blocks than those where they stand.
    pub hints: &'a [Hint],
    /// One more virtual table.
    pub overlay: Option<Overlay>,
}

impl Parts<'_> {
    /// The same parts, lent to what runs in that frame.
    pub fn within<'b>(&'b mut self, frame: &'b Frame<'b>) -> Parts<'b> {
        Parts {
            instance: self.instance,
            shared: self.shared,
            user: self.user,
            temporary: self.temporary,
            transaction: self.transaction,
            state: self.state,
            frame,
        }
    }

    /// Calls `run` with the context of an execution.
    pub fn with_context<T>(
        &mut self,
        execution: Execution<'_>,
        diagnostics: &mut Diagnostics,
        run: impl FnOnce(&mut StatementContext<'_>) -> T,
    ) -> T {
        let Parts { instance, shared, user, temporary, transaction, frame, .. } = *self;
        self.state.numbers.given_insert_id = None;
        let mut files = SessionFiles::new(instance, user.reads_files());
        let (account, host) = (&user.account, &user.host);
        let privileges = GrantCheck { instance: Some(instance), grants: &user.grants, account, host };
        let tables = SystemTables {
            instance,
            shared,
            user,
            variables: Arc::clone(&self.state.variables),
            overlay: execution.overlay,
        };
        let mut context = StatementContext {
            engine: instance.engine(),
            temporary,
            transaction,
            facts: frame.facts,
            session: self,
            diagnostics,
            privileges: &privileges,
            virtual_tables: &tables,
            files: &mut files,
            parameters: execution.parameters,
            long_parameters: execution.long_parameters,
            hints: execution.hints,
            server_memory: instance.statement_memory(),
            kill: &shared.kill,
            settings: frame.settings.clone(),
        };
        run(&mut context)
    }
}
