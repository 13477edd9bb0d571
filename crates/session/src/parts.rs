//! What a running statement borrows of its session. Main types: [`Parts`], [`Execution`]. Nothing is copied: the same parts are
//! lent again to a statement that starts within another one. Thread rules: the session's.

use crate::files::SessionFiles;
use crate::instance::Instance;
use crate::privileges::GrantCheck;
use crate::registry::SessionShared;
use crate::session_user::SessionUser;
use crate::state::SessionState;
use crate::system_tables::{Overlay, SystemTables};
use engine::Transaction;
use errors::Diagnostics;
use exec::{ExecutionSettings, LongParameters, StatementContext};
use expression::{StatementFacts, TypedValue};
use std::sync::Arc;

/// The session as a running statement has it.
pub(crate) struct Parts<'a> {
    pub instance: &'a Arc<Instance>,
    pub shared: &'a SessionShared,
    pub user: &'a SessionUser,
    /// The transaction, which has begun.
    pub transaction: &'a Transaction,
    pub state: &'a mut SessionState,
}

/// What one execution of a statement has of its own.
pub(crate) struct Execution<'a> {
    pub facts: &'a StatementFacts,
    pub settings: ExecutionSettings,
    pub parameters: &'a [TypedValue],
    /// Those of them that are too long for memory.
    pub long_parameters: Option<&'a Arc<LongParameters>>,
    /// One more virtual table.
    pub overlay: Option<Overlay>,
}

impl Parts<'_> {
    /// Calls `run` with the context of an execution.
    pub fn with_context<T>(
        &mut self,
        execution: Execution<'_>,
        diagnostics: &mut Diagnostics,
        run: impl FnOnce(&mut StatementContext<'_>) -> T,
    ) -> T {
        let (instance, shared, user, transaction) = (self.instance, self.shared, self.user, self.transaction);
        self.state.given_insert_id = None;
        let mut files = SessionFiles::new(instance, user.reads_files());
        let privileges = GrantCheck { grants: &user.grants, user: &user.account.user, host: &user.host };
        let tables = SystemTables {
            instance,
            shared,
            user,
            variables: Arc::clone(&self.state.variables),
            overlay: execution.overlay,
        };
        let mut context = StatementContext {
            engine: instance.engine(),
            transaction,
            facts: execution.facts,
            session: self,
            diagnostics,
            privileges: &privileges,
            virtual_tables: &tables,
            files: &mut files,
            parameters: execution.parameters,
            long_parameters: execution.long_parameters,
            kill: &shared.kill,
            settings: execution.settings,
        };
        run(&mut context)
    }
}
