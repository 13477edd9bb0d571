//! What statements see and change of a session: variables and ids. Main type: [`SessionState`]. Expressions reach it through
//! [`crate::parts::Parts`].

use crate::kept_memory::KeptMemory;
use crate::user_variables::UserVariables;
use charset::CollationId;
use errors::SqlResult;
use expression::TypedValue;
use std::sync::Arc;
use stdx::ids::Lsn;
use values::{ColumnType, TypeKind, Value};
use variables::{Kind, SessionVariables, SystemValue, SystemVariable, VariableId, id};

/// What statements leave to those after them. A stored function gives its caller's back.
#[derive(Clone, Copy, Debug, Default)]
pub struct StatementNumbers {
    /// LAST_INSERT_ID().
    pub last_insert_id: u64,
    /// The argument of LAST_INSERT_ID(n) in the running statement: the id of its OK packet unless it generated one.
    pub given_insert_id: Option<u64>,
    /// ROW_COUNT().
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// Conditions of the statement before the running one.
    pub warning_count: u64,
    /// Of these, errors.
    pub error_count: u64,
}

/// What session variables are, for messages.
pub(crate) const SYSTEM_VARIABLES: &str = "system variables";

/// See the module's text.
pub struct SessionState {
    /// Session variables; shared with the system views of a running statement.
    pub variables: Arc<SessionVariables>,
    /// What long texts among them take.
    pub variable_texts: KeptMemory,
    /// User variables.
    pub user_variables: UserVariables,
    pub numbers: StatementNumbers,
    /// SET INSERT_ID for the next statement that generates ids.
    pub insert_id: Option<u64>,
    /// RAND()'s state.
    pub random: [u32; 2],
    /// SET TIMESTAMP, microseconds since 1970; None for the clock.
    pub fixed_time_microseconds: Option<i64>,
    /// When the running statement started, microseconds since 1970.
    pub statement_time_microseconds: i64,
    /// Transactions that begin from now on see commits up to there, durable or not.
    pub sees_commits_to: Lsn,
    /// SET @@pseudo_thread_id.
    pub pseudo_thread_id: Option<u64>,
}

impl SessionState {
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

    /// Makes room for the text of a session variable, which is set next; error 3170 if all of them are too long together.
    pub fn make_room(&self, id: VariableId, value: &SystemValue) -> SqlResult<()> {
        self.variable_texts.set(self.variables.own_text_bytes(id) + value.text_bytes())
    }

    /// Sets a user variable; error 3170 if all of the session's are too long together.
    pub fn set_user_variable(&mut self, name: &str, value: TypedValue) -> SqlResult<()> {
        let value = self.as_variable(value);
        self.user_variables.set(name, value)
    }

    /// A value as a user variable holds it: a date, a time and a member of an ENUM or SET as text. The bytes of a literal
    /// such as `x'41'` are no number any more.
    fn as_variable(&self, mut typed: TypedValue) -> TypedValue {
        if typed.column_type.kind == TypeKind::Json && !matches!(typed.value, Value::Null) {
            let text = values::convert::to_text(typed.value.as_ref(), &typed.column_type);
            let text = text.unwrap_or_default().into_owned();
            let column_type = ColumnType::text(TypeKind::LongText, CollationId::UTF8MB4_BIN);
            return TypedValue { value: Value::Bytes(text), column_type };
        }
        if typed.column_type.is_number_bytes() {
            typed.column_type.decimals = None;
        }
        let kind = typed.column_type.kind;
        if !kind.is_temporal() && !kind.has_members() || matches!(typed.value, Value::Null) {
            return typed;
        }
        let text = values::convert::to_text(typed.value.as_ref(), &typed.column_type)
            .unwrap_or_default()
            .into_owned();
        let collation = match kind.has_members() {
            true => typed.column_type.collation,
            false => charset::collation_by_name(&self.text(id::COLLATION_CONNECTION))
                .map_or(CollationId::UTF8MB4_0900_AI_CI, |found| found.id),
        };
        let length = collation.charset().character_count(&text) as u32;
        TypedValue { value: Value::Bytes(text), column_type: ColumnType::varchar(length, collation) }
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
