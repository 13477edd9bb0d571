//! Statements by kind, errors as MySQL words them, nesting limits, and inputs that no client would send.

use super::*;
use crate::{is_blank, parse_one};

fn parse(text: &str) -> SqlResult<Statement> {
    parse_one(text.as_bytes(), 0, ParseOptions::default()).map(|parsed| parsed.statement)
}

fn accept(texts: &[&str]) {
    for text in texts {
        if let Err(error) = parse(text) {
            panic!("{text}: {error}");
        }
    }
}

/// Checks error 1064 and the text that it quotes.
fn reject(text: &str, near: &str) {
    let error = parse(text).expect_err(text);
    let expected = format!("right syntax to use near '{near}' at line 1");
    assert_eq!(error.number(), 1064, "{text}: {error}");
    assert!(error.message().ends_with(&expected), "{text}: {}", error.message());
}

fn select_names(text: &str) -> Vec<String> {
    let Ok(Statement::Query(query)) = parse(text) else { panic!("{text}") };
    let QueryBody::Select(select) = query.body else { panic!("{text}") };
    let name = |item: SelectItem| match item {
        SelectItem::Expression { alias, text, .. } => alias.unwrap_or(text),
        _ => "*".to_owned(),
    };
    select.items.into_iter().map(name).collect()
}

#[test]
fn names_of_select_items_are_the_source() {
    assert_eq!(
        select_names(
            "SELECT 1+1,  COUNT( * ) , t.a, 'x' 'y', _utf8mb4'z', N'n', a AS b, NULL, 1 c, \"d\" 'e' FROM t"
        ),
        ["1+1", "COUNT( * )", "a", "x", "z", "n", "b", "NULL", "c", "d"]
    );
    assert_eq!(
        select_names("SELECT (a), -1 'minus', @@version, @x := 1, (1), ((NULL)), (' x'), (-1)"),
        ["a", "minus", "@@version", "@x := 1", "1", "NULL", "x", "(-1)"]
    );
}

/// The tree as its printed form, with its parentheses.
fn check_precedence(text: &str, expected: &str) {
    let expression = crate::parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
    assert_eq!(crate::print_expression(&expression, "utf8mb4").as_deref(), Some(expected), "{text}");
}

#[test]
fn operators_bind_as_in_mysql() {
    check_precedence("1+2*3-4", "((1 + (2 * 3)) - 4)");
    check_precedence("1 | 2 & 3 << 4 + 5 * 6 ^ 7", "(1 | (2 & (3 << (4 + (5 * (6 ^ 7))))))");
    check_precedence("a = b = c", "((`a` = `b`) = `c`)");
    check_precedence("not a = b", "(`a` <> `b`)");
    check_precedence(
        "a = 1 or b = 2 and c = 3 xor d = 4",
        "((`a` = 1) or (((`b` = 2) and (`c` = 3)) xor (`d` = 4)))",
    );
    check_precedence("a between 1 and 2 and b", "((`a` between 1 and 2) and (0 <> `b`))");
    check_precedence("a = b in (1, 2)", "(`a` = (`b` in (1,2)))");
    check_precedence("-a ^ 2", "(-(`a`) ^ 2)");
    check_precedence("a is null = 1", "((`a` is null) = 1)");
    check_precedence("a + interval 1 day + 1", "((`a` + interval 1 day) + 1)");
    check_precedence("interval 1 day + a", "(`a` + interval 1 day)");
    check_precedence("a like 'x' = 1", "((`a` like _utf8mb4'x') = 1)");
}

#[test]
fn sql_mode_changes_operators() {
    let with = |text: &str, options: ParseOptions| {
        crate::print_expression(&crate::parse_expression(text.as_bytes(), options).unwrap(), "utf8mb4")
            .unwrap()
    };
    let plain = ParseOptions::default();
    assert_eq!(with("a || b", ParseOptions { pipes_as_concat: true, ..plain }), "concat(`a`,`b`)");
    assert_eq!(with("not a + 1", ParseOptions { high_not_precedence: true, ..plain }), "((0 = `a`) + 1)");
    assert_eq!(with("\"a\"", ParseOptions { ansi_quotes: true, ..plain }), "`a`");
}

