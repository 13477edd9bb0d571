"""Writes entries.spec: one locking statement by a secondary index, then who is shut out of each entry, of each row by its primary key, and
of moving a row in the index. Run it after a change here, and record the result from MySQL."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent

SETUP = """\
# Written by entries.py.
setup: CREATE TABLE t (id INT PRIMARY KEY, k INT, u INT, v INT, KEY (k), UNIQUE KEY (u))
setup: INSERT INTO t VALUES (10, 10, 10, 0), (20, 20, 20, 0), (30, 20, 30, 0), (40, 40, 40, 0), (50, 50, NULL, 0), (60, 70, 70, 0)
"""

BY_K = ["k = 20", "k = 30", "k > 20", "k >= 40", "k BETWEEN 15 AND 45", "k < 40", "k <= 20", "k IN (10, 40)", "k > 60", "k > 70"]
BY_U = ["u = 20", "u = 25", "u > 20", "u BETWEEN 20 AND 30", "u < 40", "u IS NULL"]


def statements(index, condition):
    for columns in [index, "v"]:
        for strength in ["SHARE", "UPDATE"]:
            yield f"SELECT {columns} FROM t FORCE INDEX ({index}) WHERE {condition} FOR {strength}"
    yield f"UPDATE t FORCE INDEX ({index}) SET v = 1 WHERE {condition}"


def all_statements():
    for index, conditions in [("k", BY_K), ("u", BY_U)]:
        for condition in conditions:
            yield from statements(index, condition)
    for strength in ["SHARE", "UPDATE"]:
        yield f"SELECT COUNT(*) FROM t FOR {strength}"
        yield f"SELECT MAX(k) FROM t FOR {strength}"
        yield f"SELECT MIN(k) FROM t WHERE k > 20 FOR {strength}"
        for order in ["k", "k DESC"]:
            yield f"SELECT k FROM t FORCE INDEX (k) WHERE k BETWEEN 15 AND 45 ORDER BY {order} FOR {strength}"
            yield f"SELECT k FROM t FORCE INDEX (k) ORDER BY {order} LIMIT 2 FOR {strength}"
    yield "UPDATE t SET k = 25 WHERE id = 20"
    yield "DELETE FROM t WHERE id = 20"
    yield "INSERT INTO t VALUES (25, 25, 25, 0)"
    yield "SELECT * FROM t WHERE id = 20 FOR UPDATE"
    yield "SELECT * FROM t WHERE id = 20 FOR SHARE"


def probes():
    for key, k in [(10, 10), (20, 20), (30, 20), (40, 40), (50, 50), (60, 70)]:
        yield f"SELECT v FROM t WHERE id = {key} FOR UPDATE NOWAIT"
        yield f"UPDATE t SET k = k + 100 WHERE id = {key}"
        yield f"SELECT k FROM t FORCE INDEX (k) WHERE k = {k} FOR SHARE NOWAIT"
        yield f"SELECT k FROM t FORCE INDEX (k) WHERE k = {k} FOR UPDATE NOWAIT"
    for u in [10, 20, 30, 40, 70]:
        yield f"SELECT u FROM t FORCE INDEX (u) WHERE u = {u} FOR SHARE NOWAIT"
        yield f"SELECT u FROM t FORCE INDEX (u) WHERE u = {u} FOR UPDATE NOWAIT"
        yield f"UPDATE t SET u = u + 100 WHERE u = {u}"


def all_specs():
    for level in ["REPEATABLE READ", "READ COMMITTED"]:
        for statement in all_statements():
            lines = [f"== {level}: {statement}", f"a: SET TRANSACTION ISOLATION LEVEL {level}", "a: BEGIN", f"a: {statement}"]
            yield lines + [f"probe: {probe}" for probe in probes()] + ["a: ROLLBACK"]


if __name__ == "__main__":
    specs = "\n\n".join("\n".join(lines) for lines in all_specs())
    (HERE / "entries.spec").write_text(f"{SETUP}\n{specs}\n")
