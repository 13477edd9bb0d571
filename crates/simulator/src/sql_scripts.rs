//! The scripts of the crash simulation: what statements do in several steps, or in several tables. Each is small, so that a crash at every one of
//! its storage operations is affordable.

use crate::sql_scenario::Script;

/// All of them.
pub const SCRIPTS: [Script; 8] = [
    CASCADES,
    ALTER_WITH_KEYS,
    FUNCTIONAL_KEYS,
    GENERATED_COLUMNS,
    CREATE_SELECT,
    DROP_AND_RENAME,
    VIEWS_AND_TEMPORARY,
    DOCUMENTS,
];

/// Rows that go and change with their parents, over three levels and within one table.
const CASCADES: Script = Script {
    name: "statements: cascades",
    setup: &[
        "CREATE TABLE p (id INT PRIMARY KEY, u INT UNIQUE, pad VARCHAR(200))",
        "CREATE TABLE c (id INT PRIMARY KEY, pid INT, pad VARCHAR(300), twice INT AS (pid * 2) VIRTUAL, KEY (twice), KEY ((pid + 1)), \
         CONSTRAINT c_p FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE)",
        "CREATE TABLE g (id INT PRIMARY KEY, cid INT, pu INT, \
         CONSTRAINT g_c FOREIGN KEY (cid) REFERENCES c (id) ON DELETE CASCADE, \
         CONSTRAINT g_p FOREIGN KEY (pu) REFERENCES p (u) ON DELETE SET NULL ON UPDATE CASCADE)",
        "CREATE TABLE tree (id INT PRIMARY KEY, up INT, CONSTRAINT tree_up FOREIGN KEY (up) REFERENCES tree (id) ON DELETE CASCADE)",
        "INSERT INTO p SELECT n, n + 100, REPEAT('p', n * 3) FROM (WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s \
         WHERE n < 40) SELECT n FROM s) s",
        "INSERT INTO c (id, pid, pad) SELECT p.id * 10 + q.id, p.id, REPEAT('c', p.id * 5) FROM p JOIN p q WHERE q.id <= 4",
        "INSERT INTO g SELECT c.id * 2 + q.id, c.id, c.pid + 100 FROM c JOIN p q WHERE q.id <= 2",
        "INSERT INTO tree SELECT id, NULLIF(id DIV 2, 0) FROM p",
    ],
    steps: &[
        "a: DELETE FROM p WHERE id = 1",
        "a: DELETE FROM p WHERE id BETWEEN 5 AND 12",
        "a: UPDATE p SET id = id + 500 WHERE id BETWEEN 20 AND 25",
        "engine: checkpoint",
        "a: UPDATE p SET u = u + 1000 WHERE id > 30",
        "a: REPLACE INTO p VALUES (13, 999, 'replaced')",
        "a: INSERT INTO p VALUES (14, 0, '') ON DUPLICATE KEY UPDATE id = 700",
        "a: DELETE FROM tree WHERE id = 2",
        "engine: purge",
        "b: BEGIN",
        "b: DELETE FROM p WHERE id BETWEEN 15 AND 18",
        "b: UPDATE p SET id = 800 WHERE id = 19",
        "engine: checkpoint",
        "b: SAVEPOINT s",
        "b: DELETE FROM p WHERE id > 500",
        "b: ROLLBACK TO s",
        "b: COMMIT",
        "a: BEGIN",
        "a: DELETE FROM p",
        "a: ROLLBACK",
        "b: BEGIN",
        "b: DELETE FROM tree",
        "b: UPDATE p SET u = u + 20000, id = id + 3000 WHERE id > 30",
        "a: INSERT INTO c (id, pid) VALUES (9000, 2)",
    ],
};