#[test]
fn queries() {
    accept(&[
        "SELECT 1",
        "select * from t1, t2 join t3 using (a) natural left join t4 where a > 1 group by b with rollup having c",
        "SELECT a.*, s.t.*, 1 FROM s.t AS a FORCE INDEX FOR ORDER BY (i, PRIMARY) USE INDEX () ORDER BY 1 DESC LIMIT 1, 2",
        "(SELECT 1) UNION ALL (SELECT 2 LIMIT 1) EXCEPT SELECT 3 INTERSECT SELECT 4 ORDER BY 1 LIMIT 3 OFFSET 1",
        "WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 5) SELECT * FROM c",
        "SELECT * FROM (SELECT 1) AS d (a), LATERAL (SELECT a) e, ((SELECT 1) UNION (SELECT 2)) f",
        "SELECT * FROM (a JOIN (b, c) ON 1) STRAIGHT_JOIN d ON 2",
        "SELECT ((SELECT 1) + 1), ((SELECT 2)), EXISTS (TABLE t), a = ANY (SELECT 1), (1, 2) IN ((1, 2), (3, 4))",
        "SELECT RANK() OVER w, SUM(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t WINDOW w AS ()",
        "SELECT a INTO OUTFILE 'f' FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\n' FROM t",
        "SELECT a, b FROM t INTO @x, y",
        "SELECT * FROM t FOR UPDATE OF t, u SKIP LOCKED FOR SHARE NOWAIT",
        "SELECT SQL_CALC_FOUND_ROWS HIGH_PRIORITY DISTINCT a FROM t PARTITION (p0) LOCK IN SHARE MODE",
        "VALUES ROW(1, 2), ROW(3, DEFAULT) ORDER BY 1",
        "TABLE t LIMIT 1",
        "SELECT GROUP_CONCAT(DISTINCT a, b ORDER BY c DESC SEPARATOR ';'), COUNT(DISTINCT a, b), MATCH (a, b) AGAINST ('x' IN BOOLEAN MODE)",
        "SELECT CAST(a AS CHAR(3) CHARACTER SET latin1), CONVERT(a, DECIMAL(5,2)), CONVERT(a USING utf8mb4), CAST(a AS UNSIGNED ARRAY)",
        "SELECT TRIM(BOTH 'x' FROM a), SUBSTRING(a FROM 2 FOR 3), POSITION('a' IN b), EXTRACT(DAY_HOUR FROM c), GET_FORMAT(DATE, 'USA')",
        "SELECT {d '2020-01-01'}, {fn NOW()}, DATE'2020-01-01', a->'$.x', a->>'$.y', 1 MEMBER OF (a), a SOUNDS LIKE b",
        "SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a INT PATH '$.a' DEFAULT '1' ON EMPTY, NESTED PATH '$.b' COLUMNS (c FOR ORDINALITY))) AS j",
        "SELECT INTERVAL(1, 2, 3), a + INTERVAL (1) DAY, DATE_SUB(a, INTERVAL '1:1' MINUTE_SECOND), b'01', 0x1f, X'4D'",
        "SELECT a MOD b, a DIV b, !a, ~a, a <=> b, a RLIKE b, a NOT BETWEEN 1 AND 2, BINARY a COLLATE utf8mb4_bin",
        "SELECT /*+ NO_ICP(t) */ 1 /*!80000 , 2 */ /*!99999 nonsense */ -- end",
    ]);
}

