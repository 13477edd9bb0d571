//! What expressions see of a session: variables, ids, user locks. Main type: [`SessionState`].

use crate::instance::Instance;
use crate::registry::SessionShared;
use crate::user_variables::UserVariables;
use crate::variables::{Kind, Scope, SystemValue, SystemVariable, ValueTable, VariableId, find, id};
use charset::CollationId;
use errors::{SqlResult, sql_error};
use expression::{SessionView, TypedValue, VariableScope};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use values::{ColumnType, TypeKind, Value};

/// The session's copies of system variables: the global ones as they were at connect, and what was changed since.
#[derive(Clone, Debug)]
pub struct SessionVariables {
    base: Arc<ValueTable>,
    changed: BTreeMap<VariableId, SystemValue>,
}

/// Hashes of values stay within the process.
static FINGERPRINT_KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl SessionVariables {
    /// A new session's.
    pub fn new(base: Arc<ValueTable>) -> SessionVariables {
        SessionVariables { base, changed: BTreeMap::new() }
    }

    /// Tells the global variables apart that sessions have started with.
    pub fn generation(&self) -> u64 {
        self.base.generation()
    }

    /// The session's value.
    pub fn get(&self, id: VariableId) -> &SystemValue {
        self.changed.get(&id).unwrap_or_else(|| self.base.get(id))
    }

    /// A number that differs between sessions whose values, or `more` that counts, differ.
    pub fn fingerprint(&self, more: impl Hash) -> u64 {
        let mut hasher = FINGERPRINT_KEYS.build_hasher();
        more.hash(&mut hasher);
        self.base.generation().hash(&mut hasher);
        for (id, value) in &self.changed {
            (id, value).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Changes the session's value.
    pub fn set(&mut self, id: VariableId, value: SystemValue) {
        self.changed.insert(id, value);
    }
}

/// See the module's text.
pub struct SessionState {
    /// What it shares with the others.
    pub instance: Arc<Instance>,
    /// What others see of it.
    pub shared: Arc<SessionShared>,
    /// Session variables; shared with the system views of a running statement.
    pub variables: Arc<SessionVariables>,
    /// User variables.
    pub user_variables: UserVariables,
    /// Whether the user of the running statement has the FILE privilege: LOAD_FILE() is NULL without.
    pub reads_files: bool,
    /// CURRENT_ROLE().
    pub current_role: Arc<str>,
    /// LAST_INSERT_ID().
    pub last_insert_id: u64,
    /// The argument of LAST_INSERT_ID(n) in the running statement: the id of its OK packet unless it generated one.
    pub given_insert_id: Option<u64>,
    /// SET INSERT_ID for the next statement.
    pub insert_id: Option<u64>,
    /// ROW_COUNT().
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// RAND()'s state.
    pub random: [u32; 2],
    /// Conditions of the statement before the running one.
    pub warning_count: u64,
    /// Of these, errors.
    pub error_count: u64,
    /// SET TIMESTAMP, microseconds since 1970; None for the clock.
    pub fixed_time_microseconds: Option<i64>,
    /// When the running statement started, microseconds since 1970.
    pub statement_time_microseconds: i64,
    /// SET @@pseudo_thread_id.
    pub pseudo_thread_id: Option<u64>,
}

impl SessionState {
    /// The value of a variable that is not in the tables.
    fn live_value(&self, id: VariableId) -> Option<SystemValue> {
        Some(match id {
            id::WARNING_COUNT => SystemValue::Integer(self.warning_count.into()),
            id::ERROR_COUNT => SystemValue::Integer(self.error_count.into()),
            id::LAST_INSERT_ID | id::IDENTITY => SystemValue::Integer(self.last_insert_id.into()),
            id::INSERT_ID => SystemValue::Integer(self.insert_id.unwrap_or(0).into()),
            id::PSEUDO_THREAD_ID => {
                SystemValue::Integer(self.pseudo_thread_id.unwrap_or(u64::from(self.shared.id)).into())
            }
            id::TIMESTAMP => SystemValue::Double(self.statement_time_microseconds as f64 / 1e6),
            _ => return None,
        })
    }

    /// The session's value of a variable; the global one where there is no session copy.
    pub fn value(&self, id: VariableId) -> SystemValue {
        match (self.live_value(id), id.variable().scope) {
            (Some(value), _) => value,
            (None, Scope::Global) => self.instance.global_value(id),
            (None, _) => self.variables.get(id).clone(),
        }
    }

    /// Whether a Boolean variable is ON in this session.
    pub fn is_on(&self, id: VariableId) -> bool {
        self.variables.get(id).is_on()
    }

    /// A numeric variable of this session.
    pub fn number(&self, id: VariableId) -> u64 {
        self.variables.get(id).unsigned()
    }

    /// A text or enumeration variable of this session.
    pub fn text(&self, id: VariableId) -> String {
        self.variables.get(id).text(id.variable())
    }

    /// The value that a read of `scope` yields. Error 1238 where there is no such copy.
    pub fn scoped_value(&self, id: VariableId, scope: VariableScope) -> SqlResult<SystemValue> {
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
    pub fn interruptible_sleep(&self, duration: Duration) -> bool {
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

/// The type of `SELECT @@variable`.
pub fn variable_type(variable: &SystemVariable) -> ColumnType {
    let mut column_type = match variable.kind {
        Kind::Boolean => ColumnType::big_int(),
        Kind::Integer => ColumnType::big_int_unsigned(),
        Kind::Double => ColumnType::double(),
        Kind::String | Kind::Enumeration | Kind::Set | Kind::Flags => ColumnType::new(TypeKind::VarChar),
    };
    match variable.kind {
        Kind::Boolean => column_type.length = Some(1),
        Kind::Double => column_type.decimals = Some(6),
        Kind::Integer => {}
        _ => {
            column_type.collation = charset::CollationId::UTF8MB3_GENERAL_CI;
            column_type.length = Some(21_845);
        }
    }
    column_type
}

impl SessionState {
    /// A value as a user variable holds it: a date, a time and a member of an ENUM or SET as text.
    fn as_variable(&self, typed: TypedValue) -> TypedValue {
        let kind = typed.column_type.kind;
        if !kind.is_temporal() && !kind.has_members() || matches!(typed.value, Value::Null) {
            return typed;
        }
        let text =
            values::convert::to_text(&typed.value, &typed.column_type).unwrap_or_default().into_owned();
        let collation = match kind.has_members() {
            true => typed.column_type.collation,
            false => charset::collation_by_name(&self.text(id::COLLATION_CONNECTION))
                .map_or(CollationId::UTF8MB4_0900_AI_CI, |found| found.id),
        };
        let length = collation.charset().character_count(&text) as u32;
        TypedValue { value: Value::Bytes(text), column_type: ColumnType::varchar(length, collation) }
    }
}

impl SessionView for SessionState {
    fn user_variable(&self, name: &str) -> Option<TypedValue> {
        self.user_variables.get(name).cloned()
    }

    fn set_user_variable(&mut self, name: &str, value: TypedValue) -> SqlResult<()> {
        let value = self.as_variable(value);
        self.user_variables.set(name, value)
    }

    fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<TypedValue> {
        let id = find(name).ok_or_else(|| sql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name))?;
        let value = self.scoped_value(id, scope)?;
        let variable = id.variable();
        Ok(TypedValue { value: value.to_value(variable), column_type: variable_type(variable) })
    }

    fn last_insert_id(&self) -> u64 {
        self.last_insert_id
    }

    fn set_last_insert_id(&mut self, value: u64) {
        self.last_insert_id = value;
        self.given_insert_id = Some(value);
    }

    fn auto_is_null(&self) -> bool {
        self.variables.get(id::SQL_AUTO_IS_NULL).is_on()
    }

    fn row_count(&self) -> i64 {
        self.row_count
    }

    fn found_rows(&self) -> u64 {
        self.found_rows
    }

    fn current_role(&self) -> Arc<str> {
        Arc::clone(&self.current_role)
    }

    fn get_lock(&mut self, name: &str, timeout_seconds: f64) -> SqlResult<Option<bool>> {
        let locks = self.instance.user_locks();
        locks.take(self.shared.id, name, timeout_seconds, &self.shared.kill).map(Some)
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
        crate::time_zones::find(&self.instance, name)
    }

    fn sleep(&mut self, seconds: f64) -> bool {
        // A month is far beyond any use and keeps the sum below overflow.
        self.interruptible_sleep(Duration::from_secs_f64(seconds.clamp(0.0, 2_678_400.0)))
    }

    fn random_state(&mut self) -> &mut [u32; 2] {
        &mut self.random
    }

    fn random_bytes(&mut self, bytes: &mut [u8]) {
        self.instance.environment().random.fill(bytes);
    }

    fn now_microseconds(&self) -> i64 {
        self.instance.wall_microseconds()
    }

    fn load_file(&mut self, path: &str) -> Option<Vec<u8>> {
        let limit = self.number(id::MAX_ALLOWED_PACKET);
        self.reads_files.then(|| crate::files::read_whole(&self.instance, path, limit)).flatten()
    }
}
