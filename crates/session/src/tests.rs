//! End-to-end tests: sessions over an engine on a simulated disk, statements in, result sets out.

mod account_rules;
mod files;
mod kept_results;
mod limits_reached;
mod logins;
mod password_history;
mod passwords;
mod plan_settings;
mod prepared_memory;
mod read_only;
mod resource_limits;
mod session_start;
mod strict_snapshot;
mod system_tables;
mod time_zones;
mod undurable_commits;

use crate::session::Session;
use accounts::ClientHost;
use charset::CollationId;
use env::Environment;
use env::simulated::SimulatedDisk;
use errors::{SqlError, SqlResult};
use instance::{ConnectionControl, ConnectionInfo, Instance, InstanceOptions, OptionSetting, OptionSource};
use std::sync::Arc;
use values::{RowRef, Value};
use wire::reader::Reader;
use wire::result::{ClientChannel, EncodedColumns, EncodedRows, ResultColumn, ResultSink, StatementEnd};

struct NoControl;
impl ConnectionControl for NoControl {
    fn close(&self) {}
}

/// Prints what statements send: rows of cells joined by `|`, `OK n`, `ERROR n`.
#[derive(Default)]
pub(crate) struct Printer {
    columns: Vec<ResultColumn>,
    pub(crate) lines: Vec<String>,
    required: stdx::ids::Lsn,
}

impl ResultSink for Printer {
    fn columns(&mut self, columns: &[ResultColumn], _collation: CollationId) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn resume_rows(&mut self, _columns: &[ResultColumn], _collation: CollationId) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, row: RowRef<'_>) -> SqlResult<()> {
        let cells: Vec<String> = row
            .iter()
            .zip(&self.columns)
            .map(|(value, column)| {
                let member = values::convert::member_text(value.to_value(), &column.column_type);
                values::convert::quoted_text(member.as_ref(), &column.column_type)
            })
            .collect();
        self.lines.push(cells.join("|"));
        Ok(())
    }

    fn encoded_rows(&mut self) -> Option<&mut dyn EncodedRows> {
        Some(self)
    }

    fn end_rows(&mut self, _end: &StatementEnd) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, end: &StatementEnd) -> SqlResult<()> {
        self.lines.push(format!("OK {}", end.affected_rows));
        Ok(())
    }

    fn require_durable(&mut self, lsn: stdx::ids::Lsn) {
        self.required = self.required.max(lsn);
    }

    fn error(&mut self, error: &SqlError) {
        self.lines.push(format!("ERROR {} {}", error.number(), error.message()));
    }
}

impl Printer {
    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    pub(crate) fn columns(&self) -> &[ResultColumn] {
        &self.columns
    }

    pub(crate) fn column_names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }
}

impl EncodedRows for Printer {
    fn is_binary(&self) -> bool {
        false
    }

    fn begin(&mut self, _columns: &EncodedColumns) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, encode: &mut dyn FnMut(&mut Vec<u8>)) -> SqlResult<()> {
        let mut bytes = Vec::new();
        encode(&mut bytes);
        let (mut reader, mut cells) = (Reader::new(&bytes), Vec::new());
        while !reader.is_empty() {
            let cell = reader.text_cell().unwrap().unwrap_or(b"NULL");
            cells.push(String::from_utf8_lossy(cell).into_owned());
        }
        self.lines.push(cells.join("|"));
        Ok(())
    }
}

impl ClientChannel for Printer {
    fn request_file(&mut self, _name: &str) -> SqlResult<()> {
        Ok(())
    }

    fn read_file_piece(&mut self) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
}

pub(crate) fn environment() -> (SimulatedDisk, Environment) {
    let disk = SimulatedDisk::new(7);
    (disk.clone(), Environment::simulated(disk, 7))
}

pub(crate) fn start(environment: &Environment) -> Arc<Instance> {
    start_with(environment, &[])
}

