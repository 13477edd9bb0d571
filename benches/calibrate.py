"""What the steps of plans cost, in nanoseconds of the server's CPU time: measures them and writes the constants of the optimizer.

    calibrate.py --binary B [--write] [--folder F] [--runs 5]

Starts the server on tables of its own, of 1,000 to a million rows (kept in `--folder` for the next run), and runs statements in pairs
that differ in one step. A hint says which plan each has, and the plan is looked at. The least of some runs counts."""
import argparse
import math
import os
import pathlib
import sys
import tempfile

import pymysql

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
sys.path.insert(0, str(HERE / "queries"))
import clocks  # noqa: E402
from with_server import Server  # noqa: E402

OPTIONS = ("--innodb-buffer-pool-size=1G",)
SCHEMA = "calibration"
# Rows of the tables that are looked up in, and of those that are scanned.
SIZES, ROWS = (1_000, 10_000, 100_000, 1_000_000), 100_000
PAD, WIDE_PAD = 40, 390
CONSTANTS = HERE.parent / "crates/optimizer/src/cost/constants.rs"
HEAD = """//! What steps of plans take in nanoseconds of a processor's time. Written by `benches/calibrate.py --write`. Pairs are a size and the
//! time there: bytes of the tree that is looked up in, or rows that are kept to be hashed.
"""
COMMENTS = {
    "SCAN_ROW_NS": "Passing a row of a clustered index.",
    "SCAN_KIBIBYTE_NS": "And for each KiB of it.",
    "SCAN_ENTRY_NS": "Passing an entry of a secondary index.",
    "LOCK_ROW_NS": "Locking a row that is read.",
    "KEPT_ROW_NS": "Making values of a row.",
    "COLUMN_NS": "And for each column of fixed width.",
    "TEXT_COLUMN_NS": "And for each text.",
    "LOOK_UP_NS": "Finding a row by a whole key, at random.",
    "LOOK_UP_IN_ORDER_NS": "The same by keys that ascend, page by page.",
    "RANGE_NS": "What a range costs more than a whole key.",
    "FETCH_NS": "Finding the row of an entry, at random.",
    "BUILD_NS": "Keeping a row to be hashed.",
    "PROBE_NS": "Looking a row up among the kept ones, and finding one.",
    "MISS_NS": "The same of a row that finds none.",
    "TEXT_MISS_NS": "The same with a text in the key.",
    "TEXT_BUILD_NS": "What keeping costs more with a text in the key.",
    "TEXT_PROBE_NS": "What looking up costs more with a text in the key.",
    "JOINED_ROW_NS": "A row that comes out of a join.",
    "PAIR_NS": "A pair that no key decides about.",
    "SORT_ROW_NS": "Sorting a row.",
    "SORT_STEP_NS": "And for each doubling of the number of rows.",
    "SKIP_NS": "Going from a value of an index to the next.",
}
# id and `k` come in orders that have nothing to do with each other; ten rows have a `near`, beside each other, and a `far`; a hundred
# have a `few`. `r1000` .. name a row of each table at random.
TABLE = f"""(id INT PRIMARY KEY, k INT NOT NULL, near INT NOT NULL, far INT NOT NULL, a INT NOT NULL, b INT NOT NULL, c INT NOT NULL,
    d INT NOT NULL, few INT NOT NULL, {', '.join(f'r{size} INT NOT NULL' for size in (100, *SIZES))}, s VARCHAR(20) NOT NULL, u VARCHAR(20) NOT NULL,
    pad VARCHAR(400) NOT NULL, KEY k (k), KEY near (near), KEY far (far), KEY few (few))"""


def shuffled(number, size, factor):
    return f"{number} * {factor} % {size} + 1"


def row(size, pad):
    names = ", ".join(shuffled("i", other, 7_368_787) for other in (100, *SIZES))
    return (f"SELECT i, {shuffled('i', size, 6_700_417)}, i DIV 10, i % {size // 10}, i, i, i, i, i DIV 100, {names}, "
            f"CONCAT('name of ', {shuffled('i', size, 6_700_417)}), CONCAT('name of ', i), REPEAT('x', {pad}) FROM numbers WHERE i <= {size} ORDER BY i")


