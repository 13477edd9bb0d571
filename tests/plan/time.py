"""Planning time: EXPLAIN of a join of 61 tables that name one and of 12 tables each of which names all others, and of 20,000 queries
under UNION and UNION ALL in turn, which are planned before they are too many to be shown.

    time.py HOST:PORT [--slow FACTOR]

Fails where the best of five takes longer than 50, 200 and 1,000 ms, times FACTOR."""
import argparse
import itertools
import sys
import time

import pymysql

RUNS = 5
TOO_DEEP = 1436


def star(cursor):
    """A table that names 60 others by their keys."""
    others = range(60)
    cursor.execute(f"CREATE TABLE hub (id INT PRIMARY KEY, {', '.join(f'k{n} INT' for n in others)}, {', '.join(f'KEY (k{n})' for n in others)})")
    for n in others:
        cursor.execute(f"CREATE TABLE s{n} (id INT PRIMARY KEY, v INT, KEY (v))")
    joins = " ".join(f"JOIN s{n} ON s{n}.id = hub.k{n}" for n in others)
    return f"EXPLAIN SELECT COUNT(*) FROM hub {joins} WHERE s0.v = 1 AND s59.v < 3"


def clique(cursor):
    """Twelve tables, each joined with every other on a column of their own."""
    tables = range(12)
    pairs = list(itertools.combinations(tables, 2))
    for n in tables:
        own = [f"c{a}_{b}" for a, b in pairs if n in (a, b)]
        cursor.execute(f"CREATE TABLE q{n} (id INT PRIMARY KEY, {', '.join(f'{name} INT' for name in own)}, {', '.join(f'KEY ({name})' for name in own)})")
    conditions = " AND ".join(f"q{a}.c{a}_{b} = q{b}.c{a}_{b}" for a, b in pairs)
    return f"EXPLAIN SELECT COUNT(*) FROM {', '.join(f'q{n}' for n in tables)} WHERE {conditions}"


def levels(_cursor):
    """A set operation of as many levels as it has UNION ALL."""
    return "EXPLAIN FORMAT=TREE SELECT 'a'" + "".join(f" UNION SELECT 'b{n}' UNION ALL SELECT 'c{n}'" for n in range(10_000))


def milliseconds(cursor, query):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        try:
            cursor.execute(query)
            cursor.fetchall()
        except pymysql.err.MySQLError as error:
            if error.args[0] != TOO_DEEP:
                raise
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--slow", type=float, default=1.0)
    options = parser.parse_args()
    host, port = options.target.split(":")
    late = 0
    with pymysql.connect(host=host, port=int(port), user="root", autocommit=True) as connection, connection.cursor() as cursor:
        for name, make, most in (("star of 61", star, 50), ("clique of 12", clique, 200), ("10,000 levels", levels, 1_000)):
            cursor.execute("DROP DATABASE IF EXISTS plan_time")
            cursor.execute("CREATE DATABASE plan_time")
            cursor.execute("USE plan_time")
            took = milliseconds(cursor, make(cursor))
            late += took > most * options.slow
            print(f"{name}: {took:.1f} ms of {most}")
        cursor.execute("DROP DATABASE plan_time")
    sys.exit(bool(late))


main()
