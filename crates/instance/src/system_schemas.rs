//! Schemas without storage by name, and who may read what is in them. What is in them is `sysviews`' business.

/// Schema and table of an overlay: SHOW's own result, which SHOW .. WHERE filters.
pub const OVERLAY_SCHEMA: &str = "#show";
/// See [`OVERLAY_SCHEMA`].
pub const OVERLAY_TABLE: &str = "result";

const SCHEMAS: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];

/// Whether a name is for internal use: no statement may use it.
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('#')
}

/// The system schema of that name in its own spelling.
pub fn system_schema(name: &str) -> Option<&'static str> {
    SCHEMAS.into_iter().find(|schema| match *schema {
        // These two are compared without regard to case even where file names are not.
        "information_schema" | "performance_schema" => schema.eq_ignore_ascii_case(name),
        _ => *schema == name,
    })
}

/// Whether the schema has no storage.
pub fn is_system_schema(name: &str) -> bool {
    system_schema(name).is_some() || name == OVERLAY_SCHEMA
}

/// Whether nobody may change anything in the schema.
pub fn is_read_only_schema(name: &str) -> bool {
    is_system_schema(name) || is_hidden(name)
}

/// Whether everybody may read the table: information_schema (each view shows what the user may see), SHOW's own
/// result, and the tables of performance_schema that clients ask on connect.
pub fn is_always_readable(schema: &str, table: &str) -> bool {
    const OPEN: &[&str] = &[
        "session_variables",
        "global_variables",
        "session_status",
        "global_status",
        "variables_info",
        "variables_metadata",
        "persisted_variables",
        "global_variable_attributes",
        "session_account_connect_attrs",
        "processlist",
        "",
    ];
    match schema {
        "information_schema" => true,
        "performance_schema" => OPEN.contains(&table),
        _ => schema == OVERLAY_SCHEMA,
    }
}
