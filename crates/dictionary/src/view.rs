//! The definition of a view, as plain data and in its stored form. Main type: [`ViewDefinition`]. Immutable once published.
//! The query is kept as text and bound when a statement is planned (decisions/0018); the columns are what it gave when the view was
//! made, for those who only want to know what the view looks like. The byte table is in README.md.

use crate::codec::{CorruptDefinition, Reader, Writer, decode_table, encode_table};
use crate::table::TableDefinition;

/// Version of the form that is written.
const VIEW_VERSION: u8 = 1;

/// A view.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewDefinition {
    /// Its name, and its columns as they were when it was made; no indexes.
    pub shape: TableDefinition,
    /// The query in the form that information_schema.VIEWS shows: every name with its schema or table.
    pub query: String,
    /// Names of columns, if the view has a list of them; otherwise those of the query.
    pub columns: Vec<String>,
    /// How it is to be read.
    pub algorithm: ViewAlgorithm,
    /// User of the account whose rights count.
    pub definer_user: String,
    /// Its host.
    pub definer_host: String,
    /// SQL SECURITY INVOKER: the rights of who uses it count.
    pub invoker_security: bool,
    /// WITH CHECK OPTION.
    pub check_option: ViewCheck,
    /// Whether its rows can be changed.
    pub updatable: bool,
    /// character_set_client of the session that made it.
    pub client_charset: String,
    /// collation_connection of that session: texts in the query have it.
    pub connection_collation: String,
    /// When it was made, in microseconds since 1970.
    pub created_microseconds: i64,
}

/// ALGORITHM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewAlgorithm {
    /// UNDEFINED.
    #[default]
    Undefined,
    /// MERGE.
    Merge,
    /// TEMPTABLE: its rows are kept before the statement reads them.
    TempTable,
}

/// WITH CHECK OPTION.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ViewCheck {
    /// None.
    #[default]
    None,
    /// LOCAL.
    Local,
    /// CASCADED.
    Cascaded,
}

/// The stored form of a view.
pub fn encode_view(view: &ViewDefinition) -> Vec<u8> {
    let mut out = Writer::new(VIEW_VERSION);
    out.bytes(&encode_table(&view.shape));
    out.string(&view.query);
    out.list(&view.columns, |out, name| out.string(name));
    out.u8(match view.algorithm {
        ViewAlgorithm::Undefined => 0,
        ViewAlgorithm::Merge => 1,
        ViewAlgorithm::TempTable => 2,
    });
    out.string(&view.definer_user);
    out.string(&view.definer_host);
    out.u8(u8::from(view.invoker_security) | u8::from(view.updatable) << 1);
    out.u8(match view.check_option {
        ViewCheck::None => 0,
        ViewCheck::Local => 1,
        ViewCheck::Cascaded => 2,
    });
    out.string(&view.client_charset);
    out.string(&view.connection_collation);
    out.u64(view.created_microseconds as u64);
    out.finish()
}

/// The view of a stored form.
pub fn decode_view(bytes: &[u8]) -> Result<ViewDefinition, CorruptDefinition> {
    let (mut from, _) = Reader::new(bytes, VIEW_VERSION)?;
    let shape = decode_table(from.bytes()?)?;
    let query = from.string()?;
    let columns = from.list(|from| from.string())?;
    let algorithm = match from.u8()? {
        0 => ViewAlgorithm::Undefined,
        1 => ViewAlgorithm::Merge,
        2 => ViewAlgorithm::TempTable,
        _ => return Err(CorruptDefinition),
    };
    let (definer_user, definer_host) = (from.string()?, from.string()?);
    let flags = from.u8()?;
    let check_option = match from.u8()? {
        0 => ViewCheck::None,
        1 => ViewCheck::Local,
        2 => ViewCheck::Cascaded,
        _ => return Err(CorruptDefinition),
    };
    let view = ViewDefinition {
        shape,
        query,
        columns,
        algorithm,
        definer_user,
        definer_host,
        invoker_security: flags & 1 != 0,
        updatable: flags & 2 != 0,
        check_option,
        client_charset: from.string()?,
        connection_collation: from.string()?,
        created_microseconds: from.u64()? as i64,
    };
    from.finish()?;
    Ok(view)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{TableName, TableOptions};
    use charset::CollationId;
    use stdx::ids::TableId;

    #[test]
    fn what_is_written_is_read_and_damage_is_found() {
        let name = TableName { schema: "s".to_owned(), table: "v".to_owned() };
        let view = ViewDefinition {
            shape: TableDefinition {
                id: TableId(0),
                name,
                columns: Vec::new(),
                indexes: Vec::new(),
                checks: Vec::new(),
                foreign_keys: Vec::new(),
                collation: CollationId::UTF8MB4_0900_AI_CI,
                options: TableOptions::default(),
            },
            query: "select 1 AS `1`".to_owned(),
            columns: vec!["a".to_owned()],
            algorithm: ViewAlgorithm::TempTable,
            definer_user: "u".to_owned(),
            definer_host: "%".to_owned(),
            invoker_security: true,
            check_option: ViewCheck::Local,
            updatable: false,
            client_charset: "utf8mb4".to_owned(),
            connection_collation: "utf8mb4_bin".to_owned(),
            created_microseconds: -5,
        };
        let bytes = encode_view(&view);
        assert_eq!(decode_view(&bytes).as_ref(), Ok(&view));
        for end in 0..bytes.len() {
            assert!(decode_view(&bytes[..end]).is_err());
        }
    }
}