def fill(cursor):
    cursor.execute(f"CREATE DATABASE {SCHEMA}")
    cursor.execute(f"USE {SCHEMA}")
    cursor.execute("CREATE TABLE numbers (i INT PRIMARY KEY)")
    cursor.execute("INSERT INTO numbers WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n")
    cursor.execute("INSERT INTO numbers SELECT a.i + 1000 * b.i FROM numbers a, numbers b WHERE b.i < 1000 ORDER BY b.i, a.i")
    for name, size, pad in [*((f"rows{size}", size, PAD) for size in SIZES), ("wide", ROWS, WIDE_PAD)]:
        cursor.execute(f"CREATE TABLE {name} {TABLE}")
        cursor.execute(f"INSERT INTO {name} {row(size, pad)}")
        cursor.execute(f"ANALYZE TABLE {name}")
    cursor.execute("CREATE TABLE calibrated (i INT)")


class Measuring:
    """Statements and their CPU time."""

    def __init__(self, connection, clock, runs):
        self.connection, self.clock, self.runs = connection, clock, runs
        self.known = {}

    def bytes_of(self, table):
        """Of its rows."""
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT data_length, table_rows FROM information_schema.tables WHERE table_schema = '{SCHEMA}' AND table_name = '{table}'")
            return cursor.fetchall()[0][0]

    def row_bytes(self, table):
        return self.bytes_of(table) / ROWS

    def nanoseconds(self, text, *steps):
        """The least CPU time of some runs. `steps`: what the plan must show."""
        if text in self.known:
            return self.known[text]
        with self.connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN FORMAT=TREE {text}")
            plan = cursor.fetchall()[0][0]
            missing = [step for step in steps if step not in plan]
            if missing:
                raise SystemExit(f"{text}\nis not planned with {missing}:\n{plan}")
            took = []
            for _ in range(self.runs + 1):
                start = self.clock()
                cursor.execute(text)
                cursor.fetchall()
                took.append(self.clock() - start)
        self.known[text] = 1e9 * min(took[1:])
        return self.known[text]


# Reads two columns, and is done by the generic operators.
SINK = "COUNT(a + b)"


def read_ns(measure, table):
    """The same without the sink: reading two columns of each row."""
    return measure.nanoseconds(f"SELECT a FROM {table} WHERE a + b = -1", "Table scan")


def scans(measure):
    """Rows and entries that are read one after the other, and what is read of those that are wanted."""
    ns = measure.nanoseconds
    passed_over = ns(f"SELECT pad FROM rows{ROWS} WHERE a = -1", "Table scan") / ROWS
    locked = ns(f"SELECT pad FROM rows{ROWS} WHERE a = -1 FOR UPDATE", "Table scan") / ROWS
    wide = ns("SELECT pad FROM wide WHERE a = -1", "Table scan") / ROWS
    two = ns(f"SELECT {SINK} FROM rows{ROWS}", "Table scan") / ROWS
    # COALESCE looks at the first of its arguments only: the others are read and not used.
    four = ns(f"SELECT COUNT(COALESCE(a + b, c, d)) FROM rows{ROWS}", "Table scan") / ROWS
    texts = ns(f"SELECT COUNT(COALESCE(a + b, s, u)) FROM rows{ROWS}", "Table scan") / ROWS
    # Rows are passed over by the generic operators, and counted in place: what an entry costs less shows best in the second.
    saved = ns(f"SELECT COUNT(a) FROM rows{ROWS} WHERE a > 0") - ns(f"SELECT COUNT(k) FROM rows{ROWS} FORCE INDEX (k) WHERE k > 0", "Covering index")
    entries = passed_over - saved / ROWS
    byte = (wide - passed_over) / (WIDE_PAD - PAD)
    column = (four - two) / 2
    return {
        "SCAN_ROW_NS": passed_over - byte * measure.row_bytes(f"rows{ROWS}"),
        "SCAN_KIBIBYTE_NS": 1024 * byte,
        "SCAN_ENTRY_NS": entries,
        "LOCK_ROW_NS": locked - passed_over,
        "KEPT_ROW_NS": two - passed_over - 2 * column,
        "COLUMN_NS": column,
        "TEXT_COLUMN_NS": (texts - two) / 2,
    }


