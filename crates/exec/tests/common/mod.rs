//! A small session over an engine on a simulated disk: SQL in, text out in the form of `mysql --batch`.
//! CREATE TABLE knows what the cases need; the real one is the session crate's.

use charset::CollationId;
use dictionary::{
    CheckDefinition, ColumnDefault, ColumnDefinition, GeneratedColumn, IndexDefinition, IndexKind, IndexPart,
    SchemaDefinition, TableDefinition, TableName, TableOptions,
};
use engine::{Engine, EngineOptions, KillFlag, TransactionOptions};
use env::Environment;
use env::simulated::SimulatedDisk;
use errors::{Diagnostics, SqlError, SqlResult, sql_error};
use exec::{ExecutionSettings, NoServerFiles, PlanningContext, Prepared, StatementContext, StatementOutcome};
use expression::{
    Routine, SessionView, SqlMode, StatementFacts, StatementTime, TimeZone, TypedValue, VariableScope,
};
use parser::ast::{self, Statement};
use plan::{AllPrivileges, NoVirtualTables, Plan};
use planner::{ParameterTypes, PlannerInput};
use std::collections::HashMap;
use std::sync::Arc;
use stdx::ids::{IndexId, TableId};
use values::json::Unwatched;
use values::{ColumnType, RowRef, TypeKind, Value};
use wire::reader::Reader;
use wire::result::{ClientChannel, EncodedColumns, EncodedRows, ResultColumn, ResultSink, StatementEnd};
use wire::row::RowWriter;

pub const COLLATION: CollationId = CollationId::UTF8MB4_0900_AI_CI;

/// The session's variables.
#[derive(Default)]
struct View {
    variables: HashMap<String, TypedValue>,
    last_insert_id: u64,
    row_count: i64,
    found_rows: u64,
    random: [u32; 2],
    /// Raised by SLEEP(1).
    kill: KillFlag,
}

impl exec::Effects for View {
    fn call(&mut self, routine: &Arc<Routine>, _arguments: Vec<TypedValue>) -> SqlResult<Value> {
        panic!("no statement of these tests calls {routine:?}")
    }

    fn take_insert_id(&mut self) -> Option<u64> {
        None
    }
}

impl SessionView for View {
    fn role_graph(&self) -> Option<expression::context::RoleGraph> {
        None
    }

    fn is_connected(&self, connection_id: u64) -> bool {
        connection_id == 1
    }

    fn user_variable(&self, name: &str) -> Option<TypedValue> {
        self.variables.get(name).cloned()
    }
    fn set_user_variable(&mut self, name: &str, value: TypedValue) -> SqlResult<()> {
        self.variables.insert(name.to_owned(), value);
        Ok(())
    }
    fn system_variable(&self, _scope: VariableScope, name: &str) -> SqlResult<TypedValue> {
        Err(sql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name))
    }
    fn last_insert_id(&self) -> u64 {
        self.last_insert_id
    }
    fn set_last_insert_id(&mut self, value: u64) {
        self.last_insert_id = value;
    }
    fn auto_is_null(&self) -> bool {
        false
    }
    fn row_count(&self) -> i64 {
        self.row_count
    }
    fn found_rows(&self) -> u64 {
        self.found_rows
    }
    fn get_lock(&mut self, _name: &str, _timeout_seconds: f64) -> SqlResult<Option<bool>> {
        Ok(None)
    }
    fn release_lock(&mut self, _name: &str) -> SqlResult<Option<bool>> {
        Ok(None)
    }
    fn release_all_locks(&mut self) -> u64 {
        0
    }
    fn lock_holder(&self, _name: &str) -> SqlResult<Option<u64>> {
        Ok(None)
    }
    fn time_zone(&self, _name: &str) -> Option<expression::TimeZone> {
        None
    }
    fn sleep(&mut self, seconds: f64) -> bool {
        if seconds > 0.0 {
            self.kill.kill();
        }
        false
    }
    fn random_state(&mut self) -> &mut [u32; 2] {
        &mut self.random
    }
    fn random_bytes(&mut self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
    fn now_microseconds(&self) -> i64 {
        0
    }
    fn current_role(&self) -> std::sync::Arc<str> {
        "NONE".into()
    }

    fn load_file(&mut self, _path: &str) -> Option<Vec<u8>> {
        None
    }
}

