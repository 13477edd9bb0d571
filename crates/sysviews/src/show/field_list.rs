//! The columns of a table as COM_FIELD_LIST lists them.

use super::Showing;
use crate::result::column;
use crate::system_tables::{default_text, definition};
use errors::{SqlResult, sql_error};
use parser::ast::ObjectName;
use wire::result::ResultColumn;

impl Showing<'_> {
    /// The columns of a table whose names match `pattern` (all if empty), with their defaults as text.
    pub fn fields(
        &mut self,
        table: &[u8],
        pattern: &[u8],
    ) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        let name = ObjectName { schema: None, name: String::from_utf8_lossy(table).into_owned() };
        let name = self.table_name(&name)?;
        let pattern = String::from_utf8_lossy(pattern).into_owned();
        let own = self.own_table(&name);
        let is_own = own.is_some();
        let stored = own.or_else(|| self.instance.engine().dictionary().table(&name.schema, &name.table));
        let system = definition(&name.schema, &name.table);
        let definition = match (&stored, &system) {
            (Some(table), _) => table.definition(),
            (None, Some(definition)) => definition,
            (None, None) => return Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table)),
        };
        if !is_own {
            self.require_shown(&name)?;
        }
        let tables = self.system_tables();
        let shown = definition.columns.iter().enumerate().filter(|(position, found)| {
            !found.invisible
                && (pattern.is_empty() || values::print::like(&found.name, &pattern))
                && tables.sees_column(definition, *position)
        });
        Ok(shown
            .map(|(_, found)| {
                let mut described = column(&found.name, found.column_type.clone());
                described.schema.clone_from(&name.schema);
                described.table.clone_from(&name.table);
                described.original_table.clone_from(&name.table);
                described.original_name.clone_from(&found.name);
                if !found.nullable {
                    described.flags |= wire::capabilities::column::NOT_NULL;
                }
                if found.auto_increment {
                    described.flags |= wire::capabilities::column::AUTO_INCREMENT;
                }
                (described, default_text(found, &tables.time_zone()).map(String::into_bytes))
            })
            .collect())
    }
}