pub(crate) fn start_with(environment: &Environment, options: &[(&str, &str)]) -> Arc<Instance> {
    let setting = |name: &str, value: &str| OptionSetting {
        name: name.to_owned(),
        value: Some(value.to_owned()),
        source: OptionSource::CommandLine,
    };
    let sizes = [("innodb-buffer-pool-size", "16M"), ("innodb_redo_log_capacity", "16M")];
    let settings = sizes.iter().chain(options).map(|(name, value)| setting(name, value)).collect();
    let options = InstanceOptions {
        settings,
        data_directory: "/data".to_owned(),
        loopback_only: true,
        ..InstanceOptions::default()
    };
    Instance::open(environment.clone(), options).unwrap()
}

pub(crate) fn connect(instance: &Arc<Instance>, user: &str) -> Result<Box<Session>, SqlError> {
    let account = instance.find_account(user, &ClientHost::local()).expect("account");
    Session::open(instance, info(instance, user), &account)
}

pub(crate) fn info(instance: &Arc<Instance>, user: &str) -> ConnectionInfo {
    ConnectionInfo {
        id: instance.next_connection_id(),
        user: user.to_owned(),
        host: ClientHost::local(),
        schema: String::new(),
        capabilities: u64::from(wire::capabilities::client::MULTI_STATEMENTS),
        collation: 255,
        tls: None,
        attributes: wire::connection_attributes::ConnectionAttributes::default(),
        control: Arc::new(NoControl),
    }
}

pub(crate) fn run(session: &mut Session, sql: &str) -> Vec<String> {
    let mut printer = Printer::default();
    let lsn = session.query(sql.as_bytes(), &mut printer);
    // As the server does before it sends the answer.
    session.instance().flush_log(lsn).unwrap();
    printer.lines
}

/// Runs statements one by one, each written with what it must answer, lines joined by ` / `.
pub(crate) fn check(session: &mut Session, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        assert_eq!(run(session, sql).join(" / "), *expected, "{sql}");
    }
}

#[test]
fn tables_rows_and_transactions() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[
            ("select 1", "1"),
            ("/*M!100100 SET @@MAX_STATEMENT_TIME=0 */", "OK 0"),
            ("-- nothing", "OK 0"),
            ("begin; /* not a definition, so it commits nothing */; rollback", "OK 0 / OK 0 / OK 0"),
            (" ", "ERROR 1065 Query was empty"),
            ("create database shop", "OK 1"),
            ("create database shop", "ERROR 1007 Can't create database 'shop'; database exists"),
            ("use shop", "OK 0"),
            ("create table t (id int primary key auto_increment, a varchar(10), key (a))", "OK 0"),
            ("insert into t (a) values ('x'), ('y')", "OK 2"),
            ("select * from t order by id", "1|x / 2|y"),
            ("begin; update t set a = 'z' where id = 1; rollback", "OK 0 / OK 1 / OK 0"),
            ("select a from t where id = 1", "x"),
            ("begin", "OK 0"),
            ("insert into t values (3, 'c')", "OK 1"),
            ("savepoint s", "OK 0"),
            ("delete from t", "OK 3"),
            ("rollback to s", "OK 0"),
            ("commit", "OK 0"),
            ("select count(*) from t", "3"),
            ("release savepoint nope", "ERROR 1305 SAVEPOINT nope does not exist"),
            ("insert into t values (3, 'c')", "ERROR 1062 Duplicate entry '3' for key 't.PRIMARY'"),
            ("select * from nope", "ERROR 1146 Table 'shop.nope' doesn't exist"),
        ],
    );
}

#[test]
fn what_the_engine_is_told_by_global_variables() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    assert!(instance.engine().deadlock_detect());
    check(&mut root, &[("set global innodb_deadlock_detect = off", "OK 0")]);
    assert!(!instance.engine().deadlock_detect());
    check(&mut root, &[("set global innodb_flush_log_at_trx_commit = 2", "OK 0")]);
    assert_eq!(instance.engine().flush_level(), engine::FlushLevel::WriteAtCommit);
}