fn planned(statement: &Statement, context: &mut StatementContext<'_>, explains: bool) -> SqlResult<Plan> {
    let types = context.parameters.iter().map(|typed| typed.column_type.clone()).collect();
    let (engine, transaction) = (context.engine, context.transaction);
    let input = PlannerInput {
        engine,
        temporary: context.temporary,
        virtual_tables: &NoVirtualTables,
        privileges: &AllPrivileges,
        parameter_types: ParameterTypes::Values(types),
        select_limit: context.settings.select_limit,
        runs: true,
        defines_view: false,
        explains,
        shows_plan: explains,
        transaction: (!context.settings.reads_lock).then_some(transaction),
        context: &mut PlanningContext::new(context),
        hints: &[],
        warns_of_hints: true,
    };
    planner::plan_statement(statement, input)
}

fn executed(
    statement: &Statement,
    context: &mut StatementContext<'_>,
    channel: &mut Channel,
) -> SqlResult<StatementOutcome> {
    let prepared = Prepared::new(planned(statement, context, false)?, context);
    exec::execute_planned(&prepared, context, channel)
}

fn explained(statement: &Statement, context: &mut StatementContext<'_>) -> SqlResult<StatementOutcome> {
    // Of EXPLAIN only that it plans matters here.
    planned(statement, context, true).map(|_plan| StatementOutcome::default())
}

/// Collects rows as tab-separated text.
#[derive(Default)]
pub struct Channel {
    pub lines: Vec<String>,
    types: Vec<ColumnType>,
    /// What the client sends for LOAD DATA LOCAL.
    pub file: Vec<Vec<u8>>,
    /// Rows go into `sent` as a connection would send them, not into `lines`.
    pub sends: bool,
    writer: RowWriter,
    sent: Vec<u8>,
    /// Raised when the first row arrives.
    pub kill_at_row: Option<KillFlag>,
}

impl ResultSink for Channel {
    fn columns(&mut self, columns: &[ResultColumn], _results_collation: CollationId) -> SqlResult<()> {
        self.types = columns.iter().map(|column| column.column_type.clone()).collect();
        self.writer = RowWriter::new(columns, COLLATION);
        Ok(())
    }
    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        if self.sends {
            self.sent.clear();
            self.writer.push_text(&mut self.sent, row, &Unwatched)?;
            return Ok(());
        }
        let shown: Vec<String> = row
            .iter()
            .zip(&self.types)
            .map(|(value, column_type)| {
                match expression::convert::value_text(value, column_type, COLLATION) {
                    None => "NULL".to_owned(),
                    Some(bytes) => String::from_utf8_lossy(&bytes).replace('\t', "\\t").replace('\n', "\\n"),
                }
            })
            .collect();
        self.lines.push(shown.join("\t"));
        if let Some(flag) = self.kill_at_row.take() {
            flag.kill();
        }
        Ok(())
    }
    fn encoded_rows(&mut self) -> Option<&mut dyn EncodedRows> {
        Some(self)
    }
    fn end_rows(&mut self, _end: &StatementEnd) -> SqlResult<()> {
        Ok(())
    }
    fn resume_rows(&mut self, _columns: &[ResultColumn], _results_collation: CollationId) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _end: &StatementEnd) -> SqlResult<()> {
        Ok(())
    }
    fn error(&mut self, _error: &SqlError) {}
}

