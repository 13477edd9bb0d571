//! COM_FIELD_LIST: the columns of a table, which old clients ask for instead of SHOW COLUMNS.

use crate::result::column;
use crate::session::Session;
use crate::system_tables::default_text;
use errors::{SqlResult, sql_error};
use instance::Command;
use parser::ast::ObjectName;
use wire::result::ResultColumn;

impl Session {
    /// COM_FIELD_LIST: the columns of a table whose names match `pattern` (all if empty), with their defaults as text.
    pub fn field_list(
        &mut self,
        table: &[u8],
        pattern: &[u8],
    ) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        self.begin_command(Command::FieldList);
        self.start_statement(false);
        let allowed = self.check_expired_password(false);
        let outcome = allowed.and_then(|()| self.fields(table, pattern));
        if let Err(error) = &outcome {
            self.diagnostics.push(errors::Level::Error, error.clone());
        }
        self.end_command();
        outcome
    }

    fn fields(&mut self, table: &[u8], pattern: &[u8]) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        let name = ObjectName { schema: None, name: String::from_utf8_lossy(table).into_owned() };
        let name = self.table_name(&name)?;
        let pattern = String::from_utf8_lossy(pattern).into_owned();
        let stored = self.instance.engine().dictionary().table(&name.schema, &name.table);
        let system = crate::system_tables::definition(&name.schema, &name.table);
        let definition = match (&stored, &system) {
            (Some(table), _) => table.definition(),
            (None, Some(definition)) => definition,
            (None, None) => return Err(sql_error!(ER_NO_SUCH_TABLE, name.schema, name.table)),
        };
        self.require_shown(&name)?;
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