#[test]
fn pieces_of_a_packet_wait_for_its_earlier_commits() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(&mut root, &[("create database d; use d", "OK 1 / OK 0"), ("create table t (a int)", "OK 0")]);
    let mut printer = Printer::default();
    let lsn = root.query(b"insert into t values (1); select * from t", &mut printer);
    assert_eq!(printer.lines, ["OK 1", "1"]);
    assert!(lsn > stdx::ids::Lsn(0));
    assert_eq!(printer.required, lsn);
}

#[test]
fn alter_table_keeps_rows() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[
            ("create database d; use d", "OK 1 / OK 0"),
            ("create table t (a int, b varchar(5))", "OK 0"),
            ("insert into t values (1, 'x'), (2, 'y'), (2, null)", "OK 3"),
            ("alter table t add column c int not null default 7 first", "OK 0"),
            ("select * from t order by a, b", "7|1|x / 7|2|NULL / 7|2|y"),
            ("alter table t add index i (a), rename column b to bb", "OK 0"),
            ("alter table t add unique u (a)", "ERROR 1062 Duplicate entry '2' for key 't.u'"),
            ("alter table t modify bb varchar(5) not null", "ERROR 1138 Invalid use of NULL value"),
            ("alter table t drop column c, add id int auto_increment primary key first", "OK 0"),
            ("select * from t where a = 1", "1|1|x"),
            ("truncate t", "OK 0"),
            ("select count(*) from t", "0"),
            ("rename table t to s", "OK 0"),
            ("show tables", "s"),
            ("create table l like s", "OK 0"),
            ("drop table s, nope", "ERROR 1051 Unknown table 'd.nope'"),
            ("drop table s, l", "OK 0"),
            ("drop database d", "OK 0"),
            ("show tables", "ERROR 1046 No database selected"),
        ],
    );
}

#[test]
fn show_create_table_is_what_mysql_prints() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; use d");
    let create = "create table a (id int(10) unsigned not null auto_increment, b varchar(20) character set latin1 \
        default 'x''y\\\\z', c text, d decimal(10,2) unsigned default 1.5, e enum('a','b') default 'b', f timestamp null \
        default current_timestamp on update current_timestamp, g datetime(3) default current_timestamp(3), h bit(5) \
        default b'101', i binary(14) not null default '\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0', j year, k tinyint(1), l int \
        zerofill, m varchar(10) collate utf8mb4_bin comment 'co''m', n float(7,2), o double not null default 0, p \
        char(3) default '', q blob, r bigint invisible, s date default '2020-01-02', primary key(id), unique key (b), \
        key m (m(3) desc, d) comment 'idx', key (d) invisible, key using hash (e)) engine=innodb default \
        charset=utf8mb4 comment='tc' row_format=dynamic max_rows=10 auto_increment=5";
    let expected = "CREATE TABLE `a` (
  `id` int unsigned NOT NULL AUTO_INCREMENT,
  `b` varchar(20) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT 'x''y\\\\z',
  `c` text,
  `d` decimal(10,2) unsigned DEFAULT '1.50',
  `e` enum('a','b') DEFAULT 'b',
  `f` timestamp NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  `g` datetime(3) DEFAULT CURRENT_TIMESTAMP(3),
  `h` bit(5) DEFAULT b'101',
  `i` binary(14) NOT NULL DEFAULT '\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0',
  `j` year DEFAULT NULL,
  `k` tinyint(1) DEFAULT NULL,
  `l` int(10) unsigned zerofill DEFAULT NULL,
  `m` varchar(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL COMMENT 'co''m',
  `n` float(7,2) DEFAULT NULL,
  `o` double NOT NULL DEFAULT '0',
  `p` char(3) DEFAULT '',
  `q` blob,
  `r` bigint DEFAULT NULL /*!80023 INVISIBLE */,
  `s` date DEFAULT '2020-01-02',
  PRIMARY KEY (`id`),
  UNIQUE KEY `b` (`b`),
  KEY `m` (`m`(3) DESC,`d`) COMMENT 'idx',
  KEY `d` (`d`) /*!80000 INVISIBLE */,
  KEY `e` (`e`)
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci MAX_ROWS=10 ROW_FORMAT=DYNAMIC COMMENT='tc'";
    assert_eq!(run(&mut root, create), ["OK 0"]);
    assert_eq!(run(&mut root, "show create table a"), [format!("a|{expected}")]);
    let codes = run(&mut root, "show warnings");
    assert!(codes.is_empty(), "{codes:?}");
    let again = expected.replace("`a`", "`b`");
    assert_eq!(run(&mut root, &again), ["OK 0"]);
    assert_eq!(run(&mut root, "show create table b"), [format!("b|{again}")]);
}

