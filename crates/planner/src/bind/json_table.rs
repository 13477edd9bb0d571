//! JSON_TABLE in FROM: its columns, paths and the document. Main function: [`json_table`].

use super::Binder;
use super::from::{Visible, add_table};
use ::expression::json::parsed;
use ::expression::{Expression, ResultType, SqlMode, ValueSource};
use builtins::JSON_TABLE_DOCUMENT;
use declared::DeclaredTypes;
use errors::{SqlResult, sql_error};
use json::Path;
use json::table::Nest;
use optimizer::{BoundColumn, IndexLimits, JoinTree, Source};
use parser::ast::{self, DataTypeKind};
use plan::json_table::{JsonColumnValue, JsonReaction, JsonTable, JsonTableColumn, store_mode};
use plan::physical::ColumnOrigin;
use std::sync::Arc;
use values::json::{Node, Unwatched};
use values::{ColumnType, TypeKind, Value};

/// MySQL does not take so many paths of rows, that of the table included.
const NESTS_MAX: usize = 16;

/// Digits that a column FOR ORDINALITY is shown with.
const ORDINAL_WIDTH: u32 = 10;

/// Adds JSON_TABLE to the current block. Errors: 1060, 1067, 1210, 1235 for a default that is no text, 3141 for one that is no JSON, 3143,
/// 3670, those of declared types, and those of values for defaults.
pub(super) fn json_table(binder: &mut Binder<'_>, table: &ast::JsonTable) -> SqlResult<(JoinTree, Visible)> {
    if 1 + count_nests(&table.columns) >= NESTS_MAX {
        return Err(sql_error!(ER_JT_MAX_NESTED_PATH, NESTS_MAX, table.alias));
    }
    let mut columns = Columns { all: Vec::new(), of: Vec::new() };
    let nest = columns.nest(binder, &table.path, &table.columns)?;
    let Columns { all: columns, of: columns_of } = columns;
    let bound = Arc::new(JsonTable { alias: table.alias.clone(), columns, nest, columns_of });
    check_defaults(binder, &bound)?;
    let document = binder.beside_tables(|binder, _| document(binder, &table.document))?;
    let shown = bound.columns.iter().map(|column| BoundColumn {
        name: column.name.clone(),
        result: column.result.clone(),
        invisible: false,
        hidden: false,
        origin: Some(ColumnOrigin::temporary(&table.alias, &column.name)),
        source: ValueSource::Column,
        computed: false,
        shown_width: matches!(column.value, JsonColumnValue::Ordinality).then_some(ORDINAL_WIDTH),
    });
    let shown = shown.collect();
    let (source, limits) = (Source::JsonTable(bound), IndexLimits::default());
    let rules = binder.rules();
    let added = add_table(rules, binder.block(), table.alias.clone(), None, source, shown, limits)?;
    if let Some(table) = binder.block().tables.last_mut() {
        table.reads = vec![document];
    }
    Ok(added)
}

fn count_nests(columns: &[ast::JsonTableColumn]) -> usize {
    let within = |column: &ast::JsonTableColumn| match column {
        ast::JsonTableColumn::Nested { columns, .. } => 1 + count_nests(columns),
        _ => 0,
    };
    columns.iter().map(within).sum()
}

/// What is read as a document: no subquery, no aggregate.
fn document(binder: &mut Binder<'_>, syntax: &ast::Expression) -> SqlResult<Expression> {
    if syntax.holds_query() {
        return Err(sql_error!(ER_WRONG_ARGUMENTS, "JSON_TABLE"));
    }
    let document = binder.scalar(syntax)?;
    let site = binder.site();
    Expression::call(&JSON_TABLE_DOCUMENT, vec![document], site, binder.facts)
}

/// The columns of a table that is being bound, and which are of which nest.
struct Columns {
    all: Vec<JsonTableColumn>,
    of: Vec<Vec<usize>>,
}

impl Columns {
    fn nest(
        &mut self,
        binder: &mut Binder<'_>,
        path: &[u8],
        columns: &[ast::JsonTableColumn],
    ) -> SqlResult<Nest> {
        let id = self.of.len();
        self.of.push(Vec::new());
        let path = Path::parse(path)?;
        let mut nests = Vec::new();
        for column in columns {
            match column {
                ast::JsonTableColumn::Nested { path, columns } => {
                    nests.push(self.nest(binder, path, columns)?);
                }
                ast::JsonTableColumn::Ordinality(name) => {
                    self.add(id, name, ColumnType::big_int(), JsonColumnValue::Ordinality)?;
                }
                ast::JsonTableColumn::Path(column) => {
                    let (column_type, value) = path_column(binder, column)?;
                    self.add(id, &column.name, column_type, value)?;
                }
            }
        }
        Ok(Nest { path, id, nests })
    }

