//! Variables whose session value not everybody may set, as the catalogue says. Entry point: [`check_session_privilege`].

use accounts::{Grants, Privileges};
use errors::{SqlResult, sql_error};
use variables::VariableId;

/// Error 1227 for those who may not set a session's own value.
pub(crate) fn check_session_privilege(variable: VariableId, grants: &Grants) -> SqlResult<()> {
    let wanted = variable.variable().session_privileges;
    let is_held = |name: &&str| match *name {
        "SUPER" => grants.global().contains(Privileges::SUPER),
        name => grants.holds_dynamic(name),
    };
    match wanted.split_last() {
        Some((last, others)) if !wanted.iter().any(is_held) => {
            let named = format!("{} or {last}", others.join(", "));
            Err(sql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, named))
        }
        _ => Ok(()),
    }
}