#[test]
fn definitions_are_checked_as_mysql_does() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; use d");
    let cases = [
        ("create table t (a int, a int)", 1060),
        ("create table t (a int primary key, b int primary key)", 1068),
        ("create table t (a int auto_increment)", 1075),
        ("create table t (a varchar(70000))", 1074),
        ("create table t (a char(300))", 1074),
        ("create table t (a text, key(a))", 1170),
        ("create table t (a int, key(b))", 1072),
        ("create table t (a int default 'x')", 1067),
        ("create table t (a int, key(a(3)))", 1089),
        ("create table t (a varchar(1000), key(a))", 1071),
        ("create table t (a enum('a','a'))", 1291),
        ("create table t (a int not null default null)", 1067),
        ("create table t (a decimal(70,2))", 1426),
        ("create table t (a decimal(3,5))", 1427),
        ("create table t (a datetime(7))", 1426),
        ("create table t (a text default 'x')", 1101),
        ("create table t (a int, key k(a), key k(a))", 1061),
        ("create table t (`a ` int)", 1166),
        ("create table t (a int null, primary key(a))", 1171),
        ("create table t (a int) engine=foo", 1286),
        ("create table t (a int, foreign key (a) references x(b))", 1824),
        ("create temporary table t (a int, foreign key (a) references x(b))", 1215),
        ("alter table nope add x int", 1146),
        ("truncate nope", 1146),
        ("drop database nope", 1008),
        ("create table information_schema.t (a int)", 1044),
    ];
    for (sql, number) in cases {
        let answer = run(&mut root, sql).join(" ");
        assert!(answer.starts_with(&format!("ERROR {number} ")), "{sql}: {answer}");
    }
}

#[test]
fn variables_follow_mysqls_rules() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[
            ("select @@autocommit, @@wait_timeout, @@sql_log_bin", "1|28800|1"),
            ("set autocommit = 0, @a = 5", "OK 0"),
            ("select @@autocommit, @a", "0|5"),
            ("set autocommit = default", "OK 0"),
            (
                "set max_connections = 1",
                "ERROR 1229 Variable 'max_connections' is a GLOBAL variable and should be set with SET GLOBAL",
            ),
            ("set global port = 1", "ERROR 1238 Variable 'port' is a read only variable"),
            ("set xyz = 1", "ERROR 1193 Unknown system variable 'xyz'"),
            ("select @@session.port", "ERROR 1238 Variable 'port' is a GLOBAL variable"),
            (
                "set transaction_isolation = 'foo'",
                "ERROR 1231 Variable 'transaction_isolation' can't be set to the value of 'foo'",
            ),
            ("set wait_timeout = 1.5", "ERROR 1232 Incorrect argument type to variable 'wait_timeout'"),
            ("set sql_mode = ansi", "OK 0"),
            (
                "select @@sql_mode",
                "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI",
            ),
            ("set sql_mode = ''", "OK 0"),
            ("set names foo", "ERROR 1115 Unknown character set: 'foo'"),
            (
                "set names utf8mb4 collate latin1_bin",
                "ERROR 1253 COLLATION 'latin1_bin' is not valid for CHARACTER SET 'utf8mb4'",
            ),
            ("set names latin1", "OK 0"),
            ("select @@collation_connection", "latin1_swedish_ci"),
            ("set names utf8mb4", "OK 0"),
            ("set time_zone = '+02:00'", "OK 0"),
            ("set time_zone = '+15:00'", "ERROR 1298 Unknown or incorrect time zone: '+15:00'"),
            ("set persist max_connections = 77", "OK 0"),
            ("select @@global.max_connections", "77"),
            ("show variables like 'max_connections'", "max_connections|77"),
            ("show variables where variable_name = 'port'", "port|3306"),
            (
                "select variable_value from performance_schema.session_variables where variable_name = 'port'",
                "3306",
            ),
        ],
    );
    drop(root);
    drop(instance);
    let again = start(&environment);
    let mut root = connect(&again, "root").unwrap();
    check(&mut root, &[("select @@max_connections", "77"), ("reset persist max_connections", "OK 0")]);
}