/// Tables in foreign keys that ALTER copies.
const ALTER_WITH_KEYS: Script = Script {
    name: "statements: ALTER by copy with foreign keys",
    setup: &[
        "CREATE TABLE p (id INT PRIMARY KEY, v VARCHAR(50), KEY (v))",
        "CREATE TABLE c (id INT PRIMARY KEY, pid INT, v VARCHAR(50), CONSTRAINT c_p FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE)",
        "CREATE TABLE other (id INT PRIMARY KEY, pid INT, KEY (pid))",
        "INSERT INTO p SELECT n, REPEAT('v', n) FROM (WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 30) SELECT n FROM s) s",
        "INSERT INTO c SELECT id * 3, id, v FROM p",
        "INSERT INTO other SELECT id, id FROM p WHERE id < 20",
    ],
    steps: &[
        "a: ALTER TABLE c ADD COLUMN w INT DEFAULT 7 FIRST",
        "a: ALTER TABLE p MODIFY v VARCHAR(300) CHARACTER SET latin1",
        "engine: checkpoint",
        "a: ALTER TABLE other ADD CONSTRAINT o_p FOREIGN KEY (pid) REFERENCES p (id) ON DELETE SET NULL",
        "a: DELETE FROM p WHERE id < 4",
        "a: ALTER TABLE p RENAME COLUMN id TO number, ADD COLUMN x INT, ALGORITHM = COPY",
        "a: ALTER TABLE c DROP FOREIGN KEY c_p, ADD CONSTRAINT c_q FOREIGN KEY (pid) REFERENCES p (number) ON UPDATE CASCADE",
        "a!1452: ALTER TABLE other ADD CONSTRAINT broken FOREIGN KEY (id) REFERENCES c (id)",
        "a: ALTER TABLE c FORCE",
        "a: UPDATE p SET number = number + 100 WHERE number > 20",
        // One statement for two of these is two changes of the dictionary, and a crash may come between them (docs/compatibility.md).
        "a: ALTER TABLE other DROP FOREIGN KEY o_p",
        "a: ALTER TABLE other DROP KEY pid",
        "a: ALTER TABLE c MODIFY v TEXT",
        "a: ALTER TABLE c RENAME TO d",
    ],
};

/// Indexes on expressions that come, go and are renamed.
const FUNCTIONAL_KEYS: Script = Script {
    name: "statements: functional keys",
    setup: &[
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, name VARCHAR(100), KEY plain (a), KEY twice ((a * 2)), UNIQUE KEY low ((LOWER(name))))",
        "INSERT INTO t SELECT n, n * 3, CONCAT('Name', n, REPEAT('x', n)) FROM (WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 \
         FROM s WHERE n < 40) SELECT n FROM s) s",
    ],
    steps: &[
        "a: UPDATE t SET a = a + 1, name = CONCAT(name, '!') WHERE id < 10",
        "a: ALTER TABLE t ADD KEY sum ((a + id)), ADD KEY pair ((a % 7), id)",
        "a: ALTER TABLE t RENAME INDEX twice TO renamed, DROP INDEX low",
        "engine: purge",
        "engine: checkpoint",
        "a: INSERT INTO t VALUES (100, 5, 'NAME1X!')",
        "a!1062: ALTER TABLE t ADD UNIQUE KEY low ((LOWER(name)))",
        "a: DELETE FROM t WHERE id = 100",
        "a: ALTER TABLE t ADD UNIQUE KEY low ((LOWER(name)))",
        "a: ALTER TABLE t RENAME INDEX renamed TO sum, DROP INDEX sum, RENAME INDEX low TO upper",
        "a: ALTER TABLE t MODIFY a BIGINT",
        "a: DROP INDEX pair ON t",
        "a: CREATE INDEX again ON t ((a + id), (LENGTH(name)))",
        "a: REPLACE INTO t VALUES (200, 9, 'NAME20xxxxxxxxxxxxxxxxxxxx')",
        "b: BEGIN",
        "b: UPDATE t SET name = CONCAT('z', name), a = -a",
    ],
};

/// Columns that are computed, stored and not.
const GENERATED_COLUMNS: Script = Script {
    name: "statements: generated columns",
    setup: &[
        "CREATE TABLE t (id INT PRIMARY KEY, a INT, s VARCHAR(60), v INT AS (a + 1) VIRTUAL, w VARCHAR(70) AS (CONCAT(s, '-', a)) STORED, \
         KEY (v), UNIQUE KEY (w), CHECK (a < 10000))",
        "INSERT INTO t (id, a, s) SELECT n, n * 2, REPEAT('s', n) FROM (WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s \
         WHERE n < 40) SELECT n FROM s) s",
    ],
    steps: &[
        "a: UPDATE t SET a = a + 100 WHERE id > 30",
        "a: ALTER TABLE t ADD COLUMN x INT AS (v * 10) STORED, ADD KEY (x)",
        "a: ALTER TABLE t ADD COLUMN y INT AS (x + v) VIRTUAL, ADD UNIQUE KEY (y, id)",
        "a: ALTER TABLE t MODIFY a BIGINT, MODIFY v BIGINT AS (a + 2) VIRTUAL",
        "engine: checkpoint",
        "a!3819: UPDATE t SET a = 10000 WHERE id = 3",
        "a: INSERT INTO t (id, a, s) VALUES (50, 1, 'q'), (51, 2, 'r')",
        "a: ALTER TABLE t DROP COLUMN y, DROP COLUMN w",
        "a: ALTER TABLE t MODIFY x INT AS (v * 20) STORED",
        "a: ALTER TABLE t RENAME COLUMN s TO text, ADD COLUMN made VARCHAR(20) DEFAULT (CONCAT('d', id))",
        "a: DELETE FROM t WHERE v > 60",
        "b: BEGIN",
        "b: UPDATE t SET a = a + 1",
        "b: DELETE FROM t WHERE id < 5",
    ],
};

