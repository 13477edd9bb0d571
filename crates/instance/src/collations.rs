//! Character sets and collations by name, and those that a session's variables say.

use charset::CollationId;
pub use declared::{find_charset, find_collation, named_collation};
use errors::{Diagnostics, SqlResult, sql_error};
use variables::{SessionVariables, SystemValue, VariableId, id};

/// The collation that a pair of clauses means. Error 1253 if they do not belong together.
pub fn resolve(
    charset: Option<&str>,
    collation: Option<&str>,
    diagnostics: &mut Diagnostics,
) -> SqlResult<Option<CollationId>> {
    let charset = charset.map(|name| find_charset(name, diagnostics)).transpose()?;
    let collation = collation.map(|name| named_collation(name, diagnostics)).transpose()?;
    match (charset, collation) {
        (Some(charset), Some(collation)) if collation.charset().name != charset.name => {
            Err(sql_error!(ER_COLLATION_CHARSET_MISMATCH, collation.name, charset.name))
        }
        (_, Some(collation)) => Ok(Some(collation.id)),
        (Some(charset), None) => Ok(Some(charset.default_collation)),
        (None, None) => Ok(None),
    }
}

fn text(variables: &SessionVariables, id: VariableId) -> String {
    variables.get(id).text(id.variable())
}

/// The collation that a variable names.
pub fn of_variable(variables: &SessionVariables, id: VariableId) -> CollationId {
    charset::collation_by_name(&text(variables, id)).map_or(CollationId::UTF8MB4_0900_AI_CI, |found| found.id)
}

/// collation_connection.
pub fn connection(variables: &SessionVariables) -> CollationId {
    of_variable(variables, id::COLLATION_CONNECTION)
}

/// The default collation of the character set of results; BINARY when results are not converted.
pub fn of_results(variables: &SessionVariables) -> CollationId {
    let SystemValue::Text(name) = variables.get(id::CHARACTER_SET_RESULTS) else {
        return CollationId::BINARY;
    };
    charset::charset_by_name(name).map_or(CollationId::BINARY, |charset| {
        let connection = connection(variables);
        let same = connection.charset().name == charset.name;
        if same { connection } else { charset.default_collation }
    })
}

/// A collation of the client's character set.
pub fn of_client(variables: &SessionVariables) -> CollationId {
    charset::charset_by_name(&text(variables, id::CHARACTER_SET_CLIENT))
        .map_or(CollationId::UTF8MB4_0900_AI_CI, |charset| charset.default_collation)
}