#[test]
fn accounts_survive_a_restart_and_limit_what_users_do() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[
            ("create database d; create table d.t (a int, b int)", "OK 1 / OK 0"),
            ("create user u@localhost identified by 'secret'", "OK 0"),
            (
                "create user u@localhost",
                "ERROR 1396 Operation CREATE USER failed for 'u'@'localhost' (User account already exists)",
            ),
            ("grant select (a), insert on d.t to u@localhost", "OK 0"),
            ("create role r; grant delete on d.* to r; grant r to u@localhost", "OK 0 / OK 0 / OK 0"),
            (
                "show grants for u@localhost",
                "GRANT USAGE ON *.* TO `u`@`localhost` / GRANT SELECT (`a`), INSERT ON `d`.`t` TO `u`@`localhost` / GRANT `r`@`%` TO `u`@`localhost`",
            ),
            ("grant select on *.* to nope@x", "ERROR 1410 You are not allowed to create a user with GRANT"),
        ],
    );
    drop(root);
    drop(instance);
    let instance = start(&environment);
    let mut user = connect(&instance, "u").unwrap();
    check(
        &mut user,
        &[
            ("select current_user()", "u@localhost"),
            ("show databases", "d / information_schema / performance_schema"),
            ("insert into d.t values (1, 2)", "OK 1"),
            ("select a from d.t", "1"),
            (
                "select b from d.t",
                "ERROR 1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'",
            ),
            (
                "select 1 from d.t as x where x.B = 1",
                "ERROR 1143 SELECT command denied to user 'u'@'localhost' for column 'B' in table 't'",
            ),
            ("delete from d.t", "ERROR 1142 DELETE command denied to user 'u'@'localhost' for table 't'"),
            ("set role r", "OK 0"),
            ("delete from d.t", "OK 1"),
            ("drop table d.t", "ERROR 1142 DROP command denied to user 'u'@'localhost' for table 't'"),
            ("create database x", "ERROR 1044 Access denied for user 'u'@'localhost' to database 'x'"),
            (
                "set global max_connections = 1",
                "ERROR 1227 Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation",
            ),
        ],
    );
}

#[test]
fn the_last_connection_is_for_an_administrator() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(&mut root, &[("create user u@localhost", "OK 0"), ("set global max_connections = 2", "OK 0")]);
    let user = connect(&instance, "u").unwrap();
    assert_eq!(connect(&instance, "u").err().map(|error| error.number()), Some(1040));
    let mut last = connect(&instance, "root").unwrap();
    assert_eq!(run(&mut last, "select 1"), ["1"]);
    drop(last);
    drop(user);
    assert!(connect(&instance, "u").is_ok());
    let refused = "show global status like 'Connection_errors_max_connections'";
    assert_eq!(run(&mut root, refused), ["Connection_errors_max_connections|1"]);
}

