"""Writes sources.spec: statements that read one table for another's sake, then who is shut out of the rows and gaps of what they have read.
Run it after a change here, and record the result from MySQL."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent

SETUP = """\
# Written by sources.py.
setup: CREATE TABLE s (id INT PRIMARY KEY, k INT, u INT, v INT, KEY (k), UNIQUE KEY (u))
setup: INSERT INTO s VALUES (10, 10, 10, 0), (20, 20, 20, 0), (30, 20, 30, 0), (40, 40, 40, 1), (50, 50, NULL, 0)
setup: CREATE TABLE d (id INT PRIMARY KEY, v INT)
setup: INSERT INTO d VALUES (10, 0), (20, 0), (30, 0)
"""

STATEMENTS = [
    "INSERT INTO d SELECT id + 100, v FROM s",
    "INSERT INTO d SELECT id + 100, v FROM s WHERE id BETWEEN 15 AND 35",
    "INSERT INTO d SELECT id + 100, v FROM s WHERE id = 20",
    "INSERT INTO d SELECT id + 100, v FROM s WHERE id = 25",
    "INSERT INTO d SELECT id + 100, v FROM s FORCE INDEX (k) WHERE k = 20",
    "INSERT INTO d SELECT id + 100, k FROM s FORCE INDEX (k) WHERE k >= 20",
    "INSERT INTO d SELECT id + 100, v FROM s FORCE INDEX (u) WHERE u = 30",
    "INSERT INTO d SELECT id + 100, v FROM s WHERE v = 1",
    "INSERT INTO d SELECT id + 100, v FROM s ORDER BY id LIMIT 2",
    "INSERT INTO d SELECT 100, COUNT(*) FROM s",
    "INSERT INTO d SELECT 100, MAX(id) FROM s",
    "INSERT INTO d SELECT v + 100, COUNT(*) FROM s GROUP BY v",
    "INSERT INTO d SELECT s.id + 100, d.v FROM s JOIN d ON d.id = s.id WHERE s.id = 20",
    "INSERT INTO d SELECT id + 100, v FROM (SELECT id, v FROM s WHERE id < 25 LIMIT 5) AS derived",
    "INSERT INTO d WITH c AS (SELECT id, v FROM s WHERE id = 20) SELECT id + 100, v FROM c",
    "INSERT INTO d SELECT id + 100, v FROM s WHERE id = 10 UNION SELECT id + 200, v FROM s WHERE id = 20",
    "INSERT INTO d SELECT id + 100, v FROM s WHERE id = 20 FOR UPDATE",
    "INSERT INTO d VALUES (100, (SELECT v FROM s WHERE id = 20))",
    "INSERT INTO d VALUES (100, (SELECT MAX(k) FROM s))",
    "INSERT INTO d SET id = 100, v = (SELECT k FROM s WHERE u = 30)",
    "INSERT INTO d VALUES (20, 1) ON DUPLICATE KEY UPDATE v = (SELECT k FROM s WHERE id = 30)",
    "REPLACE INTO d SELECT id, v FROM s WHERE id = 20",
    "REPLACE INTO d VALUES (100, (SELECT v FROM s WHERE id = 20))",
    "INSERT IGNORE INTO d SELECT id, v FROM s WHERE id <= 20",
    "UPDATE d SET v = (SELECT k FROM s WHERE s.id = d.id) WHERE id = 20",
    "UPDATE d SET v = 1 WHERE id IN (SELECT id FROM s WHERE k = 20)",
    "UPDATE d SET v = 1 WHERE EXISTS (SELECT 1 FROM s WHERE s.id = d.id AND s.v = 0) AND id = 10",
    "UPDATE d JOIN s ON s.id = d.id SET d.v = s.k WHERE d.id = 20",
    "UPDATE d, s SET d.v = 1 WHERE d.id = 10 AND s.id = 40",
    "UPDATE d JOIN s ON s.id = d.id SET d.v = 1, s.v = 1 WHERE d.id = 20",
    "DELETE FROM d WHERE id IN (SELECT id FROM s WHERE id > 25)",
    "DELETE FROM d WHERE id = (SELECT id FROM s WHERE u = 20)",
    "DELETE d FROM d JOIN s ON s.id = d.id WHERE s.id = 30",
    "DELETE d, s FROM d JOIN s ON s.id = d.id WHERE s.id = 30",
    "SET @x = (SELECT v FROM s WHERE id = 20)",
    "DO (SELECT v FROM s WHERE id = 20)",
    "SELECT v INTO @x FROM s WHERE id = 20",
    "SELECT v FROM s WHERE id = 20 AND EXISTS (SELECT 1 FROM d FOR UPDATE)",
]

PROBES = [*[f"UPDATE s SET v = 9 WHERE id = {key}" for key in [10, 20, 30, 40, 50]],
          "SELECT v FROM s WHERE id = 20 FOR SHARE NOWAIT",
          *[f"INSERT INTO s VALUES ({key}, 100, {key + 1000}, 9)" for key in [5, 15, 25, 35, 45, 55]],
          *[f"INSERT INTO s VALUES (100, {k}, 2100, 9)" for k in [5, 15, 20, 30, 45, 60]],
          *[f"INSERT INTO s VALUES (100, 100, {u}, 9)" for u in [25, 35]],
          *[f"UPDATE d SET v = 9 WHERE id = {key}" for key in [10, 20, 30]]]


def all_specs():
    for level in ["REPEATABLE READ", "READ COMMITTED", "READ UNCOMMITTED", "SERIALIZABLE"]:
        for statement in STATEMENTS:
            lines = [f"== {level}: {statement}", f"a: SET TRANSACTION ISOLATION LEVEL {level}", "a: BEGIN", f"a: {statement}"]
            yield lines + [f"probe: {probe}" for probe in PROBES] + ["a: ROLLBACK"]
    # What the reader of another transaction's unfinished rows sees or waits for.
    for level in ["REPEATABLE READ", "READ COMMITTED"]:
        for statement in ["INSERT INTO d SELECT id + 100, v FROM s WHERE id = 20", "INSERT INTO d VALUES (100, (SELECT v FROM s WHERE id = 20))",
                          "UPDATE d SET v = (SELECT v FROM s WHERE id = 20) WHERE id = 10", "CREATE TABLE made SELECT id, v FROM s WHERE id = 20",
                          "DELETE FROM d WHERE id = 10 AND (SELECT v FROM s WHERE id = 20) = 0", "SET @x = (SELECT v FROM s WHERE id = 20)"]:
            yield [f"== {level}: beside a writer: {statement}", "a: BEGIN", "a: UPDATE s SET v = 7 WHERE id = 20",
                   f"b: SET SESSION TRANSACTION ISOLATION LEVEL {level}", "b: BEGIN", "b: SELECT v FROM s WHERE id = 20", f"b: {statement}", "a: COMMIT",
                   "b: SELECT * FROM d", "b: SELECT @x", "b: COMMIT", "c: DROP TABLE IF EXISTS made"]


if __name__ == "__main__":
    specs = "\n\n".join("\n".join(lines) for lines in all_specs())
    (HERE / "sources.spec").write_text(f"{SETUP}\n{specs}\n")