/// Tables that are made with their rows.
const CREATE_SELECT: Script = Script {
    name: "statements: CREATE TABLE .. SELECT",
    setup: &[
        "CREATE TABLE s (id INT PRIMARY KEY, a INT, name VARCHAR(80))",
        "INSERT INTO s SELECT n, n % 10, CONCAT('Name', n, REPEAT('x', n)) FROM (WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 \
         FROM s WHERE n < 50) SELECT n FROM s) s",
        "CREATE VIEW w AS SELECT id, a FROM s WHERE a < 5",
    ],
    steps: &[
        "a: CREATE TABLE plain SELECT * FROM s",
        "a: CREATE TABLE computed (id INT PRIMARY KEY, twice INT AS (a * 2) STORED, thrice INT AS (a * 3) VIRTUAL, KEY (thrice), \
         UNIQUE KEY ((CONCAT(name, id)))) SELECT id, a, name FROM s",
        "a!1062: CREATE TABLE refused (a INT PRIMARY KEY) SELECT a FROM s",
        "engine: checkpoint",
        "a: CREATE TABLE first_of_all (a INT PRIMARY KEY, twice INT AS (a * 2) VIRTUAL, UNIQUE KEY ((a + 1))) IGNORE SELECT a, id FROM s",
        "a: CREATE TABLE last_of_all (a INT PRIMARY KEY) REPLACE SELECT a, id FROM s",
        "a: CREATE TABLE IF NOT EXISTS plain SELECT 1",
        "a: CREATE TABLE by_view SELECT a, COUNT(*) AS n FROM w GROUP BY a",
        "a: CREATE TABLE like_it LIKE computed",
        "a!3819: CREATE TABLE failing (id INT PRIMARY KEY, CHECK (a < 9)) SELECT id, a FROM s",
        "a: CREATE TEMPORARY TABLE passing SELECT * FROM s",
        "a: CREATE TABLE from_temporary SELECT id, name FROM passing WHERE id > 40",
        "a: DROP TABLE plain, by_view",
    ],
};

/// Tables in foreign keys that go and get other names.
const DROP_AND_RENAME: Script = Script {
    name: "statements: DROP and RENAME with foreign keys",
    setup: &[
        "CREATE TABLE p (id INT PRIMARY KEY, v INT, KEY ((v + 1)))",
        "CREATE TABLE c (id INT PRIMARY KEY, pid INT, CONSTRAINT c_p FOREIGN KEY (pid) REFERENCES p (id) ON DELETE CASCADE)",
        "CREATE TABLE g (id INT PRIMARY KEY, cid INT, CONSTRAINT g_c FOREIGN KEY (cid) REFERENCES c (id) ON DELETE SET NULL)",
        "CREATE TABLE other (id INT PRIMARY KEY)",
        "INSERT INTO p VALUES (1, 1), (2, 2), (3, 3), (4, 4)",
        "INSERT INTO c SELECT id * 10, id FROM p",
        "INSERT INTO g SELECT id + 1, id FROM c",
        "INSERT INTO other SELECT id FROM p",
    ],
    steps: &[
        "a: RENAME TABLE p TO q",
        "a: DELETE FROM q WHERE id = 1",
        "a: RENAME TABLE q TO x, other TO q, x TO other",
        "a: DELETE FROM other WHERE id = 2",
        "engine: purge",
        "engine: checkpoint",
        "a!3730: DROP TABLE other",
        "a: RENAME TABLE c TO d, other TO parent",
        "a: ALTER TABLE parent RENAME COLUMN id TO number",
        "a: TRUNCATE TABLE g",
        "a: INSERT INTO g VALUES (7, 40)",
        "a: DROP TABLE g",
        "a: TRUNCATE TABLE d",
        "a: ALTER TABLE d RENAME TO e",
        "a: INSERT INTO e VALUES (1, 3)",
        "a: DROP TABLE e, parent",
        "a: DROP TABLE q",
    ],
};