#[test]
fn show_status_has_the_engines_figures() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    // Counters are the process's: other tests count, too.
    let mut value = |sql: &str, name: &str| -> u64 {
        run(&mut root, sql);
        let rows = run(&mut root, &format!("show global status like '{name}'"));
        rows[0].split_once('|').unwrap().1.parse().unwrap()
    };
    let inserted = value("create database d; create table d.t (a int primary key)", "Innodb_rows_inserted");
    assert!(value("insert into d.t values (1), (2), (3)", "Innodb_rows_inserted") >= inserted + 3);
    let read = value("do 0", "Innodb_rows_read");
    assert!(value("select * from d.t", "Innodb_rows_read") >= read + 3);
    for name in ["Innodb_os_log_fsyncs", "Innodb_buffer_pool_read_requests", "Innodb_redo_log_current_lsn"] {
        assert!(value("do 0", name) > 0, "{name}");
    }
    let pages = value("do 0", "Innodb_buffer_pool_pages_data");
    let free = value("do 0", "Innodb_buffer_pool_pages_free");
    assert!(pages > 0 && free < value("do 0", "Innodb_buffer_pool_pages_total"));
}

#[test]
fn text_prepared_statements() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    check(
        &mut root,
        &[
            ("prepare s from 'select ? + 1'", "OK 0"),
            ("set @a = 4", "OK 0"),
            ("execute s using @a", "5"),
            ("execute s", "ERROR 1210 Incorrect arguments to EXECUTE"),
            ("deallocate prepare s", "OK 0"),
            ("execute s", "ERROR 1243 Unknown prepared statement handler (s) given to EXECUTE"),
            ("prepare s from 'show databases'", "OK 0"),
            ("execute s", "information_schema / mysql / performance_schema / sys"),
        ],
    );
}

#[test]
fn binary_prepared_statements_and_cursors() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; use d; create table t (a int); insert into t values (1),(2),(3)");
    let prepared = root.prepare(b"select a from t where a >= ? order by a").unwrap();
    assert_eq!((prepared.parameters.len(), prepared.columns.len()), (1, 1));
    let mut printer = Printer::default();
    root.execute(prepared.statement_id, Default::default(), Vec::new(), vec![Value::Int(2)], &mut printer);
    assert_eq!(printer.lines, ["2", "3"]);
    // A changed table makes the plan stale; it is made anew.
    run(&mut root, "alter table t add b int first");
    let mut printer = Printer::default();
    let cursor = crate::prepared::ExecuteFlags { read_only_cursor: true };
    root.execute(prepared.statement_id, cursor, Vec::new(), vec![Value::Int(1)], &mut printer);
    assert!(printer.lines.is_empty());
    root.fetch(prepared.statement_id, 2, &mut printer);
    assert_eq!(printer.lines, ["1", "2"]);
    root.fetch(prepared.statement_id, 2, &mut printer);
    assert_eq!(printer.lines, ["1", "2", "3"]);
    root.close_statement(prepared.statement_id);
    let unknown = root.bound_parameters(prepared.statement_id).unwrap_err();
    assert!(
        unknown.number() == 1243 && unknown.message().ends_with("given to mysql_stmt_precheck"),
        "{unknown:?}"
    );
}

/// An execution that fails before it begins leaves no hint to the statement behind it.
#[test]
fn hints_end_with_their_statement() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    let now = "select @@div_precision_increment";
    let hinted = b"select /*+ SET_VAR(div_precision_increment = 9) */ @@div_precision_increment, ?";
    let prepared = root.prepare(hinted).unwrap();
    assert_eq!(run(&mut root, now), ["4"]);
    let mut printer = Printer::default();
    root.execute(prepared.statement_id, Default::default(), Vec::new(), Vec::new(), &mut printer);
    assert!(printer.take_lines()[0].starts_with("ERROR 1210"));
    assert_eq!(run(&mut root, now), ["4"]);
    root.execute(prepared.statement_id, Default::default(), Vec::new(), vec![Value::Int(2)], &mut printer);
    assert_eq!(printer.take_lines(), ["9|2"]);
    let fails = "select /*+ SET_VAR(div_precision_increment = 9) */ nothing";
    assert!(run(&mut root, fails)[0].starts_with("ERROR 1054"));
    assert_eq!(run(&mut root, now), ["4"]);
}

