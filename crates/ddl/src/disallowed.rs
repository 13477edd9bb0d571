//! What no condition of a CHECK constraint may hold: its value must follow from the row alone. Main function: [`check_disallowed`].

use errors::{SqlResult, sql_error};
use parser::ast::{Child, Expression};

/// Functions that read or change something beside their arguments, by the names that messages show. As MySQL has it, SYSDATE and
/// RANDOM_BYTES are not among them.
const DISALLOWED: &[(&str, &str)] = &[
    ("benchmark", "benchmark"),
    ("connection_id", "connection_id"),
    ("curdate", "curdate"),
    ("current_date", "curdate"),
    ("current_role", "current_role"),
    ("current_time", "curtime"),
    ("current_timestamp", "now"),
    ("current_user", "current_user"),
    ("curtime", "curtime"),
    ("database", "database"),
    ("found_rows", "found_rows"),
    ("get_lock", "get_lock"),
    ("icu_version", "icu_version()"),
    ("is_free_lock", "is_free_lock"),
    ("is_used_lock", "is_used_lock"),
    ("last_insert_id", "last_insert_id"),
    ("load_file", "load_file"),
    ("localtime", "now"),
    ("localtimestamp", "now"),
    ("now", "now"),
    ("rand", "rand"),
    ("release_all_locks", "release_all_locks"),
    ("release_lock", "release_lock"),
    ("row_count", "row_count"),
    ("schema", "database"),
    ("session_user", "user"),
    ("sleep", "sleep"),
    ("source_pos_wait", "source_pos_wait"),
    ("system_user", "user"),
    ("unix_timestamp", "unix_timestamp"),
    ("user", "user"),
    ("utc_date", "utc_date"),
    ("utc_time", "utc_time"),
    ("utc_timestamp", "utc_timestamp"),
    ("uuid", "uuid"),
    ("uuid_short", "uuid_short"),
    ("version", "version()"),
];

/// Errors 1111, 3593, 3814, 3815, 3816 for the constraint of that name.
pub(super) fn check_disallowed(expression: &Expression, name: &str) -> SqlResult<()> {
    use Expression as E;
    let function = |function: &str| {
        Err(sql_error!(ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED, name, function.to_owned()))
    };
    match expression {
        E::UserVariable(_) | E::AssignVariable { .. } | E::SystemVariable(_) | E::Parameter(_) => {
            return Err(sql_error!(ER_CHECK_CONSTRAINT_VARIABLES, name));
        }
        E::Exists(_) | E::Subquery(_) | E::InSubquery { .. } | E::Quantified { .. } => {
            return Err(sql_error!(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, name));
        }
        E::Aggregate(_) | E::Grouping(_) => return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE)),
        E::WindowFunction(call) => {
            return Err(sql_error!(ER_WINDOW_INVALID_WINDOW_FUNC_USE, call.kind.name()));
        }
        E::Values(_) => return function("values"),
        E::Match { .. } => return function("match"),
        E::Function(call) => {
            let lower = call.name.to_ascii_lowercase();
            if let Some(schema) = &call.schema {
                return function(&format!("`{schema}`.`{}`", call.name));
            }
            if lower == "name_const" {
                return Err(sql_error!(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, name));
            }
            if let Some((_, shown)) = DISALLOWED.iter().find(|(known, _)| *known == lower) {
                return function(shown);
            }
            if expression::builtin::find(&lower).is_none() {
                return function(&format!("`{}`", call.name));
            }
        }
        _ => {}
    }
    let mut refused = Ok(());
    expression.each_child(&mut |child| {
        if let (Child::Expression(child), true) = (child, refused.is_ok()) {
            refused = check_disallowed(child, name);
        }
    });
    refused
}