impl EncodedRows for Channel {
    fn is_binary(&self) -> bool {
        false
    }
    fn begin(&mut self, _columns: &EncodedColumns) -> SqlResult<()> {
        Ok(())
    }
    fn row(&mut self, encode: &mut dyn FnMut(&mut Vec<u8>)) -> SqlResult<()> {
        if self.sends {
            self.sent.clear();
            encode(&mut self.sent);
            return Ok(());
        }
        let mut bytes = Vec::new();
        encode(&mut bytes);
        let (mut reader, mut cells) = (Reader::new(&bytes), Vec::new());
        while !reader.is_empty() {
            let cell = reader.text_cell().unwrap().unwrap_or(b"NULL");
            cells.push(String::from_utf8_lossy(cell).replace('\t', "\\t").replace('\n', "\\n"));
        }
        self.lines.push(cells.join("\t"));
        Ok(())
    }
}

impl ClientChannel for Channel {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        self.file.reverse();
        Ok(())
    }
    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(self.file.pop())
    }
}

/// An engine with one session.
pub struct World {
    pub engine: Engine,
    view: View,
    pub channel: Channel,
    pub diagnostics: Diagnostics,
    pub settings: ExecutionSettings,
    pub sql_mode: SqlMode,
    pub disk: SimulatedDisk,
    pub kill: KillFlag,
    pub server_memory: Arc<exec::ServerMemory>,
    /// Of the statements that follow.
    pub parameters: Vec<TypedValue>,
    pub long_parameters: Option<Arc<exec::LongParameters>>,
    /// What the last statement that succeeded wrote to temporary files.
    pub spilled: exec::SpillCounts,
    /// Rows that the last statement that succeeded looked at.
    pub rows_examined: u64,
}

impl World {
    pub fn new() -> World {
        let disk = SimulatedDisk::new(1);
        World { disk: disk.clone(), ..World::of(Environment::simulated(disk, 1)) }
    }

    /// A world on another disk.
    pub fn of(environment: Environment) -> World {
        let options = EngineOptions {
            buffer_pool_bytes: 16 << 20,
            redo_log_bytes: 8 << 20,
            background_threads: false,
            ..EngineOptions::default()
        };
        let engine = Engine::open(environment, options).expect("the engine opens");
        let schema = SchemaDefinition { name: "test".to_owned(), collation: COLLATION };
        engine.create_schema(schema, &KillFlag::default()).expect("the schema is new");
        let kill = KillFlag::default();
        World {
            engine,
            server_memory: Arc::new(exec::ServerMemory::new(u64::MAX)),
            view: View { random: [1, 2], kill: kill.clone(), ..View::default() },
            channel: Channel::default(),
            diagnostics: Diagnostics::new(64),
            settings: ExecutionSettings::default(),
            sql_mode: SqlMode::DEFAULT,
            disk: SimulatedDisk::new(1),
            kill,
            parameters: Vec::new(),
            long_parameters: None,
            spilled: exec::SpillCounts::default(),
            rows_examined: 0,
        }
    }

    fn facts(&self) -> StatementFacts {
        let zone = TimeZone::UTC;
        StatementFacts {
            sql_mode: self.sql_mode,
            time_zone: zone,
            started: StatementTime::new(1_700_000_000_000_000),
            connection_collation: COLLATION,
            results_collation: COLLATION,
            max_allowed_packet: 64 << 20,
            regexp_limits: expression::RegexpLimits { ticks: 32, stack_bytes: 8_000_000 },
            group_concat_max_len: 1024,
            division_precision_increment: 4,
            default_week_format: 0,
            encryption_mode: Default::default(),
            time_names: expression::locale::english(),
            connection_id: 1,
            user: "root@localhost".into(),
            current_user: "root@%".into(),
            schema: Some("test".into()),
            schema_is_gone: false,
            version: "9.7.0".into(),
        }
    }

    /// Runs one statement in a transaction of its own; the lines that a batch client prints.
    pub fn run(&mut self, sql: &str) -> Vec<String> {
        assert!(!self.disk.has_crashed());
        self.channel.lines.clear();
        match self.try_run(sql) {
            Ok(()) => std::mem::take(&mut self.channel.lines),
            Err(error) => vec![error.to_string()],
        }
    }