#[test]
fn rows_change() {
    accept(&[
        "INSERT INTO t VALUES (1, DEFAULT), ()",
        "INSERT IGNORE t (a, b) VALUES (1, 2) AS n (x, y) ON DUPLICATE KEY UPDATE a = n.x, b = VALUES(b)",
        "INSERT INTO t SET a = 1, b = DEFAULT",
        "INSERT INTO t SELECT * FROM a JOIN b ON DUPLICATE KEY UPDATE c = 1",
        "INSERT INTO t (a) (SELECT 1) UNION (SELECT 2)",
        "REPLACE DELAYED INTO t PARTITION (p) VALUES ROW(1), ROW(2)",
        "WITH c AS (SELECT 1) UPDATE t, c SET t.a = 1 WHERE b",
        "UPDATE LOW_PRIORITY IGNORE t SET a = a + 1, b = DEFAULT WHERE c ORDER BY d LIMIT 5",
        "DELETE QUICK FROM t AS x WHERE a = 1 ORDER BY b LIMIT 1",
        "DELETE a, b.* FROM a JOIN b USING (c)",
        "DELETE FROM a, s.b.* USING a JOIN b ON 1",
        "LOAD DATA LOCAL INFILE 'f' REPLACE INTO TABLE t CHARACTER SET utf8mb4 FIELDS TERMINATED BY X'09' IGNORE 1 LINES (a, @b) SET c = @b",
        "HANDLER t READ PRIMARY >= (1, 2) WHERE a LIMIT 3",
        "DO 1, SLEEP(0)",
        "CALL p(1, @a)",
    ]);
}

#[test]
fn definitions() {
    accept(&[
        "CREATE TEMPORARY TABLE IF NOT EXISTS s.t (a INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY COMMENT 'x', \
         b VARCHAR(10) CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'y' CHECK (b <> ''), c DATETIME(3) DEFAULT NOW(3) ON UPDATE NOW(3), \
         d INT GENERATED ALWAYS AS (a + 1) STORED INVISIBLE, e ENUM('a', 'b'), f DECIMAL(10, 2) ZEROFILL, g JSON DEFAULT (JSON_ARRAY()), \
         CONSTRAINT u UNIQUE KEY k USING BTREE (b(5) DESC, (a + 1)) INVISIBLE, FULLTEXT KEY (b), INDEX type (a), \
         CONSTRAINT FOREIGN KEY (a) REFERENCES p (x) ON DELETE SET NULL ON UPDATE CASCADE, CHECK (a > 0) NOT ENFORCED) \
         ENGINE = InnoDB, DEFAULT CHARSET utf8mb4 COLLATE = utf8mb4_bin ROW_FORMAT=DYNAMIC AUTO_INCREMENT 5 MAX_ROWS=7",
        "CREATE TABLE t (a INT) PARTITION BY RANGE COLUMNS (a) SUBPARTITION BY HASH (a) (PARTITION p0 VALUES LESS THAN (1, MAXVALUE) ENGINE=InnoDB)",
        "CREATE TABLE t LIKE u",
        "CREATE TABLE t IGNORE AS SELECT 1",
        "CREATE TABLE t (a INT) SELECT 1",
        "ALTER TABLE t ADD COLUMN a INT FIRST, ADD b INT AFTER a, ADD (c INT, KEY (c)), DROP COLUMN d, CHANGE e f INT, MODIFY g BIGINT, \
         RENAME COLUMN h TO i, ALTER j SET DEFAULT 1, ALTER k DROP DEFAULT, DROP PRIMARY KEY, DROP FOREIGN KEY l, RENAME INDEX m TO n, \
         ENGINE=InnoDB COMMENT 'x', CONVERT TO CHARACTER SET utf8mb4, RENAME TO s.u, ALGORITHM=INPLACE, LOCK=NONE, ORDER BY a, b DESC",
        "ALTER TABLE t REORGANIZE PARTITION p0 INTO (PARTITION p1 VALUES IN (1, 2))",
        "ALTER TABLE t EXCHANGE PARTITION p WITH TABLE u WITHOUT VALIDATION",
        "CREATE UNIQUE INDEX i ON t (a) COMMENT 'x' LOCK = SHARED",
        "DROP INDEX `PRIMARY` ON t",
        "DROP TABLE IF EXISTS a, b CASCADE",
        "RENAME TABLE a TO b, c.d TO e.f",
        "TRUNCATE t",
        "CREATE SCHEMA IF NOT EXISTS s DEFAULT CHARACTER SET = utf8mb4 COLLATE utf8mb4_bin",
        "ALTER DATABASE CHARACTER SET latin1",
        "CREATE OR REPLACE ALGORITHM = MERGE DEFINER = a@b SQL SECURITY INVOKER VIEW v (a) AS SELECT 1 WITH LOCAL CHECK OPTION",
        "CREATE PROCEDURE p() BEGIN DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN SELECT 1; END; IF 1 THEN SELECT 2; END IF; END",
        "CREATE FUNCTION f(a INT) RETURNS INT DETERMINISTIC RETURN IF(a, CASE a WHEN 1 THEN 2 END, REPEAT('x', 2))",
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
        "CREATE FUNCTION f() RETURNS INT LANGUAGE JAVASCRIPT AS $$ let a = 1; return a; $$",
    ]);
}