def per_outer_row(measure, inner, condition, sink, *steps):
    """What a join costs more than its outer side, for each row of that."""
    alone = measure.nanoseconds(f"SELECT COUNT(o.a + o.b) FROM rows{ROWS} o WHERE o.id > 0")
    text = f"SELECT /*+ NO_BNL(i) */ COUNT({sink}) FROM rows{ROWS} o STRAIGHT_JOIN {inner} i {condition} WHERE o.id > 0"
    return (measure.nanoseconds(text, "Nested loop", *steps) - alone) / ROWS


def look_ups(measure, known):
    """Rows that are found by keys at random, by tables of several sizes."""
    row = known["KEPT_ROW_NS"] + known["COLUMN_NS"] + known["JOINED_ROW_NS"]
    look_up, ranges, fetch = [], [], []
    for size in SIZES:
        table = f"rows{size}"
        single = per_outer_row(measure, table, f"ON i.id = o.r{size}", "o.a + i.a", "Single-row index lookup")
        look_up.append((measure.bytes_of(table), single - row))
        of_one = per_outer_row(measure, table, f"FORCE INDEX (k) ON i.k = o.r{size}", "o.a + i.k", "Covering index lookup")
        ranges.append(of_one - single)
        entries = per_outer_row(measure, table, f"FORCE INDEX (far) ON i.far = o.r{size // 10}", "o.a + i.far", "Covering index lookup")
        rows = per_outer_row(measure, table, f"FORCE INDEX (far) ON i.far = o.r{size // 10}", "o.a + i.a", "Index lookup")
        fetch.append((measure.bytes_of(table), (rows - entries) / 10))
    in_order = per_outer_row(measure, f"rows{SIZES[-1]}", "ON i.id = o.id", "o.a + i.a", "Single-row index lookup") - row
    return {"LOOK_UP_NS": look_up, "LOOK_UP_IN_ORDER_NS": in_order, "RANGE_NS": sum(ranges) / len(ranges), "FETCH_NS": fetch}


def joins(measure):
    """Hash joins, by the rows that are kept; LEFT JOIN keeps its inner side. Pairs without a key."""
    ns = measure.nanoseconds
    few = SIZES[0]
    build, probe, text = [], [], []
    for size in SIZES[1:]:
        alone = read_ns(measure, f"rows{size}") + ns(f"SELECT {SINK} FROM rows{few}")
        kept = (ns(f"SELECT COUNT(o.a + i.a) FROM rows{few} o LEFT JOIN rows{size} i ON i.d = o.a + 0", "hash join") - alone) / size
        build.append((size, kept))
    for size in SIZES:
        # Keeping the fewest takes too short a time to be measured by itself.
        kept = dict(build).get(size, build[0][1])
        alone = read_ns(measure, f"rows{size}") + ns(f"SELECT {SINK} FROM rows{ROWS}")
        joined = ns(f"SELECT COUNT(o.a + i.a) FROM rows{ROWS} o LEFT JOIN rows{size} i ON i.d = o.r{size} + 0", "hash join") - alone
        probe.append((size, (joined - kept * size) / ROWS))
    alone = read_ns(measure, f"rows{ROWS}") + ns(f"SELECT {SINK} FROM rows{few}")
    kept = (ns(f"SELECT COUNT(o.a + i.a) FROM rows{few} o LEFT JOIN rows{ROWS} i ON i.u = o.s", "hash join") - alone) / ROWS
    probed = (ns(f"SELECT COUNT(o.a + i.a) FROM rows{ROWS} o LEFT JOIN rows{ROWS} i ON i.u = o.s", "hash join")
              - read_ns(measure, f"rows{ROWS}") - ns(f"SELECT {SINK} FROM rows{ROWS}")) / ROWS
    text_build, text_probe = kept - dict(build)[ROWS], probed - kept - dict(probe)[ROWS]
    one = ns(f"SELECT COUNT(o.a + i.a) FROM rows{ROWS} o LEFT JOIN rows10000 i ON i.d = o.r10000 + 0", "hash join")
    ten = ns(f"SELECT COUNT(o.a + i.a) FROM rows{ROWS} o LEFT JOIN rows10000 i ON i.far = o.r1000 + 0", "hash join")
    alone = read_ns(measure, f"rows{ROWS}") + ns(f"SELECT {SINK} FROM rows{few}")
    miss = (ns(f"SELECT COUNT(o.a + i.a) FROM rows{ROWS} o, rows{few} i WHERE i.d + 0 = o.r{SIZES[-1]} + 0", "hash join") - alone) / ROWS
    text_miss = (ns(f"SELECT COUNT(o.a + i.a) FROM rows{ROWS} o, rows{few} i WHERE i.u = o.s", "hash join") - alone) / ROWS
    pairs = ns("SELECT COUNT(o.a + i.a) FROM rows1000 o, rows10000 i WHERE o.a + i.a < 0", "hash join") / (1000 * 10_000)
    joined = (ten - one) / (9 * ROWS)
    return {"BUILD_NS": build, "PROBE_NS": [(size, ns - joined) for size, ns in probe], "MISS_NS": miss, "TEXT_MISS_NS": text_miss, "TEXT_BUILD_NS": text_build, "TEXT_PROBE_NS": text_probe,
            "JOINED_ROW_NS": joined, "PAIR_NS": pairs}


