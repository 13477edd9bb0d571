"""Metamorphic checks: a server against itself, no reference needed.

    metamorphic.py HOST:PORT [--count N] [--seed S]

tlp: the rows of a query are those where a condition is true, false and unknown together.
norec: as many rows pass a condition in WHERE as have it true in the select list.
index: a table with indexes answers as its copy without."""
import argparse
import sys
import time
from random import Random

from outcome import Session, same_rows
from queries import Tables
from streams import LOOSE, SESSION, TABLE_LIFE

PROGRESS_SECONDS = 60


def rows(session, statement):
    """The rows, or None for an error; a lost server raises."""
    outcome = session.run(statement)
    if outcome[0] == "lost":
        raise SystemExit(f"server lost after: {statement}")
    return outcome[2] if outcome[0] == "rows" else None


def tlp(tables):
    text, aliases = tables.source()
    ids = ", ".join(f"{alias}.id" for alias, _ in aliases)
    condition = tables.condition(aliases)
    whole = f"SELECT {ids} FROM {text}"
    parts = [f"{whole} WHERE {part}" for part in (f"({condition})", f"NOT ({condition})", f"({condition}) IS NULL")]
    return whole, " UNION ALL ".join(parts)


def norec(tables):
    text, aliases = tables.source()
    condition = tables.condition(aliases)
    return f"SELECT COUNT(*) FROM {text} WHERE {condition}", f"SELECT COALESCE(SUM(({condition}) IS TRUE), 0) FROM {text}"


def index(tables):
    name = tables.random.choice(sorted(tables.tables))
    condition = tables.condition([("a", name)])
    order = tables.scalar([("a", name)])
    queries = [f"SELECT a.id, {order} FROM {table} a WHERE {condition}" for table in (f"plain_{name}", name)]
    return tuple(queries)


CHECKS = {"tlp": tlp, "norec": norec, "index": index}


def prepare(session, tables):
    """Tables with an index on every column that can have one, and copies without."""
    for statement in tables.create():
        session.run(statement)
    for name, columns in tables.tables.items():
        session.run(f"DROP TABLE IF EXISTS plain_{name}")
        session.run(f"CREATE TABLE plain_{name} AS SELECT * FROM {name}")
        for column, _ in columns:
            session.run(f"ALTER TABLE {name} ADD KEY ({column})")


def check(target, name, count, seed):
    """The number of violations."""
    session, random = Session(target, f"metamorphic_{name}"), Random(f"{name} {seed}")
    for statement in [*SESSION, LOOSE]:
        session.run(statement)
    violations, compared, failed, made, said = 0, 0, 0, 0, time.monotonic()
    while made < count:
        tables = Tables(random, typed=random.random() < 0.7)
        prepare(session, tables)
        for _ in range(TABLE_LIFE * 4):
            made += 1
            one, other = CHECKS[name](tables)
            left, right = rows(session, one), rows(session, other)
            failed += left is None or right is None
            if left is None or right is None:
                continue
            compared += 1
            if not same_rows(left, right):
                violations += 1
                if violations <= 3:
                    print(f"-- {name}\n{one}\n   {left}\n{other}\n   {right}")
                    for table in (table for table in tables.tables if table in one + other):
                        print(session.run(f"SHOW CREATE TABLE {table}")[2][0][1], session.run(f"SELECT * FROM {table}")[2])
        if time.monotonic() > said + PROGRESS_SECONDS:
            said = time.monotonic()
            print(f"{name}: {compared} so far, {violations} violations", flush=True)
    session.close()
    print(f"{name}: {compared} compared, {failed} ended with an error, {violations} violations", flush=True)
    return violations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", dest="checks", action="append", choices=list(CHECKS))
    options = parser.parse_args()
    found = sum(check(options.target, name, options.count, options.seed) for name in options.checks or CHECKS)
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