    fn add(
        &mut self,
        nest: usize,
        name: &str,
        column_type: ColumnType,
        value: JsonColumnValue,
    ) -> SqlResult<()> {
        if let Some(known) = self.all.iter().find(|known| known.name.eq_ignore_ascii_case(name)) {
            return Err(sql_error!(ER_DUP_FIELDNAME, known.name));
        }
        self.of[nest].push(self.all.len());
        let result = ResultType::column(column_type, true);
        self.all.push(JsonTableColumn { name: name.to_owned(), result, value });
        Ok(())
    }
}

fn path_column(
    binder: &mut Binder<'_>,
    column: &ast::JsonTablePath,
) -> SqlResult<(ColumnType, JsonColumnValue)> {
    let column_type = declared_type(binder, column)?;
    if column.errors_first {
        let warning = sql_error!(ER_WARN_DEPRECATED_JSON_TABLE_ON_ERROR_ON_EMPTY);
        let code = &errors::code::ER_WARN_DEPRECATED_SYNTAX;
        binder.nature.volatile = true;
        binder.input.context.diagnostics().warning(code.message(warning.message()));
    }
    let path = Path::parse(&column.path)?;
    if column.exists {
        return Ok((column_type, JsonColumnValue::Exists(path)));
    }
    let on_empty = reaction(binder, column, column.on_empty.as_ref(), &column_type)?;
    let on_error = reaction(binder, column, column.on_error.as_ref(), &column_type)?;
    Ok((column_type, JsonColumnValue::Found { path, on_empty, on_error }))
}

/// The type of a column. What is longer than a VARCHAR may be is a TEXT; ZEROFILL is lost.
fn declared_type(binder: &mut Binder<'_>, column: &ast::JsonTablePath) -> SqlResult<ColumnType> {
    let facts = binder.input.context.facts();
    let (mode, connection) = (facts.sql_mode, facts.connection_collation);
    let strict = SqlMode::STRICT_TRANS_TABLES.0 | SqlMode::STRICT_ALL_TABLES.0;
    let sql_mode = SqlMode(mode.0 & !strict);
    let diagnostics = binder.input.context.diagnostics();
    let told = diagnostics.mark();
    let mut types = DeclaredTypes { diagnostics, sql_mode, connection };
    // A TEXT or BLOB is one, whatever its length.
    let mut declared = column.data_type.clone();
    if matches!(declared.kind, DataTypeKind::Stored(TypeKind::Text | TypeKind::Blob)) {
        declared.length = None;
    }
    let found = types.column_type(&column.name, &declared, declared.collation.as_deref(), connection);
    // What is warned of is told each time.
    if binder.input.context.diagnostics().has_reported_since(told) {
        binder.nature.volatile = true;
    }
    let mut column_type = found?;
    if std::mem::take(&mut column_type.zerofill) && column_type.kind.is_integer() {
        column_type.length = None;
    }
    Ok(column_type)
}

fn reaction(
    binder: &mut Binder<'_>,
    column: &ast::JsonTablePath,
    reaction: Option<&ast::JsonReaction>,
    column_type: &ColumnType,
) -> SqlResult<JsonReaction> {
    let value = match reaction {
        None | Some(ast::JsonReaction::Null) => return Ok(JsonReaction::Null),
        Some(ast::JsonReaction::Error) => return Ok(JsonReaction::Error),
        Some(ast::JsonReaction::Default(value)) => value,
    };
    if !matches!(value, ast::Expression::Literal(ast::Literal::String { .. })) {
        let what = "non-string DEFAULT value for a column in a JSON_TABLE expression";
        return Err(sql_error!(ER_NOT_SUPPORTED_YET, what));
    }
    let bound = binder.scalar(value)?;
    let Some(Value::Bytes(text)) = bound.literal() else {
        return Err(sql_error!(ER_INVALID_DEFAULT, column.name));
    };
    let document = parsed(text, bound.result.collation(), 1, "JSON_TABLE", &Unwatched)?;
    let is_scalar = !matches!(Node::of(&document), Node::Array(_) | Node::Object(_));
    match is_scalar || column_type.kind == TypeKind::Json {
        true => Ok(JsonReaction::Default(document)),
        false => Err(sql_error!(ER_INVALID_DEFAULT, column.name)),
    }
}

/// Defaults must be values of their columns, whether a row wants them or not.
fn check_defaults(binder: &mut Binder<'_>, table: &JsonTable) -> SqlResult<()> {
    let mode = store_mode(binder.input.context.facts(), true);
    for column in &table.columns {
        let JsonColumnValue::Found { on_empty, on_error, .. } = &column.value else { continue };
        for reaction in [on_empty, on_error] {
            if let JsonReaction::Default(document) = reaction {
                let diagnostics = binder.input.context.diagnostics();
                table.converted(column, &[Node::of(document)], mode, diagnostics)?;
            }
        }
    }
    Ok(())
}