    fn try_run(&mut self, sql: &str) -> SqlResult<()> {
        let parsed = parser::parse_one(sql.as_bytes(), 0, parser::ParseOptions::default())?;
        if let Statement::CreateTable(create) = &parsed.statement {
            self.engine
                .create_table(definition(create), &KillFlag::default())
                .map_err(|error| error.into_sql(&create.name.name))?;
            return Ok(());
        }
        if !matches!(&parsed.statement, Statement::Query(_)) {
            self.diagnostics.clear();
        }
        let transaction = self.engine.begin(TransactionOptions::default());
        transaction.begin_statement();
        let facts = self.facts();
        let temporary = self.engine.temporary_tables(1);
        let mut context = StatementContext {
            engine: &self.engine,
            temporary: &temporary,
            transaction: &transaction,
            facts: &facts,
            session: &mut self.view,
            diagnostics: &mut self.diagnostics,
            privileges: &AllPrivileges,
            virtual_tables: &NoVirtualTables,
            files: &mut NoServerFiles,
            long_parameters: self.long_parameters.as_ref(),
            parameters: &self.parameters,
            hints: &[],
            server_memory: &self.server_memory,
            kill: &self.kill,
            settings: self.settings.clone(),
        };
        let result = match &parsed.statement {
            Statement::Explain(explain) => match &explain.target {
                ast::ExplainTarget::Statement(inner) => explained(inner, &mut context),
                ast::ExplainTarget::Connection(_) => {
                    Err(sql_error!(ER_NOT_SUPPORTED_YET, "EXPLAIN FOR CONNECTION"))
                }
            },
            statement => executed(statement, &mut context, &mut self.channel),
        };
        match result {
            Ok(outcome) => {
                self.spilled = outcome.spilled;
                self.rows_examined = outcome.rows_examined;
                self.view.row_count = outcome.row_count;
                if let Some(id) = outcome.generated_id {
                    self.view.last_insert_id = id;
                }
                if let Some(found) = outcome.found_rows {
                    self.view.found_rows = found;
                }
                let lsn = transaction.commit().map_err(|error| error.into_sql(""))?;
                self.engine.flush_log(lsn).map_err(|error| error.into_sql(""))
            }
            Err(error) => {
                self.view.row_count = -1;
                transaction.rollback().map_err(|error| error.into_sql(""))?;
                Err(error)
            }
        }
    }
}

fn column_type(data_type: &ast::DataType) -> ColumnType {
    let length = data_type.length.map(|length| length as u32);
    let decimals = data_type.decimals.map(|decimals| decimals as u8);
    let ast::DataTypeKind::Stored(kind) = data_type.kind else {
        panic!("no {:?} in the cases", data_type.kind)
    };
    match kind {
        TypeKind::Decimal => return ColumnType::decimal(length.unwrap_or(10), decimals.unwrap_or(0)),
        TypeKind::Time | TypeKind::DateTime | TypeKind::Timestamp => {
            return ColumnType::temporal(kind, length.unwrap_or(0) as u8);
        }
        TypeKind::Char => return ColumnType::char(length.unwrap_or(1), COLLATION),
        TypeKind::VarChar => return ColumnType::varchar(length.unwrap_or(1), COLLATION),
        TypeKind::Binary => return ColumnType::binary(length.unwrap_or(1)),
        TypeKind::VarBinary => return ColumnType::varbinary(length.unwrap_or(1)),
        TypeKind::Text | TypeKind::MediumText | TypeKind::LongText => {
            return ColumnType::text(kind, COLLATION);
        }
        TypeKind::Enum => return ColumnType::enumeration(data_type.members.clone(), COLLATION),
        TypeKind::Set => return ColumnType::set(data_type.members.clone(), COLLATION),
        _ => {}
    }
    ColumnType { unsigned: data_type.unsigned, ..ColumnType::new(kind) }
}