#[test]
fn sessions_accounts_and_servers() {
    accept(&[
        "SET @a = 1, @@global.b = 2, SESSION c = DEFAULT, sql_mode = ansi, autocommit = ON, PERSIST d = 1, @@e.f = 3",
        "SET NAMES utf8mb4 COLLATE utf8mb4_bin",
        "SET NAMES DEFAULT",
        "SET CHARACTER SET latin1",
        "SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY",
        "SET PASSWORD FOR 'a'@'%' = 'x' RETAIN CURRENT PASSWORD",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
        "COMMIT AND NO CHAIN RELEASE",
        "ROLLBACK WORK TO SAVEPOINT a",
        "LOCK TABLES a AS b READ LOCAL, c LOW_PRIORITY WRITE",
        "XA START 'a', 'b', 1",
        "PREPARE s FROM 'SELECT ?'",
        "EXECUTE s USING @a, @b",
        "CREATE USER IF NOT EXISTS 'a'@'%' IDENTIFIED WITH 'caching_sha2_password' BY 'x', b@localhost DEFAULT ROLE r REQUIRE SSL \
         WITH MAX_USER_CONNECTIONS 3 PASSWORD EXPIRE INTERVAL 3 DAY ACCOUNT LOCK COMMENT 'x'",
        "ALTER USER USER() IDENTIFIED BY 'x' REPLACE 'y'",
        "GRANT SELECT (a, b), INSERT, CREATE TEMPORARY TABLES ON s.* TO a@b WITH GRANT OPTION",
        "GRANT r, 'q'@'%' TO u WITH ADMIN OPTION",
        "REVOKE ALL PRIVILEGES, GRANT OPTION FROM a",
        "SHOW FULL COLUMNS FROM t FROM s LIKE 'x%'",
        "SHOW GLOBAL STATUS WHERE Variable_name = 'x'",
        "SHOW COUNT(*) WARNINGS",
        "SHOW CREATE DATABASE IF NOT EXISTS s",
        "EXPLAIN ANALYZE FORMAT=TREE SELECT 1",
        "DESC t 'a%'",
        "FLUSH TABLES a, b WITH READ LOCK",
        "ANALYZE TABLE t UPDATE HISTOGRAM ON a WITH 4 BUCKETS",
        "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x'",
        "GET DIAGNOSTICS CONDITION 1 @a = MESSAGE_TEXT",
        "INSTALL PLUGIN x SONAME 'y'",
        "KILL QUERY 5",
    ]);
}

#[test]
fn sql_cache_is_an_option_or_a_name() {
    let asks = |sql: &str| {
        let statement = parse_one(sql.as_bytes(), 0, ParseOptions::default()).unwrap().statement;
        let Statement::Query(query) = statement else { panic!("{sql}") };
        let QueryBody::Select(select) = query.body else { panic!("{sql}") };
        (select.options.cache, select.items.len())
    };
    for sql in [
        "* from t",
        "a, b from t",
        "count(*), 1 from t",
        "distinct a, b from t",
        "1, 2",
        "(1), 'x'",
        "@a, `b`",
    ] {
        let items = if sql.starts_with('*') { 1 } else { 2 };
        assert_eq!(asks(&format!("select sql_cache {sql}")), (true, items), "{sql}");
    }
    for sql in [
        "from t",
        ", a from t",
        "as x, a from t",
        "* 2, 1 from t",
        "+ 1, 2 from t",
        ".a, 1 from t",
        "is null, 1 from t",
    ] {
        assert!(!asks(&format!("select SQL_CACHE {sql}")).0, "{sql}");
    }
}