#[test]
fn parameters_are_what_stands_beside_them() {
    use values::TypeKind::{BigInt, Date, DateTime, Decimal, Double, LongText, Time, VarBinary, VarChar};
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(
        &mut root,
        "create database d; use d; create table t (i int, d decimal(5,2), day date, at timestamp, v char(3), x text)",
    );
    let expected = [
        ("select ? from t", vec![VarChar]),
        (
            "select i = ?, d < ?, ? <=> day, coalesce(at, ?), v like ?, x = ? from t",
            vec![BigInt, Decimal, Date, DateTime, VarChar, LongText],
        ),
        (
            "select ? + ?, ? div ?, -?, ? | 1, ~?, ? and 1",
            vec![Double, Double, BigInt, BigInt, Double, BigInt, VarBinary, BigInt],
        ),
        (
            "select d = ? + ?, i = coalesce(?, ?), 1.5 = -? from t",
            vec![Decimal, Decimal, BigInt, BigInt, Decimal],
        ),
        ("select i from t where (i, v) in ((?, ?), (1, ?))", vec![BigInt, VarChar, VarChar]),
        ("select i from t where ? between d and i or ? in (1, 'a') limit ?", vec![Decimal, BigInt, BigInt]),
        (
            "select substring(?, ?), sec_to_time(?), addtime(?, ?), hour(?), if(?, ?, 1)",
            vec![VarChar, BigInt, Decimal, Time, Time, DateTime, BigInt, BigInt],
        ),
        ("select ? + interval ? day, ? + interval ? second", vec![Date, BigInt, DateTime, Decimal]),
        (
            "select case ? when 1 then ? else 2.5 end, cast(? as date), null = ?",
            vec![BigInt, Decimal, Date, VarBinary],
        ),
        ("select ? in (select i from t), sum(?), max(?) from t", vec![BigInt, Double, VarChar]),
        (
            "insert into t (i, d, v) values (?, ? + ?, ?) on duplicate key update day = ?",
            vec![BigInt, Decimal, Decimal, VarChar, Date],
        ),
        ("update t set at = ?, x = ? where ?", vec![DateTime, LongText, BigInt]),
    ];
    for (text, kinds) in expected {
        let prepared = root.prepare(text.as_bytes()).unwrap();
        let found: Vec<values::TypeKind> =
            prepared.parameters.iter().map(|column| column.column_type.kind).collect();
        assert_eq!(found, kinds, "{text}");
        root.close_statement(prepared.statement_id);
    }
}

#[test]
fn a_dropped_schema_is_named_by_what_was_prepared_in_it() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(&mut root, "create database d; use d; create table t (i int)");
    check(
        &mut root,
        &[
            ("prepare s from 'select i from t'", "OK 0"),
            ("prepare n from 'select database()'", "OK 0"),
            ("drop database d", "OK 1"),
            ("execute s", "ERROR 1049 Unknown database 'd'"),
            ("execute n", "NULL"),
            ("select i from t", "ERROR 1046 No database selected"),
        ],
    );
}

#[test]
fn locks_between_sessions() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut first = connect(&instance, "root").unwrap();
    let mut second = connect(&instance, "root").unwrap();
    run(&mut first, "create database d; use d; create table t (a int)");
    check(
        &mut first,
        &[
            ("lock tables t read", "OK 0"),
            (
                "insert into t values (1)",
                "ERROR 1099 Table 't' was locked with a READ lock and can't be updated",
            ),
            ("select * from d.u", "ERROR 1100 Table 'u' was not locked with LOCK TABLES"),
            ("unlock tables", "OK 0"),
            ("select get_lock('a', 0)", "1"),
        ],
    );
    check(&mut second, &[("select get_lock('A', 0)", "0"), ("select is_used_lock('a') is not null", "1")]);
    drop(first);
    check(&mut second, &[("select get_lock('a', 0)", "1")]);
}