/// Views that come and go beside tables of one session.
const VIEWS_AND_TEMPORARY: Script = Script {
    name: "statements: views and temporary tables",
    setup: &[
        "CREATE TABLE t (id INT PRIMARY KEY, a INT)",
        "CREATE TABLE s (id INT PRIMARY KEY, tid INT, FOREIGN KEY (tid) REFERENCES t (id) ON DELETE CASCADE)",
        "INSERT INTO t SELECT n, n FROM (WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 30) SELECT n FROM s) s",
        "INSERT INTO s SELECT id, id FROM t",
    ],
    steps: &[
        "a: CREATE VIEW v AS SELECT id, a FROM t WHERE a < 20 WITH CHECK OPTION",
        "a: UPDATE v SET a = a + 1 WHERE id < 10",
        "a!1369: INSERT INTO v VALUES (100, 50)",
        "a: DELETE FROM v WHERE id < 4",
        "a: CREATE OR REPLACE VIEW v AS SELECT id, a * 2 AS b FROM t",
        "a: CREATE VIEW o AS SELECT v.id, v.b, s.tid FROM v JOIN s ON s.tid = v.id",
        "b: CREATE TEMPORARY TABLE t (id INT PRIMARY KEY, pad VARCHAR(2000), KEY ((id + 1)))",
        "b: BEGIN",
        "b: INSERT INTO t SELECT id, REPEAT('t', 1500) FROM s",
        "engine: checkpoint",
        "b: DELETE FROM s WHERE id IN (SELECT id FROM t WHERE id < 8)",
        "b: COMMIT",
        "a: RENAME TABLE v TO w",
        "b: BEGIN",
        "b: UPDATE t SET pad = REPEAT('u', 1900)",
        "b: ROLLBACK",
        "b: ALTER TABLE t ADD COLUMN n INT DEFAULT 1",
        "b: INSERT INTO s SELECT t.id + 1000, NULL FROM t",
        "b: DROP TABLE t",
        "a: ALTER VIEW o AS SELECT id FROM w WHERE b > 10",
        "a: DROP VIEW w, o",
    ],
};

/// JSON documents, long and short, with indexes on what is in them.
const DOCUMENTS: Script = Script {
    name: "statements: documents",
    setup: &[
        "CREATE TABLE j (id INT PRIMARY KEY, doc JSON, n INT AS (doc->'$.n') STORED, UNIQUE KEY (n), \
         KEY tag ((CAST(doc->>'$.tag' AS CHAR(30)))))",
        "INSERT INTO j (id, doc) SELECT n, JSON_OBJECT('n', n, 'tag', CONCAT('tag', n % 5), 'pad', REPEAT('p', n * 400)) \
         FROM (WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 30) SELECT n FROM s) s",
    ],
    steps: &[
        "a: UPDATE j SET doc = JSON_SET(doc, '$.n', id + 100) WHERE id < 10",
        "a: UPDATE j SET doc = JSON_SET(doc, '$.tag', 'other') WHERE id > 20",
        "engine: purge",
        "engine: checkpoint",
        "a: UPDATE j SET doc = JSON_REMOVE(doc, '$.pad') WHERE id = 30",
        "a!1062: UPDATE j SET doc = JSON_SET(doc, '$.n', 101) WHERE id = 20",
        "a: INSERT INTO j (id, doc) VALUES (50, JSON_OBJECT('n', 50, 'pad', REPEAT('q', 30000)))",
        "a: DELETE FROM j WHERE CAST(doc->>'$.tag' AS CHAR(30)) = 'tag3'",
        "a: ALTER TABLE j ADD COLUMN size INT AS (JSON_LENGTH(doc)) VIRTUAL, ADD KEY (size)",
        "b: BEGIN",
        "b: UPDATE j SET doc = JSON_SET(doc, '$.n', id + 5000, '$.tag', 'lost')",
    ],
};