#[test]
fn syntax_errors_quote_the_source() {
    reject("SELECT", "");
    reject("SELEC 1", "SELEC 1");
    reject("SELECT * FROM t WHERE", "");
    reject("SELECT a b c FROM t", "c FROM t");
    reject("SELECT 'abc", "'abc");
    reject("SELECT 1 FROM t LEFT JOIN u", "");
    reject("SELECT a IN (1) IN (2)", "IN (2)");
    reject("INSERT INTO t (a VALUES (1)", "VALUES (1)");
    reject("CREATE TABLE t (a FOO)", "FOO)");
    reject("SELECT COUNT (*) FROM t", "*) FROM t");
    let error = parse("SELECT 1\nFROM t\nWHERE = 2").unwrap_err();
    assert!(error.message().ends_with("near '= 2' at line 3"), "{error}");
    let long = format!("SELECT 1 1 {}", "x".repeat(200));
    assert!(parse(&long).unwrap_err().message().contains(&format!("near '1 {}' at", "x".repeat(78))));
    assert_eq!(parse("").unwrap_err().number(), 1065);
    assert_eq!(parse(" ; ").unwrap_err().number(), 1065);
    assert_eq!(parse("-- comment"), Ok(Statement::Empty));
    assert_eq!(parse("SELECT * FROM (SELECT 1)").unwrap_err().number(), 1248);
}

#[test]
fn statements_of_one_text_follow_each_other() {
    let text = b"SELECT ';' ; INSERT INTO t VALUES (?); -- end";
    let options = ParseOptions::default();
    let first = parse_one(text, 0, options).unwrap();
    assert_eq!(&text[first.span.start..first.span.end], b"SELECT ';'");
    let second = parse_one(text, first.next, options).unwrap();
    assert_eq!(second.parameters, 1);
    assert!(is_blank(text, second.next, options));
}

/// The stack that a server thread has at least.
fn on_small_stack(step: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(2 << 20).spawn(step).unwrap().join().unwrap();
}

#[test]
fn deep_nesting_is_an_error_and_no_crash() {
    on_small_stack(|| {
        let count = 100_000;
        let texts = [
            format!("SELECT {}1{}", "(".repeat(count), ")".repeat(count)),
            format!("SELECT {}1", "-".repeat(count).replace("--", "- -")),
            format!("SELECT {}1", "NOT ".repeat(count)),
            format!("SELECT 1{}", "+1".repeat(count)),
            format!("SELECT a{}", " COLLATE b".repeat(count)),
            format!("{}SELECT 1{}", "(".repeat(count), ")".repeat(count)),
            format!("SELECT * FROM {}t{}", "(".repeat(count), ")".repeat(count)),
            format!("SELECT {}", "f(".repeat(count)),
            format!("SELECT {}1{}", "(SELECT ".repeat(count), ")".repeat(count)),
            format!("SELECT * FROM t {}", "JOIN t ".repeat(count)),
            format!("SELECT * FROM t {}", "JOIN t ON 1 ".repeat(count)),
            format!("SELECT {}", "CASE ".repeat(count)),
        ];
        for text in texts {
            assert!(parse(&text).is_err(), "{}", &text[..40]);
        }
    });
}

#[test]
fn what_is_long_but_not_deep_is_read() {
    on_small_stack(|| {
        let terms = vec!["a = 1"; 20_000].join(" OR ");
        accept(&[&format!("SELECT {terms}")]);
        accept(&[&format!("SELECT 1{}", " UNION SELECT 1".repeat(5_000))]);
        accept(&[&format!("INSERT INTO t VALUES {}", vec!["(1)"; 50_000].join(","))]);
        accept(&[&format!("SELECT {}1{}", "(".repeat(250), ")".repeat(250))]);
    });
}

