//! Statements and connections against MAX_QUERIES_PER_HOUR and its like.

use crate::{Command, Instance, SessionShared, SessionUser, StatementTraits};
use accounts::{Resource, StatementLimits};
use errors::{SqlError, SqlResult, sql_error};
use std::sync::Arc;
use variables::id;

fn exceeded(user: &str, resource: Resource, limit: u64) -> SqlError {
    sql_error!(ER_USER_LIMIT_REACHED, user, resource.name(), limit)
}

impl SessionUser {
    /// Counts a statement that came as text. Error 1226 beyond MAX_QUERIES_PER_HOUR and MAX_UPDATES_PER_HOUR.
    #[inline]
    pub fn count_statement(
        &self,
        instance: &Instance,
        shared: &SessionShared,
        traits: StatementTraits,
    ) -> SqlResult<()> {
        match &self.statement_limits {
            Some(limits) if shared.runs(Command::Query) => self.count_limited(instance, limits, traits),
            _ => Ok(()),
        }
    }

    fn count_limited(
        &self,
        instance: &Instance,
        limits: &StatementLimits,
        traits: StatementTraits,
    ) -> SqlResult<()> {
        let now = instance.monotonic_microseconds();
        let exceeded = |resource: Resource| move |limit| exceeded(&self.account.user, resource, limit);
        limits.take(Resource::Questions, now).map_err(exceeded(Resource::Questions))?;
        if traits.counts_as_update {
            limits.take(Resource::Updates, now).map_err(exceeded(Resource::Updates))?;
        }
        Ok(())
    }

    /// Counts a connection. Errors: 1226 beyond MAX_USER_CONNECTIONS and MAX_CONNECTIONS_PER_HOUR, 1203 beyond the server's
    /// max_user_connections for an account without limit of its own, unless an administrator comes to see why.
    pub fn count_connection(&mut self, instance: &Instance, shared: &SessionShared) -> SqlResult<()> {
        let accounts = instance.accounts();
        let Some(account) = accounts.get(&self.account) else { return Ok(()) };
        let user = &account.name.user;
        let open_max = instance.global_number(id::MAX_USER_CONNECTIONS);
        let own_max = account.limits[Resource::Open as usize];
        if own_max == 0 && open_max > 0 && self.open_beside(instance, shared) >= open_max {
            return match self.current_grants(instance).dynamic("CONNECTION_ADMIN") {
                true => Ok(()),
                false => Err(sql_error!(ER_TOO_MANY_USER_CONNECTIONS, user)),
            };
        }
        if own_max > 0 && self.open_beside(instance, shared) >= own_max {
            return Err(exceeded(user, Resource::Open, own_max));
        }
        let limit = account.limits[Resource::Connections as usize];
        if limit == 0 || account.used.take(Resource::Connections, limit, instance.monotonic_microseconds()) {
            return Ok(());
        }
        Err(exceeded(user, Resource::Connections, limit))
    }

    /// The account's sessions beside this one.
    fn open_beside(&self, instance: &Instance, shared: &SessionShared) -> u64 {
        let is_other = |session: &&Arc<SessionShared>| {
            session.id != shared.id && session.describe().account == self.account_text
        };
        instance.registry().all().iter().filter(is_other).count() as u64
    }
}
