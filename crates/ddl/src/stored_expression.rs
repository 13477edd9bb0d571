//! Expressions that are kept with a definition: CHECK constraints, DEFAULT (expression), generated columns, functional key parts. What they may hold, the text that is kept,
//! the columns that it names. Main type: [`Purpose`].

use crate::definer::Definer;
use dictionary::TableDefinition;
use errors::{SqlError, SqlResult, sql_error};
use parser::ast::{Child, Expression};

/// What an expression is kept for, by the name that messages show.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'a> {
    /// The condition of a CHECK constraint.
    Check(&'a str),
    /// The default of a column.
    Default(&'a str),
    /// The values of a generated column.
    Generated(&'a str),
    /// A part of an index.
    KeyPart(&'a str),
}

/// Where a function that reads or changes something beside its arguments may be called.
#[derive(Clone, Copy, PartialEq)]
enum Allowed {
    Nowhere,
    InDefaults,
    /// As MySQL has it, though its value does not follow from the row.
    InChecksToo,
}

use Allowed::{InChecksToo, InDefaults, Nowhere};

/// Such functions, by the names that messages show.
const ACTING: &[(&str, &str, Allowed)] = &[
    ("benchmark", "benchmark", Nowhere),
    ("connection_id", "connection_id", InDefaults),
    ("curdate", "curdate", InDefaults),
    ("current_date", "curdate", InDefaults),
    ("current_role", "current_role", InDefaults),
    ("current_time", "curtime", InDefaults),
    ("current_timestamp", "now", InDefaults),
    ("current_user", "current_user", InDefaults),
    ("curtime", "curtime", InDefaults),
    ("database", "database", InDefaults),
    ("etag", "etag", InDefaults),
    ("found_rows", "found_rows", Nowhere),
    ("get_lock", "get_lock", Nowhere),
    ("icu_version", "icu_version()", Nowhere),
    ("is_free_lock", "is_free_lock", Nowhere),
    ("is_used_lock", "is_used_lock", Nowhere),
    ("last_insert_id", "last_insert_id", Nowhere),
    ("load_file", "load_file", Nowhere),
    ("localtime", "now", InDefaults),
    ("localtimestamp", "now", InDefaults),
    ("now", "now", InDefaults),
    ("rand", "rand", InDefaults),
    ("random_bytes", "random_bytes", InChecksToo),
    ("release_all_locks", "release_all_locks", Nowhere),
    ("release_lock", "release_lock", Nowhere),
    ("roles_graphml", "roles_graphml", InDefaults),
    ("row_count", "row_count", Nowhere),
    ("schema", "database", InDefaults),
    ("session_user", "user", InDefaults),
    ("sleep", "sleep", Nowhere),
    ("source_pos_wait", "source_pos_wait", Nowhere),
    ("statement_digest", "statement_digest", InChecksToo),
    ("statement_digest_text", "statement_digest_text", InChecksToo),
    ("sysdate", "sysdate", InChecksToo),
    ("system_user", "user", InDefaults),
    ("unix_timestamp", "unix_timestamp", InDefaults),
    ("updatexml", "updatexml", Nowhere),
    ("user", "user", InDefaults),
    ("utc_date", "utc_date", InDefaults),
    ("utc_time", "utc_time", InDefaults),
    ("utc_timestamp", "utc_timestamp", InDefaults),
    ("uuid", "uuid", InDefaults),
    ("uuid_short", "uuid_short", InDefaults),
    ("version", "version()", Nowhere),
];

/// Functions that are built in here and that MySQL has in components: tables with them could not be loaded there.
const OF_COMPONENTS: &[&str] = &["md5", "sha", "sha1"];

impl Purpose<'_> {
    fn allows(self, allowed: Allowed) -> bool {
        match self {
            Purpose::Check(_) => allowed == InChecksToo,
            Purpose::Default(_) => allowed != Nowhere,
            Purpose::Generated(_) | Purpose::KeyPart(_) => false,
        }
    }

    /// Error 3814, 3770, 3763 or 3758.
    fn function(self, shown: &str) -> SqlError {
        match self {
            Purpose::Check(name) => {
                sql_error!(ER_CHECK_CONSTRAINT_NAMED_FUNCTION_IS_NOT_ALLOWED, name, shown)
            }
            Purpose::Default(column) => {
                sql_error!(ER_DEFAULT_VAL_GENERATED_NAMED_FUNCTION_IS_NOT_ALLOWED, column, shown)
            }
            Purpose::Generated(column) => {
                sql_error!(ER_GENERATED_COLUMN_NAMED_FUNCTION_IS_NOT_ALLOWED, column, shown)
            }
            Purpose::KeyPart(_) => self.disallowed(),
        }
    }

    /// Error 3815, 3769, 3102 or 3758.
    fn disallowed(self) -> SqlError {
        match self {
            Purpose::Check(name) => sql_error!(ER_CHECK_CONSTRAINT_FUNCTION_IS_NOT_ALLOWED, name),
            Purpose::Default(column) => {
                sql_error!(ER_DEFAULT_VAL_GENERATED_FUNCTION_IS_NOT_ALLOWED, column)
            }
            Purpose::Generated(column) => sql_error!(ER_GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED, column),
            Purpose::KeyPart(index) => sql_error!(ER_FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED, index),
        }
    }

    /// Error 3816 or 3772.
    fn variables(self) -> SqlError {
        match self {
            Purpose::Check(name) => sql_error!(ER_CHECK_CONSTRAINT_VARIABLES, name),
            // MySQL has the one text for all.
            Purpose::Default(name) | Purpose::Generated(name) | Purpose::KeyPart(name) => {
                sql_error!(ER_DEFAULT_VAL_GENERATED_VARIABLES, name)
            }
        }
    }

    /// Error 3812, 3771, 3764 or 3800.
    fn row_value(self) -> SqlError {
        match self {
            Purpose::Check(name) => sql_error!(ER_NON_BOOLEAN_EXPR_FOR_CHECK_CONSTRAINT, name),
            Purpose::Default(column) => sql_error!(ER_DEFAULT_VAL_GENERATED_ROW_VALUE, column),
            Purpose::Generated(column) => sql_error!(ER_GENERATED_COLUMN_ROW_VALUE, column),
            Purpose::KeyPart(index) => sql_error!(ER_FUNCTIONAL_INDEX_ROW_VALUE_IS_NOT_ALLOWED, index),
        }
    }
}

/// A text stays after three times, where NOT stands before rows.
const PRINTED_AT_MOST: usize = 8;

/// The text that is kept of an expression. Errors: those of reading it back, 1111, 1235, 3102, 3593, 3763, 3764, 3769 to 3772, 3812,
/// 3814 to 3816.
pub(super) fn stored_text(
    definer: &Definer<'_>,
    expression: &Expression,
    purpose: Purpose<'_>,
) -> SqlResult<String> {
    match expression {
        // Nowhere else.
        Expression::Cast(cast) if cast.array && matches!(purpose, Purpose::KeyPart(_)) => {
            check_allowed(&cast.operand, purpose)?;
        }
        _ => check_allowed(expression, purpose)?,
    }
    if matches!(expression, Expression::Row(_)) {
        return Err(purpose.row_value());
    }
    let charset = definer.connection_collation().charset().name;
    let mut text = printed(expression, charset, purpose)?;
    for _ in 0..PRINTED_AT_MOST {
        // A text has a level of parentheses for each operator, and may be too deep to be read where the statement was not.
        let read = parser::parse_expression(text.as_bytes(), parser::ParseOptions::default())?;
        // MySQL keeps conditions as they are printed once, and reads and prints values until the text stays.
        let again = if matches!(purpose, Purpose::Check(_)) {
            text.clone()
        } else {
            printed(&read, charset, purpose)?
        };
        if again == text {
            break;
        }
        text = again;
    }
    Ok(text)
}

fn printed(expression: &Expression, charset: &str, purpose: Purpose<'_>) -> SqlResult<String> {
    parser::print_expression(expression, charset).ok_or_else(|| purpose.disallowed())
}

fn check_allowed(expression: &Expression, purpose: Purpose<'_>) -> SqlResult<()> {
    use Expression as E;
    match expression {
        E::UserVariable(_) | E::AssignVariable { .. } | E::SystemVariable(_) | E::Parameter(_) => {
            return Err(purpose.variables());
        }
        E::Exists(_) | E::Subquery(_) | E::InSubquery { .. } | E::Quantified { .. } => {
            return Err(purpose.disallowed());
        }
        E::Cast(cast) if cast.array => return Err(declared::array_elsewhere(cast)),
        E::Aggregate(_) | E::Grouping(_) => return Err(sql_error!(ER_INVALID_GROUP_FUNC_USE)),
        E::WindowFunction(call) => {
            return Err(sql_error!(ER_WINDOW_INVALID_WINDOW_FUNC_USE, call.kind.name()));
        }
        E::Default(_) if matches!(purpose, Purpose::KeyPart(_)) => return Err(purpose.disallowed()),
        E::Values(_) => return Err(purpose.function("values")),
        E::Match { .. } => return Err(purpose.function("match")),
        E::Function(call) => {
            if let Some(schema) = &call.schema {
                return Err(purpose.function(&format!("`{schema}`.`{}`", call.name)));
            }
            let lower = call.name.to_ascii_lowercase();
            if lower == "name_const" {
                return Err(purpose.disallowed());
            }
            match ACTING.iter().find(|(known, ..)| *known == lower) {
                Some((_, shown, allowed)) if !purpose.allows(*allowed) => {
                    return Err(purpose.function(shown));
                }
                None if builtins::find(&lower).is_none() || OF_COMPONENTS.contains(&&*lower) => {
                    return Err(purpose.function(&format!("`{}`", call.name)));
                }
                _ => {}
            }
        }
        _ => {}
    }
    let mut checked = Ok(());
    expression.each_child(&mut |child| {
        if let (Child::Expression(child), true) = (child, checked.is_ok()) {
            checked = check_allowed(child, purpose);
        }
    });
    checked
}

/// A column that an expression names.
#[derive(Clone, Copy)]
pub(super) struct NamedColumn<'a> {
    pub name: &'a str,
    /// Within DEFAULT(): its default is read, and not its value.
    pub is_default: bool,
}

/// The columns that an expression names, in the order of the text.
pub(super) fn named_columns<'a>(expression: &'a Expression, named: &mut Vec<NamedColumn<'a>>) {
    match expression {
        Expression::Column(column) => named.push(NamedColumn { name: &column.column, is_default: false }),
        Expression::Default(Some(column)) => {
            named.push(NamedColumn { name: &column.column, is_default: true });
        }
        _ => {}
    }
    expression.each_child(&mut |child| {
        if let Child::Expression(child) = child {
            named_columns(child, named);
        }
    });
}

/// The tree of a kept text.
pub(super) fn parsed(text: &str) -> Option<Expression> {
    parser::parse_expression(text.as_bytes(), parser::ParseOptions::default()).ok()
}

/// Whether a kept text names such a column.
pub(super) fn names_such(text: &str, is_such: impl Fn(NamedColumn<'_>) -> bool) -> bool {
    // It was printed by this server.
    let Some(expression) = parsed(text) else { return false };
    let mut named = Vec::new();
    named_columns(&expression, &mut named);
    named.into_iter().any(is_such)
}

/// The columns of its table that a kept text names, each once.
pub(super) fn columns_of(text: &str, definition: &TableDefinition) -> Vec<usize> {
    // It was printed by this server.
    let Some(expression) = parsed(text) else { return Vec::new() };
    let mut named = Vec::new();
    named_columns(&expression, &mut named);
    let mut columns: Vec<usize> =
        named.into_iter().filter_map(|column| definition.column_position(column.name)).collect();
    columns.sort_unstable();
    columns.dedup();
    columns
}