#[test]
#[allow(clippy::disallowed_methods)]
fn parentheses_without_end_are_looked_over_once() {
    let many = 1_000_000;
    let timed = |text: String| {
        let started = std::time::Instant::now();
        let number = parse_one(text.as_bytes(), 0, ParseOptions::default()).err().map(|error| error.number());
        (started.elapsed(), number)
    };
    let (list_time, number) = timed(format!("select 1{}", ",1".repeat(many)));
    assert_eq!(number, None);
    let around = |inner: &str| format!("{}{inner}{}", "(".repeat(many), ")".repeat(many));
    for text in
        [around("select 1"), "select ".to_owned() + &around("1"), "select ".to_owned() + &around("select 1")]
    {
        let (time, number) = timed(text);
        assert_eq!(number, Some(1436));
        // A list makes a tree of as many tokens. Where each of 300 levels looks over all, that takes three times as long.
        assert!(time < list_time, "{time:?}, a list takes {list_time:?}");
    }
}

#[test]
fn nested_queries_in_parentheses_take_linear_time() {
    let text = format!("SELECT {}1{}", "((SELECT ".repeat(60), ") + 1)".repeat(60));
    accept(&[&text]);
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

const SOUP: &[&str] = &[
    "SELECT",
    "FROM",
    "(",
    ")",
    ",",
    "1",
    "a",
    "`b`",
    "'c'",
    "*",
    ".",
    "JOIN",
    "ON",
    "WHERE",
    "=",
    "IN",
    "UNION",
    "WITH",
    "AS",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE",
    "CREATE",
    "TABLE",
    "INT",
    "KEY",
    "ALTER",
    "ADD",
    "DROP",
    "SHOW",
    "GRANT",
    "TO",
    "@a",
    "@@b",
    "?",
    "INTERVAL",
    "DAY",
    "+",
    "-",
    "NOT",
    "CASE",
    "WHEN",
    "END",
    "BEGIN",
    ";",
    "PROCEDURE",
    "IF",
    "ORDER",
    "BY",
    "LIMIT",
    "OVER",
    "EXISTS",
    "ROW",
    "CAST",
    "CHAR",
    "DEFAULT",
    "PARTITION",
    "NULL",
    "/*",
    "*/",
    "/*!50000",
    "x'4'",
    "$$",
    "USER",
    "IDENTIFIED",
    "LEFT",
    "COUNT",
    "BETWEEN",
    "AND",
    "LIKE",
    "{",
    "}",
    "->",
    ":=",
    "0x",
    "1e5",
    "_utf8mb4",
];

#[test]
fn no_input_panics() {
    let mut numbers = Numbers(42);
    let options = ParseOptions::default();
    for _ in 0..20_000 {
        let count = 1 + numbers.next(30);
        let soup: Vec<&str> = (0..count).map(|_| SOUP[numbers.next(SOUP.len())]).collect();
        let text = soup.join(if numbers.next(4) == 0 { "" } else { " " });
        let _ = parse_one(text.as_bytes(), 0, options);
        let bytes: Vec<u8> = (0..count).map(|_| numbers.next(256) as u8).collect();
        let _ = parse_one(&bytes, 0, options);
        let mut literals = Vec::new();
        crate::digest::digest(text.as_bytes(), 0, options, 1, &mut literals);
        crate::digest::digest(&bytes, 0, options, 1, &mut literals);
    }
}

#[test]
fn cut_statements_do_not_panic() {
    let text = b"CREATE TABLE t (a INT DEFAULT 'x' CHECK (a IN (1, 2)), KEY k (a)) SELECT /*+ h */ `a`, @b, X'41' FROM (SELECT 1) AS t -- c\n";
    for end in 0..text.len() {
        let _ = parse_one(&text[..end], 0, ParseOptions::default());
    }
}
