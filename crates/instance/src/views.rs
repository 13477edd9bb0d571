//! Views of the dictionary as statements use them: the text that is stored, as a tree. Main function: [`Instance::view`].

use crate::instance::Instance;
use charset::{CollationId, collation_by_name};
use dictionary::ViewDefinition;
use errors::{SqlResult, sql_error};
use parser::ParseOptions;
use parser::ast::{Query, Statement};
use plan::View;
use std::sync::Arc;

impl Instance {
    /// The view of that name, ready to be bound.
    pub fn view(&self, schema: &str, name: &str) -> SqlResult<Option<View>> {
        let Some(definition) = self.engine().dictionary().views.get(schema, name) else { return Ok(None) };
        let query = Arc::new(view_query(&definition)?);
        let (columns, schema) = (definition.columns.clone(), definition.shape.name.schema.clone());
        Ok(Some(View { query, columns, schema, definition }))
    }
}

/// The query of a view. Its text is in the one form, whatever the session's sql_mode says.
pub fn view_query(view: &ViewDefinition) -> SqlResult<Query> {
    let connection = collation_by_name(&view.connection_collation)
        .map_or(CollationId::UTF8MB4_0900_AI_CI, |found| found.id);
    let options = ParseOptions { connection, ..ParseOptions::default() };
    let parsed = parser::parse_one(view.query.as_bytes(), 0, options)?;
    match parsed.statement {
        Statement::Query(query) => Ok(*query),
        _ => Err(sql_error!(ER_VIEW_INVALID, view.shape.name.schema, view.shape.name.table)),
    }
}
