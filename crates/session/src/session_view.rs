//! What expressions see of a session: variables, ids, user locks, the clock. Implemented over [`Parts`].

use crate::parts::Parts;
use crate::state::variable_type;
use errors::{SqlResult, sql_error};
use expression::context::RoleGraph;
use expression::{SessionView, TypedValue, VariableScope};
use std::sync::Arc;
use std::time::Duration;
use variables::{Scope, SystemValue, VariableId, find, id};

impl Parts<'_> {
    /// The value of a variable that is not in the tables.
    fn live_value(&self, id: VariableId) -> Option<SystemValue> {
        Some(match id {
            id::WARNING_COUNT => SystemValue::Integer(self.state.numbers.warning_count.into()),
            id::ERROR_COUNT => SystemValue::Integer(self.state.numbers.error_count.into()),
            id::LAST_INSERT_ID | id::IDENTITY => {
                SystemValue::Integer(self.state.numbers.last_insert_id.into())
            }
            id::INSERT_ID => SystemValue::Integer(self.state.insert_id.unwrap_or(0).into()),
            id::PSEUDO_THREAD_ID => {
                SystemValue::Integer(self.state.pseudo_thread_id.unwrap_or(u64::from(self.shared.id)).into())
            }
            id::TIMESTAMP => SystemValue::Double(self.state.statement_time_microseconds as f64 / 1e6),
            _ => return None,
        })
    }

    /// The session's value of a variable; the global one where there is no session copy.
    fn value(&self, id: VariableId) -> SystemValue {
        match (self.live_value(id), id.variable().scope) {
            (Some(value), _) => value,
            (None, Scope::Global) => self.instance.global_value(id),
            (None, _) => self.state.variables.get(id).clone(),
        }
    }

    /// The value that a read of `scope` yields. Error 1238 where there is no such copy.
    fn scoped_value(&self, id: VariableId, scope: VariableScope) -> SqlResult<SystemValue> {
        let variable = id.variable();
        match (scope, variable.scope) {
            (VariableScope::Session, Scope::Global) => {
                Err(sql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, variable.name, "GLOBAL"))
            }
            (VariableScope::Global | VariableScope::Persist, Scope::Session) => {
                Err(sql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, variable.name, "SESSION"))
            }
            (VariableScope::Global | VariableScope::Persist, _) => Ok(self.instance.global_value(id)),
            _ => Ok(self.value(id)),
        }
    }

    /// A sleep that a kill ends; true if it did.
    fn interruptible_sleep(&self, duration: Duration) -> bool {
        const SLICE: Duration = Duration::from_millis(20);
        let clock = &self.instance.environment().clock;
        let end = clock.monotonic().saturating_add(duration);
        env::blocking::region(|| {
            loop {
                if self.shared.kill.is_raised() {
                    return true;
                }
                match end.checked_sub(clock.monotonic()).filter(|left| !left.is_zero()) {
                    Some(left) => clock.sleep(left.min(SLICE)),
                    None => return false,
                }
            }
        })
    }
}

impl SessionView for Parts<'_> {
    fn user_variable(&self, name: &str) -> Option<TypedValue> {
        self.state.user_variables.get(name).cloned()
    }

    fn set_user_variable(&mut self, name: &str, value: TypedValue) -> SqlResult<()> {
        self.state.set_user_variable(name, value)
    }

    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<TypedValue> {
        let id = find(name).ok_or_else(|| sql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name))?;
        let value = self.scoped_value(id, scope)?;
        let variable = id.variable();
        Ok(TypedValue { value: value.to_value(variable), column_type: variable_type(variable) })
    }

    fn last_insert_id(&self) -> u64 {
        self.state.numbers.last_insert_id
    }

    fn set_last_insert_id(&mut self, value: u64) {
        self.state.numbers.last_insert_id = value;
        self.state.numbers.given_insert_id = Some(value);
    }

    fn auto_is_null(&self) -> bool {
        self.state.variables.get(id::SQL_AUTO_IS_NULL).is_on()
    }

    fn row_count(&self) -> i64 {
        self.state.numbers.row_count
    }

    fn found_rows(&self) -> u64 {
        self.state.numbers.found_rows
    }

    fn current_role(&self) -> Arc<str> {
        Arc::clone(&self.user.current_role)
    }

    fn role_graph(&self) -> Option<RoleGraph> {
        let sees_all = self.user.grants.dynamic("ROLE_ADMIN");
        sees_all.then(|| self.instance.accounts().role_graph())
    }

    fn is_connected(&self, connection_id: u64) -> bool {
        u32::try_from(connection_id).is_ok_and(|id| self.instance.registry().get(id).is_some())
    }

    fn get_lock(&mut self, name: &str, timeout_seconds: f64) -> SqlResult<Option<bool>> {
        let locks = self.instance.user_locks();
        let taken = locks.take(self.shared.id, name, timeout_seconds, &self.shared.kill)?;
        // Who had it may have committed a moment ago: what is read from now on must show that, durable or not.
        self.state.sees_commits_to = self.instance.engine().last_commit();
        Ok(Some(taken))
    }

    fn release_lock(&mut self, name: &str) -> SqlResult<Option<bool>> {
        self.instance.user_locks().release(self.shared.id, name)
    }

    fn release_all_locks(&mut self) -> u64 {
        self.instance.user_locks().release_all(self.shared.id)
    }

    fn lock_holder(&self, name: &str) -> SqlResult<Option<u64>> {
        Ok(self.instance.user_locks().holder(name)?.map(u64::from))
    }

    fn time_zone(&self, name: &str) -> Option<::expression::TimeZone> {
        instance::time_zones::find(self.instance, name)
    }

    fn sleep(&mut self, seconds: f64) -> bool {
        // A month is far beyond any use and keeps the sum below overflow.
        self.interruptible_sleep(Duration::from_secs_f64(seconds.clamp(0.0, 2_678_400.0)))
    }

    fn random_state(&mut self) -> &mut [u32; 2] {
        &mut self.state.random
    }

    fn random_bytes(&mut self, bytes: &mut [u8]) {
        self.instance.environment().random.fill(bytes);
    }

    fn now_microseconds(&self) -> i64 {
        self.instance.wall_microseconds()
    }

    fn load_file(&mut self, path: &str) -> Option<Vec<u8>> {
        let limit = self.state.number(id::MAX_ALLOWED_PACKET);
        self.user.reads_files().then(|| instance::files::read_whole(self.instance, path, limit)).flatten()
    }
}
