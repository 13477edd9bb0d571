"""Writes changes.spec: one statement that changes rows (or fails to), then who is shut out of each key and of each gap of what it wrote and of
what it read. Run it after a change here, and record the result from MySQL."""
import footprints

STATEMENTS = [
    "INSERT INTO t VALUES (25, 25, 25, 0)",
    "INSERT INTO t VALUES (60, 60, 60, 0), (70, 70, 70, 0)",
    "INSERT INTO t VALUES (20, 25, 25, 0)",
    "INSERT INTO t VALUES (25, 25, 20, 0)",
    "INSERT INTO t VALUES (25, 25, 25, 0), (20, 1, 1, 0)",
    "INSERT IGNORE INTO t VALUES (20, 25, 25, 0)",
    "INSERT IGNORE INTO t VALUES (25, 25, 20, 0)",
    "INSERT IGNORE INTO t VALUES (25, 25, 25, 0), (20, 25, 26, 0)",
    "INSERT INTO t VALUES (20, 25, 25, 0) ON DUPLICATE KEY UPDATE v = 5",
    "INSERT INTO t VALUES (25, 25, 20, 0) ON DUPLICATE KEY UPDATE v = 5",
    "INSERT INTO t VALUES (25, 25, 25, 0) ON DUPLICATE KEY UPDATE v = 5",
    "REPLACE INTO t VALUES (20, 25, 25, 0)",
    "REPLACE INTO t VALUES (25, 25, 20, 0)",
    "REPLACE INTO t VALUES (25, 25, 25, 0)",
    "REPLACE INTO t VALUES (20, 25, 40, 0)",
    "INSERT INTO t SELECT a + 100, b, a + 200, v FROM c WHERE a = 1 AND b = 10",
    "INSERT INTO t SELECT a + 100, b, a + 200, v FROM c WHERE a = 3 AND b > 10",
    "INSERT INTO t SELECT id + 100, k, u + 100, v FROM t WHERE id = 20",
    "INSERT INTO c SELECT id, k, v FROM t WHERE id BETWEEN 15 AND 35",
    "INSERT INTO c SELECT id, k, v FROM t FORCE INDEX (k) WHERE k = 20",
    "INSERT INTO c VALUES (9, (SELECT MAX(id) FROM t WHERE id < 30), 0)",
    "REPLACE INTO c SELECT id, k, v FROM t WHERE id = 25",
    "CREATE TABLE x AS SELECT * FROM t WHERE id BETWEEN 15 AND 25",
    "UPDATE t SET id = 25 WHERE id = 20",
    "UPDATE t SET k = 25 WHERE id = 20",
    "UPDATE t SET u = 25 WHERE id = 20",
    "UPDATE t SET u = 40 WHERE id = 20",
    "UPDATE t SET id = 40 WHERE id = 20",
    "UPDATE t SET v = 0 WHERE id = 20",
    "UPDATE t SET v = v + 1 WHERE id = 20 OR id = 35",
    "UPDATE t SET v = (SELECT MAX(b) FROM c WHERE a = 1) WHERE id = 20",
    "UPDATE t JOIN c ON c.a = 1 AND c.b = 10 SET t.v = 5 WHERE t.id = 20",
    "UPDATE t SET v = 5 ORDER BY id LIMIT 1",
    "UPDATE t SET v = 5 WHERE id > 15 ORDER BY id LIMIT 1",
    "DELETE FROM t WHERE id = 20",
    "DELETE FROM t WHERE id = 25",
    "DELETE FROM t ORDER BY id DESC LIMIT 1",
    "DELETE FROM t WHERE id IN (SELECT b FROM c WHERE a = 1)",
    "DELETE t FROM t JOIN c ON t.id = c.b WHERE c.a = 2",
    "SELECT * FROM t JOIN c ON c.a = 1 AND c.b = t.id WHERE t.id = 20 FOR UPDATE",
    "SELECT * FROM t JOIN c ON c.a = 1 AND c.b = t.id WHERE t.id = 20 FOR SHARE OF c",
    "SELECT * FROM t WHERE id = (SELECT MAX(b) FROM c WHERE a = 1) FOR UPDATE",
    "SELECT * FROM t WHERE id = (SELECT MAX(b) FROM c WHERE a = 1 FOR SHARE)",
    "SELECT MAX(id) FROM t FOR UPDATE",
    "SELECT MIN(k) FROM t FOR UPDATE",
    "SELECT COUNT(*) FROM t WHERE id < 30 FOR SHARE",
    "SELECT id FROM t WHERE k = 20 FOR SHARE",
    "SELECT k FROM t FORCE INDEX (k) WHERE k > 20 FOR SHARE",
    "SELECT * FROM t WHERE id = 20 UNION ALL SELECT * FROM t WHERE id = 40 FOR UPDATE",
]
SEQUENCES = [
    ["DELETE FROM t WHERE id = 20", "INSERT INTO t VALUES (20, 25, 25, 0)"],
    ["INSERT INTO t VALUES (25, 25, 25, 0)", "DELETE FROM t WHERE id = 25"],
    ["SELECT * FROM t WHERE id = 25 FOR UPDATE", "INSERT INTO t VALUES (25, 25, 25, 0)"],
    ["SAVEPOINT s", "INSERT INTO t VALUES (25, 25, 25, 0)", "ROLLBACK TO s"],
    ["SAVEPOINT s", "UPDATE t SET v = 1 WHERE id = 20", "ROLLBACK TO s"],
    ["SAVEPOINT s", "SELECT * FROM t WHERE id > 35 FOR UPDATE", "ROLLBACK TO s"],
]


def probes():
    yield from footprints.probes_t()
    for a, b in [(1, 10), (1, 20), (2, 10), (3, 10), (3, 20)]:
        yield f"UPDATE c SET v = 9 WHERE a = {a} AND b = {b}"
        yield f"SELECT v FROM c WHERE a = {a} AND b = {b} FOR SHARE NOWAIT"
    for a, b in [(1, 5), (1, 15), (1, 25), (3, 15), (3, 25), (4, 1), (40, 1)]:
        yield f"INSERT INTO c VALUES ({a}, {b}, 9)"
    for key in [10, 20, 25, 30, 40, 50]:
        yield f"SELECT v FROM t WHERE id = {key} FOR SHARE NOWAIT"


def spec(level, statements):
    lines = [f"== {level}: {'; '.join(statements)}", f"a: SET TRANSACTION ISOLATION LEVEL {level}", "a: BEGIN"]
    lines += [f"a: {statement}" for statement in statements]
    return lines + [f"probe: {probe}" for probe in probes()] + ["a: ROLLBACK"]


def main():
    lines = [footprints.SETUP.replace("footprints.py", "changes.py")]
    for level in ["REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE"]:
        for statements in [[statement] for statement in STATEMENTS] + SEQUENCES:
            lines.append("\n".join(spec(level, statements)))
    (footprints.HERE / "changes.spec").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
