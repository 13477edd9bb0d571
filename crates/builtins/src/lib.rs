//! The built-in functions, by name. Main function: [`find`]. Each family is a file with a `FUNCTIONS` table; what a function is
//! says `expression::builtin`, and the README of that crate how to add one.
#![forbid(unsafe_code)]

mod accounts;
mod cipher;
mod control;
mod extremes;
mod hash;
mod identity;
mod information;
mod json;
mod locks;
mod miscellaneous;
mod network;
mod numeric;
mod parameters;
mod reads;
mod regexp;
mod statement_digest;
mod string;
mod temporal;
mod xml;

pub use json::array::CAST_AS_ARRAY;
pub use json::ask::MEMBER_OF;
pub use json::table::JSON_TABLE_DOCUMENT;
pub use json::value::{JSON_VALUE, Reaction};
pub use json::value_default::value_default;
pub use parameters::{ArgumentRule, argument_rule};
pub use reads::{Reads, reads_of};
pub use temporal::zones::AT_TIME_ZONE;

use errors::{SqlResult, sql_error};
use expression::builtin::{JsonArguments, acting, check_arity, pure};
use expression::{Call, Derivation, FunctionDefinition, ResultType};
use std::collections::HashMap;
use std::sync::LazyLock;
use values::Value;

type Derive = fn(&mut Derivation<'_>) -> SqlResult<ResultType>;
type Evaluate = fn(&mut Call<'_>) -> SqlResult<Value>;

/// A function of numbers alone.
const fn of_numbers(
    name: &'static str,
    least: usize,
    most: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    pure(name, least, most, derive, evaluate).taking(JsonArguments::Numbers)
}

/// A function of dates and times alone.
const fn of_moments(
    name: &'static str,
    least: usize,
    most: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    pure(name, least, most, derive, evaluate).taking(JsonArguments::Moments)
}

/// A function of its arguments alone that takes documents as they are.
const fn of_documents(
    name: &'static str,
    least: usize,
    most: usize,
    derive: Derive,
    evaluate: Evaluate,
) -> FunctionDefinition {
    pure(name, least, most, derive, evaluate).taking(JsonArguments::Documents)
}

/// The families.
static FAMILIES: &[&[FunctionDefinition]] = &[
    accounts::FUNCTIONS,
    statement_digest::FUNCTIONS,
    cipher::FUNCTIONS,
    control::FUNCTIONS,
    extremes::FUNCTIONS,
    hash::FUNCTIONS,
    identity::FUNCTIONS,
    information::FUNCTIONS,
    json::ask::FUNCTIONS,
    json::change::FUNCTIONS,
    json::make::FUNCTIONS,
    json::schema::FUNCTIONS,
    locks::FUNCTIONS,
    miscellaneous::FUNCTIONS,
    network::FUNCTIONS,
    numeric::FUNCTIONS,
    regexp::FUNCTIONS,
    string::build::FUNCTIONS,
    string::code::FUNCTIONS,
    string::cut::FUNCTIONS,
    string::search::FUNCTIONS,
    temporal::arithmetic::FUNCTIONS,
    temporal::clock::FUNCTIONS,
    temporal::construct::FUNCTIONS,
    temporal::format::FUNCTIONS,
    temporal::parse::FUNCTIONS,
    temporal::parts::FUNCTIONS,
    temporal::zones::FUNCTIONS,
    xml::FUNCTIONS,
];

static BY_NAME: LazyLock<HashMap<&'static str, &'static FunctionDefinition>> = LazyLock::new(|| {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|function| (function.name, function)).collect()
});

/// The function of that name (lower case).
pub fn find(name: &str) -> Option<&'static FunctionDefinition> {
    BY_NAME.get(name).copied()
}

/// Names that MySQL keeps for its own system views: whoever calls them is told so, whatever the arguments.
const INTERNAL: &[&str] = &[
    "can_access_column",
    "can_access_database",
    "can_access_event",
    "can_access_resource_group",
    "can_access_routine",
    "can_access_table",
    "can_access_trigger",
    "can_access_user",
    "can_access_view",
    "convert_cpu_id_mask",
    "convert_interval_to_user_interval",
    "get_dd_column_privileges",
    "get_dd_create_options",
    "get_dd_index_private_data",
    "get_dd_index_sub_part_length",
    "get_dd_property_key_value",
    "get_dd_schema_options",
    "get_dd_tablespace_private_data",
    "get_jdv_property_key_value",
    "internal_auto_increment",
    "internal_avg_row_length",
    "internal_check_time",
    "internal_checksum",
    "internal_data_free",
    "internal_data_length",
    "internal_dd_char_length",
    "internal_get_comment_or_error",
    "internal_get_dd_column_extra",
    "internal_get_enabled_role_json",
    "internal_get_hostname",
    "internal_get_mandatory_roles_json",
    "internal_get_partition_nodegroup",
    "internal_get_username",
    "internal_get_view_warning_or_error",
    "internal_index_column_cardinality",
    "internal_index_length",
    "internal_is_enabled_role",
    "internal_is_mandatory_role",
    "internal_keys_disabled",
    "internal_max_data_length",
    "internal_table_rows",
    "internal_tablespace_autoextend_size",
    "internal_tablespace_data_free",
    "internal_tablespace_extent_size",
    "internal_tablespace_extra",
    "internal_tablespace_free_extents",
    "internal_tablespace_id",
    "internal_tablespace_initial_size",
    "internal_tablespace_logfile_group_name",
    "internal_tablespace_logfile_group_number",
    "internal_tablespace_maximum_size",
    "internal_tablespace_row_format",
    "internal_tablespace_status",
    "internal_tablespace_total_extents",
    "internal_tablespace_type",
    "internal_tablespace_version",
    "internal_update_time",
    "internal_use_terminology_previous",
    "is_visible_dd_object",
    "remove_dd_property_key",
];

/// Errors of a call by name that do not depend on the arguments, with the name as it was written: 3566 for what only the server itself
/// may call, 1582 for a wrong number of arguments. What is no function here is left to others.
pub fn check_call(lower: &str, written: &str, arguments: usize) -> SqlResult<()> {
    if INTERNAL.binary_search(&lower).is_ok() {
        return Err(sql_error!(ER_NO_ACCESS_TO_NATIVE_FCT, written));
    }
    match find(lower) {
        Some(definition) if check_arity(definition, arguments).is_err() => {
            Err(sql_error!(ER_WRONG_PARAMCOUNT_TO_NATIVE_FCT, written))
        }
        _ => Ok(()),
    }
}

/// The names of all functions, as [`find`] takes them.
pub fn names() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(|family| family.iter()).map(|function| function.name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn internal_names_can_be_searched() {
        assert!(super::INTERNAL.is_sorted());
    }
}