fn index(name: String, kind: IndexKind, parts: Vec<IndexPart>) -> IndexDefinition {
    IndexDefinition {
        id: IndexId(0),
        name,
        kind,
        parts,
        comment: String::new(),
        invisible: false,
        generated: false,
    }
}

fn definition(create: &ast::CreateTable) -> TableDefinition {
    let mut columns = Vec::new();
    let mut indexes = Vec::new();
    let part = |column| IndexPart { column, prefix_length: None, descending: false };
    for element in &create.elements {
        let ast::TableElement::Column(specification) = element else { continue };
        let mut column = ColumnDefinition {
            name: specification.name.clone(),
            column_type: column_type(&specification.data_type),
            nullable: true,
            default: ColumnDefault::None,
            generated: None,
            on_update_now: None,
            auto_increment: false,
            invisible: false,
            names_collation: false,
            comment: String::new(),
        };
        let position = columns.len();
        for attribute in &specification.attributes {
            match attribute {
                ast::ColumnAttribute::NotNull => column.nullable = false,
                ast::ColumnAttribute::AutoIncrement => column.auto_increment = true,
                ast::ColumnAttribute::PrimaryKey => {
                    column.nullable = false;
                    indexes.insert(0, index("PRIMARY".to_owned(), IndexKind::Primary, vec![part(position)]));
                }
                ast::ColumnAttribute::Unique => {
                    indexes.push(index(column.name.clone(), IndexKind::Unique, vec![part(position)]));
                }
                ast::ColumnAttribute::Default(ast::Expression::Literal(literal)) => {
                    column.default = ColumnDefault::Literal(match literal {
                        ast::Literal::Integer(value) => Value::Int(*value as i64),
                        ast::Literal::String { bytes, .. } => Value::Bytes(bytes.clone()),
                        _ => Value::Null,
                    });
                }
                ast::ColumnAttribute::DefaultExpression(expression) => {
                    column.default = ColumnDefault::Expression(printed(expression));
                }
                ast::ColumnAttribute::Generated { expression, stored } => {
                    column.generated = Some(GeneratedColumn {
                        text: printed(expression),
                        stored: *stored,
                        is_key_part: false,
                        element_type: None,
                    });
                }
                _ => {}
            }
        }
        columns.push(column);
    }
    for element in &create.elements {
        let ast::TableElement::Index(specification) = element else { continue };
        let mut parts = Vec::new();
        for key_part in &specification.parts {
            let ast::KeyPartTarget::Column { name, prefix_length } = &key_part.target else { continue };
            let column = columns.iter().position(|column| column.name == *name).expect("the column exists");
            parts.push(IndexPart {
                column,
                prefix_length: prefix_length.map(|length| length as u32),
                descending: key_part.descending.unwrap_or(false),
            });
        }
        let first = columns[parts[0].column].name.clone();
        let name = specification.name.clone().unwrap_or(first);
        match specification.kind {
            ast::IndexType::Primary => {
                parts.iter().for_each(|part| columns[part.column].nullable = false);
                indexes.insert(0, index("PRIMARY".to_owned(), IndexKind::Primary, parts));
            }
            ast::IndexType::Unique => indexes.push(index(name, IndexKind::Unique, parts)),
            _ => indexes.push(index(name, IndexKind::Plain, parts)),
        }
    }
    TableDefinition {
        id: TableId(0),
        name: TableName { schema: "test".to_owned(), table: create.name.name.clone() },
        columns,
        indexes,
        collation: COLLATION,
        checks: create.elements.iter().filter_map(check).collect(),
        foreign_keys: Vec::new(),
        options: TableOptions::default(),
    }
}

fn printed(expression: &ast::Expression) -> String {
    parser::print_expression(expression, "utf8mb4").expect("it can be kept")
}

fn check(element: &ast::TableElement) -> Option<CheckDefinition> {
    let ast::TableElement::Check(check) = element else { return None };
    let name = check.name.clone().expect("it has a name");
    Some(CheckDefinition { name, text: printed(&check.expression), enforced: true })
}
