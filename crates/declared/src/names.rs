//! Character sets and collations by name.

use charset::{Charset, Collation};
use errors::{Diagnostics, SqlResult, sql_error};

/// The character set of that name. Error 1115; warning 3719 for the alias utf8, 1287 for those that MySQL will drop.
pub fn find_charset(name: &str, diagnostics: &mut Diagnostics) -> SqlResult<&'static Charset> {
    if name.eq_ignore_ascii_case("utf8") {
        diagnostics.warning(sql_error!(ER_DEPRECATED_UTF8_ALIAS));
    } else if let Some(old) = charset::deprecated(name) {
        diagnostics.warning(sql_error!(ER_WARN_DEPRECATED_SYNTAX, old, "utf8mb4"));
    }
    charset::charset_by_name(name).ok_or_else(|| sql_error!(ER_UNKNOWN_CHARACTER_SET, name))
}

/// The collation of that name. Error 1273; 1235 for one whose order is not known here.
pub fn find_collation(name: &str) -> SqlResult<&'static Collation> {
    let collation = charset::collation_by_name(name).ok_or_else(|| sql_error!(ER_UNKNOWN_COLLATION, name))?;
    match collation.is_supported() {
        true => Ok(collation),
        false => Err(sql_error!(ER_NOT_SUPPORTED_YET, format!("collation {}", collation.name))),
    }
}

/// The same where a statement names it for what it defines: with warning 3778 for one of the character set utf8mb3.
pub fn named_collation(name: &str, diagnostics: &mut Diagnostics) -> SqlResult<&'static Collation> {
    let collation = find_collation(name)?;
    if collation.charset().name == "utf8mb3" {
        diagnostics.warning(sql_error!(ER_WARN_DEPRECATED_UTF8MB3_COLLATION, collation.name));
    }
    Ok(collation)
}
