"""Writes footprints.spec: one locking statement, then who is shut out of each key and of each gap. Run it after a change here, and
record the result from MySQL."""
import itertools
import pathlib

HERE = pathlib.Path(__file__).resolve().parent

SETUP = """\
# Written by footprints.py.
setup: CREATE TABLE t (id INT PRIMARY KEY, k INT, u INT, v INT, KEY (k), UNIQUE KEY (u))
setup: INSERT INTO t VALUES (10, 10, 10, 0), (20, 20, 20, 0), (30, 20, 30, 0), (40, 40, 40, 0), (50, 50, NULL, 0)
setup: CREATE TABLE c (a INT, b INT, v INT, PRIMARY KEY (a, b))
setup: INSERT INTO c VALUES (1, 10, 0), (1, 20, 0), (2, 10, 0), (3, 10, 0), (3, 20, 0)
"""

LEVELS = ["REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE"]

# Conditions on t by the index that finds the rows.
BY_ID = ["id = 20", "id = 25", "id = 5", "id = 60", "id > 20", "id >= 20", "id >= 25", "id > 60", "id < 30", "id <= 30", "id < 25", "id <= 25",
         "id < 5", "id BETWEEN 20 AND 40", "id BETWEEN 15 AND 35", "id BETWEEN 21 AND 29", "id > 10 AND id < 40", "id IN (10, 25, 40)",
         "id >= 20 AND id <= 20", "id > 20 AND v = 1"]
BY_K = ["k = 20", "k = 15", "k = 50", "k = 60", "k > 20", "k >= 20", "k < 20", "k <= 20", "k BETWEEN 15 AND 45", "k IN (10, 40)", "k = 20 AND v = 1",
        "k > 10 AND k < 40", "k IS NULL"]
BY_U = ["u = 20", "u = 25", "u > 20", "u <= 20", "u IS NULL", "u BETWEEN 20 AND 30", "u IN (10, 25)", "u = 20 AND v = 1"]
ALL = ["v = 0", "v = 1"]
BY_AB = ["a = 1", "a = 2", "a = 4", "a = 1 AND b = 10", "a = 1 AND b = 15", "a > 1", "a >= 2", "a < 2", "a <= 2", "a = 1 AND b > 10",
         "a = 3 AND b <= 10"]

IDS = [5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55]


def probes_t():
    for key in IDS:
        yield f"INSERT INTO t VALUES ({key}, 100, {key + 1000}, 9)" if key % 10 else f"UPDATE t SET v = 9 WHERE id = {key}"
    # Gaps of k before and behind the entries with 20, of which there are two, and between these.
    for k, row in [(5, 100), (12, 100), (19, 100), (20, 1), (20, 25), (20, 100), (30, 100), (45, 100), (50, 1), (50, 100), (60, 100)]:
        yield f"INSERT INTO t VALUES ({row}, {k}, {row + 2000}, 9)"
    for u in [5, 15, 25, 35, 45]:
        yield f"INSERT INTO t VALUES (100, 100, {u}, 9)"


def probes_c():
    for a, b in itertools.product([1, 2, 3, 4], [5, 10, 15, 20, 25]):
        exists = (a, b) in {(1, 10), (1, 20), (2, 10), (3, 10), (3, 20)}
        yield f"UPDATE c SET v = 9 WHERE a = {a} AND b = {b}" if exists else f"INSERT INTO c VALUES ({a}, {b}, 9)"


def statements(table, condition):
    yield f"SELECT * FROM {table} WHERE {condition} FOR UPDATE"
    yield f"SELECT * FROM {table} WHERE {condition} FOR SHARE"
    yield f"UPDATE {table} SET v = v + 1 WHERE {condition}"
    yield f"DELETE FROM {table} WHERE {condition}"


def spec(level, statement, probes):
    print_name = f"{level}: {statement}"
    lines = [f"== {print_name}", f"a: SET TRANSACTION ISOLATION LEVEL {level}", "a: BEGIN", f"a: {statement}"]
    return lines + [f"probe: {probe}" for probe in probes] + ["a: ROLLBACK"]


def all_specs():
    hints = [(BY_ID, "t FORCE INDEX (PRIMARY)"), (BY_K, "t FORCE INDEX (k)"), (BY_U, "t FORCE INDEX (u)"), (ALL, "t")]
    for level in LEVELS:
        for conditions, table in hints:
            for condition in conditions:
                for statement in statements(table, condition):
                    if "FORCE" in statement and statement.startswith("DELETE"):
                        statement = statement.replace("DELETE FROM t FORCE INDEX", "DELETE t FROM t FORCE INDEX")
                    if level != "REPEATABLE READ" and not statement.startswith("UPDATE"):
                        continue
                    yield spec(level, statement, probes_t())
        for condition in BY_AB:
            for statement in statements("c", condition):
                if level == "REPEATABLE READ" or statement.startswith("SELECT"):
                    yield spec(level, statement, probes_c())
    for order in ["id", "id DESC"]:
        for condition in ["id > 10", "id >= 20 AND id < 40", "id <= 30", "id < 35 AND id > 15"]:
            for limit in ["", " LIMIT 1", " LIMIT 2"]:
                yield spec(LEVELS[0], f"SELECT * FROM t FORCE INDEX (PRIMARY) WHERE {condition} ORDER BY {order}{limit} FOR UPDATE", probes_t())
    for order in ["k", "k DESC"]:
        for condition in ["k > 10", "k = 20", "k <= 20", "k < 45 AND k > 15"]:
            for limit in ["", " LIMIT 1"]:
                yield spec(LEVELS[0], f"SELECT * FROM t FORCE INDEX (k) WHERE {condition} ORDER BY {order}{limit} FOR UPDATE", probes_t())


def main():
    lines = [SETUP] + ["\n".join(lines) for lines in all_specs()]
    (HERE / "footprints.spec").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
