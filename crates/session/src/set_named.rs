//! SET of variables whose text is a name of something: character sets, collations, time zones, engines, locales.

use crate::charsets::refuse_client_charset;
use crate::set_places::convert_place;
use errors::{Diagnostics, SqlResult, sql_error};
use expression::locale;
use instance::Instance;
use instance::collations::{find_charset, named_collation};
use values::Value;
use variables::value::{display, wrong_type};
use variables::{Assigned, SystemValue, VariableId, id};

/// Variables whose text is a name of something: character sets, collations, time zones, engines.
pub(crate) fn convert_named(
    instance: &Instance,
    diagnostics: &mut Diagnostics,
    id: VariableId,
    assigned: &Assigned,
) -> SqlResult<Option<SystemValue>> {
    refuse_number(id, assigned)?;
    let shown = display(assigned);
    let is_null = matches!(assigned, Assigned::Value(Value::Null));
    let stored = |name: &str| Ok(Some(SystemValue::Text(name.into())));
    match id {
        id::CHARACTER_SET_RESULTS if is_null => Ok(Some(SystemValue::Null)),
        id::CHARACTER_SET_CLIENT
        | id::CHARACTER_SET_CONNECTION
        | id::CHARACTER_SET_RESULTS
        | id::CHARACTER_SET_SERVER
        | id::CHARACTER_SET_DATABASE
        | id::CHARACTER_SET_FILESYSTEM => {
            let charset = assigned_charset(diagnostics, id, &shown, is_null)?;
            stored(charset.name)
        }
        id::COLLATION_CONNECTION
        | id::COLLATION_SERVER
        | id::COLLATION_DATABASE
        | id::DEFAULT_COLLATION_FOR_UTF8MB4 => {
            refuse_null(id, is_null)?;
            let collation = match numbered_collation(&shown) {
                Some(collation) => collation,
                None => named_collation(&shown, diagnostics)?,
            };
            if id == id::COLLATION_DATABASE {
                diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.message(
                    "Updating 'collation_database' is deprecated. It will be made read-only in a future release.",
                ));
            }
            stored(collation.name)
        }
        id::TIME_ZONE => {
            refuse_null(id, is_null)?;
            match instance::time_zones::canonical(instance, &shown) {
                Some(name) => stored(&name),
                None => Err(sql_error!(ER_UNKNOWN_TIME_ZONE, shown)),
            }
        }
        id::DEFAULT_STORAGE_ENGINE | id::DEFAULT_TMP_STORAGE_ENGINE => {
            refuse_null(id, is_null)?;
            match sysviews::engines::find(&shown) {
                Some(name) => stored(name),
                None => Err(sql_error!(ER_UNKNOWN_STORAGE_ENGINE, shown)),
            }
        }
        id::LC_TIME_NAMES | id::LC_MESSAGES => {
            refuse_null(id, is_null)?;
            let found = match assigned {
                Assigned::Value(Value::Int(_) | Value::UInt(_)) => {
                    shown.parse().ok().and_then(locale::numbered)
                }
                _ => locale::find(&shown),
            };
            stored(found.ok_or_else(|| sql_error!(ER_UNKNOWN_LOCALE, shown))?.name)
        }
        id::GTID_NEXT if !shown.eq_ignore_ascii_case("AUTOMATIC") => {
            Err(sql_error!(ER_MALFORMED_GTID_SPECIFICATION, shown))
        }
        _ if is_null => Ok(None),
        _ => convert_place(instance, diagnostics, id, &shown),
    }
}

/// The character set that a variable is set to, by name or by a collation's number.
fn assigned_charset(
    diagnostics: &mut Diagnostics,
    id: VariableId,
    shown: &str,
    is_null: bool,
) -> SqlResult<&'static charset::Charset> {
    refuse_null(id, is_null)?;
    let charset = match numbered_collation(shown) {
        Some(collation) => collation.charset(),
        None => find_charset(shown, diagnostics)?,
    };
    if id == id::CHARACTER_SET_CLIENT {
        refuse_client_charset(charset, shown)?;
    }
    if id == id::CHARACTER_SET_DATABASE {
        diagnostics.warning(errors::code::ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT.message(
            "Updating 'character_set_database' is deprecated. It will be made read-only in a future release.",
        ));
    }
    Ok(charset)
}

/// Error 1232 for a number where names are wanted. Character sets and locales have whole numbers beside their names.
fn refuse_number(id: VariableId, assigned: &Assigned) -> SqlResult<()> {
    let Assigned::Value(value) = assigned else { return Ok(()) };
    let wrong = match id {
        id::TIME_ZONE
        | id::DEFAULT_STORAGE_ENGINE
        | id::DEFAULT_TMP_STORAGE_ENGINE
        | id::GTID_NEXT
        | id::INNODB_TMPDIR
        | id::INNODB_FT_USER_STOPWORD_TABLE
        | id::INNODB_FT_SERVER_STOPWORD_TABLE
        | id::INNODB_FT_AUX_TABLE => {
            matches!(
                value,
                Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) | Value::Float(_)
            )
        }
        id::CHARACTER_SET_CLIENT
        | id::CHARACTER_SET_CONNECTION
        | id::CHARACTER_SET_RESULTS
        | id::CHARACTER_SET_SERVER
        | id::CHARACTER_SET_DATABASE
        | id::CHARACTER_SET_FILESYSTEM
        | id::COLLATION_CONNECTION
        | id::COLLATION_SERVER
        | id::COLLATION_DATABASE
        | id::DEFAULT_COLLATION_FOR_UTF8MB4
        | id::LC_TIME_NAMES
        | id::LC_MESSAGES => matches!(value, Value::Decimal(_) | Value::Double(_) | Value::Float(_)),
        _ => false,
    };
    if wrong { Err(wrong_type(id.variable())) } else { Ok(()) }
}

/// Error 1231 for NULL.
fn refuse_null(id: VariableId, is_null: bool) -> SqlResult<()> {
    match is_null {
        true => Err(sql_error!(ER_WRONG_VALUE_FOR_VAR, id.variable().name, "NULL")),
        false => Ok(()),
    }
}

/// The collation of a number.
fn numbered_collation(shown: &str) -> Option<&'static charset::Collation> {
    charset::collation(charset::CollationId(shown.parse().ok()?))
}