#[test]
fn information_schema_answers_client_questions() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    run(
        &mut root,
        "create database d; use d; create table t (id int primary key, a varchar(10) not null, key k (a(3)))",
    );
    check(
        &mut root,
        &[
            (
                "select column_name, column_key, data_type from information_schema.columns where table_schema = 'd' order by ordinal_position",
                "id|PRI|int / a|MUL|varchar",
            ),
            (
                "select table_name, table_type, engine from information_schema.tables where table_schema = 'd'",
                "t|BASE TABLE|InnoDB",
            ),
            (
                "select index_name, column_name, sub_part from information_schema.statistics where table_schema = 'd' order by column_name",
                "k|a|3 / PRIMARY|id|NULL",
            ),
            (
                "select constraint_name from information_schema.table_constraints where table_schema = 'd'",
                "PRIMARY",
            ),
            ("show columns from t", "id|int|NO|PRI|NULL| / a|varchar(10)|NO|MUL|NULL|"),
            ("describe t a", "a|varchar(10)|NO|MUL|NULL|"),
            ("show full tables from d", "t|BASE TABLE"),
            ("show tables like 'x%'", ""),
            (
                "show create database d",
                "d|CREATE DATABASE `d` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */",
            ),
            ("check table t", "d.t|check|status|OK"),
            (
                "analyze table t, nope",
                "d.t|analyze|status|OK / d.nope|analyze|Error|Table 'd.nope' doesn't exist / d.nope|analyze|status|Operation failed",
            ),
            ("show binary logs", "ERROR 1381 You are not using binary logging"),
            ("select count(*) > 500 from performance_schema.global_variables", "1"),
            ("select user, host from mysql.user", "root|localhost"),
            ("show triggers", ""),
        ],
    );
}

#[test]
fn common_tables_that_lead_into_each_other_end_in_an_error() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    let chain = |count: usize, before: &str, after: &str| {
        let further: Vec<String> = (1..count)
            .map(|at| format!("c{at} as (select {before}(select x from c{}){after} x)", at - 1))
            .collect();
        format!("with c0 as (select 1 x), {} select x from c{}", further.join(", "), count - 1)
    };
    assert_eq!(run(&mut root, &chain(5, "", "")), ["1"]);
    for (count, levels) in [(6_000, 0), (60, 20), (20, 100)] {
        let answer = run(&mut root, &chain(count, &"abs(".repeat(levels), &")".repeat(levels)));
        let is_refused = answer[0].starts_with("ERROR 1436") || answer[0].starts_with("ERROR 1473");
        assert!(is_refused || answer == ["1"], "{count} {levels}: {answer:?}");
    }
}

#[test]
fn what_a_view_reads_is_shown_to_those_who_may_read_it() {
    let (_disk, environment) = environment();
    let instance = start(&environment);
    let mut root = connect(&instance, "root").unwrap();
    for sql in [
        "create database hidden",
        "create table hidden.secret (id int primary key)",
        "create database shown",
        "create view shown.v as select * from hidden.secret",
        "create user gone",
        "create definer = gone view shown.w as select 1 as one",
        "drop user gone",
        "create user u",
        "grant all on shown.* to u",
    ] {
        let answer = run(&mut root, sql).join(" ");
        assert!(!answer.starts_with("ERROR"), "{sql}: {answer}");
    }
    let mut user = connect(&instance, "u").unwrap();
    for (sql, number) in [
        ("explain analyze select * from shown.v", 1345),
        ("explain analyze format=json select * from shown.v", 1345),
        // Whose rights count in a view is told to those alone who may give views to others.
        ("select * from shown.w", 1045),
    ] {
        let answer = run(&mut user, sql).join(" ");
        assert!(answer.starts_with(&format!("ERROR {number} ")), "{sql}: {answer}");
    }
    assert!(run(&mut root, "select * from shown.w").join(" ").starts_with("ERROR 1449 "));
    let mut last = run(&mut root, "create view shown.v0 as select id from hidden.secret");
    for at in 1..20 {
        let from = format!("shown.v{} a, shown.v{} b", at - 1, at - 1);
        last = run(&mut root, &format!("create view shown.v{at} as select a.id from {from}"));
        if last.join(" ").starts_with("ERROR") {
            break;
        }
    }
    assert!(last.join(" ").starts_with("ERROR 1116 "), "{last:?}");
}
