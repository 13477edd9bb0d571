//! A view as text: its query without the schema that need not be told, and SHOW CREATE VIEW.

use dictionary::{ViewAlgorithm, ViewCheck, ViewDefinition};
use parser::ast::Name;
use parser::{PrintedTables, QueryStyle, print_query};
use values::print::quoted;

/// A text of ours names its columns with their tables.
struct NoTables;

impl PrintedTables for NoTables {
    fn columns(&self, _schema: &str, _table: &str) -> Option<Vec<(Name, bool)>> {
        None
    }
}

/// The query of a view. `hidden_schema`: what is not printed before the names of its tables.
pub(crate) fn query_text(view: &ViewDefinition, hidden_schema: Option<&str>, introducers: bool) -> String {
    let charset = charset::collation_by_name(&view.connection_collation)
        .map_or("utf8mb4", |collation| collation.charset().name);
    let style = QueryStyle {
        tables: &NoTables,
        schema: Some(&view.shape.name.schema),
        hidden_schema,
        charset,
        introducers,
    };
    let printed = instance::view_query(view).ok().and_then(|query| print_query(&query, &style));
    printed.map_or_else(|| view.query.clone(), |printed| printed.text)
}

/// CREATE VIEW. `schema`: the session's.
pub(crate) fn create_view(view: &ViewDefinition, schema: Option<&str>) -> String {
    let name = &view.shape.name;
    let is_own = schema == Some(name.schema.as_str());
    let algorithm = match view.algorithm {
        ViewAlgorithm::Undefined => "UNDEFINED",
        ViewAlgorithm::Merge => "MERGE",
        ViewAlgorithm::TempTable => "TEMPTABLE",
    };
    let mut text = format!(
        "CREATE ALGORITHM={algorithm} DEFINER={}@{} SQL SECURITY {} VIEW ",
        quoted(&view.definer_user),
        quoted(&view.definer_host),
        if view.invoker_security { "INVOKER" } else { "DEFINER" },
    );
    if !is_own {
        text.push_str(&format!("{}.", quoted(&name.schema)));
    }
    text.push_str(&quoted(&name.table));
    if !view.columns.is_empty() {
        let columns: Vec<String> = view.columns.iter().map(|column| quoted(column)).collect();
        text.push_str(&format!(" ({})", columns.join(",")));
    }
    text.push_str(" AS ");
    text.push_str(&query_text(view, is_own.then_some(name.schema.as_str()), true));
    text.push_str(match view.check_option {
        ViewCheck::None => "",
        ViewCheck::Local => " WITH LOCAL CHECK OPTION",
        ViewCheck::Cascaded => " WITH CASCADED CHECK OPTION",
    });
    text
}