def orders(measure):
    """Sorts, by the row and by the row and comparison; from one value of an index to the next."""
    ns = measure.nanoseconds
    sorts = []
    for size in SIZES[1], SIZES[-1]:
        sort = ns(f"SELECT a FROM rows{size} ORDER BY r{size}, b LIMIT 1 OFFSET {size - 1}", "Sort") - read_ns(measure, f"rows{size}")
        sorts.append((math.log2(size), sort / size))
    (few_steps, few), (many_steps, many) = sorts
    step = (many - few) / (many_steps - few_steps)
    skip = ns(f"SELECT COUNT(DISTINCT few) FROM rows{SIZES[-1]}", "skip scan for deduplication") / (SIZES[-1] / 100)
    return {"SORT_ROW_NS": few - few_steps * step, "SORT_STEP_NS": step, "SKIP_NS": skip}


def measured(measure):
    found = scans(measure)
    found |= joins(measure)
    found |= look_ups(measure, found)
    return found | orders(measure)


def rounded(value):
    """Three digits: there is no more to it. What costs next to nothing may have come out below that."""
    value = max(value, 1.0)
    return float(f"{value:.3g}")


def source(found):
    """The constants as the optimizer's source has them."""
    lines = []
    for name, comment in COMMENTS.items():
        lines.append(f"/// {comment}")
        if isinstance(found[name], list):
            pairs = ", ".join(f"({float(size):.3e}, {rounded(ns)})" for size, ns in found[name])
            lines.append(f"pub(crate) const {name}: [(f64, f64); {len(found[name])}] = [{pairs}];")
        else:
            lines.append(f"pub(crate) const {name}: f64 = {rounded(found[name])};")
    return f"{HEAD}\n" + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--folder")
    parser.add_argument("--write", action="store_true", help=f"to {CONSTANTS.name}")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp(prefix="iruka-calibrate-")
    server = Server(options.binary, OPTIONS, datadir=folder).start()
    try:
        connection = pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True)
        with connection.cursor() as cursor:
            cursor.execute("SHOW DATABASES")
            if (SCHEMA,) not in cursor.fetchall():
                fill(cursor)
            cursor.execute(f"USE {SCHEMA}")
        measure = Measuring(connection, clocks.cpu_of(server.process.pid), options.runs)
        text = source(measured(measure))
        print(f"{text}load average of the last minute: {os.getloadavg()[0]:.2f}")
        if options.write:
            CONSTANTS.write_text(text)
    finally:
        server.stop()


main()
